"""Reads the dictionary pages of a printed vocabulary by the place of their words.

A page has columns: the word with its part of speech in brackets, then its meaning or its
alternatives, then examples. A word in capitals is approved, with its forms after commas; a word
in lower case is not, and the second column names what to write, in capitals.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

Pos = Literal[
    "noun", "verb", "adjective", "adverb", "preposition", "pronoun", "conjunction", "article"
]

_POS: dict[str, Pos] = {
    "n": "noun",
    "v": "verb",
    "adj": "adjective",
    "adv": "adverb",
    "prep": "preposition",
    "pron": "pronoun",
    "pn": "pronoun",
    "con": "conjunction",
    "conj": "conjunction",
    "art": "article",
}
_MARKS = "|".join(sorted(_POS, key=len, reverse=True))
_ENTRY = re.compile(
    rf"^(?P<word>[A-Za-z][A-Za-z' /-]*?)\s*\((?P<pos>{_MARKS})\)\s*,?\s*(?P<rest>.*)$"
)
_ALTERNATIVE = re.compile(rf"\b([A-Z][A-Z'-]*(?: [A-Z'-]+)*)\s*\((?:{_MARKS}|TN|TV)\)")
_FORMS = re.compile(r"^[A-Z][A-Z' -]*(?:,\s*[A-Z][A-Z' -]*)*,?$")
_SAME_LINE = 3.0
_GAP = 12.0


@dataclass(frozen=True, slots=True)
class PageWord:
    """A word on a page: its text, left and right edge, and distance from the top."""

    text: str
    left: float
    right: float
    top: float


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its number in the file, its width, its words."""

    number: int
    width: float
    words: Sequence[PageWord]


@dataclass(frozen=True, slots=True)
class PageEntry:
    """An entry as it is printed."""

    word: str
    pos: Pos
    approved: bool
    forms: tuple[str, ...]
    use_instead: tuple[str, ...]


@dataclass
class _Open:
    """An entry that is not yet complete: the text of its first two columns."""

    word: str
    pos: Pos
    left: list[str]
    right: list[str]

    def close(self) -> PageEntry:
        approved = self.word.isupper()
        forms: tuple[str, ...] = ()
        uses: tuple[str, ...] = ()
        if approved:
            text = " ".join(self.left)
            parts = [part.strip() for part in text.split(",")]
            seen = dict.fromkeys(part for part in parts if part and part != self.word)
            forms = tuple(seen)
        else:
            uses = tuple(dict.fromkeys(_ALTERNATIVE.findall(" ".join(self.right))))
        return PageEntry(self.word, self.pos, approved, forms, uses)


def read_entries(page: Page) -> list[PageEntry]:
    """The entries of a page, in order; an empty list for a page of another kind."""
    second, third = _columns(page)
    entries: list[PageEntry] = []
    current: _Open | None = None
    for line in _lines(page.words):
        left = " ".join(word.text for word in line if word.left < second)
        right = " ".join(word.text for word in line if second <= word.left < third)
        match = _ENTRY.match(left)
        if match and _one_case(match["word"]):
            if current is not None:
                entries.append(current.close())
            current = _Open(match["word"], _POS[match["pos"]], [match["rest"]], [right])
        elif current is not None:
            if left and _FORMS.match(left):
                current.left.append(left)
            current.right.append(right)
    if current is not None:
        entries.append(current.close())
    return entries


def _one_case(word: str) -> bool:
    return word.isupper() or word.islower()


def _lines(words: Sequence[PageWord]) -> list[list[PageWord]]:
    """Words with the same distance from the top, from left to right."""
    lines: list[list[PageWord]] = []
    for word in sorted(words, key=lambda w: (w.top, w.left)):
        if lines and abs(word.top - lines[-1][0].top) <= _SAME_LINE:
            lines[-1].append(word)
        else:
            lines.append([word])
    return [sorted(line, key=lambda w: w.left) for line in lines]


def _columns(page: Page) -> tuple[float, float]:
    """Where the second and the third column start.

    The heading of the table tells; without one, the places where entries and their second
    column start most often; without these, quarters of the page.
    """
    for line in _lines(page.words):
        starts = _cells(line)
        if len(starts) >= 3 and line[0].text.lower() == "word":
            return starts[1] - 2, starts[2] - 2
    rows = [line for line in _lines(page.words) if _ENTRY.match(_first_cell(line))]
    seconds = [starts[1] for line in rows if len(starts := _cells(line)) > 1]
    thirds = [starts[2] for line in rows if len(starts := _cells(line)) > 2]
    second = min(seconds) - 2 if seconds else page.width / 4
    third = min(thirds) - 2 if thirds else page.width / 2
    return second, max(third, second)


def _first_cell(line: Sequence[PageWord]) -> str:
    starts = _cells(line)
    end = starts[1] if len(starts) > 1 else float("inf")
    return " ".join(word.text for word in line if word.left < end)


def _cells(line: Sequence[PageWord]) -> list[float]:
    """The left edges of runs of words with a wide gap before them."""
    starts = [line[0].left]
    for last, word in pairwise(line):
        if word.left - last.right > _GAP:
            starts.append(word.left)
    return starts
