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

import pytest

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
    if kind == "sqlite":
        path = folder / "state.db"
        shutil.copyfile(_sqlite_template(), path)
        yield f"sqlite:///{path}"
        return
    url = _postgresql_template()
    from steguard.store.tables import metadata

    names = ", ".join(table.name for table in metadata.sorted_tables)
    _run(url, f"TRUNCATE {names} RESTART IDENTITY")
    yield url


def run_sql(url: str, statement: str) -> None:
    """One statement, past the store."""
    _run(url, statement)


def _require(kind: str) -> None:
    pytest.importorskip("sqlalchemy", reason="needs the extra 'store'")
    if kind == "postgresql" and not os.environ.get(VARIABLE):
        pytest.skip(f"{VARIABLE} names no PostgreSQL server; see .ci/postgres")


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
