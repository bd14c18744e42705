"""Every instruction type of IFEval is expressible, and its verdicts are right."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.ifeval import follows
from benchmarks.ifeval_answers import BUILDERS

INSTRUCTIONS: list[tuple[str, dict[str, Any]]] = [
    ("length_constraints:number_words", {"relation": "at least", "num_words": 12}),
    ("length_constraints:number_words", {"relation": "less than", "num_words": 7}),
    ("length_constraints:number_sentences", {"relation": "at least", "num_sentences": 9}),
    ("length_constraints:number_sentences", {"relation": "less than", "num_sentences": 2}),
    ("length_constraints:number_paragraphs", {"num_paragraphs": 3}),
    (
        "length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 3, "nth_paragraph": 2, "first_word": "valve"},
    ),
    ("keywords:existence", {"keywords": ["valve", "pump"]}),
    ("keywords:forbidden_words", {"forbidden_words": ["step", "steps", "can"]}),
    ("keywords:frequency", {"keyword": "valve", "relation": "less than", "frequency": 1}),
    ("keywords:frequency", {"keyword": "knot", "relation": "at least", "frequency": 4}),
    ("keywords:letter_frequency", {"letter": "q", "let_relation": "at least", "let_frequency": 3}),
    ("keywords:letter_frequency", {"letter": "!", "let_relation": "less than", "let_frequency": 2}),
    (
        "change_case:capital_word_frequency",
        {"capital_relation": "less than", "capital_frequency": 3},
    ),
    (
        "change_case:capital_word_frequency",
        {"capital_relation": "at least", "capital_frequency": 2},
    ),
    ("change_case:english_capital", {}),
    ("change_case:english_lowercase", {}),
    ("language:response_language", {"language": "mr"}),
    ("language:response_language", {"language": "fi"}),
    ("detectable_content:number_placeholders", {"num_placeholders": 2}),
    ("detectable_content:postscript", {"postscript_marker": "P.P.S"}),
    ("detectable_format:number_bullet_lists", {"num_bullets": 2}),
    ("detectable_format:constrained_response", {}),
    ("detectable_format:number_highlighted_sections", {"num_highlights": 3}),
    ("detectable_format:multiple_sections", {"section_spliter": "Part", "num_sections": 2}),
    ("detectable_format:json_format", {}),
    ("detectable_format:title", {}),
    ("startend:end_checker", {"end_phrase": "That is all."}),
    ("startend:quotation", {}),
    ("combination:repeat_prompt", {"prompt_to_repeat": "Write about 2 valves (no pumps)."}),
    ("combination:two_responses", {}),
    ("punctuation:no_comma", {}),
]


def test_all_types_are_here() -> None:
    assert {name for name, _ in INSTRUCTIONS} == set(BUILDERS)
    assert len(BUILDERS) == 25


@pytest.mark.parametrize(("name", "kwargs"), INSTRUCTIONS, ids=lambda value: str(value)[:50])
def test_verdicts(name: str, kwargs: dict[str, Any]) -> None:
    samples = list(BUILDERS[name](kwargs))
    assert {right for _, _, right in samples} == {True, False}
    wrong = [(k, a, r) for k, a, r in samples if follows(name, kwargs, a) != r]
    assert wrong == []


@pytest.mark.parametrize(
    ("name", "kwargs", "answer", "right"),
    [
        ("detectable_format:number_highlighted_sections", {"num_highlights": 2}, "* **a** b", True),
        ("detectable_format:number_bullet_lists", {"num_bullets": 1}, "*a* is b", True),
        ("detectable_format:multiple_sections", {"section_spliter": "Day", "num_sections": 1},
         "See Day 4.", True),
        ("detectable_content:number_placeholders", {"num_placeholders": 1}, "[x](y)", True),
        ("detectable_content:postscript", {"postscript_marker": "P.S."}, "p. s. at first", True),
        ("length_constraints:nth_paragraph_first_word",
         {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "b"}, "a\n\n\n\nb", False),
        ("change_case:capital_word_frequency",
         {"capital_relation": "at least", "capital_frequency": 2}, "DON'T", True),
        ("detectable_format:json_format", {}, '"a"', True),
    ],
)  # fmt: skip
def test_the_published_meaning_wins_over_the_natural_one(
    name: str, kwargs: dict[str, Any], answer: str, right: bool
) -> None:
    assert follows(name, kwargs, answer) is right
