"""What rules demand, as data that can be compared."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from steguard.instructions.keys import Role, Subject
from steguard.instructions.records import canonical

Scalar = tuple[str, Any]
"""A typed scalar, so that ``1``, ``true`` and ``"1 "`` stay apart."""

INF = math.inf


class BadValue(ValueError):
    """The value does not fit the key; the message says what to write."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A number between two limits."""

    subject: Subject
    low: float = -INF
    high: float = INF
    low_open: bool = False
    high_open: bool = False


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of these values, or nothing but these items."""

    subject: Subject
    values: frozenset[Scalar]


@dataclass(frozen=True, slots=True)
class NoneOf:
    """None of these values or items."""

    subject: Subject
    values: frozenset[Scalar]


@dataclass(frozen=True, slots=True)
class Has:
    """All of these items."""

    subject: Subject
    values: frozenset[Scalar]


@dataclass(frozen=True, slots=True)
class Affix:
    """The text starts or ends with this phrase."""

    subject: Subject
    phrase: str


@dataclass(frozen=True, slots=True)
class Setting:
    """A named limit or switch has this one value. ``rank`` grows with restrictiveness."""

    subject: Subject
    role: Role
    value: Scalar
    rank: float


@dataclass(frozen=True, slots=True)
class ToolEffect:
    """The effect that a tool (or ``prefix.*``, or ``*``) has: ``deny``, ``ask`` or ``allow``."""

    tool: str
    effect: str


@dataclass(frozen=True, slots=True)
class OnlyTools:
    """No tool but these."""

    tools: frozenset[str]


@dataclass(frozen=True, slots=True)
class NeedsTool:
    """The tool must be there to be called."""

    tool: str


Claim = Bound | OneOf | NoneOf | Has | Affix | Setting | ToolEffect | OnlyTools | NeedsTool


def scalar(value: Any) -> Scalar:
    """A value in the one form in which values are compared."""
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, int | float):
        return ("number", float(value))
    if value is None:
        return ("null", None)
    if isinstance(value, str):
        text = " ".join(value.split())
        if text.lower() in ("true", "false"):
            return ("bool", text.lower() == "true")
        if re.fullmatch(r"[-+]?\d+(\.\d+)?", text):
            return ("number", float(text))
        return ("text", text.casefold())
    return ("data", canonical(value))


def scalars(value: Any) -> frozenset[Scalar]:
    """The values of a list, or the one value."""
    listed = value if isinstance(value, list | tuple) else [value]
    if not listed:
        raise BadValue("the list is empty; write the values or remove the rule")
    return frozenset(scalar(item) for item in listed)
