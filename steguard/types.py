"""The vocabulary of the whole package: where a fault is, what it is, how to mend it.

Positions are code point offsets into the text that the caller gave (``str`` indices, end
exclusive). Lines and columns start at 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much a finding weighs: only an ``error`` makes a text fail."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Safety(StrEnum):
    """Whether a fix keeps the meaning in every case."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    NONE = "none"


class Status(StrEnum):
    """How far a rule can be trusted. A preview rule runs only where a profile asks for it."""

    PREVIEW = "preview"
    STABLE = "stable"
    DEPRECATED = "deprecated"


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of code points."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the code points from ``start`` to ``end`` with ``text``."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that belong together and remove one finding."""

    edits: tuple[Edit, ...]
    safety: Safety


@dataclass(frozen=True, slots=True)
class Hit:
    """What a rule yields; the engine makes a :class:`Finding` of it.

    ``start`` and ``end`` are offsets in the text that is checked. ``edits`` is empty where the
    rule knows no repair; ``safety`` overrides the rule's own fix safety for this one hit.
    """

    start: int
    end: int
    message: str
    suggestion: str | None = None
    edits: tuple[Edit, ...] = ()
    safety: Safety | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault, wherever it was found: prose, a JSON field, HTML, a message, a rule set.

    ``rule`` is the name (``passive-voice``), ``code`` the stable code (``STE306``). ``pointer``
    is the RFC 6901 JSON pointer of the field, or the slot name of an HTML template, where the
    text came from one. ``excerpt`` is the faulty text, ``sentence`` the sentence around it.
    """

    rule: str
    code: str
    message: str
    span: Span
    line: int
    column: int
    severity: Severity = Severity.ERROR
    suggestion: str | None = None
    fix: Fix | None = None
    pointer: str | None = None
    excerpt: str = ""
    sentence: str = ""

    @property
    def start(self) -> int:
        return self.span.start

    @property
    def end(self) -> int:
        return self.span.end

    def to_dict(self) -> dict[str, object]:
        """The wire format of ``--format json``; ``pointer`` is there only when it is known."""
        record: dict[str, object] = {
            "rule": self.rule,
            "code": self.code,
            "message": self.message,
            "line": self.line,
            "column": self.column,
            "start": self.start,
            "end": self.end,
            "severity": self.severity.value,
            "suggestion": self.suggestion,
        }
        if self.pointer is not None:
            record["pointer"] = self.pointer
        return record
