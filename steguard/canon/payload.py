"""The fields of a payload: what a subject's schema says of each, and reading values by it.

Canon text has no types of its own: every value is text until a schema reads it. Each type has one
form of writing, so ``yes``, ``007`` and ``1.`` are faults with a remedy and never a guess.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any

from steguard.canon.model import MAX_DIGITS, Placeholder, TypeRef
from steguard.canon.types import Wrong, read_value

INT_MAX = 10**MAX_DIGITS - 1
INT_MIN = -(10 ** (MAX_DIGITS - 1) - 1)
FLOAT_MAX = "1.7976931348623157e308"


class ValueFault(ValueError):
    """A value that its field does not take: the kind of fault, what is wrong, what to write.

    ``index`` is the item of a list that is meant, else None.
    """

    def __init__(self, kind: str, message: str, suggestion: str) -> None:
        super().__init__(f"{message} {suggestion}")
        self.kind, self.message, self.suggestion = kind, message, suggestion
        self.index: int | None = None


@dataclass(frozen=True, slots=True)
class PayloadField:
    """One field of a payload; with ``many`` it is a list of values of its type.

    ``min`` and ``max`` bound a number, ``max_length`` the characters of a text or a path,
    ``min_items`` and ``max_items`` the items of a list. With a ``unit`` a number is written as
    ``5`` or ``5 kg`` and never in another unit.
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
        """The typed value of what a payload holds. Raises :class:`ValueFault`."""
        if isinstance(value, Placeholder):
            value = [value.name] if self.many else value
        if isinstance(value, Placeholder | TypeRef):
            raise ValueFault(
                "unfilled", f"'{self.name}' is still '{value}'.", "Write the value itself."
            )
        if isinstance(value, Mapping):
            raise ValueFault(
                "wrong-type",
                f"'{self.name}' is {self.shape} and not a group of fields.",
                f"Write one {self.type}.",
            )
        if not self.many:
            if isinstance(value, list | tuple):
                raise ValueFault(
                    "wrong-type",
                    f"'{self.name}' is {self.shape} and not a list.",
                    "Write one value.",
                )
            return self._read_one(value)
        if not isinstance(value, list | tuple):
            raise ValueFault("wrong-type", f"'{self.name}' is a list.", f"Write [{value}].")
        check_count(self, len(value))
        return [self._item(index, item) for index, item in enumerate(value)]

    def _item(self, index: int, item: Any) -> Any:
        try:
            if isinstance(item, Mapping | list | tuple | Placeholder | TypeRef):
                raise ValueFault(
                    "wrong-type",
                    f"Item {index + 1} of '{self.name}' is no plain value.",
                    f"Write one {self.type}.",
                )
            return self._read_one(item)
        except ValueFault as fault:
            fault.index = index
            raise

    def _read_one(self, value: Any) -> Any:
        text = to_text(value)
        if self.type.kind in ("int", "float"):
            return self._number(text)
        read = read_value(text, self.type)
        if isinstance(read, Wrong):
            raise self._wrong(read)
        if self.max_length is not None and len(text) > self.max_length:
            has = f"has {len(text)} characters"
            raise out_of_range(self.name, has, "maximum", self.max_length, "Write less text.")
        return read

    def _number(self, text: str) -> Any:
        body, blank, unit = text.partition(" ")
        read = read_value(body, self.type)
        if isinstance(read, Wrong) or (blank and not unit):
            raise self._wrong(read_value(text, self.type))
        if blank and unit != self.unit:
            raise self._other_unit(body, unit)
        exact = Decimal(body)
        if self.min is not None and exact < self.min:
            raise out_of_range(
                self.name, f"is {body}", "minimum", self.min, f"Write {self.min} or more."
            )
        if self.max is not None and exact > self.max:
            raise out_of_range(
                self.name, f"is {body}", "maximum", self.max, f"Write {self.max} or less."
            )
        return read

    def _other_unit(self, number: str, unit: str) -> ValueFault:
        if self.unit is None:
            message, remedy = f"'{self.name}' has no unit.", f"Write the number only: {number}."
        else:
            message = f"The unit of '{self.name}' is '{self.unit}' and not '{unit[:40]}'."
            remedy = f"Write the value in {self.unit}."
        return ValueFault("wrong-unit", message, remedy)

    def _wrong(self, wrong: str) -> ValueFault:
        what, _, remedy = wrong.partition("; ")
        remedy = remedy or f"write one {self.type}"
        return ValueFault(
            "wrong-type", f"'{self.name}': {what}.", f"{remedy[0].upper()}{remedy[1:].rstrip('?')}."
        )

    def json_schema(self) -> dict[str, Any]:
        """The JSON Schema of the typed value."""
        one = self._json_one()
        if self.many:
            one = {"type": "array", "items": one}
            if self.min_items:
                one["minItems"] = self.min_items
            if self.max_items is not None:
                one["maxItems"] = self.max_items
        notes = [self.description] if self.description else []
        if self.unit:
            one["x-unit"] = self.unit
            notes.append(f"Unit: {self.unit}.")
        if notes:
            one["description"] = " ".join(notes)
        return one

    def _json_one(self) -> dict[str, Any]:
        kind = self.type.kind
        if kind == "enum":
            return {"type": "string", "enum": list(self.type.members)}
        if kind == "bool":
            return {"type": "boolean"}
        if kind == "date":
            return {"type": "string", "format": "date", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}
        if kind == "int":
            low = INT_MIN if self.min is None else math.ceil(self.min)
            high = INT_MAX if self.max is None else math.floor(self.max)
            bounds = {"minimum": low, "maximum": high}
            return {"type": "integer"} | {k: v for k, v in bounds.items() if abs(v) < 2**63}
        if kind == "float":
            limits = {"minimum": self.min, "maximum": self.max}
            return {"type": "number"} | {k: float(v) for k, v in limits.items() if v is not None}
        schema: dict[str, Any] = {"type": "string"}
        if kind == "path":
            schema |= {"minLength": 1, "pattern": r"^\S(.*\S)?$"}
        if self.max_length is not None:
            schema["maxLength"] = self.max_length
        return schema


