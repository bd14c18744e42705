"""The text has the permitted number of numerals, with permitted values.

Finds: fewer numerals than `min_count`, more than `max_count`, and each numeral whose value is
below `min_value` or above `max_value`. Numerals in code, paths, versions, dates and identifiers
do not count, and step numbers do not count.

Why: too many numbers in one answer are not easy to read, and a value out of its range can make a
program do the incorrect thing.

Example: (max_value: 100) Set the level to 120.

Instead: Set the level to 100.

Fix: none. The correct value is not known.

Source: steguard's own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from pydantic import Field, model_validator

from steguard.rules.base import Options, Rule
from steguard.rules.limits._limits import (
    Bounds,
    count_hits,
    require_order,
    wanted,
    whole_text,
)
from steguard.text.model import Document, Kind, Token
from steguard.types import Hit, Safety, Status


class NumberLimit(Options):
    min_count: int | None = Field(None, ge=0, description="The smallest number of numerals.")
    max_count: int | None = Field(None, ge=0, description="The largest number of numerals.")
    min_value: float | None = Field(None, description="The smallest permitted value.")
    max_value: float | None = Field(None, description="The largest permitted value.")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        require_order("min_count", self.min_count, "max_count", self.max_count)
        require_order("min_value", self.min_value, "max_value", self.max_value)
        return self

    @property
    def bounds(self) -> Bounds:
        return self.min_count, self.max_count


def _find(document: Document, options: NumberLimit) -> Iterable[Hit]:
    if not options.model_dump(exclude_none=True):
        return
    numerals = [
        token
        for sentence in document.sentences
        for token in sentence.tokens
        if token.kind is Kind.NUMBER
    ]
    places = ((token.start, token.end) for token in numerals)
    yield from count_hits(options.bounds, places, document, "numeral")
    for token in numerals:
        yield from _value(token, options)


def _value(token: Token, options: NumberLimit) -> Iterable[Hit]:
    try:
        value = float(token.text.replace(",", "").replace("\u2212", "-"))
    except ValueError:
        return
    low, high = options.min_value, options.max_value
    if low is not None and value < low:
        yield Hit(token.start, token.end, f"{token.text} is below the minimum {low:g}.", _RANGE)
    elif high is not None and value > high:
        yield Hit(token.start, token.end, f"{token.text} is above the maximum {high:g}.", _RANGE)


_RANGE = "Write a value that is in the range."


def _prompt(options: NumberLimit) -> str | None:
    if options.bounds != (None, None):
        return f"Write {wanted(options.bounds, 'numeral')}."
    if options.min_value is not None and options.max_value is not None:
        return f"Write only values from {options.min_value:g} to {options.max_value:g}."
    if options.min_value is not None:
        return f"Do not write a value below {options.min_value:g}."
    if options.max_value is not None:
        return f"Do not write a value above {options.max_value:g}."
    return None


RULE = Rule(
    code="LIM104",
    name="number-limit",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="steguard",
    make=whole_text(_find),
    module=__name__,
    options=NumberLimit,
    languages=frozenset(),
    prompt=_prompt,
)
