"""Approvals: a person says yes to exactly one execution, once, for a limited time.

The state is in the store, so a page, the command line and a program see the same questions.

>>> approvals = Approvals(store)
>>> for question in approvals.pending():
...     print(question.id, question.tool, question.arguments)
>>> approvals.grant(question.id, by="anna")
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from steguard.gate.errors import ApprovalError
from steguard.gate.state import (
    Approval,
    ApprovalState,
    StateStore,
    Transaction,
    plain_text,
)

_OPEN = (ApprovalState.PENDING, ApprovalState.GRANTED)


class Approvals:
    """The questions in a store, and the answers of persons."""

    def __init__(self, store: StateStore) -> None:
        self._store = store

    def all(self, *, state: ApprovalState | None = None, task: str | None = None) -> list[Approval]:
        """All approvals, the oldest first; what is too old is shown as expired."""

        def work(tx: Transaction) -> list[Approval]:
            equal = {} if task is None else {"task": task}
            seen = [_as_of(approval, tx.now) for approval in tx.find(Approval, equal)]
            return [each for each in seen if state is None or each.state is state]

        return self._store.read(work)

    def pending(self, *, task: str | None = None) -> list[Approval]:
        """The questions that wait for a person."""
        return self.all(state=ApprovalState.PENDING, task=task)

    def get(self, approval_id: str) -> Approval:
        """One approval. Raises :class:`ApprovalError` where there is none."""

        def work(tx: Transaction) -> Approval | None:
            found = tx.get(Approval, approval_id)
            return _as_of(found, tx.now) if found else None

        return _known(self._store.read(work), approval_id)

    def grant(
        self, approval_id: str, *, by: str, roles: Sequence[str] = (), note: str = ""
    ) -> Approval:
        """Say yes. ``roles`` are those that the caller knows this person to have."""
        return self._decide(approval_id, by, roles, note, _granted)

    def deny(
        self, approval_id: str, *, by: str, roles: Sequence[str] = (), note: str = ""
    ) -> Approval:
        """Say no; it also takes back a yes that is not spent yet."""
        return self._decide(approval_id, by, roles, note, _denied)

    def expire(self) -> list[Approval]:
        """Write down which approvals are too old. They do not count in any case."""

        def work(tx: Transaction) -> list[Approval]:
            found: list[Approval] = []
            for state in _OPEN:
                for each in tx.find(Approval, {"state": state}):
                    if each.expires_at <= tx.now:
                        tx.lock(_lock(each.id))
                        expired = settled(tx, each.id)
                        if expired is not None and expired.state is ApprovalState.EXPIRED:
                            found.append(expired)
            return found

        return self._store.transact(work)

    def _decide(
        self,
        approval_id: str,
        by: str,
        roles: Sequence[str],
        note: str,
        answer: Callable[[Approval, str, str, float], Approval],
    ) -> Approval:
        """Answers in one transaction. A refused answer is written down too, and then raised."""

        def work(tx: Transaction) -> Approval | ApprovalError:
            tx.lock(_lock(approval_id))
            approval = settled(tx, approval_id)
            if approval is None:
                return ApprovalError(_UNKNOWN.format(id=approval_id))
            fault = _fault(approval, by, roles, answer is _granted)
            if fault:
                audit(tx, "approval.refused", approval, by=plain_text(by), reason=fault)
                return ApprovalError(f"The approval {approval_id} stays as it is. {fault}")
            decided = answer(approval, plain_text(by), plain_text(note), tx.now)
            tx.put(decided)
            event = decided.state if decided.state in _ANSWERS else "supported"
            audit(tx, f"approval.{event}", decided, by=plain_text(by), note=plain_text(note))
            return decided

        outcome = self._store.transact(work)
        if isinstance(outcome, ApprovalError):
            raise outcome
        return outcome


_ANSWERS = (ApprovalState.GRANTED, ApprovalState.DENIED)
_UNKNOWN = "There is no approval '{id}'. Look at: steguard gate approvals list"


def request(
    tx: Transaction,
    *,
    digest: str,
    key: str,
    tool: str,
    task: str,
    agent: str,
    arguments: dict[str, Any],
    reason: str,
    lifetime: float,
    approvers: tuple[tuple[str, ...], ...] = (),
    needed: int = 1,
) -> Approval:
    """Ask for one execution. The lock of the execution must be held."""
    approval = Approval(
        id=f"ap-{secrets.token_hex(8)}",
        digest=digest,
        key=key,
        tool=tool,
        task=task,
        agent=agent,
        arguments=arguments,
        at=tx.now,
        expires_at=tx.now + lifetime,
        lifetime=lifetime,
        reason=reason,
        approvers=approvers,
        needed=needed,
    )
    tx.add(approval)
    audit(tx, "approval.requested", approval, expires_at=approval.expires_at, reason=reason)
    return approval


def latest(tx: Transaction, digest: str, key: str) -> Approval | None:
    """The last approval for exactly this, as of now. Holds it until the transaction ends."""
    found = tx.find(Approval, {"digest": digest, "key": key}, newest=True, limit=1)
    if not found:
        return None
    tx.lock(_lock(found[0].id))
    approval = tx.get(Approval, found[0].id)
    return _as_of(approval, tx.now) if approval else None


def own(tx: Transaction, approval_id: str | None, digest: str) -> Approval | None:
    """The approval that an execution spent, where it still covers exactly this."""
    approval = tx.get(Approval, approval_id) if approval_id else None
    if approval is None or approval.digest != digest or approval.expires_at <= tx.now:
        return None
    return approval if approval.state is ApprovalState.SPENT else None


def spend(tx: Transaction, approval: Approval) -> None:
    """Use it up. It must be granted, and its lock must be held."""
    spent = replace(approval, state=ApprovalState.SPENT)
    tx.put(spent)
    audit(tx, "approval.spent", spent)


def settled(tx: Transaction, approval_id: str) -> Approval | None:
    """The approval as of now; where it is too old now, that is written down for good."""
    approval = tx.get(Approval, approval_id)
    if approval is None:
        return None
    now = _as_of(approval, tx.now)
    if now is not approval:
        tx.put(now)
        audit(tx, "approval.expired", now)
    return now


def audit(tx: Transaction, event: str, approval: Approval, **detail: Any) -> None:
    """Write a change of an approval to the log."""
    tx.audit(
        event,
        task=approval.task,
        agent=approval.agent,
        tool=approval.tool,
        key=approval.key,
        digest=approval.digest,
        approval=approval.id,
        **detail,
    )


def _lock(approval_id: str) -> str:
    return f"approval:{approval_id}"


def _known(approval: Approval | None, approval_id: str) -> Approval:
    if approval is None:
        raise ApprovalError(_UNKNOWN.format(id=approval_id))
    return approval


def _as_of(approval: Approval, now: float) -> Approval:
    if approval.state in _OPEN and approval.expires_at <= now:
        return replace(approval, state=ApprovalState.EXPIRED)
    return approval


def _granted(approval: Approval, by: str, note: str, now: float) -> Approval:
    granted_by = (*approval.granted_by, by)
    enough = len(granted_by) >= approval.needed
    return replace(
        approval,
        granted_by=granted_by,
        state=ApprovalState.GRANTED if enough else ApprovalState.PENDING,
        decided_by=", ".join(granted_by) if enough else None,
        decided_at=now if enough else None,
        expires_at=now + approval.lifetime if enough else approval.expires_at,
        note=note or approval.note,
    )


def _denied(approval: Approval, by: str, note: str, now: float) -> Approval:
    return replace(approval, state=ApprovalState.DENIED, decided_by=by, decided_at=now, note=note)


def _fault(approval: Approval, by: str, roles: Sequence[str], granting: bool) -> str:
    """Why this person cannot give this answer now; empty where they can."""
    state = approval.state
    if state is ApprovalState.EXPIRED:
        return "It is expired. Let the agent ask again."
    if state is ApprovalState.SPENT:
        return "It is spent: the tool ran or runs now."
    if state is ApprovalState.DENIED:
        return f"{approval.decided_by} denied it. Let the agent ask again under a new key."
    if not by.strip():
        return "Say who answers."
    if approval.agent and by == approval.agent:
        return "The agent that asks cannot answer."
    for group in approval.approvers:
        if not {by, *roles} & set(group):
            return f"'{by}' may not answer. These may: {', '.join(group)}."
    if granting and state is ApprovalState.GRANTED:
        return f"{approval.decided_by} granted it already."
    if granting and by in approval.granted_by:
        return f"'{by}' said yes already. {approval.needed} persons must say yes."
    return ""
