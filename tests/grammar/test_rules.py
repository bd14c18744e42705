"""What holds for all grammar rules together."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steguard.rules.registry import get_rule
from steguard.ruleset import ActiveRule, RuleSet
from steguard.text.model import Document
from steguard.text.segment import segment
from steguard.types import Hit
from tests.support.effort import grows_linearly

NAMES = [
    "noun-cluster",
    "missing-article",
    "perfect-tense",
    "progressive-tense",
    "complex-verb",
    "ing-form",
    "passive-voice",
    "nominalisation",
    "one-topic",
    "connecting-word",
    "one-instruction",
    "imperative",
    "condition-first",
    "note-instruction",
    "topic-first",
    "phrasal-verb",
    "dangling-pronoun",
    "telegraph-style",
]


def check(text: str, *names: str) -> list[tuple[str, Hit]]:
    rules = [get_rule(name) for name in names or NAMES]
    run = RuleSet([ActiveRule(rule, rule.options()) for rule in rules]).start()
    sentences = segment(text, format="markdown")
    found = [pair for sentence in sentences for pair in run.sentence(sentence)]
    found += run.finish(Document(text, "markdown", "en", sentences))
    return [(active.rule.name, hit) for active, hit in found]


_VOCABULARY = [
    "open",
    "the",
    "valve",
    "and",
    "then",
    "read",
    "it",
    "by",
    "using",
    "a",
    "tool",
    "if",
    "is",
    "was",
    "been",
    "being",
    "has",
    "have",
    "will",
    "could",
    "opened",
    "opening",
    "carry",
    "out",
    "inspection",
    "perform",
    "of",
    "pump",
    "filter",
    "fuel",
    "housing",
    "you",
    "must",
    "should",
    "this",
    "it",
    "not",
    ",",
    ".",
    ":",
    "?",
    "-",
    "note",
    "when",
    "agent",
]


@settings(deadline=None)
@given(st.lists(st.sampled_from(_VOCABULARY), max_size=40))
def test_every_hit_and_edit_lies_in_the_text(words: list[str]) -> None:
    text = " ".join(words)
    for _, hit in check(text):
        assert 0 <= hit.start < hit.end <= len(text)
        assert all(0 <= e.start <= e.end <= len(text) for e in hit.edits)


@pytest.mark.parametrize(
    "text",
    [
        "Open the valve. Read the pressure. Close the valve.",
        "If the lamp is red, stop the pump.",
        "The agent reads the file and sends the result to the planner.",
        "Make sure that the cover is closed and that the pump is clean.",
        "- The tank is full.\n- The valve is shut.",
    ],
)
def test_good_ste_has_no_findings(text: str) -> None:
    assert check(text) == []


def test_prompt_lines_obey_the_rules_that_they_announce() -> None:
    for name in NAMES:
        rule = get_rule(name)
        line = rule.prompt(rule.options())
        if line is not None:
            assert "should" not in line
            assert [n for n, _ in check(line, "passive-voice", "perfect-tense", name)] == [], line


def test_a_complex_passive_is_a_passive_and_a_complex_verb() -> None:
    names = {name for name, _ in check("The job will have been completed by noon.")}
    assert {"passive-voice", "complex-verb"} <= names


def test_safe_fixes_of_two_rules_leave_good_text() -> None:
    text = "Open the panel and read the value. Stop the pump if the lamp is red."
    edits = [e for _, hit in check(text, "one-instruction", "condition-first") for e in hit.edits]
    for edit in sorted(edits, key=lambda e: e.start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    assert text == "Open the panel. Read the value. If the lamp is red, stop the pump."
    assert check(text) == []


@pytest.mark.parametrize(
    "part",
    [
        "open, and ",
        "has not been by the agent opened, ",
        "fuel pump filter housing ",
        "if the valve is ",
        "by using the ",
        "set up look at carry out ",
    ],
)
def test_long_sentences_take_linear_time(part: str) -> None:
    rules = RuleSet([ActiveRule(get_rule(name), get_rule(name).options()) for name in NAMES])

    def judge(size: int) -> None:
        run = rules.start()
        for sentence in segment(part * size, format="plain"):
            run.sentence(sentence)

    assert grows_linearly(judge, 60)
