"""A sentence has more words than the limit.

Finds: A sentence, a heading, a list item or a text in parentheses whose word count is over the
limit. A number with its unit, an identifier, a quoted text and a hyphenated group are one word
each; a step number is none; a text in parentheses is one word of its sentence and is measured by
itself.

Why: A reader, or a parser, loses the subject of a long sentence; a short one has one meaning.

Example: ``Remove the cover, drain the oil into a container that can hold five litres, and then
clean the filter with a brush that does not have metal parts.``

Instead: ``Remove the cover. Drain the oil into a five-litre container. Clean the filter with a
brush that does not have metal parts.``

Fix: None; a program cannot divide a sentence safely.

Source: STE 5.1 and 6.3 (20 words in instructions, 25 in descriptions); words are counted as in
8.4 to 8.7. Other limits are steguard's own.
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from steguard.rules.base import Options, PerSentence, Rule
from steguard.text.model import Sentence
from steguard.types import Hit, Safety, Status


class LengthOptions(Options):
    """The limit in words."""

    max: int = Field(20, ge=1, description="Words in one sentence at the most.")


def _make(options: LengthOptions) -> PerSentence:
    limit = options.max

    def check(sentence: Sentence) -> Iterable[Hit]:
        if sentence.words <= limit and not sentence.asides:
            return ()
        measured = ((sentence.start, sentence.end, sentence.words), *sentence.asides)
        return [_hit(*part, limit) for part in measured if part[2] > limit]

    return PerSentence(check)


def _hit(start: int, end: int, words: int, limit: int) -> Hit:
    return Hit(
        start,
        end,
        f"The sentence has {words} words. The limit is {limit} words.",
        "Divide the sentence.",
    )


RULE = Rule(
    code="STE501",
    name="sentence-length",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="STE 5.1, 6.3",
    make=_make,
    module=__name__,
    options=LengthOptions,
    prompt=lambda options: f"Write a maximum of {options.max} words in one sentence.",
)
