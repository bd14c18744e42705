"""What of the rules a check of the answer holds: settings of a profile, and validators.

A rule is ``checked`` when all that it says became a check of the answer or a rule of the gate
(:mod:`steguard.instructions.toolpolicy`).
Everything else is guidance, and is never called guaranteed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from steguard.instructions.claims import (
    Affix,
    Bound,
    Claim,
    Has,
    NeedsTool,
    NoneOf,
    OneOf,
    OnlyTools,
    Setting,
    ToolEffect,
)
from steguard.instructions.conflicts import Resolution
from steguard.instructions.keys import OUTPUT, TERM, Subject, read_key
from steguard.instructions.outputs import VALIDATORS, Check, Validator
from steguard.instructions.records import Instruction
from steguard.instructions.registry import InstructionError
from steguard.instructions.satisfy import Domain, domains_of
from steguard.rules.limits._language import code_of
from steguard.yamlfile import Mark, nearest

_RANGES = {
    "word": "word-count",
    "sentence": "sentence-count",
    "paragraph": "paragraph-count",
    "bullet": "bullet-count",
}
_MAXIMA = {"sentence.word": "sentence-length", "paragraph.sentence": "paragraph-length"}
_RETRY = {
    "retry.attempt": "max_attempts",
    "budget.token": "token_budget",
    "budget.second": "time_budget",
}
_FORMATS = {"json": "json", "html": "html", "text": "text", "markdown": "text", "plain": "text"}


@dataclass
class Checks:
    """What becomes of the rules: settings, validators, and the rules that are checked."""

    settings: dict[str, Any] = field(default_factory=dict)
    validators: list[Check] = field(default_factory=list)
    characters: tuple[float, float] = (0, math.inf)
    checked: dict[str, str] = field(default_factory=dict)
    """Rule to the program that holds it."""


def make_checks(
    resolution: Resolution,
    validators: Mapping[str, Validator],
    base: Mapping[str, Any],
    places: Mapping[str, Mark] | None = None,
) -> Checks:
    """Turn the rules that hold into settings of a profile and validators.

    ``places`` says where rules stand; a schema file is looked up beside its rule first.
    """
    about_output = [rule for rule in resolution.rules if not rule.scope.tool]
    made = Checks(_start(base))
    domains = domains_of(c for r in about_output for c in resolution.claims[r.ref])
    writer = _Writer(made, domains, places or {})
    writer.write(about_output, resolution.claims)
    for rule in about_output:
        claims = [c for c in resolution.claims[rule.ref] if not isinstance(c, NeedsTool | Setting)]
        named = rule.validator is not None
        if rule.validator is not None:
            made.validators.append(_validator(rule, validators))
        about = [c for c in claims if not isinstance(c, ToolEffect | OnlyTools)]
        if (about or named) and all(writer.holds(c) for c in about if not named):
            made.checked[rule.ref] = "output_validator"
    return made


def _start(base: Mapping[str, Any]) -> dict[str, Any]:
    start = {"steguard": 1, "name": "instructions", "extends": "base", **base}
    return {**start, "prompt": {"template": None}}


def _validator(rule: Instruction, given: Mapping[str, Validator]) -> Check:
    known = {**VALIDATORS, **given}
    name = rule.validator or ""
    if name not in known:
        raise InstructionError(
            f"{rule.ref}: there is no validator '{name}'{nearest(name, sorted(known))}; "
            "give it to the compiler in 'validators'"
        )
    return Check(rule.ref, name, known[name])


class _Writer:
    """Writes the domains of the output into the settings of a profile."""

    def __init__(
        self, made: Checks, domains: Mapping[Subject, Domain], places: Mapping[str, Mark]
    ) -> None:
        self._made = made
        self._places = places
        self._domains = {s.name: d for s, d in domains.items() if s.space == OUTPUT}
        self._done: set[tuple[str, type[Claim]]] = set()

    def write(self, rules: Sequence[Instruction], claims: Mapping[str, Sequence[Claim]]) -> None:
        self._format(rules)
        for name, domain in sorted(self._domains.items()):
            self._number(name, domain)
        self._terms()
        self._affixes(c for rule in rules for c in claims[rule.ref] if isinstance(c, Affix))
        self._choice("language", "language", "language")
        self._choice("case", "letter-case", "case")

    def holds(self, claim: Claim) -> bool:
        """Whether a check stands for this claim."""
        if isinstance(claim, Bound | OneOf | NoneOf | Has | Affix):
            known = claim.subject.space == OUTPUT
            return known and (claim.subject.name, type(claim)) in self._done
        return False

    @property
    def _rules(self) -> dict[str, Any]:
        rules: dict[str, Any] = self._made.settings.setdefault("rules", {})
        return rules

    @property
    def _is_text(self) -> bool:
        output = self._made.settings.get("output") or {}
        return output.get("format", "text") != "json" and not output.get("schema")

    def _format(self, rules: Sequence[Instruction]) -> None:
        output: dict[str, Any] = dict(self._made.settings.get("output") or {})
        domain = self._domains.get("format")
        allowed = _left(domain)
        if len(allowed) == 1 and allowed[0] in _FORMATS:
            output["format"] = _FORMATS[allowed[0]]
            if allowed[0] in ("markdown", "plain"):
                output["text"] = allowed[0]
            self._done |= {("format", OneOf), ("format", NoneOf)}
        for rule in rules:
            name = read_key(rule.key).path[-1] if rule.key else ""
            if name in ("schema", "template") and isinstance(rule.value, str | dict):
                output[name] = self._file(rule) if isinstance(rule.value, str) else rule.value
                self._done.add((name, OneOf))
        if output:
            self._made.settings["output"] = output

    def _file(self, rule: Instruction) -> str:
        """The file that a rule names: beside the rule, or where the program runs."""
        name, mark = str(rule.value), self._places.get(rule.ref)
        folders = [Path(mark.file).parent] if mark else []
        for folder in (*folders, Path.cwd()):
            if (folder / name).is_file():
                return str((folder / name).resolve())
        raise InstructionError(f"{rule.ref}: there is no file '{name}'")

    def _number(self, name: str, domain: Domain) -> None:
        low = None if domain.low <= 0 else math.ceil(domain.low)
        high = None if domain.high == math.inf else math.floor(domain.high)
        if low is None and high is None:
            return
        if name in _RETRY:
            if high:
                kept = high if name != "budget.second" else domain.high
                self._made.settings.setdefault("retry", {})[_RETRY[name]] = kept
                # A budget stops retries, and that is less than the whole of the rule.
                if name == "retry.attempt" and low is None:
                    self._done.add((name, Bound))
            return
        if not self._is_text:
            return
        if name in _RANGES:
            pair = {"min": low, "max": high}
            self._rules[_RANGES[name]] = {k: v for k, v in pair.items() if v is not None}
            self._done.add((name, Bound))
        elif name in _MAXIMA and high is not None:
            self._rules[_MAXIMA[name]] = {"max": high}
            if low is None or low <= 1:
                self._done.add((name, Bound))
        elif name == "character":
            self._made.characters = (low or 0, math.inf if high is None else high)
            self._done.add((name, Bound))
        elif name == "title" and low == 1:
            self._rules["title"] = {"form": "any"}
            self._done.add((name, Bound))

    def _terms(self) -> None:
        domain = self._domains.get(TERM)
        if domain is None or not self._is_text:
            return
        for rule, kind, values in (
            ("must-include", Has, domain.has),
            ("must-not-include", NoneOf, domain.excluded),
        ):
            terms = sorted(str(value) for label, value in values if label == "text")
            if terms and len(terms) == len(values):
                self._rules[rule] = {"terms": terms}
                self._done.add((TERM, kind))

    def _affixes(self, claims: Iterable[Affix]) -> None:
        longest: dict[str, str] = {}
        for claim in claims:
            if claim.subject.space == OUTPUT and len(claim.phrase) > len(
                longest.get(claim.subject.name, "")
            ):
                longest[claim.subject.name] = claim.phrase
        for name, phrase in longest.items():
            if self._is_text and name in ("start", "end"):
                self._rules[f"must-{name}"] = {"text": phrase}
                self._done.add((name, Affix))

    def _choice(self, name: str, rule: str, option: str) -> None:
        allowed = _left(self._domains.get(name))
        if len(allowed) != 1 or not self._is_text:
            return
        value = allowed[0].split("-")[0]
        if rule == "language":
            code = code_of(value)
            if code is None:
                return
            value = code
            if value in ("en", "zh"):
                self._made.settings["language"] = value
        elif value not in ("upper", "lower"):
            return
        self._rules[rule] = {option: value}
        self._done |= {(name, OneOf), (name, NoneOf)}


def _left(domain: Domain | None) -> list[str]:
    """The texts that a domain leaves, where it lists them."""
    if domain is None or domain.allowed is None:
        return []
    return sorted(str(value) for kind, value in domain.allowed - domain.excluded if kind == "text")
