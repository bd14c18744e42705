"""What a guarded call gives: the outcome, every attempt, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from steguard.types import Finding, Severity


class Outcome(StrEnum):
    """How a guarded call ended.

    ``PASSED`` and ``PASSED_AFTER_RETRY``: the text has no error. ``STRIPPED``: the fallback
    repaired and cut the last text until it had none. ``FIXED``: the fallback ``fix`` repaired it.
    ``REJECTED``: the text still has errors. ``NOT_CHECKED``: there was no whole text to check;
    ``reason`` says why. ``ERROR``: the client library raised; only on the result that stands at
    the exception's ``steguard`` attribute.
    """

    PASSED = "passed"
    PASSED_AFTER_RETRY = "passed_after_retry"
    STRIPPED = "stripped"
    FIXED = "fixed"
    REJECTED = "rejected"
    NOT_CHECKED = "not_checked"
    ERROR = "error"


_WORST_LAST = tuple(Outcome)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens. ``unknown`` counts the calls whose usage the endpoint did not tell."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    unknown: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.total_tokens + other.total_tokens,
            self.cached_tokens + other.cached_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            self.unknown + other.unknown,
        )


@dataclass(frozen=True)
class Attempt:
    """One answer of the model.

    ``number`` counts from 1 for each choice. ``messages`` is what was sent. ``feedback`` is the
    text that asked for the next attempt, None after the last one. ``latency`` is in seconds.
    """

    number: int
    choice: int
    messages: tuple[Any, ...]
    draft: str
    findings: tuple[Finding, ...]
    usage: Usage
    latency: float
    finish_reason: str | None = None
    response_id: str | None = None
    recovery: str | None = None
    feedback: str | None = None

    @property
    def errors(self) -> int:
        return sum(f.severity is Severity.ERROR for f in self.findings)


@dataclass(frozen=True)
class ChoiceResult:
    """How one choice of an answer ended; an answer has one choice unless ``n`` is above 1.

    ``text`` is what the caller gets, ``findings`` what is still wrong with it, ``removed`` the
    sentences that the fallback deleted. ``stopped_by`` says why no further attempt was made:
    ``attempts``, ``token_budget``, ``time_budget`` or ``stop`` (the caller's own policy).
    """

    outcome: Outcome
    text: str
    findings: tuple[Finding, ...] = ()
    data: Any = None
    reason: str | None = None
    removed: tuple[str, ...] = ()
    stopped_by: str | None = None


@dataclass(frozen=True)
class GuardResult:
    """The report of one guarded call.

    With several choices, ``outcome``, ``text``, ``data``, ``findings`` and ``reason`` are those of
    the choice that ended worst. ``usage`` sums all attempts. ``response`` is what the caller gets.
    """

    profile: str
    choices: tuple[ChoiceResult, ...]
    attempts: tuple[Attempt, ...]
    usage: Usage
    seconds: float
    response: Any = field(default=None, repr=False, compare=False)
    unenforced: tuple[str, ...] = ()
    """What the endpoint refused to enforce, such as ``response_format``; it was checked here."""
    enforced: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By layer of the endpoint: the rules that it enforced while the model wrote. The checks ran
    on the answer all the same."""

    @property
    def worst(self) -> ChoiceResult:
        return max(self.choices, key=lambda choice: _WORST_LAST.index(choice.outcome))

    @property
    def outcome(self) -> Outcome:
        return self.worst.outcome

    @property
    def passed(self) -> bool:
        """Whether the model's own text has no error, at once or after a retry."""
        return self.outcome in (Outcome.PASSED, Outcome.PASSED_AFTER_RETRY)

    @property
    def compliant(self) -> bool:
        """Whether the text that the caller gets was checked and has no error."""
        return self.passed or self.outcome in (Outcome.STRIPPED, Outcome.FIXED)

    @property
    def text(self) -> str:
        return self.worst.text

    @property
    def data(self) -> Any:
        return self.worst.data

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self.worst.findings

    @property
    def reason(self) -> str | None:
        return self.worst.reason

    def to_dict(self) -> dict[str, Any]:
        """Plain data for logs; drafts and feedback are in it, the response object is not."""
        return {
            "profile": self.profile,
            "outcome": self.outcome.value,
            "reason": self.reason,
            "text": self.text,
            "findings": [f.to_dict() for f in self.findings],
            "attempts": [
                {
                    "number": a.number,
                    "choice": a.choice,
                    "draft": a.draft,
                    "findings": [f.to_dict() for f in a.findings],
                    "feedback": a.feedback,
                    "finish_reason": a.finish_reason,
                    "seconds": round(a.latency, 6),
                    "tokens": a.usage.total_tokens,
                }
                for a in self.attempts
            ],
            "tokens": self.usage.total_tokens,
            "seconds": round(self.seconds, 6),
            "enforced": {layer: list(rules) for layer, rules in self.enforced.items()},
        }
