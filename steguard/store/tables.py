"""The tables. A change here needs a new file in ``migrations/versions``; no old one is edited."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from steguard.gate.state import (
    Approval,
    ApprovalState,
    AuditRecord,
    BudgetAccount,
    Execution,
    ExecutionState,
    ObservationRecord,
    OutboxEntry,
    Record,
    Reservation,
    ReservationState,
)

metadata = sa.MetaData()

Name = sa.String(255)
Time = sa.Double


class Words(sa.types.TypeDecorator[tuple[str, ...]]):
    """A tuple of texts as a JSON list."""

    impl = sa.JSON
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Any) -> Any:  # noqa: ARG002
        return list(value)

    def process_result_value(self, value: Any, dialect: Any) -> Any:  # noqa: ARG002
        return tuple(value)


class Groups(sa.types.TypeDecorator[tuple[tuple[str, ...], ...]]):
    """A tuple of tuples of texts as a JSON list of lists."""

    impl = sa.JSON
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Any) -> Any:  # noqa: ARG002
        return [list(each) for each in value]

    def process_result_value(self, value: Any, dialect: Any) -> Any:  # noqa: ARG002
        return tuple(tuple(each) for each in value)


class Choice(sa.types.TypeDecorator[StrEnum]):
    """A member of an enumeration as its text."""

    impl = sa.String(20)
    cache_ok = True

    def __init__(self, members: type[StrEnum]) -> None:
        super().__init__()
        self.members = members

    def process_bind_param(self, value: Any, dialect: Any) -> Any:  # noqa: ARG002
        return str(value)

    def process_result_value(self, value: Any, dialect: Any) -> Any:  # noqa: ARG002
        return self.members(value)


def _column(name: str, kind: Any, *parts: Any, **options: Any) -> sa.Column[Any]:
    return sa.Column(name, kind, *parts, nullable=options.pop("nullable", False), **options)


approvals = sa.Table(
    "approvals",
    metadata,
    _column("id", Name, primary_key=True),
    _column("digest", Name),
    _column("key", Name),
    _column("tool", Name),
    _column("task", Name),
    _column("agent", Name),
    _column("arguments", sa.JSON),
    _column("at", Time),
    _column("expires_at", Time),
    _column("lifetime", Time),
    _column("reason", sa.Text),
    _column("approvers", Groups),
    _column("needed", sa.Integer),
    _column("granted_by", Words),
    _column("state", Choice(ApprovalState)),
    _column("decided_by", sa.Text, nullable=True),
    _column("decided_at", Time, nullable=True),
    _column("note", sa.Text),
    sa.Index("approvals_what", "digest", "key"),
    sa.Index("approvals_state", "state", "at"),
)

tool_executions = sa.Table(
    "tool_executions",
    metadata,
    _column("key", Name, primary_key=True),
    _column("digest", Name),
    _column("tool", Name),
    _column("task", Name),
    _column("agent", Name),
    _column("arguments", sa.JSON),
    _column("at", Time),
    _column("owner", sa.Text),
    _column("lease_until", Time),
    _column("state", Choice(ExecutionState)),
    _column("attempts", sa.Integer),
    _column("approval", Name, sa.ForeignKey("approvals.id"), nullable=True),
    _column("finished_at", Time, nullable=True),
    _column("result", sa.JSON, nullable=True),
    _column("encoded", sa.Boolean),
    _column("error", sa.Text, nullable=True),
    sa.Index("tool_executions_task", "task", "at"),
    sa.Index("tool_executions_state", "state", "at"),
)

observations = sa.Table(
    "observations",
    metadata,
    _column("id", Name, primary_key=True),
    _column("execution", Name, sa.ForeignKey("tool_executions.key")),
    _column("tool", Name),
    _column("task", Name),
    _column("call_id", Name),
    _column("arguments", sa.JSON),
    _column("data", sa.JSON),
    _column("source", Name),
    _column("at", Time),
    _column("fields", sa.JSON),
    sa.Index("observations_task", "task", "at"),
)

outbox = sa.Table(
    "outbox",
    metadata,
    _column("id", Name, primary_key=True),
    _column("execution", Name, sa.ForeignKey("tool_executions.key")),
    _column("topic", Name),
    _column("task", Name),
    _column("payload", sa.JSON),
    _column("at", Time),
    _column("delivered_at", Time, nullable=True),
    sa.Index("outbox_waiting", "delivered_at", "at"),
)

budgets = sa.Table(
    "budgets",
    metadata,
    _column("name", Name, primary_key=True),
    _column("used", sa.Double),
    _column("at", Time),
)

reservations = sa.Table(
    "reservations",
    metadata,
    _column("id", sa.Text, primary_key=True),
    _column("budget", Name),
    _column("execution", Name),
    _column("amount", sa.Double),
    _column("at", Time),
    _column("state", Choice(ReservationState)),
    sa.Index("reservations_window", "budget", "at"),
    sa.Index("reservations_execution", "execution"),
)

audit = sa.Table(
    "audit",
    metadata,
    _column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    _column("at", Time),
    _column("event", Name),
    _column("task", Name),
    _column("agent", Name),
    _column("tool", Name),
    _column("key", Name),
    _column("digest", Name),
    _column("detail", sa.JSON),
    _column("previous", sa.String(64)),
    _column("hash", sa.String(64)),
    sa.Index("audit_task", "task", "seq"),
    sa.Index("audit_key", "key", "seq"),
)

instruction_definitions = sa.Table(
    "instruction_definitions",
    metadata,
    _column("instruction_id", Name, primary_key=True),
    _column("at", Time),
    _column("actor", sa.Text),
)

instruction_versions = sa.Table(
    "instruction_versions",
    metadata,
    _column("instruction_id", Name, sa.ForeignKey("instruction_definitions.instruction_id")),
    _column("number", Name),
    _column("version", Name),
    _column("hash", Name),
    _column("content", sa.JSON),
    _column("author", sa.Text),
    _column("at", Time),
    _column("status", Name),
    _column("enabled", sa.Boolean),
    sa.PrimaryKeyConstraint("instruction_id", "number"),
)

_serial = sa.BigInteger().with_variant(sa.Integer, "sqlite")

instruction_events = sa.Table(
    "instruction_events",
    metadata,
    _column("seq", _serial, primary_key=True, autoincrement=True),
    _column("instruction_id", Name, sa.ForeignKey("instruction_definitions.instruction_id")),
    _column("version", Name),
    _column("before", Name, nullable=True),
    _column("after", Name),
    _column("actor", sa.Text),
    _column("at", Time),
    _column("reason", sa.Text),
    sa.Index("instruction_events_of", "instruction_id", "seq"),
)

instruction_bindings = sa.Table(
    "instruction_bindings",
    metadata,
    _column("seq", _serial, primary_key=True, autoincrement=True),
    _column("instruction_id", Name, sa.ForeignKey("instruction_definitions.instruction_id")),
    _column("version", Name, nullable=True),
    _column("scope", sa.JSON),
    _column("digest", sa.String(64), unique=True),
)

instruction_rollouts = sa.Table(
    "instruction_rollouts",
    metadata,
    _column(
        "instruction_id",
        Name,
        sa.ForeignKey("instruction_definitions.instruction_id"),
        primary_key=True,
    ),
    _column("version", Name),
    _column("share", sa.Double),
)

instruction_test_cases = sa.Table(
    "instruction_test_cases",
    metadata,
    _column("seq", _serial, primary_key=True, autoincrement=True),
    _column("case_id", Name, unique=True),
    _column("instruction_id", Name, sa.ForeignKey("instruction_definitions.instruction_id")),
    _column("given", sa.JSON),
    _column("expected", sa.JSON),
)

instruction_test_results = sa.Table(
    "instruction_test_results",
    metadata,
    _column("seq", _serial, primary_key=True, autoincrement=True),
    _column("case_id", Name, sa.ForeignKey("instruction_test_cases.case_id")),
    _column("result", sa.JSON),
    sa.Index("instruction_test_results_of", "case_id", "seq"),
)

activation_log = sa.Table(
    "activation_log",
    metadata,
    _column("seq", _serial, primary_key=True, autoincrement=True),
    _column("task_id", Name),
    _column("at", Time),
    _column("rules", Words),
    _column("manifest_digest", Name),
    _column("manifest", sa.JSON),
    sa.Index("activation_log_task", "task_id", "seq"),
)

RECORDS: dict[type[Record], sa.Table] = {
    Approval: approvals,
    Execution: tool_executions,
    ObservationRecord: observations,
    OutboxEntry: outbox,
    BudgetAccount: budgets,
    Reservation: reservations,
    AuditRecord: audit,
}
"""The table of each kind of record; its columns are the record's fields."""
