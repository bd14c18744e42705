"""JSON answers: the prose fields of a schema carry the constraint as a ``pattern``.

Every endpoint with structured outputs enforces a schema, so this needs no grammar field. The
pattern is a shape: words, commas, the limit of words and the full stop. It has no word list,
because a list would stand in the schema once for each field.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from steguard.contract import Contract
from steguard.decode.forbidden import options_of
from steguard.errors import UsageError
from steguard.jsonform import JsonForm

ENFORCED = ("sentence-length", "contraction", "semicolon", "decoration", "latin-abbreviation")
"""The rules that no text of :func:`field_pattern` breaks."""

_WORD = "[A-Za-z]{1,18}(-[a-z]{1,12})?"
_NUMBER = "[0-9]{1,4}(\\.[0-9]{1,3})?"
_LONGEST_WORD = 32
_PINNED = ("pattern", "enum", "const", "format")


def field_pattern(words: int, sentences: int) -> str:
    """An anchored expression for one to ``sentences`` sentences of two to ``words`` words."""
    sentence = f"[A-Z][a-z]{{0,17}}(,? ({_WORD}|{_NUMBER})){{1,{words - 1}}}\\."
    more = f"( {sentence}){{0,{sentences - 1}}}" if sentences > 1 else ""
    return f"^{sentence}{more}$"


def constrain_schema(contract: Contract, *, sentences: int = 3) -> dict[str, Any]:
    """The schema of a JSON contract with a pattern at each string field whose rules apply.

    A field that the schema pins already (``pattern``, ``enum``, ``const``, ``format``) stays, and
    so does a field that is too short for a sentence. Raises :class:`UsageError` for a contract
    without a schema.
    """
    form = contract.form
    if not isinstance(form, JsonForm) or form.schema is None:
        raise UsageError("the contract has no JSON Schema to put patterns in")
    if contract.language != "en":
        return form.schema
    schema = copy.deepcopy(form.schema)
    _walk(schema, "", contract, form, sentences)
    return schema


def _walk(schema: Any, pointer: str, contract: Contract, form: JsonForm, sentences: int) -> None:
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "string":
        _constrain(schema, pointer, contract, form, sentences)
    for key, child in schema.get("properties", {}).items():
        escaped = key.replace("~", "~0").replace("/", "~1")
        _walk(child, f"{pointer}/{escaped}", contract, form, sentences)
    items = schema.get("items")
    if items is not None:
        _walk(items, f"{pointer}/0", contract, form, sentences)


def _constrain(
    schema: dict[str, Any], pointer: str, contract: Contract, form: JsonForm, sentences: int
) -> None:
    if any(key in schema for key in _PINNED):
        return
    section = form.section(pointer, "two words")
    length = section != "off" and options_of(contract.rules(section), "sentence-length")
    if not length or schema.get("maxLength", 1000) < _shortest(schema):
        return
    schema["pattern"] = field_pattern(min(length.max, 60), sentences)
    schema.setdefault("maxLength", sentences * length.max * _LONGEST_WORD)


def _shortest(schema: Mapping[str, Any]) -> int:
    """Characters that a field needs for a sentence of two words."""
    return max(8, int(schema.get("minLength", 0)))
