"""Reads a whole payload by the fields of its subject, with every fault at its path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from steguard.canon.model import Placeholder, TypeRef
from steguard.canon.payload import FieldGroup, Fields, ValueFault, check_count
from steguard.canon.problems import Path, Problem

CODES = {
    "unknown-field": "CAN502",
    "missing-field": "CAN503",
    "wrong-type": "CAN504",
    "out-of-range": "CAN505",
    "wrong-unit": "CAN506",
}


def read_payload(
    fields: Fields, payload: Mapping[str, Any], path: Path = ("payload",)
) -> tuple[dict[str, Any], list[Problem]]:
    """The typed payload and everything that is wrong with it, at paths under ``payload``.

    A value that is still a placeholder is left as it is: the parser warns of it.
    """
    typed: dict[str, Any] = {}
    problems: list[Problem] = []
    for name, value in payload.items():
        here = (*path, name)
        spec = fields.get(name)
        if spec is None:
            problems.append(_unknown(name, fields, here))
            continue
        try:
            if isinstance(spec, FieldGroup):
                typed[name], more = _read_group(spec, value, here)
                problems += more
            else:
                typed[name] = spec.read(value)
        except ValueFault as fault:
            if fault.kind != "unfilled":
                problems.append(_problem(fault, here))
    problems.extend(_missing(fields, payload, path))
    return typed, problems


def _read_group(spec: FieldGroup, value: Any, path: Path) -> tuple[Any, list[Problem]]:
    if isinstance(value, Placeholder | TypeRef):
        raise ValueFault("unfilled", f"'{spec.name}' is still '{value}'.", "Write the fields.")
    if not spec.many:
        if not isinstance(value, Mapping):
            raise _no_group(spec, f"'{spec.name}' is a group of fields.")
        return read_payload(spec.fields, value, path)
    if not isinstance(value, list | tuple):
        raise _no_group(spec, f"'{spec.name}' is a list of groups of fields.")
    check_count(spec, len(value))
    typed: list[Any] = []
    problems: list[Problem] = []
    for index, item in enumerate(value):
        if not isinstance(item, Mapping):
            fault = _no_group(spec, f"Item {index + 1} of '{spec.name}' is no group of fields.")
            problems.append(_problem(fault, (*path, index)))
            continue
        one, more = read_payload(spec.fields, item, (*path, index))
        typed.append(one)
        problems += more
    return typed, problems


def _no_group(spec: FieldGroup, message: str) -> ValueFault:
    mark = "a line that starts with '- ' and then " if spec.many else ""
    listed = ", ".join(spec.fields)
    return ValueFault("wrong-type", message, f"Write {mark}these fields below it: {listed}.")


def _problem(fault: ValueFault, path: Path) -> Problem:
    place = path if fault.index is None else (*path, fault.index)
    return Problem(place, CODES[fault.kind], fault.kind, fault.message, fault.suggestion)


def _unknown(name: str, fields: Fields, path: Path) -> Problem:
    near = get_close_matches(name, list(fields), n=1, cutoff=0.5)
    listed = ", ".join(fields) or "none"
    remedy = f"Write '{near[0]}'." if near else f"Remove it. The fields are: {listed}."
    message = f"There is no field '{name}' in this {_owner(path[:-1])}."
    code = CODES["unknown-field"]
    return Problem(path, code, "unknown-field", message, remedy, expected=tuple(fields), at="key")


def _missing(fields: Fields, payload: Mapping[str, Any], path: Path) -> Iterator[Problem]:
    for name, spec in fields.items():
        if spec.required and name not in payload:
            yield Problem(
                path,
                CODES["missing-field"],
                "missing-field",
                f"The {_owner(path)} has no field '{name}'.",
                f"Add '{name}: {spec.shape}'.",
                expected=(name,),
                at="key",
            )


def _owner(path: Path) -> str:
    return "payload" if len(path) == 1 else "group"
