"""A database: how it is reached, and how a function runs in one transaction."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy import event, exc
from sqlalchemy.engine import URL, Connection, Engine, make_url

from steguard.errors import MissingExtra
from steguard.gate.state import StoreUnavailable, canonical_json
from steguard.store import migrate

T = TypeVar("T")

_FORMS = "Write sqlite:///FILE or postgresql+psycopg://USER@HOST/DATABASE."
_WAIT = 30.0
_RETRIES = 8
# PostgreSQL: serialization failure, deadlock.
_AGAIN = ("40001", "40P01")


class Database:
    """One SQLite file or PostgreSQL database with the tables of this version."""

    def __init__(self, url: str, *, upgrade: bool = True) -> None:
        self.url = parse_url(url)
        self.name = make_url(url).render_as_string(hide_password=True)
        if not upgrade:
            _require_file(self.url, self.name)
        self._engine = _engine(self.url)
        self._process = os.getpid()
        self._forked = threading.Lock()
        self._of_parent: list[object] = []
        self._guarded(lambda: migrate.prepare(self._engine, self.name, upgrade=upgrade))

    @property
    def postgresql(self) -> bool:
        return self._engine.dialect.name == "postgresql"

    @property
    def version(self) -> str | None:
        """The number of the tables' version."""
        return self._guarded(lambda: migrate.version(self._engine, self.name))

    def transact(self, work: Callable[[Connection], T], *, write: bool = True) -> T:
        """Run the function in one transaction. It may run again after a clash with another."""
        return self._guarded(lambda: self._repeated(work, write))

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def _repeated(self, work: Callable[[Connection], T], write: bool) -> T:
        for attempt in range(_RETRIES):
            try:
                with self._connect(write) as connection, connection.begin():
                    return work(connection)
            except exc.OperationalError as error:
                if getattr(error.orig, "sqlstate", None) not in _AGAIN:
                    raise
            time.sleep(0.005 * 2**attempt)
        raise StoreUnavailable(f"The store {self.name} is too busy. Try again.")

    def _connect(self, write: bool) -> Connection:
        self._leave_connections_of_parent()
        options: dict[str, Any] = {migrate.WRITES: write}
        if self.postgresql and not write:
            options |= {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        return self._engine.connect().execution_options(**options)

    def _leave_connections_of_parent(self) -> None:
        """A connection must not be used, nor closed, by two processes."""
        if self._process != os.getpid():
            with self._forked:
                if self._process != os.getpid():
                    self._of_parent.append(self._engine.pool)
                    self._engine.dispose(close=False)
                    self._process = os.getpid()

    def _guarded(self, function: Callable[[], T]) -> T:
        try:
            return function()
        except (exc.DBAPIError, exc.TimeoutError) as error:
            reason = " ".join(str(getattr(error, "orig", None) or error).split())
            raise StoreUnavailable(
                f"The store {self.name} cannot be used: {reason or 'no answer'}"
            ) from error


def parse_url(text: str) -> URL:
    """The URL of a database that can be used. Raises StoreUnavailable, MissingExtra."""
    try:
        url = make_url(text)
    except exc.ArgumentError:
        raise StoreUnavailable(f"'{text}' is no database URL. {_FORMS}") from None
    dialect = url.get_backend_name()
    if dialect == "sqlite":
        return _sqlite(url)
    if dialect in ("postgresql", "postgres"):
        if find_spec("psycopg") is None:
            raise MissingExtra("psycopg, the driver of PostgreSQL,", "store")
        return url.set(drivername="postgresql+psycopg")
    raise StoreUnavailable(f"steguard has no store in '{dialect}'. {_FORMS}")


def _sqlite(url: URL) -> URL:
    if url.database in (None, "", ":memory:"):
        raise StoreUnavailable(
            "A SQLite database in memory cannot be shared. Use steguard.gate.state.MemoryStore, "
            "or name a file: sqlite:///steguard.db"
        )
    folder = Path(str(url.database)).parent
    if not folder.is_dir():
        raise StoreUnavailable(f"The folder {folder} of {url.database} is not there. Make it.")
    return url.set(drivername="sqlite+pysqlite")


def _require_file(url: URL, name: str) -> None:
    """Opening a SQLite file makes it; who only looks must not."""
    if url.get_backend_name() == "sqlite" and not Path(str(url.database)).is_file():
        raise StoreUnavailable(
            f"There is no store {name}. Name the right one, or make it: steguard gate store upgrade"
        )


def _engine(url: URL) -> Engine:
    options: dict[str, Any] = {"json_serializer": canonical_json}
    if url.get_backend_name() == "sqlite":
        engine = sa.create_engine(url, connect_args={"timeout": _WAIT}, **options)
        event.listen(engine, "connect", _sqlite_connected)
        event.listen(engine, "begin", _sqlite_begun)
        return engine
    arguments = {"connect_timeout": 10}
    if "connect_timeout" in url.query:
        arguments = {}
    # Whatever the server's default is: a transaction must see what was written before its locks.
    options["isolation_level"] = "READ COMMITTED"
    engine = sa.create_engine(url, connect_args=arguments, pool_pre_ping=True, **options)
    event.listen(engine, "connect", _postgresql_connected)
    return engine


def _sqlite_connected(connection: Any, _: Any) -> None:
    # The driver must not start transactions by itself: BEGIN IMMEDIATE is ours.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.execute("PRAGMA synchronous = FULL")
    _write_ahead(cursor)
    cursor.close()


def _postgresql_connected(connection: Any, _: Any) -> None:
    """A process that hangs with a lock must not hang all others: they deny after this time."""
    connection.execute(f"SET lock_timeout = '{_WAIT:.0f}s'")
    connection.commit()


def _write_ahead(cursor: Any) -> None:
    """Turn on the write-ahead log. SQLite does not wait for a lock here, so we do."""
    deadline = time.monotonic() + _WAIT
    while True:
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
        except Exception as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _sqlite_begun(connection: Connection) -> None:
    writes = connection.get_execution_options().get(migrate.WRITES, True)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
