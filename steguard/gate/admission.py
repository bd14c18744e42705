"""Whether a call may run now: the policy of today, the approval, the rate and the budgets.

Looking changes nothing; :mod:`steguard.gate.ledger` looks and writes in one transaction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from steguard.gate import approvals, budget, provenance
from steguard.gate.arguments import NO
from steguard.gate.budget import BadAmount, Charge
from steguard.gate.decide import decide
from steguard.gate.model import Context, Decision, Effect, Step, ToolCall
from steguard.gate.policy import Approval as ApprovalRule
from steguard.gate.policy import Policy, Rule
from steguard.gate.state import Approval, ApprovalState, Execution, StateStore, Transaction

_ANYONE = ApprovalRule.model_validate({})


@dataclass(frozen=True, slots=True)
class Terms:
    """Of an approval; see :class:`~steguard.gate.records.Approval`."""

    approvers: tuple[tuple[str, ...], ...]
    needed: int
    lifetime: float


@dataclass(frozen=True, slots=True)
class Admission:
    """What was found. ``approval`` is to be spent, or waits, or says no."""

    decision: Decision
    approval: Approval | None = None
    wanted: tuple[Charge, ...] = ()


def look(
    tx: Transaction,
    policy: Policy,
    call: ToolCall,
    context: Context,
    key: str,
    earlier: Execution | None = None,
) -> Admission:
    """Go through the conditions in their order. ``earlier`` is a run of the same execution.

    Its approval and its reservations are its own: they count for the next run of it too.
    """
    decision = decide(policy, call, context)
    approval = None
    if decision.effect is Effect.DENY:
        return Admission(decision)
    if decision.effect is Effect.ASK:
        mine = approvals.own(tx, earlier.approval, decision.digest) if earlier else None
        if mine is None:
            approval = approvals.latest(tx, decision.digest, key)
            refused = _unapproved(decision, approval)
            if refused is not None:
                return Admission(refused, approval)
        yes = mine or approval
        reason = f"{yes.decided_by} granted {yes.id}." if yes else decision.reason
        decision = replace(decision, effect=Effect.ALLOW, step=None, reason=reason)
    try:
        held = earlier is not None and budget.holds(tx, key)
        wanted = () if held else tuple(budget.charges(policy, call, context))
    except BadAmount as error:
        return Admission(denied(decision, Step.BUDGET, str(error)), approval)
    short = budget.shortage(tx, wanted)
    if short is not None:
        return Admission(denied(decision, short.charge.step, short.reason()), approval)
    return Admission(decision, approval, wanted)


def preview(
    store: StateStore, policy: Policy, call: ToolCall, context: Context, key: str
) -> Decision:
    """What ``execute`` would decide now under this key. It only looks."""
    return store.read(lambda tx: look(tx, policy, call, context, key)).decision


def denied(decision: Decision, step: Step, reason: str) -> Decision:
    """The decision as a refusal at this step."""
    return replace(decision, effect=Effect.DENY, step=step, reason=reason)


def terms(policy: Policy, call: ToolCall, context: Context) -> Terms:
    """Who must say yes, and for how long that holds: the strictest of all rules that ask."""
    own = policy.spec(call.name).approval
    asking = [one.approval or own or _ANYONE for one in _asking(policy, call, context)]
    asking = asking or [own or _ANYONE]
    groups = (tuple(dict.fromkeys(each.by)) for each in asking if each.by)
    return Terms(
        approvers=tuple(sorted(set(groups))),
        needed=max(each.count for each in asking),
        lifetime=min(each.expires for each in asking),
    )


def _asking(policy: Policy, call: ToolCall, context: Context) -> Iterator[Rule]:
    for one in policy.index.tools[call.name].candidates(context.scope):
        matched = one.match(call.arguments, lambda: provenance.look(policy, context))
        if matched.verdict is not NO and matched.effect is Effect.ASK:
            yield one.rule


def _unapproved(decision: Decision, approval: Approval | None) -> Decision | None:
    """Why the approval is no yes; None where it is."""
    if approval is None or approval.state in (ApprovalState.EXPIRED, ApprovalState.SPENT):
        return decision
    if approval.state is ApprovalState.PENDING:
        return replace(decision, reason=f"{decision.reason} The approval {approval.id} waits.")
    if approval.state is ApprovalState.DENIED:
        note = f" They say: {approval.note}" if approval.note else ""
        return denied(decision, Step.APPROVAL, f"{approval.decided_by} denied it.{note}")
    return None
