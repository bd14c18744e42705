"""The text does not contain a forbidden term.

Finds: each place where a term of `terms` stands. Case has no effect, and with `match: word` only
whole words count (`can` is not in `cancel`): this is the published meaning of the forbidden word
instruction in benchmarks. With `match: anywhere` a term in a longer word counts too.

Why: the term has an incorrect or dangerous meaning for the reader or for a program.

Example: (terms: [bolt]) Remove the bolt.

Instead: Remove the screw.

Fix: none. The correct other word is not known; a `Substitution` rule of a profile can give it.

Source: steguard's own.
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from steguard.rules.base import Options, Rule
from steguard.rules.limits._limits import Match, Terms, places_of, quoted, whole_text
from steguard.text.model import Document
from steguard.types import Hit, Safety, Status


class MustNotInclude(Options):
    terms: Terms = Field((), description="The words or phrases that must not occur.")
    match: Match = Field(
        "word", description="`word`: whole words only; `anywhere`: in longer words too."
    )
    case_sensitive: bool = Field(False, description="Upper and lower case are different.")


def _find(document: Document, options: MustNotInclude) -> Iterable[Hit]:
    for term in options.terms:
        places = places_of(term, document.text, options.match, options.case_sensitive)
        for start, end in places:
            yield Hit(start, end, f"The term '{term}' is not permitted.", "Use a different word.")


def _prompt(options: MustNotInclude) -> str | None:
    return f"Do not use {quoted(options.terms, 'or')}." if options.terms else None


RULE = Rule(
    code="LIM122",
    name="must-not-include",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="steguard",
    make=whole_text(_find),
    module=__name__,
    options=MustNotInclude,
    languages=frozenset(),
    prompt=_prompt,
)
