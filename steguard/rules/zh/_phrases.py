"""What the Chinese rules share: phrase tables and their checker."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import cast

from steguard.rules._words import in_quotes, load_table
from steguard.text.model import Document, Kind, Sentence
from steguard.text.phraseindex import PhraseIndex
from steguard.types import Hit

Accept = Callable[[str, Sentence, int, int], bool]

KEEP = ""


def zh_words(key: str) -> tuple[str, ...]:
    """The words of one list of the Chinese tables."""
    return tuple(cast(str, load_table("zh.yaml")[key]).split())


@cache
def zh_set(key: str) -> frozenset[str]:
    return frozenset(zh_words(key))


@cache
def zh_advice(key: str) -> dict[str, str]:
    """Word to advice."""
    return cast(dict[str, str], load_table("zh.yaml")[key])


def compile_words(words: Iterable[str], keep: Iterable[str]) -> PhraseIndex[str]:
    """An index whose payload is the word, or :data:`KEEP` for a word that is right."""
    index: PhraseIndex[str] = PhraseIndex()
    for word in keep:
        index.add(word, KEEP)
    for word in words:
        index.add(word, word)
    return index


class ZhWords:
    """Finds the words of an index outside quotes; it needs no memory."""

    def __init__(
        self,
        index: PhraseIndex[str],
        advice: Mapping[str, str],
        message: str,
        accept: Accept | None = None,
    ) -> None:
        self._index = index
        self._advice = advice
        self._message = message
        self._accept = accept
        self.triggers: frozenset[str] | None = index.triggers

    def sentence(self, sentence: Sentence) -> Iterator[Hit]:
        for word, at, end in self._index.find(sentence):
            if word == KEEP or in_quotes(sentence, at):
                continue
            if self._accept is not None and not self._accept(word, sentence, at, end):
                continue
            advice = self._advice.get(word) or "换一个准确的词。"
            yield Hit(
                sentence.tokens[at].start,
                sentence.tokens[end - 1].end,
                f"{self._message.format(word=word)}{advice}",
                advice,
            )

    def finish(self, document: Document) -> Iterable[Hit]:  # noqa: ARG002 - the protocol's form
        return ()


def run(sentence: Sentence, at: int, limit: int = 8) -> str:
    """The Chinese characters that follow each other from this token on."""
    characters: list[str] = []
    for token in sentence.tokens[at : at + limit]:
        if token.kind is not Kind.CJK:
            break
        characters.append(token.text)
    return "".join(characters)


def starts_with(text: str, words: frozenset[str], longest: int = 4) -> str:
    """The longest of the words that the text starts with, or an empty string."""
    for length in range(min(longest, len(text)), 0, -1):
        if text[:length] in words:
            return text[:length]
    return ""
