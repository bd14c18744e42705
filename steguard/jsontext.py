"""JSON read piece by piece: where each string stands, and the first character that cannot be.

``json.loads`` tells neither positions nor anything before the end of the text. This scanner
accepts exactly RFC 8259, less duplicate keys (two programs read them in two ways) and nesting
beyond :data:`MAX_DEPTH`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

MAX_DEPTH = 200

_PLAIN = re.compile(r'[^"\\\x00-\x1f]+')
_WHOLE = re.compile(r'[^"\\\x00-\x1f]*+"')
_SPACE = re.compile(r"[ \t\n\r]+")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEX = frozenset("0123456789abcdefABCDEF")
_LITERALS = {"t": "true", "f": "false", "n": "null"}
_DIGITS = frozenset("0123456789")

# A number is a small automaton: state -> what may follow, as (characters, next state).
_NUMBER: dict[str, tuple[tuple[frozenset[str], str], ...]] = {
    "minus": ((frozenset("0"), "zero"), (frozenset("123456789"), "int")),
    "zero": ((frozenset("."), "point"), (frozenset("eE"), "exp")),
    "int": ((_DIGITS, "int"), (frozenset("."), "point"), (frozenset("eE"), "exp")),
    "point": ((_DIGITS, "frac"),),
    "frac": ((_DIGITS, "frac"), (frozenset("eE"), "exp")),
    "exp": ((frozenset("+-"), "sign"), (_DIGITS, "power")),
    "sign": ((_DIGITS, "power"),),
    "power": ((_DIGITS, "power"),),
}
_NUMBER_ENDS = frozenset({"zero", "int", "frac", "power"})


class JsonTextError(ValueError):
    """The text is no JSON; ``offset`` is the first character that cannot stand where it stands."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


@dataclass(slots=True)
class StringField:
    """A string value: its pointer, its place (quotes included) and its decoded text."""

    pointer: str
    start: int
    end: int
    value: str
    _decoded: list[int] = field(default_factory=list)
    _raw: list[int] = field(default_factory=list)

    def raw(self, offset: int) -> int:
        """The place in the JSON text of a place in the decoded text."""
        at = bisect_right(self._decoded, offset) - 1
        return self._raw[at] + (offset - self._decoded[at])


@dataclass(slots=True)
class _Frame:
    """An object or array that is open. ``wants`` says what may stand next."""

    is_object: bool
    pointer: str
    start: int
    wants: str
    key: str = ""
    index: int = 0
    keys: set[str] = field(default_factory=set)


