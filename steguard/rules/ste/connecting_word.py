"""Finds paragraphs whose sentences nothing connects.

Finds: a paragraph with `min_sentences` sentences or more in which no sentence after the first
opens with a connecting word ("then", "thus", "but", "if") or takes up the topic with "this",
"the" or a pronoun. Preview: a repeated noun connects too, and the rule sees only words.

Why: a connecting word shows how two facts belong together.

Example: Tank pressure drops. Pumps stop. Lamps flash. Operators wait.

Instead: The tank pressure drops. Thus the pumps stop. Then the lamps flash.

Fix: none, because only the writer knows the connection.

Source: STE 4.4
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from pydantic import Field

from steguard.rules.base import Options, PerDocument, Rule
from steguard.text.model import BlockKind, Document, Sentence
from steguard.text.pos import imperative_at
from steguard.text.verbs import word_set
from steguard.types import Hit, Safety, Status

_CONNECT = word_set(
    "then thus therefore but and if when because also as after before next first second third"
    " finally last so however while although for during until to in at this that these those the"
    " it they he she its their his her such both each another otherwise instead unless"
)


class ConnectingWordOptions(Options):
    """``min_sentences``: a shorter paragraph needs no connecting word."""

    min_sentences: int = Field(4, ge=2, le=50)


def _check(document: Document, options: ConnectingWordOptions) -> Iterator[Hit]:
    paragraphs = [s for s in document.sentences if s.block.kind is BlockKind.PARAGRAPH]
    for _, group in groupby(paragraphs, key=lambda sentence: sentence.block.index):
        sentences = list(group)
        if len(sentences) >= options.min_sentences and _is_loose(sentences):
            yield Hit(
                sentences[0].start,
                sentences[-1].end,
                "No word connects the sentences of this paragraph.",
                "Start a sentence with 'then', 'thus' or 'but'.",
            )


def _is_loose(sentences: Iterable[Sentence]) -> bool:
    rest = [s for s in sentences if s.lowers][1:]
    commands = sum(imperative_at(s) is not None for s in rest)
    return commands * 2 <= len(rest) and not any(s.lowers[0] in _CONNECT for s in rest)


def _make(options: ConnectingWordOptions) -> PerDocument:
    return PerDocument(lambda document: _check(document, options))


RULE = Rule(
    code="STE404",
    name="connecting-word",
    since="0.1",
    status=Status.PREVIEW,
    fix=Safety.NONE,
    source="STE 4.4",
    make=_make,
    module=__name__,
    options=ConnectingWordOptions,
)
