"""A British spelling.

Finds: British spellings (``colour``, ``centre``, ``organise``, ``labelled``) in all forms. Names
(``the Department of Labour``), quoted words and code are not meant.

Why: STE uses one spelling, so that a search for a word finds all of it.

Example: ``Set the colour of the fibre.``

Instead: ``Set the color of the fiber.``

Fix: Safe, it writes the American spelling.

Source: STE 1.14.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from pydantic import Field

from steguard.rules._words import in_quotes, load_words, part_of_name
from steguard.rules.base import Options, PerSentence, Rule
from steguard.text.inflect import match_case
from steguard.text.model import Kind, Sentence
from steguard.types import Edit, Hit, Safety, Status

_ISE = ("ise", "ises", "ised", "ising", "isation", "isations", "iser", "isers", "isable")


class AmericanSpelling(Options):
    """Options of ``american-spelling``."""

    allow: tuple[str, ...] = Field(default=(), description="British words to allow.")


@cache
def _spellings() -> dict[str, str]:
    """British form to American form."""
    table: dict[str, str] = {}
    for line in load_words("british.txt"):
        pair, _, endings = line.partition(":")
        british, _, american = (part.strip() for part in pair.partition("="))
        for ending in endings.split():
            tail = "" if ending == "-" else ending
            table[british + tail] = american + tail
    for stem in load_words("british_ise.txt"):
        for ending in _ISE:
            table[stem + ending] = stem + ending.replace("is", "iz", 1)
    return table


def _make(options: AmericanSpelling) -> PerSentence:
    spellings = _spellings()
    allowed = {word.lower() for word in options.allow}

    def hits(sentence: Sentence) -> Iterator[Hit]:
        for index, token in enumerate(sentence.tokens):
            good = spellings.get(token.lower)
            if good is None or token.kind is not Kind.WORD or token.lower in allowed:
                continue
            if part_of_name(sentence, index) or in_quotes(sentence, index):
                continue
            good = match_case(token.text, good)
            yield Hit(
                token.start,
                token.end,
                f"'{token.text}' is British spelling. Write '{good}'.",
                good,
                (Edit(token.start, token.end, good),),
            )

    return PerSentence(hits, frozenset(spellings) - allowed)


RULE = Rule(
    code="STE114",
    name="american-spelling",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.SAFE,
    source="STE 1.14",
    make=_make,
    module=__name__,
    options=AmericanSpelling,
    prompt=lambda options: "Use American spelling.",  # noqa: ARG005 - same for all options
    yields=frozenset(["banned-words"]),
)
