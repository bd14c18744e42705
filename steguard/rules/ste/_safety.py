"""What the three safety rules share."""

from __future__ import annotations

from steguard.text.inflect import word_set
from steguard.text.model import Sentence
from steguard.text.wordclass import BASE, DET, MODAL, PRON, classes

LABELS = frozenset(["warning", "caution", "danger"])
_CONDITIONS = word_set(
    "if when before after while during until unless whenever in for with to at on only as"
)
_COMMANDS = word_set("do don't never always make be keep please let")
_ADVERBS = word_set("carefully slowly immediately then always never first")


def starts_with_command(sentence: Sentence) -> bool:
    """Whether the sentence starts with a command or a condition."""
    words = [
        token.lower for token in sentence.tokens if token.text[:1].isalnum() or "_" in token.text
    ]
    if words and words[0] in _ADVERBS:
        words = words[1:]
    if not words:
        return True
    first = words[0]
    if first in _CONDITIONS or first in _COMMANDS:
        return True
    mask = classes(first)
    if not mask & BASE or mask & (MODAL | PRON | DET):
        return False
    following = classes(words[1]) if len(words) > 1 else 0
    return not (
        len(words) > 1 and words[1] in ("is", "are", "was", "can", "must", "of", "has")
    ) and (bool(following) or len(words) == 1)
