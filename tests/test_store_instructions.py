"""Instructions in a database: the same behaviour as in memory, and the content is fixed."""

from __future__ import annotations

from pathlib import Path

import pytest

from steguard.instructions.records import Instruction, Scope, Status
from steguard.instructions.registry import (
    Activation,
    Binding,
    CaseRecord,
    Event,
    ImmutableVersion,
    InstructionError,
    InstructionStore,
    MemoryStore,
    Rollout,
    UnknownInstruction,
)
from tests.support.processes import NEEDS_FORK, Barrier, fork, wait
from tests.support.stores import KINDS, made_database, run_sql


@pytest.fixture(params=["memory", *KINDS])
def store(request, tmp_path: Path):
    if request.param == "memory":
        yield MemoryStore()
        return
    with made_database(request.param, tmp_path) as url:
        from steguard.store import open_instructions

        opened = open_instructions(url)
        opened.url = url
        yield opened
        opened.close()


def rule(version: str = "1", **fields) -> Instruction:
    return Instruction(id=fields.pop("id", "report.words"), version=version, **fields)


def test_it_is_an_instruction_store(store):
    assert isinstance(store, InstructionStore)


def test_a_version_comes_back_whole(store):
    added = rule(
        "1.2.0",
        text="漢字 \ud800 \x00",
        key="report.words",
        value={"max": 500, "of": [1.5, None, "a"]},
        scope=Scope(agent="writer", tool=("a", "b")),
        status=Status.DRAFT,
        enabled=False,
        author="anna",
    )
    assert store.add(added, actor="anna", at=1.0) == added
    assert store.get("report.words", "1.2.0") == added
    assert store.get("report.words", "1.2") == added
    assert store.get("report.words", "1.2").hash == added.hash


def test_versions_stand_in_the_order_of_their_numbers(store):
    for version in ("1.10", "1.9", "2", "1"):
        store.add(rule(version), actor="anna")
    store.add(rule(id="another.rule"), actor="anna")
    assert [each.version for each in store.versions("report.words")] == ["1", "1.9", "1.10", "2"]
    assert store.rules()[0].instruction_id == "another.rule"
    assert len(store.rules()) == 5


def test_a_version_never_changes(store):
    store.add(rule(text="a"), actor="anna")
    assert store.add(rule(text="a"), actor="ben").text == "a"
    for version in ("1", "1.0.0"):
        with pytest.raises(ImmutableVersion, match="new version"):
            store.add(rule(version, text="b"), actor="ben")
    assert store.get("report.words", "1").text == "a"
    assert len(store.history()) == 1


def test_a_status_moves_from_where_it_is(store):
    store.add(rule(status=Status.DRAFT), actor="anna", at=1.0)
    step = Event(
        instruction_id="report.words",
        version="1",
        before=Status.DRAFT,
        after=Status.REVIEWED,
        actor="ben",
        at=2.0,
        reason="read",
    )
    assert store.move(step).status is Status.REVIEWED
    with pytest.raises(InstructionError, match="is REVIEWED now, not DRAFT"):
        store.move(step)
    assert store.get("report.words", "1").status is Status.REVIEWED
    first, second = store.history("report.words")
    assert (first.before, first.after, first.actor) == (None, Status.DRAFT, "anna")
    assert second == step
    assert store.history("other") == ()


def test_bindings_rollouts_cases_and_activations(store):
    store.add(rule("1"), actor="anna")
    store.add(rule("2"), actor="anna")
    bindings = (
        Binding(instruction_id="report.words", scope=Scope(project="p")),
        Binding(instruction_id="report.words", scope=Scope(project="q"), version="1"),
    )
    for binding in (*bindings, bindings[0]):
        store.bind(binding)
    assert store.bindings() == bindings
    for share in (0.1, 0.5):
        store.set_rollout(Rollout(instruction_id="report.words", version="2", share=share))
    assert [each.share for each in store.rollouts()] == [0.5]
    case = CaseRecord(
        case_id="c1", instruction_id="report.words", given={"n": 1}, expected={"ok": True}
    )
    store.add_case(case)
    store.add_case(case)
    store.record_case("c1", {"passed": True})
    store.record_case("c1", {"passed": False})
    [kept] = store.cases("report.words")
    assert kept.results == ({"passed": True}, {"passed": False})
    with pytest.raises(ImmutableVersion, match="test case 'c1'"):
        store.add_case(case.model_copy(update={"expected": {}}))
    for task in ("T-1", "T-2", "T-1"):
        store.log_activation(
            Activation(
                task_id=task, at=1.0, rules=("report.words@1",), manifest_digest="d", manifest={}
            )
        )
    assert len(store.activations("T-1")) == 2
    assert len(store.activations()) == 3


def test_what_is_not_there_is_named(store):
    store.add(rule(), actor="anna")
    for ask in (
        lambda: store.get("report.word", "1"),
        lambda: store.versions("report.word"),
        lambda: store.bind(Binding(instruction_id="report.word")),
        lambda: store.add_case(
            CaseRecord(case_id="c", instruction_id="report.word", given={}, expected={})
        ),
    ):
        with pytest.raises(UnknownInstruction, match=r"report\.words"):
            ask()
    with pytest.raises(UnknownInstruction, match="no version 3; it has 1"):
        store.get("report.words", "3")
    with pytest.raises(UnknownInstruction, match="test case 'c9'"):
        store.record_case("c9", {})


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE instruction_versions SET content = '{}'",
        "UPDATE instruction_versions SET hash = 'x', status = 'ACTIVE'",
        "DELETE FROM instruction_versions",
        "UPDATE instruction_events SET actor = 'x'",
        "DELETE FROM instruction_events",
    ],
)
@pytest.mark.parametrize("store", KINDS, indirect=True)
def test_the_database_refuses_a_change_of_the_content(store, statement):
    import sqlalchemy as sa

    store.add(rule(text="a"), actor="anna")
    with pytest.raises(sa.exc.DBAPIError, match=r"never changes|append only|keeps all"):
        run_sql(store.url, statement)
    assert store.get("report.words", "1").text == "a"


@pytest.mark.parametrize("store", KINDS, indirect=True)
def test_content_that_was_changed_past_the_database_is_found(store):
    store.add(rule(text="a"), actor="anna")
    table = "instruction_versions"
    if store.database.postgresql:
        run_sql(store.url, f"ALTER TABLE {table} DISABLE TRIGGER USER")
    else:
        run_sql(store.url, f"DROP TRIGGER {table}_never_changed")
    run_sql(store.url, f'UPDATE {table} SET content = \'{{"id": "report.words"}}\'')
    if store.database.postgresql:
        run_sql(store.url, f"ALTER TABLE {table} ENABLE TRIGGER USER")
    with pytest.raises(InstructionError, match=r"report\.words@1 was changed"):
        store.rules()


@NEEDS_FORK
@pytest.mark.parametrize("store", KINDS, indirect=True)
def test_of_many_processes_one_adds_a_version(store):
    barrier = Barrier()

    def work(text: str) -> int:
        barrier.wait()
        try:
            store.add(rule(text=text), actor=text)
        except ImmutableVersion:
            return 11
        return 10

    children = [fork(lambda n=number: work(f"text {n}")) for number in range(4)]
    barrier.open()
    assert sorted(wait(child) for child in children) == [10, 11, 11, 11]
    assert len(store.history()) == 1
