"""Where rules are kept: the protocol of a store, and the store in memory.

A store keeps immutable versions, their status with its history, bindings, shares of tasks, test
cases and what was active in which task. :class:`steguard.store` has the same protocol in SQL.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from steguard.errors import SteguardError
from steguard.instructions.records import (
    Instruction,
    Place,
    RuleId,
    Scope,
    Status,
    Version,
    version_key,
)
from steguard.yamlfile import nearest


class InstructionError(SteguardError, ValueError):
    """A rule or a store is used in a way that cannot work; the message says what to do."""


class UnknownInstruction(InstructionError, LookupError):
    """There is no such rule or version."""


class ImmutableVersion(InstructionError):
    """The version exists already with other content."""


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Event(_Row):
    """One step in the life of a version."""

    instruction_id: str
    version: str
    before: Status | None
    after: Status
    actor: str
    at: float
    reason: str = ""


class Binding(_Row):
    """Gives a rule a scope of its own: the rule then applies only where a binding matches too.

    ``version`` fixes the version there; None takes the newest.
    """

    instruction_id: RuleId
    scope: Place = Scope()
    version: Version | None = None


class Rollout(_Row):
    """A version for a share of the tasks, before all have it. ``share`` is from 0 to 1."""

    instruction_id: RuleId
    version: Version
    share: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class CaseRecord(_Row):
    """A test case of a rule: an input and what is expected, with the results so far."""

    case_id: str
    instruction_id: RuleId
    given: dict[str, JsonValue]
    expected: dict[str, JsonValue]
    results: tuple[dict[str, JsonValue], ...] = ()


class Activation(_Row):
    """Which versions were active in one compilation: the manifest, kept."""

    task_id: str
    at: float
    rules: tuple[str, ...]
    manifest_digest: str
    manifest: dict[str, JsonValue]


class RuleSource(Protocol):
    """What the choice of rules reads."""

    def rules(self) -> tuple[Instruction, ...]: ...

    def get(self, instruction_id: str, version: str) -> Instruction: ...

    def bindings(self) -> tuple[Binding, ...]: ...

    def rollouts(self) -> tuple[Rollout, ...]: ...


@runtime_checkable
class InstructionStore(Protocol):
    """What the compiler, the lifecycle and the commands need of a store.

    ``add`` keeps a new version and refuses other content under an existing version
    (:class:`ImmutableVersion`); the same content again is no error. ``move`` changes the status
    only if it is still ``before``, and keeps the event; who may do it is decided in
    :mod:`steguard.instructions.lifecycle`. Lists are in a stable order: rules by id then version,
    the rest by time of entry.
    """

    def add(self, rule: Instruction, *, actor: str, at: float | None = None) -> Instruction: ...

    def get(self, instruction_id: str, version: str) -> Instruction: ...

    def rules(self) -> tuple[Instruction, ...]: ...

    def versions(self, instruction_id: str) -> tuple[Instruction, ...]: ...

    def move(self, event: Event) -> Instruction: ...

    def history(self, instruction_id: str | None = None) -> tuple[Event, ...]: ...

    def bind(self, binding: Binding) -> None: ...

    def bindings(self) -> tuple[Binding, ...]: ...

    def set_rollout(self, rollout: Rollout) -> None: ...

    def rollouts(self) -> tuple[Rollout, ...]: ...

    def add_case(self, case: CaseRecord) -> None: ...

    def cases(self, instruction_id: str | None = None) -> tuple[CaseRecord, ...]: ...

    def record_case(self, case_id: str, result: dict[str, Any]) -> None: ...

    def log_activation(self, activation: Activation) -> None: ...

    def activations(self, task_id: str | None = None) -> tuple[Activation, ...]: ...


class MemoryStore:
    """Rules in memory: for tests, for one process, and behind the folder of YAML files."""

    def __init__(
        self, rules: Iterable[Instruction] = (), *, clock: Callable[[], float] = time.time
    ) -> None:
        self._clock = clock
        self._rules: dict[tuple[str, tuple[int, int, int]], Instruction] = {}
        self._events: list[Event] = []
        self._bindings: list[Binding] = []
        self._rollouts: dict[str, Rollout] = {}
        self._cases: dict[str, CaseRecord] = {}
        self._activations: list[Activation] = []
        for rule in rules:
            self.add(rule, actor=rule.author or "config")

    def add(self, rule: Instruction, *, actor: str, at: float | None = None) -> Instruction:
        key = (rule.instruction_id, version_key(rule.version))
        known = self._rules.get(key)
        if known is not None:
            require_same(known, rule)
            return known
        self._rules[key] = rule
        self._events.append(
            Event(
                instruction_id=rule.instruction_id,
                version=rule.version,
                before=None,
                after=rule.status,
                actor=actor,
                at=self._clock() if at is None else at,
            )
        )
        return rule

    def get(self, instruction_id: str, version: str) -> Instruction:
        found = self._rules.get((instruction_id, version_key(version)))
        if found is None:
            raise unknown(instruction_id, version, self.rules())
        return found

    def rules(self) -> tuple[Instruction, ...]:
        return tuple(rule for _, rule in sorted(self._rules.items(), key=lambda item: item[0]))

    def versions(self, instruction_id: str) -> tuple[Instruction, ...]:
        found = tuple(rule for rule in self.rules() if rule.instruction_id == instruction_id)
        if not found:
            raise unknown(instruction_id, None, self.rules())
        return found

    def move(self, event: Event) -> Instruction:
        rule = self.get(event.instruction_id, event.version)
        if rule.status is not event.before:
            raise InstructionError(
                f"{rule.ref} is {rule.status.value} now, not "
                f"{event.before.value if event.before else 'new'}; read it again"
            )
        moved = rule.with_status(event.after)
        self._rules[(rule.instruction_id, version_key(rule.version))] = moved
        self._events.append(event)
        return moved

    def history(self, instruction_id: str | None = None) -> tuple[Event, ...]:
        return tuple(
            e for e in self._events if instruction_id is None or e.instruction_id == instruction_id
        )

    def bind(self, binding: Binding) -> None:
        self.versions(binding.instruction_id)
        if binding.version is not None:
            self.get(binding.instruction_id, binding.version)
        if binding not in self._bindings:
            self._bindings.append(binding)

    def bindings(self) -> tuple[Binding, ...]:
        return tuple(self._bindings)

    def set_rollout(self, rollout: Rollout) -> None:
        self.get(rollout.instruction_id, rollout.version)
        self._rollouts[rollout.instruction_id] = rollout

    def rollouts(self) -> tuple[Rollout, ...]:
        return tuple(self._rollouts[name] for name in sorted(self._rollouts))

    def add_case(self, case: CaseRecord) -> None:
        self.versions(case.instruction_id)
        known = self._cases.get(case.case_id)
        if known is not None and (known.given, known.expected) != (case.given, case.expected):
            raise ImmutableVersion(f"the test case '{case.case_id}' exists with other content")
        self._cases.setdefault(case.case_id, case)

    def cases(self, instruction_id: str | None = None) -> tuple[CaseRecord, ...]:
        return tuple(
            case
            for case in self._cases.values()
            if instruction_id is None or case.instruction_id == instruction_id
        )

    def record_case(self, case_id: str, result: dict[str, Any]) -> None:
        case = self._cases.get(case_id)
        if case is None:
            raise UnknownInstruction(f"there is no test case '{case_id}'")
        self._cases[case_id] = case.model_copy(update={"results": (*case.results, result)})

    def log_activation(self, activation: Activation) -> None:
        self._activations.append(activation)

    def activations(self, task_id: str | None = None) -> tuple[Activation, ...]:
        return tuple(a for a in self._activations if task_id is None or a.task_id == task_id)


def require_same(known: Instruction, rule: Instruction) -> None:
    """Refuse other content under a version that exists."""
    if known.hash != rule.hash:
        raise ImmutableVersion(
            f"{rule.ref} exists with other content and a version never changes; "
            f"give the new content a new version"
        )


def unknown(
    instruction_id: str, version: str | None, rules: Iterable[Instruction]
) -> UnknownInstruction:
    """The error for a rule that is not there, with the nearest name."""
    rules = tuple(rules)
    names = sorted({rule.instruction_id for rule in rules})
    if version is None or instruction_id not in names:
        return UnknownInstruction(
            f"there is no instruction '{instruction_id}'{nearest(instruction_id, names)}"
        )
    have = [rule.version for rule in rules if rule.instruction_id == instruction_id]
    return UnknownInstruction(
        f"'{instruction_id}' has no version {version}; it has {', '.join(have)}"
    )
