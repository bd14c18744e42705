"""SQL with bound values, HTTP descriptions and templates from valid messages."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from steguard import ProfileError
from steguard.canon.generate import (
    GenerationError,
    HttpMapping,
    SqlMapping,
    read_mapping,
    render_template,
    to_http,
    to_sql,
    to_template,
)
from steguard.canon.message import parse_message
from steguard.canon.model import Message
from tests.support.canon_subjects import message, registry, text

MAPPING = """\
canon-mapping: v1.0
sql:
  inventory_check:
    request:
      select: inventory
      columns: [sku, available]
      where: {sku: sku, available: {op: ">=", field: quantity}}
      conditions: {stock_level: available, sku: sku}
    report:
      update: inventory
      values: {available: available}
      where: {sku: sku}
      ignore: [fulfilled]
http:
  inventory_check:
    request:
      method: GET
      url: https://shop.example/stock/{sku}
      query: [quantity]
      headers: {X-Request-Id: "{msg_id}"}
    report:
      method: PUT
      url: https://shop.example/stock/{sku}
      json: {count: available, done: fulfilled}
"""


def built(**payload: Any) -> Message:
    return Message(
        sender="agent_a",
        recipient="agent_b",
        msg_id="m-1",
        action="request",
        subject="inventory_check",
        payload=payload,
    )


@pytest.fixture
def database() -> Any:
    engine = sa.create_engine("sqlite://")
    with engine.connect() as connection:
        connection.execute(sa.text("create table inventory (sku text, available integer)"))
        connection.execute(sa.text("insert into inventory values ('A1001', 5), ('B2002', 1)"))
        yield connection
    engine.dispose()


def rows(connection: Any, statement: Any) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in connection.execute(statement)]


# ---- SQL


def test_a_request_becomes_a_query_that_runs(database: Any) -> None:
    mapping = read_mapping(MAPPING)
    asked = message("  sku: A1001\n  quantity: 2\n")
    assert rows(database, to_sql(asked, mapping, registry())) == [("A1001", 5)]
    many = message("  sku: A1001\n  quantity: 9\n")
    assert rows(database, to_sql(many, mapping, registry())) == []


def test_a_report_becomes_an_update(database: Any) -> None:
    told = message("  sku: B2002\n  available: 7\n  fulfilled: true\n", action="report")
    database.execute(to_sql(told, read_mapping(MAPPING), registry()))
    assert rows(database, sa.text("select available from inventory where sku = 'B2002'")) == [(7,)]


@given(st.text(max_size=40))
@settings(max_examples=60)
def test_a_value_is_always_bound_and_never_a_part_of_the_statement(value: str) -> None:
    statement: Any = to_sql(built(sku=value, quantity=1), read_mapping(MAPPING))
    compiled = statement.compile()
    assert value in compiled.params.values()
    plain: Any = to_sql(built(sku="A", quantity=1), read_mapping(MAPPING))
    assert str(compiled) == str(plain.compile())


def test_an_injection_finds_nothing(database: Any) -> None:
    attack = built(sku="A1001' or '1'='1", quantity=1)
    assert rows(database, to_sql(attack, read_mapping(MAPPING))) == []


def test_the_condition_of_a_message_is_a_part_of_the_query(database: Any) -> None:
    def found(condition: str) -> list[Any]:
        asked = message("  sku: A1001\n  quantity: 1\n", rest=f"if: {condition}\n")
        return rows(database, to_sql(asked, read_mapping(MAPPING), registry()))

    assert found("stock_level < 10") == [("A1001", 5)]
    assert found("stock_level < 5") == []
    assert found('stock_level == 5 and (sku == "x" or sku in ["A1001"])') == [("A1001", 5)]
    assert found("not (stock_level == 5)") == []
    assert found('sku not in ["A1001"]') == []


REFUSED = [
    (built(sku="A"), "needs 'quantity'"),
    (built(sku="A", quantity=1, colour="red"), "does not use 'colour'"),
    (built(sku=["A"], quantity=1), "'sku' is a list or a group"),
    (message("  sku: [name]\n  quantity: 1\n"), "'sku' is still '[name]'"),
    (message(rest="if: weather == 3\n"), "no column for it"),
    (message(action="query", payload="  sku: A\n"), "has no sql for 'inventory_check' query"),
]


@pytest.mark.parametrize(("asked", "says"), REFUSED, ids=[r[1] for r in REFUSED])
def test_what_the_mapping_cannot_say_is_refused(asked: Message, says: str) -> None:
    with pytest.raises(GenerationError) as error:
        to_sql(asked, read_mapping(MAPPING))
    assert says in str(error.value)


def test_a_message_that_the_registry_refuses_makes_no_statement() -> None:
    with pytest.raises(GenerationError, match="'quantity' is 0"):
        to_sql(built(sku="A", quantity=0), read_mapping(MAPPING), registry())


@pytest.mark.parametrize("kind", ["update", "delete"])
def test_a_change_of_every_row_is_refused(kind: Any) -> None:
    plan = SqlMapping(kind, "inventory", values={"available": "quantity"}, ignore=("sku",))
    with pytest.raises(GenerationError, match="changes every row"):
        to_sql(built(sku="A", quantity=1), plan)


def test_a_table_can_stand_in_a_schema() -> None:
    mapping = read_mapping(MAPPING.replace("select: inventory", "select: shop.inventory"))
    statement: Any = to_sql(message(), mapping)
    assert "FROM shop.inventory" in str(statement.compile())


def test_insert_and_in(database: Any) -> None:
    plan = SqlMapping("insert", "inventory", values={"sku": "sku", "available": "quantity"})
    database.execute(to_sql(built(sku="C", quantity=9), plan))
    listed = SqlMapping("select", "inventory", ("sku",), where={"sku": ("in", "skus")})
    assert rows(database, to_sql(built(skus=["C", "X"]), listed)) == [("C",)]
    with pytest.raises(GenerationError, match="'in' needs a list"):
        to_sql(built(skus="C"), listed)


# ---- HTTP


def test_a_request_becomes_a_description_of_a_call() -> None:
    made = to_http(message("  sku: A1/00 1\n  quantity: 2\n"), read_mapping(MAPPING), registry())
    assert made == {
        "method": "GET",
        "url": "https://shop.example/stock/A1%2F00%201?quantity=2",
        "path": "/stock/A1%2F00%201",
        "query": {"quantity": "2"},
        "headers": {"X-Request-Id": "m-1"},
        "json": None,
    }


def test_a_body_keeps_the_types() -> None:
    told = message("  sku: A\n  available: 7\n  fulfilled: true\n", action="report")
    assert to_http(told, read_mapping(MAPPING), registry())["json"] == {"count": 7, "done": True}


@given(st.text(min_size=1, max_size=30).filter(lambda t: t not in (".", "..")))
@settings(max_examples=80)
def test_a_value_stays_inside_its_segment_of_the_path(value: str) -> None:
    url = to_http(built(sku=value, quantity=1), read_mapping(MAPPING))["url"]
    head, _, query = url.partition("?")
    segment = head.removeprefix("https://shop.example/stock/")
    assert "/" not in segment
    assert query == "quantity=1"
    assert unquote(segment) == value


@pytest.mark.parametrize("value", [".", "..", ""])
def test_a_segment_that_climbs_is_refused(value: str) -> None:
    with pytest.raises(GenerationError, match="no segment of a path"):
        to_http(built(sku=value, quantity=1), read_mapping(MAPPING))


def test_a_header_cannot_be_split() -> None:
    plan = HttpMapping("GET", "https://a.example/", headers={"X-Note": "{note}"})
    with pytest.raises(GenerationError, match="header 'X-Note'"):
        to_http(built(note="a\r\nSet-Cookie: b"), plan)


def test_a_condition_cannot_travel_unseen() -> None:
    with pytest.raises(GenerationError, match="test it first"):
        to_http(message(rest="if: stock_level < 10\n"), read_mapping(MAPPING))


@pytest.mark.parametrize("url", ["ftp://a/", "https://{host}/a", "//a/b", "https://a/x{sku}"])
def test_an_address_comes_from_the_mapping_only(url: str) -> None:
    with pytest.raises(GenerationError, match="cannot be used"):
        to_http(built(host="evil.example", sku="A"), HttpMapping("GET", url))


# ---- mapping files


@pytest.mark.parametrize(
    ("old", "new", "place", "says"),
    [
        ("canon-mapping: v1.0", "mapping: 1", "1:1", "starts with 'canon-mapping: v1.0'"),
        ("select: inventory", "select: inventory; drop table x", "5:7", "no name of a table"),
        ("columns: [sku", "columns: [a.sku", "6:7", "no name of a column"),
        ('op: ">="', 'op: "like"', "7:25", "'like' is no operator"),
        ("columns: [sku", "colums: [sku", "6:7", "unknown key 'colums'; did you mean 'columns'"),
        ("method: GET", "method: FETCH", "17:7", "'method' is one of"),
        ("https://shop.example/stock/{sku}\n      query", "https://{sku}/a\n      query", "18:7",
         "a host without"),
        ("X-Request-Id", "X Request", "20:17", "no name of a header"),
        ("sql:", "sqk:", "2:1", "unknown key 'sqk'"),
    ],
)  # fmt: skip
def test_a_faulty_mapping_names_the_place(old: str, new: str, place: str, says: str) -> None:
    with pytest.raises(ProfileError) as error:
        read_mapping(MAPPING.replace(old, new, 1), "m.yaml")
    assert f"m.yaml:{place}: " in str(error.value)
    assert says in str(error.value)


# ---- templates

ENVELOPE = {"sender": "a", "recipient": "b", "msg_id": "m-9"}


def test_a_template_makes_messages_like_its_model() -> None:
    template = to_template(message(rest="within: 30 seconds\nif: stock_level < 10\n"))
    made = render_template(template, ENVELOPE, payload={"sku": "B: 2", "quantity": 3})
    read = parse_message(made, registry=registry()).message
    assert read is not None
    assert read.payload == {"sku": "B: 2", "quantity": 3}
    assert (read.msg_id, str(read.within)) == ("m-9", "30 seconds")
    assert read.condition is not None


@given(st.text(max_size=40))
@settings(max_examples=80)
def test_a_value_can_never_add_a_field(value: str) -> None:
    template = to_template(message())
    try:
        made = render_template(template, ENVELOPE, payload={"sku": value, "quantity": "1"})
    except GenerationError:
        return
    read = parse_message(made).message
    assert read is not None
    assert read.payload == {"sku": value, "quantity": "1"}
    assert read.recipient == "b"


def test_a_template_with_lists_groups_and_odd_keys() -> None:
    model = built(**{"tags": ["a", "b: c"], "place": {"city": "X"}, "a {{ b }}": "1"})
    template = to_template(model)
    values = {"tags": ["x", "y: z"], "place": {"city": "[Y]"}, "a {{ b }}": "2"}
    made = parse_message(render_template(template, ENVELOPE, payload=values)).message
    assert made is not None
    assert made.payload == values


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"payload": {"sku": "A", "quantity": "1"}}, "needs a value for 'msg_id'"),
        ({**ENVELOPE, "payload": {"sku": "A"}}, "needs a value for 'quantity'"),
        ({**ENVELOPE, "sender": "a b", "payload": {"sku": "A", "quantity": "1"}}, "'a b'"),
    ],
)
def test_a_template_says_what_it_lacks(values: dict[str, Any], says: str) -> None:
    with pytest.raises(GenerationError, match=says):
        render_template(to_template(message()), values)


def test_a_template_runs_in_the_sandbox() -> None:
    hostile = text().replace("A1001", "{{ payload.__class__.__mro__ }}")
    with pytest.raises(GenerationError, match=r"unsafe|is wrong"):
        render_template(hostile, payload={})
