"""One part of speech for each token, by its possible classes and its neighbours.

The tagger reads a sentence once from left to right; no model stands behind it. It runs only when
a rule asks for it and keeps its answer in ``sentence.cache``.
"""

from __future__ import annotations

from steguard.text.model import BlockKind, Kind, Sentence
from steguard.text.wordclass import (
    ADJ,
    ADV,
    BASE,
    BE,
    CONJ,
    DET,
    DO,
    FINITE,
    GET,
    HAVE,
    ING,
    MARK,
    MODAL,
    NOT,
    NOUN,
    NUM,
    PART,
    PAST,
    PREP,
    PRON,
    SUB,
    SUBJ,
    THIRD,
    TO,
    VERB,
    WH,
    classes,
)

PROPER = 1 << 24  # a name: a capital inside a sentence

_FUNCTION = DET | PRON | PREP | CONJ | SUB | MODAL | BE | HAVE | DO | GET | NUM | WH | TO | NOT
_OBJECT = DET | PRON | NUM
_NAMES_A_NOUN = DET | ADJ | NUM
_CODE, _CJK = Kind.CODE, Kind.CJK


def masks(sentence: Sentence) -> list[int]:
    """The possible classes of each token."""
    known = sentence.cache.get("masks")
    if known is None:
        found = list(map(classes, sentence.lowers))
        kinds = [token.kind for token in sentence.tokens]
        if _CODE in kinds or _CJK in kinds:
            for at, kind in enumerate(kinds):
                if kind is _CODE or kind is _CJK:
                    found[at] = NOUN
        sentence.cache["masks"] = known = found
    return known  # type: ignore[return-value]


def tags(sentence: Sentence) -> list[int]:
    """One class for each token (:data:`PROPER` for names)."""
    known = sentence.cache.get("tags")
    if known is None:
        known = _tag(sentence)
        sentence.cache["tags"] = known
    return known  # type: ignore[return-value]


def _tag(sentence: Sentence) -> list[int]:
    possible = masks(sentence)
    tokens = sentence.tokens
    count = len(tokens)
    found: list[int] = []
    before = MARK
    for at in range(count):
        mask = possible[at]
        after = possible[at + 1] if at + 1 < count else MARK
        tag = _choose(mask, before, after, sentence, at) if mask & (mask - 1) else mask
        if (
            at
            and tag & (NOUN | ADJ | VERB)
            and tokens[at].text[0].isupper()
            and (before != MARK or sentence.lowers[at - 1] == ",")
            and tokens[at].kind is Kind.WORD
        ):
            tag = PROPER
        found.append(tag)
        if not tag & (ADV | NOT):
            before = tag
    return found


def _choose(mask: int, before: int, after: int, sentence: Sentence, at: int) -> int:
    if mask & _FUNCTION:
        return _function_word(mask, before, after, sentence.lowers[at])
    starts = before & (MARK | CONJ) != 0
    if mask & BASE and _wants_base(mask, before, after, starts, sentence, at):
        return BASE
    if mask & (PAST | PART):
        tag = _past(mask, before, after)
        if tag:
            return tag
    if mask & THIRD and mask & NOUN:
        return THIRD if _is_third(before, after) else NOUN
    if mask & ADJ and mask & NOUN:
        return ADJ if (after & (NOUN | ADJ) and not after & FINITE) or before & BE else NOUN
    if mask & ADV and mask & (NOUN | ADJ):
        return ADV if after & (ADJ | PART | MARK | PREP) else mask & (ADJ | NOUN)
    for tag in (NOUN, ADJ, ADV, ING, BASE, PART, PAST, THIRD):
        if mask & tag:
            return tag
    return mask & -mask


