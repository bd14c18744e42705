"""A quick yes for JSON values that obey their schema.

``jsonschema`` is the judge. But most values obey, and for the keywords that schemas of answers use
most, a few comparisons see that. So :func:`compile_yes` makes a function that says True only where
the judge would find nothing; False means "ask the judge".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

Yes = Callable[[Any], bool]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NOTES = frozenset(
    ["$schema", "$comment", "$defs", "title", "description", "default", "examples", "x-ste"]
)
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}
_KEYS = {
    "string": frozenset({"minLength", "maxLength", "pattern"}),
    "number": frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}),
    "array": frozenset({"items", "minItems", "maxItems"}),
    "object": frozenset({"properties", "required", "additionalProperties"}),
}
_KEYS["integer"] = _KEYS["number"]


class _Unknown(Exception):
    """The schema has a keyword that only the judge knows."""


def compile_yes(schema: Mapping[str, Any]) -> Yes:
    """A function that is True only for values that obey the schema."""
    try:
        if schema.get("$schema", _DIALECT) != _DIALECT:
            return _never
        yes = _Compiler(schema).compile(schema)
    except (_Unknown, re.error):
        return _never

    def quick(value: Any) -> bool:
        try:
            return yes(value)
        except RecursionError:
            return False

    return quick


def _never(value: Any) -> bool:  # noqa: ARG001 - the form of a Yes
    return False


class _Compiler:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._known: dict[str, list[Yes]] = {}

    def compile(self, schema: Any) -> Yes:
        if schema is True:
            return lambda value: True  # noqa: ARG005 - the form of a Yes
        if not isinstance(schema, Mapping):
            raise _Unknown
        keys = set(schema) - _NOTES
        if keys == {"$ref"}:
            return self._reference(schema["$ref"])
        if keys == {"anyOf"}:
            some = [self.compile(one) for one in schema["anyOf"]]
            return lambda value: any(yes(value) for yes in some)
        if keys - {"type"} in ({"enum"}, {"const"}):
            return _one_of(schema)
        kind = schema.get("type")
        if not isinstance(kind, str) or keys - {"type"} - _KEYS.get(kind, frozenset()):
            raise _Unknown
        if kind == "object":
            return self._object(schema)
        if kind == "array":
            return self._array(schema)
        return _scalar(kind, schema)

    def _reference(self, reference: str) -> Yes:
        """A local definition; it can refer to itself, so it is looked up when it runs."""
        if reference not in self._known:
            name = reference.removeprefix("#/$defs/")
            if name == reference or name not in self._root.get("$defs", {}):
                raise _Unknown
            self._known[reference] = []
            self._known[reference].append(self.compile(self._root["$defs"][name]))
        target = self._known[reference]
        return lambda value: target[0](value)

    def _object(self, schema: Mapping[str, Any]) -> Yes:
        fields = {key: self.compile(one) for key, one in schema.get("properties", {}).items()}
        required = frozenset(schema.get("required", ()))
        more = schema.get("additionalProperties", True)
        if more is False:
            rest: Yes = _never
        else:
            rest = self.compile(more)

        def yes(value: Any) -> bool:
            if type(value) is not dict or not required <= value.keys():
                return False
            return all(fields.get(key, rest)(inner) for key, inner in value.items())

        return yes

    def _array(self, schema: Mapping[str, Any]) -> Yes:
        item = self.compile(schema.get("items", True))
        least, most = schema.get("minItems", 0), schema.get("maxItems", float("inf"))

        def yes(value: Any) -> bool:
            return type(value) is list and least <= len(value) <= most and all(map(item, value))

        return yes


def _one_of(schema: Mapping[str, Any]) -> Yes:
    """One of some strings; other values compare in their own way in JSON Schema."""
    allowed = schema["enum"] if "enum" in schema else [schema["const"]]
    if schema.get("type", "string") != "string" or not all(isinstance(one, str) for one in allowed):
        raise _Unknown
    strings = frozenset(allowed)
    return lambda value: type(value) is str and value in strings


def _scalar(kind: str, schema: Mapping[str, Any]) -> Yes:
    types = _TYPES[kind]
    if kind == "string":
        least, most = schema.get("minLength", 0), schema.get("maxLength", float("inf"))
        search = re.compile(schema["pattern"]).search if "pattern" in schema else None
        return lambda value: (
            type(value) is str
            and least <= len(value) <= most
            and (search is None or search(value) is not None)
        )
    low, high = schema.get("minimum", float("-inf")), schema.get("maximum", float("inf"))
    above = schema.get("exclusiveMinimum", float("-inf"))
    below = schema.get("exclusiveMaximum", float("inf"))
    if kind in ("integer", "number"):
        return lambda value: type(value) in types and low <= value <= high and above < value < below
    return lambda value: type(value) in types
