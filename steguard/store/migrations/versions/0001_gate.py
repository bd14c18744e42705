"""Approvals, executions, observations, outbox, budgets and the audit log."""

import sqlalchemy as sa
from alembic import op

from steguard.store.fixed import append_only

revision = "0001"
down_revision = None

_NAME = sa.String(255)


def upgrade() -> None:
    op.create_table(
        "approvals",
        sa.Column("id", _NAME, nullable=False),
        sa.Column("digest", _NAME, nullable=False),
        sa.Column("key", _NAME, nullable=False),
        sa.Column("tool", _NAME, nullable=False),
        sa.Column("task", _NAME, nullable=False),
        sa.Column("agent", _NAME, nullable=False),
        sa.Column("arguments", sa.JSON(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=False),
        sa.Column("lifetime", sa.Double(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("approvers", sa.JSON(), nullable=False),
        sa.Column("needed", sa.Integer(), nullable=False),
        sa.Column("granted_by", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("decided_by", sa.Text(), nullable=True),
        sa.Column("decided_at", sa.Double(), nullable=True),
        sa.Column("note", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("approvals_state", "approvals", ["state", "at"])
    op.create_index("approvals_what", "approvals", ["digest", "key"])
    op.create_table(
        "tool_executions",
        sa.Column("key", _NAME, nullable=False),
        sa.Column("digest", _NAME, nullable=False),
        sa.Column("tool", _NAME, nullable=False),
        sa.Column("task", _NAME, nullable=False),
        sa.Column("agent", _NAME, nullable=False),
        sa.Column("arguments", sa.JSON(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("lease_until", sa.Double(), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("approval", _NAME, nullable=True),
        sa.Column("finished_at", sa.Double(), nullable=True),
        sa.Column("result", sa.JSON(), nullable=True),
        sa.Column("encoded", sa.Boolean(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["approval"],
            ["approvals.id"],
        ),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_index("tool_executions_state", "tool_executions", ["state", "at"])
    op.create_index("tool_executions_task", "tool_executions", ["task", "at"])
    op.create_table(
        "observations",
        sa.Column("id", _NAME, nullable=False),
        sa.Column("execution", _NAME, nullable=False),
        sa.Column("tool", _NAME, nullable=False),
        sa.Column("task", _NAME, nullable=False),
        sa.Column("call_id", _NAME, nullable=False),
        sa.Column("arguments", sa.JSON(), nullable=False),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.Column("source", _NAME, nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("fields", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["execution"],
            ["tool_executions.key"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("observations_task", "observations", ["task", "at"])
    op.create_table(
        "outbox",
        sa.Column("id", _NAME, nullable=False),
        sa.Column("execution", _NAME, nullable=False),
        sa.Column("topic", _NAME, nullable=False),
        sa.Column("task", _NAME, nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("delivered_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["execution"],
            ["tool_executions.key"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("outbox_waiting", "outbox", ["delivered_at", "at"])
    op.create_table(
        "budgets",
        sa.Column("name", _NAME, nullable=False),
        sa.Column("used", sa.Double(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "reservations",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("budget", _NAME, nullable=False),
        sa.Column("execution", _NAME, nullable=False),
        sa.Column("amount", sa.Double(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("reservations_execution", "reservations", ["execution"])
    op.create_index("reservations_window", "reservations", ["budget", "at"])
    op.create_table(
        "audit",
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("event", _NAME, nullable=False),
        sa.Column("task", _NAME, nullable=False),
        sa.Column("agent", _NAME, nullable=False),
        sa.Column("tool", _NAME, nullable=False),
        sa.Column("key", _NAME, nullable=False),
        sa.Column("digest", _NAME, nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.Column("previous", sa.String(64), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("seq"),
    )
    op.create_index("audit_key", "audit", ["key", "seq"])
    op.create_index("audit_task", "audit", ["task", "seq"])
    append_only("audit")
