"""The form of an answer: what of it is prose, and whether its structure is right.

A form takes an answer apart into :class:`Part` s that the rules read. It reports structural
faults as findings, with the same kind of record as the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from steguard.ruleset import Lines
from steguard.types import Finding, Severity, Span


@dataclass(frozen=True, slots=True)
class FormatFault:
    """A kind of structural fault, documented like a rule."""

    code: str
    name: str
    doc: str


FAULTS = {
    fault.name: fault
    for fault in (
        FormatFault(
            "FMT101",
            "invalid-json",
            "The answer is not one JSON value.\n\nA parser stops at the first wrong character. "
            "The finding names that character. Two equal keys in one object count as a fault, "
            "because two programs can read them in two ways.",
        ),
        FormatFault(
            "FMT102",
            "json-recovered",
            "The JSON value stood in a fence or in prose, or it was broken, and was recovered.\n\n"
            "The caller gets the recovered JSON only. `output.recover` in the profile sets what "
            "is recovered: `off`, `extract` (a whole value with text around it) or `repair`.",
        ),
        FormatFault(
            "FMT103",
            "schema-mismatch",
            "The JSON value does not agree with the JSON Schema.\n\n"
            "The finding has the JSON pointer of the wrong value.",
        ),
        FormatFault(
            "FMT104",
            "model-mismatch",
            "The JSON value agrees with the schema, but the pydantic model refuses it.\n\n"
            "A validator of the model that JSON Schema cannot express says no.",
        ),
        FormatFault(
            "FMT105",
            "feedback-echo",
            "The answer to a retry repeats the feedback instead of obeying it.\n\n"
            "Small models do this. Such a draft is never delivered where there is a better one.",
        ),
        FormatFault(
            "FMT201",
            "invalid-html",
            "A tag is not closed, or it closes what another tag opened.",
        ),
        FormatFault(
            "FMT202",
            "template-mismatch",
            "The HTML does not agree with the template.\n\n"
            "A tag, an attribute or a text that the template pins is missing or different, or "
            "text stands outside the slots.",
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of prose in an answer.

    ``place`` maps an offset in ``text`` to an offset in the whole answer, ``escape`` writes a
    text as the answer must hold it. ``pointer`` is the JSON pointer or the slot name, None for an
    answer that is prose as a whole. ``section`` names the rules that apply. ``removable`` is the
    place of the element around it that may be left out, where there is one.
    """

    text: str
    place: Callable[[int], int]
    format: str = "markdown"
    pointer: str | None = None
    section: str = "default"
    escape: Callable[[str], str] = str
    removable: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Extract:
    """An answer taken apart.

    ``text`` is the answer itself, or the JSON recovered from it; all positions refer to it.
    ``data`` is the parsed JSON value, else None. ``recovery`` says how JSON was recovered.
    """

    text: str
    parts: Sequence[Part]
    findings: Sequence[Finding] = ()
    data: Any = None
    recovery: str | None = None


class Form(Protocol):
    """A form of answers: text, JSON or HTML."""

    name: str

    def extract(self, text: str) -> Extract:
        """Take an answer apart; never raises for what a model wrote."""
        ...

    def join(self, extract: Extract, replacements: dict[int, str]) -> str | None:
        """The answer with some parts (by index) replaced, or None where that cannot be.

        An empty replacement removes the part; a form says no where it is required.
        """
        ...

    def describe(self) -> dict[str, Any]:
        """What the prompt template needs to announce the form."""
        ...


@dataclass
class TextForm:
    """The answer is prose."""

    text_format: str = "markdown"
    name: str = field(default="text", init=False)

    def extract(self, text: str) -> Extract:
        return Extract(text, [Part(text, _same, self.text_format)])

    def join(self, extract: Extract, replacements: dict[int, str]) -> str | None:
        text = replacements.get(0, extract.text)
        return text if text.strip() else None

    def describe(self) -> dict[str, Any]:
        return {"format": "text", "text_format": self.text_format}


def _same(offset: int) -> int:
    return offset


def shifted(by: int) -> Callable[[int], int]:
    """A ``place`` for a part that starts at this offset."""
    return lambda offset: offset + by


def fault(
    name: str,
    message: str,
    span: tuple[int, int],
    *,
    text: str,
    lines: Lines,
    pointer: str | None = None,
    suggestion: str | None = None,
    severity: Severity = Severity.ERROR,
) -> Finding:
    """A finding about the structure of an answer."""
    start = min(span[0], len(text))
    end = max(start, min(span[1], len(text)))
    line, column = lines.position(start)
    return Finding(
        rule=name,
        code=FAULTS[name].code,
        message=message,
        span=Span(start, end),
        line=line,
        column=column,
        severity=severity,
        suggestion=suggestion,
        pointer=pointer,
        excerpt=text[start:end][:200],
    )
