"""The quick yes never contradicts the judge."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field

from steguard.schemaquick import compile_yes

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.0, 1.0, 1.5, "", "a", "ab", "b c"])
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=6,
)
small = st.integers(0, 3)
leaves = st.one_of(
    st.builds(lambda kind: {"type": kind}, st.sampled_from(["null", "boolean", "object", "array"])),
    st.builds(
        lambda low, high: {"type": "string", "minLength": low, "maxLength": high}, small, small
    ),
    st.builds(
        lambda pattern: {"type": "string", "pattern": pattern}, st.sampled_from(["^a", "b$", "."])
    ),
    st.builds(
        lambda kind, key, limit: {"type": kind, key: limit},
        st.sampled_from(["integer", "number"]),
        st.sampled_from(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]),
        small,
    ),
    st.builds(lambda items: {"enum": items}, st.lists(scalars, min_size=1, max_size=3)),
    st.builds(lambda item: {"const": item, "type": "string"}, scalars),
    st.just({"$ref": "#/$defs/node"}),
    st.just({}),
    st.just({"not": {"type": "string"}}),
    st.booleans(),
)
schemas = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(
            lambda fields, required, more: {
                "type": "object",
                "properties": fields,
                "required": required,
                "additionalProperties": more,
            },
            st.dictionaries(st.sampled_from("ab"), inner),
            st.lists(st.sampled_from("ab"), unique=True),
            inner,
        ),
        st.builds(
            lambda items, low: {"type": "array", "items": items, "minItems": low}, inner, small
        ),
        st.builds(lambda some: {"anyOf": some}, st.lists(inner, min_size=1, max_size=2)),
        st.builds(lambda one: {"items": one}, inner),
    ),
    max_leaves=5,
)
NODE = {"type": "object", "properties": {"a": {"$ref": "#/$defs/node"}, "b": {"type": "null"}}}


@settings(max_examples=400, deadline=None)
@given(schemas, values)
def test_what_it_accepts_the_judge_accepts(schema: Any, value: Any) -> None:
    whole = {"allOf": [schema]} if isinstance(schema, bool) else {**schema, "$defs": {"node": NODE}}
    if compile_yes(whole)(value):
        assert Draft202012Validator(whole).is_valid(value)


class Place(BaseModel):
    line: int = Field(ge=1)
    note: str | None = None


class Answer(BaseModel):
    model_config = {"extra": "forbid"}
    verdict: Literal["pass", "fail"]
    places: list[Place] = Field(max_length=2)


GOOD = {"verdict": "pass", "places": [{"line": 3, "note": None}, {"line": 1}]}


@pytest.mark.parametrize(
    "change",
    [
        {"verdict": "maybe"},
        {"verdict": None},
        {"more": 1},
        {"places": [{"line": 0}]},
        {"places": [{"line": True}]},
        {"places": [{"note": "x"}]},
        {"places": [{"line": 1}] * 3},
        {"places": {"line": 1}},
    ],
)
def test_it_says_yes_to_a_model_and_not_to_its_faults(change: dict[str, Any]) -> None:
    yes = compile_yes(Answer.model_json_schema())
    assert yes(GOOD)
    assert not yes({**GOOD, **change})
    assert not yes({key: value for key, value in GOOD.items() if key != "places"})


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": "http://json-schema.org/draft-04/schema#", "type": "object"},
        {"type": "object", "patternProperties": {"a": {"type": "string"}}},
        {"type": "object", "properties": {"a": {"$ref": "other.json"}}},
        {"type": ["object", "null"]},
        {"properties": {"a": {"type": "string"}}},
    ],
)
def test_it_leaves_what_it_does_not_know_to_the_judge(schema: dict[str, Any]) -> None:
    assert not compile_yes(schema)({"a": "x"})


def test_a_value_too_deep_goes_to_the_judge() -> None:
    deep: dict[str, Any] = {}
    for _ in range(2000):
        deep = {"a": deep}
    assert not compile_yes({"$ref": "#/$defs/node", "$defs": {"node": NODE}})(deep)
