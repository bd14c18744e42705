"""Brings the tables up to date: numbered migrations, one process at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import exc
from sqlalchemy.engine import Connection, Engine

from steguard.gate.state import StoreVersionError

FOLDER = Path(__file__).parent / "migrations"
VERSION_TABLE = "steguard_version"
TARGET = "head"
WRITES = "steguard_writes"
"""The option of a connection that says whether its transactions write."""


def known() -> list[str]:
    """The numbers of all migrations, the oldest first."""
    return sorted(path.name[:4] for path in (FOLDER / "versions").glob("[0-9]*_*.py"))


def head() -> str:
    """The number of the newest migration."""
    return known()[-1]


def prepare(engine: Engine, name: str, *, upgrade: bool) -> None:
    """Make sure that the tables are those of this version. Raises StoreVersionError."""
    current = version(engine, name)
    if current == head():
        return
    if not upgrade:
        state = f"of version {current}" if current else "not there"
        raise StoreVersionError(
            f"The tables of {name} are {state}; this steguard needs version {head()}. "
            "Run: steguard gate store upgrade"
        )
    with _alone(engine) as connection:
        # Another process may have been first while this one waited.
        if _current(connection, name) != head():
            _migrate(connection)


def version(engine: Engine, name: str) -> str | None:
    """The number of the last migration that the database has."""
    with engine.connect().execution_options(**{WRITES: False}) as connection:
        return _current(connection, name)


def lock_number(name: str) -> int:
    """The number of a named lock, as PostgreSQL wants it."""
    digest = hashlib.sha256(f"steguard:{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def _current(connection: Connection, name: str) -> str | None:
    if not sa.inspect(connection).has_table(VERSION_TABLE):
        return None
    rows = connection.execute(sa.text(f"SELECT version_num FROM {VERSION_TABLE}")).all()
    current = str(rows[0][0]) if rows else None
    if current is not None and current not in known():
        raise StoreVersionError(
            f"The tables of {name} are of version {current}; this steguard knows versions up to "
            f"{head()}. Install a newer steguard: pip install -U 'steguard[store]'"
        )
    return current


@contextmanager
def _alone(engine: Engine) -> Iterator[Connection]:
    """A transaction that no other migration runs beside.

    In SQLite the write lock of the transaction does it. PostgreSQL has a lock of the session.
    """
    with engine.connect() as connection:
        if engine.dialect.name != "postgresql":
            with connection.begin():
                yield connection
            return
        number = lock_number("migrate")
        connection.execute(sa.text("SET LOCAL lock_timeout = 0"))
        connection.execute(sa.select(sa.func.pg_advisory_lock(number)))
        connection.commit()
        try:
            with connection.begin():
                yield connection
        finally:
            _unlock(connection, number)


def _unlock(connection: Connection, number: int) -> None:
    try:
        connection.execute(sa.select(sa.func.pg_advisory_unlock(number)))
        connection.commit()
    except exc.DBAPIError:
        # The session is gone, and its locks with it.
        connection.invalidate()


def _migrate(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, TARGET)