def _function_word(mask: int, before: int, after: int, word: str) -> int:
    if mask & NOUN and mask & MODAL:  # need
        return MODAL if word == "need" and after & NOT else _need(before, after)
    if word == "that" and before & (NOUN | PROPER | PRON | BASE | THIRD | PAST):
        return SUB
    if mask & DET and mask & PRON:
        return DET if after & (NOUN | ADJ | NUM | PART | ING) and not after & (BE | MODAL) else PRON
    for tag in (BE, HAVE, DO, GET, MODAL, TO, NOT, WH, CONJ, SUBJ, PRON, NUM):
        if mask & tag:
            return PRON if tag == SUBJ else tag
    if mask & PREP and mask & SUB:
        return PREP if after & (DET | ADJ | NUM | NOUN | ING) else SUB
    for tag in (SUB, PREP, DET):
        if mask & tag:
            return tag
    return mask & -mask


def _need(before: int, after: int) -> int:
    return NOUN if before & (DET | ADJ) and not after & TO else BASE


def _wants_base(
    mask: int, before: int, after: int, starts: bool, sentence: Sentence, at: int
) -> bool:
    """Whether a word that can be a verb's base form is one here."""
    if before & (TO | MODAL | DO) or (at and sentence.lowers[at - 1] == "please"):
        return True
    if before & (DET | ADJ | NUM | PREP | HAVE):
        return False
    if not mask & (NOUN | ADJ):
        return True
    if before & PRON:
        return at > 0 and classes(sentence.lowers[at - 1]) & SUBJ != 0
    if starts or (before & SUB and at == 0):
        if after & _OBJECT and not after & (BE | MODAL):
            return True
        if after & (MARK | BE | MODAL | HAVE | THIRD | PAST | PART | CONJ) and not after & (
            ADJ | DET
        ):
            return False
        return _opens(sentence, at)
    return before == NOUN and sentence.lowers[at - 1][-1:] == "s" and bool(after & _OBJECT)


def _opens(sentence: Sentence, at: int) -> bool:
    """Whether this word opens the sentence and no other word in it can be its verb."""
    if at > 8 or any(classes(low) & ~(ADV | MARK) for low in sentence.lowers[:at]):
        return False
    for low in sentence.lowers[at + 1 :]:
        mask = classes(low)
        if mask & (SUB | WH) and not mask & (PREP | DET):
            break
        if mask & (BE | MODAL | HAVE | DO) or (mask & THIRD and not mask & NOUN):
            return False
    return sentence.block.kind not in (BlockKind.HEADING, BlockKind.TABLE_CELL)


def _past(mask: int, before: int, after: int) -> int:
    if before & (BE | HAVE | GET | DET | ADJ | PREP):
        return PART if mask & PART else PAST
    if before & (NOUN | PRON | PROPER):
        if after & _OBJECT or not mask & PART:
            return PAST if mask & PAST else PART
        return PART if after & PREP and mask & PART else (mask & PAST or PART)
    return 0 if mask & (NOUN | ADJ) else (mask & PART or PAST)


def _is_third(before: int, after: int) -> bool:
    if before & (DET | ADJ | PREP | NUM | BASE | MARK | CONJ | TO):
        return False
    if before & (PRON | WH | SUB):
        return True
    return before & (NOUN | PROPER) != 0 and bool(after & (DET | PRON | TO | SUB | ADV))


_LEADS = frozenset(("please", "then", "first", "next"))


def may_command(sentence: Sentence, start: int = 0) -> bool:
    """A cheap look before the tagger: the first word that counts can be a command."""
    lowers = sentence.lowers
    for at in range(start, len(lowers)):
        word = lowers[at]
        mask = classes(word)
        if mask & (BASE | DO | BE | HAVE | GET) or word in ("never", "don’t"):
            return True
        if not (mask & (ADV | NOT | MARK) or word in _LEADS):
            return False
    return False


def imperative_at(sentence: Sentence, start: int = 0) -> int | None:
    """The token of the command verb if the clause from ``start`` is a command, else None."""
    if not may_command(sentence, start):
        return None
    tag = tags(sentence)
    at = start
    while at < len(tag) and (tag[at] & (ADV | NOT | MARK) or sentence.lowers[at] in _LEADS):
        at += 1
    if at >= len(tag):
        return None
    word = sentence.lowers[at]
    if word in ("do", "don't", "don’t", "never") or (
        tag[at] & BASE and word not in ("let's", "let")
    ):
        return at
    return at if word in ("be", "have", "get") and tag[at] & (BE | HAVE | GET) else None
