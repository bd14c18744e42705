"""What a ``canon-prompt`` document can say: its settings and the faults that it can have.

::

    canon-prompt: v1.0
    role: assistant
    task: summarize
    subject: meeting_notes
    input:
      text: <text>
    max_words: 150
    output_format:
      headings: [Result, Tasks]
      bullets: true
    guardrail:
      must_include: [Result]
      must_not_include: [prices]
      language: english

A limit (``max_words`` and its like) and ``include_fields`` can also stand under ``guardrail`` and
``output_format``. ``[name]`` in a text is a placeholder, which the program binds before it sends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from steguard.canon.model import Version
from steguard.canon.payload import PayloadField
from steguard.canon.problems import Path, Problem
from steguard.types import Severity

CODES = {
    "no-prompt": "CAN401",
    "missing-field": "CAN402",
    "unknown-key": "CAN403",
    "wrong-type": "CAN404",
    "bad-input": "CAN405",
    "unknown-version": "CAN406",
    "bad-placeholder": "CAN407",
    "unbound-placeholder": "CAN408",
    "unknown-language": "CAN409",
    "vague-expression": "CAN410",
    "not-checkable": "CAN411",
    "partly-checked": "CAN412",
    "fixed-input": "CAN413",
    "repeated-term": "CAN414",
    "version-not-first": "CAN415",
    "many-rules": "CAN416",
    "conflicting-limits": "CAN421",
    "required-and-forbidden": "CAN422",
    "impossible-limit": "CAN423",
    "stated-twice": "CAN424",
    "conflicting-format": "CAN425",
    "conflicting-language": "CAN426",
}
COUNTED = ("words", "sentences", "paragraphs", "numbers", "bullets")
LIMITS = tuple(f"{bound}_{noun}" for noun in COUNTED for bound in ("max", "min"))
FORMATS = ("text", "markdown", "json")
TEXTS = ("role", "task", "subject", "style")
GROUPS: Mapping[str, tuple[str, ...]] = {
    "": (
        *("canon-prompt", *TEXTS, "input", *LIMITS, "include_fields", "language"),
        *("output_format", "guardrail"),
    ),
    "output_format": ("format", "heading", "headings", "bullets", "include_fields", *LIMITS),
    "guardrail": ("must_include", "must_not_include", "language", *LIMITS),
}
MAX_LIMIT = 1_000_000
MAX_TERMS = 200
V1 = Version(1, 0)


@dataclass
class PromptSpec:
    """The settings of a prompt. ``where`` has the path at which each one stands, ``terms`` the
    terms of each list with their places.

    ``limits`` maps ``max_words`` and its like to numbers; ``inputs`` the names of the inputs to
    their types, ``fixed`` those that the prompt itself gives. ``placeholders`` are the names that
    are still to be bound, each with its path.
    """

    version: Version = V1
    role: str = ""
    task: str = ""
    subject: str = ""
    style: str = ""
    inputs: dict[str, PayloadField] = field(default_factory=dict)
    fixed: dict[str, Any] = field(default_factory=dict)
    limits: dict[str, int] = field(default_factory=dict)
    format: str = "text"
    bullets: bool | None = None
    headings: list[str] = field(default_factory=list)
    include_fields: list[str] = field(default_factory=list)
    must_include: list[str] = field(default_factory=list)
    must_not_include: list[str] = field(default_factory=list)
    language: str | None = None
    where: dict[str, Path] = field(default_factory=dict)
    terms: dict[str, list[tuple[str, Path]]] = field(default_factory=dict)
    placeholders: dict[str, Path] = field(default_factory=dict)

    def place(self, name: str) -> Path:
        """Where a setting stands."""
        return self.where.get(name, (name,))


def fault(
    rule: str,
    path: Path,
    message: str,
    suggestion: str | None = None,
    severity: Severity = Severity.ERROR,
    **more: Any,
) -> Problem:
    """A problem of a prompt with the code of its rule."""
    return Problem(path, CODES[rule], rule, message, suggestion, severity=severity, **more)
