"""The types of Canon: ``<int> <float> <bool> <date> <path> <text> <enum:a|b>``.

:func:`parse_type` reads a type, :func:`read_value` reads a text as a value of it. Both return a
plain message where the text is wrong, which says what to write.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

from steguard.canon.model import MAX_DIGITS, TypeRef
from steguard.yamlfile import nearest

KINDS = ("int", "float", "bool", "date", "path", "text", "enum")

_TYPE = re.compile(r"<([^<>]*)>")
_MEMBER = re.compile(r"[^\s|<>\"'\[\]{},:#]+")
_INT = re.compile(r"-?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Wrong(str):
    """Why a text is no value of a type, and what to write."""

    __slots__ = ()


def parse_type(text: str) -> TypeRef | Wrong:
    """The type that the text is, or why it is none."""
    found = _TYPE.fullmatch(text)
    if found is None:
        return Wrong(f"'{text}' is no type; a type is written as <int>")
    kind, colon, rest = found[1].partition(":")
    if kind not in KINDS:
        return Wrong(f"unknown type '<{kind}>'{nearest(kind, KINDS)}")
    if kind != "enum":
        return Wrong(f"<{kind}> takes no members") if colon else TypeRef(kind)
    return _enum(rest)


def _enum(rest: str) -> TypeRef | Wrong:
    members = rest.split("|")
    for index, member in enumerate(members):
        if not member:
            return Wrong(f"member {index + 1} of the enum is empty; write <enum:a|b>")
        if not _MEMBER.fullmatch(member):
            return Wrong(f"'{member}' cannot be a member of an enum; write one word")
    if len(set(members)) < len(members):
        return Wrong("a member stands twice in the enum; write it once")
    return TypeRef("enum", tuple(members))


def read_value(text: str, kind: TypeRef) -> Any:
    """The text as a value of the type; a :class:`Wrong` where it is none.

    Numbers have ASCII digits only and no leading zero, at most ``MAX_DIGITS`` digits; a bool is
    ``true`` or ``false``, a date ``2026-01-31``; a path is a text without control characters.
    """
    return _READERS[kind.kind](text, kind)


def _int(text: str, _: TypeRef) -> int | Wrong:
    if not _INT.fullmatch(text):
        return Wrong(f"{_quoted(text)} is no <int>; write digits such as 42")
    if len(text) > MAX_DIGITS:
        return Wrong(f"the number has {len(text)} digits; the limit is {MAX_DIGITS}")
    return int(text)


def _float(text: str, _: TypeRef) -> float | Wrong:
    if len(text) > MAX_DIGITS and _FLOAT.fullmatch(text):
        return Wrong(f"the number has {len(text)} digits; the limit is {MAX_DIGITS}")
    if not _FLOAT.fullmatch(text):
        return Wrong(f"{_quoted(text)} is no <float>; write a number such as 2.5")
    value = float(text)
    if value in (float("inf"), float("-inf")):
        return Wrong(f"{_quoted(text)} is too large for a <float>")
    return value


def _bool(text: str, _: TypeRef) -> bool | Wrong:
    if text not in ("true", "false"):
        return Wrong(f"{_quoted(text)} is no <bool>; write true or false")
    return text == "true"


def _date(text: str, _: TypeRef) -> dt.date | Wrong:
    if _DATE.fullmatch(text):
        try:
            return dt.date.fromisoformat(text)
        except ValueError:
            return Wrong(f"there is no day {text}; write a date such as 2026-01-31")
    return Wrong(f"{_quoted(text)} is no <date>; write a date such as 2026-01-31")


def _path(text: str, _: TypeRef) -> str | Wrong:
    if not text or text != text.strip() or any(not c.isprintable() for c in text):
        return Wrong(f"{_quoted(text)} is no <path>; write a path such as /data/a.txt")
    return text


def _text(text: str, _: TypeRef) -> str:
    return text


def _member(text: str, kind: TypeRef) -> str | Wrong:
    if text in kind.members:
        return text
    return Wrong(f"{_quoted(text)} is not in {kind}{nearest(text, kind.members)}")


_READERS = {
    "int": _int,
    "float": _float,
    "bool": _bool,
    "date": _date,
    "path": _path,
    "text": _text,
    "enum": _member,
}


def _quoted(text: str) -> str:
    shown = text if len(text) <= 40 else text[:37] + "..."
    return repr(shown)
