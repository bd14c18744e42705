"""Finds the perfect tenses.

Finds: "have", "has" or "had" with a past participle ("has opened", "had not been sent", "I've
read"). A participle that describes a noun ("has limited access") is no verb.

Why: the simple past and the simple present say when an action occurs. The perfect connects two
times, and a reader must find out which one counts.

Example: The agent has opened the file.

Instead: The agent opened the file.

Fix: unsafe: the simple past takes the place of "has opened". A passive or a negative has no
automatic repair.

Source: STE 3.2
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from steguard.rules.base import PerSentence, Rule
from steguard.rules.ste._chains import CONTRACTED_HAVE, HAVE_FORMS, chains, is_attribute
from steguard.text.model import Sentence
from steguard.text.pos import masks
from steguard.text.verbs import participle, past_of, word_set
from steguard.text.voice import sections_of
from steguard.text.wordclass import MARK, NOUN
from steguard.types import Edit, Hit, Safety, Status

_TRIGGERS = HAVE_FORMS | CONTRACTED_HAVE | {"been"}


@cache
def _describing() -> frozenset[str]:
    """Participles that often stand before a noun."""
    sections = sections_of("participles.txt")
    return frozenset(
        word
        for name in ("adjective", "state", "checked")
        for line in sections[name]
        for word in line.split()
    ) | word_set("associated given limited required embedded related written nested")


def _check(sentence: Sentence) -> Iterator[Hit]:
    tokens, lowers = sentence.tokens, sentence.lowers
    for chain in chains(sentence):
        if chain.modal >= 0 or not chain.participle or chain.have < 0:
            continue
        first, last = chain.first, chain.last
        word = lowers[last]
        if chain.be < 0 and is_attribute(sentence, last, _describing()):
            continue
        if chain.be < 0 and last > first + 1 and _is_noun_after(sentence, first, last):
            continue
        if (
            chain.have > 0
            and masks(sentence)[last] & NOUN
            and chain.be < 0
            and _ends(sentence, last)
        ):
            continue
        base = participle(word)
        edits: tuple[Edit, ...] = ()
        suggestion = "Use the simple past."
        plain = first > 0 and lowers[first - 1] != "to"
        if (
            plain
            and base
            and chain.be < 0
            and last == first + 1
            and lowers[first] in ("have", "has", "had")
        ):
            past = past_of(base)
            suggestion = past
            edits = (Edit(tokens[first].start, tokens[last].end, past),)
        yield Hit(
            tokens[first].start,
            tokens[last].end,
            "This is a perfect tense. Use the simple past or the simple present.",
            suggestion,
            edits,
            Safety.UNSAFE if edits else Safety.NONE,
        )


def _is_noun_after(sentence: Sentence, first: int, last: int) -> bool:
    """ "has all set" and the like: a word between is no adverb."""
    return any(masks(sentence)[at] & MARK for at in range(first, last))


def _ends(sentence: Sentence, last: int) -> bool:
    """ "has input", "had cost": a noun stands last."""
    return last + 1 >= len(sentence.tokens) or sentence.lowers[last] in ("input", "output", "data")


RULE = Rule(
    code="STE302",
    name="perfect-tense",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.UNSAFE,
    source="STE 3.2",
    make=lambda _: PerSentence(_check, _TRIGGERS),
    module=__name__,
    prompt=lambda _: "Use only the simple present, past and future tenses.",
)
