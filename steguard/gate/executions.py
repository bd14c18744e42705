"""The executions in a store: what ran, what a person must look at, what is to be published.

Only an execution record proves that something happened. A text that says "sent" proves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from steguard.gate import ledger
from steguard.gate.ledger import Outcome
from steguard.gate.owner import alive
from steguard.gate.state import (
    Execution,
    ExecutionState,
    OutboxEntry,
    StateError,
    StateStore,
    Transaction,
    label,
    plain_text,
)

OPEN = (ExecutionState.STARTED, ExecutionState.UNKNOWN)


class Executions:
    """The ledger of a store, for programs, pages and the command line."""

    def __init__(self, store: StateStore) -> None:
        self._store = store

    def all(
        self,
        *,
        state: ExecutionState | None = None,
        task: str | None = None,
        tool: str | None = None,
        limit: int | None = None,
    ) -> list[Execution]:
        """Executions, the oldest first; ``limit`` keeps the newest."""
        wanted = {"state": state, "task": None if task is None else label(task), "tool": tool}
        equal = {name: value for name, value in wanted.items() if value is not None}
        found = self._store.read(lambda tx: tx.find(Execution, equal, newest=True, limit=limit))
        return found[::-1]

    def get(self, key: str) -> Execution:
        """One execution. Raises StateError where there is none."""
        found = self._store.read(lambda tx: tx.get(Execution, label(key)))
        if found is None:
            raise StateError(_NONE.format(key=key))
        return found

    def unsettled(self) -> list[Execution]:
        """Runs without a record of their end that nobody runs now: a person must look."""

        def work(tx: Transaction) -> list[Execution]:
            found = [each for state in OPEN for each in tx.find(Execution, {"state": state})]
            return [each for each in found if not _runs(each, tx.now)]

        return self._store.read(work)

    def done(
        self, task: str, tool: str, *, arguments: Mapping[str, Any] | None = None
    ) -> list[Execution]:
        """The records that prove that a tool ran in a task, with these arguments among others.

        A state like "sent" may be claimed only where this is not empty.
        """
        found = self.all(state=ExecutionState.DONE, task=task, tool=tool)
        wanted = (arguments or {}).items()
        return [
            each
            for each in found
            if all(name in each.arguments and each.arguments[name] == v for name, v in wanted)
        ]

    def reconcile(
        self,
        key: str,
        state: ExecutionState,
        *,
        by: str,
        result: Any = None,
        note: str = "",
        force: bool = False,
    ) -> Execution:
        """A person says how a run ended: ``done``, ``failed`` or ``not_done``.

        After ``not_done`` the same call may run again. ``force`` is for a run whose process is
        still there.
        """
        if not by.strip():
            raise StateError("Say who reconciles.")
        outcome = replace(ledger.outcome_of(result), state=state)
        if state is not ExecutionState.DONE:
            outcome = Outcome(state, error=plain_text(note) or None)

        def work(tx: Transaction) -> Execution | StateError:
            tx.lock(f"execution:{label(key)}")
            known = tx.get(Execution, label(key))
            fault = _fault(known, key, state, tx.now, force)
            if known is None or fault:
                return StateError(fault)
            who = {"by": plain_text(by), "note": plain_text(note)}
            return ledger.close(tx, None, known, outcome, **who)

        closed = self._store.transact(work)
        if isinstance(closed, StateError):
            raise closed
        return closed

    def events(self) -> list[OutboxEntry]:
        """What is to be published, the oldest first. Each has an execution record."""
        return self._store.read(lambda tx: tx.find(OutboxEntry, {"delivered_at": None}))

    def delivered(self, event_id: str) -> OutboxEntry:
        """Note that an event is published."""

        def work(tx: Transaction) -> OutboxEntry | None:
            tx.lock(f"event:{event_id}")
            known = tx.get(OutboxEntry, event_id)
            if known is None or known.delivered_at is not None:
                return known
            tx.put(replace(known, delivered_at=tx.now))
            tx.audit("event.delivered", task=known.task, key=known.execution, event_id=event_id)
            return replace(known, delivered_at=tx.now)

        found = self._store.transact(work)
        if found is None:
            raise StateError(f"There is no event '{event_id}'.")
        return found


_NONE = "There is no execution '{key}'. Look at: steguard gate ledger list"


def _runs(execution: Execution, now: float) -> bool:
    started = execution.state is ExecutionState.STARTED
    return started and alive(execution.owner, execution.lease_until, now)


def _fault(
    known: Execution | None, key: str, state: ExecutionState, now: float, force: bool
) -> str:
    """Why this run cannot be given this end; empty where it can."""
    if known is None:
        return _NONE.format(key=key)
    if state in OPEN:
        return "Say how the run ended: done, failed or not_done."
    if known.state not in (*OPEN, ExecutionState.FAILED):
        return f"The execution '{key}' is {known.state.value} already."
    if _runs(known, now) and not force:
        return f"The execution '{key}' runs now. Wait for it, or use force (--force)."
    return ""
