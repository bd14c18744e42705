"""A keyword occurs as often as it must.

Finds: a keyword that occurs too often or not often enough. `relation` is `at_least`, `at_most`,
`exactly`, `less_than` or `more_than`. Case has no effect, and with `match: anywhere` a keyword
in a longer word counts (`war` in `warm`): this is the published meaning of the keyword frequency
instruction in benchmarks. With `match: word` only whole words count. `more` gives further
keywords, each with its own relation and count.

Why: a search finds a text by its keywords, and a repeated keyword makes the text dull.

Example: (keyword: valve, relation: at_most, count: 1) Open the valve. Then close the valve.

Instead: Open the valve. Then close it.

Fix: none. The correct other word is not known.

Source: steguard's own.
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from steguard.rules.base import Rule
from steguard.rules.limits._limits import (
    Match,
    Occurrence,
    count_hits,
    places_of,
    whole_text,
)
from steguard.text.model import Document
from steguard.types import Hit, Safety, Status


class Keyword(Occurrence):
    keyword: str | None = Field(None, min_length=1, description="The word or phrase to count.")
    match: Match = Field(
        "anywhere", description="`anywhere`: in longer words too; `word`: whole words only."
    )
    case_sensitive: bool = Field(False, description="Upper and lower case are different.")


class KeywordCount(Keyword):
    more: tuple[Keyword, ...] = Field((), description="Further keywords with their own counts.")


def _find(document: Document, options: KeywordCount) -> Iterable[Hit]:
    for one in (options, *options.more):
        if one.keyword is not None:
            word = one.keyword.strip() or one.keyword
            places = places_of(word, document.text, one.match, one.case_sensitive)
            yield from count_hits(one.bounds, places, document, f"'{word}'")


def _times(one: Keyword) -> str:
    times = "1 time" if one.count == 1 else f"{one.count} times"
    return f"Use '{one.keyword}' {one.relation.replace('_', ' ')} {times}."


def _prompt(options: KeywordCount) -> str | None:
    return " ".join(_times(one) for one in (options, *options.more) if one.keyword) or None


RULE = Rule(
    code="LIM110",
    name="keyword-count",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="steguard",
    make=whole_text(_find),
    module=__name__,
    options=KeywordCount,
    languages=frozenset(),
    prompt=_prompt,
)
