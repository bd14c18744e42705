"""Which version a task has: lifecycle, shares, bindings, running tasks, checkpoints."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from steguard.errors import UsageError
from steguard.instructions.checkpoint import Checkpoint, resume
from steguard.instructions.compiler import Compiler, InstructionConflict
from steguard.instructions.lifecycle import STEPS, Actor, NotPermitted, Role, move, propose, release
from steguard.instructions.records import Instruction, Kind, Source, State, Status
from steguard.instructions.registry import (
    Binding,
    InstructionError,
    MemoryStore,
    Rollout,
)
from steguard.instructions.selection import Migration, TaskRules, choose_versions, select
from steguard.instructions.survey import find_conflicts

ANN = Actor(name="ann", roles={Role.AUTHOR})
BOB = Actor(name="bob", roles={Role.REVIEWER})
EVE = Actor(name="eve", roles={Role.PUBLISHER})
ALL = Actor(name="all", roles=set(Role))


def rule(name: str = "a", version: str = "1", **more: Any) -> Instruction:
    return Instruction.model_validate({"id": name, "version": version, "text": "x", **more})


def publish(store: MemoryStore, new: Instruction) -> None:
    propose(store, new, ANN)
    move(store, new.instruction_id, new.version, Status.REVIEWED, BOB)
    move(store, new.instruction_id, new.version, Status.ACTIVE, EVE)


def active(
    store: MemoryStore, state: State | None = None, task: TaskRules | None = None
) -> list[str]:
    return sorted(r.ref for r in select(store, state or State(), task)[0])


def test_the_whole_life() -> None:
    store = MemoryStore()
    publish(store, rule())
    publish(store, rule(version="2"))
    assert [r.status for r in store.versions("a")] == [Status.DEPRECATED, Status.ACTIVE]
    move(store, "a", "1", Status.RETIRED, EVE, reason="old")
    steps = [(e.version, e.before, e.after, e.actor) for e in store.history("a")]
    assert steps[0] == ("1", None, Status.DRAFT, "ann")
    assert steps[-1] == ("1", Status.DEPRECATED, Status.RETIRED, "eve")
    assert ("1", Status.ACTIVE, Status.DEPRECATED, "eve") in steps


def test_every_other_step_is_refused() -> None:
    for before, after in itertools.product(Status, Status):
        store = MemoryStore([rule(status=before)])
        if (before, after) in STEPS:
            assert move(store, "a", "1", after, ALL).status is after
        else:
            with pytest.raises(InstructionError, match=f"not {after.value}"):
                move(store, "a", "1", after, ALL)


def test_each_step_needs_its_role() -> None:
    for (before, after), role in STEPS.items():
        store = MemoryStore([rule(status=before)])
        others = Actor(name="x", roles=set(Role) - {role})
        with pytest.raises(NotPermitted, match=role.value):
            move(store, "a", "1", after, others)
        assert store.get("a", "1").status is before


def test_nobody_reviews_their_own_rule() -> None:
    store = MemoryStore()
    propose(store, rule(), ALL)
    with pytest.raises(NotPermitted, match="another person"):
        move(store, "a", "1", Status.REVIEWED, ALL)


def test_nobody_moves_a_rule_above_them() -> None:
    store = MemoryStore([rule(source="platform_policy", status="DRAFT")])
    with pytest.raises(NotPermitted, match="platform_policy"):
        move(store, "a", "1", Status.REVIEWED, BOB)
    with pytest.raises(NotPermitted, match="platform_policy"):
        propose(store, rule("b", source="platform_policy"), ANN)
    high = Actor(name="h", roles={Role.REVIEWER}, authority=Source.PLATFORM)
    assert move(store, "a", "1", Status.REVIEWED, high).status is Status.REVIEWED


def test_a_proposal_is_a_draft_whatever_it_says() -> None:
    store = MemoryStore()
    draft = propose(store, rule(status="ACTIVE", author="someone"), ANN)
    assert (draft.status, draft.author) == (Status.DRAFT, "ann")
    assert active(store) == []
    with pytest.raises(InstructionError, match="Count up"):
        propose(store, rule(version="0.9"), ANN)


def test_a_version_that_contradicts_does_not_become_active() -> None:
    store = MemoryStore([rule("b", key="tone", value="formal"), rule("c", key="other", value=1)])
    propose(store, rule(key="tone", value="friendly"), ANN)
    move(store, "a", "1", Status.REVIEWED, BOB)
    with pytest.raises(InstructionConflict, match="b@1"):
        move(store, "a", "1", Status.ACTIVE, EVE)
    assert active(store) == ["b@1", "c@1"]


def test_a_share_of_the_tasks_has_the_new_version() -> None:
    store = MemoryStore([rule(), rule(version="2", status="REVIEWED")])
    release(store, Rollout(instruction_id="a", version="2", share=0.25), EVE)
    got = [active(store, State(task_id=f"t{n}")) for n in range(400)]
    assert 60 < got.count(["a@2"]) < 140
    assert got == [active(store, State(task_id=f"t{n}")) for n in range(400)]
    release(store, Rollout(instruction_id="a", version="2", share=1), EVE)
    assert active(store, State(task_id="t")) == ["a@2"]
    release(store, Rollout(instruction_id="a", version="2", share=0), EVE)
    assert active(store, State(task_id="t")) == ["a@1"]


def test_a_larger_share_keeps_the_tasks_of_the_smaller() -> None:
    store = MemoryStore([rule(), rule(version="2", status="ACTIVE")])
    tasks = [State(task_id=f"t{n}") for n in range(100)]
    groups = []
    for share in (0.1, 0.5, 0.9):
        store.set_rollout(Rollout(instruction_id="a", version="2", share=share))
        groups.append({t.task_id for t in tasks if active(store, t) == ["a@2"]})
    assert groups[0] < groups[1] < groups[2]


def test_a_version_on_trial_is_compared_too() -> None:
    store = MemoryStore(
        [
            rule(key="tone", value="x"),
            rule("b", key="tone", value="x"),
            rule(version="2", key="tone", value="y"),
        ]
    )
    for share in (0.01, 0.99):
        store.set_rollout(Rollout(instruction_id="a", version="2", share=share))
        assert [c.refs for c in find_conflicts(store)] == [("a@2", "b@1")]


def test_what_cannot_be_released_to_a_share() -> None:
    store = MemoryStore([rule(kind="safety"), rule("d", status="DRAFT")])
    with pytest.raises(InstructionError, match="all tasks at once"):
        release(store, Rollout(instruction_id="a", version="1", share=0.5), EVE)
    with pytest.raises(InstructionError, match="review it"):
        release(store, Rollout(instruction_id="d", version="1", share=0.5), EVE)


def test_bindings_place_a_rule() -> None:
    store = MemoryStore([rule(), rule(version="2"), rule("b")])
    store.bind(Binding.model_validate({"instruction_id": "a", "scope": {"project": "p"}}))
    store.bind(
        Binding.model_validate({"instruction_id": "a", "scope": {"project": "q"}, "version": "1"})
    )
    assert active(store) == ["b@1"]
    assert active(store, State(project="p")) == ["a@2", "b@1"]
    assert active(store, State(project="q")) == ["a@1", "b@1"]
    store.bind(
        Binding.model_validate({"instruction_id": "a", "scope": {"agent": "w"}, "version": "2"})
    )
    with pytest.raises(InstructionError, match="bound to the versions 1, 2 at once"):
        active(store, State(project="q", agent="w"))


PINNED = TaskRules(task_id="task", migration=Migration.PIN)


def started(store: MemoryStore, task: TaskRules) -> TaskRules:
    return choose_versions(store, task)[1]


@pytest.mark.parametrize("mode", list(Migration))
@pytest.mark.parametrize("kind", list(Kind))
def test_a_running_task_and_a_new_version(mode: Migration, kind: Kind) -> None:
    store = MemoryStore([rule(kind=kind)])
    task = started(store, TaskRules(task_id="task", migration=mode))
    publish(store, rule(version="2", kind=kind))
    chosen, moved = choose_versions(store, task)
    stays = mode is Migration.PIN or (mode is Migration.BY_KIND and kind in task.pinned_kinds)
    new = "1" if stays and not kind.protects else "2"
    assert chosen["a"].version == new
    assert [(s.before, s.after) for s in moved.switches] == ([("1", "2")] if new == "2" else [])
    assert all(switch.reason for switch in moved.switches)
    assert choose_versions(store, moved)[1] == moved


def test_a_rule_that_begins_to_protect_holds_at_once() -> None:
    store = MemoryStore([rule(kind="preference")])
    task = started(store, PINNED)
    publish(store, rule(version="2", kind="safety"))
    assert choose_versions(store, task)[0]["a"].version == "2"


def test_new_rules_and_running_tasks() -> None:
    store = MemoryStore([rule()])
    task = started(store, PINNED)
    publish(store, rule("style", kind="preference"))
    publish(store, rule("limit", kind="execution_limit"))
    chosen, moved = choose_versions(store, task)
    assert sorted(chosen) == ["a", "limit"]
    assert [s.instruction_id for s in moved.switches] == ["limit"]


def test_a_retired_version_is_left() -> None:
    store = MemoryStore([rule(kind="preference")])
    task = started(store, PINNED)
    publish(store, rule(version="2", kind="preference"))
    assert choose_versions(store, task)[0]["a"].version == "1"
    move(store, "a", "1", Status.RETIRED, EVE)
    chosen, moved = choose_versions(store, task)
    assert chosen["a"].version == "2"
    assert "no longer" in moved.switches[0].reason


def test_a_task_takes_its_versions_at_the_start_even_for_later_stages() -> None:
    late = {"scope": {"stage": "report"}, "kind": "preference"}
    store = MemoryStore([rule(**late)])
    task = started(store, PINNED)
    publish(store, rule(version="2", **late))
    assert active(store, State(stage="report"), task) == ["a@1"]


def test_rules_of_the_task_have_names_of_their_own() -> None:
    store = MemoryStore([rule()])
    with pytest.raises(InstructionError, match="exists already"):
        select(store, State(), extra=[rule(text="mine")])


def compiler(store: MemoryStore) -> Compiler:
    return Compiler(store, {"send": {"side_effect": "external"}})


def test_resume_reads_the_rules_of_today() -> None:
    store = MemoryStore(
        [rule(kind="preference"), rule("send", key="tools.send", value="allow", kind="permission")]
    )
    compiled = compiler(store).compile(State(), "Go.")
    text = Checkpoint.of(compiled, "Go.", {"step": 4}).dump()
    publish(store, rule("send", "2", key="tools.send", value="ask", kind="permission"))
    publish(store, rule(version="2", kind="preference"))
    saved = Checkpoint.load(text)
    resumed = resume(compiler(store), saved)
    assert saved.data == {"step": 4}
    assert (resumed.added, resumed.gone) == (("send@2",), ("send@1",))
    assert [s.instruction_id for s in resumed.switches] == ["send"]
    assert resumed.policy_changed
    again = resume(compiler(store), Checkpoint.of(resumed.compiled, "Go."))
    assert (again.switches, again.policy_changed) == ((), False)


@pytest.mark.parametrize(
    "change",
    [
        {"approved": True},
        {"policy": {"rules": []}},
        {"state": {"task_id": "t", "role": "admin"}},
        {"rules": [{"id": "x"}]},
    ],
)
def test_a_checkpoint_carries_no_rules_and_no_permission(change: dict[str, Any]) -> None:
    import json

    saved = Checkpoint.of(compiler(MemoryStore([rule()])).compile(State(), "Go."), "Go.")
    with pytest.raises(UsageError, match="no checkpoint"):
        Checkpoint.load(json.dumps({**json.loads(saved.dump()), **change}))


def test_a_checkpoint_is_of_one_task() -> None:
    made = compiler(MemoryStore([rule()]))
    saved = Checkpoint.of(made.compile(State(task_id="t1"), "Go."), "Go.")
    with pytest.raises(UsageError, match="one task"):
        resume(made, saved, state=State(task_id="t2"))
    with pytest.raises(UsageError, match="'t1'"):
        made.compile(State(task_id="t2"), "Go.", task=saved.task)
