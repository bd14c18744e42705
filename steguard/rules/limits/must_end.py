"""The text ends with a given phrase.

Finds: a text whose last visible characters are not `text`. White space, and double quotation
marks around the whole text, have no effect; case has none unless `case_sensitive` is true. This
is the published meaning of the end instruction in benchmarks. Nothing can follow the phrase, not
even a full stop.

Why: a program reads the last words to know that the message is complete.

Example: (text: "End of report.") The pump is on.

Instead: The pump is on. End of report.

Fix: unsafe. The phrase is put behind the text; a sentence in the text can become incorrect.

Source: steguard's own.
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from steguard.rules.base import Options, Rule
from steguard.rules.limits._limits import end_of, whole_text
from steguard.text.model import Document
from steguard.types import Edit, Hit, Safety, Status


class MustEnd(Options):
    text: str | None = Field(None, min_length=1, description="The phrase that closes the text.")
    case_sensitive: bool = Field(False, description="Upper and lower case are different.")


def _find(document: Document, options: MustEnd) -> Iterable[Hit]:
    if options.text is None:
        return
    found, phrase = document.text.strip().strip('"'), options.text.strip()
    if not options.case_sensitive:
        found, phrase = found.lower(), phrase.lower()
    if not found.endswith(phrase):
        end = end_of(document)
        yield Hit(
            end,
            end,
            f"The text does not end with '{options.text.strip()}'.",
            f"End the text with '{options.text.strip()}'.",
            (Edit(end, end, f" {options.text.strip()}" if end else options.text.strip()),),
        )


def _prompt(options: MustEnd) -> str | None:
    return f"End the text with '{options.text.strip()}'." if options.text else None


RULE = Rule(
    code="LIM124",
    name="must-end",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.UNSAFE,
    source="steguard",
    make=whole_text(_find),
    module=__name__,
    options=MustEnd,
    languages=frozenset(),
    prompt=_prompt,
)
