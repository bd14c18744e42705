"""The figures of a Canon system, from a log of its messages and guarded calls.

The log has one JSON object a line::

    {"event": "message", "at": "2026-01-31T10:00:00Z", "text": "canon-message: v1.0\\n..."}
    {"event": "message", "at": "2026-01-31T10:00:01Z", "text": "...", "valid": false}
    {"event": "result", "outcome": "passed_after_retry", "attempts": [...], "seconds": 1.2}

A ``message`` is valid unless it says ``"valid": false``, which marks one that must be refused.
``at`` is optional. A ``result`` is ``GuardResult.to_dict()``. A file of Canon messages, divided by
``---``, is a log too.
"""

from __future__ import annotations

import datetime as dt
import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from steguard.canon.lexicon import Lexicon
from steguard.canon.message import parse_message
from steguard.canon.model import Message
from steguard.canon.mutations import mutations
from steguard.canon.registry import Registry
from steguard.canon.render import render_message
from steguard.errors import ProfileError
from steguard.result import GuardResult

_COMPLIANT = ("passed", "passed_after_retry")
_AT_ONCE = ("passed",)
_KEYS = ("event", "at", "text", "valid")


@dataclass(frozen=True)
class Event:
    """One line of a log: a message, or the report of a guarded call."""

    text: str = ""
    at: dt.datetime | None = None
    valid: bool = True
    result: dict[str, Any] | None = None


@dataclass
class Metrics:
    """Counts; a rate is None where there was nothing to count."""

    messages: int = 0
    parsed: int = 0
    faulty: int = 0
    intercepted: int = 0
    mutations: int = 0
    mutations_caught: int = 0
    missed: list[str] = field(default_factory=list)
    results: int = 0
    compliant: int = 0
    compliant_at_once: int = 0
    retries: int = 0
    answer_seconds: list[float] = field(default_factory=list)
    call_seconds: list[float] = field(default_factory=list)
    parse_seconds: list[float] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """The figures: rates from 0 to 1, times in seconds."""
        bad, caught = self.faulty + self.mutations, self.intercepted + self.mutations_caught
        return {
            "messages": self.messages,
            "parse_success": _rate(self.parsed, self.messages),
            "faulty_messages": self.faulty,
            "mutations": self.mutations,
            "interception": _rate(caught, bad),
            "missed": self.missed,
            "results": self.results,
            "compliance": _rate(self.compliant, self.results),
            "compliance_at_once": _rate(self.compliant_at_once, self.results),
            "retries": self.retries,
            "retries_per_result": _rate(self.retries, self.results),
            "answer_seconds": _spread(self.answer_seconds),
            "call_seconds": _spread(self.call_seconds),
            "parse_seconds": _spread(self.parse_seconds),
        }


def measure(
    events: Iterable[Event], *, registry: Registry | None = None, lexicon: Lexicon | None = None
) -> Metrics:
    """The figures of these events. Every valid message is also tried with faults put in."""
    metrics = Metrics()
    asked: dict[str, dt.datetime] = {}
    for event in events:
        if event.result is not None:
            _count_result(metrics, event.result)
        else:
            _count_message(metrics, event, asked, registry, lexicon)
    return metrics


def _count_result(metrics: Metrics, result: dict[str, Any]) -> None:
    metrics.results += 1
    metrics.compliant += result.get("outcome") in _COMPLIANT
    metrics.compliant_at_once += result.get("outcome") in _AT_ONCE
    attempts = result.get("attempts") or ()
    metrics.retries += max(0, len(attempts) - 1)
    if isinstance(result.get("seconds"), int | float):
        metrics.call_seconds.append(float(result["seconds"]))


def _count_message(
    metrics: Metrics,
    event: Event,
    asked: dict[str, dt.datetime],
    registry: Registry | None,
    lexicon: Lexicon | None,
) -> None:
    begun = time.perf_counter()
    parsed = parse_message(event.text, lexicon=lexicon, registry=registry)
    metrics.parse_seconds.append(time.perf_counter() - begun)
    if not event.valid:
        metrics.faulty += 1
        metrics.intercepted += not parsed.ok
        if parsed.ok:
            metrics.missed.append(event.text)
        return
    metrics.messages += 1
    if parsed.message is None:
        return
    metrics.parsed += 1
    message = parsed.message
    if event.at is not None:
        asked.setdefault(message.msg_id, event.at)
        begin = asked.pop(message.reply_to or "", None)
        if begin is not None:
            metrics.answer_seconds.append((event.at - begin).total_seconds())
    for name, twin in mutations(event.text, registry):
        metrics.mutations += 1
        if parse_message(twin, lexicon=lexicon, registry=registry).ok:
            metrics.missed.append(f"{message.msg_id}: {name}")
        else:
            metrics.mutations_caught += 1


def event_of(what: str | Message | GuardResult, at: dt.datetime | None = None) -> dict[str, Any]:
    """The log entry of a message (its text or itself) or of the report of a guarded call.

    Write each as one line with ``json.dumps``. ``at`` has a time zone.
    """
    if isinstance(what, GuardResult):
        return {"event": "result", **what.to_dict()}
    text = what if isinstance(what, str) else render_message(what)
    return {"event": "message", **({"at": at.isoformat()} if at else {}), "text": text}


def read_log(text: str, file: str = "<log>") -> list[Event]:
    """The events of a log. Raises :class:`ProfileError` with the line of the first fault."""
    if not text.lstrip().startswith("{"):
        return [Event(part) for part in _split(text) if part.strip()]
    events = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                events.append(_event(json.loads(line)))
            except (ValueError, TypeError, KeyError) as error:
                raise ProfileError(f"this is no event: {error}", file=file, line=number) from None
    return events


def _event(record: Any) -> Event:
    if not isinstance(record, dict) or record.get("event") not in ("message", "result"):
        raise ValueError('an event has "event": "message" or "event": "result"')
    if record["event"] == "result":
        if "outcome" not in record:
            raise ValueError('a result has an "outcome"; write GuardResult.to_dict()')
        return Event(result=record)
    unknown = set(record) - set(_KEYS)
    if unknown:
        raise ValueError(f"unknown key '{min(unknown)}'; valid: {', '.join(_KEYS)}")
    if not isinstance(record.get("text"), str) or not isinstance(record.get("valid", True), bool):
        raise ValueError('a message has a "text", and "valid" is true or false')
    at = None
    if record.get("at") is not None:
        at = dt.datetime.fromisoformat(str(record["at"]))
        if at.tzinfo is None:
            raise ValueError('"at" has an offset, such as Z')
    return Event(record["text"], at, record.get("valid", True))


def _split(text: str) -> list[str]:
    parts: list[list[str]] = [[]]
    for line in text.splitlines(keepends=True):
        if line.rstrip() == "---":
            parts.append([])
        else:
            parts[-1].append(line)
    return ["".join(part) for part in parts]


def _rate(part: int, whole: int) -> float | None:
    return round(part / whole, 6) if whole else None


def _spread(seconds: Sequence[float]) -> dict[str, float] | None:
    """The middle and the 95th percentile."""
    if not seconds:
        return None
    ordered = sorted(seconds)
    high = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    return {"p50": round(ordered[len(ordered) // 2], 6), "p95": round(high, 6)}
