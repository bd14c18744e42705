"""Which versions of which rules apply: exact, and the same for the same data.

First the version of each rule is chosen (newest, the task's own, a share of tasks), then scope,
product and bindings decide whether it applies. No model is asked.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from steguard.instructions.records import Instruction, Kind, State, Status, ordered, version_key
from steguard.instructions.registry import Binding, InstructionError, Rollout, RuleSource


class Migration(StrEnum):
    """What a running task does when a rule gets a new version.

    ``pin``: it keeps the versions with which it began. ``newest``: each call takes the newest.
    ``by_kind``: only the kinds in ``pinned_kinds`` are kept. Rules that protect (execution
    limits, permissions, safety, compliance) are the newest in every mode.
    """

    PIN = "pin"
    NEWEST = "newest"
    BY_KIND = "by_kind"


class Switch(BaseModel):
    """A running task went over to another version of a rule."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    instruction_id: str
    before: str | None
    after: str | None
    reason: str


class TaskRules(BaseModel):
    """The versions with which a task works, and every switch since it began."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task_id: str
    migration: Migration = Migration.BY_KIND
    pinned_kinds: tuple[Kind, ...] = (Kind.OUTPUT_FORMAT, Kind.PREFERENCE)
    started: bool = False
    pins: dict[str, str] = Field(default_factory=dict)
    switches: tuple[Switch, ...] = ()


def usable(rule: Instruction) -> bool:
    """Whether a new task may have this version."""
    return rule.status is Status.ACTIVE and rule.enabled


def still_usable(rule: Instruction) -> bool:
    """Whether a task that began with this version may keep it."""
    return rule.status in (Status.ACTIVE, Status.DEPRECATED) and rule.enabled


def in_share(rollout: Rollout, task_id: str) -> bool:
    """Whether a task is in the share that has the new version; always the same answer."""
    text = f"{rollout.instruction_id}@{rollout.version}:{task_id}"
    number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    return number < rollout.share * 2**64


def newest(
    versions: Sequence[Instruction], rollout: Rollout | None = None, task_id: str = ""
) -> Instruction | None:
    """The newest version that a new task may have; a version on trial goes to its share only."""
    ranked = sorted(versions, key=lambda rule: version_key(rule.version), reverse=True)
    if rollout is not None:
        trial = version_key(rollout.version)
        found = next((r for r in ranked if version_key(r.version) == trial), None)
        if found is not None and _ready(found) and in_share(rollout, task_id):
            return found
        ranked = [r for r in ranked if version_key(r.version) != trial]
    return next((rule for rule in ranked if usable(rule)), None)


def _ready(rule: Instruction) -> bool:
    """Whether a version can be tried by a share of the tasks."""
    return rule.status in (Status.REVIEWED, Status.ACTIVE) and rule.enabled


def choose_versions(store: RuleSource, task: TaskRules) -> tuple[dict[str, Instruction], TaskRules]:
    """The version of each rule for this task, and the task with its pins and switches."""
    by_id: dict[str, list[Instruction]] = defaultdict(list)
    for known in store.rules():
        by_id[known.instruction_id].append(known)
    rollouts = {r.instruction_id: r for r in store.rollouts()}
    chosen: dict[str, Instruction] = {}
    switches: list[Switch] = []
    for name in sorted(by_id):
        fresh = newest(by_id[name], rollouts.get(name), task.task_id)
        rule, reason = _for_task(by_id[name], fresh, task, name)
        if rule is not None:
            chosen[name] = rule
        before, after = task.pins.get(name), rule.version if rule else None
        if task.started and before != after:
            switches.append(Switch(instruction_id=name, before=before, after=after, reason=reason))
    for name in sorted(set(task.pins) - set(by_id)):
        switches.append(
            Switch(instruction_id=name, before=task.pins[name], after=None, reason="removed")
        )
    moved = task.model_copy(
        update={
            "started": True,
            "pins": {name: rule.version for name, rule in sorted(chosen.items())},
            "switches": (*task.switches, *switches),
        }
    )
    return chosen, moved


def _for_task(
    versions: Sequence[Instruction], fresh: Instruction | None, task: TaskRules, name: str
) -> tuple[Instruction | None, str]:
    if not task.started:
        return fresh, "start"
    pin = task.pins.get(name)
    held = next((r for r in versions if pin and version_key(r.version) == version_key(pin)), None)
    if (fresh and fresh.kind.protects) or (held and held.kind.protects):
        return fresh, "a rule that protects is always the newest"
    if task.migration is Migration.NEWEST:
        return fresh, "the task takes the newest"
    kind = (held or fresh or versions[0]).kind
    if task.migration is Migration.BY_KIND and kind not in task.pinned_kinds:
        return fresh, f"the task takes the newest of the kind '{kind.value}'"
    if pin is None:
        return None, "new since the task began"
    if held is not None and still_usable(held):
        return held, "pinned"
    return fresh, "the pinned version can no longer be used"


def select(
    store: RuleSource,
    state: State,
    task: TaskRules | None = None,
    extra: Iterable[Instruction] = (),
) -> tuple[list[Instruction], TaskRules]:
    """The rules that apply in a state, in their one order.

    ``extra`` are rules of the task itself, such as what the user asked for.
    """
    chosen, moved = choose_versions(store, task or TaskRules(task_id=state.task_id))
    active = applying(store, chosen, state)
    own = list(extra)
    _refuse_twins(own, chosen)
    active += [rule for rule in own if usable(rule) and rule.applies(state)]
    return ordered(active), moved


def applying(
    store: RuleSource, chosen: Mapping[str, Instruction], state: State
) -> list[Instruction]:
    """Those of the chosen versions that apply in a state."""
    bound: dict[str, list[Binding]] = defaultdict(list)
    for binding in store.bindings():
        bound[binding.instruction_id].append(binding)
    active: list[Instruction] = []
    for name, rule in chosen.items():
        here = [rule] if name not in bound else _bound(store, rule, bound[name], state)
        active += [one for one in here if one.applies(state)]
    return active


def _bound(
    store: RuleSource, rule: Instruction, bindings: Sequence[Binding], state: State
) -> list[Instruction]:
    """The version that the bindings give here; none where no binding matches."""
    matching = [binding for binding in bindings if binding.scope.matches(state)]
    if not matching:
        return []
    versions = sorted({b.version for b in matching if b.version is not None}, key=version_key)
    if not versions or rule.kind.protects:
        return [rule]
    if len(versions) > 1:
        raise InstructionError(
            f"'{rule.instruction_id}' is bound to the versions {', '.join(versions)} at once "
            f"({', '.join(b.scope.describe() for b in matching)}); keep one of the bindings"
        )
    found = store.get(rule.instruction_id, versions[0])
    return [found if still_usable(found) else rule]


def _refuse_twins(own: Sequence[Instruction], chosen: dict[str, Instruction]) -> None:
    seen: set[str] = set()
    for rule in own:
        if rule.instruction_id in chosen or rule.instruction_id in seen:
            raise InstructionError(
                f"the task brings a rule '{rule.instruction_id}' that exists already; "
                "give it a name of its own"
            )
        seen.add(rule.instruction_id)
