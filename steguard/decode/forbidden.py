"""What the rules of a contract take out of a grammar: words, phrases, and openings.

Each rule that a grammar can serve has an entry in :data:`SERVED`. ``ENFORCED`` says that a text
of the grammar has no finding of the rule, ``REDUCED`` that it has few.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from steguard.rules._consistency import ConsistencyChecker
from steguard.rules.own.filler_opening import OPENERS
from steguard.rules.ste import phrasal_verb
from steguard.ruleset import ActiveRule, RuleSet
from steguard.text.inflect import verb_forms
from steguard.text.phraseindex import elements
from steguard.text.verbs import word_set


class Service(StrEnum):
    """How far the grammar serves a rule."""

    ENFORCED = "enforced"
    REDUCED = "reduced"


SERVED: dict[str, Service] = {
    **dict.fromkeys(
        (
            "sentence-length", "paragraph-length", "banned-words", "marketing-word",
            "latin-abbreviation", "contraction", "semicolon", "american-spelling",
            "passive-voice", "perfect-tense", "progressive-tense", "complex-verb", "ing-form",
            "one-instruction", "condition-first", "phrasal-verb",
            "filler-opening", "filler-closing", "self-reference", "decoration", "missing-text",
            "dangling-pronoun", "note-instruction", "safety-label", "safety-command",
            "safety-result", "parentheses", "unapproved-word", "must-start", "must-end",
        ),
        Service.ENFORCED,
    ),
    **dict.fromkeys(
        ("nominalisation", "unbounded-quantity", "telegraph-style", "repeated-word",
         "synonym-consistency", "must-not-include"),
        Service.REDUCED,
    ),
}  # fmt: skip
"""The rules that a grammar serves. A rule that is not here is only checked."""

_INEXACT = word_set("around roughly approximately circa nearly almost approx few couple ish")
_EMPTY_VERBS = ("perform", "conduct", "undertake", "accomplish", "effect")


@dataclass
class Forbidden:
    """Phrases as tokens, words that must not open a text, and how each rule is served."""

    phrases: list[tuple[str, ...]] = field(default_factory=list)
    openers: frozenset[str] = frozenset()
    served: dict[str, Service] = field(default_factory=dict)


def collect(rules: RuleSet, names: frozenset[str]) -> Forbidden:
    """What the active rules forbid. ``names`` are words of the task, which choose a synonym."""
    found = Forbidden()
    for active in rules.active:
        service = SERVED.get(active.rule.name)
        checker = active.rule.checker(active.options)
        if isinstance(checker, ConsistencyChecker):
            found.phrases += _synonyms(checker, names, found.phrases)
        elif hasattr(checker, "phrases"):
            found.phrases += checker.phrases()
            service = service or Service.ENFORCED
        else:
            found.phrases += _words_of(active, checker.triggers)
        if active.rule.name == "filler-opening":
            found.openers = frozenset(parts[0] for parts in OPENERS if len(parts) == 1)
            found.phrases += (parts for parts in OPENERS if len(parts) > 1)
        if service is not None:
            found.served[active.rule.name] = service
    return found


_BY_TRIGGER = frozenset(("american-spelling", "contraction", "safety-label"))
"""Rules whose triggers are each a word that the text can do without."""


def _words_of(active: ActiveRule, triggers: frozenset[str] | None) -> Iterator[tuple[str, ...]]:
    """The phrases of a rule that has no index of phrases."""
    name = active.rule.name
    if name == "phrasal-verb":
        yield from phrasal_verb.forms(active.options)  # type: ignore[arg-type]
    elif name == "must-not-include":
        yield from (elements(term) for term in active.options.terms)  # type: ignore[attr-defined]
    elif name in _BY_TRIGGER:
        yield from ((word,) for word in triggers or ())
    elif name == "unbounded-quantity":
        yield from ((word,) for word in _INEXACT)
    elif name == "nominalisation":
        yield from ((form,) for verb in _EMPTY_VERBS for form in verb_forms(verb).values())


def _synonyms(
    checker: ConsistencyChecker, names: frozenset[str], phrases: Iterable[tuple[str, ...]]
) -> Iterator[tuple[str, ...]]:
    """All members of each group but one: that of the task, else the first that may stand."""
    taken = {parts[0] for parts in phrases if len(parts) == 1}
    groups: dict[int, dict[str, list[tuple[str, ...]]]] = {}
    for parts, member in checker.members():
        for number in member.groups:
            if number in checker.by_object:
                continue  # These are synonyms only for one and the same object.
            groups.setdefault(number, {}).setdefault(member.base, []).append(parts)
    lost: set[str] = set()
    for _, members in sorted(groups.items()):
        free = [base for base in members if base not in taken | lost]
        if not free:
            continue
        kept = next((base for base in free if _named(members[base], names)), free[0])
        for base, forms in members.items():
            if base != kept and base not in lost:
                lost.add(base)
                yield from forms


def _named(forms: list[tuple[str, ...]], names: frozenset[str]) -> bool:
    return any(len(parts) == 1 and parts[0] in names for parts in forms)


def options_of(rules: RuleSet, name: str) -> Any:
    """The options of an active rule, or None."""
    return next((a.options for a in rules.active if a.rule.name == name), None)
