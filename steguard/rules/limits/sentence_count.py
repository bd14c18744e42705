"""The text has a minimum or a maximum number of sentences.

Finds: a text with fewer sentences than `min` or more sentences than `max`. With `lines: split`
each heading, list item and table cell without a full stop is a sentence of its own, as it is for
all other rules. With `lines: join` such a line belongs to the sentence that follows it; this is
the published meaning of "at least N sentences" in instruction benchmarks, which know no lines.

Why: a program that shows or speaks a message expects a fixed number of sentences.

Example: (max: 1) Open the valve. Wait for 5 seconds.

Instead: Open the valve.

Fix: none. A person or a model decides which sentences are necessary.

Source: steguard's own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from steguard.rules.base import Rule
from steguard.rules.limits._limits import (
    Places,
    Range,
    count_hits,
    range_prompt,
    whole_text,
)
from steguard.text.model import Document
from steguard.types import Hit, Safety, Status


class SentenceCount(Range):
    lines: Literal["split", "join"] = Field(
        "split", description="Whether a line without a full stop is a sentence of its own."
    )


def _find(document: Document, options: SentenceCount) -> Iterable[Hit]:
    places = _joined(document) if options.lines == "join" else _split(document)
    return count_hits(options.bounds, places, document, "sentence")


def _split(document: Document) -> Places:
    return ((sentence.start, sentence.end) for sentence in document.sentences)


def _joined(document: Document) -> Places:
    start = end = -1
    for sentence in document.sentences:
        start = sentence.start if start < 0 else start
        end = sentence.end
        if sentence.ended:
            yield start, end
            start = -1
    if start >= 0:
        yield start, end


RULE = Rule(
    code="LIM102",
    name="sentence-count",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="steguard",
    make=whole_text(_find),
    module=__name__,
    options=SentenceCount,
    languages=frozenset(),
    prompt=range_prompt("sentence"),
)
