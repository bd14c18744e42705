"""A gate for tests of its memory: a few tools, and a clock that the test sets."""

from __future__ import annotations

from typing import Any

from steguard.gate import Context, Gate, ToolCall
from steguard.gate.approvals import Approvals
from steguard.gate.errors import ApprovalRequired
from steguard.gate.state import Approval

POLICY = {
    "steguard_gate": 1,
    "name": "test",
    "tools": {
        "send": {"side_effect": "external", "cost": [{"budget": "mail"}]},
        "pay": {
            "side_effect": "external",
            "cost": [{"budget": "money", "argument": "/amount"}],
        },
        "post": {"side_effect": "external"},
        "sync": {"side_effect": "write", "idempotent": True},
        "read": {"side_effect": "read"},
        "ping": {"side_effect": "read", "rate": {"calls": 3, "seconds": 10}},
        "ask": {"side_effect": "external", "approval": {"expires": 60}},
        "both": {"side_effect": "external", "approval": {"by": ["anna", "boss"], "count": 2}},
        "wipe": {"side_effect": "destructive"},
    },
    "budgets": {"mail": {"limit": 2}, "money": {"limit": 10, "per": "policy"}},
    "rules": [
        {"id": "free", "effect": "allow", "tools": ["post", "sync", "read", "ping", "pay", "send"]},
        {"id": "person", "effect": "ask", "tools": ["ask", "both"]},
        {"id": "never", "effect": "deny", "tools": ["wipe"], "alternatives": ["Ask the user."]},
    ],
}
TASK = Context(task_id="T-1", request="Do it.", scope={"agent": "writer"})


class Time:
    """A clock to set."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Tool:
    """A tool that keeps what it was called with."""

    def __init__(self, result: Any = "done", error: BaseException | None = None) -> None:
        self.calls: list[dict[str, Any]] = []
        self.result = result
        self.error = error

    def __call__(self, **arguments: Any) -> Any:
        self.calls.append(arguments)
        if self.error is not None:
            raise self.error
        return self.result


def gate(store: Any = None, **changes: Any) -> Gate:
    """A gate with the policy above, changed at its top level."""
    return Gate({**POLICY, **changes}, store)


def call(name: str, call_id: str = "c1", /, **arguments: Any) -> ToolCall:
    return ToolCall(name, arguments, call_id)


def question(gate: Gate, call: ToolCall, context: Context = TASK, **options: Any) -> Approval:
    """Run a call that needs a person, and give the question."""
    try:
        gate.execute(call, context, Tool(), **options)
    except ApprovalRequired as refusal:
        return refusal.approval
    raise AssertionError("it ran without a person")


def grant(gate: Gate, approval: Approval, by: str = "anna") -> Approval:
    return Approvals(gate.store).grant(approval.id, by=by)
