"""The rules of a Canon prompt: as a profile for the guard, and as lines for the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from steguard.canon.promptspec import PromptSpec
from steguard.canon.wording import Category, categories, category, same, styles
from steguard.contract import Contract
from steguard.errors import UsageError
from steguard.rules.limits._limits import wanted
from steguard.yamlfile import nearest


def guardrail_lines(spec: PromptSpec, contract: Contract) -> list[str]:
    """One line for each rule that the contract checks, then the guidance that it cannot check."""
    style = styles().get(same(spec.style))
    lines = []
    if spec.format == "json":
        names = ", ".join(f"`{name}`" for name in spec.include_fields)
        lines.append(f"Write one JSON object with the fields {names} and nothing else.")
    quiet = {*(style.rules if style else ()), *(("bullet-count",) if spec.bullets else ())}
    for active in contract.profile.active.values():
        line = None if active.rule.name in quiet else active.rule.prompt(active.options)
        if line:
            lines.append(line)
    if spec.bullets:
        bounds = wanted(_range(_bullet_bounds(spec)), "item")
        lines.append(f"Write the content as a list of {bounds}, with `- ` before each item.")
    if spec.style:
        lines.append(style.line if style else f"Use this style: {spec.style}.")
    kinds = [kind.names[0] for term in spec.must_not_include if (kind := category(term))]
    if kinds:
        others = f"{', '.join(kinds[:-1])} or " if kinds[1:] else ""
        lines.append(f"Do not write {others}{kinds[-1]}.")
    return lines


def profile_of(
    spec: PromptSpec, extends: str | None, known: Mapping[str, tuple[str, ...]]
) -> dict[str, Any]:
    output: dict[str, Any] = {}
    if spec.format == "json":
        fields = {name: {"type": "string", "minLength": 1} for name in spec.include_fields}
        shape = {"type": "object", "properties": fields, "required": list(fields)}
        output = {"format": "json", "schema": {**shape, "additionalProperties": False}}
    return {
        "steguard": 1,
        "name": f"canon-{spec.task}"[:60],
        **({"extends": extends} if extends else {}),
        "language": "zh" if spec.language == "zh" else "en",
        "rules": _rules(spec, known),
        "prompt": {"template": None},
        "output": output,
        "fallback": "raise",
    }


def _rules(spec: PromptSpec, known: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    rules: dict[str, Any] = {"missing-text": {}}
    for noun, rule in (
        ("words", "word-count"),
        ("sentences", "sentence-count"),
        ("paragraphs", "paragraph-count"),
    ):
        bounds = _bounds(spec, noun)
        if bounds:
            rules[rule] = bounds
    numbers = _bounds(spec, "numbers")
    if numbers:
        rules["number-limit"] = {f"{key}_count": value for key, value in numbers.items()}
    bullets = _bullet_bounds(spec)
    if bullets:
        rules["bullet-count"] = {**bullets, "markers": "markdown"}
    if spec.headings:
        rules["required-headings"] = {"headings": spec.headings}
    required = [*spec.must_include, *(spec.include_fields if spec.format != "json" else ())]
    stated = {same(heading) for heading in spec.headings}
    required = [t for t in {same(t): t for t in required}.values() if same(t) not in stated]
    if required:
        rules["must-include"] = {"terms": required}
    if spec.language:
        rules["language"] = {"language": spec.language}
    return rules | _forbidden(spec, known) | _style(spec)


def _bounds(spec: PromptSpec, noun: str) -> dict[str, int]:
    both = {"min": spec.limits.get(f"min_{noun}"), "max": spec.limits.get(f"max_{noun}")}
    return {key: value for key, value in both.items() if value is not None}


def _bullet_bounds(spec: PromptSpec) -> dict[str, int]:
    bounds = _bounds(spec, "bullets")
    if spec.bullets is None:
        return bounds
    return {"min": 1, **bounds} if spec.bullets else {"max": 0}


def _range(bounds: Mapping[str, int]) -> tuple[int | None, int | None]:
    return bounds.get("min"), bounds.get("max")


def _forbidden(spec: PromptSpec, known: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    rules: dict[str, Any] = {}
    plain: list[str] = []
    for term in spec.must_not_include:
        plain.append(term)
        kind = category(term)
        if kind is None:
            continue
        plain += known.get(kind.key, ())
        if kind.checkable:
            rules[f"no-{kind.key}"] = _pattern_rule(kind)
    if plain:
        rules["must-not-include"] = {"terms": plain}
    return rules


def _style(spec: PromptSpec) -> dict[str, Any]:
    style = styles().get(same(spec.style))
    if style is None:
        return {}
    rules: dict[str, Any] = {name: {} for name in style.rules}
    if style.category:
        kind = categories()[style.category]
        rules[f"no-{kind.key}"] = _pattern_rule(kind)
    return rules


def _pattern_rule(kind: Category) -> dict[str, Any]:
    return {
        "type": "pattern",
        "where": "text",
        "timeout": 2,
        "pattern": kind.pattern,
        "message": f"'{{bad}}' is forbidden: the prompt permits no {kind.names[0]}.",
        "suggestion": "Remove it or write it in other words.",
    }


def known_terms(
    spec: PromptSpec, terms: Mapping[str, Iterable[str]] | None
) -> dict[str, tuple[str, ...]]:
    """The caller's own words for categories, by the key of the category."""
    found: dict[str, tuple[str, ...]] = {}
    wanted = {kind.key for term in spec.must_not_include if (kind := category(term))}
    for name, words in (terms or {}).items():
        kind = category(name)
        if kind is None or kind.key not in wanted:
            listed = [term for term in spec.must_not_include if category(term)]
            raise UsageError(f"'{name}' is no category of this prompt{nearest(name, listed)}")
        found[kind.key] = tuple(words)
    return found
