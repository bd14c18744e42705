"""The execution ledger: one key, one execution.

Before the tool runs, one transaction looks at today's policy, spends the approval, reserves the
budget and writes ``started`` under the unique key. After it, a second one writes the result and
the outbox. What a process leaves as ``started`` when it dies is run again only where the operator
declared the tool idempotent; else a hook says what happened, else a person must.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic_core import to_jsonable_python

from steguard.gate import admission, approvals, audit, budget
from steguard.gate.admission import Admission
from steguard.gate.errors import (
    ApprovalRequired,
    InProgress,
    KeyConflict,
    OutcomeUnknown,
    Refused,
)
from steguard.gate.model import Context, Decision, Effect, Observation, Step, ToolCall
from steguard.gate.observations import observed
from steguard.gate.owner import LEASE, alive
from steguard.gate.policy import Policy
from steguard.gate.state import (
    ApprovalState,
    Execution,
    ExecutionState,
    OutboxEntry,
    Transaction,
    canonical_json,
    label,
    plain_text,
)

_SHOWN = 2000
_CLOSED = {
    ExecutionState.DONE: "done",
    ExecutionState.FAILED: "failed",
    ExecutionState.NOT_DONE: "not_done",
    ExecutionState.UNKNOWN: "unknown",
}


@dataclass(frozen=True, slots=True)
class Proposal:
    """One call to run under one key. ``digest`` names tool, arguments and task, not the policy."""

    policy: Policy
    call: ToolCall
    context: Context
    key: str
    digest: str
    owner: str
    hook: bool

    @property
    def task(self) -> str:
        return label(self.context.task_id)

    @property
    def agent(self) -> str:
        return budget.agent_of(self.context)

    def refusal(self, reason: str, step: Step = Step.EXECUTION) -> Decision:
        """A refusal that the ledger itself decides."""
        return Decision(
            effect=Effect.DENY,
            tool=self.call.name,
            reason=reason,
            digest=self.digest,
            step=step,
            call_id=self.call.call_id,
            policy=self.policy.hash,
            side_effect=self.policy.spec(self.call.name).side_effect,
        )


@dataclass(frozen=True, slots=True)
class Run:
    """The claim holds: run the tool."""

    execution: Execution


@dataclass(frozen=True, slots=True)
class Finished:
    """The tool ran before; its record says how that ended."""

    execution: Execution


@dataclass(frozen=True, slots=True)
class Reconcile:
    """An earlier run ended without a record: ask the hook."""

    execution: Execution


Claim = Run | Finished | Reconcile | Refused


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended. ``encoded`` is False where ``result`` is only the ``repr`` of it."""

    state: ExecutionState
    result: Any = None
    encoded: bool = True
    error: str | None = None


def claim(tx: Transaction, proposal: Proposal) -> Claim:
    """Claim the key, or say why not. A refusal is a value, so that its record is kept."""
    tx.lock(f"execution:{proposal.key}")
    known = tx.get(Execution, proposal.key)
    if known is not None:
        settled = _again(tx, proposal, known)
        if settled is not None:
            return settled
    found = admission.look(
        tx, proposal.policy, proposal.call, proposal.context, proposal.key, known
    )
    if not found.decision.allowed:
        return _not_admitted(tx, proposal, found)
    audit.decided(tx, found.decision, proposal.context, key=proposal.key, agent=proposal.agent)
    if found.approval is not None:
        approvals.spend(tx, found.approval)
    budget.reserve(tx, proposal.key, found.wanted)
    return Run(_started(tx, proposal, known, found))


def ask(tx: Transaction, proposal: Proposal) -> Refused | None:
    """Put the question to a person, as a claim does; None where the call may run as it is."""
    tx.lock(f"execution:{proposal.key}")
    known = tx.get(Execution, proposal.key)
    if known is not None:
        reason = f"The execution '{proposal.key}' is {known.state.value}. Use a new key."
        return _refuse(tx, proposal, KeyConflict, reason)
    found = admission.look(tx, proposal.policy, proposal.call, proposal.context, proposal.key)
    return None if found.decision.allowed else _not_admitted(tx, proposal, found)


def outcome_of(result: Any) -> Outcome:
    """The result as the ledger keeps it: JSON data, else its ``repr``."""
    try:
        # Through text, so that what is kept is what will be read.
        plain = json.loads(canonical_json(to_jsonable_python(result)))
        return Outcome(ExecutionState.DONE, plain)
    except (ValueError, TypeError, RecursionError):
        shown = plain_text(repr(result)[:_SHOWN])
        return Outcome(ExecutionState.DONE, shown, encoded=False)


def failure_of(error: BaseException, state: ExecutionState = ExecutionState.FAILED) -> Outcome:
    """What the ledger keeps of an exception."""
    text = str(error)
    return Outcome(state, error=plain_text(f"{type(error).__name__}: {text}".removesuffix(": ")))


def finish(
    tx: Transaction, policy: Policy, call_id: str, owned: Execution, outcome: Outcome
) -> Execution:
    """Write down how a run ended, with its budget, its observation and its event."""
    tx.lock(f"execution:{owned.key}")
    known = tx.get(Execution, owned.key)
    ended = (ExecutionState.DONE, ExecutionState.FAILED, ExecutionState.NOT_DONE)
    if known is None or known.owner != owned.owner or known.state in ended:
        _log(tx, "execution.late", owned, state=outcome.state.value)
        return known or owned
    return close(tx, policy, known, outcome, call_id=call_id)


