"""The text has a minimum or a maximum number of paragraphs.

Finds: a text with fewer paragraphs than `min` or more paragraphs than `max`. `divider` says what
stands between two paragraphs: `blank-line`, or a text such as `***`. A divider at the start or
at the end of the text makes no paragraph. Two dividers with nothing between them are a fault, as
in the published meaning of the paragraph instruction with the divider `***`.

Why: a program cuts the answer at the divider and reads each part.

Example: (max: 1, divider: "***") The first part. *** The second part.

Instead: The only part.

Fix: none. A person or a model decides which paragraphs are necessary.

Source: steguard's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pydantic import Field

from steguard.rules.base import Rule
from steguard.rules.limits._limits import (
    Range,
    count_hits,
    parts_of,
    visible,
    wanted,
    whole_text,
)
from steguard.text.model import Document
from steguard.types import Hit, Safety, Status

_BLANK_LINE = "blank-line"


class ParagraphCount(Range):
    divider: str = Field(
        _BLANK_LINE, min_length=1, description="`blank-line` or the text between paragraphs."
    )


def _find(document: Document, options: ParagraphCount) -> Iterable[Hit]:
    if options.bounds == (None, None):
        return
    text = document.text
    if options.divider == _BLANK_LINE:
        parts = [part.span() for part in re.finditer(r"\S[^\n]*(?:\n[^\n]*\S[^\n]*)*", text)]
    else:
        parts = list(parts_of(text, options.divider))
        for start, end in parts[1:-1]:
            if not text[start:end].strip():
                yield Hit(
                    start - len(options.divider),
                    end + len(options.divider),
                    f"There is no paragraph between two dividers '{options.divider}'.",
                    "Write a paragraph or remove one divider.",
                )
    full = [_visible(text, part) for part in parts if text[slice(*part)].strip()]
    yield from count_hits(options.bounds, full, document, "paragraph")


def _visible(text: str, part: tuple[int, int]) -> tuple[int, int]:
    start, end = visible(text[slice(*part)])
    return part[0] + start, part[0] + end


def _prompt(options: ParagraphCount) -> str | None:
    if options.bounds == (None, None):
        return None
    between = "a blank line" if options.divider == _BLANK_LINE else f"'{options.divider}'"
    return f"Write {wanted(options.bounds, 'paragraph')} with {between} between paragraphs."


RULE = Rule(
    code="LIM103",
    name="paragraph-count",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="steguard",
    make=whole_text(_find),
    module=__name__,
    options=ParagraphCount,
    languages=frozenset(),
    prompt=_prompt,
)
