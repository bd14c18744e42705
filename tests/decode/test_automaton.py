"""Word sets: the automaton, its expression and its order."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steguard.decode.automaton import Words

WORDS = st.sets(st.text("abcdes", min_size=1, max_size=7), min_size=1, max_size=40)


@given(WORDS)
def test_the_automaton_holds_exactly_its_words(words: set[str]) -> None:
    automaton = Words(words)
    assert list(automaton) == sorted(words)
    assert len(automaton) == len(words)
    assert all(word in automaton for word in words)


@given(WORDS, st.text("abcdes", max_size=8))
def test_the_expression_and_the_automaton_agree(words: set[str], text: str) -> None:
    automaton = Words(words)
    expected = text in words
    assert (text in automaton) is expected
    assert bool(re.fullmatch(automaton.pattern, text)) is expected


@given(WORDS)
def test_the_order_of_the_words_does_not_matter(words: set[str]) -> None:
    assert Words(sorted(words, reverse=True)) == Words(sorted(words))


@given(WORDS, st.integers(0, 2**16))
def test_samples_are_words(words: set[str], seed: int) -> None:
    assert Words(words).sample(random.Random(seed)) in words


def test_frequent_endings_are_written_once() -> None:
    stems = [f"{a}{b}t" for a in "bcdfghjklm" for b in "aeiou"]
    words = [f"{stem}{end}" for stem in stems for end in ("", "s", "ed")]
    pattern = Words(words).pattern
    assert len(pattern) < len("|".join(words)) / 5
    assert all(re.fullmatch(pattern, word) for word in words)


def test_titled_words_have_a_capital_first() -> None:
    titled = Words(["open", "oil", "a"]).titled
    assert list(titled) == ["A", "Oil", "Open"]
    assert "oil" not in titled


def test_the_empty_word_is_refused() -> None:
    with pytest.raises(ValueError, match="no empty word"):
        Words(["", "a"])
