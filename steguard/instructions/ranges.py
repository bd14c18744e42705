"""Numbers with units, and ranges that are written as text: ``1500-2500``, ``<= 500 words``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from steguard.instructions.claims import BadValue, Bound, Claim, scalar
from steguard.instructions.keys import COUNTS, LENGTHS, Subject, read_key

_UNITS = {
    "ms": 0.001, "millisecond": 0.001, "s": 1, "sec": 1, "second": 1, "min": 60, "minute": 60,
    "h": 3600, "hour": 3600, "d": 86400, "day": 86400, "week": 604800,
    "b": 1, "byte": 1, "kb": 1e3, "kib": 1024, "mb": 1e6, "mib": 1024**2, "gb": 1e9,
    "gib": 1024**3, "percent": 1, "%": 1,
}  # fmt: skip
_NUMBER = r"[-+]?\d+(?:[.,_]?\d+)*(?:\.\d+)?"
_UNIT = r"(?:\s*(?P<unit>[A-Za-z%][A-Za-z_%]*))?"
_RANGE = re.compile(
    rf"(?:between\s+|from\s+)?(?P<open>[\[(])?\s*(?P<a>{_NUMBER})\s*"
    rf"(?:-|–|—|~|\.\.\.?|to|and|,)\s*(?P<b>{_NUMBER})\s*(?P<close>[\])])?{_UNIT}",
    re.IGNORECASE,
)
_OR_MORE = re.compile(
    rf"(?P<a>{_NUMBER})(?:(?P<plus>\+){_UNIT}|(?:\s*(?P<of>[A-Za-z%]+))?\s+"
    rf"or\s+(?P<way>more|longer|less|fewer|shorter))",
    re.IGNORECASE,
)
_COMPARE = re.compile(
    rf"(?P<op><=|>=|<|>|=|≤|≥|at most|at least|up to|no more than|no less than|more than|"
    rf"less than|fewer than|over|under|exactly|max|min|maximum|minimum)\s*(?P<a>{_NUMBER}){_UNIT}",
    re.IGNORECASE,
)
_QUANTITY = re.compile(rf"(?P<a>{_NUMBER}){_UNIT}")
_BELOW = ("<", "less than", "fewer than", "under")
_ABOVE = (">", "more than", "over")
_LOW = (">=", "≥", "at least", "no less than", "min", "minimum")
_HIGH = ("<=", "≤", "at most", "up to", "no more than", "max", "maximum")


def read_range(subject: Subject, text: str) -> Claim | None:
    """A range that is written as text, None where the text is no range."""
    found = _RANGE.fullmatch(text.strip())
    if found and _parse(found["a"]) <= _parse(found["b"]):
        factor, subject = read_unit(subject, found["unit"])
        low, high = _parse(found["a"]) * factor, _parse(found["b"]) * factor
        return Bound(subject, low, high, found["open"] == "(", found["close"] == ")")
    found = _COMPARE.fullmatch(text.strip())
    if found:
        factor, subject = read_unit(subject, found["unit"])
        number, sign = _parse(found["a"]) * factor, found["op"].lower()
        if sign in _LOW or sign in _ABOVE:
            return Bound(subject, low=number, low_open=sign in _ABOVE)
        if sign in _HIGH or sign in _BELOW:
            return Bound(subject, high=number, high_open=sign in _BELOW)
        return Bound(subject, number, number)
    found = _OR_MORE.fullmatch(text.strip())
    if found:
        factor, subject = read_unit(subject, found["unit"] or found["of"])
        number = _parse(found["a"]) * factor
        if found["plus"] or found["way"].lower() in ("more", "longer"):
            return Bound(subject, low=number)
        return Bound(subject, high=number)
    found = _QUANTITY.fullmatch(text.strip())
    if found and found["unit"] and _is_unit(found["unit"]):
        factor, subject = read_unit(subject, found["unit"])
        number = _parse(found["a"]) * factor
        return Bound(subject, number, number)
    return None


def read_quantity(subject: Subject, value: Any, name: str = "the limit") -> tuple[float, Subject]:
    """A number, with or without a unit, and the subject that the unit makes."""
    if isinstance(value, Mapping) and set(value) <= {"value", "unit"} and "value" in value:
        factor, subject = read_unit(subject, value.get("unit"))
        return read_number(value["value"], "value") * factor, subject
    if isinstance(value, str):
        found = _QUANTITY.fullmatch(value.strip())
        if found:
            factor, subject = read_unit(subject, found["unit"])
            return _parse(found["a"]) * factor, subject
    return read_number(value, name), subject


def read_unit(subject: Subject, unit: Any) -> tuple[float, Subject]:
    """The factor of a unit; a unit of text (``words``) makes a length a count of it."""
    if unit is None:
        return 1.0, subject
    if not isinstance(unit, str) or not _is_unit(unit):
        raise BadValue(f"unknown unit '{unit}'; write words, sentences, seconds, minutes, kb ...")
    text = unit.strip().lower()
    noun = read_key(text).path
    head, _, last = subject.name.rpartition(".")
    if ".".join(noun) in COUNTS and text not in ("s", "second", "seconds"):
        name = ".".join(noun)
        if last in LENGTHS:
            return 1.0, Subject(subject.space, f"{head}.{name}" if head else name)
        if subject.name != name and last != name:
            raise BadValue(f"the key counts '{last}' but the unit is '{unit}'")
        return 1.0, subject
    return float(_UNITS.get(text, _UNITS.get(text.removesuffix("s"), 1.0))), subject


def _is_unit(unit: str) -> bool:
    text = unit.strip().lower()
    return (
        text in _UNITS
        or text.removesuffix("s") in _UNITS
        or ".".join(read_key(text).path) in COUNTS
    )


def read_instant(value: Any) -> float | None:
    """A date or a time as a number to compare, None where the value is none."""
    if not isinstance(value, str) or not re.match(r"\d{4}-\d{2}-\d{2}", value):
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        raise BadValue(f"'{value}' is no date; write it as 2026-01-31") from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def read_number(value: Any, name: str) -> float:
    kind, plain = scalar(value)
    if kind != "number" or not math.isfinite(plain):
        raise BadValue(f"'{name}' takes a number, not {value!r}")
    return float(plain)


def _parse(text: str) -> float:
    text = re.sub(r"[,_](?=\d{3}(?!\d))", "", text)
    try:
        return float(text)
    except ValueError:
        return math.nan