def close(
    tx: Transaction,
    policy: Policy | None,
    execution: Execution,
    outcome: Outcome,
    *,
    call_id: str = "",
    **detail: Any,
) -> Execution:
    """Give an execution its outcome. The lock of the execution must be held."""
    closed = replace(
        execution,
        state=outcome.state,
        result=outcome.result,
        encoded=outcome.encoded,
        error=outcome.error,
        finished_at=tx.now,
    )
    tx.put(closed)
    if outcome.state is ExecutionState.NOT_DONE:
        budget.release(tx, execution.key)
    elif outcome.state is not ExecutionState.UNKNOWN:
        budget.settle(tx, execution.key)
    _log(tx, f"execution.{_CLOSED[outcome.state]}", closed, error=outcome.error, **detail)
    if outcome.state is ExecutionState.DONE:
        seen = Observation(closed.tool, closed.result, closed.arguments, call_id)
        tx.add(observed(policy, seen, closed, tx.now))
    if outcome.state in (ExecutionState.DONE, ExecutionState.FAILED):
        tx.add(_event(closed, call_id, tx.now))
    return closed


def _again(tx: Transaction, proposal: Proposal, known: Execution) -> Claim | None:
    """What a second call with this key gets; None where the tool may run again."""
    if known.digest != proposal.digest:
        return _refuse(
            tx,
            proposal,
            KeyConflict,
            f"The key '{proposal.key}' belongs to another call of '{known.tool}' with other "
            "arguments or in another task. Use a new key.",
        )
    idempotent = proposal.policy.spec(known.tool).idempotent
    match known.state:
        case ExecutionState.DONE:
            _log(tx, "execution.replayed", known)
            return Finished(known)
        case ExecutionState.NOT_DONE:
            return None
        case ExecutionState.FAILED:
            return None if idempotent else Finished(known)
        case ExecutionState.STARTED if alive(known.owner, known.lease_until, tx.now):
            reason = "This call runs now. Wait for its result, then call again with the same key."
            return _refuse(tx, proposal, InProgress, reason)
    if idempotent:
        return None
    if proposal.hook:
        return Reconcile(known)
    return doubtful(tx, proposal, known)


def doubtful(tx: Transaction, proposal: Proposal, known: Execution) -> Refused:
    """Nobody can say whether the tool had its effect."""
    if known.state is ExecutionState.STARTED:
        known = close(tx, proposal.policy, known, Outcome(ExecutionState.UNKNOWN))
    decision = proposal.refusal(
        "An earlier run ended without a record, so its effect may be there. A person must look: "
        "steguard gate ledger reconcile"
    )
    audit.decided(tx, decision, proposal.context, key=proposal.key, agent=proposal.agent)
    return OutcomeUnknown(decision, known)


def _started(
    tx: Transaction, proposal: Proposal, known: Execution | None, found: Admission
) -> Execution:
    spent = found.approval.id if found.approval else None
    if known is None:
        execution = Execution(
            key=proposal.key,
            digest=proposal.digest,
            tool=proposal.call.name,
            task=proposal.task,
            agent=proposal.agent,
            arguments=dict(proposal.call.arguments),
            at=tx.now,
            owner=proposal.owner,
            lease_until=tx.now + LEASE,
            approval=spent,
        )
        if not tx.add(execution):
            raise AssertionError(f"the key {proposal.key!r} was taken under its lock")
    else:
        execution = replace(
            known,
            owner=proposal.owner,
            lease_until=tx.now + LEASE,
            state=ExecutionState.STARTED,
            attempts=known.attempts + 1,
            approval=spent or known.approval,
            error=None,
            finished_at=None,
        )
        tx.put(execution)
    charges = {charge.account: charge.amount for charge in found.wanted}
    _log(tx, "execution.started", execution, attempt=execution.attempts, charges=charges)
    return execution


def _not_admitted(tx: Transaction, proposal: Proposal, found: Admission) -> Refused:
    decision, approval = found.decision, found.approval
    if approval is not None and approval.state is ApprovalState.EXPIRED:
        approvals.settled(tx, approval.id)
    if decision.effect is Effect.DENY:
        audit.decided(tx, decision, proposal.context, key=proposal.key, agent=proposal.agent)
        return Refused(decision)
    if approval is None or approval.state is not ApprovalState.PENDING:
        terms = admission.terms(proposal.policy, proposal.call, proposal.context)
        approval = approvals.request(
            tx,
            digest=decision.digest,
            key=proposal.key,
            tool=proposal.call.name,
            task=proposal.task,
            agent=proposal.agent,
            arguments=dict(proposal.call.arguments),
            reason=plain_text(decision.reason),
            lifetime=terms.lifetime,
            approvers=terms.approvers,
            needed=terms.needed,
        )
        waits = f"{decision.reason} The approval {approval.id} waits."
        decision = replace(decision, reason=waits)
    audit.decided(tx, decision, proposal.context, key=proposal.key, agent=proposal.agent)
    return ApprovalRequired(decision, approval)


def _refuse(tx: Transaction, proposal: Proposal, kind: type[Refused], reason: str) -> Refused:
    decision = proposal.refusal(reason)
    audit.decided(tx, decision, proposal.context, key=proposal.key, agent=proposal.agent)
    return kind(decision)


def _event(execution: Execution, call_id: str, now: float) -> OutboxEntry:
    payload: Mapping[str, Any] = {
        "tool": execution.tool,
        "key": execution.key,
        "digest": execution.digest,
        "call_id": label(call_id),
        "state": execution.state.value,
    }
    return OutboxEntry(
        id=f"ev-{secrets.token_hex(8)}",
        execution=execution.key,
        topic=f"tool.{execution.state.value}",
        task=execution.task,
        payload=payload,
        at=now,
    )


def _log(tx: Transaction, event: str, execution: Execution, **detail: Any) -> None:
    tx.audit(
        event,
        task=execution.task,
        agent=execution.agent,
        tool=execution.tool,
        key=execution.key,
        digest=execution.digest,
        **{name: value for name, value in detail.items() if value is not None},
    )
