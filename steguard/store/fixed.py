"""What the database itself refuses: a change of what must never change.

Migrations use these functions, so what they do for a name stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from alembic import op


def append_only(table: str) -> None:
    """Rows of this table are neither changed nor deleted."""
    _refuse(table, "UPDATE", f"{table} is append only", "changed")
    _refuse(table, "DELETE", f"{table} is append only", "deleted")


def fixed_columns(table: str, columns: Sequence[str]) -> None:
    """These columns never change, and no row goes away."""
    names = ", ".join(columns)
    _refuse(table, f"UPDATE OF {names}", f"the content of {table} never changes", "changed")
    _refuse(table, "DELETE", f"{table} keeps all of its rows", "deleted")


def _refuse(table: str, what: str, message: str, suffix: str) -> None:
    name = f"{table}_never_{suffix}"
    if op.get_bind().dialect.name != "postgresql":
        op.execute(
            f"CREATE TRIGGER {name} BEFORE {what} ON {table} "
            f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
        )
        return
    op.execute(
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{message}'; END $$"
    )
    op.execute(
        f"CREATE TRIGGER {name} BEFORE {what} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()"
    )
