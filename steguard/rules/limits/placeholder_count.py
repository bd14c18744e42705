"""The text has a minimum or a maximum number of placeholders in square brackets.

Finds: fewer placeholders than `min` or more placeholders than `max`. A placeholder is a pair of
square brackets on one line, such as `[address]`. Empty brackets and the text of a link count
too: this is the published meaning of the placeholder instruction in benchmarks.

Why: a program puts a value in the place of each placeholder, and a complete text has none.

Example: (max: 0) Send the report to [name].

Instead: Send the report to the shift engineer.

Fix: none. The value is not known.

Source: steguard's own.
"""

from __future__ import annotations

from collections.abc import Iterable

from steguard.rules.base import Rule
from steguard.rules.limits._limits import (
    Places,
    Range,
    count_hits,
    lines_of,
    range_prompt,
    whole_text,
)
from steguard.text.model import Document
from steguard.types import Hit, Safety, Status


def _find(document: Document, options: Range) -> Iterable[Hit]:
    return count_hits(options.bounds, _brackets(document.text), document, "placeholder")


def _brackets(text: str) -> Places:
    for at, line in lines_of(text):
        start = line.find("[")
        while start >= 0 and (end := line.find("]", start)) >= 0:
            yield at + start, at + end + 1
            start = line.find("[", end)


RULE = Rule(
    code="LIM108",
    name="placeholder-count",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="steguard",
    make=whole_text(_find),
    module=__name__,
    options=Range,
    languages=frozenset(),
    prompt=range_prompt(
        "placeholder",
        " in square brackets, such as [name].",
        "Do not write placeholders in square brackets.",
    ),
)
