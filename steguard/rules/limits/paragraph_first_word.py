"""One paragraph starts with a given word.

Finds: a text whose paragraph number `paragraph` does not start with `word`, and a text that does
not have exactly `paragraphs` paragraphs, where that number is given. Two line feeds divide
paragraphs, so four of them leave an empty paragraph. Case has no effect; the word ends at white
space or at one of `. , ? ! ' "`, and quotation marks before it have no effect. This is the
published meaning of the first word instruction in benchmarks.

Why: a program finds the paragraph by its first word.

Example: (paragraph: 1, word: result) The pump is on.

Instead: Result: the pump is on.

Fix: none. The sentence must change with its first word.

Source: steguard's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Self

from pydantic import Field, model_validator

from steguard.rules.base import Options, Rule
from steguard.rules.limits._limits import count_hits, missing, parts_of, whole_text
from steguard.text.model import Document
from steguard.types import Hit, Safety, Status

_DIVIDER = "\n\n"
_FIRST = re.compile(r"\s*(\S+)")


class ParagraphFirstWord(Options):
    word: str | None = Field(None, min_length=1, description="The first word of the paragraph.")
    paragraph: int = Field(1, ge=1, description="The number of the paragraph, from 1.")
    paragraphs: int | None = Field(None, ge=1, description="The exact number of paragraphs.")

    @model_validator(mode="after")
    def _reachable(self) -> Self:
        if self.paragraphs is not None and self.paragraph > self.paragraphs:
            raise ValueError(
                f"paragraph ({self.paragraph}) is more than paragraphs ({self.paragraphs})"
            )
        return self


def _find(document: Document, options: ParagraphFirstWord) -> Iterable[Hit]:
    if options.word is None:
        return
    text = document.text
    parts = list(parts_of(text, _DIVIDER))
    full = [part for part in parts if text[slice(*part)].strip()]
    if options.paragraphs is not None:
        bounds = (options.paragraphs, options.paragraphs)
        yield from count_hits(bounds, full, document, "paragraph")
    word = options.word.strip()
    message = f"Paragraph {options.paragraph} does not start with '{word}'."
    suggestion = f"Start paragraph {options.paragraph} with '{word}'."
    if options.paragraph > len(full):
        yield missing(document, message, suggestion)
        return
    start, end = parts[options.paragraph - 1]
    found = _FIRST.match(text, start, end)
    if found is None:
        yield Hit(start, start, message, suggestion)
    elif _bare(found.group(1)) != word.lower():
        yield Hit(*found.span(1), message, suggestion)


def _bare(word: str) -> str:
    return re.split(r"""[.,?!'"]""", word.lstrip("'").lstrip('"').lower(), maxsplit=1)[0]


def _prompt(options: ParagraphFirstWord) -> str | None:
    if options.word is None:
        return None
    return f"Start paragraph {options.paragraph} with the word '{options.word.strip()}'."


RULE = Rule(
    code="LIM137",
    name="paragraph-first-word",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="steguard",
    make=whole_text(_find),
    module=__name__,
    options=ParagraphFirstWord,
    languages=frozenset(),
    prompt=_prompt,
)
