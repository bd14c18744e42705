"""Finds many phrases in one walk over the tokens of a sentence.

The trie is keyed on whole lower-case tokens, so ``very`` is never found in ``discovery``, and a
walk costs one dictionary look-up a token however many phrases there are. Protected spans
(:attr:`Kind.CODE`) never match.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from steguard.text.model import Kind, Sentence
from steguard.text.tokens import ANALYSERS

T = TypeVar("T")


def elements(phrase: str) -> tuple[str, ...]:
    """A phrase as the lower-case tokens of a sentence: words, marks, single Chinese signs."""
    analyser = ANALYSERS["plain"]
    return tuple(piece[1] for chunk in phrase.split() for piece in analyser.split(chunk).pieces)


class _Node(Generic[T]):
    __slots__ = ("after", "payload")

    def __init__(self) -> None:
        self.after: dict[str, _Node[T]] | None = None
        self.payload: T | None = None


class PhraseTrie(Generic[T]):
    """Phrases with a payload each. A phrase that is added twice keeps its first payload."""

    def __init__(self) -> None:
        self._first: dict[str, _Node[T]] = {}
        self._triggers: frozenset[str] | None = None

    def add(self, phrase: str, payload: T) -> None:
        """Add a phrase as users write it; case and the form of apostrophes do not matter."""
        parts = elements(phrase)
        if not parts:
            return
        self._triggers = None
        node = self._first.setdefault(parts[0], _Node())
        for part in parts[1:]:
            if node.after is None:
                node.after = {}
            node = node.after.setdefault(part, _Node())
        if node.payload is None:
            node.payload = payload

    @property
    def triggers(self) -> frozenset[str]:
        """The first words: a sentence with none of them has no match."""
        if self._triggers is None:
            self._triggers = frozenset(self._first)
        return self._triggers

    def find(
        self, sentence: Sentence, accept: Callable[[T, int, int], bool] | None = None
    ) -> Iterator[tuple[T, int, int]]:
        """Matches as (payload, first token, token after the last), left to right.

        The longest phrase that ``accept`` takes wins at each place, and matches do not overlap.
        """
        lowers, tokens = sentence.lowers, sentence.tokens
        first, count = self._first, len(lowers)
        at = 0
        while at < count:
            node = first.get(lowers[at])
            if node is None or tokens[at].kind is Kind.CODE:
                at += 1
                continue
            ends: list[tuple[T, int]] = []
            end = at + 1
            while True:
                if node.payload is not None:
                    ends.append((node.payload, end))
                if node.after is None or end >= count:
                    break
                following = node.after.get(lowers[end])
                if following is None or tokens[end].kind is Kind.CODE:
                    break
                node = following
                end += 1
            for payload, stop in reversed(ends):
                if accept is None or accept(payload, at, stop):
                    yield payload, at, stop
                    at = stop
                    break
            else:
                at += 1
