"""What each word is for the grammar, and the words that a grammar has without a vocabulary."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from functools import cache, lru_cache

from steguard.text.inflect import plural, verb_forms
from steguard.text.verbs import gerund, read_words, verbs, word_set
from steguard.text.voice import FORMS_OF_GET, sections_of
from steguard.text.wordclass import (
    ADJ,
    ADV,
    BASE,
    BE,
    CONJ,
    DET,
    DO,
    GET,
    HAVE,
    ING,
    MODAL,
    NOT,
    NOUN,
    NUM,
    PART,
    PAST,
    PREP,
    PRON,
    SUB,
    THIRD,
    TO,
    WH,
    classes,
    words,
)

LONGEST = 18
"""A longer word is two words that a model glued together, or a name that the task must give."""


class Kind(Enum):
    """What a word does in the grammar. The order says which kind wins."""

    __hash__ = object.__hash__  # Members are single, and this is the quick one.

    BE = "be"  # is are was were am: a state can follow
    AUX = "aux"  # be, get and have: no participle can follow
    MODAL = "modal"
    DO = "do"  # do alone; does and did stand like a modal
    TO = "to"
    JOIN = "join"  # and, then
    OR = "or"
    ASKED = "asked"  # how, why, where
    WHEN = "when"  # when: a condition that also asks
    IF = "if"  # if, unless
    SUB = "sub"
    POINT = "point"  # this that these those
    PERSON = "person"  # it they he she: points back
    DET = "det"
    PRON = "pron"
    PREP = "prep"
    PHRASE = "phrase"  # the noun of "in general", which keeps a verb chain open
    ADVERB = "adverb"
    AMOUNT = "amount"  # all, each, more: stands in a verb chain like an adverb
    STATE = "state"  # a participle that names a state: closed, connected
    PART = "part"  # another participle
    ING = "ing"
    ASKS = "asks"  # check, make sure: "if" after it asks
    VERB = "verb"  # a base form that is nothing else
    VERBAL = "verbal"  # a base form that is a noun or an adjective too
    SLOW = "slow"  # a base form that is an adverb too: slow, further
    FINITE = "finite"  # opens, opened: only ever a verb
    PLAIN = "plain"


_IN_PHRASE = word_set(
    "first turn course least fact part general particular once last times essence effect short "
    "addition principle theory practice full total detail advance best present longer"
)
_ASKS = word_set(
    "check see ask determine verify know confirm test decide examine find tell notify say show"
    " explain describe report remember note wonder consider clarify let mention specify indicate"
    " inform learn identify discover calculate understand recall evaluate assess make"
)
_EXACT = {
    **dict.fromkeys(("is", "are", "was", "were", "am"), Kind.BE),
    **dict.fromkeys(("be", "have", "has", "had", "need", "get", "gets", "got"), Kind.AUX),
    **dict.fromkeys(("and", "then"), Kind.JOIN),
    "or": Kind.OR,
    "do": Kind.DO,
    **dict.fromkeys(("does", "did"), Kind.MODAL),
    "to": Kind.TO,
    **dict.fromkeys(("how", "why", "where"), Kind.ASKED),
    "when": Kind.WHEN,
    **dict.fromkeys(("if", "unless"), Kind.IF),
    **dict.fromkeys(("this", "that", "these", "those"), Kind.POINT),
    **dict.fromkeys(("it", "they", "he", "she"), Kind.PERSON),
    **dict.fromkeys(("either", "neither", "all"), Kind.AMOUNT),
    **dict.fromkeys(("here", "there"), Kind.PRON),
}
_NEVER = word_set(
    "thence whence hence hereby herein thereby therein thereof lest atop anew amid amidst amongst"
    " whichever whoever whomever whatever forever upwards forwards versus minus nay yea ought"
    " being been getting gotten having ain't i me my mine we us our ours myself ourselves let lets"
    " attached enclosed please"
)
"""Words that the grammar has no place for: no text for a reader needs them. As a name of the task
each can still stand."""
_TRAPS = word_set("ton tons toe toes tot isle isles island islands")
"""Rare words that a model falls into when it has begun "to" or "is" and cannot go on."""


@lru_cache(maxsize=65_536)
def kind_of(word: str) -> Kind:
    """The kind of a word, always the one that permits least."""
    found = _EXACT.get(word)
    if found is not None:
        return found
    mask = classes(word)
    if mask & (BE | HAVE | GET) or word in FORMS_OF_GET:
        return Kind.AUX
    if mask & MODAL:
        return Kind.MODAL
    if mask & PART:
        return Kind.STATE if word in _states() else Kind.PART
    if mask & ING:
        return Kind.ING
    if mask & (ADV | NOT) and not mask & WH:
        if mask & DET:
            return Kind.AMOUNT
        return Kind.SLOW if mask & BASE else Kind.ADVERB
    if word in _IN_PHRASE:
        return Kind.PHRASE
    if mask & BASE and not mask & (DET | PRON):
        if word in _ASKS:
            return Kind.ASKS
        return Kind.VERBAL if mask & (NOUN | ADJ) else Kind.VERB
    if mask & (SUB | WH):
        return Kind.SUB
    if mask & PRON:
        return Kind.PRON
    if mask & (DET | NUM):
        return Kind.DET
    if mask & PREP:
        return Kind.PREP
    if mask & CONJ:
        return Kind.OR
    if mask & (THIRD | PAST) and not mask & (NOUN | ADJ):
        return Kind.FINITE
    return Kind.TO if mask & TO else Kind.PLAIN


@cache
def _states() -> frozenset[str]:
    return frozenset(w for line in sections_of("participles.txt")["state"] for w in line.split())


@cache
def plain_words() -> frozenset[str]:
    """The words that a grammar has without a vocabulary: everyday and technical, in all forms
    that STE permits. They are a part of what the tagger knows, since a grammar must stay small."""
    sections = sections_of("everyday.txt")
    found = {word for word, mask in words().items() if mask & _FUNCTION_WORD}
    for line in sections["verb"]:
        for base in line.split():
            found.update(_forms(base))
    for line in sections["noun"]:
        found.update(form for noun in line.split() for form in (noun, plural(noun)))
    found.update(word for line in sections["other"] for word in line.split())
    for name in ("nouns.txt", "things.txt"):
        found.update(form for noun in read_words(name) for form in (noun, plural(noun)))
    found.update(word for word in read_words("adverbs.txt") if word.isalpha())
    found.update(name for line in sections["name"] for name in line.split())
    return frozenset(w for w in found if w.isalpha() and w not in _NEVER and w not in _TRAPS)


def _forms(base: str) -> Iterable[str]:
    """The forms of a verb that STE permits: all but the form in -ing."""
    verb = verbs().get(base)
    if verb is None:
        return [form for name, form in verb_forms(base).items() if name != "ing"]
    return (base, verb.third, *verb.past, *verb.participle)


_FUNCTION_WORD = DET | PRON | PREP | CONJ | SUB | MODAL | BE | HAVE | DO | GET | NUM | WH | TO | NOT


def usable(word: str) -> bool:
    """Whether the grammar has a place for a word: it is short, and no verb in -ing."""
    if len(word) > LONGEST or word in _NEVER:
        return False
    mask = classes(word)
    if not mask & ING:
        return True
    return bool(mask & NOUN) or gerund(word) is None
