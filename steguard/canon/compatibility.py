"""Whether two versions of a subject understand each other.

``backward``: the new version reads every message of the old one. ``forward``: the old version
reads every message of the new one. ``full``: both. Each break names the field and shows a value
that one side writes and the other side refuses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from steguard.canon.model import MAX_DIGITS
from steguard.canon.payload import (
    FLOAT_MAX,
    INT_MAX,
    INT_MIN,
    Field,
    FieldGroup,
    Fields,
    PayloadField,
    ValueFault,
)
from steguard.canon.subjects import CONTROL, Subject

Mode = Literal["backward", "forward", "full"]
ANY_ACTION = "*"
"""Stands for every action that neither version names."""


@dataclass(frozen=True, slots=True)
class Break:
    """One reason why a reader refuses what a writer may send.

    ``field`` is None where the whole action is refused; a field of a group is ``group.field``.
    ``example`` is a value of the field that
    the writer may send and the reader refuses, None where the field is missing or unknown.
    """

    action: str
    field: str | None
    message: str
    example: Any = None


@dataclass(frozen=True, slots=True)
class Compatibility:
    """The breaks in both directions."""

    old: Subject
    new: Subject
    backward_breaks: tuple[Break, ...]
    forward_breaks: tuple[Break, ...]

    @property
    def backward(self) -> bool:
        """Whether the new version reads every message of the old one."""
        return not self.backward_breaks

    @property
    def forward(self) -> bool:
        """Whether the old version reads every message of the new one."""
        return not self.forward_breaks

    @property
    def full(self) -> bool:
        return self.backward and self.forward

    def breaks(self, mode: Mode) -> tuple[Break, ...]:
        """The breaks that matter for a mode."""
        backward = self.backward_breaks if mode != "forward" else ()
        return backward + (self.forward_breaks if mode != "backward" else ())

    def to_dict(self, mode: Mode = "full") -> dict[str, Any]:
        """Plain data, for a report."""
        return {
            "subject": self.new.name,
            "old": str(self.old.version),
            "new": str(self.new.version),
            "backward": self.backward,
            "forward": self.forward,
            "breaks": [
                {
                    "direction": "backward" if one in self.backward_breaks else "forward",
                    "action": one.action,
                    "field": one.field,
                    "message": one.message,
                    "example": one.example,
                }
                for one in self.breaks(mode)
            ],
        }


def compare(old: Subject, new: Subject) -> Compatibility:
    """Compare two versions of a subject."""
    return Compatibility(old, new, tuple(_breaks(old, new)), tuple(_breaks(new, old)))


def _breaks(writer: Subject, reader: Subject) -> Iterator[Break]:
    """Why the reader refuses messages that the writer may send."""
    named = dict.fromkeys([*writer.actions, *reader.actions, *CONTROL, ANY_ACTION])
    for action in named:
        sent, known = writer.fields(action), reader.fields(action)
        if sent is None:
            continue
        if known is None:
            where = f"{reader.name} {reader.version}"
            yield Break(action, None, f"{where} has no action '{action}'.")
            continue
        yield from _field_breaks(action, sent, known)


def _field_breaks(action: str, sent: Fields, known: Fields, prefix: str = "") -> Iterator[Break]:
    for name, spec in sent.items():
        if name not in known:
            yield Break(action, prefix + name, f"The reader has no field '{prefix}{name}'.")
        else:
            yield from _one_field(action, spec, known[name], prefix)
    for name, spec in known.items():
        if spec.required and not (name in sent and sent[name].required):
            message = f"The reader requires '{prefix}{name}', and the writer can leave it out."
            yield Break(action, prefix + name, message)


def _one_field(action: str, writer: Field, reader: Field, prefix: str) -> Iterator[Break]:
    name = prefix + writer.name
    if isinstance(writer, PayloadField) and isinstance(reader, PayloadField):
        example = refused_value(writer, reader)
        if example is not None:
            why = _refusal(reader, example)
            message = f"'{name}' can be {_shown(example)}, which the reader refuses: {why}"
            yield Break(action, name, message, example)
    elif (
        isinstance(writer, FieldGroup)
        and isinstance(reader, FieldGroup)
        and writer.many is reader.many
    ):
        if writer.min_items < reader.min_items or _more(writer, reader):
            message = f"'{name}' can have a number of items that the reader refuses."
            yield Break(action, name, message)
        yield from _field_breaks(action, writer.fields, reader.fields, f"{name}.")
    else:
        message = f"'{name}' is {writer.shape}, and the reader wants {reader.shape}."
        yield Break(action, name, message)


def _more(writer: FieldGroup, reader: FieldGroup) -> bool:
    """Whether the writer can send more items than the reader takes."""
    if reader.max_items is None:
        return False
    return writer.max_items is None or writer.max_items > reader.max_items


def refused_value(writer: PayloadField, reader: PayloadField) -> Any:
    """A value that the writer's field can have and the reader's field refuses, else None.

    It is enough to try the corners: the limits, and one value more than the reader can list.
    """
    for value in corners(writer, reader):
        if not _takes(reader, value):
            return value
    return None


def _takes(spec: PayloadField, value: Any) -> bool:
    try:
        spec.read(value)
    except ValueFault:
        return False
    return True


def _refusal(spec: PayloadField, value: Any) -> str:
    try:
        spec.read(value)
    except ValueFault as fault:
        return fault.message
    return ""


def _shown(value: Any) -> str:
    text = f"[{', '.join(value)}]" if isinstance(value, list) else f"'{value}'"
    return text if len(text) <= 60 else text[:56] + "...'"


def corners(writer: PayloadField, reader: PayloadField) -> list[Any]:
    """Values of the writer's field, one of which the reader refuses if it refuses any."""
    scalars = [v for v in _scalars(writer, reader) if _takes(_single(writer), v)]
    if not writer.many:
        return list(scalars)
    least = max(1, writer.min_items)
    lists: list[Any] = [[scalar] * least for scalar in scalars]
    most = writer.max_items
    if most is None:
        most = max(writer.min_items, (reader.max_items or 0) + 1)
    return [*lists, [scalars[0]] * writer.min_items, [scalars[0]] * most]


