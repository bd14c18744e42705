"""JSON answers: what of them is prose, and whether their structure is right."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steguard.edits import apply_edits
from steguard.errors import ProfileError, UsageError
from steguard.forms import Extract, Part, fault
from steguard.jsontext import JsonTextError, StringField, scan
from steguard.ruleset import Lines
from steguard.schema import (
    check_schema,
    children,
    default_validator,
    disagreement,
    expand,
    is_model,
    load_schema,
    pointer_of,
)
from steguard.types import Edit, Finding, Severity

if TYPE_CHECKING:
    from pydantic import BaseModel

_REMEMBERED = 1000
_NO_PROSE = ("enum", "const", "pattern", "format", "contentEncoding")


class JsonForm:
    """The answer is one JSON value, with a schema or without."""

    name = "json"

    def __init__(
        self,
        schema: dict[str, Any] | None = None,
        *,
        model: type[BaseModel] | None = None,
        fields: Mapping[str, str] | None = None,
        recover: str = "extract",
    ) -> None:
        if model is not None and schema is None:
            schema = model.model_json_schema()
        if schema is not None:
            check_schema(schema, model.__name__ if model else "<schema>")
        self.schema = schema
        self.model = model
        self.recover = recover
        self._fields = [(_field_pattern(key), section) for key, section in (fields or {}).items()]
        self._validator: Any = None
        self._known: dict[str, list[Mapping[str, Any]]] = {}
        self._marked = schema is not None and "x-ste" in json.dumps(schema)

    def extract(self, text: str) -> Extract:
        body, recovery = text, None
        strings, spans, error = _scan(text)
        if error is not None and self.recover != "off":
            found = self._recovered(text)
            if found is not None:
                body, recovery = found
                strings, spans, error = _scan(body)
        lines = Lines(body)
        if error is not None:
            return Extract(body, [], [self.invalid(error, body)])
        data = json.loads(body)
        findings = list(self._mismatches(data, body, lines, spans))
        if recovery:
            findings.append(
                fault(
                    "json-recovered",
                    f"{recovery} The answer must be JSON only.",
                    (0, 0),
                    text=body,
                    lines=lines,
                    severity=Severity.INFO,
                )
            )
        parts = []
        for field in strings:
            section = self.section(field.pointer, field.value)
            if section != "off":
                parts.append(self.part(field, section))
        return Extract(body, parts, findings, data, recovery)

    def join(self, extract: Extract, replacements: dict[int, str]) -> str | None:
        edits = []
        emptied = []
        for index, new in replacements.items():
            part = extract.parts[index]
            assert part.pointer is not None
            if not new.strip():
                emptied.append(part.pointer)
            edits.append(Edit(part.place(0), part.place(len(part.text)), part.escape(new)))
        text = apply_edits(extract.text, edits)
        return self._without(text, emptied) if emptied else text

    def _without(self, text: str, pointers: Sequence[str]) -> str | None:
        """The JSON without these values: items of lists and fields that are not required."""
        data = json.loads(text)
        for pointer in sorted(pointers, key=_pointer_order, reverse=True):
            parent, _, last = pointer.rpartition("/")
            owner = _at(data, parent)
            if isinstance(owner, list):
                del owner[int(last)]
                continue
            key = last.replace("~1", "/").replace("~0", "~")
            if not isinstance(owner, dict) or not self._optional(parent, key):
                return None
            del owner[key]
        return json.dumps(data, ensure_ascii=False)

    def _optional(self, parent: str, key: str) -> bool:
        schemas = self._schemas(parent)
        known = any(key in schema.get("properties", {}) for schema in schemas)
        return known and not any(key in schema.get("required", ()) for schema in schemas)

    def describe(self) -> dict[str, Any]:
        return {"format": "json", "schema": self.schema, "schema_text": _outline(self.schema)}

    def part(self, field: StringField, section: str) -> Part:
        """A string field as prose."""
        return Part(field.value, field.raw, "plain", field.pointer, section, _escape)

    def invalid(self, error: JsonTextError, text: str) -> Finding:
        """The finding for a text that is no JSON."""
        return fault(
            "invalid-json",
            f"The answer is not JSON: {error.message}.",
            (error.offset, error.offset + 1),
            text=text,
            lines=Lines(text),
            suggestion="Write one JSON value and nothing else.",
        )

    def section(self, pointer: str, value: str) -> str:
        """The section whose rules apply to the string at this pointer; ``off`` for none.

        The profile's own patterns decide first, then ``x-ste`` in the schema. Without either,
        free text is checked: a string of two words or more that the schema does not pin.
        """
        for pattern, section in self._fields:
            if pattern.fullmatch(pointer):
                return section
        chosen = bool(self._fields)
        for schema in self._schemas(pointer):
            if "x-ste" in schema:
                return str(schema["x-ste"])
            if any(key in schema for key in _NO_PROSE):
                return "off"
        if chosen or self._marked:
            return "off"
        return "default" if len(value.split()) > 1 else "off"

    def _schemas(self, pointer: str) -> list[Mapping[str, Any]]:
        """Every subschema that speaks of the value at this pointer."""
        if self.schema is None:
            return []
        if pointer in self._known:
            return self._known[pointer]
        current = list(expand(self.schema, self.schema))
        for part in pointer.split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            following: list[Mapping[str, Any]] = []
            for schema in current:
                for child in children(schema, key):
                    following.extend(expand(child, self.schema))
            current = following
        if len(self._known) < _REMEMBERED:
            self._known[pointer] = current
        return current

    def _recovered(self, text: str) -> tuple[str, str] | None:
        at = min((i for i in (text.find("{"), text.find("[")) if i >= 0), default=-1)
        if at < 0:
            return None
        decoder = json.JSONDecoder()
        try:
            _, end = decoder.raw_decode(text, at)
            whole = text[at:end]
        except (ValueError, RecursionError):
            whole = ""
        if whole:
            return whole, "Other text stood around the JSON value."
        if self.recover != "repair":
            return None
        from json_repair import repair_json

        repaired = repair_json(text, ensure_ascii=False)
        if not isinstance(repaired, str) or repaired[:1] not in ("{", "["):
            return None
        return repaired, "The JSON value was broken and was repaired."

    def _mismatches(
        self, data: Any, text: str, lines: Lines, spans: Mapping[str, tuple[int, int]]
    ) -> Iterator[Finding]:
        if self.schema is None:
            return
        if self._validator is None:
            from jsonschema import validators

            cls = validators.validator_for(self.schema, default_validator())
            self._validator = cls(self.schema)
        clean = True
        for error in sorted(
            self._validator.iter_errors(data), key=lambda e: list(map(str, e.absolute_path))
        ):
            clean = False
            pointer = pointer_of(error.absolute_path)
            message, suggestion = _explain(error)
            yield fault(
                "schema-mismatch",
                message,
                spans.get(pointer, (0, 0)),
                text=text,
                lines=lines,
                pointer=pointer,
                suggestion=suggestion,
            )
        if clean and self.model is not None:
            yield from self._refused(data, text, lines, spans)

    def _refused(
        self, data: Any, text: str, lines: Lines, spans: Mapping[str, tuple[int, int]]
    ) -> Iterator[Finding]:
        from pydantic import ValidationError

        assert self.model is not None
        try:
            self.model.model_validate(data)
        except ValidationError as error:
            for item in error.errors(include_url=False):
                pointer = pointer_of(item["loc"])
                yield fault(
                    "model-mismatch",
                    item["msg"].removeprefix("Value error, "),
                    spans.get(pointer, (0, 0)),
                    text=text,
                    lines=lines,
                    pointer=pointer,
                )


def make_json_form(
    schema: str | Path | Mapping[str, Any] | type[BaseModel] | None,
    *,
    model: type[BaseModel] | None = None,
    fields: Mapping[str, str] | None = None,
    recover: str = "extract",
) -> JsonForm:
    """A form from a schema file, a schema, a pydantic model, or a schema and a model that agree.

    Raises :class:`ProfileError` where the schema is none or where schema and model disagree, and
    :class:`UsageError` where ``schema`` is something else.
    """
    if schema is not None and is_model(schema):
        return JsonForm(model=schema, fields=fields, recover=recover)  # type: ignore[arg-type]
    if schema is not None and not isinstance(schema, str | Path | Mapping):
        raise UsageError(
            "'schema' must be a path, a mapping or a pydantic model class, "
            f"not {type(schema).__name__}"
        )
    loaded = None if schema is None else load_schema(schema)
    if loaded is not None and model is not None:
        difference = disagreement(loaded, model)
        if difference:
            raise ProfileError(
                f"the schema and the model '{model.__name__}' disagree: {difference}",
                file=str(schema) if isinstance(schema, str | Path) else "<schema>",
            )
    return JsonForm(loaded, model=model, fields=fields, recover=recover)


def _scan(text: str) -> tuple[Any, dict[str, tuple[int, int]], JsonTextError | None]:
    try:
        strings, spans = scan(text)
    except JsonTextError as error:
        return [], {}, error
    return strings, spans, None


def _explain(error: Any) -> tuple[str, str | None]:
    """A short message for the most usual faults, and the library's own for the rest."""
    keyword, value = error.validator, error.validator_value
    if keyword == "required":
        missing = [key for key in value if key not in error.instance]
        name = next((key for key in missing if repr(key) in error.message), missing[0])
        return f"The field '{name}' is missing.", f"Add the field '{name}'."
    if keyword == "enum":
        allowed = ", ".join(json.dumps(item, ensure_ascii=False) for item in value)
        return f"The value is not one of these: {allowed}.", f"Write one of these: {allowed}."
    if keyword == "type":
        kinds = value if isinstance(value, str) else " or ".join(value)
        return f"The value is not of type {kinds}.", f"Write a value of type {kinds}."
    if keyword == "additionalProperties":
        return error.message, "Remove the field."
    if keyword == "maxLength":
        return (
            f"The text has {len(error.instance)} characters. The limit is {value}.",
            "Write less text.",
        )
    if keyword == "minLength":
        return (
            f"The text has {len(error.instance)} characters. The minimum is {value}.",
            "Write a full sentence.",
        )
    return str(error.message)[:300], None


def _escape(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _pointer_order(pointer: str) -> list[tuple[int, str]]:
    """Sorts list items by number, so that the last is removed first."""
    return [(int(p), "") if p.isdigit() else (-1, p) for p in pointer.split("/")]


def _field_pattern(pattern: str) -> re.Pattern[str]:
    """A pointer pattern: ``*`` is one part of any name, ``**`` any number of parts."""
    text = re.escape(pattern).replace(r"\*\*", ".*").replace(r"\*", "[^/]*")
    return re.compile(text)


def _at(data: Any, pointer: str) -> Any:
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        data = data[int(key)] if isinstance(data, list) else data[key]
    return data


def _outline(schema: Any) -> str:
    """The schema as a prompt shows it, without what only tools read."""
    if schema is None:
        return ""
    shown = {k: v for k, v in schema.items() if k not in ("$schema", "$id", "examples")}
    return json.dumps(shown, ensure_ascii=False)
