"""The verbs of a request: which words stand in the place of a command, which are negated."""

from __future__ import annotations

from functools import lru_cache

import regex

from steguard.gate.words import data_lines, fold
from steguard.text.inflect import verb_forms


@lru_cache(maxsize=1)
def verb_classes() -> dict[str, dict[str, None]]:
    """Verb to the kinds of action that it can ask for, in the order of the file."""
    found: dict[str, dict[str, None]] = {}
    for line in data_lines("gate_verbs.txt"):
        name, _, words = line.partition(":")
        for word in words.split():
            found.setdefault(word, {})[name] = None
    return found


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


def main_class(verb: str) -> str:
    """The kind of action that a verb names first: its own, else the first in the file."""
    classes = verb_classes().get(verb, ())
    return verb if verb in classes else next(iter(classes), "other")


def command_verbs(text: str) -> frozenset[str]:
    found = {m.group(1).casefold() for m in _verb_pattern().finditer(text, overlapped=True)}
    found -= {"let"}
    forms = _ing_forms()
    found |= {forms[m.group(1)] for m in _ing_pattern().finditer(fold(text))}
    found |= {verb for idiom, verb in _IDIOMS if idiom.search(fold(text))}
    return frozenset(found)


_IDIOMS = tuple(
    (regex.compile(idiom), verb)
    for idiom, verb in (
        (r"\blet\s+(?:[^.;!?]|\.(?=\S)){1,60}?\s+know\b", "notify"),
        (
            r"\b(?:drop|shoot|fire off|send off)\b.{1,30}\b(?:line|note|e?-?mail|message)\b",
            "send",
        ),
        (r"\b(?:get|getting) rid of\b", "delete"),
        (r"\b(?:get|take|throw) (?!(?:me|us|the|an?|my|all)\b).{1,30}\b(?:out of|off)\b", "remove"),
        (r"\b(?:get|bring|put)\s.{1,30}\b(?:into|onto|on board|in there)\b", "add"),
        (r"\bfill (?:in|out)\b", "update"),
        (r"\b(?:sign|set)\s.{0,30}\bup\b", "create"),
    )
)
"""Verbs of more than one word, and the plain verb that means the same."""


def forbidden_actions(clause: str) -> list[tuple[str, str]]:
    """The verbs of a negated clause, each with the words of its object."""
    forms = {verb: verb for verb in verb_classes()} | _ing_forms()
    words = "|".join(sorted(forms, key=len, reverse=True))
    pattern = rf"{_NOT}({words})\b|\b(?:or|nor|and)\s+({words})\b"
    found = []
    for match in regex.finditer(pattern, fold(clause)):
        rest = fold(clause)[match.end() :]
        thing = regex.split(r"\b(?:to|with|for|from|at|by|about|on|or|nor|and|via)\b|,", rest)[0]
        found.append((forms[match[1] or match[2]], thing))
    return found


_NOT = (
    r"\b(?:do not|don't|don’t|dont|never|without|must not|mustn't|should not|shouldn't|"
    r"not to|avoid|refrain from|no need to)\s+(?:\w+ly\s+|ever\s+|to\s+)?"
)


@lru_cache(maxsize=1)
def _negation() -> regex.Pattern[str]:
    verbs = [*verb_classes(), *_ing_forms()]
    words = "|".join(sorted(verbs, key=len, reverse=True))
    return regex.compile(rf"{_NOT}(?:{words})\b[^.;!?\n]*", regex.IGNORECASE)


def negated_clauses(text: str) -> list[str]:
    """The parts of a request that say what not to do."""
    found = []
    for match in _negation().finditer(text):
        end = r"\bbut\b|," if match.group().lower().startswith("without") else r"\bbut\b"
        found.append(regex.split(end, match.group())[0])
    return found
