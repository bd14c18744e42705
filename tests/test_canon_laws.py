"""Laws of Canon: what is written reads back, what is read is what YAML reads, nothing crashes."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from steguard.canon import message as message_module
from steguard.canon import (
    message_from_json,
    message_json,
    parse_condition,
    parse_document,
    parse_documents,
    parse_message,
    parse_messages,
    parse_sentence,
    render_condition,
    render_message,
    render_sentence,
)
from steguard.canon import sentence as sentence_module
from steguard.canon.chars import REFUSED_VALUE
from steguard.canon.lexicon import core
from steguard.canon.model import Message
from steguard.canon.raw import raw_view
from tests.support.canon_texts import (
    conditions,
    documents,
    identifiers,
    limits,
    messages,
    soup,
    texts,
)
from tests.support.effort import grows_linearly

ENVELOPE = (
    "canon-message: v1.0\nfrom: a\nto: b\nmsg_id: m1\naction: request\nsubject: s\npayload:\n"
)


def with_payload(value: Any) -> Message:
    return Message(
        sender="a", recipient="b", msg_id="m1", action="request", subject="s", payload={"k": value}
    )


@settings(max_examples=30)
@given(messages())
def test_a_rendered_message_reads_back_to_itself(message: Message) -> None:
    result = parse_message(render_message(message))
    assert result.message == message, result.findings


@settings(max_examples=30)
@given(messages(), st.sampled_from(["zh", "ja"]))
def test_a_rendered_message_reads_back_in_every_language(message: Message, language: str) -> None:
    text = render_message(message, language=language)
    assert parse_message(text, language=language).message == message


@given(texts)
@example("a\nb")
@example("a\n\nb\n")
@example("\n")
@example(" a\nb")
@example("a\n b\n")
@example("a\r\nb")
@example("- a")
@example("a: b")
@example("a #b")
@example("[name]")
@example("<int>")
@example("中文\u3000")
@example('say "yes" \\n')
@example("it's")
@example("#")
@example("x" * 5000)
def test_any_text_of_a_payload_survives(text: str) -> None:
    assert parse_message(render_message(with_payload(text))).message == with_payload(text)


@settings(max_examples=30)
@given(messages())
def test_the_json_form_reads_back_where_everything_is_text(message: Message) -> None:
    record = json.loads(json.dumps(message_json(message)))
    assert render_message(message_from_json(record)) == render_message(
        message_from_json(message_json(message_from_json(record)))
    )


@settings(max_examples=30)
@given(messages())
def test_a_rendered_message_is_what_a_plain_yaml_reader_reads(message: Message) -> None:
    text = render_message(message)
    assert yaml.load(text, Loader=yaml.BaseLoader) == parse_document(text).data()


@given(documents() | soup)
@example("a: |\n  x\n\n  y\n\n")
@example("a: |\n  x\n   \n")
@example("a: |-\n  x\n    y\nb: z")
@example("a: |\n  x")
@example("a: |\n  x\n ")
@example("a:\n- x\n- y: z\n  w: v\nb: c")
@example("a: x # c\nb: 'it''s' # d")
@example("# c\n---\na: b\n")
@example("a: - b")
@example("a: -b\nc: ?d\ne: :f")
@example("a: [-5, x y, 'z', \"w\"]")
@example("\ufeffa: b")
@example("a: b\r\nc:\r\n  - d\r\n")
@example('"a b": c')
@example("a: b\n...\n")
@example("a: b\n---\n")
@example("a: [http://x/y, b]")
def test_an_accepted_document_is_what_a_plain_yaml_reader_reads(text: str) -> None:
    document = parse_document(text)
    if document.ok:
        assert yaml.load(text, Loader=yaml.BaseLoader) == document.data()


@given(documents() | soup | st.text(max_size=80))
def test_no_text_crashes_a_parser_and_no_refusal_is_without_a_reason(text: str) -> None:
    for result in (parse_message(text), parse_sentence(text), parse_condition(text)):
        assert result.ok or result.findings
        for one in result.findings:
            assert 0 <= one.start <= one.end <= len(text)
            assert one.excerpt == text[one.start : one.end]
            assert one.line >= 1
            assert one.column >= 1
            assert one.message
    parse_messages(text)
    assert parse_documents(text)


@given(documents())
def test_a_position_is_where_the_line_and_the_column_say(text: str) -> None:
    for one in parse_document(ENVELOPE + text).findings:
        lines = (ENVELOPE + text).split("\n")
        offset = sum(len(line) + 1 for line in lines[: one.line - 1]) + one.column - 1
        assert offset == one.start


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["sku", "n", "q", "note"]),
            st.sampled_from(["x", '"y z"', "a b", "中文、值", "尽快做", '"a\\"b\\n"', "-5", "- 5", "/a/b", "...", 'a "q"', "1:10", "soon a", "", "<int>", "[x]", "x ", "a: b"]),
        ),
        max_size=4,
    ),
    st.sampled_from(["from: a", 'from: "a"', "from: a b", "from: a\nfrom: b", "", "from: é"]),
    st.sampled_from(["within: 1 second", "within: 1 seconds", "within: soon", "reply_to: m1", "if: a < 1"]),
    st.sampled_from(["request", "report", "fail", "Request", "xx"]),
)  # fmt: skip
def test_the_quick_path_and_the_careful_one_agree(
    payload: list[tuple[str, str]], sender: str, last: str, action: str
) -> None:
    inside = "".join(f"  {key}: {value}\n" for key, value in payload)
    text = (
        f"canon-message: v1.0\n{sender}\nto: b\nmsg_id: m1\naction: {action}\nsubject: s\n"
        + (f"payload:\n{inside}" if inside else "")
        + f"{last}\n"
    )
    quick = message_module._quick(text, core())
    careful = message_module._checked(parse_document(text), core(), None, "en")
    if quick is not None:
        assert careful.message == quick
        assert not careful.findings
    elif careful.ok and not careful.findings:
        assert parse_message(text).message == careful.message


@given(conditions)
def test_a_rendered_condition_reads_back(condition: Any) -> None:
    result = parse_condition(render_condition(condition))
    assert result.condition == condition, result.findings


WORDS = st.sampled_from(
    "request report: query: decision: notice: ack: error: fail: if then with within is of selected"
    " occurred received failed because must not cannot and a b_1 a%b a:b %a x=true true x=1 x=2 y= =z 30 seconds 1 second"
    ' soon fast please "q r" [n] <int> <x> a. notify 2026-01-31T18:00:00Z < == 10 true'.split(" ")
)


@given(st.lists(WORDS, max_size=9).map(" ".join))
def test_an_accepted_sentence_reads_back_and_the_quick_path_agrees(text: str) -> None:
    result = parse_sentence(text)
    quick = sentence_module._quick(text, core(), core().imperatives)
    if quick is not None:
        walk = sentence_module.Walk(text, core(), sentence_module.load_surface("en"))
        assert walk.whole() == quick
        assert not walk.problems
    if result.sentence is not None:
        again = parse_sentence(render_sentence(result.sentence))
        assert again.sentence == result.sentence
        assert not again.findings
        for language in ("zh", "ja"):
            other = render_sentence(result.sentence, language=language)
            assert parse_sentence(other, language=language).sentence == result.sentence


@given(texts, identifiers, limits)
def test_any_value_of_a_sentence_reads_back(value: str, name: str, limit: Any) -> None:
    from steguard.canon.model import Decision, Failure, Report, Request

    for sentence in (
        Report(name, value),
        Decision(value),
        Failure(name, value),
        Request(name, (("k", value), ("x", "y")), limit),
    ):
        result = parse_sentence(render_sentence(sentence))
        assert result.sentence == sentence, result.findings


@given(st.text(alphabet="ab\u202e\u2066\u200f\u061c", min_size=1, max_size=6))
def test_marks_of_writing_direction_are_refused_wherever_they_stand(text: str) -> None:
    if REFUSED_VALUE.search(text):
        assert not parse_message(f'{ENVELOPE}  k: "{text}"\n').ok
        escaped = "".join(f"\\u{ord(char):04x}" for char in text)
        assert not parse_message(f'{ENVELOPE}  k: "{escaped}"\n').ok
        assert not parse_sentence(f'report: x is "{text}"').ok


@pytest.mark.parametrize(
    "text",
    [
        '" ' + '\\" ' * 20_000, "a" + " " * 60_000 + "b", "[" + "a " * 20_000, "[a" + " " * 60_000,
        '"' * 40_001, "'" * 40_001, "if " + "'a " * 20_000, "request x with a=" + '"\\' * 20_000,
        "a:" * 20_000, "a: " * 20_000, " #" * 20_000, "- " * 20_000, "<" * 40_000, "(" * 40_000,
        "not " * 20_000, "as " * 20_000, "\ufeff" * 20_000, "\u202e" * 20_000, "=" * 40_000,
        "0" * 60_000, "if a == " + "9" * 60_000, "{" * 20_000, "|\n" * 6_000, "\n " * 6_000,
    ],
    ids=range(24),
)  # fmt: skip
def test_a_long_text_of_one_kind_is_read_to_its_end(text: str) -> None:
    """A pattern that goes back and forth would need minutes for one of these."""
    key = f"{ENVELOPE}  k: {text}\n"
    for one in (text, key, f"{ENVELOPE}  k:\n    - {text}", f"report: x is {text}"):
        for result in (parse_message(one), parse_sentence(one[:20_000])):
            assert result.ok or result.findings
    parse_condition(text)
    parse_condition(f"a == {text}")
    raw_view(text)


def test_the_work_grows_with_the_length_only() -> None:
    pieces = {
        "fields": lambda n: ENVELOPE + "".join(f"  k{i}: v\n" for i in range(n)),
        "wrong": lambda n: ENVELOPE + "  k v\n" * n,
        "quotes": lambda n: ENVELOPE + "".join(f'  k{i}: "\\u0041 x"\n' for i in range(n)),
        "items": lambda n: ENVELOPE + "  k:\n" + "    - x\n" * n,
        "flow": lambda n: ENVELOPE + "  k: [" + "a, " * n + "b]\n",
        "literal": lambda n: ENVELOPE + "  k: |\n" + "    line\n" * n,
        "stream": lambda n: (ENVELOPE + "  k: v\n---\n") * n,
        "tabs": lambda n: ENVELOPE + "  k: " + "\t" * n,
        "open quote": lambda n: ENVELOPE + '  k: "' + "\\" * n,
        "blank lines": lambda n: "\n" * n + ENVELOPE + "  k: v",
    }
    for name, make in pieces.items():
        assert grows_linearly(lambda n, make=make: parse_messages(make(n)), 40), name
    for name, make in {
        "params": lambda n: "request x with " + " ".join(f"k{i}=v" for i in range(n)),
        "blanks": lambda n: "report: x is" + " " * n + "y",
        "quotes": lambda n: "report: x is " + '"' * n,
        "then": lambda n: "if " + "then " * n,
        "negations": lambda n: "must " + "not " * n,
        "vague": lambda n: "please soon " * n,
        "values": lambda n: "request x with " + "a=[x] " * n,
    }.items():
        assert grows_linearly(lambda n, make=make: parse_sentence(make(n)), 40), name
    assert grows_linearly(lambda n: parse_condition("a == 1 and " * n), 20)
