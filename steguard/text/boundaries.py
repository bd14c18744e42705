"""Whether a sentence ends at a stop: the stop, the word before it and the next chunk decide."""

from __future__ import annotations

from steguard.text.chunks import (
    ADDRESS,
    CLOSING,
    CLOSINGS,
    FACE,
    SOFT_MARKS,
    STAMP,
    STAMPED,
    Stop,
)
from steguard.text.lexicon import (
    ABBREVIATIONS,
    AFTER_TIMES,
    COMPANY,
    GENERAL,
    MONTHS,
    NEVER_LAST,
    NUMBERED,
    PLACES,
    PREPOSITIONS,
    STARTERS,
    TIME_UNITS,
    TITLES,
    UNITS_WITH_STOP,
)
from steguard.text.model import Kind, Token
from steguard.text.tokens import CJK_STOPS

LEAD = "\"'“”‘«([{*_~¿¡`<‹「『（【"
_WORD_END = ".,;:!?\"'”’)]}…*_"
_SHORT = frozenset("it me us up to so do go be we he my".split())
_SOFT_ABBREVIATIONS = COMPANY | PLACES | MONTHS | GENERAL


def ends(stop: Stop, tokens: list[Token], following: str) -> bool:
    """Whether the sentence of ``tokens``, which closes with ``stop``, ends before ``following``."""
    mark = stop.mark
    if mark[0] in CJK_STOPS or mark[0] == "．":
        return True
    head = following.lstrip(LEAD)
    if not head:
        return mark[0] not in SOFT_MARKS and _before_mark(stop, following)
    first = head[0]
    if mark[0] in SOFT_MARKS:
        if mark == ADDRESS and head.startswith(("http://", "https://", "www.")):
            return True
        if stop.word == "<":
            return first.isupper() or first.isdigit()
        return first.isupper() and _after_soft(mark, head)
    if first.islower():
        return _before_lower(stop)
    if not first.isalnum():
        return _before_mark(stop, head)
    if mark[0] != "." or "!" in mark or "?" in mark:
        return mark[0] != "…" or _after_ellipsis(stop, head)
    if len(mark) > 1:
        return _after_ellipsis(stop, head)
    if following[0] == "(" and (stop.dotted or stop.lower in ABBREVIATIONS):
        return False
    return _after_full_stop(stop, tokens, head)


def _after_soft(mark: str, head: str) -> bool:
    """A capital comes after an emoticon, an emoji, an address, a time or a closing phrase."""
    if mark in (FACE, CLOSING):
        return True
    word = head.rstrip(_WORD_END)
    if mark == STAMP:
        return not (word.isupper() and 2 <= len(word) <= 4)
    return _word(head) in STARTERS


def soft_mark(text: str, tokens: list[Token]) -> str | None:
    """The mark of a chunk after which a sentence may begin although no stop stands there."""
    if text in STAMPED:
        last = tokens[-2:]
        if len(last) == 2 and last[0].text.count("/") == 2 and ":" in last[1].text:
            return STAMP
    elif text.lower() in CLOSINGS and len(tokens) <= 3:
        return CLOSING
    return None


def _word(head: str) -> str:
    return head.rstrip(_WORD_END).replace("’", "'").lower()


def _before_lower(stop: Stop) -> bool:
    """Careless writers begin sentences small; abbreviations and names that cry do so too."""
    mark = stop.mark
    if stop.quote or stop.bracket or not stop.lower or mark[0] == "…":
        return False
    if "?" in mark:
        return True
    if "!" in mark:
        return len(mark) > 1 or stop.word.islower()
    return (
        len(mark) == 1
        and not stop.dotted
        and stop.lower not in ABBREVIATIONS
        and (len(stop.lower) > 2 or stop.lower in _SHORT)
        and (stop.word.islower() or not stop.word.isalpha())
    )


def _before_mark(stop: Stop, following: str) -> bool:
    """The next chunk is a mark without a word: only bullets and dashes begin something."""
    if following[0] in "&,;:/+=%|)]}":
        return False
    return not stop.dotted and stop.lower not in ABBREVIATIONS and len(stop.lower) != 1


def _after_ellipsis(stop: Stop, head: str) -> bool:
    """Dots at a word end it; three dots on their own are a pause that may go on with "I"."""
    if stop.word or len(stop.mark) > 3:
        return True
    word = _word(head)
    return word in STARTERS and word != "i" and not word.startswith("i'")


def _after_full_stop(stop: Stop, tokens: list[Token], head: str) -> bool:
    if stop.quote or stop.bracket:
        return not _is_marker(stop, tokens)
    lower = stop.lower
    if lower in TIME_UNITS:
        return head[0].isupper() and not _only_opening(tokens) and _word(head) not in AFTER_TIMES
    if stop.dotted:
        return lower not in NEVER_LAST and _word(head) in STARTERS
    if not lower:
        return len(tokens) > 1
    if lower in NEVER_LAST and (len(lower) > 1 or stop.word == "v"):
        return False
    if len(lower) == 1:
        return _after_letter(stop, tokens, head)
    if lower.isdigit():
        return not _is_marker(stop, tokens)
    if lower in TITLES:
        return lower in ("st", "ft", "mt") and _word(head) in STARTERS
    if lower in NUMBERED:
        return not _is_reference(head) and (stop.word.islower() or lower == "no")
    if lower in UNITS_WITH_STOP:
        return head[0].isupper() and len(_word(head)) > 1
    if lower in _SOFT_ABBREVIATIONS:
        return _word(head) in STARTERS or (lower == "etc" and head[0].isupper())
    return True


def _is_reference(head: str) -> bool:
    """A number, a single letter or a Roman numeral follows ``Fig.`` or ``No.``."""
    word = head.rstrip(_WORD_END)
    return head[0].isdigit() or len(word) == 1 or all(c in "IVXLC" for c in word)


def _after_letter(stop: Stop, tokens: list[Token], head: str) -> bool:
    """An initial goes on (``D. Novak``); a label or "I" may end the sentence."""
    if stop.word.isdigit():
        return not _is_marker(stop, tokens)
    if not stop.word.isupper() and stop.lower in NUMBERED and _is_reference(head):
        return False
    if _is_marker(stop, tokens):
        return False
    if not stop.word.isalpha():
        return True
    word = _word(head)
    if stop.word == "I":
        before = tokens[-3].text if len(tokens) > 2 else ""
        return word in STARTERS and not before[:1].isupper()
    if stop.word.islower():
        return True
    return word in STARTERS and len(word) > 1


def _is_marker(stop: Stop, tokens: list[Token]) -> bool:
    """Whether the stop belongs to a step number at the start (``1. Open``, ``Step 2. Open``)."""
    if tokens[0].lower == "step" and len(tokens) == 3:
        return stop.lower.isdigit()
    return sum(token.kind is not Kind.PUNCT for token in tokens[:4]) == 1 and (
        stop.lower.isdigit() or len(stop.lower) == 1
    )


def _only_opening(tokens: list[Token]) -> bool:
    """Only "At 5 a.m." so far: no sentence yet."""
    return len(tokens) <= 4 and tokens[0].lower in PREPOSITIONS
