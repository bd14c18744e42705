"""Sentences and conditions as JSON data, so that other programs and languages can use the tree."""

from __future__ import annotations

import datetime as dt
from dataclasses import fields, is_dataclass
from typing import Any

from steguard.canon.model import (
    Condition,
    Placeholder,
    Sentence,
    TypeRef,
    Within,
)


def ast_json(node: Sentence | Condition) -> dict[str, Any]:
    """The tree: ``kind`` names the node, the other keys are its parts.

    >>> ast_json(parse_sentence("report: stock is [level]").sentence)
    {'kind': 'report', 'subject': 'stock', 'value': {'placeholder': 'level'}}

    A placeholder, a type and a date are ``{"placeholder": ..}``, ``{"type": ..}``,
    ``{"date": ..}``; a time limit is its text. What is None or empty is left out.
    """
    made: dict[str, Any] = _json(node)
    return made


def _json(value: Any) -> Any:
    if isinstance(value, Placeholder):
        return {"placeholder": value.name}
    if isinstance(value, TypeRef):
        return {"type": str(value)}
    if isinstance(value, Within):
        return str(value)
    if isinstance(value, dt.date):
        return {"date": value.isoformat()}
    if isinstance(value, tuple):
        return [_json(item) for item in value]
    if is_dataclass(value):
        parts = {one.name: getattr(value, one.name) for one in fields(value)}
        kept = {name: _json(part) for name, part in parts.items() if part not in (None, ())}
        return {"kind": type(value).__name__.lower(), **kept}
    return value
