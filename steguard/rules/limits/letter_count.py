"""A letter or other character occurs as often as it must.

Finds: a character that occurs too often or not often enough. Case has no effect, and every part
of the text counts, code too: this is the published meaning of the letter frequency instruction
in benchmarks. `relation` is `at_least`, `at_most`, `exactly`, `less_than` or `more_than`.

Why: some channels cannot carry a character, and some need it (a `#` before each label).

Example: (letter: "#", relation: at_most, count: 0) Close issue #12.

Instead: Close issue 12.

Fix: none. A letter cannot be replaced without a change of the words.

Source: steguard's own.
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from steguard.rules.base import Rule
from steguard.rules.limits._limits import Occurrence, count_hits, places_of, whole_text
from steguard.text.model import Document
from steguard.types import Hit, Safety, Status


class LetterCount(Occurrence):
    letter: str | None = Field(
        None, min_length=1, max_length=1, description="The one character to count."
    )


def _find(document: Document, options: LetterCount) -> Iterable[Hit]:
    if options.letter is None:
        return ()
    places = places_of(options.letter, document.text, "anywhere", False)
    return count_hits(options.bounds, places, document, f"'{options.letter}'")


def _prompt(options: LetterCount) -> str | None:
    if options.letter is None:
        return None
    times = "1 time" if options.count == 1 else f"{options.count} times"
    return f"Use the character '{options.letter}' {options.relation.replace('_', ' ')} {times}."


RULE = Rule(
    code="LIM111",
    name="letter-count",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="steguard",
    make=whole_text(_find),
    module=__name__,
    options=LetterCount,
    languages=frozenset(),
    prompt=_prompt,
)
