"""A paragraph has more sentences than the limit.

Finds: A paragraph, a list item or a quotation with more sentences than the limit. Headings, table
cells and the items of a list are no sentences of a paragraph.

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

from steguard.rules.base import Options, PerSentence, Rule
from steguard.text.model import BlockKind, Sentence
from steguard.types import Hit, Safety, Status


class ParagraphOptions(Options):
    """The limit in sentences."""

    max: int = Field(6, ge=1, description="Sentences in one paragraph at the most.")


_PARAGRAPHS = frozenset((BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.QUOTE))


def _make(options: ParagraphOptions) -> PerSentence:
    limit = options.max

    def check(sentence: Sentence) -> Iterable[Hit]:
        """The first sentence over the limit stands for its paragraph."""
        if sentence.index != limit or sentence.block.kind not in _PARAGRAPHS:
            return ()
        hit = Hit(
            sentence.start,
            sentence.end,
            f"The paragraph has more than {limit} sentences. The limit is {limit} sentences.",
            "Start a new paragraph.",
        )
        return (hit,)

    return PerSentence(check)


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
