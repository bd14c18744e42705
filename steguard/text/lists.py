"""Lists that stand in one line: "1. Open it 2. Close it", "a) one b) two", "• one • two"."""

from __future__ import annotations

import re

from steguard.text.model import Kind, Token

_MARKER = re.compile(r"(\(?)(\d{1,2}|[a-hA-H]|[ivx]{1,4})(\.\)|\)|\.)$")
_BULLETS = "•⁃▪◦●‣▫■□➢✓✔"
_BULLET = re.compile(rf"[{_BULLETS}](?:\d{{1,2}}\.?\)?$)?")
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi")
_NOT_BEFORE_ITEM = frozenset(
    "to of than step steps no is at by from and or figure fig = a the version".split()
)


def may_be_marker(text: str) -> bool:
    """Whether a chunk may be, or begin with, the marker of an item."""
    return text[0] in _BULLETS or _MARKER.match(text) is not None


class ListRun:
    """Knows the next marker that a running list must have."""

    __slots__ = ("_next",)

    def __init__(self) -> None:
        self._next = ""

    def reset(self) -> None:
        self._next = ""

    def begin(self, marker: str) -> None:
        """A block began with this marker."""
        match = _MARKER.match(marker)
        self._next = _successor(match) if match else ""

    def turn(self, text: str, tokens: list[Token]) -> int:
        """The length of the item marker that ``text`` begins with, 0 if it is none."""
        if text[0] in _BULLETS:
            bullet = _BULLET.match(text)
            return bullet.end() if bullet else 0
        match = _MARKER.match(text)
        if match is None:
            return 0
        if tokens and not self._fits(text, tokens):
            return 0
        if (
            not tokens
            and not match[2].isdigit()
            and match[2] not in ("a", "A", "i")
            and text != self._next
        ):
            return 0
        self._next = _successor(match)
        return len(text)

    def _fits(self, text: str, tokens: list[Token]) -> bool:
        last = tokens[-1]
        if text == self._next:
            return last.lower not in _NOT_BEFORE_ITEM
        if text == "1)" and not any(t.text == "(" for t in tokens):
            return True
        opens = text.strip("(.)") in ("1", "a", "A") and not text.startswith("(a")
        return opens and last.kind is Kind.PUNCT and last.text in (":", "：")


def _successor(match: re.Match[str]) -> str:
    value = match[2]
    if value in _ROMAN:
        following = _ROMAN[_ROMAN.index(value) + 1]
    else:
        following = str(int(value) + 1) if value.isdigit() else chr(ord(value[0]) + 1)
    return f"{match[1]}{following}{match[3]}"
