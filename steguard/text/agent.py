"""Who acts in a passive: the noun phrase after "by".

A time ("by noon"), a measure ("by 5 mm"), a manner ("by hand", "by turning it") is no agent.
"""

from __future__ import annotations

from steguard.text.model import Kind, Sentence
from steguard.text.verbs import word_set
from steguard.text.wordclass import (
    ADJ,
    ADV,
    BASE,
    CONJ,
    DET,
    FINITE,
    ING,
    MARK,
    MODAL,
    NOUN,
    NUM,
    PART,
    PREP,
    PRON,
    SUB,
    SUBJ,
    WH,
    classes,
)

QUOTES = frozenset("\"'“”‘’`*_(")

_NEVER = word_set(
    "itself then now noon midnight today tomorrow tonight yesterday how what when which whom far "
    "up to only early late mid least"
)
_ABOUT = frozenset(("about", "almost", "nearly", "around", "over", "at", "both", "either"))
_MANNERS = word_set(
    "hand mail email e-mail post phone telephone fax car train bus air sea land boat plane ship "
    "taxi bike foot default law mistake accident design means way virtue reason contrast name "
    "heart chance definition nature proxy weight volume percent night day morning evening dint "
    "extension implication turns turn degrees rote ear sight check cheque cash card credit invoice "
    "letter text wire cable rail road water type category size age date order year month alphabet "
    "region country state location appointment request lot invitation storm surprise force "
    "consensus agreement step halves popularity default"
)
_TIMES = word_set(
    "monday tuesday wednesday thursday friday saturday sunday january february march april june "
    "july august september october november december"
)
_NO_AGENT_HEADS = _TIMES | word_set(
    "end beginning time deadline start day date week month year hour minute morning evening "
    "middle close factor margin means way amount percentage percent half third quarter dozen "
    "method process use order mean turn accounts demand book standards definition"
)
_ALONE = _MANNERS | _NO_AGENT_HEADS
_UNITS = word_set(
    "% percent mm cm m km kg g lb lbs ms s sec seconds minutes hours days weeks months years year "
    "points degrees dollars pounds euros times inches feet miles meters metres am pm a.m. p.m. "
    "million billion thousand points basis per cents pages lines bytes kb mb gb o'clock ° to"
)


def agent_of(sentence: Sentence, last: int) -> tuple[int, int] | None:
    """Who acts: the noun phrase after the "by" of the participle at ``last``."""
    lowers = sentence.lowers
    for at in range(last + 1, min(len(lowers), last + 14)):
        word = lowers[at]
        if word == "by":
            agent = noun_phrase_after_by(sentence, at)
            if agent:
                return agent
            continue
        mask = classes(word)
        if mask & (SUB | WH | FINITE) and not mask & (NOUN | PREP | DET | ADV):
            return None
        if mask & MARK and word not in QUOTES and word not in (")", "%", "$", "/"):
            return None
        if mask & CONJ and at + 1 < len(lowers) and classes(lowers[at + 1]) & (SUBJ | FINITE):
            return None
        if (
            at > last + 1
            and at + 1 < len(lowers)
            and lowers[at + 1] == "by"
            and mask & (PART | ING)
        ):
            return None
    return None


def noun_phrase_after_by(sentence: Sentence, by: int) -> tuple[int, int] | None:
    """The noun phrase after "by", or None where it is a time, a measure or a manner."""
    lowers, tokens = sentence.lowers, sentence.tokens
    count = len(lowers)
    first = by + 1
    while first < count and (lowers[first] in QUOTES or lowers[first] in _ABOUT):
        first += 1
    if first >= count or lowers[first] in _NEVER:
        return None
    mask = classes(lowers[first])
    if tokens[first].kind is Kind.NUMBER or lowers[first] == "$":
        if first + 1 >= count or not classes(lowers[first + 1]) & NOUN:
            return None
        if lowers[first + 1] in _UNITS:
            return None
    if mask & ING and not mask & NOUN and tokens[first].text.islower():
        return None
    if mask & MARK or (mask & PREP and not mask & (NOUN | DET | PRON)):
        return None
    if not (mask & (DET | NOUN | PRON | ADJ | NUM | PART | ADV | ING | BASE | MODAL)):
        return None
    last = first
    head = -1
    while last < count:
        token = tokens[last]
        mask = classes(token.lower)
        after_article = last > first and classes(lowers[last - 1]) & DET
        if last > first and (mask & WH or token.lower == "that"):
            break
        if (
            token.kind is Kind.CODE
            or mask & (NOUN | PRON)
            or token.text[:1].isupper()
            or (mask & ING and after_article)
        ):
            head = last
        elif (token.lower in QUOTES and token.lower != "(") or (mask & PREP and after_article):
            pass
        elif not mask & (DET | ADJ | NUM | PART | ADV | ING) or mask & (MARK | CONJ | SUB | PREP):
            break
        last += 1
    if head < 0 or (head == first and lowers[head] in _ALONE):
        return None
    if lowers[head] in _NO_AGENT_HEADS and head - first < 3:
        return None
    return first, head
