"""The answer is one of a fixed list of texts.

Finds: a text that contains none of `choices`, in the same case. Other words can stand around the
choice: this is the published meaning of the constrained response instruction in benchmarks. With
`whole: true` the text must be the choice and nothing else.

Why: a program compares the answer with the texts that it knows.

Example: (choices: ["Yes.", "No."]) I think so.

Instead: Yes.

Fix: none. The correct choice is not known.

Source: steguard's own.
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from steguard.rules.base import Options, Rule
from steguard.rules.limits._limits import Terms, quoted, visible, whole_text
from steguard.text.model import Document
from steguard.types import Hit, Safety, Status


class OneOf(Options):
    choices: Terms = Field((), description="The permitted texts.")
    whole: bool = Field(False, description="Nothing can stand before or after the choice.")


def _find(document: Document, options: OneOf) -> Iterable[Hit]:
    if not options.choices:
        return
    start, end = visible(document.text)
    answer = document.text[start:end]
    fits = answer.__eq__ if options.whole else answer.__contains__
    if not any(map(fits, options.choices)):
        yield Hit(
            start,
            end,
            "The answer is not one of the permitted texts.",
            f"Write {quoted(options.choices, 'or')}.",
        )


def _prompt(options: OneOf) -> str | None:
    return f"Answer with {quoted(options.choices, 'or')}." if options.choices else None


RULE = Rule(
    code="LIM126",
    name="one-of",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="steguard",
    make=whole_text(_find),
    module=__name__,
    options=OneOf,
    languages=frozenset(),
    prompt=_prompt,
)
