"""The tagger decides by neighbours what a word is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steguard.text.pos import PROPER, imperative_at, masks, tags
from steguard.text.segment import segment
from steguard.text.wordclass import ADJ, BASE, ING, NOUN, PART, PAST, THIRD


def tag_of(text: str, word: str) -> int:
    sentence = segment(text, format="plain")[0]
    return tags(sentence)[sentence.lowers.index(word)]


@pytest.mark.parametrize(
    ("text", "word", "tag"),
    [
        ("Check the filter.", "check", BASE),
        ("The check is complete.", "check", NOUN),
        ("You must check it.", "check", BASE),
        ("The agent checks the file.", "checks", THIRD),
        ("The checks are complete.", "checks", NOUN),
        ("The agent opened the file.", "opened", PAST),
        ("The agent has opened the file.", "opened", PART),
        ("The opened file is here.", "opened", PART),
        ("Please log the result.", "log", BASE),
        ("Test results show the cause.", "test", NOUN),
        ("Ask Miller for the key.", "miller", PROPER),
        ("The motor is running.", "running", ING),
        ("The larger file is here.", "larger", ADJ),
    ],
)
def test_a_word_gets_its_class_from_its_place(text: str, word: str, tag: int) -> None:
    assert tag_of(text, word) == tag


@pytest.mark.parametrize(
    "text", ["Open the file.", "Please open it.", "Do not stop.", "Then open it."]
)
def test_commands_are_seen(text: str) -> None:
    assert imperative_at(segment(text, format="plain")[0]) is not None


@pytest.mark.parametrize(
    "text", ["The file is open.", "Test results are here.", "I open the file.", "Let me open it."]
)
def test_statements_are_no_commands(text: str) -> None:
    assert imperative_at(segment(text, format="plain")[0]) is None


@given(st.text(alphabet="abc THE the is by -.,'?!\n", max_size=80))
def test_any_text_gets_one_class_a_token(text: str) -> None:
    for sentence in segment(text, format="plain"):
        assert len(tags(sentence)) == len(masks(sentence)) == len(sentence.tokens)
        assert all(tag and tag & (tag - 1) == 0 for tag in tags(sentence))
