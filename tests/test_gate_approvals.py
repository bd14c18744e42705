"""Approvals: for exactly one execution, once, for a limited time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from steguard.gate import Effect, Gate, Step
from steguard.gate.approvals import Approvals
from steguard.gate.audit import records
from steguard.gate.errors import ApprovalError, ApprovalRequired, Refused
from steguard.gate.execute import ask
from steguard.gate.state import ApprovalState
from tests.support.gates import TASK, Tool, call, gate, grant, question
from tests.support.stores import KINDS, gate_store


@pytest.fixture(params=["memory", *KINDS])
def store(request):
    with gate_store(request.param) as opened:
        yield opened


@pytest.fixture
def asking(store) -> Gate:
    return gate(store)


def test_a_granted_call_runs_once_and_is_then_known(asking):
    tool = Tool({"id": 7})
    approval = question(asking, call("ask", to="a@b.c"))
    assert (approval.state, approval.arguments) == (ApprovalState.PENDING, {"to": "a@b.c"})
    grant(asking, approval)
    assert asking.execute(call("ask", to="a@b.c"), TASK, tool) == {"id": 7}
    assert asking.execute(call("ask", to="a@b.c"), TASK, tool) == {"id": 7}
    assert tool.calls == [{"to": "a@b.c"}]
    assert Approvals(asking.store).get(approval.id).state is ApprovalState.SPENT


def test_an_approval_holds_for_its_arguments_only(asking):
    grant(asking, question(asking, call("ask", to="a@b.c")))
    with pytest.raises(ApprovalRequired):
        asking.execute(call("ask", "c2", to="evil@b.c"), TASK, Tool())
    with pytest.raises(ApprovalRequired):
        asking.execute(call("ask", "c1", to="evil@b.c"), TASK, Tool())
    with pytest.raises(ApprovalRequired):
        asking.execute(call("ask", "c1"), TASK, Tool())
    with pytest.raises(ApprovalRequired):
        asking.execute(call("ask", to="a@b.c"), replace(TASK, task_id="T-2"), Tool())


def test_an_approval_holds_for_its_policy_only(asking, store):
    grant(asking, question(asking, call("ask", to="a@b.c")))
    with pytest.raises(ApprovalRequired):
        gate(store, version="2").execute(call("ask", to="a@b.c"), TASK, Tool())


def test_the_same_call_twice_needs_two_approvals(asking):
    first = question(asking, call("ask", "c1", to="a"))
    second = question(asking, call("ask", "c2", to="a"))
    assert first.id != second.id
    grant(asking, second)
    with pytest.raises(ApprovalRequired) as refused:
        asking.execute(call("ask", "c1", to="a"), TASK, Tool())
    assert refused.value.approval.id == first.id
    assert asking.execute(call("ask", "c2", to="a"), TASK, Tool()) == "done"


def test_asking_again_finds_the_same_question(asking):
    asked = {question(asking, call("ask", to="a")).id for _ in range(3)}
    assert len(asked) == 1


def test_a_question_ahead_of_the_run(asking, store):
    approval = ask(asking, call("ask", to="a"), TASK)
    assert ask(asking, call("ask", to="a"), TASK).id == approval.id
    assert [each.id for each in Approvals(store).pending()] == [approval.id]
    grant(asking, approval)
    with pytest.raises(ApprovalError, match="No question is needed"):
        ask(asking, call("ask", to="a"), TASK)
    assert asking.execute(call("ask", to="a"), TASK, Tool()) == "done"
    with pytest.raises(Refused, match="Use a new key"):
        ask(asking, call("ask", to="a"), TASK)
    with pytest.raises(Refused, match="forbids"):
        ask(asking, call("wipe", "c9"), TASK)
    with pytest.raises(ApprovalError, match="'post' may run"):
        ask(asking, call("post", "c9"), TASK)


def test_parallel_questions_are_not_mixed_up(asking):
    calls = [call("ask", f"c{n}", to=f"{n}@b.c") for n in range(6)]
    asked = [question(asking, each) for each in calls]
    for approval in asked[::2]:
        grant(asking, approval)
    for number, each in reversed(list(enumerate(calls))):
        tool = Tool()
        if number % 2:
            with pytest.raises(ApprovalRequired):
                asking.execute(each, TASK, tool)
            assert tool.calls == []
        else:
            asking.execute(each, TASK, tool)
            assert tool.calls == [{"to": f"{number}@b.c"}]


def test_a_question_and_a_yes_grow_old(asking, store):
    approval = question(asking, call("ask", to="a"))
    store.time.now += 60
    with pytest.raises(ApprovalError, match="expired"):
        grant(asking, approval)
    again = question(asking, call("ask", to="a"))
    assert again.id != approval.id
    granted = grant(asking, again)
    assert granted.expires_at == store.time.now + 60
    store.time.now += 60.5
    with pytest.raises(ApprovalRequired):
        asking.execute(call("ask", to="a"), TASK, Tool())


def test_a_clock_that_goes_back_revives_nothing(asking, store):
    approval = question(asking, call("ask", to="a"))
    grant(asking, approval)
    store.time.now += 61
    assert [each.id for each in Approvals(store).expire()] == [approval.id]
    store.time.now -= 61
    with pytest.raises(ApprovalRequired):
        asking.execute(call("ask", to="a"), TASK, Tool())


def test_a_clock_that_goes_back_does_not_lengthen_a_yes(asking, store):
    grant(asking, question(asking, call("ask", to="a")))
    store.time.now += 61
    asking.execute(call("post", "c9"), TASK, Tool())
    store.time.now -= 40
    with pytest.raises(ApprovalRequired):
        asking.execute(call("ask", to="a"), TASK, Tool())


def test_no_stays_no(asking, store):
    approval = question(asking, call("ask", to="a"))
    Approvals(store).deny(approval.id, by="anna", note="Not to them.")
    with pytest.raises(ApprovalError, match="denied"):
        grant(asking, approval)
    with pytest.raises(Refused) as refused:
        asking.execute(call("ask", to="a"), TASK, Tool())
    decision = refused.value.decision
    assert (decision.effect, decision.step) == (Effect.DENY, Step.APPROVAL)
    assert "anna" in decision.reason
    assert "Not to them." in decision.reason


def test_a_yes_can_be_taken_back_until_it_is_used(asking, store):
    approval = question(asking, call("ask", to="a"))
    grant(asking, approval)
    Approvals(store).deny(approval.id, by="anna")
    with pytest.raises(Refused):
        asking.execute(call("ask", to="a"), TASK, Tool())
    used = question(asking, call("ask", "c2", to="a"))
    grant(asking, used)
    asking.execute(call("ask", "c2", to="a"), TASK, Tool())
    with pytest.raises(ApprovalError, match="spent"):
        Approvals(store).deny(used.id, by="anna")
    with pytest.raises(ApprovalError, match="spent"):
        grant(asking, used)


def test_who_may_answer_and_how_many(asking, store):
    approvals = Approvals(store)
    approval = question(asking, call("both"))
    with pytest.raises(ApprovalError, match="may not answer"):
        approvals.grant(approval.id, by="eve")
    with pytest.raises(ApprovalError, match="agent that asks"):
        approvals.grant(approval.id, by="writer", roles=["boss"])
    with pytest.raises(ApprovalError, match="Say who"):
        approvals.grant(approval.id, by=" ")
    assert approvals.grant(approval.id, by="anna").state is ApprovalState.PENDING
    with pytest.raises(ApprovalError, match="yes already"):
        approvals.grant(approval.id, by="anna")
    with pytest.raises(ApprovalRequired):
        asking.execute(call("both"), TASK, Tool())
    assert approvals.grant(approval.id, by="ben", roles=["boss"]).state is ApprovalState.GRANTED
    with pytest.raises(ApprovalError, match="granted it already"):
        approvals.grant(approval.id, by="boss")
    assert asking.execute(call("both"), TASK, Tool()) == "done"


@pytest.mark.parametrize("order", [1, -1])
def test_all_rules_that_ask_count(store, order):
    """A lax rule does not hide a strict one, whatever their order and names."""
    rules = [
        {"id": "a", "effect": "ask", "tools": ["*"]},
        {"id": "b", "effect": "ask", "tools": ["ask"], "approval": {"by": ["boss"], "count": 2}},
        {
            "id": "c",
            "effect": "ask",
            "tools": ["ask"],
            "arguments": {"to": {"pattern": "x.*"}},
            "approval": {"by": ["legal", "anna"], "expires": 20},
        },
        {"id": "d", "effect": "allow", "tools": ["ask"]},
    ]
    asking = gate(store, rules=rules[::order])
    approval = question(asking, call("ask", "c1", to="a"))
    assert (approval.approvers, approval.needed, approval.lifetime) == ((("boss",),), 2, 60)
    approval = question(asking, call("ask", "c2", to="x"))
    assert approval.approvers == (("boss",), ("legal", "anna"))
    assert (approval.needed, approval.lifetime) == (2, 20)
    approvals = Approvals(store)
    with pytest.raises(ApprovalError, match="These may: legal, anna"):
        approvals.grant(approval.id, by="boss")
    approvals.grant(approval.id, by="anna", roles=["boss"])
    granted = approvals.grant(approval.id, by="ben", roles=["boss", "legal"])
    assert granted.state is ApprovalState.GRANTED
    assert asking.execute(call("ask", "c2", to="x"), TASK, Tool()) == "done"


def test_an_unknown_approval_is_an_error(store):
    for answer in (Approvals(store).grant, Approvals(store).deny):
        with pytest.raises(ApprovalError, match="no approval 'ap-0'"):
            answer("ap-0", by="anna")
    with pytest.raises(ApprovalError, match="no approval"):
        Approvals(store).get("ap-0")


def test_lists_show_what_waits(asking, store):
    first = question(asking, call("ask", "c1", to="a"))
    store.time.now += 30
    second = question(asking, call("ask", "c2", to="b"), replace(TASK, task_id="T-2"))
    approvals = Approvals(store)
    assert [each.id for each in approvals.pending()] == [first.id, second.id]
    assert [each.id for each in approvals.pending(task="T-2")] == [second.id]
    store.time.now += 31
    assert [each.id for each in approvals.pending()] == [second.id]
    expired = approvals.all(state=ApprovalState.EXPIRED)
    assert [each.id for each in expired] == [first.id]


def test_one_yes_is_spent_by_one_of_many_threads(asking):
    grant(asking, question(asking, call("ask", to="a")))
    tool = Tool()

    def run(_: int) -> str:
        try:
            return asking.execute(call("ask", to="a"), TASK, tool)
        except Refused as refusal:
            return str(refusal.decision.step)

    with ThreadPoolExecutor(8) as pool:
        results = set(pool.map(run, range(16)))
    assert tool.calls == [{"to": "a"}]
    assert "done" in results
    assert results <= {"done", "execution"}


def test_each_answer_stands_in_the_log(asking, store):
    approval = question(asking, call("ask", to="a"))
    with pytest.raises(ApprovalError):
        Approvals(store).grant(approval.id, by="writer")
    grant(asking, approval)
    asking.execute(call("ask", to="a"), TASK, Tool())
    events = [each.event for each in records(store) if each.event.startswith("approval")]
    assert events == [
        "approval.requested",
        "approval.refused",
        "approval.granted",
        "approval.spent",
    ]
