"""The text has a minimum or a maximum number of sections with a given heading word.

Finds: fewer sections than `min` or more sections than `max`. A section starts where the
`splitter` word stands before a number (`Section 1`), with no more than one white space character
between them. Upper and lower case are different. A mention in a sentence counts too: this is the
published meaning of the section instruction in benchmarks. With `line_start: true` the section
word must open its line; the marks `#`, `*` and `_` can stand before it.

Why: a program that looks for the heading word finds the parts of the answer.

Example: (splitter: SECTION, min: 2) SECTION 1: Start the pump.

Instead: SECTION 1: Start the pump. SECTION 2: Stop the pump.

Fix: none. The content of a missing section is not known.

Source: steguard's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Self

from pydantic import Field, model_validator

from steguard.rules.base import Rule
from steguard.rules.limits._limits import Range, count_hits, wanted, whole_text
from steguard.text.model import Document
from steguard.types import Hit, Safety, Status


class SectionCount(Range):
    splitter: str | None = Field(
        None, min_length=1, description="The word that stands before the number of a section."
    )
    line_start: bool = Field(False, description="Only a word that opens its line counts.")

    @model_validator(mode="after")
    def _splitter_given(self) -> Self:
        if self.bounds != (None, None) and self.splitter is None:
            raise ValueError("a limit of sections needs a splitter word")
        return self


def _find(document: Document, options: SectionCount) -> Iterable[Hit]:
    if options.splitter is None:
        return ()
    head = r"^[#*_ \t]*" if options.line_start else ""
    pattern = re.compile(rf"{head}({re.escape(options.splitter.strip())}\s?\d+)", re.MULTILINE)
    places = (found.span(1) for found in pattern.finditer(document.text))
    return count_hits(options.bounds, places, document, "section")


def _prompt(options: SectionCount) -> str | None:
    if options.splitter is None or options.bounds == (None, None):
        return None
    sections = wanted(options.bounds, "section")
    return f"Write {sections} and start each section with '{options.splitter} 1', '2' and so on."


RULE = Rule(
    code="LIM106",
    name="section-count",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="steguard",
    make=whole_text(_find),
    module=__name__,
    options=SectionCount,
    languages=frozenset(),
    prompt=_prompt,
)
