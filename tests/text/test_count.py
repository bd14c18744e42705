"""Words as STE counts them, case by case."""

from __future__ import annotations

from pathlib import Path

import pytest

from steguard.text.segment import segment

TABLE = Path(__file__).parent / "data" / "counts.tsv"
ROWS = [
    (int(line.split("\t")[0]), line.split("\t")[1])
    for line in TABLE.read_text(encoding="utf-8").splitlines()
    if not line.startswith("# The")
]


@pytest.mark.parametrize(("words", "text"), ROWS, ids=[text for _, text in ROWS])
def test_words_are_counted_as_ste_counts(words: int, text: str) -> None:
    assert [sentence.words for sentence in segment(text)] == [words]


def test_the_table_is_large() -> None:
    assert len(ROWS) >= 60


def test_an_aside_is_a_sentence_of_its_own() -> None:
    text = "Open the valve (turn the red lever (the left one) to the left) slowly."
    (sentence,) = segment(text)
    assert sentence.words == 5
    found = [(text[start:end], words) for start, end, words in sentence.asides]
    assert found == [
        ("(turn the red lever (the left one) to the left)", 8),
        ("(the left one)", 3),
    ]


def test_an_aside_that_is_the_whole_sentence_is_no_second_sentence() -> None:
    (sentence,) = segment("(Open the valve.)")
    assert (sentence.words, sentence.asides) == (3, ())


def test_items_of_a_list_are_counted_each_by_itself() -> None:
    text = "Do these steps:\n\n1. Open the valve.\n2. Close it.\n   - Use a tool.\n"
    assert [s.words for s in segment(text)] == [3, 3, 2, 3]


def test_chinese_is_counted_in_characters() -> None:
    text = "打开阀门（红色），然后等待 30 秒。"
    assert [s.words for s in segment(text, language="zh")] == [12]


def test_english_inside_chinese_counts_each_word_once() -> None:
    (sentence,) = segment("请按 START 按钮。", language="zh")
    assert sentence.words == 5


def test_deep_nesting_is_counted_without_recursion() -> None:
    text = "Open " + "(" * 5000 + "it" + ")" * 5000 + " now."
    assert segment(text)[0].words == 3
