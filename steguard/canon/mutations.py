"""Faulty twins of a valid message, one fault each: every one of them must be refused.

They measure whether the checks really catch what is wrong (``steguard canon metrics``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from steguard.canon.message import parse_message
from steguard.canon.payload import Field, PayloadField
from steguard.canon.registry import Registry

_REQUIRED = ("canon-message", "from", "to", "msg_id", "action", "subject")
_TOP = re.compile(r"^([a-z_-]+):(?: (.*))?$")

Lines = list[str]


def mutations(text: str, registry: Registry | None = None) -> Iterator[tuple[str, str]]:
    """The name of each fault, and the message with it. ``text`` is a valid message.

    With a registry there are faults too that only the schema of the subject can see.
    """
    lines = text.rstrip("\n").split("\n")
    if registry is not None:
        for number, changed in enumerate(_against_schema(text, lines, registry)):
            yield f"schema-{number + 1}", "\n".join(changed) + "\n"
    for name, change in _CHANGES.items():
        for number, changed in enumerate(change(lines)):
            twin = "\n".join(changed) + "\n"
            if twin != text:
                yield f"{name}-{number + 1}", twin


def _at(lines: Lines, key: str) -> int | None:
    """The line of a field of the envelope."""
    return next((i for i, line in enumerate(lines) if re.match(rf"{key}:(?: |$)", line)), None)


def _with(lines: Lines, index: int, line: str) -> Lines:
    return [*lines[:index], line, *lines[index + 1 :]]


def _value(line: str) -> str:
    return line.partition(": ")[2]


def _inner(lines: Lines) -> list[int]:
    """The lines of simple payload fields."""
    return [i for i, line in enumerate(lines) if re.match(r"  [A-Za-z_]\w*: \S", line)]


def _against_schema(text: str, lines: Lines, registry: Registry) -> Iterator[Lines]:
    message = parse_message(text).message
    if message is None or not registry.versions(message.subject):
        return
    readers = [subject.fields(message.action) for subject in registry.versions(message.subject)]
    known = [fields for fields in readers if fields is not None]
    for index in _inner(lines):
        key = lines[index].strip().partition(":")[0]
        yield _with(lines, index, lines[index].replace(f"{key}:", f"{key}_x9:", 1))
        if (
            all(key in fields and fields[key].required for fields in known)
            and len(_inner(lines)) > 1
        ):
            yield lines[:index] + lines[index + 1 :]
        if all(key in fields and _is_exact(fields[key]) for fields in known):
            yield _with(lines, index, f"  {key}: many")
            yield _with(lines, index, f"  {key}: [a, b]")
    about = _at(lines, "subject")
    if about is not None:
        yield _with(lines, about, f"{lines[about]}_x9")


def _is_exact(field: Field) -> bool:
    """Whether the word ``many`` can never be a value of the field."""
    return (
        isinstance(field, PayloadField)
        and field.type.kind in ("int", "float", "bool", "date")
        and not field.many
    )


def _missing(lines: Lines) -> Iterator[Lines]:
    for key in _REQUIRED:
        index = _at(lines, key)
        if index is not None:
            yield lines[:index] + lines[index + 1 :]


def _empty(lines: Lines) -> Iterator[Lines]:
    for key in _REQUIRED:
        index = _at(lines, key)
        if index is not None:
            yield _with(lines, index, f"{key}:")


def _doubled(lines: Lines) -> Iterator[Lines]:
    for key in ("to", "subject"):
        index = _at(lines, key)
        if index is not None:
            yield [*lines, lines[index]]
    for index in _inner(lines)[:1]:
        yield [*lines[: index + 1], lines[index], *lines[index + 1 :]]


def _unknown_field(lines: Lines) -> Iterator[Lines]:
    yield [*lines, "priority: high"]
    index = _at(lines, "subject")
    if index is not None:
        yield _with(lines, index, lines[index].replace("subject", "subjct", 1))


def _replaced(key: str, *values: str) -> Callable[[Lines], Iterator[Lines]]:
    def change(lines: Lines) -> Iterator[Lines]:
        index = _at(lines, key)
        for value in values:
            if index is not None:
                yield _with(lines, index, f"{key}: {value}")
            elif key == "within":
                yield [*lines, f"{key}: {value}"]

    return change


def _self_reply(lines: Lines) -> Iterator[Lines]:
    index, reply = _at(lines, "msg_id"), _at(lines, "reply_to")
    if index is not None:
        rest = [line for i, line in enumerate(lines) if i != reply]
        yield [*rest, f"reply_to: {_value(lines[index])}"]


def _spacing(lines: Lines) -> Iterator[Lines]:
    index = _at(lines, "from")
    if index is not None:
        yield _with(lines, index, lines[index].replace("from:", "from :", 1))
        yield _with(lines, index, lines[index].replace("from: ", "from:", 1))
        yield _with(lines, index, "  " + lines[index])
        yield _with(lines, index, lines[index].replace("from: ", "from:\t", 1))
    for inner in _inner(lines)[:1]:
        yield _with(lines, inner, "\t" + lines[inner].strip())
        yield _with(lines, inner, lines[inner].strip())


def _characters(lines: Lines) -> Iterator[Lines]:
    index = _at(lines, "msg_id")
    if index is not None:
        for char in ("\u200b", "\u202e", "\x07", " x", "\u0430"):
            yield _with(lines, index, lines[index] + char + "1")


def _yaml(lines: Lines) -> Iterator[Lines]:
    index = _at(lines, "to")
    if index is not None:
        value = _value(lines[index])
        for written in (
            f"&a {value}",
            f"!!str {value}",
            "*a",
            f'"{value}',
            f"{value}: x",
            "{a: b}",
        ):
            yield _with(lines, index, f"to: {written}")


def _marker(lines: Lines) -> Iterator[Lines]:
    yield ["----", *lines]
    yield [*lines, "...", "rest"]
    yield [*lines, "---", *lines]
    yield [*lines, "Here is the message that you wanted."]


_CHANGES: dict[str, Callable[[Lines], Iterator[Lines]]] = {
    "missing": _missing,
    "empty": _empty,
    "doubled": _doubled,
    "unknown-field": _unknown_field,
    "action": _replaced("action", "requets", "REQUEST", "request now", "please_do"),
    "version": _replaced("canon-message", "1", "v1", "v9.0", "1.0.0", "latest"),
    "within": _replaced(
        "within",
        "as soon as possible",
        "-5 minutes",
        "30",
        "30 s",
        "0.5 hours",
        "2025-01-01T23:59:60Z",
        "2025-13-01T00:00:00Z",
        "soon",
    ),
    "if": _replaced("if", "stock <", "stock = 1", "f(x)", "a < b"),
    "subject": _replaced("subject", "two words", "a/b", "1a", "with"),
    "address": _replaced("from", "agent a", "агент", "-a", "a b"),
    "self-reply": _self_reply,
    "spacing": _spacing,
    "characters": _characters,
    "yaml": _yaml,
    "marker": _marker,
}
