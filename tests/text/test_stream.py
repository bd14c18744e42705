"""Text that comes piece by piece: how early sentences come, and what bounds the work."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from steguard.text.segment import Segmenter, segment


@pytest.mark.parametrize(
    ("come", "pending"),
    [
        ("Open the valve. T", "Open the valve."),
        ("Is it on? T", "Is it on?"),
        ("打开阀门。关", "打开阀门。"),
        ("Open the valve.\n\n", "Open the valve."),
        ("# Title\n", "Title"),
        ("- One item\n- T", None),
    ],
)
def test_one_more_character_is_enough(come: str, pending: str | None) -> None:
    segmenter = Segmenter()
    found = [s.text for s in segmenter.feed(come)]
    assert found == ([pending] if pending else [])


def test_an_abbreviation_waits_for_the_next_word() -> None:
    segmenter = Segmenter()
    assert segmenter.feed("He lives in the U.S. T") == []
    assert [s.text for s in segmenter.feed("hen ")] == ["He lives in the U.S."]


def test_pending_start_is_the_end_of_what_came_back() -> None:
    segmenter = Segmenter()
    assert segmenter.pending_start == 0
    segmenter.feed("Open the valve. Close")
    assert segmenter.pending_start == len("Open the valve.")
    segmenter.feed(" it.\n\n```\ncode\n")
    assert segmenter.pending_start == len("Open the valve. Close it.\n\n```\ncode\n")


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(ValueError, match="markdown, plain or html"):
        Segmenter(format="pdf")


def steps(work: Callable[[], Any]) -> int:
    """How many lines of Python ``work`` runs."""
    count = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


UNITS = [
    "`", "` ", "`a``b```c````d", "[", "[a ", "](", "[x](", "(", "()", "<", "<a ", '<a "', "<!-- ",
    ".", ". ", '"', "' ", "{", "{{ ", "*", "* ", "_", "a", "abc ", "阀", "阀。", "\n", "- a\n", ">",
    "# a\n", "| a ", "| a | b |\n", "a\t", "1. ", "&", "&amp;", "😀", "a@", "/a", "!", "?a", "![",
    "\ud800", "\x00", "Dr. ", "Open it. ", "```\n", "<script>", "`a\n", "import os\n",
]  # fmt: skip


@pytest.mark.parametrize("format", ["markdown", "plain", "html"])
@pytest.mark.parametrize("unit", UNITS)
def test_ten_times_the_text_is_ten_times_the_work(unit: str, format: str) -> None:
    size = 2_000
    small, large = (unit * (n // len(unit)) for n in (size, size * 5))
    segment(large, format=format)
    first = steps(lambda: segment(small, format=format))
    second = steps(lambda: segment(large, format=format))
    assert second < 5 * first + 10_000


@pytest.mark.parametrize("unit", ["`a ", "abc ", "a", "阀", "Open it. ", "[a ", "<a "])
def test_a_stream_costs_no_more_for_each_piece_when_it_is_long(unit: str) -> None:
    def stream(text: str) -> None:
        segmenter = Segmenter()
        for at in range(0, len(text), 5):
            segmenter.feed(text[at : at + 5])
        segmenter.close()

    small, large = (unit * (n // len(unit)) for n in (2_000, 10_000))
    stream(large)
    assert steps(lambda: stream(large)) < 5 * steps(lambda: stream(small)) + 10_000


def test_a_stream_without_an_end_keeps_little_text() -> None:
    segmenter = Segmenter()
    for _ in range(20_000):
        segmenter.feed("word ")
    assert len(segmenter._buffer) < 50_000


@pytest.mark.parametrize("unit", ["x", "阀", "word "])
def test_a_sentence_without_an_end_is_cut(unit: str) -> None:
    found = segment(unit * (60_000 // len(unit)))
    assert len(found) > 1
    assert max(len(s.text) for s in found) < 25_000


LONG = [
    "x" * 790,
    "x" * 3000,
    "(" * 900,
    "[" * 1200,
    "`" + "y " * 700 + "`",
    "。" * 900,
    "<a " * 500,
]


@pytest.mark.parametrize("format", ["markdown", "plain", "html"])
@pytest.mark.parametrize("long", LONG)
@pytest.mark.parametrize("around", ["{}", "Open it. {} Then go.", "A {}. B", "a`{}`[b]({})"])
def test_long_stretches_are_cut_alike_in_any_pieces(
    format: str,
    long: str,
    around: str,
) -> None:
    text = around.replace("{}", long)
    whole = segment(text, format=format)
    for size in (1, 7, 500):
        segmenter = Segmenter(format=format)
        found = []
        for at in range(0, len(text), size):
            found += segmenter.feed(text[at : at + size])
        assert found + segmenter.close() == whole
