"""Subjects: schema files with positions, typed payloads, ready answers, compatibility."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steguard import ProfileError
from steguard.canon.compatibility import compare, refused_value
from steguard.canon.message import parse_message
from steguard.canon.model import TypeRef, Version
from steguard.canon.payload import (
    Field,
    FieldGroup,
    Fields,
    PayloadField,
    ValueFault,
    to_json,
    to_text,
)
from steguard.canon.payloadread import read_payload
from steguard.canon.registry import Registry
from steguard.canon.render import render_message
from steguard.canon.subjectfile import load_subject
from steguard.canon.subjects import Subject
from steguard.canon.verdict import judge
from tests.support.canon_subjects import STOCK, message, registry, subject, text


def problems(payload: str, **more: Any) -> list[tuple[str, int, str]]:
    """The rule, line and excerpt of everything that the schema finds."""
    found = parse_message(text(payload, **more), registry=registry()).findings
    return [(f.rule, f.line, f.excerpt) for f in found if f.code.startswith("CAN5")]


# ---- typed payloads


def test_a_valid_payload_is_typed() -> None:
    typed = registry().read(
        message(
            "  sku: no\n  quantity: 2 pieces\n  express: true\n  tags: [cold]\n"
            "  day: 2026-01-31\n  price: 2.50\n"
        )
    )
    assert typed.ok
    assert to_json(typed.payload) == {
        "sku": "no",
        "quantity": 2,
        "express": True,
        "tags": ["cold"],
        "day": "2026-01-31",
        "price": 2.5,
    }


FAULTS = [
    ("  sku: A\n  quantity: many\n", ("wrong-type", 9, "many")),
    ("  sku: A\n  # how many\n  quantity: many\n", ("wrong-type", 10, "many")),
    ("  sku: A\n  quantity: 1:10\n", ("wrong-type", 9, "1:10")),
    ("  sku: A\n  quantity: 2.0\n", ("wrong-type", 9, "2.0")),
    ("  sku: A\n  quantity: 007\n", ("wrong-type", 9, "007")),
    ("  sku: A\n  quantity: +2\n", ("wrong-type", 9, "+2")),
    ("  sku: A\n  quantity: 0x10\n", ("wrong-type", 9, "0x10")),
    ("  sku: A\n  quantity: 1_000\n", ("wrong-type", 9, "1_000")),
    ("  sku: A\n  quantity: ٣\n", ("wrong-type", 9, "٣")),
    ("  sku: A\n  quantity: [1, 2]\n", ("wrong-type", 9, "[1, 2]")),
    ("  sku: A\n  quantity:\n    a: 1\n", ("wrong-type", 10, "a: 1")),
    ("  sku: A\n  quantity: 0\n", ("out-of-range", 9, "0")),
    ("  sku: A\n  quantity: 1000\n", ("out-of-range", 9, "1000")),
    ("  sku: A\n  quantity: 2 boxes\n", ("wrong-unit", 9, "2 boxes")),
    ("  sku: A\n  quantity: 2\n  express: yes\n", ("wrong-type", 10, "yes")),
    ("  sku: A\n  quantity: 2\n  express: True\n", ("wrong-type", 10, "True")),
    ("  sku: A\n  quantity: 2\n  tags: [cold, hot]\n", ("wrong-type", 10, "hot")),
    ("  sku: A\n  quantity: 2\n  tags: cold\n", ("wrong-type", 10, "cold")),
    ("  sku: A\n  quantity: 2\n  tags: [cold, cold, cold]\n",
     ("out-of-range", 10, "[cold, cold, cold]")),
    ("  sku: A\n  quantity: 2\n  day: 2026-02-30\n", ("wrong-type", 10, "2026-02-30")),
    ("  sku: A\n  quantity: 2\n  day: 31.01.2026\n", ("wrong-type", 10, "31.01.2026")),
    ("  sku: A\n  quantity: 2\n  price: 1e999\n", ("wrong-type", 10, "1e999")),
    ("  sku: A\n  quantity: 2\n  price: nan\n", ("wrong-type", 10, "nan")),
    ("  sku: A\n  quantity: 2\n  price: 1,5\n", ("wrong-type", 10, "1,5")),
    ("  sku: A\n  quantity: 2\n  price: 5 EUR\n", ("wrong-unit", 10, "5 EUR")),
    ("  sku: A\n  quantity: 2\n  note: aaaaaaaaaaaaaaaaaaaaa\n",
     ("out-of-range", 10, "aaaaaaaaaaaaaaaaaaaaa")),
    ("  sku_id: A\n  quantity: 2\n  sku: A\n", ("unknown-field", 8, "sku_id")),
    ("  sku: A\n", ("missing-field", 7, "payload")),
]  # fmt: skip


@pytest.mark.parametrize(("payload", "expected"), FAULTS, ids=[repr(f[0])[3:] for f in FAULTS])
def test_a_fault_is_found_at_its_value(payload: str, expected: tuple[str, int, str]) -> None:
    assert problems(payload) == [expected]


def test_a_huge_number_is_a_limit_and_no_crash() -> None:
    fields = {"n": PayloadField("n", TypeRef("int"))}
    _, found = read_payload(fields, {"n": "9" * 5000})
    assert [p.rule for p in found] == ["wrong-type"]


def test_all_faults_of_a_payload_are_told_at_once() -> None:
    found = problems("  quantity: x\n  colour: red\n")
    assert sorted(rule for rule, _, _ in found) == ["missing-field", "unknown-field", "wrong-type"]


def test_a_placeholder_is_no_type_error_and_a_list_of_one_is_no_placeholder() -> None:
    verdict = judge(text("  sku: [name]\n  quantity: 2\n  tags: [cold]\n"), registry=registry())
    assert [(f.rule, f.excerpt) for f in verdict.findings] == [("not-filled", "[name]")]
    assert verdict.ok


def test_a_failure_in_a_report_gets_its_own_remedy() -> None:
    read = registry().read(message("  error: quantity_negative\n", action="report"))
    unknown = next(p for p in read.problems if p.rule == "unknown-field")
    assert "action: fail" in (unknown.suggestion or "")


def test_envelope_and_payload_faults_are_told_together() -> None:
    wrong = text("  sku: A\n  quantity: many\n", rest="within: soon\n")
    assert {f.rule for f in judge(wrong, registry=registry()).findings} == {
        "wrong-type",
        "bad-time",
    }


# ---- groups of fields

ORDER = """\
canon-subject: v1.0
subject: order
version: v1.0
actions:
  request:
    address:
      fields:
        city: <text>
        zip: {type: <int>, required: false}
    lines:
      many: true
      min_items: 1
      fields:
        sku: <text>
        quantity: <int>
