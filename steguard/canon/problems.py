"""A fault in Canon text: what it is, where it is, what was expected, what to write.

Codes: ``CAN1xx`` characters and the document, ``CAN2xx`` messages, ``CAN3xx`` sentences,
conditions and times, ``CAN4xx`` and up prompts and subjects.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from steguard.types import Finding, Severity, Span

_WIDTH = 2_000

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class CanonFinding(Finding):
    """A finding that also lists the tokens that were expected at its place."""

    expected: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """The wire format, with ``expected``."""
        return {**Finding.to_dict(self), "expected": list(self.expected)}


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault at a path of a document (``("payload", "sku")``), before its place is looked up.

    What checks values (a subject's schema, a prompt) makes these, so that a right text never
    pays for positions; :meth:`steguard.canon.document.Document.finding` makes findings of them.
    ``at`` says which part is wrong: the ``value``, the ``key``, or the ``end`` of the value.
    ``start`` and ``end`` narrow it to a part of the value, in code points of the value as written.
    """

    path: Path
    code: str
    rule: str
    message: str
    suggestion: str | None = None
    expected: tuple[str, ...] = ()
    severity: Severity = Severity.ERROR
    at: str = "value"
    start: int | None = None
    end: int | None = None


def finding(
    text: str,
    start: int,
    end: int,
    problem: Problem,
    *,
    line: int | None = None,
    column: int | None = None,
) -> CanonFinding:
    """The finding for this problem at these offsets of the text."""
    if line is None or column is None:
        line = text.count("\n", 0, start) + 1
        column = start - text.rfind("\n", 0, start)
    return CanonFinding(
        rule=problem.rule,
        code=problem.code,
        message=problem.message,
        span=Span(start, end),
        line=line,
        column=column,
        severity=problem.severity,
        suggestion=problem.suggestion,
        pointer=pointer(problem.path) if problem.path else None,
        excerpt=text[start:end],
        sentence=_line(text, start),
        expected=problem.expected,
    )


def pointer(path: Path) -> str:
    """The RFC 6901 JSON pointer of the path."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def near(name: str, valid: Iterable[str]) -> str | None:
    """``Did you mean 'request'?`` where a valid name is much like this one."""
    found = get_close_matches(name, list(valid), n=1, cutoff=0.7)
    return f"Did you mean '{found[0]}'?" if found else None


"""Characters of a line that a finding keeps: many findings in a long line would fill memory."""


def _line(text: str, start: int) -> str:
    """The line around the offset; of a very long one the part around it."""
    low, high = max(0, start - _WIDTH), start + _WIDTH
    begin = text.rfind("\n", low, start) + 1 or low
    end = text.find("\n", start, high)
    return text[begin : end if end >= 0 else high].rstrip("\r")
