"""Two words for one meaning in one text.

Finds: The second word of a group of synonyms. The first word of the group that a text uses is
the term; a later verb of the same group with the same meaning is a fault (``start`` ... ``begin``,
``show`` ... ``display``). Verbs that can differ in meaning count only when both have the same
object (``delete the file`` ... ``remove the file``). Nouns (``the start``, ``a display``), names
and quoted words are not meant.

Why: A reader or a program asks if two words are two things. A search for the one word does not
find the other.

Example: ``Start the pump. Then initiate the second pump.``

Instead: ``Start the pump. Then start the second pump.``

Fix: Unsafe. The fix writes the first word in the same form, or the word that ``banned-words`` asks
for in its place. The writer must make sure that both words mean the same here.

Source: STE 1.11.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import cast

from pydantic import Field

from steguard.rules._consistency import ConsistencyChecker, Groups, compile_groups
from steguard.rules._words import load_table
from steguard.rules.base import Options, Rule
from steguard.rules.own.banned_words import table
from steguard.types import Safety, Status


class SynonymConsistency(Options):
    """Options of ``synonym-consistency``."""

    groups: list[list[str]] | None = Field(
        default=None, description="Groups of words that replace the shipped groups."
    )
    extend: list[list[str]] = Field(
        default_factory=list, description="Groups of words in addition to the shipped groups."
    )


@lru_cache(maxsize=64)
def _groups(key: str) -> Groups:
    options = SynonymConsistency.model_validate_json(key)
    shipped = load_table("synonyms.yaml")
    strict, by_object = (cast(list[list[str]], shipped[name]) for name in ("strict", "object"))
    verbs = frozenset(word for group in (*strict, *by_object) for word in group)
    if options.groups is not None:
        strict, by_object = options.groups, []
    return compile_groups([*strict, *options.extend], by_object, verbs=verbs, better=_better())


@cache
def _better() -> dict[str, str]:
    """Words that ``banned-words`` replaces, so that two rules do not ask for two words."""
    return {
        e.phrase: e.suggestion.removesuffix(" that")
        for e in table()
        if e.category == "synonym" and e.suggestion
    }


RULE = Rule(
    code="STE111",
    name="synonym-consistency",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.UNSAFE,
    source="STE 1.11",
    make=lambda options: ConsistencyChecker(_groups(options.model_dump_json())),
    module=__name__,
    options=SynonymConsistency,
    prompt=lambda options: "Use one word for one meaning.",  # noqa: ARG005 - same for all options
    yields=frozenset(["banned-words"]),
)
