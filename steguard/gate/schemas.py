"""The argument check: a JSON Schema, compiled once to plain functions.

It is stricter than JSON Schema where a loose reading lets an argument through: ``pattern`` must
match the whole text, and an argument that the schema does not name is refused unless the schema
says ``additionalProperties``. Schemas with rarer keywords go to the ``jsonschema`` package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from steguard.gate.arguments import is_type, whole

Fault = tuple[str, str]
"""JSON pointer and message."""
Test = Callable[[Any, str], Fault | None]

_PLAIN = {
    "type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf",
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength",
    "minItems", "maxItems", "pattern",
    "title", "description", "default", "examples", "format", "deprecated", "$schema", "$comment",
}  # fmt: skip


def compile_schema(schema: Mapping[str, Any]) -> Test:
    """A test that gives the first fault of arguments, or None.

    Raises :class:`ValueError` where this is no JSON Schema.
    """
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise ValueError(f"this is no JSON Schema: {error.message}") from None
    strict = dict(schema)
    if "properties" in strict or not strict.keys() & {"$ref", "allOf", "anyOf", "oneOf"}:
        strict.setdefault("additionalProperties", False)
    return _test(strict) if _simple(strict) else _foreign(strict)


def _simple(schema: Any) -> bool:
    if isinstance(schema, bool):
        return True
    if not isinstance(schema, Mapping) or not schema.keys() <= _PLAIN:
        return False
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]
    inner += [schema[key] for key in ("items", "additionalProperties") if key in schema]
    return all(_simple(one) for one in inner)


def _test(schema: Any) -> Test:
    if isinstance(schema, bool):
        return lambda _value, at: None if schema else (at, "is not expected")
    tests = [make(schema) for key, make in _MAKERS.items() if key in schema]
    if "properties" in schema or "additionalProperties" in schema:
        tests.append(_properties(schema))

    def test(value: Any, at: str) -> Fault | None:
        for one in tests:
            fault = one(value, at)
            if fault is not None:
                return fault
        return None

    return tests[0] if len(tests) == 1 else test


_QUICK = {"string": str, "integer": int, "boolean": bool, "array": list, "object": dict}


def _type(schema: Any) -> Test:
    names = [schema["type"]] if isinstance(schema["type"], str) else list(schema["type"])
    quick = frozenset(_QUICK.get(name) for name in names)

    def test(value: Any, at: str) -> Fault | None:
        if type(value) in quick or any(is_type(value, name) for name in names):
            return None
        return at, f"must be of type {' or '.join(names)}"

    return test


def _required(schema: Any) -> Test:
    names = list(schema["required"])

    def test(value: Any, at: str) -> Fault | None:
        if isinstance(value, dict | Mapping):
            for name in names:
                if name not in value:
                    return f"{at}/{name}", "is missing"
        return None

    return test


def _properties(schema: Any) -> Test:
    known = {name: _test(inner) for name, inner in schema.get("properties", {}).items()}
    other = _test(schema.get("additionalProperties", True))

    def test(value: Any, at: str) -> Fault | None:
        if not isinstance(value, dict | Mapping):
            return None
        for name, inner in value.items():
            fault = known.get(name, other)(inner, f"{at}/{name}")
            if fault is not None:
                return fault
        return None

    return test


def _items(schema: Any) -> Test:
    inner = _test(schema["items"])

    def test(value: Any, at: str) -> Fault | None:
        if not isinstance(value, list | tuple):
            return None
        for index, item in enumerate(value):
            fault = inner(item, f"{at}/{index}")
            if fault is not None:
                return fault
        return None

    return test


def _same(a: Any, b: Any) -> bool:
    return bool(a == b) and isinstance(a, bool) == isinstance(b, bool)


def _enum(schema: Any) -> Test:
    values = schema["enum"] if "enum" in schema else [schema["const"]]

    def test(value: Any, at: str) -> Fault | None:
        if any(_same(value, one) for one in values):
            return None
        return at, f"must be one of {', '.join(map(repr, values[:8]))}"

    return test


def _any_of(schema: Any) -> Test:
    tests = [_test(inner) for inner in schema["anyOf"]]

    def test(value: Any, at: str) -> Fault | None:
        faults = [one(value, at) for one in tests]
        return None if None in faults else faults[0]

    return test


def _limit(
    key: str, holds: Callable[[Any, Any], bool], kind: Any, text: str
) -> Callable[..., Test]:
    def make(schema: Any) -> Test:
        bound = schema[key]

        def test(value: Any, at: str) -> Fault | None:
            if not isinstance(value, kind) or isinstance(value, bool) or holds(value, bound):
                return None
            return at, text.format(bound)

        return test

    return make


def _pattern(schema: Any) -> Test:
    matches = whole(schema["pattern"])

    def test(value: Any, at: str) -> Fault | None:
        if not isinstance(value, str) or matches(value):
            return None
        return at, "does not match the pattern as a whole"

    return test


_NUMBER = (int, float)
_MAKERS: dict[str, Callable[[Any], Test]] = {
    "type": _type,
    "required": _required,
    "enum": _enum,
    "const": _enum,
    "anyOf": _any_of,
    "items": _items,
    "pattern": _pattern,
    "minimum": _limit("minimum", lambda v, b: v >= b, _NUMBER, "must be {} or more"),
    "maximum": _limit("maximum", lambda v, b: v <= b, _NUMBER, "must be {} or less"),
    "exclusiveMinimum": _limit("exclusiveMinimum", lambda v, b: v > b, _NUMBER, "must be over {}"),
    "exclusiveMaximum": _limit("exclusiveMaximum", lambda v, b: v < b, _NUMBER, "must be under {}"),
    "minLength": _limit("minLength", lambda v, b: len(v) >= b, str, "needs {} characters or more"),
    "maxLength": _limit("maxLength", lambda v, b: len(v) <= b, str, "has more than {} characters"),
    "minItems": _limit("minItems", lambda v, b: len(v) >= b, (list, tuple), "needs {} items"),
    "maxItems": _limit("maxItems", lambda v, b: len(v) <= b, (list, tuple), "has over {} items"),
}


def _foreign(schema: Mapping[str, Any]) -> Test:
    from jsonschema import Draft202012Validator, ValidationError, validators

    def pattern_test(_v: Any, pattern: str, value: Any, _s: Any) -> Iterator[ValidationError]:
        if isinstance(value, str) and not whole(pattern)(value):
            yield ValidationError("does not match the pattern as a whole")

    extend: Any = validators.extend
    validator = extend(Draft202012Validator, {"pattern": pattern_test})(dict(schema))

    def test(value: Any, at: str) -> Fault | None:
        for error in validator.iter_errors(value):
            pointer = "".join(f"/{part}" for part in error.absolute_path)
            return at + pointer, error.message
        return None

    return test
