"""The text starts with a given phrase.

Finds: a text whose first visible characters are not `text`. White space and double quotation
marks before the phrase have no effect; case has none unless `case_sensitive` is true.

Why: a program reads the first words to know what kind of message it has.

Example: (text: "Status:") The pump is on.

Instead: Status: The pump is on.

Fix: unsafe. The phrase is put before the text; the result can be no correct sentence.

Source: steguard's own.
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from steguard.rules.base import Options, Rule
from steguard.rules.limits._limits import visible, whole_text
from steguard.text.model import Document
from steguard.types import Edit, Hit, Safety, Status


class MustStart(Options):
    text: str | None = Field(None, min_length=1, description="The phrase that opens the text.")
    case_sensitive: bool = Field(False, description="Upper and lower case are different.")


def _find(document: Document, options: MustStart) -> Iterable[Hit]:
    if options.text is None:
        return
    start, end = visible(document.text)
    found, phrase = document.text[start:end].lstrip('"'), options.text.strip()
    if not options.case_sensitive:
        found, phrase = found.lower(), phrase.lower()
    if not found.startswith(phrase):
        yield Hit(
            start,
            min(start + len(phrase), end),
            f"The text does not start with '{options.text.strip()}'.",
            f"Start the text with '{options.text.strip()}'.",
            (Edit(start, start, options.text.strip() + " "),),
        )


def _prompt(options: MustStart) -> str | None:
    return f"Start the text with '{options.text.strip()}'." if options.text else None


RULE = Rule(
    code="LIM123",
    name="must-start",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.UNSAFE,
    source="steguard",
    make=whole_text(_find),
    module=__name__,
    options=MustStart,
    languages=frozenset(),
    prompt=_prompt,
)
