"""The ledger: one key, one execution; rates and budgets; what a person settles."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steguard.gate import Step, owner
from steguard.gate.audit import records, verify
from steguard.gate.budget import settle
from steguard.gate.errors import (
    ExecutionFailed,
    InProgress,
    KeyConflict,
    NoEffect,
    OutcomeUnknown,
    Refused,
)
from steguard.gate.execute import done, not_done, run
from steguard.gate.executions import Executions
from steguard.gate.ledger import Proposal, Run, claim
from steguard.gate.model import digest
from steguard.gate.observations import of_task
from steguard.gate.state import (
    BudgetAccount,
    Execution,
    ExecutionState,
    MemoryStore,
    ObservationRecord,
    Reservation,
    StateError,
)
from tests.support.gates import TASK, Time, Tool, call, gate
from tests.support.stores import KINDS, gate_store

MAIL = "budget:mail|task:T-1"


@pytest.fixture(params=["memory", *KINDS])
def store(request):
    with gate_store(request.param) as opened:
        yield opened


def used(store, account: str = MAIL) -> float:
    found = store.read(lambda tx: tx.get(BudgetAccount, account))
    return found.used if found else 0.0


def crashed(store, name: str, call_id: str = "c1", **arguments) -> Execution:
    """A run that ended without a record: claimed by an owner that is gone."""
    proposed = call(name, call_id, **arguments)
    held = owner.start()
    proposal = Proposal(
        policy=gate().policy,
        call=proposed,
        context=TASK,
        key=f"T-1/{call_id}",
        digest=digest(name, arguments, "T-1", ""),
        owner=held,
        hook=False,
    )
    claimed = store.transact(lambda tx: claim(tx, proposal))
    assert isinstance(claimed, Run)
    owner.stop(held)
    return claimed.execution


def events(store, key: str = "T-1/c1") -> list[str]:
    return [each.event for each in records(store, key=key)]


def test_a_finished_call_is_not_run_again(store):
    tool = Tool({"sum": [1, 2.5, None], "text": "é\x00\ud800"})
    first = gate(store).execute(call("post", text="a"), TASK, tool)
    assert first == tool.result
    assert gate(store).execute(call("post", text="a"), TASK, tool) == first
    assert len(tool.calls) == 1
    assert events(store) == [
        "decision.allow",
        "execution.started",
        "execution.done",
        "execution.replayed",
    ]


def test_a_recorded_result_is_given_although_the_policy_has_changed(store):
    tool = Tool("sent")
    gate(store).execute(call("post"), TASK, tool)
    stricter = gate(store, rules=[{"id": "no", "effect": "deny", "tools": ["post"]}])
    assert stricter.execute(call("post"), TASK, tool) == "sent"
    with pytest.raises(Refused):
        stricter.execute(call("post", "c2"), TASK, tool)
    assert len(tool.calls) == 1


def test_a_key_belongs_to_one_call(store):
    gate(store).execute(call("post", text="a"), TASK, Tool(), key="k")
    other = replace(TASK, task_id="T-2")
    for proposed, context in (
        (call("post", text="b"), TASK),
        (call("sync", text="a"), TASK),
        (call("post", text="a"), other),
    ):
        with pytest.raises(KeyConflict) as refused:
            gate(store).execute(proposed, context, Tool(), key="k")
        assert refused.value.decision.step is Step.EXECUTION


def test_the_task_is_part_of_the_key_that_is_made(store):
    tool = Tool()
    gate(store).execute(call("post", text="a"), TASK, tool)
    gate(store).execute(call("post", text="b"), replace(TASK, task_id="T-2"), tool)
    assert len(tool.calls) == 2


def test_without_a_call_id_the_same_call_is_the_same_execution(store):
    tool = Tool()
    for _ in range(2):
        gate(store).execute(call("post", "", text="a"), TASK, tool)
    gate(store).execute(call("post", "", text="b"), TASK, tool)
    assert tool.calls == [{"text": "a"}, {"text": "b"}]


def test_without_a_call_id_a_tool_that_reads_runs_each_time(store):
    tool = Tool()
    for _ in range(2):
        gate(store).execute(call("read", ""), TASK, tool)
    assert len(tool.calls) == 2


@pytest.mark.parametrize("text", ["x" * 5000, "a\x00b", "\ud800", "", "漢字" * 300])
def test_a_key_may_be_any_text(store, text):
    tool = Tool()
    for _ in range(2):
        gate(store).execute(call("post", n=1), TASK, tool, key=f"k{text}")
    other = replace(TASK, task_id="T" * len(text) or "T", scope={"agent": f"a{text}"})
    gate(store).execute(call("post", "x" + text), other, tool)
    assert len(tool.calls) == 2
    assert verify(store) == []


def test_long_keys_with_one_beginning_are_two_keys(store):
    tool = Tool()
    for end in "ab":
        gate(store).execute(call("post"), TASK, tool, key="k" * 1000 + end)
    assert len(tool.calls) == 2


def test_a_refused_call_leaves_no_execution(store):
    with pytest.raises(Refused) as refused:
        gate(store).execute(call("wipe"), TASK, Tool())
    assert "Ask the user." in refused.value.decision.alternatives
    assert Executions(store).all() == []
    assert events(store) == ["decision.deny"]


def test_a_failed_call_is_not_run_again(store):
    tool = Tool(error=ValueError("no such page"))
    with pytest.raises(ValueError, match="no such page"):
        gate(store).execute(call("send"), TASK, tool)
    with pytest.raises(ExecutionFailed, match="ValueError: no such page"):
        gate(store).execute(call("send"), TASK, tool)
    assert len(tool.calls) == 1
    assert used(store) == 1


def test_a_failed_idempotent_call_is_run_again(store):
    failing = Tool(error=ValueError("busy"))
    with pytest.raises(ValueError, match="busy"):
        gate(store).execute(call("sync"), TASK, failing)
    assert gate(store).execute(call("sync"), TASK, Tool()) == "done"
    [execution] = Executions(store).all()
    assert (execution.state, execution.attempts) == (ExecutionState.DONE, 2)


def test_a_call_without_effect_gives_its_budget_back_and_may_run_again(store):
    with pytest.raises(NoEffect):
        gate(store).execute(call("send"), TASK, Tool(error=NoEffect("refused")))
    assert used(store) == 0
    assert gate(store).execute(call("send"), TASK, Tool()) == "done"
    assert used(store) == 1


def test_a_dead_run_is_a_question_for_a_person(store):
    crashed(store, "send")
    tool = Tool()
    for _ in range(2):
        with pytest.raises(OutcomeUnknown) as refused:
            gate(store).execute(call("send"), TASK, tool)
        assert refused.value.decision.step is Step.EXECUTION
    assert tool.calls == []
    [execution] = Executions(store).unsettled()
    assert execution.state is ExecutionState.UNKNOWN
    assert used(store) == 1


def test_a_dead_idempotent_run_is_run_again(store):
    crashed(store, "sync")
    tool = Tool()
    assert gate(store).execute(call("sync"), TASK, tool) == "done"
    assert len(tool.calls) == 1


def test_a_dead_run_needs_the_policy_of_today(store):
    crashed(store, "sync")
    stricter = gate(store, rules=[{"id": "no", "effect": "deny", "tools": ["sync"]}])
    tool = Tool()
    with pytest.raises(Refused):
        stricter.execute(call("sync"), TASK, tool)
    assert tool.calls == []


def test_a_run_of_another_machine_is_dead_after_its_lease(store):
    known = crashed(store, "send")
    elsewhere = replace(known, owner="elsewhere/1/2/3", lease_until=store.time.now + 5)
    store.transact(lambda tx: tx.put(elsewhere))
    with pytest.raises(InProgress):
        gate(store).execute(call("send"), TASK, Tool())
    store.time.now += 6
    with pytest.raises(OutcomeUnknown):
        gate(store).execute(call("send"), TASK, Tool())


def test_a_run_that_was_given_up_and_ends_after_all_is_recorded(store):
    """Its lease ran out while it ran on: what it says is true."""

    def slow() -> str:
        known = Executions(store).get("T-1/c1")
        lost = replace(known, owner="elsewhere/1/2/3", lease_until=0.0)
        store.transact(lambda tx: tx.put(lost))
        with pytest.raises(OutcomeUnknown):
            gate(store).execute(call("send"), TASK, Tool())
        unknown = replace(Executions(store).get("T-1/c1"), owner=known.owner)
        store.transact(lambda tx: tx.put(unknown))
        return "sent"

    assert gate(store).execute(call("send"), TASK, slow) == "sent"
    assert gate(store).execute(call("send"), TASK, Tool()) == "sent"
    assert used(store) == 1


def test_who_is_alive():
    mine = owner.start()
    machine, pid, started, number = mine.rsplit("/", 3)
    assert owner.alive(mine, lease_until=0, now=1)
    other = subprocess.Popen([sys.executable, "-c", "pass"])
    other.wait()
    assert not owner.alive(f"{machine}/{other.pid}/{started}/{number}", lease_until=9, now=1)
    if started:  # where the system says when a process began
        assert not owner.alive(f"{machine}/{pid}/1/{number}", lease_until=9, now=1)
    owner.stop(mine)
    assert not owner.alive(mine, lease_until=9, now=1)
    assert owner.alive(f"elsewhere/{pid}/{started}/{number}", lease_until=9, now=1)
    assert not owner.alive(f"elsewhere/{pid}/{started}/{number}", lease_until=1, now=1)


@pytest.mark.parametrize("through_unknown", [False, True])
def test_a_hook_says_that_a_dead_run_was_done(store, through_unknown):
    crashed(store, "send")
    if through_unknown:
        with pytest.raises(OutcomeUnknown):
            gate(store).execute(call("send"), TASK, Tool())
    tool, asked = Tool(), []

    def hook(execution: Execution):
        asked.append(execution.key)
        return done({"id": 3})

    assert run(gate(store), call("send"), TASK, tool, reconcile=hook) == {"id": 3}
    assert (tool.calls, asked, used(store)) == ([], ["T-1/c1"], 1)
    assert gate(store).execute(call("send"), TASK, tool) == {"id": 3}


def test_a_hook_says_that_a_dead_run_had_no_effect(store):
    crashed(store, "send")
    tool = Tool()
    assert run(gate(store), call("send"), TASK, tool, reconcile=lambda _: not_done()) == "done"
    assert len(tool.calls) == 1
    assert used(store) == 1


@pytest.mark.parametrize("answer", [None, "yes", ZeroDivisionError()])
def test_a_hook_that_does_not_know_leaves_it_to_a_person(store, answer):
    crashed(store, "send")

    def hook(_: Execution):
        if isinstance(answer, Exception):
            raise answer
        return answer

    with pytest.raises(OutcomeUnknown):
        run(gate(store), call("send"), TASK, Tool(), reconcile=hook)


def test_a_person_settles_a_dead_run(store):
    crashed(store, "send", "c1")
    crashed(store, "send", "c2")
    executions = Executions(store)
    assert len(executions.unsettled()) == 2
    executions.reconcile("T-1/c1", ExecutionState.DONE, by="anna", result={"id": 1})
    executions.reconcile("T-1/c2", ExecutionState.NOT_DONE, by="anna", note="nothing sent")
    tool = Tool()
    assert gate(store).execute(call("send", "c1"), TASK, tool) == {"id": 1}
    assert used(store) == 1
    assert gate(store).execute(call("send", "c2"), TASK, tool) == "done"
    assert len(tool.calls) == 1
    assert used(store) == 2
    assert executions.unsettled() == []


def test_a_person_cannot_settle_what_is_settled_or_runs(store):
    executions = Executions(store)
    gate(store).execute(call("post"), TASK, Tool())
    with pytest.raises(StateError, match="done already"):
        executions.reconcile("T-1/c1", ExecutionState.FAILED, by="anna")
    with pytest.raises(StateError, match="no execution 'k'"):
        executions.reconcile("k", ExecutionState.DONE, by="anna")
    with pytest.raises(StateError, match="Say who"):
        executions.reconcile("T-1/c1", ExecutionState.DONE, by="")

    def slow(**_):
        with pytest.raises(StateError, match="runs now"):
            executions.reconcile("T-1/c2", ExecutionState.NOT_DONE, by="anna")

    gate(store).execute(call("post", "c2"), TASK, slow)


def test_one_of_many_threads_runs_it(store):
    tool = Tool()

    def attempt(_: int) -> str:
        try:
            return gate(store).execute(call("send"), TASK, tool)
        except InProgress:
            return "in progress"

    with ThreadPoolExecutor(8) as pool:
        results = set(pool.map(attempt, range(16)))
    assert len(tool.calls) == 1
    assert "done" in results
    assert results <= {"done", "in progress"}
    assert used(store) == 1


def test_a_budget_is_never_overdrawn_by_threads(store):
    tool = Tool()

    def attempt(number: int) -> bool:
        try:
            gate(store).execute(call("pay", f"c{number}", amount=3), TASK, tool)
        except Refused as refusal:
            return refusal.decision.step is not Step.BUDGET
        return True

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(attempt, range(12)))
    assert results.count(True) == len(tool.calls) == 3
    assert used(store, "budget:money|policy:test") == 9


def test_a_rate_counts_within_its_window(store):
    tool = Tool()

    def ping(number: int) -> bool:
        try:
            gate(store).execute(call("ping", f"c{number}"), TASK, tool)
        except Refused as refusal:
            return refusal.decision.step is not Step.RATE
        return True

    assert [ping(1), ping(2)] == [True, True]
    store.time.now += 6
    assert [ping(3), ping(4)] == [True, False]
    store.time.now -= 500
    assert ping(5) is False
    store.time.now += 504
    assert [ping(6), ping(7), ping(8)] == [True, True, False]


def test_each_task_has_its_own_rate_and_budget(store):
    for task in ("T-1", "T-2"):
        context = replace(TASK, task_id=task)
        for number in range(2):
            gate(store).execute(call("send", f"c{number}"), context, Tool())
        with pytest.raises(Refused, match="limit 2, used 2, left 0, wanted 1"):
            gate(store).execute(call("send", "c9"), context, Tool())


@pytest.mark.parametrize("amount", [-1, True, "5", None, [1]])
def test_an_amount_must_be_an_amount(store, amount):
    with pytest.raises(Refused) as refused:
        gate(store).execute(call("pay", amount=amount), TASK, Tool())
    assert refused.value.decision.step is Step.BUDGET


def test_an_amount_that_is_left_out_is_refused(store):
    with pytest.raises(Refused) as refused:
        gate(store).execute(call("pay"), TASK, Tool())
    assert refused.value.decision.step is Step.BUDGET


def test_the_real_amount_is_settled(store):
    gate(store).execute(call("pay", amount=8), TASK, Tool())
    account = "budget:money|policy:test"
    crashed(store, "pay", "c2", amount=2)
    store.transact(lambda tx: settle(tx, "T-1/c2", {account: 0.5}))
    assert used(store, account) == 8.5


def test_the_second_transaction_writes_observation_and_event(store):
    gate(store).execute(call("post", text="a"), TASK, Tool({"id": 1, "by": {"name": "eve"}}))
    [event] = Executions(store).events()
    assert (event.topic, event.execution, event.payload["call_id"]) == ("tool.done", "T-1/c1", "c1")
    Executions(store).delivered(event.id)
    assert Executions(store).events() == []
    [observation] = of_task(store, "T-1")
    assert observation.data == {"id": 1, "by": {"name": "eve"}}
    assert (observation.tool, observation.arguments) == ("post", {"text": "a"})
    [record] = store.read(lambda tx: tx.find(ObservationRecord))
    assert set(record.fields) == {"/id", "/by/name"}
    assert all(set(each) == {"source", "trust"} for each in record.fields.values())


def test_only_an_execution_record_proves_that_something_was_sent(store):
    executions = Executions(store)
    assert executions.done("T-1", "send") == []
    with pytest.raises(ValueError, match="refused"):
        gate(store).execute(call("send", "c0", to="b"), TASK, Tool(error=ValueError("refused")))
    crashed(store, "send", "c1", to="a")
    assert executions.done("T-1", "send") == []
    assert [each.topic for each in executions.events()] == ["tool.failed"]
    executions.reconcile("T-1/c1", ExecutionState.DONE, by="anna")
    assert [each.key for each in executions.done("T-1", "send", arguments={"to": "a"})] == [
        "T-1/c1"
    ]
    assert executions.done("T-1", "send", arguments={"to": "c"}) == []
    assert executions.done("T-2", "send") == []


def test_the_log_tells_what_a_run_was_charged(store):
    gate(store).execute(call("pay", amount=2.5), TASK, Tool())
    [started] = records(store, event="execution.started")
    assert started.detail["charges"] == {"budget:money|policy:test": 2.5}


def test_the_log_is_a_chain(store):
    for number in range(3):
        gate(store).execute(call("post", f"c{number}"), TASK, Tool())
    found = records(store)
    assert [each.seq for each in found] == list(range(1, len(found) + 1))
    assert verify(store) == []
    assert [each.seq for each in records(store, limit=2)] == [len(found) - 1, len(found)]


def test_a_changed_record_breaks_the_chain():
    store = MemoryStore()
    gate(store).execute(call("post"), TASK, Tool())
    lines = store._records[type(records(store)[0])]
    lines[2] = replace(lines[2], tool="wipe")
    assert verify(store) == ["record 2: its content was changed"]
    del lines[2]
    assert "record 2: it is missing" in verify(store)[0]


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["run", "crash", "no effect", "fail", "settle done", "settle not"]),
            st.integers(0, 4),
            st.integers(1, 6),
        ),
        max_size=25,
    )
)
def test_the_account_is_the_sum_of_its_reservations(plan):
    """Whatever happens, what is used is what is held, and never more than the limit."""
    store, account = MemoryStore(clock=Time()), "budget:money|policy:test"
    amounts: dict[int, int] = {}
    for what, number, amount in plan:
        amount = amounts.setdefault(number, amount)
        key = f"c{number}"
        error = {"fail": ValueError(), "no effect": NoEffect(), "crash": KeyboardInterrupt()}
        try:
            if what.startswith("settle"):
                state = ExecutionState.DONE if what.endswith("done") else ExecutionState.NOT_DONE
                Executions(store).reconcile(f"T-1/{key}", state, by="anna")
            else:
                tool = Tool(error=error.get(what))
                gate(store).execute(call("pay", key, amount=amount), TASK, tool)
        except (StateError, ValueError, NoEffect, KeyboardInterrupt):
            pass
        held = store.read(lambda tx: tx.find(Reservation, {"budget": account}))
        total = sum(each.amount for each in held if each.state != "released")
        assert used(store, account) == total <= 10
        ran = [each.key for each in Executions(store).all() if each.state != "not_done"]
        assert {each.execution for each in held if each.state != "released"} == set(ran)
