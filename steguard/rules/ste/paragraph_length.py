"""A paragraph has more sentences than the limit.

Finds: A paragraph, a list item or a quotation with more sentences than the limit. Headings, table
cells and the items of a list are no sentences of a paragraph. A line that no full stop closes (a
title, a label, a record of a listing) starts a new count, and words without a verb ("Share.", an
address) are no sentences.

Why: A long paragraph has more than one topic, and its reader, or a program that takes one step
for each paragraph, loses some of them.

Example: a paragraph of nine sentences.

Instead: two paragraphs, each with one topic.

Fix: None; only the writer knows where a new topic starts.

Source: STE 6.6.
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from steguard.rules.base import Options, Rule
from steguard.text.model import BlockKind, Document, Sentence
from steguard.text.wordclass import BASE, FINITE, classes
from steguard.types import Hit, Safety, Status


class ParagraphOptions(Options):
    """The limit in sentences."""

    max: int = Field(6, ge=1, description="Sentences in one paragraph at the most.")


_SHORT_LINE = 45
_VERB = FINITE | BASE
_PARAGRAPHS = frozenset((BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.QUOTE))


def _has_record(sentence: Sentence) -> bool:
    """Whether a short line stands in the sentence: a record, where a wrapped line is long."""
    return any(0 < len(line) < _SHORT_LINE for line in sentence.text.split("\n")[:-1])


def _is_sentence(sentence: Sentence) -> bool:
    """Whether a word can be a verb: "John's Roast Pork." and an address have none."""
    return any(
        classes(token.lower) & _VERB and (token.text.islower() or not at)
        for at, token in enumerate(sentence.tokens)
    )


class _ParagraphLength:
    """Counts the sentences of a paragraph; the first one over the limit stands for it."""

    triggers: frozenset[str] | None = None

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._stretch: list[Sentence] = []
        self._told = False

    def sentence(self, sentence: Sentence) -> Iterable[Hit]:
        if not sentence.index:
            self._stretch, self._told = [], False
        if not sentence.ended or ("\n" in sentence.text and _has_record(sentence)):
            self._stretch = []
        if sentence.ended and sentence.words > 1 and not self._told:
            self._stretch.append(sentence)
            if len(self._stretch) > self._limit:
                return self._hits(sentence)
        return ()

    def _hits(self, sentence: Sentence) -> Iterable[Hit]:
        if sentence.block.kind not in _PARAGRAPHS:
            return ()
        self._stretch = [s for s in self._stretch if _is_sentence(s)]
        if len(self._stretch) <= self._limit:
            return ()
        self._told = True
        hit = Hit(
            sentence.start,
            sentence.end,
            f"The paragraph has more than {self._limit} sentences."
            f" The limit is {self._limit} sentences.",
            "Start a new paragraph.",
        )
        return (hit,)

    def finish(self, document: Document) -> Iterable[Hit]:  # noqa: ARG002 - the protocol's form
        return ()


def _make(options: ParagraphOptions) -> _ParagraphLength:
    return _ParagraphLength(options.max)


RULE = Rule(
    code="STE606",
    name="paragraph-length",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="STE 6.6",
    make=_make,
    module=__name__,
    options=ParagraphOptions,
    prompt=lambda options: f"Write a maximum of {options.max} sentences in one paragraph.",
)
