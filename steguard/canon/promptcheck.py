"""What in a prompt contradicts itself, found before anything is sent.

A contradiction has two places, and each of them gets a finding that names the line of the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from steguard.canon.problems import Path, Problem
from steguard.canon.promptspec import COUNTED, PromptSpec, fault
from steguard.canon.wording import category, same
from steguard.rules.limits._limits import CJK
from steguard.types import Severity

LineOf = Callable[[Path], int]

_WORD = re.compile(rf"[{CJK}]|[^\W{CJK}]+")
_NUMERAL = re.compile(r"\d+(?:[.,]\d+)*")
_REQUIRED = ("must_include", "include_fields", "headings")


def conflicts(spec: PromptSpec, line_of: LineOf) -> Iterator[Problem]:
    """Every contradiction of the settings. ``line_of`` gives the line of a path."""
    yield from _crossed_limits(spec, line_of)
    yield from _impossible_limits(spec, line_of)
    yield from _forbidden_but_required(spec, line_of)
    yield from _too_much_required(spec, line_of)
    yield from _formats(spec, line_of)
    yield from _languages(spec, line_of)
    yield from _categories(spec)
    yield from _many(spec)


def _both(
    rule: str,
    spots: tuple[tuple[str, Path], tuple[str, Path]],
    line_of: LineOf,
    message: str,
    do: str,
) -> Iterator[Problem]:
    """One finding at each of two places, which names the other place."""
    for (_, path), (other, far) in (spots, spots[::-1]):
        yield fault(rule, path, f"{message} See {other} in line {line_of(far)}.", do)


def _limit_spots(spec: PromptSpec, one: str, two: str) -> tuple[tuple[str, Path], tuple[str, Path]]:
    return (f"'{one}'", spec.place(one)), (f"'{two}'", spec.place(two))


def _crossed_limits(spec: PromptSpec, line_of: LineOf) -> Iterator[Problem]:
    for noun in COUNTED:
        low, high = f"min_{noun}", f"max_{noun}"
        least, most = spec.limits.get(low), spec.limits.get(high)
        if least is not None and most is not None and least > most:
            message = f"'{low}' ({least}) is more than '{high}' ({most})."
            do = f"Write a '{low}' of {most} or less, or remove one of them."
            yield from _both(
                "conflicting-limits", _limit_spots(spec, low, high), line_of, message, do
            )
    words = spec.limits.get("max_words")
    for noun in ("sentences", "paragraphs", "bullets"):
        least = spec.limits.get(f"min_{noun}")
        if words is not None and least is not None and 0 < words < least:
            spots = _limit_spots(spec, f"min_{noun}", "max_words")
            message = f"{least} {noun} have more than {words} words."
            yield from _both("conflicting-limits", spots, line_of, message, "Write a larger limit.")


def _impossible_limits(spec: PromptSpec, line_of: LineOf) -> Iterator[Problem]:
    for name in ("max_words", "max_sentences", "max_paragraphs"):
        if spec.limits.get(name) == 0:
            message = f"'{name}: 0' leaves no answer."
            yield fault("impossible-limit", spec.place(name), message, "Write 1 or more.")
    for name, unlike in (("min_bullets", False), ("max_bullets", True)):
        wanted = spec.limits.get(name)
        clash = wanted == 0 if unlike else bool(wanted)
        if spec.bullets is unlike and clash:
            spots = _limit_spots(spec, "bullets", name)
            message = f"'bullets: {str(unlike).lower()}' and '{name}: {wanted}' cannot both hold."
            yield from _both("conflicting-limits", spots, line_of, message, "Remove one of them.")


def _required(spec: PromptSpec) -> list[tuple[str, Path]]:
    return [pair for key in _REQUIRED for pair in spec.terms.get(key, ())]


def _forbidden_but_required(spec: PromptSpec, line_of: LineOf) -> Iterator[Problem]:
    for bad, far in spec.terms.get("must_not_include", ()):
        kind = category(bad)
        for good, near in _required(spec):
            if _contains(same(good), same(bad)) or (kind and kind.finds(good)):
                message = f"'{good}' is required and '{bad}' is forbidden."
                spots = ((f"'{good}'", near), (f"'{bad}'", far))
                do = "Remove one of them."
                yield from _both("required-and-forbidden", spots, line_of, message, do)


def _contains(text: str, term: str) -> bool:
    """Whether the term stands in the text as the rule ``must-not-include`` sees it."""
    before = "" if re.match(f"[{CJK}]", term) else r"(?<!\w)"
    after = "" if re.match(f"[{CJK}]", term[-1:]) else r"(?!\w)"
    return re.search(before + re.escape(term) + after, text) is not None


def _too_much_required(spec: PromptSpec, line_of: LineOf) -> Iterator[Problem]:
    """Required terms that alone have more words or numbers than a limit permits."""
    distinct = list({same(term): (term, path) for term, path in _required(spec)}.values())
    apart = [
        (term, path)
        for term, path in distinct
        if not any(other is not term and same(term) in same(other) for other, _ in distinct)
    ]
    for name, pattern in (("max_words", _WORD), ("max_numbers", _NUMERAL)):
        most = spec.limits.get(name)
        count = sum(len(pattern.findall(term)) for term, _ in apart)
        if most is not None and count > most and not (name == "max_words" and most == 0):
            noun = name.removeprefix("max_")
            message = f"The required terms have {count} {noun} and '{name}' is {most}."
            last = next(path for term, path in reversed(apart) if pattern.search(term))
            spots = ((f"'{name}'", spec.place(name)), ("the terms", last))
            do = f"Write a larger '{name}' or fewer terms."
            yield from _both("conflicting-limits", spots, line_of, message, do)


def _formats(spec: PromptSpec, line_of: LineOf) -> Iterator[Problem]:
    place = spec.place("format") if "format" in spec.where else spec.place("output_format")
    if spec.format != "json":
        return
    if not spec.include_fields:
        do = "Write 'include_fields: [name, other_name]'."
        yield fault("conflicting-format", place, "JSON has fields and the prompt names none.", do)
    for name in ("headings", "heading", "bullets", "must_include"):
        if name in spec.where and getattr(spec, "headings" if name == "heading" else name):
            spots = (("the format", place), (f"'{name}'", spec.place(name)))
            message = f"A JSON answer cannot have '{name}'."
            yield from _both("conflicting-format", spots, line_of, message, "Remove one of them.")
    for name in spec.limits:
        spots = (("the format", place), (f"'{name}'", spec.place(name)))
        message = f"'{name}' counts a whole text and not the fields of JSON."
        yield from _both("conflicting-format", spots, line_of, message, "Remove one of them.")


def _languages(spec: PromptSpec, line_of: LineOf) -> Iterator[Problem]:
    """Required terms in the letters of another language: possible, but most often a mistake."""
    if spec.language is None or spec.language in ("zh", "ja"):
        return
    for term, path in _required(spec):
        if re.search(f"[{CJK}]", term):
            line = line_of(spec.place("language"))
            message = f"'{term}' is not in the language of line {line}."
            do = "Write the term in that language, or change the language."
            yield fault("conflicting-language", path, message, do, Severity.WARNING)


def _categories(spec: PromptSpec) -> Iterator[Problem]:
    for term, path in spec.terms.get("must_not_include", ()):
        kind = category(term)
        if kind is None:
            continue
        if kind.checkable:
            message = f"'{term}' forbids these words and each expression of the kind. {kind.limits}"
            yield fault("partly-checked", path, message, None, Severity.INFO)
        else:
            message = f"No check can find '{term}'. It is guidance for the model. {kind.limits}"
            do = "Write the terms themselves, such as [Miller, Smith]."
            yield fault("not-checkable", path, message, do, Severity.WARNING)


def _many(spec: PromptSpec) -> Iterator[Problem]:
    """A word on prompts with so many rules that a model forgets some."""
    others = (spec.headings, spec.include_fields, spec.must_include, spec.must_not_include)
    count = len(spec.limits) + sum(map(bool, (*others, spec.bullets, spec.language, spec.style)))
    if count > _MANY:
        message = f"The prompt has {count} rules. A model obeys few rules better than many."
        do = "Keep the rules that matter most."
        yield fault("many-rules", ("canon-prompt",), message, do, Severity.INFO, at="key")


_MANY = 8
