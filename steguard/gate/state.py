"""What the gate remembers, and how: records, and the store that keeps them.

A store runs a function in one transaction: :meth:`StateStore.transact`. All of its changes hold
or none does, and no other transaction comes between. The function may run again where the
database asks for it, so it has no effect outside the store.

::

    StateError            (SteguardError)
    ├── StoreUnavailable  the store cannot be reached or used; the gate denies
    └── StoreVersionError the store belongs to another version of steguard
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from typing import Any, Protocol, TypeVar

from steguard.errors import SteguardError
from steguard.gate.records import (
    KINDS,
    Approval,
    ApprovalState,
    AuditRecord,
    BudgetAccount,
    Execution,
    ExecutionState,
    ObservationRecord,
    OutboxEntry,
    Record,
    Reservation,
    ReservationState,
    canonical_json,
    label,
    plain_text,
)

__all__ = [
    "KINDS",
    "Approval",
    "ApprovalState",
    "AuditRecord",
    "BudgetAccount",
    "Clock",
    "Execution",
    "ExecutionState",
    "MemoryStore",
    "ObservationRecord",
    "OutboxEntry",
    "R",
    "Record",
    "Reservation",
    "ReservationState",
    "StateError",
    "StateStore",
    "StoreUnavailable",
    "StoreVersionError",
    "Transaction",
    "audit_draft",
    "canonical_json",
    "chained",
    "check_fields",
    "label",
    "plain_text",
]

T = TypeVar("T")
Clock = Callable[[], float]


class StateError(SteguardError):
    """The gate's memory cannot do what was asked."""


class StoreUnavailable(StateError):
    """The store cannot be reached or used. Nothing may run: the gate denies."""


class StoreVersionError(StateError):
    """The tables of the store are of another version of steguard."""


R = TypeVar(
    "R",
    Approval,
    Execution,
    ObservationRecord,
    OutboxEntry,
    BudgetAccount,
    Reservation,
    AuditRecord,
)


class Transaction(Protocol):
    """The store inside one transaction."""

    @property
    def now(self) -> float:
        """The store's time. It never goes back, whatever the clock of the machine does."""
        ...

    def lock(self, *names: str) -> None:
        """Wait until no other transaction holds these names; hold them until this one ends.

        Take the names in this order: execution, approval, budgets.
        """
        ...

    def get(self, kind: type[R], key: str | int) -> R | None:
        """The record with this key."""
        ...

    def add(self, record: Record) -> bool:
        """Write a new record; False, and nothing changes, where its key is taken."""
        ...

    def put(self, record: Record) -> None:
        """Write a record over the one with its key, which must be there."""
        ...

    def find(
        self,
        kind: type[R],
        equal: Mapping[str, Any] | None = None,
        *,
        since: float | None = None,
        limit: int | None = None,
        newest: bool = False,
    ) -> list[R]:
        """Records whose fields equal these, by time; ``since`` leaves out what is not later."""
        ...

    def audit(
        self,
        event: str,
        *,
        task: str = "",
        agent: str = "",
        tool: str = "",
        key: str = "",
        digest: str = "",
        **detail: Any,
    ) -> None:
        """Append to the log when the transaction holds."""
        ...


class StateStore(Protocol):
    """Where the gate's memory is: :class:`MemoryStore`, or ``steguard.store.SqlStore``."""

    def transact(self, work: Callable[[Transaction], T]) -> T:
        """Run the function in one transaction that may write."""
        ...

    def read(self, work: Callable[[Transaction], T]) -> T:
        """Run the function on one unchanging view; it does not write."""
        ...


def chained(
    drafts: Iterable[Mapping[str, Any]], last: AuditRecord | None, now: float
) -> list[AuditRecord]:
    """Audit records from their drafts, each bound to the one before it."""
    records = []
    for draft in drafts:
        seq, previous = (last.seq + 1, last.hash) if last else (1, "")
        at = max(now, last.at) if last else now
        record = AuditRecord(seq=seq, at=at, previous=previous, hash="", **draft)
        last = replace(record, hash=record.computed_hash())
        records.append(last)
    return records


