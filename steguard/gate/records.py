"""What the gate writes down: approvals, executions, observations, events, budgets, the log.

All of it is plain data. Times are seconds since 1970.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

_LABEL = 250


class ApprovalState(StrEnum):
    """``pending`` becomes ``granted``, ``denied`` or ``expired``; ``granted`` is spent once."""

    PENDING = "pending"
    GRANTED = "granted"
    DENIED = "denied"
    EXPIRED = "expired"
    SPENT = "spent"


class ExecutionState(StrEnum):
    """``started`` is written before the tool runs, the others after it.

    ``unknown``: the process ended between the two, and only a person can say what happened.
    ``not_done``: a hook or a person found that there was no effect, so the tool may run again.
    """

    STARTED = "started"
    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"
    NOT_DONE = "not_done"


class ReservationState(StrEnum):
    """Reserved and settled amounts count against the limit, released ones do not."""

    RESERVED = "reserved"
    SETTLED = "settled"
    RELEASED = "released"


@dataclass(frozen=True, slots=True)
class Approval:
    """A question to persons about one execution, and their answer.

    ``digest`` is that of exactly what will run and ``key`` that of the one execution it is for.
    ``approvers`` are groups of persons or roles: who answers must be in each group (none:
    anyone). ``needed`` persons must say yes, and ``granted_by`` are those who did. The question
    waits for ``lifetime`` seconds, and the answer holds as long.
    """

    ID: ClassVar[str] = "id"
    id: str
    digest: str
    key: str
    tool: str
    task: str
    agent: str
    arguments: Mapping[str, Any]
    at: float
    expires_at: float
    lifetime: float
    reason: str = ""
    approvers: tuple[tuple[str, ...], ...] = ()
    needed: int = 1
    granted_by: tuple[str, ...] = ()
    state: ApprovalState = ApprovalState.PENDING
    decided_by: str | None = None
    decided_at: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Execution:
    """One run of a tool under its unique key; ``at`` is when it started.

    ``owner`` names the process that runs it and ``lease_until`` when others may think it dead.
    ``result`` is the recorded result as JSON data; ``encoded`` is False where the tool's result
    was no JSON data and only its ``repr`` could be kept.
    """

    ID: ClassVar[str] = "key"
    key: str
    digest: str
    tool: str
    task: str
    agent: str
    arguments: Mapping[str, Any]
    at: float
    owner: str
    lease_until: float
    state: ExecutionState = ExecutionState.STARTED
    attempts: int = 1
    approval: str | None = None
    finished_at: float | None = None
    result: Any = None
    encoded: bool = True
    error: str | None = None


@dataclass(frozen=True, slots=True)
class ObservationRecord:
    """What a tool gave back, with the source and the trust of each leaf.

    ``fields`` maps a JSON pointer to ``{"source": ..., "trust": ...}``; the value is in ``data``.
    """

    ID: ClassVar[str] = "id"
    id: str
    execution: str
    tool: str
    task: str
    call_id: str
    arguments: Mapping[str, Any]
    data: Any
    source: str
    at: float
    fields: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OutboxEntry:
    """An event to publish, written together with the result of the execution it tells of."""

    ID: ClassVar[str] = "id"
    id: str
    execution: str
    topic: str
    task: str
    payload: Mapping[str, Any]
    at: float
    delivered_at: float | None = None


@dataclass(frozen=True, slots=True)
class BudgetAccount:
    """What is used of a budget in all: reserved and settled."""

    ID: ClassVar[str] = "name"
    name: str
    used: float
    at: float


@dataclass(frozen=True, slots=True)
class Reservation:
    """The share of a budget that one execution holds."""

    ID: ClassVar[str] = "id"
    id: str
    budget: str
    execution: str
    amount: float
    at: float
    state: ReservationState = ReservationState.RESERVED


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One line of the log. ``hash`` covers the record and the hash of the one before it."""

    ID: ClassVar[str] = "seq"
    seq: int
    at: float
    event: str
    task: str
    agent: str
    tool: str
    key: str
    digest: str
    detail: Mapping[str, Any]
    previous: str
    hash: str

    def computed_hash(self) -> str:
        """What ``hash`` must be."""
        content = {name: value for name, value in asdict(self).items() if name != "hash"}
        return hashlib.sha256(canonical_json(content).encode()).hexdigest()


Record = (
    Approval
    | Execution
    | ObservationRecord
    | OutboxEntry
    | BudgetAccount
    | Reservation
    | AuditRecord
)
KINDS: tuple[type[Record], ...] = (
    Approval,
    Execution,
    ObservationRecord,
    OutboxEntry,
    BudgetAccount,
    Reservation,
    AuditRecord,
)


def canonical_json(value: Any) -> str:
    """JSON that is the same for equal data, whatever the order of its keys; ASCII only.

    Raises ValueError or TypeError for what is no JSON.
    """
    return json.dumps(value, sort_keys=True, allow_nan=False, separators=(",", ":"))


def plain_text(text: str) -> str:
    """The text as every database takes it: what UTF-8 has no form for, and NUL, is escaped."""
    safe = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return safe.replace("\x00", "\\x00")


def label(text: str) -> str:
    """A name that a database can index: plain, and a long one ends in its own digest."""
    plain = plain_text(text)
    if len(plain) <= _LABEL:
        return plain
    return f"{plain[: _LABEL - 65]}~{hashlib.sha256(plain.encode()).hexdigest()}"
