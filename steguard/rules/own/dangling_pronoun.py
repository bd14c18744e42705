"""Finds pronouns that point to nothing or to too much.

Finds: "this", "that", "these" or "those" as the subject of a sentence without a noun ("This
stops the pump."), and "it", "they", "he" or "she" as the subject of the first sentence of a
text ("It is open."). "It is possible that ...", "it seems" and "it takes" are no pronouns that
point. "This is ..." with a noun after it only names a thing and is permitted.

Why: each reader takes a different noun for the pronoun, and a message of an agent is often read
without the message before it.

Example: Close the valve. This stops the flow.

Instead: Close the valve. The closed valve stops the flow.

Fix: none, because only the writer knows what the pronoun means.

Source: steguard's own
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from steguard.rules.base import PerSentence, Rule
from steguard.text.model import BlockKind, Sentence
from steguard.text.pos import masks
from steguard.text.verbs import word_set
from steguard.text.wordclass import ADJ, ADV, BASE, BE, DO, HAVE, MODAL, NOUN, PAST, THIRD
from steguard.types import Hit, Safety, Status

_DEMONSTRATIVES = frozenset(("this", "that", "these", "those"))
_PERSONAL = frozenset(("it", "they", "he", "she", "it's", "it’s", "they're", "they’re"))
_DUMMY = word_set(
    "possible necessary important likely unlikely clear true good best better essential difficult"
    " easy hard recommended time not safe common useful required helpful normal unclear evident"
    " obvious known crucial vital worth impossible probable raining"
)
_DUMMY_VERBS = word_set("seems appears takes follows looks turns depends sounds happens rains")


def _check(sentence: Sentence) -> Iterable[Hit]:
    if sentence.block.kind in (BlockKind.HEADING, BlockKind.TABLE_CELL):
        return ()
    word = sentence.lowers[0]
    if word in _DEMONSTRATIVES:
        return _demonstrative(sentence)
    if word in _PERSONAL and sentence.index == 0 and sentence.block.index == 0:
        return _personal(sentence)
    return ()


def _demonstrative(sentence: Sentence) -> Iterator[Hit]:
    possible, lowers = masks(sentence), sentence.lowers
    at = 1
    while at < len(lowers) and possible[at] & ADV and not possible[at] & (NOUN | ADJ):
        at += 1
    if at >= len(lowers):
        return
    mask = possible[at]
    plural = lowers[0] in ("these", "those")
    verb = mask & (MODAL | DO) or (mask & (HAVE | THIRD | BASE | PAST) and not mask & (NOUN | ADJ))
    # "These results", "this needs": a form that is a noun too is no verb here, except in -s
    # after a singular.
    if mask & THIRD and mask & NOUN and not plural:
        verb = not lowers[at].endswith(("ss", "us", "is", "series", "ics"))
    if mask & BE:
        verb = 0
    if verb:
        yield _hit(sentence, f"'{sentence.tokens[0].text}' has no noun. Name the thing.")


def _personal(sentence: Sentence) -> Iterator[Hit]:
    lowers, possible = sentence.lowers, masks(sentence)
    if lowers[0].startswith("it"):
        rest = lowers[1:4]
        if any(word in _DUMMY or word in _DUMMY_VERBS for word in rest):
            return
        if "that" in sentence.vocabulary or "to" in lowers[2:5]:
            return
    if len(lowers) > 1 and (
        possible[1] & (BE | MODAL | HAVE | DO | THIRD | PAST | BASE | ADV) or "'" in lowers[0]
    ):
        yield _hit(sentence, f"'{sentence.tokens[0].text}' points to no noun before it.")


def _hit(sentence: Sentence, message: str) -> Hit:
    token = sentence.tokens[0]
    return Hit(token.start, token.end, message, "Write the noun.")


RULE = Rule(
    code="SG113",
    name="dangling-pronoun",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="steguard",
    make=lambda _: PerSentence(_check, _DEMONSTRATIVES | _PERSONAL),
    module=__name__,
    prompt=lambda _: "Write the noun and not 'this' or 'it' alone.",
)