def audit_draft(
    event: str, task: str, agent: str, tool: str, key: str, digest: str, detail: Mapping[str, Any]
) -> dict[str, Any]:
    """The part of an audit record that its writer knows."""
    # Through JSON, so that the record reads back as it was written.
    plain = json.loads(canonical_json(dict(detail)))
    return {
        "event": event,
        "task": label(task),
        "agent": label(agent),
        "tool": label(tool),
        "key": label(key),
        "digest": digest,
        "detail": plain,
    }


class MemoryStore:
    """The store of one process. What it holds ends with the process."""

    def __init__(self, *, clock: Clock = time.time) -> None:
        self._clock = clock
        self._lock = threading.RLock()
        self._open = False
        self._records: dict[type[Record], dict[str | int, Any]] = {kind: {} for kind in KINDS}
        self._last: AuditRecord | None = None

    def transact(self, work: Callable[[Transaction], T]) -> T:
        with self._lock:
            if self._open:
                raise StateError("A transaction is open. Do not start another one inside it.")
            self._open = True
            try:
                transaction = _MemoryTransaction(self._records, self._now())
                result = work(transaction)
                self._commit(transaction)
            finally:
                self._open = False
        return result

    def read(self, work: Callable[[Transaction], T]) -> T:
        with self._lock:
            return work(_MemoryTransaction(self._records, self._now()))

    def _now(self) -> float:
        return max(self._clock(), self._last.at if self._last else 0.0)

    def _commit(self, transaction: _MemoryTransaction) -> None:
        for record in transaction.changes.values():
            self._records[type(record)][_key(record)] = record
        for line in chained(transaction.drafts, self._last, transaction.now):
            self._records[AuditRecord][line.seq] = self._last = line


class _MemoryTransaction:
    """Changes beside the records; they are written over them when the work is through."""

    def __init__(self, records: Mapping[type[Record], Mapping[str | int, Any]], now: float) -> None:
        self._records = records
        self._now = now
        self.changes: dict[tuple[type[Record], str | int], Record] = {}
        self.drafts: list[dict[str, Any]] = []

    @property
    def now(self) -> float:
        return self._now

    def lock(self, *names: str) -> None:
        """One transaction runs at a time."""

    def get(self, kind: type[R], key: str | int) -> R | None:
        changed: Any = self.changes.get((kind, key))
        found: R | None = changed if changed is not None else self._records[kind].get(key)
        return found

    def add(self, record: Record) -> bool:
        kind, key = type(record), _key(record)
        if (kind, key) in self.changes or key in self._records[kind]:
            return False
        self.changes[kind, key] = record
        return True

    def put(self, record: Record) -> None:
        kind, key = type(record), _key(record)
        if (kind, key) not in self.changes and key not in self._records[kind]:
            raise StateError(f"There is no {kind.__name__} {key!r} to write over.")
        self.changes[kind, key] = record

    def find(
        self,
        kind: type[R],
        equal: Mapping[str, Any] | None = None,
        *,
        since: float | None = None,
        limit: int | None = None,
        newest: bool = False,
    ) -> list[R]:
        wanted = check_fields(kind, equal or {})
        merged: dict[str | int, Any] = dict(self._records[kind])
        merged.update({key: record for (of, key), record in self.changes.items() if of is kind})
        found = [
            record
            for record in merged.values()
            if (since is None or record.at > since)
            and all(getattr(record, name) == value for name, value in wanted.items())
        ]
        found.sort(key=lambda record: (record.at, _key(record)), reverse=newest)
        return found[:limit]

    def audit(
        self,
        event: str,
        *,
        task: str = "",
        agent: str = "",
        tool: str = "",
        key: str = "",
        digest: str = "",
        **detail: Any,
    ) -> None:
        self.drafts.append(audit_draft(event, task, agent, tool, key, digest, detail))


def check_fields(kind: type[Record], equal: Mapping[str, Any]) -> Mapping[str, Any]:
    """A wrong field name is the caller's mistake and must not look like an empty result."""
    known = {each.name for each in fields(kind)}
    for name in equal:
        if name not in known:
            raise StateError(f"{kind.__name__} has no field {name!r}.")
    return equal


def _key(record: Record) -> str | int:
    key: str | int = getattr(record, record.ID)
    return key
