"""The text contains each required term.

Finds: a term of `terms` that does not occur. Case has no effect, and with `match: anywhere` a
term in a longer word counts (`cat` in `category`): this is the published meaning of the keyword
instruction in benchmarks. With `match: word` only whole words count.

Why: a reader or a program looks for the term, and without it the answer is not complete.

Example: (terms: [valve]) Open it.

Instead: Open the valve.

Fix: none. The sentence that must have the term is not known.

Source: steguard's own.
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from steguard.rules.base import Options, Rule
from steguard.rules.limits._limits import (
    Match,
    Terms,
    missing,
    places_of,
    quoted,
    whole_text,
)
from steguard.text.model import Document
from steguard.types import Hit, Safety, Status


class MustInclude(Options):
    terms: Terms = Field((), description="The words or phrases that must occur.")
    match: Match = Field(
        "anywhere", description="`anywhere`: in longer words too; `word`: whole words only."
    )
    case_sensitive: bool = Field(False, description="Upper and lower case are different.")


def _find(document: Document, options: MustInclude) -> Iterable[Hit]:
    for term in options.terms:
        places = places_of(term, document.text, options.match, options.case_sensitive)
        if next(iter(places), None) is None:
            yield missing(
                document, f"The text does not contain '{term}'.", f"Use '{term}' in the text."
            )


def _prompt(options: MustInclude) -> str | None:
    return f"Use {quoted(options.terms, 'and')} in the text." if options.terms else None


RULE = Rule(
    code="LIM121",
    name="must-include",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="steguard",
    make=whole_text(_find),
    module=__name__,
    options=MustInclude,
    languages=frozenset(),
    prompt=_prompt,
)
