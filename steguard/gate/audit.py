"""The audit log: append only, each record bound to the one before it by a hash."""

from __future__ import annotations

from steguard.gate.model import Context, Decision
from steguard.gate.state import AuditRecord, StateStore, Transaction, plain_text


def records(
    store: StateStore,
    *,
    task: str | None = None,
    key: str | None = None,
    tool: str | None = None,
    event: str | None = None,
    limit: int | None = None,
) -> list[AuditRecord]:
    """The records, the oldest first; ``limit`` keeps the newest."""
    wanted = {"task": task, "key": key, "tool": tool, "event": event}
    equal = {name: value for name, value in wanted.items() if value is not None}
    found = store.read(lambda tx: tx.find(AuditRecord, equal, newest=True, limit=limit))
    return found[::-1]


def verify(store: StateStore) -> list[str]:
    """What is wrong with the chain: one line for each changed, missing or added record."""
    faults = []
    expected, previous = 1, ""
    for record in records(store):
        if record.seq != expected:
            faults.append(f"record {expected}: it is missing")
        elif record.previous != previous:
            faults.append(f"record {record.seq}: it does not follow the record before it")
        if record.hash != record.computed_hash():
            faults.append(f"record {record.seq}: its content was changed")
        expected, previous = record.seq + 1, record.hash
    return faults


def decided(
    tx: Transaction, decision: Decision, context: Context, *, key: str = "", agent: str = ""
) -> None:
    """Write a decision to the log."""
    detail = decision.to_dict()
    tx.audit(
        f"decision.{decision.effect.value}",
        task=context.task_id,
        agent=agent,
        tool=decision.tool,
        key=key,
        digest=decision.digest,
        reason=plain_text(decision.reason),
        **{name: detail[name] for name in ("rule", "step", "pointer", "policy", "call_id")},
    )
