"""Verb chains: "will have been opened", "is not running", "has he sent"."""

from __future__ import annotations

from dataclasses import dataclass

from steguard.text.model import Kind, Sentence
from steguard.text.pos import masks
from steguard.text.verbs import word_set
from steguard.text.voice import CONTRACTED_BE, FORMS_OF_BE, sections_of
from steguard.text.wordclass import (
    ADJ,
    ADV,
    BE,
    DET,
    HAVE,
    ING,
    MARK,
    NOT,
    NOUN,
    PART,
    PREP,
    PRON,
    SUBJ,
)

HAVE_FORMS = word_set("have has had having haven't hasn't hadn't haven’t hasn’t hadn’t")
CONTRACTED_HAVE = frozenset(
    f"{word}{mark}ve"
    for word in ["i", "you", "we", "they", "who", "could", "should", "would", "might", "must"]
    for mark in "'’"
)
MODALS = word_set(
    "can could may might must shall should will would can't cannot couldn't mightn't mustn't "
    "shouldn't won't wouldn't can’t couldn’t shouldn’t won’t wouldn’t mustn’t"
)
CONTRACTED_MODAL = frozenset(
    f"{word}{mark}{tail}"
    for word in ["i", "you", "he", "she", "it", "we", "they", "that", "there", "this"]
    for mark in "'’"
    for tail in ("ll", "d")
)
_NO_VERBS = frozenset(
    word for lines in sections_of("ing.txt").values() for line in lines for word in line.split()
)


_STARTS = MODALS | CONTRACTED_MODAL | HAVE_FORMS | CONTRACTED_HAVE | FORMS_OF_BE | CONTRACTED_BE


@dataclass(frozen=True, slots=True)
class Chain:
    """Token indices of the parts; -1 where the chain has none of that kind."""

    modal: int
    have: int
    be: int
    last: int
    participle: bool
    ing: bool

    @property
    def first(self) -> int:
        return min(at for at in (self.modal, self.have, self.be, self.last) if at >= 0)


def chains(sentence: Sentence) -> list[Chain]:
    """The verb chains with two parts or more, in order."""
    known = sentence.cache.get("chains")
    if known is None:
        known = _find(sentence)
        sentence.cache["chains"] = known
    return known  # type: ignore[return-value]


def _is_have(word: str, mask: int) -> bool:
    return word in HAVE_FORMS or word in CONTRACTED_HAVE or bool(mask & HAVE and mask & SUBJ)


def _find(sentence: Sentence) -> list[Chain]:
    lowers = sentence.lowers
    found = []
    at, count = 0, len(lowers)
    while at < count:
        word = lowers[at]
        if word not in _STARTS:
            at += 1
            continue
        modal = have = be = -1
        if word in MODALS or word in CONTRACTED_MODAL:
            modal = at
        elif word in HAVE_FORMS or word in CONTRACTED_HAVE:
            have = at
            if word[:-3] in MODALS:
                modal = at
        else:
            be = at
        chain, at = _follow(sentence, at, modal, have, be)
        if chain:
            found.append(chain)
    return found


def _follow(
    sentence: Sentence, at: int, modal: int, have: int, be: int
) -> tuple[Chain | None, int]:
    lowers, possible, tokens = sentence.lowers, masks(sentence), sentence.tokens
    count = len(lowers)
    start = last = at
    at += 1
    asked = False
    while at < count:
        word, mask = lowers[at], possible[at]
        if tokens[at].kind is not Kind.WORD:
            break
        if word in ("have", "has", "had") and have < 0 and be < 0 and modal >= 0:
            have = last = at
        elif word == "being":
            if be < 0:
                break
            return Chain(modal, have, be, at, False, True), at + 1
        elif word == "been" or (word == "be" and be < 0):
            if be >= 0 and have < 0 and lowers[be] in CONTRACTED_BE:
                have = be
            be = last = at
        elif mask & PART and (have >= 0 or be >= 0) and not mask & (BE | HAVE):
            return Chain(modal, have, be, at, True, False), at + 1
        elif mask & ING and be >= 0 and word not in _NO_VERBS:
            return Chain(modal, have, be, at, False, True), at + 1
        elif (mask & (NOT | ADV) and not mask & (DET | PREP | BE)) or word == "all":
            pass
        elif mask & SUBJ and not asked and at == start + 1 and _is_question(sentence, start):
            asked = True
        elif have == start and mask & _SUBJECT and at - start < 8 and _asks(sentence, start):
            pass
        else:
            break
        at += 1
    parts = (modal >= 0) + (have >= 0) + (be >= 0)
    if parts > 1 and (have < 0 or be >= 0):
        return Chain(modal, have, be, last, lowers[last] == "been", False), at
    return None, max(at if at > last + 1 else last + 1, start + 1)


_SUBJECT = DET | ADJ | NOUN | PRON


def _asks(sentence: Sentence, start: int) -> bool:
    return "?" in sentence.vocabulary and (start == 0 or masks(sentence)[start - 1] & MARK != 0)


def _is_question(sentence: Sentence, start: int) -> bool:
    return start == 0 or "?" in sentence.vocabulary


def is_attribute(sentence: Sentence, at: int, words: frozenset[str]) -> bool:
    """Whether the form at ``at`` is an adjective before a noun: "has limited access"."""
    possible = masks(sentence)
    if sentence.lowers[at] not in words or at + 1 >= len(possible):
        return False
    after = possible[at + 1]
    return bool(after & (NOUN | ADJ) and not after & (PREP | DET))
