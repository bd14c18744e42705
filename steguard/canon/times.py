"""Time limits: ``1 second``, ``N seconds|minutes|hours``, or an RFC 3339 instant with an offset."""

from __future__ import annotations

import datetime as dt
import re

from steguard.canon.model import MAX_AMOUNT, Within

FORMS = ("1 second", "30 seconds", "5 minutes", "2 hours", "2026-01-31T18:00:00Z")
"""What is expected where a time limit stands."""

_AMOUNT = re.compile(r"([1-9][0-9]*) +(second|minute|hour)(s?)")
_INSTANT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?"
    r"(Z|[+-][0-9]{2}:[0-9]{2})"
)
_BARE = re.compile(r"([0-9]+) *(s|sec|secs|ms|m|min|mins|h|hr|hrs|d|day|days|week|weeks)\b")
_LONG = {
    "s": "seconds",
    "sec": "seconds",
    "secs": "seconds",
    "m": "minutes",
    "min": "minutes",
    "mins": "minutes",
    "h": "hours",
    "hr": "hours",
    "hrs": "hours",
}
_WRITE = "Write 'within 30 seconds', or an instant such as 2026-01-31T18:00:00Z."


class BadTime(ValueError):
    """A text that is no time limit; ``suggestion`` says what to write."""

    def __init__(self, message: str, suggestion: str = _WRITE) -> None:
        super().__init__(message)
        self.message, self.suggestion = message, suggestion


def read_within(text: str) -> Within:
    """The time limit that the text is. Raises :class:`BadTime`."""
    found = _AMOUNT.fullmatch(text)
    if found is not None:
        amount, unit, plural = found.groups()
        if len(amount) < 8:
            number = int(amount)
            if plural or number == 1:
                return Within(number, unit)
        raise _bad_amount(amount, unit)
    if _INSTANT.fullmatch(text):
        return _instant(text)
    raise _explain(text)


def is_odd(text: str) -> bool:
    """Whether a right limit is written in a way that is not the usual one (``1 seconds``)."""
    return text[:2] == "1 " and text.endswith("s")


def _bad_amount(amount: str, unit: str) -> BadTime:
    if len(amount) > 7:
        return BadTime(f"the amount is more than {MAX_AMOUNT}", "Write an instant.")
    return BadTime(f"'{amount} {unit}' lacks the plural", f"Write '{amount} {unit}s'.")


def _instant(text: str) -> Within:
    found = _INSTANT.fullmatch(text)
    assert found is not None
    _, hour, minute, second, fraction, offset = found.groups()
    if second == "60":
        raise BadTime("a leap second is refused", "Write a second from 00 to 59.")
    if int(hour) > 23 or int(minute) > 59 or int(second) > 59:
        raise BadTime(f"there is no time {hour}:{minute}:{second}", "Write 00:00:00 to 23:59:59.")
    if fraction is not None and len(fraction) > 6:
        raise BadTime("the fraction has more than 6 digits", "Write at most 6 digits.")
    if offset == "-00:00":
        raise BadTime("the offset -00:00 means that the zone is not known", "Write 'Z'.")
    if offset != "Z" and (int(offset[1:3]) > 23 or int(offset[4:]) > 59):
        raise BadTime(f"there is no offset {offset}", "Write an offset such as +08:00.")
    try:
        dt.datetime.fromisoformat(text)
    except ValueError:
        raise BadTime(f"there is no day {text[:10]}", "Write a day that exists.") from None
    return Within(instant=text)


def _explain(text: str) -> BadTime:
    """What is wrong with a text that has neither form."""
    shown = text if len(text) <= 40 else text[:37] + "..."
    if any(char.isdigit() and not char.isascii() for char in text):
        return BadTime(f"'{shown}' has digits that are not 0 to 9", "Write ASCII digits.")
    if text[:1] == "-":
        return BadTime("a time limit is not negative")
    if re.match(r"0+(?:\.0*)?(?: |$)", text):
        return BadTime("a time limit is at least 1 second")
    if re.match(r"0[0-9]", text) and "-" not in text:
        return BadTime("the amount starts with 0", "Take the 0 out.")
    if re.match(r"[0-9]+[.,][0-9]+ ", text):
        return BadTime(
            "the amount is a whole number", "Write a smaller unit, such as '90 minutes'."
        )
    if found := _BARE.match(text):
        unit = _LONG.get(found[2])
        if unit:
            return BadTime(f"'{found[2]}' is no unit", f"Write '{found[1]} {unit}'.")
        return BadTime(f"'{found[2]}' is no unit", "Units are seconds, minutes and hours.")
    if re.match(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return _explain_instant(text)
    if re.fullmatch(r"[0-9]+", text):
        return BadTime("the unit is missing", f"Write '{shown} seconds'.")
    return BadTime(f"'{shown}' is no time limit")


def _explain_instant(text: str) -> BadTime:
    if re.fullmatch(r"[0-9-]{10}", text):
        return BadTime("the time of day is missing", f"Write '{text}T18:00:00Z'.")
    if text[10:11] in (" ", "t"):
        return BadTime("the day and the time have no 'T' between them", "Write 'T' there.")
    if text.endswith("z"):
        return BadTime("the offset 'z' is a capital letter", "Write 'Z'.")
    if re.fullmatch(r".{10}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?", text):
        return BadTime("the offset is missing", "Write 'Z' or an offset such as +08:00 at the end.")
    return BadTime(f"'{text[:40]}' is no RFC 3339 instant")
