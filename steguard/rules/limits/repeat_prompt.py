"""The answer first repeats a given text.

Finds: a text that does not start with `text`, word for word. Case and the white space around the
repeated text have no effect: this is the published meaning of the instruction in benchmarks.
`answer: true` also finds a text that has nothing after the repeated part.

Why: the repeated request shows which question the answer is for.

Example: (text: "Which valve is open?") Valve 2.

Instead: Which valve is open? Valve 2.

Fix: unsafe. The text is put before the answer; the answer can already have a part of it.

Source: steguard's own.
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from steguard.rules.base import Options, Rule
from steguard.rules.limits._limits import missing, visible, whole_text
from steguard.text.model import Document
from steguard.types import Edit, Hit, Safety, Status


class RepeatPrompt(Options):
    text: str | None = Field(None, min_length=1, description="The text that comes first.")
    answer: bool = Field(False, description="An answer must follow the repeated text.")


def _find(document: Document, options: RepeatPrompt) -> Iterable[Hit]:
    if options.text is None:
        return
    start, end = visible(document.text)
    wanted, found = options.text.strip().lower(), document.text[start:end].lower()
    if not found.startswith(wanted):
        same = _same(found, wanted)
        yield Hit(
            min(start + same, end),
            min(start + len(wanted), end),
            "The answer does not start with the repeated request.",
            "Repeat the request word for word before the answer.",
            (Edit(start, start, options.text.strip() + "\n\n"),),
        )
    elif options.answer and found == wanted:
        yield missing(document, "No answer follows the repeated request.", "Write the answer.")


def _same(found: str, wanted: str) -> int:
    """How many characters agree from the start."""
    return next(
        (i for i, (a, b) in enumerate(zip(found, wanted, strict=False)) if a != b),
        min(len(found), len(wanted)),
    )


def _prompt(options: RepeatPrompt) -> str | None:
    return f"First repeat this text: '{options.text.strip()}'." if options.text else None


RULE = Rule(
    code="LIM127",
    name="repeat-prompt",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.UNSAFE,
    source="steguard",
    make=whole_text(_find),
    module=__name__,
    options=RepeatPrompt,
    languages=frozenset(),
    prompt=_prompt,
)
