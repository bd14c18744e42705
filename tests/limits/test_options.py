"""What the text limits accept, refuse and announce."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from steguard.rules.base import Rule
from steguard.rules.registry import all_rules, get_rule
from steguard.text.segment import segment
from tests.support.limits import hits

LIMITS = [rule for rule in all_rules().values() if rule.code.startswith("LIM")]
EVERYTHING = """<<Title>> P.S. *a* [b] SECTION 1

- HELLO, world 500

"She said **no**" ****** 你好，世界
"""
RANGES = [rule for rule in LIMITS if {"min", "max"} <= set(rule.options.model_fields)]

SET = {
    "word-count": {"min": 2, "max": 5},
    "sentence-count": {"max": 3},
    "paragraph-count": {"min": 2, "max": 2},
    "number-limit": {"min_value": 1, "max_value": 9},
    "bullet-count": {"min": 1},
    "section-count": {"min": 2, "splitter": "Section"},
    "highlight-count": {"min": 1},
    "placeholder-count": {"max": 0},
    "capital-word-count": {"max": 0},
    "keyword-count": {"keyword": "valve", "relation": "at most", "count": 2},
    "letter-count": {"letter": "#", "count": 1},
    "must-include": {"terms": ["pump", "valve"]},
    "must-not-include": {"terms": "bolt"},
    "must-start": {"text": "Status:"},
    "must-end": {"text": "End."},
    "no-comma": {"required": True},
    "one-of": {"choices": ["Yes.", "No."]},
    "repeat-prompt": {"text": "Open it."},
    "letter-case": {"case": "upper"},
    "language": {"language": "en"},
    "title": {"form": "angle"},
    "postscript": {"marker": "P.S."},
    "quotation": {"required": True},
    "two-responses": {"separator": "******"},
    "paragraph-first-word": {"word": "result", "paragraph": 2},
    "valid-json": {"required": True},
    "required-headings": {"headings": ["Result"]},
}


@pytest.mark.parametrize("rule", LIMITS, ids=lambda rule: rule.name)
def test_limit_without_values_finds_nothing(rule: Rule) -> None:
    for text in ("", "123", EVERYTHING):
        assert hits(rule.name, text) == []
    assert rule.prompt(rule.options()) is None


@pytest.mark.parametrize("rule", LIMITS, ids=lambda rule: rule.name)
def test_limit_has_one_short_prompt_sentence(rule: Rule) -> None:
    prompt = rule.prompt(rule.options.model_validate(SET[rule.name]))
    assert prompt is not None
    sentences = segment(prompt, format="plain", language="en")
    assert sum(s.words for s in sentences) <= 20
    assert prompt.endswith(".")
    assert "should" not in prompt


@pytest.mark.parametrize("rule", LIMITS, ids=lambda rule: rule.name)
def test_every_option_is_documented(rule: Rule) -> None:
    for name, field in rule.options.model_fields.items():
        assert field.description, f"{rule.name}: {name}"


@pytest.mark.parametrize("rule", RANGES, ids=lambda rule: rule.name)
def test_min_above_max_is_refused_with_both_names(rule: Rule) -> None:
    with pytest.raises(ValidationError, match=r"min \(5\) is more than max \(4\)"):
        rule.options.model_validate({"min": 5, "max": 4, **_needed(rule)})
    rule.options.model_validate({"min": 5, "max": 5, **_needed(rule)})


def _needed(rule: Rule) -> dict[str, str]:
    return {"splitter": "Section"} if rule.name == "section-count" else {}


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("word-count", {"min": -1}, "greater than or equal to 0"),
        ("word-count", {"minimum": 1}, "Extra inputs"),
        ("number-limit", {"min_value": 2.5, "max_value": 1}, r"min_value \(2.5\) is more than"),
        ("number-limit", {"min_count": 2, "max_count": 1}, r"min_count \(2\) is more than"),
        ("section-count", {"min": 1}, "needs a splitter"),
        ("keyword-count", {"keyword": "a", "relation": "about"}, "at_least"),
        ("keyword-count", {"keyword": "a", "relation": "less_than", "count": 0}, "not possible"),
        ("letter-count", {"letter": "ab"}, "at most 1"),
        ("must-include", {"terms": [""]}, "at least 1"),
        ("language", {"language": "klingon"}, "not known; the codes are am, ar"),
        ("paragraph-first-word", {"word": "a", "paragraph": 3, "paragraphs": 2}, "more than"),
    ],
)
def test_senseless_options_are_refused(name: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        get_rule(name).options.model_validate(options)


@pytest.mark.parametrize(
    ("relation", "permitted"),
    [
        ("at least", {2, 3, 4}),
        ("at_most", {0, 1, 2}),
        ("exactly", {2}),
        ("less than", {0, 1}),
        ("more-than", {3, 4}),
    ],
)
def test_relations_of_a_keyword(relation: str, permitted: set[int]) -> None:
    for number in range(5):
        text = "the " + "valve " * number
        found = hits("keyword-count", text, keyword="valve", relation=relation, count=2)
        assert (not found) == (number in permitted)
