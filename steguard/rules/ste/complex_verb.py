"""Finds verbs that are made of a modal and more than one other part.

Finds: a modal with "have" or with "be" and -ing ("could have failed", "will be running", "must
have been opened").

Why: each part of such a verb adds a shade of time or doubt. A simple verb says one thing.

Example: The sensor could have failed.

Instead: It is possible that the sensor failed.

Fix: none, because only the writer knows which shade is meant.

Source: STE 3.4
"""

from __future__ import annotations

from collections.abc import Iterator

from steguard.rules.base import PerSentence, Rule
from steguard.rules.ste._chains import CONTRACTED_MODAL, MODALS, chains
from steguard.text.model import Sentence
from steguard.types import Hit, Safety, Status

_PERFECT = frozenset(f"{modal}{mark}ve" for modal in MODALS for mark in "'’")


def _check(sentence: Sentence) -> Iterator[Hit]:
    tokens = sentence.tokens
    for chain in chains(sentence):
        if chain.modal < 0 or not ((chain.have >= 0 and chain.participle) or chain.ing):
            continue
        start, end = tokens[chain.first].start, tokens[chain.last].end
        words = sentence.text[start - sentence.start : end - sentence.start]
        yield Hit(
            start,
            end,
            f"The verb '{words}' has too many parts. Use a simple tense.",
            "Use the simple present, past or future.",
        )


RULE = Rule(
    code="STE304",
    name="complex-verb",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="STE 3.4",
    make=lambda _: PerSentence(_check, MODALS | CONTRACTED_MODAL | _PERFECT),
    module=__name__,
)
