"""Where prose stands: blocks of Markdown, plain text and HTML."""

from __future__ import annotations

import pytest

from steguard.text.model import Sentence
from steguard.text.segment import segment


def shape(text: str, format: str = "markdown") -> list[tuple[str, str]]:
    return [(s.block.kind.value, s.text) for s in segment(text, format=format)]


def texts(text: str, format: str = "markdown") -> list[str]:
    return [s.text for s in segment(text, format=format)]


def test_markdown_structure_becomes_blocks() -> None:
    text = (
        "---\ntitle: a pump\n---\n# The pump\n\nIt moves\noil. It is red.\n\n"
        "- First item\n  goes on.\n  1. Nested item\n- [x] Done item\n\n"
        "> A quote\n> goes on.\n\n| A | B |\n|---|:-:|\n| c d | `e | f` |\n\n"
        "Title\n=====\n\n***\n\n<!-- a. comment\nthat goes on -->\n[x]: http://y.z\n\nThe end.\n"
    )
    assert shape(text) == [
        ("heading", "The pump"),
        ("paragraph", "It moves\noil."),
        ("paragraph", "It is red."),
        ("list-item", "First item\n  goes on."),
        ("list-item", "Nested item"),
        ("list-item", "Done item"),
        ("quote", "A quote\n> goes on."),
        ("table-cell", "A"),
        ("table-cell", "B"),
        ("table-cell", "c d"),
        ("table-cell", "`e | f`"),
        ("heading", "Title"),
        ("paragraph", "The end."),
    ]


def test_list_items_know_marker_order_and_level() -> None:
    text = "1. one\n2) two\n   - three\n     - four\n- five\na) six\nStep 7: seven\n"
    found = [(s.text, s.block.marker, s.block.ordered, s.block.level) for s in segment(text)]
    assert found == [
        ("one", "1.", True, 1),
        ("two", "2)", True, 1),
        ("three", "-", False, 2),
        ("four", "-", False, 3),
        ("five", "-", False, 1),
        ("six", "a)", True, 1),
        ("seven", "Step 7:", True, 1),
    ]


@pytest.mark.parametrize("fence", ["```", "````", "~~~"])
def test_fenced_code_is_skipped_even_when_it_never_closes(fence: str) -> None:
    assert texts(f"Run this:\n{fence}py\nx. Y. Z.\n") == ["Run this:"]
    assert texts(f"Run.\n\n{fence}\na. B.\n{fence}\nThen stop.") == ["Run.", "Then stop."]


def test_a_rule_is_no_front_matter() -> None:
    assert texts("---\nThe pump is red.\n") == ["The pump is red."]


@pytest.mark.parametrize(
    ("text", "label", "first"),
    [
        ("WARNING: Do not smoke.", "warning", "Do not smoke."),
        ("**Caution:** Hot oil.", "caution", "Hot oil."),
        ("**Note**: Use oil.", "note", "Use oil."),
        ("> [!WARNING]\n> Do not smoke.", "warning", "Do not smoke."),
        ("- NOTE: Use oil.", "note", "Use oil."),
        ("NOTE The oil is hot.", None, "NOTE The oil is hot."),
        ("The warning: do not smoke.", None, "The warning: do not smoke."),
    ],
)
def test_labels_belong_to_the_block(text: str, label: str | None, first: str) -> None:
    (sentence,) = segment(text)
    assert (sentence.block.label, sentence.text) == (label, first)


def test_a_label_on_its_own_line_labels_the_next_block() -> None:
    found = segment("## WARNING\n\nDo not smoke.\n\nOpen the valve.")
    assert [s.block.label for s in found] == ["warning", "warning", None]


@pytest.mark.parametrize("format", ["markdown", "plain"])
def test_hard_wrapped_lines_join_and_deliberate_breaks_end(format: str) -> None:
    wrapped = "Remove the four bolts that hold the cover of the pump, and then\nclean it."
    assert texts(wrapped, format) == [wrapped]
    assert texts("See the\nACME manual.", format) == ["See the\nACME manual."]
    assert texts("Name: Bob\nRole: Cook\n", format) == ["Name: Bob", "Role: Cook"]


def test_plain_text_has_steps_bullets_and_paragraphs() -> None:
    text = "Start here\n\n1. Open *the* valve.\n2. Close it\n• Read it\n\nThe end."
    assert shape(text, "plain") == [
        ("paragraph", "Start here"),
        ("list-item", "Open *the* valve."),
        ("list-item", "Close it"),
        ("list-item", "Read it"),
        ("paragraph", "The end."),
    ]


