"""A sentence in parentheses.

Finds: Parentheses in a sentence with more than 6 words (option ``max_words``) and a verb in them.
A reference (``(refer to Figure 2)``), an abbreviation, a value and an item number are not meant.

Why: Text in parentheses breaks the sentence. If it is important, it needs its own sentence.

Example: ``Open the valve (you must do this before you start the main pump).``

Instead: ``Before you start the main pump, open the valve.``

Fix: None. The writer must move the text.

Source: STE 8.3. Preview, because a long definition in parentheses can be right.
"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from steguard.rules.base import Options, PerSentence, Rule
from steguard.text.inflect import word_set
from steguard.text.model import Sentence
from steguard.text.wordclass import BE, DO, HAVE, MODAL, PRON, SUBJ, THIRD, classes
from steguard.types import Hit, Safety, Status

_REFERENCE = word_set("refer see for formerly also source note figure fig table section page eq")


class Parentheses(Options):
    """Options of ``parentheses``."""

    max_words: int = Field(default=6, ge=1, description="The largest number of words in them.")


def _make(options: Parentheses) -> PerSentence:
    most = options.max_words

    def hits(sentence: Sentence) -> Iterator[Hit]:
        for start, end, words in sentence.asides:
            whole = start == sentence.start and end >= sentence.end - 1
            if words > most and not whole and _is_sentence(sentence, start, end):
                yield Hit(
                    start,
                    end,
                    f"The parentheses hold {words} words. Write a sentence of its own.",
                    "Write a sentence of its own.",
                )

    return PerSentence(hits, frozenset(["("]))


def _is_sentence(sentence: Sentence, start: int, end: int) -> bool:
    words = [t.lower for t in sentence.tokens if start < t.start and t.end < end]
    if not words or words[0] in _REFERENCE:
        return False
    masks = [classes(word) for word in words]
    return any(
        mask & (BE | DO | HAVE | MODAL)
        or (index and mask & THIRD and masks[index - 1] & (PRON | SUBJ))
        for index, mask in enumerate(masks)
    )


RULE = Rule(
    code="STE803",
    name="parentheses",
    since="0.1",
    status=Status.PREVIEW,
    fix=Safety.NONE,
    source="STE 8.3",
    make=_make,
    module=__name__,
    options=Parentheses,
)
