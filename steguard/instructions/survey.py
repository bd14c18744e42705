"""All contradictions in a set of rules, in every state in which rules meet.

The states that matter are made of the names that the rules themselves use: each rule's own
place, and the places where several of them meet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from steguard.instructions.conflict import Conflict
from steguard.instructions.conflicts import resolve
from steguard.instructions.records import LEVELS, Instruction, Scope, State, version_key
from steguard.instructions.registry import (
    Binding,
    InstructionError,
    InstructionStore,
    MemoryStore,
    Rollout,
    RuleSource,
)
from steguard.instructions.selection import TaskRules, applying, choose_versions
from steguard.instructions.values import products_of

MAX_PLACES = 20_000

Place = tuple[str | None, ...]
"""A name for each level; None is any other name."""


def find_conflicts(rules: InstructionStore | Iterable[Instruction]) -> list[Conflict]:
    """Every contradiction between rules that can be active together."""
    store = rules if isinstance(rules, InstructionStore) else MemoryStore(rules)
    shares = (0.0, 1.0) if store.rollouts() else (0.0,)
    found = [c for share in shares for c in _conflicts(_Snapshot(store, share))]
    return _largest(_distinct(found))


class _Snapshot:
    """The rules as read once, where every version on trial is for all tasks or for none."""

    def __init__(self, store: RuleSource, share: float) -> None:
        self._rules = store.rules()
        self._versions = {(r.instruction_id, version_key(r.version)): r for r in self._rules}
        self._bindings = store.bindings()
        self._rollouts = tuple(r.model_copy(update={"share": share}) for r in store.rollouts())

    def rules(self) -> tuple[Instruction, ...]:
        return self._rules

    def get(self, instruction_id: str, version: str) -> Instruction:
        return self._versions[instruction_id, version_key(version)]

    def bindings(self) -> tuple[Binding, ...]:
        return self._bindings

    def rollouts(self) -> tuple[Rollout, ...]:
        return self._rollouts


def _conflicts(store: RuleSource) -> list[Conflict]:
    seen: set[tuple[str | None, frozenset[str]]] = set()
    found: list[Conflict] = []
    chosen, _ = choose_versions(store, TaskRules(task_id="survey"))
    for state in states(store):
        active = applying(store, chosen, state)
        key = (state.artifact, frozenset(rule.ref for rule in active))
        if key in seen:
            continue
        seen.add(key)
        found += resolve(active, state.artifact, state.tools).conflicts
    return found


def _distinct(conflicts: Iterable[Conflict]) -> list[Conflict]:
    kept: dict[tuple[object, ...], Conflict] = {}
    for conflict in conflicts:
        kept.setdefault((conflict.kind, conflict.refs, _names(conflict)), conflict)
    return list(kept.values())


def states(store: RuleSource) -> Iterator[State]:
    """The states in which different rules are active."""
    rules = store.rules()
    scopes = [rule.scope for rule in rules] + [binding.scope for binding in store.bindings()]
    artifacts = [None, *sorted(products_of(rules))]
    for place in _places(scopes):
        named = {level: name for level, name in zip(LEVELS, place, strict=True) if name}
        tool = named.pop("tool", None)
        for artifact in artifacts:
            yield State(**named, tools=(tool,) if tool else (), artifact=artifact)


def _places(scopes: Iterable[Scope]) -> list[Place]:
    own: set[Place] = {(None,) * len(LEVELS)}
    for scope in scopes:
        own |= set(product(*(scope.level(level) or (None,) for level in LEVELS)))
    places = set(own)
    news = set(own)
    while news:
        joined = {j for a in news for b in own if (j := _join(a, b)) is not None} - places
        places |= joined
        news = joined
        if len(places) > MAX_PLACES:
            raise InstructionError(
                f"the rules meet in more than {MAX_PLACES} places; check fewer files at once"
            )
    return sorted(places, key=lambda place: tuple(name or "" for name in place))


def _join(one: Place, other: Place) -> Place | None:
    """The place that is in both; None where they exclude each other."""
    result = []
    for a, b in zip(one, other, strict=True):
        if a is not None and b is not None and a != b:
            return None
        result.append(a if a is not None else b)
    return tuple(result)


def _names(conflict: Conflict) -> tuple[str, ...]:
    """The subjects without the space, which is another name for the output in some states."""
    return tuple(sorted({subject.partition(".")[2] for subject in conflict.subjects}))


def _largest(conflicts: list[Conflict]) -> list[Conflict]:
    """Without those that are part of a longer list of the same contradiction."""
    kept = [
        c
        for c in conflicts
        if not any(
            other is not c
            and (other.kind, _names(other), other.settled) == (c.kind, _names(c), c.settled)
            and set(c.refs) < set(other.refs)
            for other in conflicts
        )
    ]
    return sorted(kept, key=lambda c: (c.settled, c.kind, c.subjects, c.refs))
