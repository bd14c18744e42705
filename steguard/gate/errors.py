"""Why a tool did not run, or its result cannot be had.

::

    StateError
    ├── ApprovalError         an approval cannot be granted or denied
    ├── Refused               the tool did not run; ``decision`` says why and what to do instead
    │   ├── ApprovalRequired  a person must say yes first (``approval``)
    │   ├── KeyConflict       the key belongs to other arguments
    │   ├── InProgress        another process runs this call now
    │   └── OutcomeUnknown    the call may have run; a person must look
    ├── ExecutionFailed       the tool ran under this key before and failed
    ├── ResultUnreadable      the tool ran under this key before; its result was no JSON data
    └── ResultNotRecorded     the tool ran, but the store did not take the result (``result``)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steguard.gate.state import Approval, Execution, StateError

if TYPE_CHECKING:
    from steguard.gate.model import Decision


class ApprovalError(StateError):
    """An approval cannot be granted or denied: unknown, decided, expired, not this person's."""


class Refused(StateError):
    """The tool did not run. ``decision`` holds the reason and the alternatives."""

    def __init__(self, decision: Decision) -> None:
        super().__init__(f"'{decision.tool}' did not run. {decision.reason}")
        self.decision = decision


class ApprovalRequired(Refused):
    """A person must say yes. Call again with the same key after that."""

    def __init__(self, decision: Decision, approval: Approval) -> None:
        super().__init__(decision)
        self.approval = approval


class KeyConflict(Refused):
    """The same key was used with another tool, other arguments or another task."""


class InProgress(Refused):
    """Another thread, process or machine runs this call now."""


class OutcomeUnknown(Refused):
    """An earlier run ended without a record, so the effect may be there. A person must look."""

    def __init__(self, decision: Decision, execution: Execution) -> None:
        super().__init__(decision)
        self.execution = execution


class ExecutionFailed(StateError):
    """The tool ran under this key before and raised; it does not run again."""

    def __init__(self, execution: Execution) -> None:
        super().__init__(
            f"'{execution.tool}' ran before under the key '{execution.key}' and failed: "
            f"{execution.error}. Look at its effect, then use a new key."
        )
        self.execution = execution


class ResultUnreadable(StateError):
    """The tool ran under this key before, but only the ``repr`` of its result was kept."""

    def __init__(self, execution: Execution) -> None:
        super().__init__(
            f"'{execution.tool}' ran before under the key '{execution.key}', but its result was "
            f"no JSON data: {str(execution.result)[:200]}. Let the tool return JSON data."
        )
        self.execution = execution


class ResultNotRecorded(StateError):
    """The tool ran, but the store did not take the result. ``result`` is what it gave."""

    def __init__(self, execution: Execution, result: Any) -> None:
        super().__init__(
            f"'{execution.tool}' ran under the key '{execution.key}', but the store did not take "
            "its result. Reconcile it: steguard gate ledger reconcile"
        )
        self.execution = execution
        self.result = result


class NoEffect(Exception):
    """A tool raises this to say that it failed before any effect, so it may run again."""
