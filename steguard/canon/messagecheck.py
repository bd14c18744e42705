"""Checks a message that a program made, so that it can be written and read back."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator, Mapping
from typing import Any

from steguard.canon import chars
from steguard.canon.condition import read_condition
from steguard.canon.docreader import MAX_DEPTH
from steguard.canon.lexicon import KEYWORDS
from steguard.canon.model import (
    ID_HINT,
    MAX_NAME,
    And,
    Compare,
    Member,
    Message,
    Not,
    Or,
    Placeholder,
    TypeRef,
    is_address,
    is_name,
)


def check_built(message: Message) -> None:
    """Check a message that a program made. Raises ValueError with every fault."""
    faults = [*_envelope_faults(message), *_value_faults(message.payload, "payload", 1)]
    if faults:
        raise ValueError("; ".join(faults))


def _envelope_faults(message: Message) -> Iterator[str]:
    for name, key in (
        ("sender", "from"),
        ("recipient", "to"),
        ("msg_id", "msg_id"),
        ("reply_to", "reply_to"),
    ):
        value = getattr(message, name)
        if value is not None and not is_address(value):
            yield f"'{key}' is {value!r}: {ID_HINT[0].lower()}{ID_HINT[1:-1]}"
    for name in ("action", "subject"):
        value = getattr(message, name)
        if not is_name(value) or value in KEYWORDS:
            yield f"'{name}' is {value!r}: write a name that is no keyword"
    if message.reply_to is not None and message.reply_to == message.msg_id:
        yield "a message never replies to itself"


def _value_faults(value: Any, where: str, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        found = chars.REFUSED_VALUE.search(value)
        if found is not None:
            yield f"{where}: {chars.describe(found[0])} is refused"
    elif isinstance(value, float):
        if not math.isfinite(value):
            yield f"{where}: {value} is no number that can be written"
    elif isinstance(value, Mapping):
        yield from _mapping_faults(value, where, depth)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            if isinstance(item, list | tuple):
                yield f"{where}/{index}: a list holds text or mappings, not lists"
            else:
                yield from _value_faults(item, f"{where}/{index}", depth + 1)
    elif not isinstance(value, int | dt.date | Placeholder | TypeRef) or isinstance(
        value, dt.datetime
    ):
        yield f"{where}: {type(value).__name__} cannot be written; write text"


def _mapping_faults(value: Mapping[Any, Any], where: str, depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH:
        yield f"{where}: more than {MAX_DEPTH} levels"
        return
    for key, inner in value.items():
        if not isinstance(key, str) or not 0 < len(key) <= MAX_NAME:
            yield f"{where}: the key {key!r} is no text of 1 to {MAX_NAME} characters"
        elif chars.REFUSED_VALUE.search(key):
            yield f"{where}: the key {key!r} holds a character that is refused"
        else:
            yield from _value_faults(inner, f"{where}/{key}", depth + 1)


def condition_of(value: Any) -> Any:
    """The condition that a program gives as a condition or as text. Raises ValueError."""
    if value is None or isinstance(value, Compare | Member | Not | And | Or):
        return value
    if not isinstance(value, str):
        raise ValueError("'if' is a condition or its text")
    made, problems = read_condition(value)
    if problems:
        raise ValueError("; ".join(one.message for one in problems))
    return made