"""
LINES = "  address:\n    city: X\n  lines:\n    - sku: A\n      quantity: 2\n"


def test_groups_and_lists_of_groups_are_typed() -> None:
    orders = Registry.of([load_subject(ORDER, "o.yaml")])
    typed = orders.read(message(LINES, about="order"))
    assert typed.ok
    assert typed.payload == {
        "address": {"city": "X"},
        "lines": [{"sku": "A", "quantity": 2}],
    }
    schema = orders.subject("order").json_schema("request")
    jsonschema.validate(to_json(typed.payload), schema)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("quantity: 2", "quantity: two", ("wrong-type", 12, "two")),
        ("quantity: 2", "qty: 2\n      quantity: 2", ("unknown-field", 12, "qty")),
        ("\n      quantity: 2", "", ("missing-field", 11, "sku: A")),
        ("city: X", "city: X\n    zip: a", ("wrong-type", 10, "a")),
        ("    - sku: A\n      quantity: 2\n", "    - A\n", ("wrong-type", 11, "A")),
        ("  address:\n    city: X\n", "  address: X\n", ("wrong-type", 8, "X")),
        ("  lines:\n    - sku: A\n      quantity: 2\n", "  lines: []\n",
         ("out-of-range", 10, "[]")),
    ],
)  # fmt: skip
def test_a_fault_in_a_group_is_found_at_its_value(
    old: str, new: str, expected: tuple[str, int, str]
) -> None:
    orders = Registry.of([load_subject(ORDER, "o.yaml")])
    found = parse_message(text(LINES.replace(old, new), about="order"), registry=orders).findings
    assert [(f.rule, f.line, f.excerpt) for f in found] == [expected]


def test_a_break_inside_a_group_has_its_whole_name() -> None:
    old, new = load_subject(ORDER, "o"), load_subject(ORDER.replace("<int>\n", "<bool>\n"), "n")
    (one,) = compare(old, new).backward_breaks
    assert one.field == "lines.quantity"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("many: true", "many: yes", "'many': 'yes' is not true or false"),
        ("min_items: 1", "min: 1", "unknown key 'min'"),
        ("    address:\n", "    empty: {fields: {}}\n    address:\n", "has no fields"),
        ("      many: true\n", "", "'min_items' belongs to a list"),
    ],
)
def test_a_faulty_group_is_told(old: str, new: str, says: str) -> None:
    with pytest.raises(ProfileError) as error:
        load_subject(ORDER.replace(old, new), "o.yaml")
    assert says in str(error.value)


# ---- subjects, actions, versions


def test_an_unknown_subject_gets_the_nearest_name() -> None:
    (problem,) = registry().read(message(about="inventroy_check")).problems
    assert (problem.rule, problem.suggestion) == ("unknown-subject", "Write 'inventory_check'.")


def test_an_action_that_the_subject_does_not_have_is_refused() -> None:
    (problem,) = registry().read(message(action="notify")).problems
    assert problem.rule == "unknown-action"
    assert "request" in problem.expected


@pytest.mark.parametrize("action", ["confirm", "cancel", "retry", "complete"])
def test_every_subject_has_the_answers_that_need_no_schema(action: str) -> None:
    assert registry().read(message("", action=action)).ok


def test_a_failure_gives_its_reason() -> None:
    assert not registry().read(message("", action="fail")).ok
    assert registry().read(message("  reason: no_stock\n", action="fail")).ok


def test_versions_stand_side_by_side_and_the_report_says_which_was_used() -> None:
    newer = subject(**{"version: v1.0": "version: v1.10", "sku: <text>": "sku_id: <text>"})
    both = Registry.of([subject(), newer])
    assert [str(s.version) for s in both.versions("inventory_check")] == ["v1.10", "v1.0"]
    old = both.read(message("  sku: A\n  quantity: 2\n"))
    new = both.read(message("  sku_id: A\n  quantity: 2\n"))
    assert (old.ok, str(old.version), new.ok, str(new.version)) == (True, "v1.0", True, "v1.10")
    refused = both.read(message("  sku: A\n  quantity: 2\n"), accept=[Version(1, 10)])
    assert not refused.ok


def test_the_faults_are_those_of_the_nearest_version() -> None:
    newer = subject(**{"version: v1.0": "version: v2.0", "sku: <text>": "sku_id: <text>"})
    typed = Registry.of([subject(), newer]).read(message("  sku: A\n  quantity: x\n"))
    assert [p.path for p in typed.problems] == [("payload", "quantity")]


def test_the_same_version_twice_names_both_files(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(STOCK, encoding="utf-8")
    (tmp_path / "b.yml").write_text(STOCK, encoding="utf-8")
    with pytest.raises(ProfileError, match=r"b\.yml.*a\.yaml"):
        Registry.load(tmp_path)


# ---- the ready answer


@pytest.mark.parametrize(
    ("payload", "about", "reason", "field"),
    [
        ("  sku_id: A\n  sku: A\n  quantity: 2\n", "inventory_check", "unknown_field", "sku_id"),
        ("  sku: A\n", "inventory_check", "missing_field", "quantity"),
        ("  sku: A\n  quantity: x\n", "inventory_check", "wrong_type", "quantity"),
        ("  sku: A\n  quantity: 2\n", "weather", "unknown_subject", None),
    ],
)
def test_a_wrong_message_has_a_ready_answer_that_is_valid(
    payload: str, about: str, reason: str, field: str | None
) -> None:
    asked = message(payload, about=about)
    answer = registry().read(asked).fail(msg_id="f-1")
    assert answer is not None
    assert (answer.action, answer.reply_to, answer.recipient) == ("fail", "m-1", asked.sender)
    assert answer.payload["reason"] == reason
    assert answer.payload.get("field") == field
    assert parse_message(render_message(answer)).message == answer
    if about == "inventory_check":
        assert registry().read(answer).ok


def test_a_failure_is_never_answered_by_a_failure() -> None:
    assert registry().read(message("  resaon: x\n", action="fail")).fail() is None


def test_the_answer_obeys_the_subjects_own_failure() -> None:
    own = subject(STOCK + "  fail:\n    reason: <text>\n    code: {type: <int>, required: false}\n")
    answer = Registry.of([own]).read(message("  sku: A\n  quantity: x\n")).fail()
    assert answer is not None
    assert set(answer.payload) == {"reason"}


# ---- subject files


@pytest.mark.parametrize(
    ("old", "new", "place", "says"),
    [
        ("version: v1.0", "versoin: v1.0", "3:1", "unknown key 'versoin'; did you mean 'version'"),
        ("version: v1.0", "version: 1", "3:1", "no version"),
        ("sku: <text>", "sku: <string>", "7:5", "unknown type '<string>'"),
        ("<enum:cold|fragile>", "<enum:cold||x>", "10:12", "member 2 of the enum is empty"),
        ("min: 1,", "min: one,", "8:29", "'min': 'one' is no number"),
        ("min: 1,", "min: 1000,", "8:29", "'min' (1000) is more than 'max' (999)"),
        ("unit: pieces", "units: pieces", "8:47", "unknown key 'units'; did you mean 'unit'"),
        ("required: false}", "required: no}", "9:29", "'required': 'no' is not true or false"),
        ("max_length: 20", "max_length: 0", "13:43", "'max_length' is at least 1"),
        ("<date>", "<date>, max: 3", "11:25", "'max' belongs to a number"),
        ("sku: <text>", "'a b': <text>", "7:5", "'a b' is no field name"),
    ],
)
def test_a_faulty_subject_file_names_the_place(old: str, new: str, place: str, says: str) -> None:
    with pytest.raises(ProfileError) as error:
        load_subject(STOCK.replace(old, new, 1), "s.yaml")
    assert f"s.yaml:{place}: " in str(error.value)
    assert says in str(error.value)


def test_all_faults_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(STOCK.replace("<date>", "<day>"), encoding="utf-8")
    (tmp_path / "b.yaml").write_text("canon-subject: v1.0\nsubject: x\n", encoding="utf-8")
    with pytest.raises(ProfileError) as error:
        Registry.load(tmp_path)
    assert "a.yaml:11:11" in str(error.value)
    assert "b.yaml" in str(error.value)


def test_names_that_yaml_takes_for_truth_values_stay_names() -> None:
    made = load_subject(
        "canon-subject: v1.0\nsubject: switch\nversion: v1.0\npayload:\n"
        "  off: <enum:yes|no>\n  on: {type: <int>, required: false}\n",
        "s.yaml",
    )
    assert list(made.fields("request") or ()) == ["off", "on"]
    typed, found = read_payload(made.fields("request") or {}, {"off": "no"})
    assert (typed, found) == ({"off": "no"}, [])


@pytest.mark.parametrize("folder", ["nothing", "empty"])
def test_a_registry_without_files_is_an_error(tmp_path: Path, folder: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ProfileError, match="registry folder"):
        Registry.load(tmp_path / folder)


# ---- JSON Schema


@given(st.data())
@settings(max_examples=60)
def test_json_schema_takes_exactly_the_typed_values(data: st.DataObject) -> None:
    spec = data.draw(fields())
    samples = data.draw(st.lists(values(spec), max_size=6))
    for sample in samples:
        try:
            typed = to_json(spec.read(sample))
        except ValueFault:
            continue
        jsonschema.validate(typed, spec.json_schema())
        assert spec.read(to_text(typed)) == spec.read(sample)


def test_the_schema_of_messages_takes_a_typed_message() -> None:
    schema = registry().message_schema()
    typed, _ = registry().check(message())
    from steguard.canon.render import message_json

    jsonschema.validate(json.loads(json.dumps(message_json(typed))), schema)


# ---- compatibility against brute force

names = st.sampled_from(["a", "b", "c"])
members = st.lists(st.sampled_from(["1", "2", "x", "true"]), min_size=1, max_size=3, unique=True)


@st.composite
def fields(draw: st.DrawFn, name: str = "f") -> PayloadField:
    kind = draw(st.sampled_from(["int", "float", "bool", "date", "path", "text", "enum"]))
    options: dict[str, Any] = {"required": draw(st.booleans()), "many": draw(st.booleans())}
    ref = TypeRef(kind, tuple(draw(members))) if kind == "enum" else TypeRef(kind)
    if kind in ("int", "float"):
        low, high = sorted(draw(st.tuples(st.integers(-3, 3), st.integers(-3, 3))))
        options["min"] = draw(st.sampled_from([None, Decimal(low)]))
        options["max"] = draw(st.sampled_from([None, Decimal(high)]))
        options["unit"] = draw(st.sampled_from([None, "kg", "g"]))
    if kind in ("text", "path"):
        options["max_length"] = draw(st.sampled_from([None, 1, 2, 5]))
    if options["many"]:
        options["min_items"] = draw(st.sampled_from([0, 1, 2]))
        options["max_items"] = draw(st.sampled_from([None, 2, 3]))
    return PayloadField(name, ref, **options)


def values(spec: PayloadField) -> st.SearchStrategy[Any]:
    """Texts near the borders of everything, right and wrong ones."""
    unit = st.sampled_from(["", " kg", " g"])
    number = st.builds(
        "{}{}".format,
        st.sampled_from(["-4", "-3", "-1", "-0", "0", "1", "2", "1.0", "2.5", "4"]),
        unit,
    )
    one = st.one_of(
        number,
        st.sampled_from(["x", "true", "false", "", "yes", "2026-01-31", "9" * 99, "1e300"]),
        st.text(alphabet="ab\n ", max_size=6),
    )
    return st.lists(one, max_size=4) if spec.many else one


def takes(spec: PayloadField, value: Any) -> bool:
    try:
        spec.read(value)
    except ValueFault:
        return False
    return True


@given(st.data())
@settings(max_examples=250)
def test_a_field_reads_another_exactly_where_it_takes_all_of_its_values(
    data: st.DataObject,
) -> None:
    writer, reader = data.draw(fields()), data.draw(fields())
    example = refused_value(writer, reader)
    if example is not None:
        assert takes(writer, example)
        assert not takes(reader, example)
        return
    for value in data.draw(st.lists(values(writer), max_size=12)):
        assert not takes(writer, value) or takes(reader, value)


@st.composite
def groups(draw: st.DrawFn, name: str) -> FieldGroup:
    chosen = draw(st.lists(names, unique=True, min_size=1, max_size=2))
    many = draw(st.booleans())
    return FieldGroup(
        name,
        {inner: draw(fields(inner)) for inner in chosen},
        many,
        draw(st.booleans()),
        draw(st.sampled_from([0, 1])) if many else 0,
        draw(st.sampled_from([None, 1, 2])) if many else None,
    )


def payloads(sent: Fields) -> st.SearchStrategy[dict[str, Any]]:
    """Payloads with the fields of a writer, right and wrong values."""

    def one(spec: Field) -> st.SearchStrategy[Any]:
        if isinstance(spec, PayloadField):
            return values(spec)
        inner = payloads(spec.fields)
        return st.lists(inner, max_size=2) if spec.many else inner

    return st.fixed_dictionaries(
        {n: one(f) for n, f in sent.items() if f.required},
        optional={n: one(f) for n, f in sent.items() if not f.required},
    )


@st.composite
def subjects(draw: st.DrawFn) -> Subject:
    chosen = draw(st.lists(names, unique=True, max_size=3))
    made = {name: draw(st.one_of(fields(name), groups(name))) for name in chosen}
    return Subject("s", Version(1, 0), {"request": made})


@given(st.data())
@settings(max_examples=120)
def test_backward_means_that_every_old_message_is_read_by_the_new_version(
    data: st.DataObject,
) -> None:
    old, new = data.draw(subjects()), data.draw(subjects())
    both = compare(old, new)
    sent, known = old.fields("request") or {}, new.fields("request") or {}
    for payload in data.draw(st.lists(payloads(sent), max_size=8)):
        if not read_payload(sent, payload)[1] and both.backward:
            assert not read_payload(known, payload)[1]
    for one in both.backward_breaks:
        assert one.field is not None
        assert one.field.partition(".")[0] in {*sent, *known}
    assert both.full is (not both.breaks("full"))
    assert compare(new, old).backward is both.forward


@pytest.mark.parametrize(
    ("old", "new", "backward", "forward", "field"),
    [
        ("sku: <text>", "sku: <text>", True, True, None),
        ("note: {type: <text>, required: false, max_length: 20}", "", False, True, "note"),
        ("express: {type: <bool>, required: false}", "express: <bool>", False, True, "express"),
        ("max: 999", "max: 99", False, True, "quantity"),
        ("max: 999", "max: 9999", True, False, "quantity"),
        ("<enum:cold|fragile>", "<enum:cold|fragile|live>", True, False, "tags"),
        ("unit: pieces", "unit: boxes", False, False, "quantity"),
        ("type: <int>, min", "type: <float>, min", True, False, "quantity"),
        ("<date>", "<text>", True, False, "day"),
        ("    sku: <text>\n    quantity", "    sku_id: <text>\n    quantity", False, False, "sku"),
    ],
)
def test_each_usual_change_breaks_as_it_must(
    old: str, new: str, backward: bool, forward: bool, field: str | None
) -> None:
    both = compare(subject(), load_subject(STOCK.replace(old, new, 1), "new.yaml"))
    assert (both.backward, both.forward) == (backward, forward)
    if field is not None:
        assert field in {one.field for one in both.breaks("full")}
