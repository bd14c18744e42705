"""Finds instructions in notes.

Finds: a command in a block with the label "Note" ("Note: Close the valve first."). A request to
the other side of a conversation that follows the note ("Please send the file.") is no step.

Why: a reader may skip a note. A note gives information, and an instruction belongs to a step.

Example: Note: Close the valve before the test.

Instead: Make the instruction a step. Or write: Note: The test needs a closed valve.

Fix: none, because only the writer knows which step it belongs to.

Source: STE 5.5
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from steguard.rules.base import PerSentence, Rule
from steguard.text.model import Sentence
from steguard.text.pos import imperative_at, masks, tags
from steguard.text.wordclass import BE, DO, HAVE, MARK, MODAL, NOUN, SUB, SUBJ
from steguard.types import Hit, Safety, Status

_INFORMS = frozenset(("refer", "see", "note", "remember"))


def _look(sentence: Sentence) -> Iterable[Hit]:
    return _check(sentence) if sentence.block.label == "note" else ()


def _check(sentence: Sentence) -> Iterator[Hit]:
    start = _after_label(sentence)
    command = imperative_at(sentence, start)
    if command is None or sentence.lowers[command] in _INFORMS:
        return
    if sentence.index and "please" in sentence.lowers[start:command]:
        return
    if _is_subject(sentence, command):
        return
    token = sentence.tokens[command]
    yield Hit(
        token.start,
        token.end,
        f"The note gives the instruction '{token.text}'. A note gives only information.",
        "Move the instruction to a step.",
    )


def _after_label(sentence: Sentence) -> int:
    """The first token of the sentence itself, after "Note:" and a condition."""
    lowers = sentence.lowers
    start = 0
    if lowers and lowers[0] in ("note", "notes"):
        start = 2 if len(lowers) > 1 and lowers[1] in (":", "-", "–", "—") else 1
    possible = masks(sentence)
    if start < len(lowers) and possible[start] & SUB and "," in lowers:
        return lowers.index(",") + 1
    return start


def _is_subject(sentence: Sentence, command: int) -> bool:
    """Whether a finite verb shows that the first word is a noun."""
    possible, tag = masks(sentence), tags(sentence)
    if not possible[command] & NOUN:
        return False
    for at in range(command + 1, len(tag)):
        if possible[at] & (SUB | SUBJ | MARK):
            return False
        if tag[at] & (BE | MODAL | HAVE | DO):
            return True
    return False


RULE = Rule(
    code="STE505",
    name="note-instruction",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="STE 5.5",
    make=lambda _: PerSentence(_look),
    module=__name__,
)
