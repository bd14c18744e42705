"""A semicolon.

Finds: A semicolon in a sentence or at the end of a list item. A semicolon in code, in an HTML
entity and in quotes is not meant.

Why: A semicolon joins two sentences. STE writes two sentences, or a vertical list.

Example: ``Open the valve; close the drain.``

Instead: ``Open the valve. Close the drain.``

Fix: Safe where both halves are full sentences, and at the end of a list item. Unsafe where a half
has no verb or the semicolons separate the items of a list.

Source: STE 8.1.
"""

from __future__ import annotations

from collections.abc import Iterator

from steguard.rules._words import DETERMINERS, in_quotes
from steguard.rules.base import PerSentence, Rule
from steguard.text.inflect import word_set
from steguard.text.model import BlockKind, Kind, Sentence, Token
from steguard.text.wordclass import (
    BASE,
    BE,
    DO,
    HAVE,
    MODAL,
    NOUN,
    PAST,
    PRON,
    SUBJ,
    THIRD,
    classes,
)
from steguard.types import Edit, Hit, Safety, Status

_TRIGGERS = frozenset([";", "；"])
_SUBORDINATE = word_set("which who whose and or but that if when because while although")
_FINITE = THIRD | PAST | MODAL | BE | HAVE | DO


def _hits(sentence: Sentence) -> Iterator[Hit]:
    tokens = sentence.tokens
    places = [i for i, token in enumerate(tokens) if token.text in _TRIGGERS]
    inside = _in_parentheses(tokens)
    listed = len(places) > 1
    for number, at in enumerate(places):
        if tokens[at].kind is not Kind.PUNCT or in_quotes(sentence, at):
            continue
        first = places[number - 1] + 1 if number else 0
        last = places[number + 1] if number + 1 < len(places) else len(tokens)
        edits, safety = _split(sentence, first, at, last, listed=listed)
        if at in inside:
            edits, safety = (), Safety.NONE
        yield Hit(
            tokens[at].start,
            tokens[at].end,
            "Do not use a semicolon. Write two sentences or a vertical list.",
            "Write two sentences or a vertical list.",
            edits,
            safety,
        )


def _split(
    sentence: Sentence, first: int, at: int, last: int, *, listed: bool
) -> tuple[tuple[Edit, ...], Safety]:
    tokens = sentence.tokens
    mark = tokens[at]
    if at + 1 >= len(tokens):
        if sentence.block.kind is BlockKind.LIST_ITEM:
            return (Edit(mark.start, mark.end, "."),), Safety.SAFE
        return (), Safety.NONE
    head = tokens[at + 1]
    if head.kind is not Kind.WORD:
        return (), Safety.NONE
    letter = head.text[0].upper()
    edits = (
        Edit(mark.start, mark.end, "."),
        *((Edit(head.start, head.start + 1, letter),) if letter != head.text[0] else ()),
    )
    whole = _is_clause(tokens[first:at]) and _is_clause(tokens[at + 1 : last])
    safe = whole and not listed and head.lower not in _SUBORDINATE
    return edits, Safety.SAFE if safe else Safety.UNSAFE


def _in_parentheses(tokens: list[Token]) -> set[int]:
    """The semicolons that stand in parentheses."""
    depth = 0
    inside = set()
    for index, token in enumerate(tokens):
        depth += (token.text in "([（") - (token.text in ")]）")
        if depth > 0 and token.text in _TRIGGERS:
            inside.add(index)
    return inside


def _is_clause(tokens: list[Token]) -> bool:
    """A subject with a finite verb, or an imperative at the start."""
    words = [token.lower for token in tokens if token.kind is not Kind.PUNCT]
    if len(words) < 2 or words[0] in _SUBORDINATE:
        return False
    masks = [classes(word) for word in words]
    start = 1 if words[0] in ("then", "also", "please", "always", "never", "however", "next") else 0
    if start < len(masks) and masks[start] & BASE and not masks[start] & (MODAL | NOUN):
        return True
    for index, mask in enumerate(masks):
        if not index or not mask & _FINITE:
            continue
        subject = masks[index - 1]
        if mask & (MODAL | BE | HAVE | DO):
            return True
        if subject & (PRON | SUBJ) or (subject & NOUN and not mask & NOUN and mask & THIRD):
            return True
    if len(words) > start + 1 and masks[start] & BASE:
        return words[start + 1] in DETERMINERS
    return False


RULE = Rule(
    code="STE801",
    name="semicolon",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.SAFE,
    source="STE 8.1",
    make=lambda options: PerSentence(_hits, _TRIGGERS),  # noqa: ARG005 - no options
    module=__name__,
    prompt=lambda options: "Do not use semicolons.",  # noqa: ARG005 - no options
)