def out_of_range(name: str, has: str, bound: str, limit: object, suggestion: str) -> ValueFault:
    """The fault of a value that is too small or too large."""
    return ValueFault("out-of-range", f"'{name}' {has}. The {bound} is {limit}.", suggestion)


def check_count(spec: Field, count: int) -> None:
    """Raise :class:`ValueFault` where a list has too few or too many items."""
    if count < spec.min_items:
        raise out_of_range(spec.name, f"has {count} items", "minimum", spec.min_items, "Add items.")
    if spec.max_items is not None and count > spec.max_items:
        has = f"has {count} items"
        raise out_of_range(spec.name, has, "maximum", spec.max_items, "Remove items.")


@dataclass(frozen=True, slots=True)
class FieldGroup:
    """Fields below a field; with ``many`` it is a list of such groups."""

    name: str
    fields: Mapping[str, Field]
    many: bool = False
    required: bool = True
    min_items: int = 0
    max_items: int | None = None
    description: str = field(default="", compare=False)

    @property
    def shape(self) -> str:
        """The group as a hint shows it: ``{sku: <text>}``, in brackets for a list."""
        inner = ", ".join(f"{name}: {spec.shape}" for name, spec in self.fields.items())
        inner = f"{{{inner}}}"
        return f"[{inner}]" if self.many else inner

    def json_schema(self) -> dict[str, Any]:
        """The JSON Schema of the typed value."""
        schema = object_schema(self.fields)
        if self.many:
            schema = {"type": "array", "items": schema}
            if self.min_items:
                schema["minItems"] = self.min_items
            if self.max_items is not None:
                schema["maxItems"] = self.max_items
        return {**schema, **({"description": self.description} if self.description else {})}


Field = PayloadField | FieldGroup
Fields = Mapping[str, Field]


def object_schema(fields: Fields) -> dict[str, Any]:
    """The JSON Schema of a payload or a group with these fields."""
    return {
        "type": "object",
        "properties": {name: spec.json_schema() for name, spec in fields.items()},
        "required": [name for name, spec in fields.items() if spec.required],
        "additionalProperties": False,
    }


def to_json(value: Any) -> Any:
    """A typed value as JSON has it: dates as text."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Placeholder | TypeRef):
        return str(value)
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, Mapping):
        return {key: to_json(item) for key, item in value.items()}
    return value


def to_text(value: Any) -> Any:
    """A typed or a JSON value as Canon text. Raises ``ValueError`` for what has no form."""
    if isinstance(value, str | Placeholder | TypeRef):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"Canon has no number '{value}'; write a finite number")
        return repr(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Sequence):
        return [to_text(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): to_text(item) for key, item in value.items()}
    if value is None:
        raise ValueError("Canon has no null; leave the field out")
    raise ValueError(
        f"Canon has no form for a value of type {type(value).__name__}; "
        "write a text, a number, a truth value, a date, a list or a group of fields"
    )
