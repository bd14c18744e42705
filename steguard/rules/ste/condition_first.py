"""Finds an instruction whose condition stands last.

Finds: a command with "if", "when" or "unless" after it ("Open the valve if the pressure is
high."). "Check if ..." asks a question and is no condition.

Why: the reader does the action before the condition is known. A program that acts on a stream
does the same.

Example: Open the valve if the pressure is high.

Instead: If the pressure is high, open the valve.

Fix: safe where the sentence has only the command and the condition, and the condition has no
pronoun that points to the command. Then the two parts change places.

Source: STE 5.4
"""

from __future__ import annotations

from collections.abc import Iterator

from steguard.rules.base import PerSentence, Rule
from steguard.text.model import BlockKind, Kind, Sentence
from steguard.text.pos import PROPER, imperative_at, masks, tags
from steguard.text.verbs import word_set
from steguard.text.wordclass import (
    BASE,
    BE,
    CONJ,
    DO,
    HAVE,
    MODAL,
    NOUN,
    PAST,
    SUB,
    SUBJ,
    THIRD,
    WH,
)
from steguard.types import Edit, Hit, Safety, Status

_OPENERS = frozenset(("if", "when", "unless"))
_ASKS = word_set(
    "check see ask determine verify know confirm test decide examine find tell notify say show"
    " explain describe report remember note wonder consider clarify let mention specify indicate"
    " sure inform learn identify discover calculate understand recall evaluate assess"
)
_SHORT = word_set("necessary possible needed required applicable available appropriate any not")
_TIMES = word_set("moment time times day point case cases year date situation period example")
_BREAKS = frozenset('":“”;(')
_POINTERS = word_set("it they them its their this that these those he she one")


def _check(sentence: Sentence) -> Iterator[Hit]:
    if sentence.block.kind in (BlockKind.HEADING, BlockKind.TABLE_CELL):
        return
    lowers, tokens = sentence.lowers, sentence.tokens
    opener = next((at for at, word in enumerate(lowers) if word in _OPENERS), None)
    if opener is None or opener < 2 or opener + 1 >= len(lowers):
        return
    command = imperative_at(sentence)
    if command is None or command > 2 or not _is_condition(sentence, command, opener):
        return
    edits = _swap(sentence, command, opener)
    last = opener + 1 if lowers[opener + 1] in _SHORT else _clause_end(sentence, opener)
    start, end = tokens[opener].start, tokens[last].end
    clause = sentence.text[start - sentence.start : end - sentence.start]
    yield Hit(
        start,
        end,
        f"The condition '{clause}' stands after the instruction. Write the condition first.",
        f"{clause[0].upper()}{clause[1:]}, ...",
        edits,
        Safety.SAFE if edits else Safety.NONE,
    )


def _clause_end(sentence: Sentence, opener: int) -> int:
    """The last token of the condition: before the next comma or at the end."""
    last = _last(sentence)
    comma = next((at for at in range(opener, last) if sentence.lowers[at] == ","), last + 1)
    return max(opener + 1, comma - 1)


def _last(sentence: Sentence) -> int:
    """The last token before the full stop."""
    at = len(sentence.tokens) - 1
    while at and sentence.tokens[at].text in ".!?:;":
        at -= 1
    return at


def _is_condition(sentence: Sentence, command: int, opener: int) -> bool:
    """Whether the clause at ``opener`` says when to do the command."""
    lowers, possible, tag = sentence.lowers, masks(sentence), tags(sentence)
    before = lowers[opener - 1]
    if before in ("and", "or", "as", "even", "only", "but", "than", ":", "(", "-", "–", "—"):
        return False
    if lowers[opener] == "when" and before in _TIMES:
        return False
    if any(lowers[at] in _ASKS and tag[at] & ~(NOUN | PROPER) for at in range(command, opener)):
        return False
    if any(lowers[at] in _BREAKS for at in range(command, opener)):
        return False
    if any(tag[at] & (MODAL | SUBJ) or possible[at] & WH for at in range(command, opener)):
        return False
    after = lowers[opener + 1] if opener + 1 < len(lowers) else ""
    if lowers[opener] == "if" and after in _SHORT:
        return True
    return any(
        mask & (BE | MODAL | HAVE | DO | THIRD | PAST | BASE) for mask in possible[opener + 2 :]
    )


def _swap(sentence: Sentence, command: int, opener: int) -> tuple[Edit, ...]:
    """The edit that puts the condition first, where nothing else is in the sentence."""
    lowers, possible, tokens = sentence.lowers, masks(sentence), sentence.tokens
    last = _last(sentence)
    if not sentence.ended or tokens[-1].text != "." or last != len(tokens) - 2 or sentence.asides:
        return ()
    if command or tokens[0].kind is not Kind.WORD or not tokens[0].text[1:].islower():
        return ()
    if any(word in _POINTERS for word in lowers[opener + 1 :]):
        return ()
    stop = opener - 1 if lowers[opener - 1] == "," else opener
    for at in [*range(command + 1, stop), *range(opener + 1, last + 1)]:
        mask = possible[at]
        if lowers[at] in (",", ";", ":", "-", "–", "—", "(", ")") or mask & CONJ or mask & WH:
            return ()
        if mask & SUB and at < stop and not mask & NOUN and lowers[at] not in ("as", "before"):
            return ()
    offset = sentence.start
    text = sentence.text
    main = text[tokens[0].start - offset : tokens[stop - 1].end - offset]
    clause = text[tokens[opener].start - offset : tokens[last].end - offset]
    new = f"{clause[0].upper()}{clause[1:]}, {main[0].lower()}{main[1:]}"
    return (Edit(tokens[0].start, tokens[last].end, new),)


RULE = Rule(
    code="STE504",
    name="condition-first",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.SAFE,
    source="STE 5.4",
    make=lambda _: PerSentence(_check, _OPENERS),
    module=__name__,
    prompt=lambda _: "Write the condition before the instruction.",
)
