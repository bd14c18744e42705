"""Verb forms, both ways."""

from __future__ import annotations

import pytest

from steguard.text.verbs import gerund, participle, past_of, present, third, verbs


@pytest.mark.parametrize(
    ("form", "base"),
    [
        ("opened", "open"),
        ("carried", "carry"),
        ("stopped", "stop"),
        ("referred", "refer"),
        ("cancelled", "cancel"),
        ("canceled", "cancel"),
        ("panicked", "panic"),
        ("written", "write"),
        ("found", "find"),
        ("set", "set"),
        ("reindexed", "reindex"),
        ("misread", "misread"),
    ],
)
def test_participle_leads_back_to_the_base(form: str, base: str) -> None:
    assert participle(form) == base


@pytest.mark.parametrize("word", ["table", "went", "need", "red", "unexpected", "the", ""])
def test_other_words_are_no_participles(word: str) -> None:
    assert participle(word) is None


def test_every_verb_comes_back_from_its_own_forms() -> None:
    lost = [
        (verb.base, form)
        for verb in verbs().values()
        for form, find in [(verb.third, present), (verb.ing, gerund)]
        if find(form) is None
    ]
    lost += [
        (v.base, form) for v in verbs().values() for form in v.participle if not participle(form)
    ]
    assert lost == []


def test_the_data_holds_verbs_enough_for_real_text() -> None:
    assert len(verbs()) > 1500


@pytest.mark.parametrize(
    ("base", "in_s", "past"),
    [("carry", "carries", "carried"), ("go", "goes", "went"), ("push", "pushes", "pushed"),
     ("play", "plays", "played"), ("frobnicate", "frobnicates", "frobnicated")],
)  # fmt: skip
def test_inflection(base: str, in_s: str, past: str) -> None:
    assert third(base) == in_s
    assert past_of(base) == past
