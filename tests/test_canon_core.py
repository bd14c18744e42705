"""Lexicons, types, times, conditions, streams, models, the formatter, the raw view, languages."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings

from steguard.canon import (
    ConditionError,
    Message,
    evaluate,
    load_lexicon,
    message_from_json,
    message_json,
    parse_condition,
    parse_document,
    parse_message,
    parse_messages,
    parse_sentence,
    parse_sentences,
    render_message,
    to_cel,
)
from steguard.canon.condition import names
from steguard.canon.document import parse_documents
from steguard.canon.format import FormatError, format_document, format_sentences
from steguard.canon.lexicon import core, lexicon_names, parse_lexicon
from steguard.canon.messageschema import message_schema
from steguard.canon.model import Placeholder, TypeRef, Version, Within
from steguard.canon.problems import Problem
from steguard.canon.raw import invisible, raw_lines, raw_view
from steguard.canon.times import BadTime, read_within
from steguard.canon.translate import (
    TranslateError,
    language_of,
    translate_message,
    translate_sentence,
)
from steguard.canon.types import Wrong, parse_type, read_value
from steguard.errors import ProfileError, UsageError
from tests.support.canon_texts import documents, messages

ENVELOPE = "canon-message: v1.0\nfrom: a\nto: b\nmsg_id: m1\naction: request\nsubject: s\n"


# ---- lexicons


def test_the_core_lexicon_has_the_ten_verbs_and_nothing_to_warn_of() -> None:
    verbs = "request confirm reject report query notify retry cancel complete fail".split()
    assert list(core().verbs) == verbs
    assert core().warnings() == []


def test_every_shipped_lexicon_loads_with_all_others_and_names_its_version() -> None:
    assert set(lexicon_names()) == {"core", "ecommerce", "logistics", "support", "operations"}
    whole = load_lexicon(*lexicon_names())
    assert dict(whole.parts).keys() == set(lexicon_names())
    assert all(version == Version(1, 0) for _, version in whole.parts)
    for name in lexicon_names():
        one = load_lexicon(name)
        assert one.warnings() == []
        assert 10 <= len(one.verbs) <= 20
    assert "10 to 20" in whole.warnings()[0]


def test_a_domain_verb_makes_sentences_and_messages() -> None:
    shop = load_lexicon("ecommerce")
    text = "reserve stock with sku=A1 quantity=2"
    assert parse_sentence(text, lexicon=shop).ok
    assert parse_sentence(text).findings[0].rule == "unknown-verb"
    message = ENVELOPE.replace("request", "reserve")
    assert parse_message(message, lexicon=shop).ok
    assert parse_message(message).findings[0].rule == "unknown-action"


def test_a_field_of_the_lexicon_must_be_text_of_its_type_and_stays_text() -> None:
    shop = load_lexicon("ecommerce")
    text = ENVELOPE + "payload:\n  quantity: {}\n"
    good = parse_message(text.format("2"), lexicon=shop).message
    assert good is not None
    assert good.payload == {"quantity": "2"}
    (fault,) = parse_message(text.format("many"), lexicon=shop).findings
    assert (fault.rule, fault.line, fault.column) == ("wrong-type", 8, 13)
    assert parse_message(text.format("many")).ok


def test_a_wrong_lexicon_names_every_fault_with_its_place() -> None:
    text = (
        "canon-lexicon: v1.0\nname: 1x\nversion: 1\nverb: {}\nverbs:\n"
        "  with: {pattern: request}\n  go: {patern: x}\n  z: request\n"
        "fields:\n  a: <foo>\n  b: {type: <enum:a||b>}\nforbidden: {time: [x]}\n"
    )
    with pytest.raises(ProfileError) as caught:
        parse_lexicon(text, "l.yaml")
    places = [problem.split(": ")[0] for problem in caught.value.problems]
    assert places == [f"l.yaml:{at}" for at in (
        "2:1", "3:1", "4:1", "6:3", "7:3", "7:8", "8:3", "10:3", "11:7", "12:13"
    )]  # fmt: skip
    assert "did you mean 'verbs'?" in str(caught.value)


@pytest.mark.parametrize("text", ["", "- a", "a: [", "canon-lexicon: v2.0\nname: x\nversion: v1.0"])
def test_what_is_no_lexicon_is_refused(text: str) -> None:
    with pytest.raises(ProfileError):
        parse_lexicon(text)


def test_lexicons_that_disagree_do_not_load_together(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    head = "canon-lexicon: v1.0\nname: mine\nversion: v1.0\n"
    file.write_text(head + "verbs:\n  ship: {pattern: notice}\n", encoding="utf-8")
    with pytest.raises(ProfileError, match="define 'ship' differently"):
        load_lexicon("logistics", file)
    file.write_text(head + "fields:\n  weight_kg: <int>\n", encoding="utf-8")
    with pytest.raises(ProfileError, match="define 'weight_kg' differently"):
        load_lexicon("logistics", file)
    with pytest.raises(ProfileError, match="did you mean 'logistics'"):
        load_lexicon("logistic")
    with pytest.raises(ProfileError, match="cannot read"):
        load_lexicon(tmp_path / "none.yaml")
    file.write_bytes(b"\xff")
    with pytest.raises(ProfileError, match="not UTF-8"):
        load_lexicon(file)


def test_a_lexicon_says_which_versions_of_canon_it_reads() -> None:
    text = "canon-lexicon: v1.0\nname: next\nversion: v1.0\naccepts: [v1.0, v1.2]\nverbs:\n"
    text += "".join(
        f"  {verb.name}: {{pattern: {verb.pattern}}}\n" for verb in core().verbs.values()
    )
    newer = parse_lexicon(text)
    assert newer.version == Version(1, 2)
    for version, ok in (("v1.0", True), ("v1.2", True), ("v1.1", False), ("v1.10", False)):
        result = parse_message(ENVELOPE.replace("v1.0", version), lexicon=newer)
        assert result.ok is ok
        if result.message is not None:
            assert str(result.message.version) == version


# ---- types and times


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("<int>", "42", 42),
        ("<int>", "-7", -7),
        ("<float>", "2.5", 2.5),
        ("<float>", "3", 3.0),
        ("<float>", "1e3", 1000.0),
        ("<bool>", "true", True),
        ("<date>", "2026-02-28", dt.date(2026, 2, 28)),
        ("<path>", "C:\\data\\a b.txt", "C:\\data\\a b.txt"),
        ("<text>", "007", "007"),
        ("<enum:a|b>", "b", "b"),
    ],
)
def test_a_text_is_read_as_its_type(kind: str, text: str, value: Any) -> None:
    made = parse_type(kind)
    assert isinstance(made, TypeRef)
    assert str(made) == kind
    assert read_value(text, made) == value
    assert type(read_value(text, made)) is type(value)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("<int>", "many"), ("<int>", "1.5"), ("<int>", "1_000"), ("<int>", "007"), ("<int>", "0x1F"),
        ("<int>", "٣"), ("<int>", "１"), ("<int>", " 1"), ("<int>", "1\n"), ("<int>", ""),
        ("<int>", "1:10"), ("<int>", "9" * 5000), ("<float>", "inf"), ("<float>", "nan"),
        ("<float>", "1e400"), ("<float>", ".5"), ("<float>", "1,5"), ("<float>", "9" * 5000),
        ("<bool>", "yes"), ("<bool>", "True"), ("<bool>", "1"), ("<date>", "2026-02-30"),
        ("<date>", "2026-2-3"), ("<date>", "31.01.2026"), ("<date>", "2026-01-31T00:00:00Z"),
        ("<path>", ""), ("<path>", "a\x00b"), ("<path>", " a"), ("<enum:a|b>", "c"),
        ("<enum:a|b>", "a|b"),
    ],
)  # fmt: skip
def test_a_text_of_another_type_is_refused(kind: str, text: str) -> None:
    made = parse_type(kind)
    assert isinstance(made, TypeRef)
    found = read_value(text, made)
    assert isinstance(found, Wrong)
    assert len(found) < 200


@pytest.mark.parametrize(
    "text", ["<>", "<foo>", "<INT>", "<int:a>", "<enum>", "<enum:>", "<enum:a||c>", "<enum:|a>",
             "<enum:a|a>", "<enum:a b>", "int", "<int", "<enum:a|b|>"]
)  # fmt: skip
def test_what_is_no_type_is_refused(text: str) -> None:
    assert isinstance(parse_type(text), Wrong)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1 second", 1), ("30 seconds", 30), ("5 minutes", 300), ("2 hours", 7200)],
)
def test_a_time_limit_has_a_length(text: str, seconds: int) -> None:
    made = read_within(text)
    assert made.seconds == seconds
    assert str(made) == text
    start = dt.datetime(2026, 1, 31, tzinfo=dt.UTC)
    assert made.deadline(start) - start == dt.timedelta(seconds=seconds)


def test_an_instant_is_a_deadline_of_its_own() -> None:
    made = read_within("2026-01-31T18:00:00+08:00")
    assert made.seconds is None
    start = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    assert made.deadline(start) == dt.datetime(2026, 1, 31, 10, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    "text",
    ["", "soon", "30", "seconds", "30 second", "0 seconds", "-5 minutes", "+5 minutes", "1.5 hours",
     "030 seconds", "٣ seconds", "30 Seconds", "30s", "2 days", "PT30S", "30 seconds 5", "1e3 seconds",
     "30 seconds ago", "2026-01-31", "2026-01-31T18:00:00", "2026-01-31 18:00:00Z", "2026-01-31T18:00Z",
     "2026-02-30T18:00:00Z", "2026-01-31T24:00:00Z", "2026-01-31T18:60:00Z", "2026-01-31T23:59:60Z",
     "2026-01-31T18:00:00z", "2026-01-31T18:00:00+24:00", "2026-01-31T18:00:00-00:00",
     "2026-01-31T18:00:00+0800", "2026-13-01T18:00:00Z", "99999999999 seconds", "10000000 seconds",
     "0000-01-01T00:00:00Z", "2026-01-31T18:00:00.1234567Z", "five minutes", "half an hour"],
)  # fmt: skip
def test_what_is_no_time_limit_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(BadTime) as caught:
        read_within(text)
    assert caught.value.suggestion.endswith(".")


# ---- conditions


def condition(text: str) -> Any:
    found = parse_condition(text)
    assert found.condition is not None, found.findings
    return found.condition


@pytest.mark.parametrize(
    ("text", "values", "holds"),
    [
        ("stock < 10", {"stock": 5}, True),
        ("stock < 10", {"stock": 10}, False),
        ("stock <= 10", {"stock": 10.0}, True),
        ("a == 1 or b == 2 and c == 3", {"a": 1, "b": 0, "c": 0}, True),
        ("(a == 1 or b == 2) and c == 3", {"a": 1, "b": 0, "c": 0}, False),
        ("not (a == 1 or b == true)", {"a": 2, "b": False}, True),
        ('r in ["eu", "us"]', {"r": "us"}, True),
        ('r not in ["eu"]', {"r": "eu"}, False),
        ("d >= 2026-01-31", {"d": dt.date(2026, 2, 1)}, True),
        ("order.total > 100", {"order": {"total": 101}}, True),
        ("order.total > 100", {"order.total": 99}, False),
        ('x != "a"', {"x": "b"}, True),
    ],
)
def test_a_condition_is_decided(text: str, values: dict[str, Any], holds: bool) -> None:
    assert evaluate(condition(text), values) is holds


@pytest.mark.parametrize(
    ("text", "values", "code"),
    [
        ("missing < 10", {}, "undefined_name"),
        ("a == 1 or missing < 10", {"a": 1}, "undefined_name"),
        ("order.total > 1", {"order": {}}, "undefined_name"),
        ("order.total > 1", {"order": 3}, "undefined_name"),
        ("a < 10", {"a": "5"}, "type_mismatch"),
        ("a == 1", {"a": True}, "type_mismatch"),
        ("a == true", {"a": 1}, "type_mismatch"),
        ("a < 10", {"a": None}, "type_mismatch"),
        ("d > 2026-01-31", {"d": dt.datetime(2026, 1, 1)}, "type_mismatch"),
    ],
)
def test_a_condition_that_cannot_be_decided_is_an_error_and_never_false(
    text: str, values: dict[str, Any], code: str
) -> None:
    with pytest.raises(ConditionError) as caught:
        evaluate(condition(text), values)
    assert caught.value.code == code


def test_a_condition_names_its_values_and_has_a_form_in_cel() -> None:
    made = condition('(n < 2.5 or b == true) and t not in ["x"] and d != 2026-01-31')
    assert names(made) == {"n": "number", "b": "bool", "t": "text", "d": "date"}
    assert to_cel(made) == (
        '(n < 2.5 || b == true) && !(t in ["x"]) && d != timestamp("2026-01-31T00:00:00Z")'
    )


# ---- documents and streams


def test_a_problem_is_found_where_its_path_says() -> None:
    text = "\ufeff# about\r\na:\r\n  b:\r\n    - x\r\n    - c: wrong\r\n"
    document = parse_document(text)
    found = document.finding(Problem(("a", "b", 1, "c"), "CAN999", "test", "why"))
    assert (found.line, found.column, found.excerpt) == (5, 10, "wrong")
    assert text[found.start : found.end] == "wrong"
    assert found.pointer == "/a/b/1/c"
    key = document.finding(Problem(("a", "b"), "CAN999", "test", "why", at="key"))
    assert (key.line, key.column, key.excerpt) == (3, 3, "b")
    lost = document.finding(Problem(("a", "none"), "CAN999", "test", "why"))
    assert lost.line == 3


def test_a_stream_gives_every_message_and_reports_an_id_that_stands_twice() -> None:
    first, other = ENVELOPE, ENVELOPE.replace("m1", "m2")
    assert [one.ok for one in parse_messages(first + "---\n" + other)] == [True, True]
    one, two, three = parse_messages(first + "---\n" + other + "---\n# again\n" + first)
    assert one.ok
    assert two.ok
    assert [f.rule for f in three.findings] == ["duplicate-msg-id"]
    assert three.findings[0].line == 19
    assert not parse_message(first + "---\n" + other).ok


def test_a_fault_in_a_stream_stays_with_its_own_message() -> None:
    bad = ENVELOPE.replace("m2", "m3").replace("from: a", "from : a").replace("m1", "m3")
    results = parse_messages(
        "---\n" + ENVELOPE + "---\n" + bad + "---\n" + ENVELOPE.replace("m1", "m4")
    )
    assert [one.ok for one in results] == [True, False, True]
    assert [f.line for f in results[1].findings] == [10]
    assert results[1].envelope["msg_id"] == "m3"


def test_a_key_at_the_wrong_place_does_not_hide_other_faults() -> None:
    text = ENVELOPE + "payload:\n  a: 1\n    b: 2\n  c: {x}\nwithin: soon\nextra: 1\n"
    found = parse_message(text).findings
    assert [one.rule for one in found] == [
        "indentation",
        "flow-mapping",
        "bad-time",
        "unknown-field",
    ]


def test_an_invalid_message_still_tells_whom_to_answer() -> None:
    result = parse_message(ENVELOPE + "payload: {x}\n")
    assert result.message is None
    assert result.envelope["from"] == "a"
    assert result.envelope["msg_id"] == "m1"
    assert parse_message(ENVELOPE).envelope["subject"] == "s"


# ---- messages that a program makes


def make(**fields: Any) -> Message:
    usual: dict[str, Any] = {
        "sender": "a", "recipient": "b", "msg_id": "m1", "action": "request", "subject": "s"
    }  # fmt: skip
    return Message(**{**usual, **fields})


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"sender": "a b"}, "'from' is 'a b'"),
        ({"recipient": ""}, "'to' is ''"),
        ({"msg_id": "m\u200b"}, "'msg_id'"),
        ({"action": "with"}, "'action' is 'with'"),
        ({"subject": "two words"}, "'subject'"),
        ({"reply_to": "m1"}, "never replies to itself"),
        ({"payload": {"a": "x\u202ey"}}, "U\\+202E"),
        ({"payload": {"a": float("nan")}}, "nan"),
        ({"payload": {"a": [["x"]]}}, "not lists"),
        ({"payload": {"a": None}}, "NoneType"),
        ({"payload": {"": "x"}}, "the key ''"),
        ({"payload": {"a": object()}}, "object cannot be written"),
        ({"payload": {"a": "\ud800"}}, "U\\+D800"),
        ({"within": "soon"}, "soon"),
        ({"condition": "a ="}, "is expected"),
        ({"condition": 3}, "condition or its text"),
        ({"version": "1"}, "version|match"),
    ],
)
def test_a_message_that_cannot_be_written_is_not_made(fields: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        make(**fields)


def test_payload_values_of_other_types_are_written_as_text() -> None:
    message = make(
        payload={
            "n": 2, "x": 2.5, "small": 1e-7, "large": 1e21, "ok": True, "day": dt.date(2026, 1, 31),
            "who": Placeholder("name"), "type": TypeRef("enum", ("a", "b")),
        }
    )  # fmt: skip
    read = parse_message(render_message(message)).message
    assert read is not None
    assert read.payload == {
        "n": "2", "x": "2.5", "small": "0.0000001", "large": "1000000000000000000000.0",
        "ok": "true", "day": "2026-01-31", "who": Placeholder("name"),
        "type": TypeRef("enum", ("a", "b")),
    }  # fmt: skip


def test_the_json_form_has_the_names_of_the_text_and_a_schema() -> None:
    message = make(
        payload={"at": "9:00", "n": 2, "lines": [{"sku": "A"}]},
        within="30 seconds",
        condition="a < 1",
    )
    data = message_json(message)
    assert data == {
        "canon-message": "v1.0", "from": "a", "to": "b", "msg_id": "m1", "action": "request",
        "subject": "s", "payload": {"at": "9:00", "n": 2, "lines": [{"sku": "A"}]},
        "within": "30 seconds", "if": "a < 1",
    }  # fmt: skip
    assert message_from_json(json.dumps(data)) == message
    for schema in (message_schema(), message_schema(core()), Message.model_json_schema()):
        validator = jsonschema.Draft202012Validator(schema)
        validator.check_schema(schema)
        validator.validate(data)
        for wrong in ({"from": "a b"}, {"within": "soon"}, {"x": 1}, {"payload": "b"}):
            assert not validator.is_valid({**data, **wrong}), wrong
    lists = {**data, "payload": {"a": [["b"]]}}
    assert not jsonschema.Draft202012Validator(message_schema()).is_valid(lists)
    assert not jsonschema.Draft202012Validator(message_schema(core())).is_valid(
        {**data, "action": "fly"}
    )


def test_a_message_is_frozen_and_copies_well() -> None:
    message = parse_message(ENVELOPE).message
    assert message is not None
    assert message == make()
    other = message.model_copy(update={"msg_id": "m2"})
    assert (message.msg_id, other.msg_id) == ("m1", "m2")
    with pytest.raises(ValueError, match="frozen"):
        message.msg_id = "m3"  # type: ignore[misc]


# ---- the formatter


@given(documents())
def test_formatting_twice_is_formatting_once_and_keeps_the_data(text: str) -> None:
    before = parse_documents(text)
    if not all(one.ok for one in before):
        with pytest.raises(FormatError):
            format_document(text)
        return
    once = format_document(text)
    assert format_document(once) == once
    assert [one.data() for one in before] == [one.data() for one in parse_documents(once)]


@settings(max_examples=30)
@given(messages())
def test_a_rendered_message_keeps_its_meaning_when_formatted(message: Message) -> None:
    text = render_message(message)
    assert parse_message(format_document(text)).message == message
    assert format_document(format_document(text)) == format_document(text)


def test_the_formatter_keeps_every_comment_and_the_order_of_fields() -> None:
    text = (
        "\ufeff---\r\n\r\n# one\r\ncanon-message:   v1.0 # two\r\nto: 'b'\r\nfrom: a\r\n"
        "payload: # three\r\n     # four\r\n     n: |\r\n        x\r\n          y\r\n\r\n"
        "     list:\r\n     - a # five\r\n     -   k: v\r\n\r\n\r\n# six\r\n"
    )
    assert format_document(text) == (
        '# one\ncanon-message: v1.0  # two\nto: "b"\nfrom: a\npayload:  # three\n  # four\n'
        "  n: |\n    x\n      y\n  list:\n    - a  # five\n    - k: v\n\n# six\n"
    )


def test_sentences_are_formatted_one_a_line() -> None:
    text = "# a\n  report:x is   b\n\n\n fail: t because r\n\n"
    assert format_sentences(text) == "# a\nreport: x is b\n\nerror: t failed because r\n"
    with pytest.raises(FormatError, match="3:1"):
        format_sentences("report: x is b\n\nplease x\n")


def test_sentences_of_a_text_have_the_places_of_the_text() -> None:
    text = "request a_1\r\n\n# note\nrequest b c\n"
    good, bad = parse_sentences(text)
    assert good.ok
    (fault,) = bad.findings
    assert (fault.line, fault.column, text[fault.start : fault.end]) == (4, 11, "c")


# ---- the raw view


def test_the_raw_view_shows_what_nobody_sees() -> None:
    text = "to: b\u200b  \r\n\tx\u00a0y\u202e\n"
    assert raw_view(text) == (
        "   1 000000 to: b<U+200B ZERO WIDTH SPACE><SPACE x2><CR><LF>\n"
        "   2 00000c <TAB>x<U+00A0 NO-BREAK SPACE>y<U+202E RIGHT-TO-LEFT OVERRIDE><LF>"
    )
    assert [line.data for line in raw_lines(text)] == [
        b"to: b\xe2\x80\x8b  \r\n", b"\tx\xc2\xa0y\xe2\x80\xae\n"
    ]  # fmt: skip
    assert raw_view(b"a\xff\n") == "   1 000000 a<BYTE FF><LF>"
    assert "74 6f" in raw_view(text, with_hex=True)
    assert [offset for offset, _ in invisible(text)] == [5, 8, 10, 12, 14]


# ---- Chinese and Japanese


@pytest.mark.parametrize(
    ("english", "chinese", "japanese"),
    [
        ("request x with a=1 within 30 seconds", "请求 x 参数 a=1 时限 30 秒",
         "依頼 x 引数 a=1 期限 30 秒"),
        ("report: stock is low", "报告：stock 为 low", "報告：stock は low"),
        ("query: price of a", "查询：a 的 price", "照会：a の price"),
        ("decision: a selected", "决定：选定 a", "決定：a を選択"),
        ("notice: a occurred", "通知：a 已发生", "通知：a が発生"),
        ("ack: m1 received", "确认：m1 已收到", "確認：m1 を受信"),
        ("error: a failed because b", "错误：a 失败，原因 b", "エラー：a が失敗、理由 b"),
        ("if n < 10 and b == true then notify c", "如果 n < 10 且 b == 真 则 通知 c",
         "もし n < 10 かつ b == 真 ならば 通知 c"),
        ("agent_b must not cancel x", "agent_b 不得 取消 x", "agent_b 禁止 取消 x"),
        ("must confirm x within 1 minute", "必须 确认 x 时限 1 分钟", "必須 確認 x 期限 1 分"),
    ],
)  # fmt: skip
def test_a_sentence_has_the_same_meaning_in_every_language(
    english: str, chinese: str, japanese: str
) -> None:
    for language, text in (("zh", chinese), ("ja", japanese)):
        assert translate_sentence(english, target=language) == text
        assert language_of(text) == language
        assert translate_sentence(text, target="en") == english
    assert language_of(english) == "en"


def test_a_message_is_translated_both_ways_and_its_payload_stays() -> None:
    english = (
        "canon-message: v1.0\nfrom: agent_a\nto: agent_b\nmsg_id: m1\naction: report\nsubject: s\n"
        "payload:\n  状态: 正常\n  within: x\nwithin: 30 seconds\nreply_to: m0\n"
        'if: a < 1 or b in ["x"]\n'
    )
    chinese = (
        "规范消息: v1.0\n发送方: agent_a\n接收方: agent_b\n消息编号: m1\n动作: 报告\n主题: s\n"
        '载荷:\n  状态: 正常\n  within: x\n时限: 30 秒\n回复: m0\n如果: a < 1 或 b 属于 ["x"]\n'
    )
    assert translate_message(english, target="zh") == chinese
    assert language_of(chinese) == "zh"
    for language in ("zh", "ja"):
        there = translate_message(english, target=language)
        assert translate_message(there, target="en") == english


def test_a_fault_in_chinese_names_chinese_words() -> None:
    text = "规范消息: v1.0\n发送方: a\n接收方: b\n消息编号: m\n动作: 请球\n主题: s\n时限: 尽快\n"
    found = parse_message(text, language="zh").findings
    assert [one.rule for one in found] == ["unknown-action", "bad-time"]
    assert "请求" in found[0].expected
    assert not parse_message(ENVELOPE + "发送方: c\n", language="zh").ok
    (fault,) = parse_sentence("报告：stock 是 low", language="zh").findings
    assert fault.expected == ("为",)
    with pytest.raises(TranslateError, match="1:1"):
        translate_sentence("删除 a", target="en", source="zh")
    with pytest.raises(UsageError, match="unknown language"):
        parse_sentence("x", language="fr")


# ---- text of agents


AGENT_TEXTS = (
    "I'll help you with that! First, let me check the file:\n```python\nprint('a: b')\n```\nDone.",
    'Thought: I need to search.\nAction: search\nAction Input: {"query": "x"}',
    "exitcode: 0 (execution succeeded)\nCode output: 4\n",
    "- step one\n- step two: check\n\n| a | b |\n|---|---|\n| 1 | 2 |",
    "TERMINATE",
    "request the file from the server, then report back",
    "Please report: the stock is low.",
    "from: Alice\nto: Bob\nsubject: hello\n\nDear Bob, ...",
    "\ufeff# Title\r\n\r\ttab  \r\n",
    "\n\n  leading\ntrailing  \n\n\n",
    "价格：100 元\n👩‍💻 done\u00a0\x1b[0m\x00",
)


@pytest.mark.parametrize("text", AGENT_TEXTS)
def test_free_text_is_no_canon_and_survives_as_a_payload(text: str) -> None:
    assert not parse_message(text).ok
    assert not parse_sentence(text).ok
    message = make(payload={"text": text})
    back = parse_message(render_message(message)).message
    assert back is not None
    assert back.payload["text"] == text
    assert Within(30, "second") == make(within="30 seconds").within


@pytest.mark.parametrize(
    ("value", "warned"),
    [("[name]", True), ("<int>", True), ("${name}", True), ("$name", True), ("$5", False),
     ('"[name]"', False), ('"<int>"', False), ("[a b]", False), ("{}", False), ("a [name]", False)],
)  # fmt: skip
def test_a_value_that_is_not_filled_in_is_told(value: str, warned: bool) -> None:
    result = parse_message(f"{ENVELOPE}payload:\n  k: {value}\n")
    assert result.ok
    assert [one.rule for one in result.findings] == ["not-filled"] * warned


@pytest.mark.parametrize(
    ("written", "excerpt"),
    [
        ('"t == \\"\\u4e2d\\" and n = 1"', "="),
        ("'t == ''x'' and n = 1'", "="),
        ("n == 1 and t = 2", "="),
        ('"n \\x3d 1"', "\\x3d"),
    ],
)
def test_a_fault_inside_a_quoted_value_is_shown_where_it_is_written(
    written: str, excerpt: str
) -> None:
    (fault,) = parse_message(f"{ENVELOPE}if: {written}\n").findings
    assert fault.excerpt == excerpt
