"""Turns a simple passive sentence with an agent into the active voice."""

from __future__ import annotations

from steguard.text.model import Kind, Sentence
from steguard.text.verbs import past_of, third
from steguard.text.voice import Passive
from steguard.text.wordclass import ADJ, DET, NOUN, NUM, PREP, PRON, SUBJ, classes
from steguard.types import Edit

_TENSES = frozenset(("is", "are", "was", "were"))
_PRONOUNS = {"me": "I", "him": "he", "us": "we", "them": "they", "you": "you", "it": "it"}
_PLURALS = frozenset(["i", "we", "they", "you", "people"])


def active_form(sentence: Sentence, passive: Passive) -> Edit | None:
    """The edit that makes the whole sentence active, where it has no other part.

    The form is: noun phrase, "is/are/was/were", participle, "by", noun phrase, full stop.
    """
    tokens, lowers = sentence.tokens, sentence.lowers
    if passive.agent is None or passive.last != passive.participle or sentence.asides:
        return None
    first, last = passive.agent
    aux = passive.auxiliary
    if lowers[aux] not in _TENSES or passive.participle != aux + 1 or first != passive.last + 2:
        return None
    if last + 1 < len(tokens) and (last + 2 != len(tokens) or tokens[last + 1].text not in ".!"):
        return None
    if not _is_simple(sentence, 0, aux) or not _is_simple(sentence, first, last + 1):
        return None
    offset = sentence.start

    def text(begin: int, end: int) -> str:
        return sentence.text[tokens[begin].start - offset : tokens[end].end - offset]

    subject, agent = text(0, aux - 1), text(first, last)
    if classes(lowers[0]) & DET or (
        subject[1:2].islower() and tokens[0].kind is Kind.WORD and _is_known(lowers[0])
    ):
        subject = subject[0].lower() + subject[1:]
    agent = _PRONOUNS.get(agent.lower(), agent)
    verb = _verb(passive.base, lowers[aux], lowers[last])
    return Edit(
        tokens[0].start,
        tokens[last].end,
        f"{agent[0].upper()}{agent[1:]} {verb} {subject}",
    )


def _is_simple(sentence: Sentence, begin: int, end: int) -> bool:
    """Whether these tokens are one plain noun phrase."""
    if begin >= end or end - begin > 6:
        return False
    for at in range(begin, end):
        token = sentence.tokens[at]
        mask = classes(token.lower)
        if token.kind is Kind.CODE:
            continue
        if mask & SUBJ and at == begin and end - begin == 1:
            return False
        if not mask & (DET | ADJ | NOUN | NUM | PRON) or (mask & PREP and not mask & NOUN):
            return False
    return True


def _is_known(word: str) -> bool:
    return classes(word) & (DET | ADJ) != 0


def _verb(base: str, auxiliary: str, head: str) -> str:
    if auxiliary in ("was", "were"):
        return past_of(base)
    plural = head in _PLURALS or (head.endswith("s") and not head.endswith(("ss", "us", "is")))
    return base if plural or (head in _PRONOUNS and head not in ("him", "it")) else third(base)
