"""Finds nouns without an article.

Finds: a countable noun in the singular that is the object of a command or stands after a
preposition and has no article ("Open valve and read pressure in tank."). Preview: many nouns are
both countable and not ("in code", "on target"), and the list of nouns is short.

Why: an article shows that a word is a noun and whether the thing is known. Without it, "test
valve" is a command or a thing.

Example: Open valve.

Instead: Open the valve.

Fix: unsafe: "the" goes before the noun or its adjective. The right article can be "a".

Source: STE 2.3
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from steguard.rules.base import PerSentence, Rule
from steguard.text.model import BlockKind, Kind, Sentence
from steguard.text.pos import imperative_at, masks, tags
from steguard.text.verbs import word_set
from steguard.text.voice import sections_of
from steguard.text.wordclass import ADJ, CONJ, DET, MARK, NOUN, PREP, SUB, TO
from steguard.types import Edit, Hit, Safety, Status

_PREPOSITIONS = word_set("in on into from of inside under above near behind with through to onto")
_IDIOMS = word_set(
    "place home work school bed hand mind line time date day night fact case part turn order detail"
    " general practice theory addition use contact control charge access step page version section"
    " chapter figure table number item type level phase stage option line top front back right left"
    " end start sight course board view demand purpose schedule request sequence parallel process"
    " question response search foot car bus train post click force fire law model market middle"
    " context reference regard effect power term format state stock trial error text code role"
)


@cache
def _things() -> frozenset[str]:
    sections = sections_of("things.txt")
    mass = {word for line in sections["mass"] for word in line.split()}
    return frozenset(
        word for line in sections["count"] for word in line.split() if word not in mass
    )


def _check(sentence: Sentence) -> Iterator[Hit]:
    if sentence.block.kind in (BlockKind.HEADING, BlockKind.TABLE_CELL) or not sentence.ended:
        return
    things, lowers, tokens = _things(), sentence.lowers, sentence.tokens
    if sentence.vocabulary.isdisjoint(things):
        return
    tag, possible = tags(sentence), masks(sentence)
    command = imperative_at(sentence)
    for at, word in enumerate(lowers):
        if word not in things or tag[at] != NOUN or tokens[at].kind is not Kind.WORD:
            continue
        if not tokens[at].text.islower() or not _ends_phrase(possible, lowers, at):
            continue
        first = at
        while first and tag[first - 1] & (ADJ | NOUN) and tokens[first - 1].text.islower():
            first -= 1
        before = first - 1
        is_object = before >= 0 and before == command
        after_preposition = (
            before >= 0
            and lowers[before] in _PREPOSITIONS
            and tag[before] & (PREP | TO)
            and word not in _IDIOMS
            and not (before and tag[before - 1] & DET)
        )
        if not is_object and not after_preposition:
            continue
        start = tokens[first].start
        yield Hit(
            start,
            tokens[at].end,
            f"The noun '{tokens[at].text}' has no article.",
            f"the {sentence.text[start - sentence.start : tokens[at].end - sentence.start]}",
            (Edit(start, start, "the "),),
        )


def _ends_phrase(possible: list[int], lowers: list[str], at: int) -> bool:
    """Whether the noun phrase ends here."""
    if at + 1 >= len(possible):
        return True
    after = possible[at + 1]
    if lowers[at + 1] in ("-", "/", "(", "'", '"', "“"):
        return False
    return bool(after & (MARK | PREP | CONJ | SUB | TO)) and not after & NOUN


RULE = Rule(
    code="STE203",
    name="missing-article",
    since="0.1",
    status=Status.PREVIEW,
    fix=Safety.UNSAFE,
    source="STE 2.3",
    make=lambda _: PerSentence(_check),
    module=__name__,
)
