"""What the text limits share: option types, bounds and the form of their findings.

A limit reads the whole text when it is complete. What stands in excess is marked from its first
character to its last one; what is missing is marked as an empty place at the end of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from steguard.rules.base import Checker, Options, PerDocument
from steguard.text.model import Document
from steguard.types import Hit

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""A class of characters that stand without blanks between words."""

Bounds = tuple[int | None, int | None]
Places = Iterable[tuple[int, int]]
Match = Literal["anywhere", "word"]


class Range(Options):
    """A count with a lower and an upper limit; both limits are permitted values."""

    min: int | None = Field(None, ge=0, description="The smallest permitted count.")
    max: int | None = Field(None, ge=0, description="The largest permitted count.")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        require_order("min", self.min, "max", self.max)
        return self

    @property
    def bounds(self) -> Bounds:
        return self.min, self.max


def require_order(low_name: str, low: float | None, high_name: str, high: float | None) -> None:
    """Refuse a lower limit that is above its upper limit."""
    if low is not None and high is not None and low > high:
        raise ValueError(f"{low_name} ({low:g}) is more than {high_name} ({high:g})")


def _relation(value: object) -> object:
    return re.sub(r"[ -]", "_", value.strip().lower()) if isinstance(value, str) else value


Relation = Annotated[
    Literal["at_least", "at_most", "exactly", "less_than", "more_than"], BeforeValidator(_relation)
]


class Occurrence(Options):
    """How often something must occur: a relation and a count."""

    relation: Relation = Field("at_least", description="How the number compares with `count`.")
    count: int = Field(1, ge=0, description="The number of times.")

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.relation == "less_than" and self.count == 0:
            raise ValueError("a number less_than 0 is not possible")
        return self

    @property
    def bounds(self) -> Bounds:
        return {
            "at_least": (self.count, None),
            "at_most": (None, self.count),
            "exactly": (self.count, self.count),
            "less_than": (None, self.count - 1),
            "more_than": (self.count + 1, None),
        }[self.relation]


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


Term = Annotated[str, Field(min_length=1)]
Terms = Annotated[tuple[Term, ...], BeforeValidator(_listed)]


def whole_text(find: Callable[[Document, Any], Iterable[Hit]]) -> Callable[[Any], Checker]:
    """A rule's ``make`` from a function over the finished text and the options."""
    return lambda options: PerDocument(lambda document: find(document, options))


def end_of(document: Document) -> int:
    """Where something that is missing would stand: behind the last visible character."""
    return len(document.text.rstrip())


def visible(text: str) -> tuple[int, int]:
    """The text without the white space around it."""
    end = len(text.rstrip())
    return min(len(text) - len(text.lstrip()), end), end


def missing(document: Document, message: str, suggestion: str) -> Hit:
    """A finding about something that the text lacks."""
    end = end_of(document)
    return Hit(end, end, message, suggestion)


def plural(count: float, noun: str) -> str:
    """``1 word``, ``2 words in capitals``; a quoted noun has times: ``'valve' 2 times``."""
    if noun.startswith("'"):
        return f"{noun} {plural(count, 'time')}"
    head, blank, rest = noun.partition(" ")
    return f"{count:g} {head if count == 1 else head + 's'}{blank}{rest}"


def wanted(bounds: Bounds, noun: str) -> str:
    """The permitted range in words: ``a minimum of 2 words and a maximum of 5 words``."""
    low, high = bounds
    if low is not None and low == high:
        return f"exactly {plural(low, noun)}"
    parts = []
    if low is not None:
        parts.append(f"a minimum of {plural(low, noun)}")
    if high is not None:
        parts.append(f"a maximum of {plural(high, noun)}")
    return " and ".join(parts)


def range_prompt(
    noun: str, ending: str = ".", none: str | None = None
) -> Callable[[Any], str | None]:
    """The prompt sentence of a rule whose options are a range.

    ``ending`` follows the noun; ``none`` is the sentence for a maximum of zero.
    """

    def prompt(options: Any) -> str | None:
        bounds: Bounds = options.bounds
        if bounds == (None, None):
            return None
        return none if none and bounds[1] == 0 else f"Write {wanted(bounds, noun)}{ending}"

    return prompt


def count_hits(bounds: Bounds, places: Places, document: Document, noun: str) -> Iterable[Hit]:
    """Compare how many places there are with the bounds."""
    low, high = bounds
    if low is None and high is None:
        return
    count, excess, last = 0, 0, 0
    for start, end in places:
        if count == high:
            excess = start
        count, last = count + 1, max(last, end)
    found = f"The text has {plural(count, noun)}."
    if high is not None and count > high:
        yield Hit(
            excess,
            last,
            f"{found} The maximum is {high}.",
            f"Remove {plural(count - high, noun)}.",
        )
    elif low is not None and count < low:
        yield missing(
            document, f"{found} The minimum is {low}.", f"Add {plural(low - count, noun)}."
        )


def places_of(term: str, text: str, match: Match, case_sensitive: bool) -> Places:
    """Where a term stands; a blank in the term also matches a line break."""
    parts = re.split(r"\s+", term) if term.strip() else [term]
    pattern = r"\s+".join(map(re.escape, parts))
    if match == "word":
        before = "" if re.match(f"[{CJK}]", term) else r"(?<!\w)"
        after = "" if re.match(f"[{CJK}]", term[-1]) else r"(?!\w)"
        pattern = before + pattern + after
    flags = re.NOFLAG if case_sensitive else re.IGNORECASE
    return (found.span() for found in re.finditer(pattern, text, flags))


def lines_of(text: str) -> Iterable[tuple[int, str]]:
    """Each line with its offset, without the line feed."""
    at = 0
    for line in text.split("\n"):
        yield at, line
        at += len(line) + 1


def parts_of(text: str, divider: str) -> Places:
    """The stretches between the dividers, empty ones too."""
    start = 0
    while (at := text.find(divider, start)) >= 0:
        yield start, at
        start = at + len(divider)
    yield start, len(text)


def quoted(terms: tuple[str, ...], conjunction: str) -> str:
    """``'a', 'b' and 'c'``."""
    names = [f"'{term}'" for term in terms]
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {conjunction} {names[-1]}"
