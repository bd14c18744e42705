"""What a condition is good for: deciding it for values, and writing it in CEL."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from steguard.canon.model import And, Compare, Condition, Literals, Member, Not, Or


class ConditionError(ValueError):
    """A condition cannot be decided; ``code`` is ``undefined_name`` or ``type_mismatch``."""

    def __init__(self, code: str, name: str, message: str) -> None:
        super().__init__(message)
        self.code, self.name = code, name


def names(condition: Condition) -> dict[str, str]:
    """Every name with its type: ``number text bool date``."""
    return {part.name: kind_of(_sample(part)) for part in _leaves(condition)}


def evaluate(condition: Condition, values: Mapping[str, Any]) -> bool:
    """Whether the condition holds. A dotted name is looked up as it is, then step by step.

    Raises :class:`ConditionError` for a name without a value (wherever it stands, so that no
    order of terms hides it) and for a value of another type. Text is never read as a number.
    """
    found = {part.name: _lookup(part.name, values) for part in _leaves(condition)}
    for part in _leaves(condition):
        value, wanted = found[part.name], kind_of(_sample(part))
        if kind_of(value) != wanted:
            raise ConditionError(
                "type_mismatch",
                part.name,
                f"'{part.name}' is {type(value).__name__} where the condition needs {wanted}",
            )
    return _holds(condition, found)


def to_cel(condition: Condition) -> str:
    """The condition in the Common Expression Language.

    A date becomes a timestamp at midnight UTC. A name that is no CEL identifier is looked up in a
    map ``fields``.
    """
    if isinstance(condition, Compare):
        return f"{_cel_name(condition.name)} {condition.op} {_cel(condition.value)}"
    if isinstance(condition, Member):
        inside = ", ".join(_cel(value) for value in condition.values)
        made = f"{_cel_name(condition.name)} in [{inside}]"
        return f"!({made})" if condition.negated else made
    if isinstance(condition, Not):
        return f"!({to_cel(condition.term)})"
    glue = " && " if isinstance(condition, And) else " || "
    return glue.join(
        f"({to_cel(term)})" if isinstance(term, And | Or) else to_cel(term)
        for term in condition.terms
    )


def _leaves(condition: Condition) -> Iterator[Compare | Member]:
    if isinstance(condition, Compare | Member):
        yield condition
    elif isinstance(condition, Not):
        yield from _leaves(condition.term)
    else:
        for term in condition.terms:
            yield from _leaves(term)


def _sample(part: Compare | Member) -> Literals:
    return part.value if isinstance(part, Compare) else part.values[0]


def kind_of(value: Any) -> str:
    """The type of a value in a condition: ``number text bool date``, or ``other``."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "text"
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        return "date"
    return "other"


def _lookup(name: str, values: Mapping[str, Any]) -> Any:
    if name in values:
        return values[name]
    found: Any = values
    for step in name.split("."):
        if not isinstance(found, Mapping) or step not in found:
            raise ConditionError("undefined_name", name, f"'{name}' has no value")
        found = found[step]
    return found


def _holds(condition: Condition, values: Mapping[str, Any]) -> bool:
    if isinstance(condition, Compare):
        return _compare(values[condition.name], condition.op, condition.value)
    if isinstance(condition, Member):
        return (values[condition.name] in condition.values) is not condition.negated
    if isinstance(condition, Not):
        return not _holds(condition.term, values)
    decide = all if isinstance(condition, And) else any
    return decide(_holds(term, values) for term in condition.terms)


def _compare(left: Any, op: str, right: Any) -> bool:
    if op == "==":
        return bool(left == right)
    if op == "!=":
        return bool(left != right)
    if op[0] == "<":
        return bool(left < right or (op == "<=" and left == right))
    return bool(left > right or (op == ">=" and left == right))


_CEL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")
_CEL_RESERVED = frozenset(
    "as break const continue else false for function if import in let loop package namespace null"
    " return true var void while".split()
)


def _cel_name(name: str) -> str:
    if _CEL_NAME.fullmatch(name) and not _CEL_RESERVED.intersection(name.split(".")):
        return name
    return f"fields[{json.dumps(name, ensure_ascii=False)}]"


def _cel(value: Literals) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dt.date):
        return f'timestamp("{value.isoformat()}T00:00:00Z")'
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return repr(value)
