"""The table of banned words as a whole, and laws that hold for each entry."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from steguard.rules.own.banned_words import RULE, BannedWords, table, top_substitutions
from steguard.rules.registry import get_rule
from steguard.types import Safety
from tests.words.checks import mended, named


def test_the_table_is_large_and_each_entry_says_what_to_do() -> None:
    entries = table()
    assert len(entries) >= 300
    assert len({e.phrase for e in entries}) == len(entries)
    for entry in entries:
        assert entry.use or entry.advice, entry.phrase
        assert not (entry.safe and not entry.use), entry.phrase


def test_no_replacement_is_itself_banned() -> None:
    for entry in table():
        for use in entry.use:
            if use:
                hits = named("banned-words", f"They {use} it.")
                assert not [h for h in hits if h.safety is Safety.SAFE], (entry.phrase, use)


@pytest.mark.parametrize(
    "entry", [e for e in table() if e.safe == "true" and not e.reading], ids=lambda e: e.phrase
)
def test_a_safe_fix_converges(entry) -> None:  # type: ignore[no-untyped-def]
    opener = "" if entry.initial else "They say that "
    closer = ", it stops." if "," in entry.before else " it stops."
    text = f"{opener}{entry.phrase}{closer}"
    once = mended(text, named("banned-words", text), Safety.SAFE)
    assert entry.phrase not in once
    assert mended(once, named("banned-words", once), Safety.SAFE) == once


def test_the_prompt_has_the_twenty_most_frequent_words() -> None:
    top = top_substitutions()
    assert len(top) == 20
    assert top[0] == ("should", "must")
    assert dict(top)["in order to"] == "to"
    assert {"may", "might", "probably", "usually", "generally", "approximately"} <= set(dict(top))


def test_the_prompt_line_passes_the_rule_itself() -> None:
    line = RULE.prompt(BannedWords())
    assert line is not None
    assert named("banned-words", line) == []


def test_words_of_the_profile_come_first_in_the_prompt() -> None:
    options = BannedWords(add={"leverage": "use"}, remove=("should",))
    top = top_substitutions(options, 3)
    assert top[0] == ("leverage", "use")
    assert "should" not in dict(top)


def test_an_added_phrase_replaces_the_shipped_entry() -> None:
    (hit,) = named("banned-words", "You should stop.", add={"should": "shall"})
    assert hit.suggestion == "shall"


@pytest.mark.parametrize("options", [{"add": {"": "x"}}, {"remove": [" "]}, {"categories": ["x"]}])
def test_bad_options_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        get_rule("banned-words").options.model_validate(options)


_WORDS = st.sampled_from(
    ["should", "very", "in", "order", "to", "utilize", "the", "pump", "May", "5", "basically", ",",
     ".", "`x`", "It", "is", "A", "approximately", "prior", "as", "well", "of", "course", '"', "("]
)  # fmt: skip


@given(st.lists(_WORDS, max_size=30))
def test_every_hit_lies_in_the_text_and_its_edits_do_not_overlap(words: list[str]) -> None:
    text = " ".join(words)
    for hit in named("banned-words", text):
        assert 0 <= hit.start < hit.end <= len(text)
        edits = sorted((edit.start, edit.end) for edit in hit.edits)
        assert all(0 <= start <= end <= len(text) for start, end in edits)
        assert all(left[1] <= right[0] for left, right in pairwise(edits))
