"""The gate itself: one policy, an optional store, decisions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

from steguard.gate.decide import decide
from steguard.gate.model import Context, Decision, ToolCall
from steguard.gate.policy import Policy
from steguard.gate.policyfile import load_policy

F = TypeVar("F", bound=Callable[..., Any])

if TYPE_CHECKING:
    from steguard.gate.execute import Hook
    from steguard.gate.session import Session
    from steguard.gate.state import StateStore


class Gate:
    """Decides on tool calls with one policy.

    ``store`` keeps approvals, rates, budgets, executions and the audit log: a store, or the URL
    of a database (:mod:`steguard.store`). Without it, the gate keeps them in memory.
    ``reconcilers`` are hooks by tool name: each looks at an execution without a record of its
    end, and says what happened.
    """

    def __init__(
        self,
        policy: Policy | str | Path | Mapping[str, Any],
        store: StateStore | str | None = None,
        *,
        reconcilers: Mapping[str, Hook] | None = None,
    ) -> None:
        self.policy = load_policy(policy)
        self.store = _opened(store)
        self.reconcilers = dict(reconcilers or {})

    def decide(self, call: ToolCall, context: Context) -> Decision:
        """What the policy says about this call. It never raises: an error is a deny."""
        return decide(self.policy, call, context)

    def explain(self, call: ToolCall, context: Context) -> Decision:
        """The same decision, with every condition that the gate looked at in ``checks``."""
        return decide(self.policy, call, context, explain=True)

    def task(self, context: Context) -> Session:
        """A task: calls run one after the other, and each result is an observation for the next.

        >>> with gate.task(Context("T-1", "Mail the report to a@example.com.")) as task:
        ...     send_email(to=["a@example.com"])  # a function under @gate.tool
        """
        from steguard.gate.session import Session

        return Session(self, context)

    @overload
    def tool(self, fn: F) -> F: ...

    @overload
    def tool(self, *, name: str | None = None) -> Callable[[F], F]: ...

    def tool(self, fn: F | None = None, *, name: str | None = None) -> F | Callable[[F], F]:
        """Put a function behind the gate, as a decorator: it runs only inside :meth:`task`."""
        from steguard.gate.session import gated

        def wrap(function: F) -> F:
            return gated(self, function, name or function.__name__)

        return wrap if fn is None else wrap(fn)

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


def _opened(store: StateStore | str | None) -> StateStore | None:
    if not isinstance(store, str):
        return store
    from steguard.store import open_store

    return open_store(store)
