"""Finds instructions that are no commands.

Finds: "you must", "you should", "you need to" and "you have to" before a verb, and in a
numbered step also "the user must ..." ("You should open the file."). Preview: "you must have a
key" states a requirement in a description, and the rule cannot always tell the two apart.

Why: a command is short and says at once that the reader acts.

Example: You should open the file.

Instead: Open the file.

Fix: unsafe, at the start of a sentence: the verb itself opens the sentence.

Source: STE 5.3
"""

from __future__ import annotations

from collections.abc import Iterator

from steguard.rules.base import PerSentence, Rule
from steguard.text.model import BlockKind, Sentence
from steguard.text.pos import masks
from steguard.text.verbs import word_set
from steguard.text.wordclass import ADV, BASE, BE, HAVE, NOT
from steguard.types import Edit, Hit, Safety, Status

_MODALS = frozenset(("must", "should", "shall"))
_WITH_TO = frozenset(("need", "have", "ought"))
_PEOPLE = word_set("user operator technician agent reader person assistant model developer")
_STATES = word_set("be have know understand see own need want like prefer expect")


def _check(sentence: Sentence) -> Iterator[Hit]:
    if sentence.block.kind in (BlockKind.HEADING, BlockKind.TABLE_CELL):
        return
    tokens, lowers = sentence.tokens, sentence.lowers
    start = 0
    if lowers[0] in ("if", "when") and "," in lowers:
        start = lowers.index(",") + 1
    subject = _subject(sentence, start)
    if subject is None:
        return
    verb = _verb(sentence, subject + 1)
    if verb is None or lowers[verb] in _STATES:
        return
    word = tokens[verb].text
    edits: tuple[Edit, ...] = ()
    if verb == subject + 2 or lowers[verb - 1] == "to":
        new = word[0].upper() + word[1:] if start == 0 else word
        edits = (Edit(tokens[start].start, tokens[verb].end, new),)
    yield Hit(
        tokens[start].start,
        tokens[verb].end,
        f"This is an instruction. Write the command '{word}'.",
        word,
        edits,
        Safety.UNSAFE if edits else Safety.NONE,
    )


def _subject(sentence: Sentence, start: int) -> int | None:
    """The last token of "you" or, in a numbered step, of "the user"."""
    lowers = sentence.lowers
    if start < len(lowers) and lowers[start] == "you":
        return start
    if sentence.block.ordered and lowers[start : start + 1] == ["the"]:
        return start + 1 if start + 1 < len(lowers) and lowers[start + 1] in _PEOPLE else None
    return None


def _verb(sentence: Sentence, at: int) -> int | None:
    """The verb after "must", "should", "need to" and the like."""
    lowers, possible = sentence.lowers, masks(sentence)
    if at + 1 >= len(lowers):
        return None
    if lowers[at] in _WITH_TO and lowers[at + 1] == "to":
        at += 1
    elif lowers[at] not in _MODALS:
        return None
    at += 1
    while at < len(lowers) and possible[at] & (ADV | NOT) and not possible[at] & BASE:
        at += 1
    if at >= len(lowers) or not possible[at] & BASE or possible[at] & (BE | HAVE):
        return None
    return at


RULE = Rule(
    code="STE503",
    name="imperative",
    since="0.1",
    status=Status.PREVIEW,
    fix=Safety.UNSAFE,
    source="STE 5.3",
    make=lambda _: PerSentence(_check, _MODALS | _WITH_TO),
    module=__name__,
    prompt=lambda _: "Write each instruction as a command.",
)
