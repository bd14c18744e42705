"""Finds many phrases in one look at a sentence, however many phrases there are.

Each phrase hangs on its rarest word, its anchor: ``in order to`` on ``order``. A sentence without
an anchor is never looked at, and at an anchor only the few phrases that hang on it are compared
with the tokens around. Matching is by whole tokens, so ``very`` is never found in ``discovery``,
and protected spans (:attr:`Kind.CODE`) never match.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

from steguard.text.chunks import ANALYSERS
from steguard.text.inflect import word_set
from steguard.text.model import Kind, Sentence

T = TypeVar("T")

_COMMON = word_set(
    "a an the of to in on at by for from with as is are am was were be been being it its that this "
    "these those there and or but not no if so do does did have has had i you he she we they my "
    "your his her our their can will all any some more most than then what when which who how one "
    "out up down about into over after before i'm it's don't"
)

_EVERYWHERE = word_set("a an the of to in on for and is are that it with as be this")


def elements(phrase: str) -> tuple[str, ...]:
    """A phrase as the lower-case tokens of a sentence: words, marks, single Chinese signs."""
    analyser = ANALYSERS["plain"]
    return tuple(piece[1] for chunk in phrase.split() for piece in analyser.split(chunk).pieces)


class PhraseIndex(Generic[T]):
    """Phrases with a payload each. A phrase that is added twice keeps its first payload."""

    def __init__(self, phrases: Iterable[tuple[str, T]] = ()) -> None:
        self._hung: dict[str, _Hook[T]] = {}
        self._known: set[tuple[str, ...]] = set()
        self._triggers: frozenset[str] | None = None
        for phrase, payload in phrases:
            self.add(phrase, payload)

    def add(self, phrase: str, payload: T) -> None:
        """Add a phrase as users write it; case and the form of apostrophes do not matter."""
        parts = elements(phrase)
        if not parts or parts in self._known:
            return
        self._known.add(parts)
        anchor = max(range(len(parts)), key=lambda at: self._rank(parts[at]))
        self._hung.setdefault(parts[anchor], _Hook()).add(anchor, parts, payload)
        self._triggers = None

    def items(self) -> Iterator[tuple[tuple[str, ...], T]]:
        """Each phrase as its tokens, with its payload."""
        for word, hook in self._hung.items():
            for payload in hook.alone:
                yield (word,), payload
            for entries in (*hook.following.values(), *hook.preceding.values()):
                for _, parts, payload in entries:
                    yield tuple(parts), payload

    def _rank(self, part: str) -> tuple[bool, bool, bool, int]:
        """Rare words first, among them those on which phrases hang already, then long ones."""
        rare = part not in _COMMON and part[0].isalnum()
        return rare, part not in _EVERYWHERE, part in self._hung, len(part)

    @property
    def triggers(self) -> frozenset[str]:
        """The anchors: a sentence with none of them has no match."""
        if self._triggers is None:
            self._triggers = frozenset(self._hung)
        return self._triggers

    def find(
        self, sentence: Sentence, accept: Callable[[T, int, int], bool] | None = None
    ) -> list[tuple[T, int, int]]:
        """Matches as (payload, first token, token after the last), left to right.

        The longest phrase that ``accept`` takes wins at each place, and matches do not overlap.
        """
        lowers = sentence.lowers
        hung = self._hung
        last = len(lowers) - 1
        found: list[tuple[int, int, T]] = []
        for word in self.triggers & sentence.vocabulary:
            hook = hung[word]
            at = -1
            for _ in range(lowers.count(word)):
                at = lowers.index(word, at + 1)
                for payload in hook.alone:
                    found.append((at, -1, payload))
                if at < last and lowers[at + 1] in hook.following:
                    _compare(lowers, at, hook.following[lowers[at + 1]], found)
                if at and lowers[at - 1] in hook.preceding:
                    _compare(lowers, at, hook.preceding[lowers[at - 1]], found)
        if not found:
            return []
        if len(found) > 1:
            found.sort(key=_place)
        return self._choose(sentence, found, accept)

    @staticmethod
    def _choose(
        sentence: Sentence,
        found: list[tuple[int, int, T]],
        accept: Callable[[T, int, int], bool] | None,
    ) -> list[tuple[T, int, int]]:
        tokens = sentence.tokens
        chosen: list[tuple[T, int, int]] = []
        free = 0
        for start, length, payload in found:
            end = start - length
            if start < free or tokens[start].kind is _CODE:
                continue
            if length < -1 and any(token.kind is _CODE for token in tokens[start:end]):
                continue
            if accept is None or accept(payload, start, end):
                chosen.append((payload, start, end))
                free = end
        return chosen


_CODE = Kind.CODE


class _Hook(Generic[T]):
    """The phrases that hang on one word: alone, or by the word after or before the anchor."""

    __slots__ = ("alone", "following", "preceding")

    def __init__(self) -> None:
        self.alone: list[T] = []
        self.following: dict[str, list[tuple[int, list[str], T]]] = {}
        self.preceding: dict[str, list[tuple[int, list[str], T]]] = {}

    def add(self, anchor: int, parts: tuple[str, ...], payload: T) -> None:
        if len(parts) == 1:
            self.alone.append(payload)
        elif anchor + 1 < len(parts):
            entry = (anchor, list(parts), payload)
            self.following.setdefault(parts[anchor + 1], []).append(entry)
        else:
            entry = (anchor, list(parts), payload)
            self.preceding.setdefault(parts[anchor - 1], []).append(entry)


def _compare(
    lowers: list[str],
    at: int,
    phrases: list[tuple[int, list[str], T]],
    found: list[tuple[int, int, T]],
) -> None:
    """Add the phrases with their anchor at ``at`` that stand there in full."""
    for offset, parts, payload in phrases:
        start = at - offset
        length = len(parts)
        if start >= 0 and (length == 2 or lowers[start : start + length] == parts):
            found.append((start, -length, payload))


def _place(match: tuple[int, int, object]) -> tuple[int, int]:
    return match[0], match[1]
