"""Words that an LLM likes and that give no clear fact, order or quantity.

Finds: Words and phrases from a table of our own with the categories modal (``should``, ``may``),
hedge (``probably``), vague-quantity (``several``), wordy (``in order to``), synonym (``utilize``)
and filler (``basically``), in all forms of each word. The month in ``May 5``, the noun in
``the might of the storm``, names, quoted words and code are not meant.

Why: A program or a reader cannot act on ``should`` or ``several``: is it an order, and how many
are there? Each such word in a plan becomes a guess in the next step.

Example: ``You should utilize the cache prior to the download.``

Instead: ``Use the cache before the download.``

Fix: Safe where the replacement keeps the meaning and the grammar in every context
(``utilizes`` -> ``uses``, ``prior to`` -> ``before``). Unsafe where it can change the force
(``should`` -> ``must``) or the sentence needs care. None where only the writer knows the fact.

Source: steguard's own, after STE 1.1.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any, Literal, cast

from pydantic import Field, field_validator

from steguard.rules._substitute import (
    Entry,
    Form,
    SubstitutionChecker,
    compile_entries,
    entry,
    is_phrase,
)
from steguard.rules._words import load_table
from steguard.rules.base import Options, Rule
from steguard.text.phraseindex import PhraseIndex
from steguard.types import Safety, Status

Category = Literal["modal", "hedge", "vague-quantity", "wordy", "synonym", "filler"]
CATEGORIES: tuple[Category, ...] = (
    "modal",
    "hedge",
    "vague-quantity",
    "wordy",
    "synonym",
    "filler",
)


class BannedWords(Options):
    """Options of ``banned-words``."""

    add: dict[str, str | list[str] | None] = Field(
        default_factory=dict,
        description="More phrases: phrase to replacement, list of replacements, or null.",
    )
    remove: tuple[str, ...] = Field(default=(), description="Phrases to allow.")
    categories: tuple[Category, ...] = Field(
        default=CATEGORIES, description="The categories of the table to use."
    )

    @field_validator("add", "remove")
    @classmethod
    def _not_empty(cls, value: Iterable[str]) -> Iterable[str]:
        for phrase in value:
            if not is_phrase(phrase):
                raise ValueError("a phrase must have a word")
        return value


@cache
def table() -> tuple[Entry, ...]:
    """The entries of the shipped table."""
    shipped = cast(dict[str, dict[str, Any]], load_table("substitutions.yaml"))
    return tuple(
        entry(phrase, value, category)
        for category in CATEGORIES
        for phrase, value in shipped[category].items()
    )


@cache
def _keep() -> tuple[str, ...]:
    text = cast(str, load_table("substitutions.yaml")["keep"])
    return tuple(phrase.strip() for phrase in text.split("|"))


@cache
def _verbs() -> frozenset[str]:
    return frozenset(use.split()[0] for e in table() if e.pos == "verb" for use in e.use if use)


def entries(options: BannedWords) -> list[Entry]:
    """The entries that these options choose, the profile's own first."""
    removed = {phrase.lower() for phrase in options.remove}
    own = [_own(phrase, use) for phrase, use in options.add.items()]
    taken = removed | {e.phrase for e in own}
    shipped = [e for e in table() if e.category in options.categories and e.phrase not in taken]
    return own + shipped


def _own(phrase: str, use: str | list[str] | None) -> Entry:
    uses = [use] if isinstance(use, str) else use or []
    verb = any(u.split()[:1] and u.split()[0].lower() in _verbs() for u in uses)
    return entry(phrase.lower(), {"use": uses, "pos": "verb" if verb else ""})


@lru_cache(maxsize=64)
def _index(key: str) -> PhraseIndex[Form]:
    options = BannedWords.model_validate_json(key)
    return compile_entries(entries(options), [k for k in _keep() if k not in options.add])


def top_substitutions(options: Options | None = None, n: int = 20) -> list[tuple[str, str]]:
    """The ``n`` most frequent bad words with what to write; ``""`` where no word replaces it."""
    chosen = entries(options if isinstance(options, BannedWords) else BannedWords())
    own = [e for e in chosen if not e.category]
    ranked = sorted((e for e in chosen if e.category and e.rank), key=lambda e: e.rank)
    rest = [e for e in chosen if e.category and not e.rank]
    return [(e.phrase, e.suggestion) for e in (*own, *ranked, *rest)[:n]]


def _prompt(options: BannedWords) -> str:
    words = ", ".join(bad for bad, _ in top_substitutions(options))
    return f"Do not use these words: `{words}`."


def _make(options: BannedWords) -> SubstitutionChecker:
    return SubstitutionChecker(_index(options.model_dump_json()))


RULE = Rule(
    code="SG101",
    name="banned-words",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.UNSAFE,
    source="steguard",
    make=_make,
    module=__name__,
    options=BannedWords,
    prompt=_prompt,
    yields=frozenset(["unbounded-quantity", "nominalisation"]),
)
