"""JSON Schemas: where they come from, whether they are valid, and what they say of a value."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steguard.errors import ProfileError
from steguard.jsontext import JsonTextError, escape_pointer, scan
from steguard.ruleset import Lines

if TYPE_CHECKING:
    from pydantic import BaseModel


@dataclass(frozen=True, slots=True)
class STE:
    """Marks a pydantic field for the rules of a profile section.

    >>> from typing import Annotated
    >>> reason: Annotated[str, STE("instruction")]

    It adds the schema keyword ``x-ste``; ``STE("off")`` leaves the field unchecked.
    """

    section: str

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        schema: dict[str, Any] = handler(core)
        schema["x-ste"] = self.section
        return schema


def load_schema(source: str | Path | Mapping[str, Any]) -> dict[str, Any]:
    """A JSON Schema from a file or a mapping, checked against its own meta-schema.

    Raises :class:`ProfileError` with file, line and column or the JSON pointer of the fault.
    """
    if isinstance(source, Mapping):
        schema: Any = dict(source)
        origin = "<schema>"
    else:
        origin = str(source)
        try:
            text = Path(source).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ProfileError(f"the schema cannot be read: {error}", file=origin) from None
        try:
            scan(text)
            schema = json.loads(text)
        except JsonTextError as error:
            line, column = Lines(text).position(error.offset)
            raise ProfileError(
                f"the schema is no JSON: {error.message}", file=origin, line=line, column=column
            ) from None
    if not isinstance(schema, dict):
        raise ProfileError("a JSON Schema is an object", file=origin)
    check_schema(schema, origin)
    return schema


def check_schema(schema: Mapping[str, Any], origin: str = "<schema>") -> None:
    """Raise :class:`ProfileError` where this is no valid JSON Schema."""
    from jsonschema import exceptions, validators

    try:
        validators.validator_for(schema, default_validator()).check_schema(dict(schema))
    except exceptions.SchemaError as error:
        pointer = pointer_of(error.absolute_path) or "/"
        raise ProfileError(
            f"this is no JSON Schema, at {pointer}: {error.message}", file=origin
        ) from None


def default_validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator


def pointer_of(path: Any) -> str:
    return "".join(f"/{escape_pointer(str(part))}" for part in path)


def is_model(source: object) -> bool:
    """Whether this is a pydantic model class."""
    from pydantic import BaseModel

    return isinstance(source, type) and issubclass(source, BaseModel)


def disagreement(schema: Mapping[str, Any], model: type[BaseModel]) -> str | None:
    """How a schema and a model differ in their fields, or None where they agree."""
    other = model.model_json_schema()
    mine, theirs = schema.get("properties", {}), other.get("properties", {})
    problems = []
    for label, names in (
        ("only the schema has", mine.keys() - theirs.keys()),
        ("only the model has", theirs.keys() - mine.keys()),
        (
            "they differ in what is required:",
            set(schema.get("required", ())) ^ set(other.get("required", ())),
        ),
        (
            "they differ in type:",
            {
                key
                for key in mine.keys() & theirs.keys()
                if isinstance(mine[key], Mapping)
                and "type" in mine[key]
                and "type" in theirs[key]
                and mine[key]["type"] != theirs[key]["type"]
            },
        ),
    ):
        if names:
            problems.append(f"{label} {', '.join(sorted(names))}")
    return "; ".join(problems) or None


def is_strict(schema: Any) -> bool:
    """Whether an endpoint that enforces the strict subset of JSON Schema takes this schema.

    In that subset every object is closed and requires all of its properties.
    """
    if isinstance(schema, Mapping):
        if schema.get("type") == "object" or "properties" in schema:
            names = set(schema.get("properties", {}))
            if schema.get("additionalProperties") is not False or names != set(
                schema.get("required", ())
            ):
                return False
        return all(is_strict(value) for value in schema.values())
    if isinstance(schema, list):
        return all(is_strict(item) for item in schema)
    return True


def expand(schema: Any, root: Mapping[str, Any], depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """A schema and what it stands for: local references and combined schemas."""
    if not isinstance(schema, Mapping) or depth > 20:
        return
    yield schema
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#"):
        target: Any = root
        for part in reference[1:].split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            target = target.get(key) if isinstance(target, Mapping) else None
        yield from expand(target, root, depth + 1)
    for keyword in ("allOf", "anyOf", "oneOf"):
        for item in schema.get(keyword, ()):
            yield from expand(item, root, depth + 1)


def children(schema: Mapping[str, Any], key: str) -> Iterator[Any]:
    properties = schema.get("properties", {})
    if key in properties:
        yield properties[key]
    elif isinstance(schema.get("additionalProperties"), Mapping):
        yield schema["additionalProperties"]
    for pattern, child in schema.get("patternProperties", {}).items():
        if re.search(pattern, key):
            yield child
    if key.isdigit():
        prefix = schema.get("prefixItems", [])
        if int(key) < len(prefix):
            yield prefix[int(key)]
        elif "items" in schema:
            yield schema["items"]
