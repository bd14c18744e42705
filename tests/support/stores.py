"""Databases for tests: a SQLite file, and a schema of its own in the PostgreSQL server.

Nothing is started here. The variable STEGUARD_TEST_POSTGRES names a server; ``.ci/postgres start
FOLDER`` starts one and prints what to set.
"""

from __future__ import annotations

import atexit
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from steguard.gate.state import MemoryStore
from tests.support.gates import Time

VARIABLE = "STEGUARD_TEST_POSTGRES"
KINDS = ("sqlite", "postgresql")


@contextmanager
def new_database(kind: str, folder: Path) -> Iterator[str]:
    """The URL of a database without any table."""
    _require(kind)
    if kind == "sqlite":
        yield f"sqlite:///{folder / 'state.db'}"
        return
    url, drop = _new_schema()
    try:
        yield url
    finally:
        drop()


@contextmanager
def made_database(kind: str, folder: Path) -> Iterator[str]:
    """The URL of a database with empty tables; quicker than making them."""
    _require(kind)
    yield _emptied(kind, folder)


@contextmanager
def gate_store(kind: str) -> Iterator[Any]:
    """An empty store of the gate, with a clock to set at ``time`` and, in SQL, its ``url``.

    One store a kind serves all tests, because a new one compiles all of its statements.
    """
    clock = Time()
    if kind == "memory":
        store: Any = MemoryStore(clock=clock)
    else:
        _require(kind)
        store = _shared(kind)
        store.close()
        store.url = _emptied(kind)
        store._clock = clock
    store.time = clock
    yield store


def run_sql(url: str, statement: str) -> None:
    """One statement, past the store."""
    _run(url, statement)


def _require(kind: str) -> None:
    pytest.importorskip("sqlalchemy", reason="needs the extra 'store'")
    if kind == "postgresql" and not os.environ.get(VARIABLE):
        pytest.skip(f"{VARIABLE} names no PostgreSQL server; see .ci/postgres")


def _emptied(kind: str, folder: Path | None = None) -> str:
    if kind == "sqlite":
        path = (folder or _sqlite_template().parent) / "state.db"
        for suffix in ("-wal", "-shm"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
        shutil.copyfile(_sqlite_template(), path)
        return f"sqlite:///{path}"
    from steguard.store.tables import metadata

    url = _postgresql_template()
    names = ", ".join(table.name for table in metadata.sorted_tables)
    _run(url, f"TRUNCATE {names} RESTART IDENTITY")
    return url


@cache
def _shared(kind: str) -> Any:
    from steguard.store import open_store

    return open_store(_emptied(kind))


@cache
def _sqlite_template() -> Path:
    from steguard.store import open_store

    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / "template.db"
    open_store(f"sqlite:///{path}").close()
    return path


@cache
def _postgresql_template() -> str:
    from steguard.store import open_store

    url, drop = _new_schema()
    owner = os.getpid()
    atexit.register(lambda: drop() if os.getpid() == owner else None)
    open_store(url).close()
    return url


def _new_schema() -> tuple[str, Callable[[], None]]:
    server, schema = os.environ[VARIABLE], f"test_{secrets.token_hex(6)}"
    _run(server, f"CREATE SCHEMA {schema}")
    url = f"{server}?options=-csearch_path%3D{schema}"
    return url, lambda: _run(server, f"DROP SCHEMA {schema} CASCADE")


def _run(url: str, statement: str) -> None:
    import sqlalchemy as sa

    engine = sa.create_engine(url, poolclass=sa.NullPool)
    with engine.begin() as connection:
        connection.execute(sa.text(statement))
    engine.dispose()
