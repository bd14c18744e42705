"""Instructions: versions, life, bindings, shares, test cases and what was active."""

import sqlalchemy as sa
from alembic import op

from steguard.store.fixed import append_only, fixed_columns

revision = "0002"
down_revision = "0001"

_NAME = sa.String(255)
_SERIAL = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "instruction_definitions",
        sa.Column("instruction_id", _NAME, nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("instruction_id"),
    )
    op.create_table(
        "instruction_versions",
        sa.Column("instruction_id", _NAME, nullable=False),
        sa.Column("number", _NAME, nullable=False),
        sa.Column("version", _NAME, nullable=False),
        sa.Column("hash", _NAME, nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("status", _NAME, nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["instruction_id"],
            ["instruction_definitions.instruction_id"],
        ),
        sa.PrimaryKeyConstraint("instruction_id", "number"),
    )
    op.create_table(
        "instruction_events",
        sa.Column("seq", _SERIAL, autoincrement=True, nullable=False),
        sa.Column("instruction_id", _NAME, nullable=False),
        sa.Column("version", _NAME, nullable=False),
        sa.Column("before", _NAME, nullable=True),
        sa.Column("after", _NAME, nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["instruction_id"],
            ["instruction_definitions.instruction_id"],
        ),
        sa.PrimaryKeyConstraint("seq"),
    )
    op.create_index("instruction_events_of", "instruction_events", ["instruction_id", "seq"])
    op.create_table(
        "instruction_bindings",
        sa.Column("seq", _SERIAL, autoincrement=True, nullable=False),
        sa.Column("instruction_id", _NAME, nullable=False),
        sa.Column("version", _NAME, nullable=True),
        sa.Column("scope", sa.JSON(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.ForeignKeyConstraint(
            ["instruction_id"],
            ["instruction_definitions.instruction_id"],
        ),
        sa.PrimaryKeyConstraint("seq"),
        sa.UniqueConstraint("digest"),
    )
    op.create_table(
        "instruction_rollouts",
        sa.Column("instruction_id", _NAME, nullable=False),
        sa.Column("version", _NAME, nullable=False),
        sa.Column("share", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["instruction_id"],
            ["instruction_definitions.instruction_id"],
        ),
        sa.PrimaryKeyConstraint("instruction_id"),
    )
    op.create_table(
        "instruction_test_cases",
        sa.Column("seq", _SERIAL, autoincrement=True, nullable=False),
        sa.Column("case_id", _NAME, nullable=False),
        sa.Column("instruction_id", _NAME, nullable=False),
        sa.Column("given", sa.JSON(), nullable=False),
        sa.Column("expected", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["instruction_id"],
            ["instruction_definitions.instruction_id"],
        ),
        sa.PrimaryKeyConstraint("seq"),
        sa.UniqueConstraint("case_id"),
    )
    op.create_table(
        "instruction_test_results",
        sa.Column("seq", _SERIAL, autoincrement=True, nullable=False),
        sa.Column("case_id", _NAME, nullable=False),
        sa.Column("result", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["case_id"],
            ["instruction_test_cases.case_id"],
        ),
        sa.PrimaryKeyConstraint("seq"),
    )
    op.create_index("instruction_test_results_of", "instruction_test_results", ["case_id", "seq"])
    op.create_table(
        "activation_log",
        sa.Column("seq", _SERIAL, autoincrement=True, nullable=False),
        sa.Column("task_id", _NAME, nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("rules", sa.JSON(), nullable=False),
        sa.Column("manifest_digest", _NAME, nullable=False),
        sa.Column("manifest", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("seq"),
    )
    op.create_index("activation_log_task", "activation_log", ["task_id", "seq"])
    append_only("instruction_events")
    append_only("activation_log")
    fixed_columns(
        "instruction_versions",
        ("instruction_id", "number", "version", "hash", "content", "author", "at"),
    )
