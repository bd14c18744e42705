"""Characters that no Canon text holds, the escapes of quoted text, and names of the invisible.

Refused as they stand: tabs, control characters, line ends other than LF and CR LF, marks of
writing direction, and characters that nobody can see. In double quotes an escape may stand for
most of them (``\\t``, ``\\x1b``, ``\\u200b``); never for a mark of writing direction, because it
changes the order in which a reader sees the text, and never for half a surrogate pair.
"""

from __future__ import annotations

import re
import unicodedata

BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""Marks of writing direction, as the inside of a character class."""

_INVISIBLE = (
    "\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
REFUSED = re.compile(f"[{_INVISIBLE}]|\r(?!\n)|(?<![^\x00-\x7f])[\u200c\u200d]")
"""What may not stand in a text as it is. A joiner may follow a character that is not ASCII."""

_ANY_INVISIBLE = re.compile(f"[{_INVISIBLE}\r\u200c\u200d\ufe00-\ufe0f]")

REFUSED_VALUE = re.compile(f"[{BIDI}\ud800-\udfff\ufffe\uffff]")
"""What no value can hold, not even by an escape."""

ESCAPES = {
    '"': '"',
    "\\": "\\",
    "/": "/",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
}
_LENGTHS = {"x": 2, "u": 4, "U": 8}
_HEX = re.compile(r"[0-9A-Fa-f]+")
_TO_ESCAPE = re.compile(f'[{_INVISIBLE}\r\n"\\\\\u200c\u200d]')
_SHORT = {value: f"\\{key}" for key, value in ESCAPES.items() if key != "/"}
_ABBREVIATED = {
    "\t": "TAB",
    "\n": "LINE FEED",
    "\r": "CARRIAGE RETURN",
    "\x00": "NULL",
    "\x1b": "ESCAPE",
    "\x7f": "DELETE",
    "\x85": "NEXT LINE",
    "\ufeff": "BYTE ORDER MARK",
}


class BadEscape(ValueError):
    """An escape that is none; ``start`` and ``end`` are offsets in the text."""

    def __init__(self, start: int, end: int, message: str, suggestion: str) -> None:
        super().__init__(message)
        self.start, self.end, self.message, self.suggestion = start, end, message, suggestion


def describe(char: str) -> str:
    """``U+200B ZERO WIDTH SPACE``: a character by its number and name."""
    name = _ABBREVIATED.get(char) or unicodedata.name(char, "")
    if not name:
        name = "CONTROL CHARACTER" if ord(char) < 0xA0 else "CHARACTER WITHOUT A NAME"
    return f"U+{ord(char):04X} {name}"


def is_invisible(char: str) -> bool:
    """Whether nobody can see the character; a line end and a blank are not meant."""
    return _ANY_INVISIBLE.match(char) is not None


def unescape(text: str) -> str:
    """The text that these contents of double quotes mean. Raises :class:`BadEscape`."""
    if "\\" not in text:
        return text
    parts: list[str] = []
    at = 0
    while (slash := text.find("\\", at)) >= 0:
        parts.append(text[at:slash])
        char, at = _escaped(text, slash)
        parts.append(char)
    parts.append(text[at:])
    return "".join(parts)


def _escaped(text: str, slash: int) -> tuple[str, int]:
    key = text[slash + 1 : slash + 2]
    if key in ESCAPES:
        return ESCAPES[key], slash + 2
    length = _LENGTHS.get(key, 0)
    end = slash + 2 + length
    digits = text[slash + 2 : end]
    if not length or len(digits) < length or not _HEX.fullmatch(digits):
        raise BadEscape(
            slash,
            min(end, len(text)),
            f"'{text[slash:end]}' is no escape",
            'Write a backslash as \\\\; escapes are \\" \\\\ \\/ \\b \\f \\n \\r \\t \\xHH \\uHHHH',
        )
    number = int(digits, 16)
    if 0xD800 <= number <= 0xDFFF or number > 0x10FFFF or number in (0xFFFE, 0xFFFF):
        raise BadEscape(
            slash,
            end,
            f"'{text[slash:end]}' is no character",
            "Write \\UHHHHHHHH for one character.",
        )
    char = chr(number)
    if REFUSED_VALUE.match(char):
        raise BadEscape(
            slash,
            end,
            f"{describe(char)} is refused: it changes the order of what a reader sees",
            "Take it out.",
        )
    return char, end


def written_offset(inside: str, index: int, style: str) -> int:
    """Where the character ``index`` of a quoted text stands in the contents as they are written."""
    at = 0
    for _ in range(index):
        if at >= len(inside):
            break
        if style == "double" and inside[at] == "\\":
            at = _escaped(inside, at)[1]
        else:
            at += 2 if style == "single" and inside[at] == "'" else 1
    return at


def quote(text: str) -> str:
    """The text in double quotes, on one line, with an escape for all that cannot be seen."""
    return f'"{_TO_ESCAPE.sub(_escape, text)}"'


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    short = _SHORT.get(char)
    if short is not None:
        return short
    number = ord(char)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
