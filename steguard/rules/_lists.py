"""Checkers over a word list, for rules that only look for phrases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache

from steguard.rules._substitute import Entry, Form, compile_entries
from steguard.rules._words import load_words
from steguard.text.model import Document, Sentence
from steguard.text.phraseindex import PhraseIndex
from steguard.types import Hit


@cache
def list_index(name: str, advice: str) -> PhraseIndex[Form]:
    """An index of the phrases of a shipped list; ``phrase | replacement`` gives one."""
    entries = []
    for line in load_words(name):
        phrase, _, use = (part.strip() for part in line.partition("|"))
        entries.append(Entry(phrase, (use,) if use else (), advice))
    return compile_entries(entries)


Accept = Callable[[Sentence, int, int], bool]
Make = Callable[[Sentence, int, int, str], Hit]


class PhraseFinder:
    """Finds phrases where ``accept`` takes the place, and gives what ``make`` makes of them."""

    stateless = True

    def __init__(self, index: PhraseIndex[str], accept: Accept, make: Make) -> None:
        self._index = index
        self._accept = accept
        self._make = make
        self.triggers: frozenset[str] | None = index.triggers

    def phrases(self) -> Iterator[tuple[str, ...]]:
        """The phrases as tokens: a text without them has no finding."""
        return (parts for parts, _ in self._index.items())

    def sentence(self, sentence: Sentence) -> Iterator[Hit]:
        def accept(payload: str, at: int, end: int) -> bool:  # noqa: ARG001 - the index's form
            return self._accept(sentence, at, end)

        for payload, at, end in self._index.find(sentence, accept):
            yield self._make(sentence, at, end, payload)

    def finish(self, document: Document) -> Iterable[Hit]:  # noqa: ARG002 - the protocol's form
        return ()


def phrase_index(phrases: Iterable[str]) -> PhraseIndex[str]:
    """An index whose payload is the phrase itself."""
    index: PhraseIndex[str] = PhraseIndex()
    for phrase in phrases:
        index.add(phrase, phrase)
    return index
