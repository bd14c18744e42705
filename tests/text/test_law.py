"""The law of the splitter: how a text is cut into pieces changes nothing."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steguard.text.model import Kind, Sentence
from steguard.text.segment import Segmenter, segment

FORMATS = ("markdown", "plain", "html")

SNIPPETS = [
    "Open the valve.", "Dr. Novak", "e.g. a pump", "3.14", "No. 4", "U.S. Government", " ", "\n",
    "\n\n", "- ", "1. ", "2. ", "1) ", "a. ", "# ", "## T", "> ", "| a | b |", "|---|---|", "```",
    "```py\nx = 1\n```", "`x y`", "`", "``", "**", "**bold.**", "_it_", "[text](http://a.b/c)",
    "[name]", "[", "](", "]", "(", ")", "(an aside.)", "<b>", "</b>", "<p>", "<", ">", "<!--",
    "-->", "<script>", "</script>", "<code>", "</code>", "{x}", "{{ y }}", "{", "}", "&amp;",
    "&nbsp;", "&", "---", "***", "===", "title: x", "WARNING:", "Note:", "值是３．１４。", "打开",
    "。", "！", "”", "“", '"', "'", "...", ". . .", "…", "?", "!", "?!", ":", ";", "--", "•", "😀",
    "http://x.y/z.", "a@b.co", "/usr/bin", "--flag", "$VAR", "my_var", "getFoo()", "x" * 50,
    "import os", "def f(x):", "#show: d(a: 1)", "\t", "    ", "\r\n", "\x00", "\ud800", "\u2028",
    "A.", "I.", "5 a.m.", "Then", "the", "The", "Hello!I", "end.The", "[!NOTE]", "![a](b.png)",
    "[x]: http://y", "Title\n===", "![", "Step 1:", "~~~",
]  # fmt: skip

soup = st.lists(st.sampled_from(SNIPPETS), max_size=40).map("".join)
spaced_soup = st.lists(st.sampled_from(SNIPPETS), max_size=40).map(" ".join)
any_text = st.text(
    st.characters(codec=None) | st.sampled_from("ab. \n`[]()<>*_#-1.!?\"'。"), max_size=200
)
texts = st.one_of(soup, spaced_soup, any_text)


def pieces(text: str, cuts: list[int]) -> list[str]:
    places = [0, *sorted({c % (len(text) + 1) for c in cuts}), len(text)]
    return [text[a:b] for a, b in pairwise(places)]


def in_pieces(parts: list[str], format: str, language: str) -> list[Sentence]:
    segmenter = Segmenter(format=format, language=language)
    found: list[Sentence] = []
    for part in parts:
        found.extend(segmenter.feed(part))
        assert not found or segmenter.pending_start >= found[-1].end
    found.extend(segmenter.close())
    return found


@pytest.mark.parametrize("format", FORMATS)
@settings(max_examples=150, deadline=None)
@given(text=texts, cuts=st.lists(st.integers(0, 10_000), max_size=12), zh=st.booleans())
def test_any_cut_gives_the_same_sentences(
    format: str, text: str, cuts: list[int], zh: bool
) -> None:
    language = "zh" if zh else "en"
    whole = segment(text, format=format, language=language)
    assert in_pieces(pieces(text, cuts), format, language) == whole
    assert in_pieces(list(text), format, language) == whole


@pytest.mark.parametrize("format", FORMATS)
@settings(max_examples=150, deadline=None)
@given(text=texts)
def test_spans_are_true_and_never_overlap(format: str, text: str) -> None:
    at = 0
    for sentence in segment(text, format=format):
        assert at <= sentence.start < sentence.end <= len(text)
        assert text[sentence.start : sentence.end] == sentence.text
        assert sentence.text == sentence.text.strip()
        at = sentence.start
        for token in sentence.tokens:
            assert at <= token.start < token.end <= sentence.end
            assert text[token.start : token.end] == token.text
            at = token.end
        at = sentence.end
        assert [token.lower for token in sentence.tokens] == sentence.lowers
        assert frozenset(sentence.lowers) == sentence.vocabulary
        words = sum(token.kind is not Kind.PUNCT for token in sentence.tokens)
        assert sentence.words <= words
