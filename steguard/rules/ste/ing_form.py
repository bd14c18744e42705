"""Finds verbs in -ing that are no part of a name.

Finds: a form in -ing with an object after a preposition or a conjunction ("by turning the
valve", "before opening the file") or a verb ("avoid touching it"), and one that opens a sentence
("Using the tool, open the file."). A name of an activity or thing ("the setting", "machine
learning") and headings are permitted. The progressive tense has a rule of its own.

Why: a form in -ing does not say who acts or when. It can be a verb, a noun or an adjective, and
the reader must find out which.

Example: Stop the pump before opening the valve.

Instead: Stop the pump before you open the valve.

Fix: unsafe, after "before", "after", "when", "while" and "without" in a command only: "before
opening" becomes "before you open".

Source: STE 3.5
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from steguard.rules.base import PerSentence, Rule
from steguard.text.model import BlockKind, Kind, Sentence
from steguard.text.pos import imperative_at, masks
from steguard.text.verbs import gerund, word_set
from steguard.text.wordclass import DET, ING, MARK, NUM, PRON, SUBJ, classes
from steguard.types import Edit, Hit, Safety, Status

_BEFORE = word_set(
    "by before after when while for without of in from on upon through until since if and or than "
    "as with about at into towards against besides despite instead whilst"
)
_VERBS = word_set(
    "avoid avoids start starts started begin begins stop stops continue continues keep keeps "
    "finish finishes consider recommend recommends suggest suggests try"
)
_YOU = frozenset(("before", "after", "when", "while"))
_PREPOSITIONS = word_set(
    "according including regarding concerning following during depending excluding considering "
    "pending barring notwithstanding based starting owing assuming given beginning"
)
_TAKES_CLAUSE = word_set("ensuring checking making verifying showing noting indicating")


def _look(sentence: Sentence) -> Iterable[Hit]:
    text = sentence.text
    return _check(sentence) if "ing" in text or "ING" in text else ()


def _check(sentence: Sentence) -> Iterator[Hit]:
    if sentence.block.kind in (BlockKind.HEADING, BlockKind.TABLE_CELL):
        return
    lowers, tokens = sentence.lowers, sentence.tokens
    command: bool | None = None
    for at, word in enumerate(lowers):
        if not word.endswith("ing") or word in _PREPOSITIONS:
            continue
        if tokens[at].kind is not Kind.WORD or not classes(word) & ING:
            continue
        if not _has_object(sentence, at):
            continue
        base = gerund(word)
        if base is None:
            continue
        before = lowers[at - 1] if at else ""
        opens = at == 0 and sentence.ended and "," in sentence.vocabulary
        if before not in _BEFORE and before not in _VERBS and not opens:
            continue
        if before in ("and", "or") and not _joins_ing(sentence, at):
            continue
        if command is None:
            command = imperative_at(sentence) is not None
        edits: tuple[Edit, ...] = ()
        suggestion = "Write who does the action, with a verb in a simple tense."
        if before in _YOU:
            suggestion = f"you {base}"
            if command:
                edits = (Edit(tokens[at].start, tokens[at].end, suggestion),)
        elif opens:
            suggestion = f"Start with a simple form of '{base}'."
        start = tokens[at - 1].start if at and not opens else tokens[at].start
        yield Hit(
            start,
            tokens[at].end,
            f"'{tokens[at].text}' is a verb in the -ing form.",
            suggestion,
            edits,
            Safety.UNSAFE if edits else Safety.NONE,
        )


def _has_object(sentence: Sentence, at: int) -> bool:
    """Whether an object follows that only a verb can have."""
    if at + 1 >= len(sentence.tokens):
        return False
    following = sentence.tokens[at + 1]
    if following.kind is Kind.CODE:
        return True
    if following.lower == "that":
        return sentence.lowers[at] in _TAKES_CLAUSE
    mask = classes(following.lower)
    if following.kind is Kind.NUMBER or mask & NUM:
        return False
    return (bool(mask & (DET | PRON)) and not mask & SUBJ) or following.lower in ("it", "you")


def _joins_ing(sentence: Sentence, at: int) -> bool:
    """Whether "and" joins this form to one before it: "by opening it and reading the data"."""
    for back in range(at - 2, max(-1, at - 10), -1):
        mask = masks(sentence)[back]
        if mask & MARK:
            return False
        if mask & ING and back and sentence.lowers[back - 1] in _BEFORE:
            return True
    return False


RULE = Rule(
    code="STE305",
    name="ing-form",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.UNSAFE,
    source="STE 3.5",
    make=lambda _: PerSentence(_look, _BEFORE | _VERBS | {","}),
    module=__name__,
)
