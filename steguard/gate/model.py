"""The words of the gate: a call, where values come from, what the gate decides.

A model proposes a :class:`ToolCall`. The gate looks at it in a :class:`Context` and gives a
:class:`Decision`. Nothing here runs a tool.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


class Effect(StrEnum):
    """What the gate says. ``deny`` is stronger than ``ask``, ``ask`` is stronger than ``allow``."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


STRENGTH = {Effect.ALLOW: 0, Effect.ASK: 1, Effect.DENY: 2}


def strongest(*effects: Effect) -> Effect:
    """The strongest of these effects; deny where there is none."""
    return max(effects, key=STRENGTH.__getitem__, default=Effect.DENY)


class Source(StrEnum):
    """Who put a piece of text before the model. Only the first two can permit an action."""

    TRUSTED_CONFIG = "trusted_config"
    USER_REQUEST = "user_request"
    TOOL_OBSERVATION = "tool_observation"
    RETRIEVED_DOCUMENT = "retrieved_document"
    MEMORY_RECORD = "memory_record"


class Trust(StrEnum):
    """Who can write a field of an observation.

    ``system``: the tool's own system sets it (an id, a status, the user's own account data).
    ``content``: another person can write it (a body, a comment, the text of a file or a page).
    """

    SYSTEM = "system"
    CONTENT = "content"


class SideEffect(StrEnum):
    """What a tool changes, from the least to the most."""

    READ = "read"
    WRITE = "write"
    DESTRUCTIVE = "destructive"
    EXTERNAL = "external"


class Step(StrEnum):
    """The conditions of the gate, in the order in which it looks at them."""

    TOOL = "tool"
    ARGUMENTS = "arguments"
    SCOPE = "scope"
    RULE = "rule"
    CONSTRAINT = "constraint"
    PROVENANCE = "provenance"
    APPROVAL = "approval"
    RATE = "rate"
    BUDGET = "budget"
    EXECUTION = "execution"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model proposes.

    ``fault`` says why the arguments could not be read (no JSON, no object, a key twice). A call
    with a fault is always denied.
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    call_id: str = ""
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """What one tool gave back: plain data, or text.

    ``arguments`` are those of the call that gave it. ``source`` is ``tool_observation``,
    ``retrieved_document`` or ``memory_record``.
    """

    tool: str
    data: Any
    arguments: Mapping[str, Any] = field(default_factory=dict)
    call_id: str = ""
    source: Source = Source.TOOL_OBSERVATION


@dataclass(frozen=True, slots=True)
class Context:
    """All that a decision may depend on, apart from the policy and the stored state.

    ``scope`` holds the place in the work: ``agent``, ``project``, ``workflow``, ``stage``,
    ``step``. ``agents`` is the chain of delegation, the first agent first. ``request`` is the
    user's own text. ``trusted`` are values from trusted configuration, by name.
    ``policy_version`` is the version with which the task began; the gate always decides with
    the policy that it holds now. ``seen`` is the gate's own: what it worked out from the rest.
    """

    task_id: str = ""
    request: str = ""
    scope: Mapping[str, str] = field(default_factory=dict)
    agents: tuple[str, ...] = ()
    trusted: Mapping[str, Any] = field(default_factory=dict)
    observations: tuple[Observation, ...] = ()
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    policy_version: str | None = None
    seen: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Check:
    """One condition that the gate looked at, for ``explain``."""

    step: Step
    passed: bool
    note: str
    rule: str = ""
    pointer: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """What the gate says about one call.

    ``reason`` is one or more short sentences. ``step`` is the condition that failed (None for
    ``allow``), ``pointer`` the argument in question, ``rule`` the id of the rule that decided.
    ``alternatives`` say what the model may do instead; each of them passes the gate anew.
    ``digest`` names exactly what would run: tool, arguments, task and policy.
    """

    effect: Effect
    tool: str
    reason: str
    digest: str
    rule: str = ""
    step: Step | None = None
    pointer: str = ""
    alternatives: tuple[str, ...] = ()
    call_id: str = ""
    policy: str = ""
    side_effect: SideEffect = SideEffect.EXTERNAL
    checks: tuple[Check, ...] = ()

    @property
    def allowed(self) -> bool:
        return self.effect is Effect.ALLOW

    def to_dict(self) -> dict[str, Any]:
        """The wire format, as the command line and the audit log write it."""
        return {
            "effect": self.effect.value,
            "tool": self.tool,
            "call_id": self.call_id,
            "reason": self.reason,
            "rule": self.rule or None,
            "step": self.step.value if self.step else None,
            "pointer": self.pointer or None,
            "alternatives": list(self.alternatives),
            "side_effect": self.side_effect.value,
            "digest": self.digest,
            "policy": self.policy,
        }


class NotCanonical(ValueError):
    """A value has no canonical JSON form (NaN, a lone surrogate, a key that is no text)."""


def canonical(data: Any) -> bytes:
    """The one JSON form of plain data: sorted keys, no spaces, UTF-8.

    Raises :class:`NotCanonical`.
    """
    _check_keys(data)
    try:
        return _ENCODE(data).encode("utf-8")
    except (ValueError, TypeError, RecursionError) as error:
        raise NotCanonical(str(error)) from None


_ENCODE = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
).encode
_SCALARS = frozenset({str, int, float, bool, type(None)})


def _check_keys(data: Any, depth: int = 0) -> None:
    if depth > 64:
        raise NotCanonical("the value is nested too deep")
    if isinstance(data, dict):
        for key, value in data.items():
            if type(key) is not str:
                raise NotCanonical(f"the key {key!r} is no text")
            if type(value) not in _SCALARS:
                _check_keys(value, depth + 1)
    elif isinstance(data, list | tuple):
        for value in data:
            if type(value) not in _SCALARS:
                _check_keys(value, depth + 1)


def digest(tool: str, arguments: Mapping[str, Any], task_id: str, policy: str) -> str:
    """The SHA-256 of exactly what would run. Raises :class:`NotCanonical`."""
    record = {"tool": tool, "arguments": dict(arguments), "task": task_id, "policy": policy}
    return hashlib.sha256(canonical(record)).hexdigest()


def leaves(data: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """Every scalar in plain data, with its JSON pointer."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            name = str(key).replace("~", "~0").replace("/", "~1")
            yield from leaves(value, f"{pointer}/{name}")
    elif isinstance(data, list | tuple):
        for index, value in enumerate(data):
            yield from leaves(value, f"{pointer}/{index}")
    else:
        yield pointer, data
