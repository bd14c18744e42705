"""All letters of the text are capitals, or all are small.

Finds: each line that has a letter of the other case, in code and names too, and a text with no
letter at all. This is the published meaning of the two case instructions in benchmarks, which
also ask for English: combine the rule with `language`.

Why: some displays and some channels know only one case.

Example: (case: lower) Open the valve.

Instead: open the valve.

Fix: unsafe. All letters get the other case; names and identifiers can become incorrect.

Source: steguard's own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from steguard.rules.base import Options, Rule
from steguard.rules.limits._limits import lines_of, missing, visible, whole_text
from steguard.text.model import Document
from steguard.types import Edit, Hit, Safety, Status


class LetterCase(Options):
    case: Literal["upper", "lower"] | None = Field(None, description="The case of all letters.")


def _find(document: Document, options: LetterCase) -> Iterable[Hit]:
    if options.case is None:
        return
    upper = options.case == "upper"
    kind = "capital" if upper else "small"
    text = document.text
    if text.isupper() if upper else text.islower():
        return
    found = False
    for at, line in lines_of(text):
        new = line.upper() if upper else line.lower()
        if new != line:
            found = True
            start, end = (at + place for place in visible(line))
            yield Hit(
                start,
                end,
                f"Not all letters of this line are {kind} letters.",
                f"Write {kind} letters only.",
                (Edit(at, at + len(line), new),),
            )
    if not found:
        yield missing(document, f"The text has no {kind} letter.", f"Write {kind} letters.")


def _prompt(options: LetterCase) -> str | None:
    if options.case is None:
        return None
    return f"Write all letters as {'capital' if options.case == 'upper' else 'small'} letters."


RULE = Rule(
    code="LIM131",
    name="letter-case",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.UNSAFE,
    source="steguard",
    make=whole_text(_find),
    module=__name__,
    options=LetterCase,
    languages=frozenset(),
    prompt=_prompt,
)
