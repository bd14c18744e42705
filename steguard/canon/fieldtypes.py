"""The types that a payload field can have, and how the text of a value becomes a typed value.

Canon text has no types of its own: every value is text until the schema of a subject reads it.
Each type has one form of writing, so ``yes``, ``007`` and ``1.`` are faults with a remedy and
never a guess.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any

from steguard.canon.model import TypeRef

KINDS = ("int", "float", "bool", "date", "path", "text", "enum")

INT_MIN, INT_MAX = -(2**63), 2**63 - 1
FLOAT_MAX = "1.7976931348623157e308"
NUMBER_LENGTH = 64
"""Characters in one number at the most; no number of 64 bits needs more."""

_INT = re.compile(r"0|-?[1-9][0-9]*")
_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_TYPE = re.compile(r"<([a-z]+)(?::([^<>]*))?>")


class ValueFault(ValueError):
    """A value that its field does not take: the kind of fault, what is wrong, what to write."""

    def __init__(self, kind: str, message: str, suggestion: str) -> None:
        super().__init__(f"{message} {suggestion}")
        self.kind, self.message, self.suggestion = kind, message, suggestion


def parse_type(text: str) -> TypeRef:
    """Read ``<int>`` or ``<enum:a|b>``. Raises ``ValueError`` with the remedy."""
    found = _TYPE.fullmatch(text)
    shown = ", ".join(f"<{kind}>" for kind in KINDS[:-1]) + ", <enum:a|b>"
    if found is None:
        raise ValueError(f"'{text}' is no type; write one of {shown}, or a list such as [<int>]")
    name, rest = found.groups()
    kind = next((known for known in KINDS if known == name), None)
    if kind is None:
        raise ValueError(f"there is no type '<{name}>'; write one of {shown}")
    if kind != "enum":
        if rest is not None:
            raise ValueError(f"'<{name}>' takes no members; write <{name}>")
        return TypeRef(kind)
    members = tuple((rest or "").split("|"))
    if not all(members) or any(m != m.strip() for m in members):
        raise ValueError(f"an enum member of '{text}' is empty or has a blank at its end")
    if len(set(members)) < len(members):
        raise ValueError(f"a member of '{text}' stands there twice")
    return TypeRef(kind, members)


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """One field of a payload.

    ``min`` and ``max`` bound the value of a number, ``max_length`` the characters of a text or a
    path, ``min_items`` and ``max_items`` the items of a list. With a ``unit`` a number is written
    as ``5`` or ``5 kg``, never in another unit.
    """

    name: str
    type: TypeRef
    many: bool = False
    required: bool = True
    unit: str | None = None
    min: Decimal | None = None
    max: Decimal | None = None
    max_length: int | None = None
    min_items: int = 0
    max_items: int | None = None
    description: str = field(default="", compare=False)

    @property
    def shape(self) -> str:
        """The type as a schema writes it: ``<int>``, or ``[<int>]`` for a list."""
        return f"[{self.type}]" if self.many else str(self.type)

    def read(self, value: Any) -> Any:
        """The typed value of a text or of a list of texts. Raises :class:`ValueFault`."""
        if isinstance(value, Mapping):
            raise ValueFault(
                "wrong-type",
                f"'{self.name}' is {self.shape} and not a group of fields.",
                f"Write {self._example()}.",
            )
        if not self.many:
            if not isinstance(value, str):
                raise ValueFault(
                    "wrong-type", f"'{self.name}' is {self.type} and not a list.", "Write one value."
                )
            return self._read_one(value)
        if isinstance(value, str):
            raise ValueFault(
                "wrong-type", f"'{self.name}' is a list of {self.type}.", f"Write [{value}]."
            )
        self._check_count(value)
        return [self._read_one(item) for item in value]

    def _check_count(self, items: Sequence[Any]) -> None:
        count, most = len(items), self.max_items
        if count < self.min_items:
            raise ValueFault(
                "out-of-range",
                f"'{self.name}' has {count} items. The minimum is {self.min_items}.",
                "Add items.",
            )
        if most is not None and count > most:
            raise ValueFault(
                "out-of-range",
                f"'{self.name}' has {count} items. The maximum is {most}.",
                "Remove items.",
            )

    def _read_one(self, text: Any) -> Any:
        if not isinstance(text, str):
            raise ValueFault(
                "wrong-type", f"An item of '{self.name}' is not one value.", "Write plain items."
            )
        kind = self.type.kind
        if kind == "enum":
            if text not in self.type.members:
                listed = ", ".join(self.type.members)
                raise ValueFault(
                    "not-in-enum",
                    f"'{self.name}' is '{_short(text)}', which is none of its values.",
                    f"Write one of these: {listed}.",
                )
            return text
        if kind in ("int", "float"):
            return self._number(text)
        if kind == "bool":
            if text not in ("true", "false"):
                raise self._wrong(text, "true or false")
            return text == "true"
        if kind == "date":
            return self._date(text)
        if kind == "path" and (not text or _CONTROL.search(text)):
            raise self._wrong(text, "a path without control characters")
        if self.max_length is not None and len(text) > self.max_length:
            raise ValueFault(
                "out-of-range",
                f"'{self.name}' has {len(text)} characters. The maximum is {self.max_length}.",
                "Write less text.",
            )
        return text

    def _number(self, text: str) -> int | float:
        body, blank, unit = text.partition(" ")
        if blank and unit != self.unit:
            number = _FLOAT.fullmatch(body)
            if number and self.unit and unit:
                raise ValueFault(
                    "wrong-unit",
                    f"The unit of '{self.name}' is '{self.unit}' and not '{_short(unit)}'.",
                    f"Write the value in {self.unit}.",
                )
            if number and unit:
                raise ValueFault(
                    "wrong-unit", f"'{self.name}' has no unit.", f"Write the number only: {body}."
                )
            raise self._wrong(text, self._example())
        if len(body) > NUMBER_LENGTH:
            raise ValueFault(
                "out-of-range",
                f"'{self.name}' has a number of {len(body)} characters. "
                f"The maximum is {NUMBER_LENGTH}.",
                "Write a shorter number.",
            )
        whole = self.type.kind == "int"
        if not (_INT if whole else _FLOAT).fullmatch(body):
            raise self._wrong(text, self._example())
        exact = Decimal(body)
        self._check_range(exact, body)
        return int(body) if whole else float(body)

    def _check_range(self, exact: Decimal, body: str) -> None:
        if self.type.kind == "int":
            low, high = Decimal(INT_MIN), Decimal(INT_MAX)
        else:
            low, high = -Decimal(FLOAT_MAX), Decimal(FLOAT_MAX)
            if exact and float(body) == 0:
                raise ValueFault(
                    "out-of-range", f"'{self.name}' is too near to zero.", "Write 0 or a larger value."
                )
        low = low if self.min is None else max(low, self.min)
        high = high if self.max is None else min(high, self.max)
        if exact < low:
            raise ValueFault(
                "out-of-range", f"'{self.name}' is {body}. The minimum is {low}.", "Write more."
            )
        if exact > high:
            raise ValueFault(
                "out-of-range", f"'{self.name}' is {body}. The maximum is {high}.", "Write less."
            )

    def _date(self, text: str) -> date:
        if _DATE.fullmatch(text):
            try:
                return date.fromisoformat(text)
            except ValueError:
                raise ValueFault(
                    "wrong-type",
                    f"'{self.name}' is '{text}', and the calendar has no such day.",
                    "Write a day that exists.",
                ) from None
        raise self._wrong(text, "a day as 2025-01-31")

    def _wrong(self, text: str, right: str) -> ValueFault:
        return ValueFault(
            "wrong-type",
            f"'{self.name}' is {self.type} and '{_short(text)}' is not.",
            f"Write {right}.",
        )

    def _example(self) -> str:
        return {
            "int": "a whole number such as 5",
            "float": "a number such as 2.5",
            "bool": "true or false",
            "date": "a day as 2025-01-31",
            "enum": "one of " + ", ".join(self.type.members),
        }.get(self.type.kind, "a text")

    def json_schema(self) -> dict[str, Any]:
        """The JSON Schema of the typed value."""
        one = self._json_one()
        if not self.many:
            return self._described(one)
        schema: dict[str, Any] = {"type": "array", "items": one}
        if self.min_items:
            schema["minItems"] = self.min_items
        if self.max_items is not None:
            schema["maxItems"] = self.max_items
        return self._described(schema)

    def _described(self, schema: dict[str, Any]) -> dict[str, Any]:
        notes = [self.description] if self.description else []
        if self.unit:
            schema["x-unit"] = self.unit
            notes.append(f"Unit: {self.unit}.")
        if notes:
            schema["description"] = " ".join(notes)
        return schema

    def _json_one(self) -> dict[str, Any]:
        kind = self.type.kind
        if kind == "enum":
            return {"type": "string", "enum": list(self.type.members)}
        if kind == "bool":
            return {"type": "boolean"}
        if kind == "date":
            return {"type": "string", "format": "date", "pattern": f"^{_DATE.pattern}$"}
        if kind == "int":
            low = INT_MIN if self.min is None else max(INT_MIN, _ceil(self.min))
            high = INT_MAX if self.max is None else min(INT_MAX, _floor(self.max))
            return {"type": "integer", "minimum": low, "maximum": high}
        if kind == "float":
            number: dict[str, Any] = {"type": "number"}
            if self.min is not None:
                number["minimum"] = float(self.min)
            if self.max is not None:
                number["maximum"] = float(self.max)
            return number
        schema: dict[str, Any] = {"type": "string"}
        if kind == "path":
            schema |= {"minLength": 1, "pattern": r"^[^\u0000-\u001f\u007f-\u009f]+$"}
        if self.max_length is not None:
            schema["maxLength"] = self.max_length
        return schema


def to_json(value: Any) -> Any:
    """A typed value as JSON has it: dates as text."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, Mapping):
        return {key: to_json(item) for key, item in value.items()}
    return value


def to_text(value: Any) -> Any:
    """A typed or a JSON value as Canon writes it. Raises ``ValueError`` for what has no form."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise ValueError(f"{value} is no number that Canon can write; write a finite number")
        return repr(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return [to_text(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): to_text(item) for key, item in value.items()}
    raise ValueError(
        f"a value of type {type(value).__name__} has no form in Canon; "
        "write a text, a number, a truth value, a date, a list or a group of fields"
    )


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


def _ceil(number: Decimal) -> int:
    return math.ceil(number)


def _floor(number: Decimal) -> int:
    return math.floor(number)
