"""Reads a subject from its YAML file, with every fault at its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from steguard import yamlfile
from steguard.canon.model import TypeRef, Version, is_name
from steguard.canon.payload import (
    INT_MAX,
    INT_MIN,
    Field,
    FieldGroup,
    PayloadField,
    ValueFault,
)
from steguard.canon.subjects import Subject, read_version
from steguard.canon.types import parse_type
from steguard.errors import ProfileError
from steguard.yamlfile import Marked, nearest

_KEYS = ("canon-subject", "subject", "version", "description", "payload", "actions")
_OPTIONS = "type required unit min max max_length min_items max_items description".split()
_GROUP_OPTIONS = "fields many required min_items max_items description".split()


def load_subject(text: str, file: str) -> Subject:
    """Read one subject file. Raises :class:`ProfileError` with every fault of the file."""
    marked = yamlfile.parse(text, file, plain=True)
    problems: list[ProfileError] = []
    subject = _Reader(marked, file, problems).subject()
    raise_all(problems)
    assert subject is not None
    return subject


def raise_all(problems: list[ProfileError]) -> None:
    """Raise all problems as one error; the first one gives the place."""
    if problems:
        first = problems[0]
        rest = [line for problem in problems[1:] for line in problem.problems]
        raise ProfileError(
            first.message,
            file=first.file,
            line=first.line,
            column=first.column,
            problems=[*first.problems[1:], *rest],
        )


class _Reader:
    """Reads the data of one file and keeps every problem with its place."""

    def __init__(self, marked: Marked, file: str, problems: list[ProfileError]) -> None:
        self._marked, self._file, self._problems = marked, file, problems

    def _problem(self, message: str, *path: str | int) -> None:
        self._problems.append(self._marked.error(message, path))

    def subject(self) -> Subject | None:
        data = self._marked.data
        if not isinstance(data, dict):
            self._problems.append(
                ProfileError("a subject file is a mapping of keys to values", file=self._file)
            )
            return None
        for key in data:
            if key not in _KEYS:
                self._problem(f"unknown key '{key}'{nearest(key, _KEYS)}", key)
        language = self._version(data, "canon-subject")
        if language is not None and language.major != 1:
            self._problem("this program reads 'canon-subject: v1.0'", "canon-subject")
        name, version = self._name(data), self._version(data, "version")
        actions = {
            action: self._fields(fields, "actions", action)
            for action, fields in self._mapping(data, "actions").items()
        }
        payload = self._fields(data["payload"], "payload") if "payload" in data else None
        if not actions and payload is None:
            self._problem("a subject has 'actions' or 'payload' with its fields")
        if self._problems or name is None or version is None:
            return None
        about = data.get("description", "")
        return Subject(name, version, actions, payload, str(about), self._file)

    def _name(self, data: dict[str, Any]) -> str | None:
        name = data.get("subject")
        if not isinstance(name, str) or not is_name(name):
            self._problem("'subject' is a name of letters, digits and '_'", "subject")
            return None
        return name

    def _version(self, data: dict[str, Any], key: str) -> Version | None:
        if key not in data:
            self._problem(f"'{key}' is missing; write '{key}: v1.0'")
            return None
        try:
            return read_version(str(data[key]))
        except ValueError as error:
            self._problem(str(error), key)
            return None

    def _mapping(self, data: dict[str, Any], key: str) -> dict[str, Any]:
        value = data.get(key, {})
        if isinstance(value, dict):
            for name in value:
                if not is_name(name):
                    self._problem(f"'{name}' is no action name", key, name)
            return value
        self._problem(f"'{key}' is a mapping of action names to fields", key)
        return {}

    def _fields(self, value: Any, *path: str) -> dict[str, Field]:
        if value in ("", None):
            return {}
        if not isinstance(value, dict):
            self._problem("fields are a mapping of names to types, such as 'sku: <text>'", *path)
            return {}
        read = {name: self._field(name, given, *path, name) for name, given in value.items()}
        return {name: spec for name, spec in read.items() if spec is not None}

    def _field(self, name: str, given: Any, *path: str) -> Field | None:
        before = len(self._problems)
        if not is_name(name):
            self._problem(f"'{name}' is no field name; use letters, digits and '_'", *path)
        options = given if isinstance(given, dict) else {"type": given}
        known = _GROUP_OPTIONS if "fields" in options else _OPTIONS
        for key in options:
            if key not in known:
                self._problem(f"unknown key '{key}'{nearest(key, known)}", *path, key)
        made = (self._group if "fields" in options else self._value)(name, options, path)
        if made is not None and len(self._problems) == before:
            misfits: Iterable[tuple[str, str]] = _list_misfits(made)
            if isinstance(made, PayloadField):
                misfits = [*misfits, *_misfits(made)]
            for key, message in misfits:
                self._problem(message, *path, *((key,) if key in options else ()))
        return made if len(self._problems) == before else None

    def _group(
        self, name: str, options: dict[str, Any], path: tuple[str, ...]
    ) -> FieldGroup | None:
        fields = self._fields(options["fields"], *path, "fields")
        if not fields:
            self._problem(f"the group '{name}' has no fields", *path, "fields")
            return None
        return FieldGroup(
            name,
            fields,
            self._read(options, "many", path, _truth, False),
            self._read(options, "required", path, _truth, True),
            self._read(options, "min_items", path, _count, 0),
            self._read(options, "max_items", path, _count, None),
            str(options.get("description", "")),
        )

    def _value(
        self, name: str, options: dict[str, Any], path: tuple[str, ...]
    ) -> PayloadField | None:
        given = options.get("type")
        many = isinstance(given, list) and len(given) == 1
        kind = self._type(given[0] if isinstance(given, list) and many else given, path)
        if kind is None:
            return None
        return PayloadField(
            name,
            kind,
            many,
            self._read(options, "required", path, _truth, True),
            self._read(options, "unit", path, _unit, None),
            self._read(options, "min", path, _number, None),
            self._read(options, "max", path, _number, None),
            self._read(options, "max_length", path, _count, None),
            self._read(options, "min_items", path, _count, 0),
            self._read(options, "max_items", path, _count, None),
            str(options.get("description", "")),
        )

    def _type(self, given: Any, path: tuple[str, ...]) -> TypeRef | None:
        read = parse_type(given if isinstance(given, str) else str(given))
        if isinstance(read, TypeRef):
            return read
        at = (*path, "type") if (*path, "type") in self._marked.marks else path
        self._problem("the field has no 'type'" if given is None else str(read), *at)
        return None

    def _read(
        self,
        options: dict[str, Any],
        key: str,
        path: tuple[str, ...],
        read: Callable[[str], Any],
        default: Any,
    ) -> Any:
        if key not in options:
            return default
        try:
            return read(options[key] if isinstance(options[key], str) else "")
        except ValueError as error:
            self._problem(f"'{key}': {error}", *path, key)
            return default


def _list_misfits(spec: Field) -> Iterator[tuple[str, str]]:
    """Options of lists where there is none, and limits that leave no list."""
    for key in ("min_items", "max_items"):
        if getattr(spec, key) and not spec.many:
            yield key, f"'{key}' belongs to a list and '{spec.name}' is {spec.shape}"
    if spec.max_items == 0:
        yield "max_items", "'max_items' is at least 1"
    elif spec.max_items is not None and spec.min_items > spec.max_items:
        both = f"'min_items' ({spec.min_items}) is more than 'max_items' ({spec.max_items})"
        yield "min_items", both


def _misfits(spec: PayloadField) -> Iterator[tuple[str, str]]:
    """Options that the type does not have, and limits that leave no value."""
    number, text = spec.type.kind in ("int", "float"), spec.type.kind in ("text", "path")
    for key, present, fits, owner in (
        ("unit", spec.unit is not None, number, "a number"),
        ("min", spec.min is not None, number, "a number"),
        ("max", spec.max is not None, number, "a number"),
        ("max_length", spec.max_length is not None, text, "a text or a path"),
    ):
        if present and not fits:
            yield key, f"'{key}' belongs to {owner} and '{spec.name}' is {spec.shape}"
    if spec.min is not None and spec.max is not None and spec.min > spec.max:
        yield "min", f"'min' ({spec.min}) is more than 'max' ({spec.max})"
    if spec.max_length == 0:
        yield "max_length", "'max_length' is at least 1"
    bounds = [b for b in (spec.min, spec.max) if b is not None]
    if spec.type.kind == "int" and any(b != b.to_integral_value() for b in bounds):
        yield "min", f"the limits of {spec.type} are whole numbers"
    if spec.type.kind == "int" and any(not INT_MIN <= b <= INT_MAX for b in bounds):
        yield "min", f"a limit of {spec.type} has too many digits"


def _truth(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError(f"'{text}' is not true or false")
    return text == "true"


def _unit(text: str) -> str:
    if not text or any(c.isspace() for c in text):
        raise ValueError("a unit is one word, such as kg")
    return text


def _number(text: str) -> Decimal:
    value = PayloadField("limit", TypeRef("float"))
    try:
        value.read(text)
    except ValueFault:
        raise ValueError(f"'{text}' is no number") from None
    return Decimal(text)


def _count(text: str) -> int:
    if not re.fullmatch(r"0|[1-9][0-9]{0,8}", text):
        raise ValueError(f"'{text}' is no count; write a whole number")
    return int(text)


def read_subject_file(path: Path) -> Subject:
    """Read a subject file from disk. Raises :class:`ProfileError`."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ProfileError(f"the file cannot be read: {error}", file=str(path)) from None
    return load_subject(text, str(path))