def test_html_shows_visible_text_only() -> None:
    text = (
        "<!DOCTYPE html><title>T</title><style>a. B</style><h2 class='x. Y'>The pump</h2>"
        "<p>It moves\noil. It <b>is</b> red.<br>Third line</p><!-- no. No. -->"
        "<ol><li>One</li><li>Two <code>a. B</code></li></ol>"
        "<table><tr><td>c</td><td>d</td></tr></table><pre>x. Y.</pre>"
        "<blockquote>Quote</blockquote><script>if (a < b) { c. D }</script>End"
    )
    assert shape(text, "html") == [
        ("paragraph", "T"),
        ("heading", "The pump"),
        ("paragraph", "It moves\noil."),
        ("paragraph", "It <b>is</b> red."),
        ("paragraph", "Third line"),
        ("list-item", "One"),
        ("list-item", "Two <code>a. B</code>"),
        ("table-cell", "c"),
        ("table-cell", "d"),
        ("quote", "Quote"),
        ("paragraph", "End"),
    ]
    items = [s for s in segment(text, format="html") if s.block.kind.value == "list-item"]
    assert [s.block.marker for s in items] == ["1.", "2."]


def test_entities_count_as_the_characters_that_they_are() -> None:
    (sentence,) = segment("<p>Caf&eacute; &amp; bar&nbsp;open &lt;now&gt;</p>", format="html")
    assert sentence.words == 4
    assert sentence.lowers == ["café", "&", "bar", "open", "<", "now", ">"]


@pytest.mark.parametrize(
    "line",
    [
        '#show: doc.with(title: "A", author: "B", lang: "en")',
        "import os",
        "from a.b import c, d",
        "def run(x):",
        "const a = 5;",
        "$ make all",
        "x = f(1, 2)",
        "git commit -m 'a b'",
        "pip install a",
        "}",
    ],
)
def test_a_line_of_code_is_one_code_token(line: str) -> None:
    (sentence,) = segment(f"{line}\n")
    assert [t.kind.value for t in sentence.tokens] == ["code"]
    assert sentence.words == 1


@pytest.mark.parametrize(
    "line",
    [
        "Import the file now.",
        "for all valves, open the cover.",
        "git is a tool for source code.",
        "if the lamp is red, stop the pump.",
        "class B parts are red.",
        "return the part to the store.",
        "Let the oil drain;",
    ],
)
def test_prose_that_begins_like_code_is_prose(line: str) -> None:
    assert segment(line)[0].words > 3


def kinds(sentence: Sentence) -> list[str]:
    return [t.text for t in sentence.tokens if t.kind.value == "code"]


@pytest.mark.parametrize(
    "span",
    [
        "`make all`", "``a ` b``", "https://a.b/c?d=e&f#g", "www.example.org/a", "a.b@c.de",
        "/usr/bin/env", "./run.sh", "C:\\Temp\\a.txt", "src/main.py", "site.config.local",
        "my_var", "getFoo()", "getFooBar", "--dry-run", "$HOME", "[name]", "[insert date]",
        "<name>", "{name}", "{{ x.y }}", "${VAR}", "1.2.3", "v2.0.1", "10.0.0.1", "3.x",
        "![a photo](b.png)", "@user", "#123", "9f86d081884c7d65", "<code>a b</code>",
        "README.md", "a.b.c()",
    ],
)  # fmt: skip
def test_a_protected_span_is_one_code_token(span: str) -> None:
    (sentence,) = segment(f"Read {span} again, then go.")
    assert kinds(sentence) == [span]
    assert sentence.words == 5


def test_a_link_shows_its_text_only() -> None:
    (sentence,) = segment('Read [the red page](http://a.b/c "t t") and [more][ref].')
    assert sentence.lowers == ["read", "the", "red", "page", "and", "more", "."]


def test_emphasis_is_no_token() -> None:
    (sentence,) = segment("**Open** the _red_ ~~old~~ ***valve***.")
    assert sentence.lowers == ["open", "the", "red", "old", "valve", "."]


def test_code_and_links_may_go_over_a_line_break() -> None:
    (sentence,) = segment("Use `make\nall` and [the red\npage](http://a.b) now.")
    assert kinds(sentence) == ["`make\nall`"]
    assert sentence.words == 7
