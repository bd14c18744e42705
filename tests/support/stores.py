"""Databases for tests: a SQLite file, and a schema of its own in the PostgreSQL server.

Nothing is started here. The variable STEGUARD_TEST_POSTGRES names a server; ``.ci/postgres start
FOLDER`` starts one and prints what to set.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

VARIABLE = "STEGUARD_TEST_POSTGRES"
BOTH = pytest.mark.parametrize("kind", ["sqlite", "postgresql"])


@contextmanager
def new_database(kind: str, folder: Path) -> Iterator[str]:
    """The URL of an empty database."""
    pytest.importorskip("sqlalchemy", reason="needs the extra 'store'")
    if kind == "sqlite":
        yield f"sqlite:///{folder / 'state.db'}"
        return
    server = os.environ.get(VARIABLE)
    if not server:
        pytest.skip(f"{VARIABLE} names no PostgreSQL server; see .ci/postgres")
    schema = f"test_{secrets.token_hex(6)}"
    _run(server, f"CREATE SCHEMA {schema}")
    try:
        yield f"{server}?options=-csearch_path%3D{schema}"
    finally:
        _run(server, f"DROP SCHEMA {schema} CASCADE")


def _run(server: str, statement: str) -> None:
    import sqlalchemy as sa

    engine = sa.create_engine(server, poolclass=sa.NullPool)
    with engine.begin() as connection:
        connection.execute(sa.text(statement))