class JsonScanner:
    """Feed the text in any pieces; strings come out as soon as they are complete.

    ``spans`` maps the pointer of every complete value to its place.
    """

    def __init__(self) -> None:
        self.spans: dict[str, tuple[int, int]] = {}
        self.done = False
        self._stack: list[_Frame] = []
        self._offset = 0
        self._mode = "value"  # value | string | number | literal
        self._fields: list[StringField] = []
        self._token_start = 0
        self._is_key = False
        self._pieces: list[str] = []
        self._decoded_length = 0
        self._points: tuple[list[int], list[int]] = ([], [])
        self._escape = ""
        self._escape_start = 0
        self._high = ""
        self._state = ""
        self._literal = ""

    def feed(self, text: str) -> list[StringField]:
        """The string values that this piece completes. Raises :class:`JsonTextError`."""
        self._fields = []
        at = 0
        while at < len(text):
            if self._mode == "string":
                at = self._string(text, at)
            elif self._mode == "number":
                at = self._number(text, at)
            elif self._mode == "literal":
                at = self._word(text, at)
            else:
                at = self._structure(text, at)
        self._offset += len(text)
        return self._fields

    def close(self) -> None:
        """Say that the text is at its end. Raises :class:`JsonTextError` where it is too short."""
        if self._mode == "number" and self._state in _NUMBER_ENDS:
            self._value_end(self._offset)
        if not self.done:
            what = "the text ends in a string" if self._mode == "string" else "the text ends early"
            raise JsonTextError(what, self._offset)

    def _structure(self, text: str, at: int) -> int:
        if text[at] in " \t\n\r":
            at = _SPACE.match(text, at).end()  # type: ignore[union-attr]
            if at == len(text):
                return at
        char, here = text[at], self._offset + at
        if self.done:
            raise JsonTextError("more text stands after the JSON value", here)
        frame = self._stack[-1] if self._stack else None
        wants = frame.wants if frame else "value"
        if frame and char in "]}" and wants in ("first", "next"):
            if char != ("}" if frame.is_object else "]"):
                raise JsonTextError(f"'{char}' closes what another bracket opened", here)
            self._stack.pop()
            self.spans[frame.pointer] = (frame.start, here + 1)
            self._after_value()
            return at + 1
        if frame and wants == "next":
            if char != ",":
                raise JsonTextError(f"a comma is missing before '{char}'", here)
            frame.wants = "key" if frame.is_object else "value"
            return at + 1
        if frame and frame.is_object and wants in ("first", "key"):
            if char != '"':
                raise JsonTextError(f"a key in double quotes is missing before '{char}'", here)
            return self._open_string(text, at, is_key=True)
        if frame and wants == "colon":
            if char != ":":
                raise JsonTextError(f"a colon is missing before '{char}'", here)
            frame.wants = "value"
            return at + 1
        return self._open_value(text, char, at, here)

    def _open_value(self, text: str, char: str, at: int, here: int) -> int:
        self._token_start = here
        if char == '"':
            return self._open_string(text, at, is_key=False)
        if char in "{[":
            if len(self._stack) >= MAX_DEPTH:
                raise JsonTextError(f"more than {MAX_DEPTH} levels", here)
            self._stack.append(_Frame(char == "{", self._pointer(), here, "first"))
            return at + 1
        if char in _LITERALS:
            self._mode, self._literal = "literal", _LITERALS[char]
            return at
        if char == "-" or char in _DIGITS:
            self._mode = "number"
            self._state = {"-": "minus", "0": "zero"}.get(char, "int")
            return at + 1
        raise JsonTextError(f"no value begins with '{char}'", here)

    def _open_string(self, text: str, at: int, *, is_key: bool) -> int:
        self._is_key = is_key
        self._token_start = self._offset + at
        self._points = ([0], [self._token_start + 1])
        whole = _WHOLE.match(text, at + 1)
        if whole:
            end = whole.end()
            self._pieces = [text[at + 1 : end - 1]]
            self._end_string(self._offset + end)
            return end
        self._mode = "string"
        self._pieces, self._decoded_length, self._escape, self._high = [], 0, "", ""
        return at + 1

    def _string(self, text: str, at: int) -> int:
        if self._escape:
            return self._escaped(text, at)
        plain = _PLAIN.match(text, at)
        if plain:
            self._flush_high()
            self._add(plain[0], None)
            return plain.end()
        char, here = text[at], self._offset + at
        if char == "\\":
            self._escape, self._escape_start = "\\", here
            return at + 1
        if char != '"':
            raise JsonTextError(
                "a control character stands in a string; write it as an escape", here
            )
        self._flush_high()
        self._end_string(here + 1)
        return at + 1

    def _escaped(self, text: str, at: int) -> int:
        char, here = text[at], self._offset + at
        if len(self._escape) == 1:
            if char == "u":
                self._escape = "\\u"
                return at + 1
            if char not in _ESCAPES:
                raise JsonTextError(f"'\\{char}' is no JSON escape", here)
            self._flush_high()
            self._add(_ESCAPES[char], self._escape_start, here + 1)
            self._escape = ""
            return at + 1
        if char not in _HEX:
            raise JsonTextError("four hexadecimal digits must follow '\\u'", here)
        self._escape += char
        if len(self._escape) == 6:
            self._unicode(chr(int(self._escape[2:], 16)), here + 1)
            self._escape = ""
        return at + 1

    def _unicode(self, char: str, end: int) -> None:
        if self._high and "\udc00" <= char <= "\udfff":
            pair = (ord(self._high) - 0xD800 << 10) + (ord(char) - 0xDC00) + 0x10000
            self._high = ""
            self._add(chr(pair), self._escape_start - 6, end)
            return
        self._flush_high()
        if "\ud800" <= char <= "\udbff":
            self._high = char
            return
        self._add(char, self._escape_start, end)

    def _flush_high(self) -> None:
        """A high surrogate that no low one followed stands for itself, as in ``json.loads``."""
        if self._high:
            high, self._high = self._high, ""
            at = self._points[1][-1] + self._decoded_length - self._points[0][-1]
            self._add(high, at, at + 6)

    def _add(self, text: str, raw: int | None, raw_end: int = 0) -> None:
        self._pieces.append(text)
        decoded, places = self._points
        if raw is not None:
            decoded.append(self._decoded_length)
            places.append(raw)
        self._decoded_length += len(text)
        if raw is not None:
            decoded.append(self._decoded_length)
            places.append(raw_end)

    def _end_string(self, end: int) -> None:
        value = "".join(self._pieces)
        if self._is_key:
            frame = self._stack[-1]
            if value in frame.keys:
                raise JsonTextError(
                    f"the key '{value}' stands twice in one object", self._token_start
                )
            frame.keys.add(value)
            frame.key, frame.wants = value, "colon"
            self._mode = "value"
            return
        pointer = self._pointer()
        self._fields.append(StringField(pointer, self._token_start, end, value, *self._points))
        self._value_end(end)

    def _number(self, text: str, at: int) -> int:
        char = text[at]
        for characters, state in _NUMBER[self._state]:
            if char in characters:
                self._state = state
                return at + 1
        if self._state not in _NUMBER_ENDS:
            raise JsonTextError("a digit is missing in a number", self._offset + at)
        if char in _DIGITS:
            raise JsonTextError("a number must not begin with 0", self._offset + at)
        self._value_end(self._offset + at)
        return at

    def _word(self, text: str, at: int) -> int:
        done = self._offset + at - self._token_start
        if text[at] != self._literal[done]:
            raise JsonTextError(f"only '{self._literal}' can stand here", self._offset + at)
        if done + 1 == len(self._literal):
            self._value_end(self._offset + at + 1)
        return at + 1

    def _value_end(self, end: int) -> None:
        self.spans[self._pointer()] = (self._token_start, end)
        self._mode = "value"
        self._after_value()

    def _after_value(self) -> None:
        if not self._stack:
            self.done = True
            return
        frame = self._stack[-1]
        frame.wants = "next"
        frame.index += 1

    def _pointer(self) -> str:
        if not self._stack:
            return ""
        frame = self._stack[-1]
        part = escape_pointer(frame.key) if frame.is_object else str(frame.index)
        return f"{frame.pointer}/{part}"


def escape_pointer(key: str) -> str:
    """A key as one part of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def scan(text: str) -> tuple[list[StringField], dict[str, tuple[int, int]]]:
    """All strings of a JSON text and the places of all values. Raises :class:`JsonTextError`."""
    scanner = JsonScanner()
    fields = scanner.feed(text)
    scanner.close()
    return fields, scanner.spans
