"""Why a rule applies or not, what changed between two sets, and what happened to versions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from steguard.instructions.conflicts import resolve
from steguard.instructions.enforce import make_checks
from steguard.instructions.files import FolderStore
from steguard.instructions.keys import is_a
from steguard.instructions.records import LEVELS, Instruction, State, version_key
from steguard.instructions.registry import InstructionError, InstructionStore
from steguard.instructions.selection import TaskRules, choose_versions, select, usable
from steguard.instructions.toolpolicy import make_policy


@dataclass(frozen=True)
class Explained:
    """A version of a rule in a state."""

    rule: Instruction
    applies: bool
    why: str
    held_by: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "rule": self.rule.ref,
            "hash": self.rule.hash,
            "applies": self.applies,
            "why": self.why,
            "held_by": self.held_by,
        }


def explain_rules(store: InstructionStore, state: State) -> list[Explained]:
    """Every version with the reason why it applies or not."""
    active, _ = select(store, state)
    resolution = resolve(active, state.artifact, state.tools)
    held = _held_by(resolution)
    chosen, _ = choose_versions(store, TaskRules(task_id=state.task_id))
    refs = {rule.ref for rule in active}
    rows = []
    for rule in store.rules():
        if rule.ref in resolution.overridden:
            row = Explained(rule, False, f"overridden by {resolution.overridden[rule.ref]}")
        elif rule.ref in resolution.aside:
            row = Explained(rule, False, f"set aside: {resolution.aside[rule.ref]} holds")
        elif rule.ref in refs:
            bad = [c for c in resolution.refused if rule.ref in c.refs]
            why = f"contradiction: {bad[0].message}" if bad else _matched(rule)
            row = Explained(rule, True, why, held.get(rule.ref, "the model only"))
        else:
            row = Explained(rule, False, _why_not(rule, chosen, state))
        rows.append(row)
    return rows


def _held_by(resolution: Any) -> dict[str, str]:
    try:
        checked = dict(make_checks(resolution, {}, {}).checked)
    except InstructionError:
        # A validator that only the program has, or a file that is not here.
        checked = {rule.ref: "output_validator" for rule in resolution.rules if rule.validator}
    return {**make_policy(resolution, {}, None, "1")[1], **checked}


def _matched(rule: Instruction) -> str:
    scope = rule.scope.describe()
    return f"{scope}; {'|'.join(rule.artifacts)}" if rule.artifacts else scope


def _why_not(rule: Instruction, chosen: dict[str, Instruction], state: State) -> str:
    if not rule.enabled:
        return "it is switched off"
    if not usable(rule):
        return f"it is {rule.status.value}"
    other = chosen.get(rule.instruction_id)
    if other is not None and other.ref != rule.ref:
        return f"{other.ref} is used"
    for level in LEVELS:
        names = rule.scope.level(level)
        if names and not set(names) & state.level(level):
            have = ", ".join(sorted(state.level(level))) or "none"
            return f"{level} is {have}, not {'|'.join(names)}"
    if rule.artifacts and not any(is_a(state.artifact or "", name) for name in rule.artifacts):
        return f"the product is {state.artifact or 'not named'}, not {'|'.join(rule.artifacts)}"
    return "no binding matches"


@dataclass(frozen=True)
class Change:
    """What is not the same in a new set of rules."""

    what: str
    ref: str
    fields: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {"change": self.what, "rule": self.ref, "fields": list(self.fields)}

    def describe(self) -> str:
        fields = f": {', '.join(self.fields)}" if self.fields else ""
        return f"{self.what} {self.ref}{fields}"


def changes_between(old: InstructionStore, new: InstructionStore) -> list[Change]:
    """The changes, each version by itself; content that changed in place is told as such."""
    before = {(r.instruction_id, version_key(r.version)): r for r in old.rules()}
    after = {(r.instruction_id, version_key(r.version)): r for r in new.rules()}
    changes: list[Change] = []
    for key in sorted({*before, *after}):
        one, other = before.get(key), after.get(key)
        if one is None and other is not None:
            earlier = [rule for (name, _), rule in before.items() if name == key[0]]
            changes.append(_new(earlier, other))
        elif other is None and one is not None:
            changes.append(Change("removed", one.ref))
        elif one is not None and other is not None:
            changes += _same_version(one, other)
    return changes


def _new(earlier: list[Instruction], rule: Instruction) -> Change:
    if not earlier:
        return Change("added", rule.ref)
    last = max(earlier, key=lambda other: version_key(other.version))
    return Change("new version", rule.ref, _fields(last, rule))


def _same_version(one: Instruction, other: Instruction) -> list[Change]:
    changes: list[Change] = []
    if one.hash != other.hash:
        changes.append(Change("changed without a new version", other.ref, _fields(one, other)))
    for name in ("status", "enabled"):
        was, now = getattr(one, name), getattr(other, name)
        if was != now:
            changes.append(Change("moved", other.ref, (f"{name} {was} -> {now}",)))
    return changes


def _fields(one: Instruction, other: Instruction) -> tuple[str, ...]:
    a, b = one.content(), other.content()
    return tuple(name for name in a if a[name] != b[name] and name not in ("version", "id"))


def history_of(store: InstructionStore, name: str | None) -> list[dict[str, str]]:
    """The life of versions, one row a step."""
    if name is not None:
        store.versions(name)
    if isinstance(store, FolderStore):
        return [
            _row(item.at, f"{item.id}@{item.version}", item.status, "", item.hash)
            for item in store.published
            if name in (None, item.id)
        ]
    return [
        _row(
            event.at,
            f"{event.instruction_id}@{event.version}",
            f"{event.before.value if event.before else 'new'} -> {event.after.value}",
            event.actor,
            event.reason,
        )
        for event in store.history(name)
    ]


def _row(at: float, ref: str, status: str, actor: str, reason: str) -> dict[str, str]:
    when = datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
    return {"at": when, "ref": ref, "status": status, "actor": actor, "reason": reason}
