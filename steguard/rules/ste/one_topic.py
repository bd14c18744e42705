"""Finds sentences with more than one topic.

Finds: a sentence in a paragraph with more than `max_clauses` clauses that have a subject and a
verb of their own. Preview: the rule counts clauses and cannot see what they are about.

Why: a reader keeps one fact in mind at a time, and a program can check one claim at a time.

Example: The pump stops, the valve opens, and the lamp comes on because the tank is full.

Instead: The tank is full. Thus the pump stops. The valve opens, and the lamp comes on.

Fix: none, because only the writer knows which facts belong together.

Source: STE 4.1
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pydantic import Field

from steguard.rules.base import Options, PerSentence, Rule
from steguard.text.model import BlockKind, Sentence
from steguard.text.pos import tags
from steguard.text.wordclass import BE, CONJ, DO, HAVE, MARK, MODAL, PAST, SUB, THIRD, WH
from steguard.types import Hit, Safety, Status

_TRIGGERS = frozenset(("and", "but", "because", "which", "that", "while", "so", ",", ";", "when"))


class OneTopicOptions(Options):
    """``max_clauses``: clauses with a verb that one sentence can have."""

    max_clauses: int = Field(3, ge=1, le=10)


def _check(sentence: Sentence, options: OneTopicOptions) -> Iterator[Hit]:
    if sentence.block.kind not in (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM):
        return
    if len(sentence.tokens) < 10:
        return
    clauses, open_clause = 0, True
    for tag in tags(sentence):
        if tag & (CONJ | SUB | WH | MARK):
            open_clause = True
        elif open_clause and tag & (BE | MODAL | HAVE | DO | THIRD | PAST):
            clauses += 1
            open_clause = False
    if clauses > options.max_clauses:
        yield Hit(
            sentence.start,
            sentence.end,
            f"The sentence has {clauses} clauses. Write one topic in each sentence.",
            "Divide the sentence.",
        )


def _make(options: OneTopicOptions) -> PerSentence:
    return PerSentence(partial(_check, options=options), _TRIGGERS)


RULE = Rule(
    code="STE401",
    name="one-topic",
    since="0.1",
    status=Status.PREVIEW,
    fix=Safety.NONE,
    source="STE 4.1",
    make=_make,
    module=__name__,
    options=OneTopicOptions,
    prompt=lambda _: "Write about one topic in each sentence.",
)
