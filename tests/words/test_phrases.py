"""The data types that a profile can use for its own rules."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from steguard.rules.phrases import (
    CUSTOM_TYPES,
    Consistency,
    Existence,
    Limit,
    Pattern,
    Substitution,
)
from steguard.types import Safety
from tests.words.checks import custom, excerpts, mended


def test_existence_finds_words_and_phrases_in_any_case() -> None:
    text = "Gonna stop. We wanna go, as it were. It is as it was."
    found = custom("existence", text, words=["gonna", "wanna", "as it were"])
    assert excerpts(text, found) == ["Gonna", "wanna", "as it were"]


def test_existence_finds_all_forms_of_a_verb() -> None:
    text = "It crashes. It crashed. Crashing is bad. The crasher."
    found = custom("existence", text, words=["crash"], pos="verb")
    assert excerpts(text, found) == ["crashes", "crashed", "Crashing"]


def test_existence_finds_the_plural_and_the_possessive_of_a_noun() -> None:
    text = "A widget. Two widgets. The widget's color. The widgets' size."
    found = custom("existence", text, words=["widget"], pos="noun")
    assert excerpts(text, found) == ["widget", "widgets", "widget's", "widgets'"]


def test_existence_uses_the_message_of_the_profile() -> None:
    (hit,) = custom(
        "existence", "Stop, dude.", words=["dude"], message="No '{bad}' here.", suggestion="Go."
    )
    assert (hit.message, hit.suggestion) == ("No 'dude' here.", "Go.")


@pytest.mark.parametrize(
    "text",
    [
        "The discovery is old.",
        "Run `very` now.",
        "See https://example.org/very for it.",
        'The label "very" is red.',
        "The very_hot flag.",
    ],
)
def test_phrases_are_never_found_inside_words_code_or_quotes(text: str) -> None:
    assert custom("existence", text, words=["very"]) == []


def test_substitution_keeps_capitals() -> None:
    text = "Log in to it. LOG IN TO it. You log in to it."
    found = custom("substitution", text, swap={"log in to": "sign in to"})
    assert mended(text, found) == "Sign in to it. SIGN IN TO it. You sign in to it."


def test_substitution_repairs_the_article() -> None:
    text = "An automobile is a used apparatus. A vehicle is here."
    found = custom("substitution", text, swap={"automobile": "car", "vehicle": "auto"})
    assert mended(text, found) == "A car is a used apparatus. An auto is here."


def test_substitution_keeps_the_form_of_a_verb() -> None:
    text = "He purchases it. They purchased it. Purchasing it is easy."
    found = custom("substitution", text, swap={"purchase": "buy"}, pos="verb")
    assert mended(text, found) == "He buys it. They bought it. Buying it is easy."


def test_substitution_keeps_the_form_of_a_phrase() -> None:
    text = "He carries out tests and kicked off one."
    found = custom("substitution", text, swap={"carry out": "do", "kick off": "start"}, pos="verb")
    assert mended(text, found) == "He does tests and started one."


def test_the_longest_phrase_wins() -> None:
    text = "Do it in order to stop. Sort in order."
    found = custom("substitution", text, swap={"in order": "sorted", "in order to": "to"})
    assert mended(text, found) == "Do it to stop. Sort sorted."


def test_a_fix_is_safe_only_if_the_profile_says_so() -> None:
    (unsafe,) = custom("substitution", "Use colours.", swap={"colours": "colors"})
    (safe,) = custom("substitution", "Use colours.", swap={"colours": "colors"}, safe=True)
    assert (unsafe.safety, safe.safety) == (Safety.UNSAFE, Safety.SAFE)


def test_limit_counts_words_in_a_sentence_and_in_a_text() -> None:
    text = "Stop! Go! Stop! And stop, stop now."
    assert excerpts(text, custom("limit", text, words=["stop"], max=1)) == ["stop"]
    assert excerpts(text, custom("limit", text, words=["stop"], max=2, per="text")) == [
        "stop",
        "stop",
    ]
    assert len(custom("limit", text, words=["!"], max=1, per="text")) == 2


def test_limit_has_a_minimum() -> None:
    text = "Open the valve. Stop."
    assert excerpts(text, custom("limit", text, min=2)) == ["Stop."]
    assert len(custom("limit", text, words=["valve"], min=2, per="text")) == 1
    assert custom("limit", text, words=["valve"], min=1, per="text") == []


def test_limit_counts_all_words_without_a_list() -> None:
    text = "Open the valve. Close it now."
    found = custom("limit", text, max=4, per="text")
    assert excerpts(text, found) == ["Close it now."]


def test_consistency_takes_the_first_word_as_the_term() -> None:
    text = "The motor is on. The engine is off. The engines stop."
    found = custom("consistency", text, groups=[["engine", "motor"]])
    assert mended(text, found) == "The motor is on. The motor is off. The motors stop."


def test_consistency_starts_anew_with_each_text() -> None:
    groups = [["engine", "motor"]]
    assert custom("consistency", "The motor.", groups=groups) == []
    assert custom("consistency", "The engine.", groups=groups) == []


def test_pattern_finds_and_replaces() -> None:
    text = "Fix jira-12 and JIRA-7."
    found = custom("pattern", text, pattern=r"\bjira-(\d+)", replace=r"ticket \1", safe=True)
    assert excerpts(text, found) == ["jira-12", "JIRA-7"]
    assert mended(text, found, Safety.SAFE) == "Fix ticket 12 and ticket 7."


def test_pattern_does_not_look_into_code() -> None:
    assert custom("pattern", "Run `abc` and abc_def.", pattern="abc") == []


def test_a_pattern_that_takes_too_long_is_a_finding_and_stops() -> None:
    text = "a" * 60
    found = custom("pattern", text, pattern="(a|aa)+$(?<=b)", timeout=0.05)
    assert "seconds" in found[0].message


@pytest.mark.parametrize(
    ("type_", "options", "part"),
    [
        (Existence, {"words": []}, "words"),
        (Existence, {"words": [" "]}, "a phrase must have a word"),
        (Existence, {"word": ["x"]}, "Extra inputs"),
        (Substitution, {"swap": {}}, "swap"),
        (Limit, {"words": ["x"]}, "give 'min' or 'max'"),
        (Limit, {"min": 5, "max": 2}, "'min' (5) is larger than 'max' (2)"),
        (Consistency, {"groups": [["one"]]}, "two words or more"),
        (Pattern, {"pattern": "(["}, "no regular expression"),
        (Pattern, {"pattern": "a", "timeout": 0}, "timeout"),
    ],
)
def test_bad_options_are_refused(type_, options, part) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValidationError) as caught:
        type_.model_validate(options)
    assert part in str(caught.value)


def test_each_type_makes_a_rule_with_the_name_of_the_profile() -> None:
    for make in CUSTOM_TYPES.values():
        rule = make("my-rule")
        assert (rule.name, rule.code) == ("my-rule", "MY-RULE")
