"""The stores of the gate behave alike, in memory and in a database."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steguard.gate.audit import records, verify
from steguard.gate.state import (
    Approval,
    ApprovalState,
    AuditRecord,
    BudgetAccount,
    Execution,
    OutboxEntry,
    StateError,
    StoreUnavailable,
    label,
    plain_text,
)
from tests.support.gates import TASK, Tool, call, gate
from tests.support.stores import KINDS, gate_store, run_sql


@pytest.fixture(params=["memory", *KINDS])
def store(request):
    with gate_store(request.param) as opened:
        yield opened


def account(name: str, used: float = 1.0, at: float = 1.0) -> BudgetAccount:
    return BudgetAccount(name=name, used=used, at=at)


def test_all_or_nothing(store):
    def work(tx: Any) -> None:
        tx.add(account("a"))
        tx.audit("made")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.transact(work)
    assert store.read(lambda tx: tx.get(BudgetAccount, "a")) is None
    assert records(store) == []


def test_a_transaction_sees_what_it_wrote(store):
    def work(tx: Any) -> tuple[Any, ...]:
        added = tx.add(account("a")), tx.add(account("a", 5))
        tx.put(account("a", 2))
        return *added, tx.get(BudgetAccount, "a").used, len(tx.find(BudgetAccount))

    assert store.transact(work) == (True, False, 2, 1)


def test_a_key_that_is_taken_changes_nothing(store):
    assert store.transact(lambda tx: tx.add(account("a")))
    assert not store.transact(lambda tx: tx.add(account("a", 9)))
    assert store.read(lambda tx: tx.get(BudgetAccount, "a")).used == 1


def test_only_what_is_there_is_written_over(store):
    with pytest.raises(StateError, match="no BudgetAccount 'a'"):
        store.transact(lambda tx: tx.put(account("a")))


def test_a_wrong_field_is_an_error(store):
    with pytest.raises(StateError, match="no field 'names'"):
        store.read(lambda tx: tx.find(BudgetAccount, {"names": "a"}))


def test_finding_by_fields_and_time(store):
    for number in range(5):
        store.transact(lambda tx, n=number: tx.add(account(f"a{n}", n % 2, n)))

    def names(*equal: Any, **options: Any) -> list[str]:
        found = store.read(lambda tx: tx.find(BudgetAccount, *equal, **options))
        return [each.name for each in found]

    assert names() == ["a0", "a1", "a2", "a3", "a4"]
    assert names({"used": 1.0}) == ["a1", "a3"]
    assert names(since=2) == ["a3", "a4"]
    assert names(newest=True, limit=2) == ["a4", "a3"]
    assert names({"used": 1.0, "name": "a3"}) == ["a3"]


def test_nothing_is_a_value_to_find(store):
    gate(store).execute(call("post"), TASK, Tool())
    [entry] = store.read(lambda tx: tx.find(OutboxEntry, {"delivered_at": None}))
    store.transact(lambda tx: tx.put(replace(entry, delivered_at=3.0)))
    assert store.read(lambda tx: tx.find(OutboxEntry, {"delivered_at": None})) == []


def test_the_time_of_a_store_never_goes_back(store):
    def note(tx: Any) -> float:
        tx.audit("note")
        return tx.now

    store.time.now = 2000.0
    assert store.transact(note) == 2000.0
    store.time.now = 500.0
    assert store.transact(note) == 2000.0
    assert store.read(lambda tx: tx.now) == 2000.0
    assert [each.at for each in records(store)] == [2000.0, 2000.0]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(data=JSON, text=st.text(st.characters(exclude_categories=())), at=st.floats(0, 4e9))
def test_records_come_back_as_they_were(store, data, text, at):
    key = label(f"k{text}{at!r}{data!r}")
    execution = Execution(
        key=key,
        digest="d",
        tool="t",
        task=label(text),
        agent="",
        arguments={"data": data},
        at=at,
        owner="o",
        lease_until=at,
        result=data,
        error=plain_text(text),
    )
    approval = Approval(
        id=key,
        digest="d",
        key=key,
        tool="t",
        task="",
        agent="",
        arguments={},
        at=at,
        expires_at=at,
        lifetime=1.5,
        approvers=(("a", "b"), ("c",)),
        granted_by=("a",),
        state=ApprovalState.DENIED,
    )

    def work(tx: Any) -> None:
        tx.add(execution)
        tx.add(approval)
        tx.audit("note", task=text, agent=text, key=text, data=data, text=text)

    store.transact(work)
    assert store.read(lambda tx: tx.get(Execution, key)) == execution
    assert store.read(lambda tx: tx.get(Approval, key)) == approval
    assert records(store, limit=1)[0].detail == {"data": data, "text": text}
    assert verify(store) == []


@pytest.mark.parametrize(
    "statement",
    ["UPDATE audit SET tool = 'x'", "DELETE FROM audit", "DELETE FROM audit WHERE seq=1"],
)
@pytest.mark.parametrize("store", KINDS, indirect=True)
def test_the_database_refuses_changes_of_the_log(store, statement):
    import sqlalchemy as sa

    gate(store).execute(call("post"), TASK, Tool())
    before = records(store)
    with pytest.raises(sa.exc.DBAPIError, match="append only"):
        run_sql(store.url, statement)
    assert records(store) == before


@pytest.mark.parametrize("store", KINDS, indirect=True)
def test_a_change_past_the_database_breaks_the_chain(store):
    for number in range(3):
        gate(store).execute(call("post", f"c{number}"), TASK, Tool())
    if store.database.postgresql:
        run_sql(store.url, "ALTER TABLE audit DISABLE TRIGGER USER")
    else:
        run_sql(store.url, "DROP TRIGGER audit_never_changed")
        run_sql(store.url, "DROP TRIGGER audit_never_deleted")
    run_sql(store.url, "UPDATE audit SET tool = 'other' WHERE seq = 2")
    run_sql(store.url, "DELETE FROM audit WHERE seq = 5")
    if store.database.postgresql:
        run_sql(store.url, "ALTER TABLE audit ENABLE TRIGGER USER")
    faults = verify(store)
    assert faults[0] == "record 2: its content was changed"
    assert faults[1].startswith("record 5: ")


@pytest.mark.parametrize("store", KINDS, indirect=True)
def test_a_store_that_went_away_is_unavailable_and_the_gate_denies(store):
    from steguard.gate.errors import Refused

    run_sql(store.url, "ALTER TABLE tool_executions RENAME TO gone")
    try:
        with pytest.raises(StoreUnavailable, match="tool_executions"):
            store.read(lambda tx: tx.get(Execution, "k"))
        with pytest.raises(Refused) as refused:
            gate(store).execute(call("post"), TASK, Tool())
        assert refused.value.decision.step == "error"
        [denied] = store.read(lambda tx: tx.find(AuditRecord))
        assert denied.event == "decision.deny"
    finally:
        run_sql(store.url, "ALTER TABLE gone RENAME TO tool_executions")


@pytest.mark.parametrize("store", ["postgresql"], indirect=True)
def test_a_connection_that_was_cut_is_made_again(store):
    from steguard.store import open_store

    opened = open_store(f"{store.url}&application_name=to_be_cut")
    gate(opened).execute(call("post"), TASK, Tool())
    run_sql(
        store.url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE application_name = 'to_be_cut'",
    )
    assert gate(opened).execute(call("post"), TASK, Tool()) == "done"
    opened.close()


@pytest.mark.parametrize("store", ["postgresql"], indirect=True)
def test_the_clock_of_the_server_counts_without_another(store):
    from steguard.store import open_store

    opened = open_store(store.url)
    assert abs(opened.read(lambda tx: tx.now) - time.time()) < 60
    opened.close()


@pytest.mark.parametrize("store", KINDS, indirect=True)
def test_a_process_that_hangs_in_a_transaction_does_not_hang_the_others(store, monkeypatch):
    from steguard.gate.errors import Refused
    from steguard.store import open_store

    monkeypatch.setattr("steguard.store.database._WAIT", 1)
    tool, impatient = Tool(), open_store(store.url)

    def hang(tx: Any) -> None:
        tx.lock("execution:T-1/c1")
        with pytest.raises(Refused) as refused:
            gate(impatient).execute(call("post"), TASK, tool)
        assert refused.value.decision.step == "error"

    store.transact(hang)
    assert tool.calls == []
    assert gate(impatient).execute(call("post"), TASK, tool) == "done"
    impatient.close()


@pytest.mark.parametrize("store", ["postgresql"], indirect=True)
def test_a_deadlock_is_tried_again(store):
    both, runs = threading.Barrier(2), []

    def work(tx: Any, first: str, second: str) -> str:
        runs.append(first)
        tx.lock(first)
        if len(runs) <= 2:
            both.wait()
        tx.lock(second)
        tx.add(account(first + str(len(runs))))
        return first

    with ThreadPoolExecutor(2) as pool:
        jobs = [
            pool.submit(store.transact, lambda tx, pair=pair: work(tx, *pair))
            for pair in (("a", "b"), ("b", "a"))
        ]
        assert {job.result() for job in jobs} == {"a", "b"}
    assert len(runs) == 3
    assert len(store.read(lambda tx: tx.find(BudgetAccount))) == 2
