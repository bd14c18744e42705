"""The verbs of a request: which words stand in the place of a command, which are negated."""

from __future__ import annotations

from functools import lru_cache

import regex

from steguard import resources
from steguard.gate.words import fold
from steguard.text.inflect import verb_forms


@lru_cache(maxsize=1)
def verb_classes() -> dict[str, frozenset[str]]:
    """Verb to the kinds of action that it can ask for."""
    found: dict[str, set[str]] = {}
    for line in resources.data("gate_verbs.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            name, _, words = line.partition(":")
            for word in words.split():
                found.setdefault(word, set()).add(name)
    return {word: frozenset(names) for word, names in found.items()}


_BEFORE = (
    r"(?:^|[.!?:;,\n()\"'“”•*-]\s*|\b(?:please|to|and|then|also|or|you|me|just|now|kindly|"
    r"otherwise|should|must|will|shall|lets|let's|help|ahead|finally|afterwards|first|next|"
    r"could|can|would|so|instead|maybe|quickly|directly|simply|immediately)\s+)"
)


_ANSWER = "give|tell|write|return|say|answer|compile|produce|compose|generate|draft"
"""With 'me' behind it, such a verb asks for an answer, not for an action."""


@lru_cache(maxsize=1)
def _verb_pattern() -> regex.Pattern[str]:
    words = "|".join(sorted(verb_classes(), key=len, reverse=True))
    return regex.compile(
        rf"{_BEFORE}(?!(?:{_ANSWER})\s+(?:me|us)\b)({words})\b(?!')",
        regex.IGNORECASE | regex.MULTILINE,
    )


@lru_cache(maxsize=1)
def _ing_pattern() -> regex.Pattern[str]:
    forms = "|".join(sorted(_ing_forms(), key=len, reverse=True))
    return regex.compile(rf"\b(?:by|of|for|with|start|mind|without|avoid)\s+({forms})\b")


@lru_cache(maxsize=1)
def _ing_forms() -> dict[str, str]:
    return {verb_forms(verb)["ing"]: verb for verb in verb_classes()}


def command_verbs(text: str) -> frozenset[str]:
    found = {m.group(1).casefold() for m in _verb_pattern().finditer(text, overlapped=True)}
    found -= {"let"}
    forms = _ing_forms()
    found |= {forms[m.group(1)] for m in _ing_pattern().finditer(fold(text))}
    if regex.search(r"\blet\s+[\p{L} .@]{1,40}?\s+know\b", fold(text)):
        found.add("notify")
    return frozenset(found)


def forbidden_verbs(text: str) -> frozenset[str]:
    forms = _ing_forms()
    words = regex.findall(r"\p{L}+", fold(" ".join(negated_clauses(text))))
    starts = [forms.get(word, word) for word in words]
    return frozenset(word for word in starts if word in verb_classes())


@lru_cache(maxsize=1)
def _negation() -> regex.Pattern[str]:
    verbs = [*verb_classes(), *_ing_forms()]
    words = "|".join(sorted(verbs, key=len, reverse=True))
    return regex.compile(
        r"\b(?:do not|don't|don’t|dont|never|without|must not|mustn't|should not|shouldn't|"
        r"not to|avoid|refrain from|no need to)\s+(?:\w+ly\s+|ever\s+|to\s+)?"
        rf"(?:{words})\b[^.;!?\n]*",
        regex.IGNORECASE,
    )


def negated_clauses(text: str) -> list[str]:
    """The parts of a request that say what not to do."""
    return [regex.split(r"\bbut\b", m.group())[0] for m in _negation().finditer(text)]
