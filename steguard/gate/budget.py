"""Rates and budgets: reserve before the tool runs, settle or release after it.

A rate is a budget of calls in a window of time. An account is named for the budget and for whom
it counts, so that the accounts of two tasks never meet.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from steguard.gate.model import Context, Step, ToolCall
from steguard.gate.policy import Cost, Policy
from steguard.gate.state import (
    BudgetAccount,
    Reservation,
    ReservationState,
    Transaction,
    label,
)

# Sums of decimal fractions are compared after this rounding: 0.1 + 0.2 is within 0.3.
_DIGITS = 9


class BadAmount(ValueError):
    """The argument that says how much a call takes is no amount."""


@dataclass(frozen=True, slots=True)
class Charge:
    """What one call takes from one account. ``seconds`` is the window, None for ever."""

    step: Step
    label: str
    account: str
    amount: float
    limit: float
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Shortage:
    """A charge for which there is no room, and what is used."""

    charge: Charge
    used: float

    def reason(self) -> str:
        charge = self.charge
        window = f" in {charge.seconds:g} seconds" if charge.seconds else ""
        left = max(0.0, round(charge.limit - self.used, _DIGITS))
        return (
            f"The {charge.step.value} '{charge.label}' has no room: "
            f"limit {charge.limit:g}{window}, used {self.used:g}, left {left:g}, "
            f"wanted {charge.amount:g}."
        )


def charges(policy: Policy, call: ToolCall, context: Context) -> list[Charge]:
    """All that a call takes. Raises :class:`BadAmount`."""
    spec = policy.spec(call.name)
    found = []
    if spec.rate:
        rate = spec.rate
        account = _account(f"rate:{call.name}", rate.per, policy, context)
        found.append(Charge(Step.RATE, call.name, account, 1.0, rate.calls, rate.seconds))
    for cost in spec.cost:
        budget = policy.budgets[cost.budget]
        account = _account(f"budget:{cost.budget}", budget.per, policy, context)
        amount = _amount(cost, call)
        found.append(
            Charge(Step.BUDGET, cost.budget, account, amount, budget.limit, budget.seconds)
        )
    return found


def agent_of(context: Context) -> str:
    """The agent that acts: the last of the delegation, else that of the scope."""
    return label(context.agents[-1] if context.agents else context.scope.get("agent", ""))


def shortage(tx: Transaction, wanted: Sequence[Charge]) -> Shortage | None:
    """The first charge without room. Holds the accounts until the transaction ends."""
    tx.lock(*sorted({charge.account for charge in wanted}))
    taken: dict[str, float] = {}
    for charge in wanted:
        used = _used(tx, charge) + taken.get(charge.account, 0.0)
        if round(used + charge.amount, _DIGITS) > round(charge.limit, _DIGITS):
            return Shortage(charge, round(used, _DIGITS))
        taken[charge.account] = taken.get(charge.account, 0.0) + charge.amount
    return None


def reserve(tx: Transaction, key: str, wanted: Iterable[Charge]) -> None:
    """Write the charges down for an execution. Ask :func:`shortage` before."""
    for index, charge in enumerate(wanted):
        reservation = Reservation(
            id=f"{key}|{index}|{charge.account}",
            budget=charge.account,
            execution=key,
            amount=charge.amount,
            at=tx.now,
        )
        if not tx.add(reservation):
            tx.put(reservation)
        _book(tx, charge.account, charge.amount)


def settle(tx: Transaction, key: str, amounts: dict[str, float] | None = None) -> None:
    """The execution took what it reserved, or these amounts by account."""
    for held in _held(tx, key, ReservationState.RESERVED):
        amount = (amounts or {}).get(held.budget, held.amount)
        tx.put(replace(held, amount=amount, state=ReservationState.SETTLED))
        _book(tx, held.budget, amount - held.amount)


def release(tx: Transaction, key: str) -> None:
    """The execution took nothing."""
    for held in _held(tx, key, ReservationState.RESERVED, ReservationState.SETTLED):
        tx.put(replace(held, state=ReservationState.RELEASED))
        _book(tx, held.budget, -held.amount)


def holds(tx: Transaction, key: str) -> bool:
    """Whether the execution has its charges written down."""
    kept = tx.find(Reservation, {"execution": key})
    return any(each.state is not ReservationState.RELEASED for each in kept)


def _held(tx: Transaction, key: str, *states: ReservationState) -> list[Reservation]:
    held = [each for each in tx.find(Reservation, {"execution": key}) if each.state in states]
    tx.lock(*sorted({each.budget for each in held}))
    return held


def _book(tx: Transaction, account: str, amount: float) -> None:
    known = tx.get(BudgetAccount, account)
    if known is None:
        tx.add(BudgetAccount(name=account, used=amount, at=tx.now))
    else:
        tx.put(replace(known, used=round(known.used + amount, _DIGITS), at=tx.now))


def _used(tx: Transaction, charge: Charge) -> float:
    if charge.seconds is None:
        account = tx.get(BudgetAccount, charge.account)
        return account.used if account else 0.0
    recent = tx.find(Reservation, {"budget": charge.account}, since=tx.now - charge.seconds)
    return sum(each.amount for each in recent if each.state is not ReservationState.RELEASED)


def _account(name: str, per: str, policy: Policy, context: Context) -> str:
    whom = {"task": context.task_id, "agent": agent_of(context), "policy": policy.name}[per]
    return label(f"{name}|{per}:{whom}")


def _amount(cost: Cost, call: ToolCall) -> float:
    if cost.argument is None:
        return cost.amount
    value = _at(call.arguments, cost.argument)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or value < 0:
        raise BadAmount(
            f"The argument '{cost.argument}' must be a number of 0 or more, "
            f"because the budget '{cost.budget}' counts it."
        )
    return float(value)


def _at(data: Any, pointer: str) -> Any:
    for part in pointer.removeprefix("/").split("/"):
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(data, dict):
            data = data.get(name)
        elif isinstance(data, list) and name.isdecimal() and int(name) < len(data):
            data = data[int(name)]
        else:
            return None
    return data