def _single(spec: PayloadField) -> PayloadField:
    return replace(spec, many=False)


def _scalars(writer: PayloadField, reader: PayloadField) -> Sequence[str]:
    kind = writer.type.kind
    more = len(reader.type.members) + 1
    if kind == "enum":
        return writer.type.members
    if kind == "bool":
        return ("true", "false")
    if kind == "date":
        return [f"{year:04}-01-01" for year in (9999, *range(1, more + 1))]
    if kind == "int":
        return _with_unit(writer, _whole_numbers(writer, more))
    if kind == "float":
        return _with_unit(writer, _numbers(writer, more))
    return _texts(writer, reader, more)


def _whole_numbers(writer: PayloadField, more: int) -> list[str]:
    low = INT_MIN if writer.min is None else int(writer.min)
    high = INT_MAX if writer.max is None else int(writer.max)
    return [str(n) for n in (high, *range(low, min(high, low + more) + 1))] + ["-0"]


def _numbers(writer: PayloadField, more: int) -> list[str]:
    """The limits, each also with zeros behind the point, up to the longest form."""
    limits = [f"-{FLOAT_MAX}" if writer.min is None else str(writer.min)]
    limits.append(FLOAT_MAX if writer.max is None else str(writer.max))
    found = []
    for limit in limits:
        body, mark, exponent = str(limit).lower().partition("e")
        pointed = body if "." in body else body + "."
        rest = len(pointed) + len(mark) + len(exponent)
        found.append(limit)
        found += [
            f"{pointed}{'0' * zeros}{mark}{exponent}"
            for zeros in (*range(1, more + 1), max(1, MAX_DIGITS - rest))
        ]
    return found


def _with_unit(writer: PayloadField, numbers: Sequence[str]) -> list[str]:
    if writer.unit is None:
        return list(numbers)
    return [*numbers, *(f"{number} {writer.unit}" for number in numbers)]


def _texts(writer: PayloadField, reader: PayloadField, more: int) -> list[str]:
    most = writer.max_length
    if most is None:
        most = max(1, reader.max_length or 0) + 1
    return ["", "a" * most, "\n", *(chr(0x4E00 + n) for n in range(more + 1))]
