"""The text has a title.

Finds: a text without a title in the given `form`: `angle` is text between double angle brackets
on one line (`<<Pump report>>`), `heading` is a Markdown heading, `any` is one of the two.
Brackets with only blanks are no title. The form `angle` has the published meaning of the title
instruction in benchmarks.

Why: a program reads the title and shows it in a list.

Example: (form: angle) The pump is on.

Instead: <<Pump report>> The pump is on.

Fix: none. The title is not known.

Source: steguard's own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from steguard.rules.base import Options, Rule
from steguard.rules.limits._limits import lines_of, whole_text
from steguard.text.model import BlockKind, Document
from steguard.types import Hit, Safety, Status


class Title(Options):
    form: Literal["angle", "heading", "any"] | None = Field(
        None, description="`angle`: <<title>>; `heading`: # title; `any`: one of them."
    )


def _find(document: Document, options: Title) -> Iterable[Hit]:
    if options.form is None:
        return
    if options.form != "heading" and any(_angle(line) for _, line in lines_of(document.text)):
        return
    if options.form != "angle" and any(
        s.block.kind is BlockKind.HEADING for s in document.sentences
    ):
        return
    yield Hit(0, 0, "The text has no title.", f"Write a title, such as {_SAMPLE[options.form]}.")


_SAMPLE = {"angle": "<<title>>", "heading": "'# title'", "any": "<<title>>"}


def _angle(line: str) -> bool:
    start, end = line.find("<<"), line.rfind(">>")
    inner = line[start : end + 2].lstrip("<").rstrip(">")
    return start >= 0 and end > start + 2 and bool(inner.strip())


def _prompt(options: Title) -> str | None:
    return f"Write a title, such as {_SAMPLE[options.form]}." if options.form else None


RULE = Rule(
    code="LIM133",
    name="title",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="steguard",
    make=whole_text(_find),
    module=__name__,
    options=Title,
    languages=frozenset(),
    prompt=_prompt,
)
