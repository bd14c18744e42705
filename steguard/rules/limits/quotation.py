"""The whole text stands in double quotation marks.

Finds: a text whose first or last visible character is not the mark `"`. Typographic marks do
not count: this is the published meaning of the instruction in benchmarks.

Why: a program that reads quoted strings takes the text between the marks.

Example: (required: true) Open the valve.

Instead: "Open the valve."

Fix: unsafe. The marks are put around the text; marks in the text stay and can end it too early.

Source: steguard's own.
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from steguard.rules.base import Options, Rule
from steguard.rules.limits._limits import visible, whole_text
from steguard.text.model import Document
from steguard.types import Edit, Hit, Safety, Status


class Quotation(Options):
    required: bool = Field(False, description="The text must stand in quotation marks.")


def _find(document: Document, options: Quotation) -> Iterable[Hit]:
    if not options.required:
        return
    start, end = visible(document.text)
    answer = document.text[start:end]
    if len(answer) < 2 or answer[0] != '"' or answer[-1] != '"':
        edits = [] if answer.startswith('"') else [Edit(start, start, '"')]
        if not answer.endswith('"') or len(answer) < 2:
            edits.append(Edit(end, end, '"'))
        yield Hit(
            start,
            end,
            "The text does not stand in double quotation marks.",
            "Put double quotation marks around the text.",
            tuple(edits),
        )


def _prompt(options: Quotation) -> str | None:
    return "Put double quotation marks around the full text." if options.required else None


RULE = Rule(
    code="LIM135",
    name="quotation",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.UNSAFE,
    source="steguard",
    make=whole_text(_find),
    module=__name__,
    options=Quotation,
    languages=frozenset(),
    prompt=_prompt,
)
