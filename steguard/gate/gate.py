"""The gate itself: one policy, an optional store, decisions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from steguard.gate.model import Context, Decision, ToolCall
from steguard.gate.policy import Policy, load_policy


class State(Protocol):
    """What a decision asks of a store. It only looks; ``execute`` spends and reserves."""

    def approved(self, digest: str, context: Context) -> bool:
        """Whether a granted, unspent and unexpired approval names exactly this digest."""

    def over_limit(self, policy: Policy, call: ToolCall, context: Context) -> str | None:
        """Why the rate or a budget does not permit this call now; None where it does."""


class Gate:
    """Decides on tool calls with one policy.

    ``store`` keeps approvals, rates, budgets, executions and the audit log (``steguard.store``);
    without it, a gate can decide but not execute what needs them.
    """

    def __init__(
        self, policy: Policy | str | Path | Mapping[str, Any], store: State | None = None
    ) -> None:
        self.policy = load_policy(policy)
        self.store = store

    def decide(self, call: ToolCall, context: Context) -> Decision:
        """What the policy says about this call. It never raises: an error is a deny."""
        from steguard.gate.decide import decide

        return decide(self.policy, call, context)

    def execute(
        self,
        call: ToolCall,
        context: Context,
        fn: Callable[..., Any],
        *,
        key: str | None = None,
    ) -> Any:
        """Decide, claim, run once and record."""
        from steguard.gate import execute

        return execute.run(self, call, context, fn, key=key)
