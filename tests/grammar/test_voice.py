"""Which "be + participle" is a passive, and who acts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steguard.text.segment import segment
from steguard.text.voice import agents_without_auxiliary, passives
from tests.support.effort import grows_linearly


def agents(text: str) -> list[str | None]:
    found: list[str | None] = []
    for sentence in segment(text, format="plain"):
        for passive in passives(sentence):
            if passive.agent is None:
                found.append(None)
            else:
                first, last = passive.agent
                found.append(" ".join(t.text for t in sentence.tokens[first : last + 1]))
    return found


@pytest.mark.parametrize(
    ("text", "agent"),
    [
        ("The plan was approved by the two managers.", "the two managers"),
        ("The street was closed by law enforcement.", "law enforcement"),
        ("The vote was won by about 200 people.", "200 people"),
        ("The file was edited by them.", "them"),
        ("The lamp was broken on Monday by a child.", "a child"),
        ("The log was sent by noon by the agent.", "the agent"),
    ],
)
def test_who_acts_is_named(text: str, agent: str) -> None:
    assert agents(text) == [agent]


@pytest.mark.parametrize(
    "text",
    [
        "The pump was stopped by hand.",
        "The report was sent by noon.",
        "The report was sent by the end of May.",
        "The gap was reduced by 5 mm.",
        "The load was raised by a factor of two.",
        "The knob was set by turning it.",
        "The job was done by itself.",
        "The valve is opened by 10 am.",
    ],
)
def test_time_measure_and_manner_are_no_agents(text: str) -> None:
    assert agents(text) == [None]


@pytest.mark.parametrize(
    "text",
    [
        "She was very involved.",
        "They got used parts.",
        "The need is real, and the speed is high.",
        "He's arrived.",
        "She is done reading.",
        "What are related topics?",
        "Is there a method suggested in the book?",
        "The seed was in the bed.",
        "The floor is wet and unpainted.",
    ],
)
def test_adjectives_and_nouns_are_no_passives(text: str) -> None:
    assert agents(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Where was the part made?",
        "It hasn't been tested.",
        "The books were, in fact, sold.",
        "The song was at first rejected.",
        "He wanted to be heard.",
        "The team got beaten.",
        "The rooms were all cleaned.",
        "The page was either lost or stolen.",
        "He is said to be ill.",
        "She was given a key.",
        "The site is frobnicated each day.",
    ],
)
def test_passives_in_all_positions(text: str) -> None:
    assert agents(text) == [None]


def test_a_participle_with_an_agent_needs_no_auxiliary() -> None:
    (sentence,) = segment("Read the file written by the planner.", format="plain")
    assert passives(sentence) == []
    assert [p.base for p in agents_without_auxiliary(sentence)] == ["write"]


def test_stopped_by_is_no_agent() -> None:
    (sentence,) = segment(
        "He stopped by the store, and prices increased by 5 percent.", format="plain"
    )
    assert agents_without_auxiliary(sentence) == []


_WORDS = st.sampled_from(
    [
        "is",
        "was",
        "been",
        "by",
        "the",
        "agent",
        "file",
        "opened",
        "not",
        ",",
        "and",
        "quickly",
        "get",
        "got",
        "to",
        "?",
    ]
)


@given(st.lists(_WORDS, max_size=30))
def test_spans_stay_in_the_sentence_and_in_order(words: list[str]) -> None:
    for sentence in segment(" ".join(words), format="plain"):
        last = -1
        for passive in passives(sentence):
            assert last < passive.last < len(sentence.tokens)
            assert 0 <= passive.participle <= passive.last
            last = passive.last


def test_a_sentence_of_auxiliaries_takes_linear_time() -> None:
    def judge(size: int) -> None:
        for sentence in segment("is not a valve opened by the agent and " * size, format="plain"):
            passives(sentence)
            agents_without_auxiliary(sentence)

    assert grows_linearly(judge, 60)
