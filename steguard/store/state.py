"""The gate's memory in a database."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection

from steguard.gate.state import (
    AuditRecord,
    Clock,
    R,
    Record,
    StateError,
    Transaction,
    audit_draft,
    chained,
    check_fields,
)
from steguard.store.database import Database
from steguard.store.migrate import lock_number
from steguard.store.tables import RECORDS

T = TypeVar("T")
_AUDIT = "audit"


class SqlStore:
    """A :class:`~steguard.gate.state.StateStore` in SQLite or PostgreSQL.

    Without a ``clock``, PostgreSQL's own clock counts: machines differ, their database does not.
    """

    def __init__(self, database: Database, *, clock: Clock | None = None) -> None:
        self.database = database
        self._clock = clock

    def transact(self, work: Callable[[Transaction], T]) -> T:
        def whole(connection: Connection) -> T:
            transaction = self._open(connection, write=True)
            result = work(transaction)
            transaction.write_audit()
            return result

        return self.database.transact(whole)

    def read(self, work: Callable[[Transaction], T]) -> T:
        def whole(connection: Connection) -> T:
            return work(self._open(connection, write=False))

        return self.database.transact(whole, write=False)

    def close(self) -> None:
        """Close all connections."""
        self.database.close()

    def _open(self, connection: Connection, *, write: bool) -> _SqlTransaction:
        return _SqlTransaction(connection, self._now(connection), write=write)

    def _now(self, connection: Connection) -> float:
        if self._clock is not None or not self.database.postgresql:
            clock = self._clock or time.time
            return max(clock(), connection.execute(_LAST_TIME).scalar() or 0.0)
        now, last = connection.execute(_TIMES).one()
        return max(float(now), last or 0.0)


class _SqlTransaction:
    def __init__(self, connection: Connection, now: float, *, write: bool) -> None:
        self._connection = connection
        self._now = now
        self._write = write
        self._drafts: list[dict[str, Any]] = []

    @property
    def now(self) -> float:
        return self._now

    def lock(self, *names: str) -> None:
        # SQLite has one writer at a time anyway.
        if not self._write or self._connection.dialect.name != "postgresql":
            return
        for name in names:
            self._connection.execute(_LOCK, {"number": lock_number(name)})

    def get(self, kind: type[R], key: str | int) -> R | None:
        row = self._connection.execute(_select(RECORDS[kind]), {"wanted": key}).first()
        return None if row is None else kind(**row._mapping)

    def add(self, record: Record) -> bool:
        statement = _insert(RECORDS[type(record)], self._connection.dialect.name)
        return self._connection.execute(statement, _values(record)).first() is not None

    def put(self, record: Record) -> None:
        values = _values(record)
        values["wanted"] = values.pop(record.ID)
        if self._connection.execute(_update(RECORDS[type(record)]), values).rowcount != 1:
            key = values["wanted"]
            raise StateError(f"There is no {type(record).__name__} {key!r} to write over.")

    def find(
        self,
        kind: type[R],
        equal: Mapping[str, Any] | None = None,
        *,
        since: float | None = None,
        limit: int | None = None,
        newest: bool = False,
    ) -> list[R]:
        table = RECORDS[kind]
        query = sa.select(table).limit(limit)
        for name, value in check_fields(kind, equal or {}).items():
            query = query.where(table.c[name] == value)
        if since is not None:
            query = query.where(table.c.at > since)
        order = [table.c.at, table.c[kind.ID]]
        query = query.order_by(*(column.desc() for column in order) if newest else order)
        return [kind(**row._mapping) for row in self._connection.execute(query)]

    def audit(
        self,
        event: str,
        *,
        task: str = "",
        agent: str = "",
        tool: str = "",
        key: str = "",
        digest: str = "",
        **detail: Any,
    ) -> None:
        self._drafts.append(audit_draft(event, task, agent, tool, key, digest, detail))

    def write_audit(self) -> None:
        """Bind the new records to the chain. Comes last, so that its lock is held shortly."""
        if not self._drafts:
            return
        self.lock(_AUDIT)
        table = RECORDS[AuditRecord]
        row = self._connection.execute(_LAST).first()
        last = None if row is None else AuditRecord(**row._mapping)
        lines = chained(self._drafts, last, self._now)
        self._connection.execute(sa.insert(table), [_values(line) for line in lines])


def _values(record: Record) -> dict[str, Any]:
    return {each.name: getattr(record, each.name) for each in fields(record)}


# Statements are built once: to build one costs more than to run it.


@cache
def _select(table: sa.Table) -> sa.Select[Any]:
    return sa.select(table).where(_key(table) == sa.bindparam("wanted"))


@cache
def _insert(table: sa.Table, dialect: str) -> Any:
    insert = sqlite.insert if dialect == "sqlite" else postgresql.insert
    return insert(table).on_conflict_do_nothing().returning(_key(table))


@cache
def _update(table: sa.Table) -> sa.Update:
    key = _key(table)
    names = [column.name for column in table.c if column is not key]
    values: dict[str, Any] = {name: sa.bindparam(name) for name in names}
    return sa.update(table).where(key == sa.bindparam("wanted")).values(values)


def _key(table: sa.Table) -> sa.Column[Any]:
    column: sa.Column[Any] = table.primary_key.columns[0]
    return column


_LOCK = sa.select(sa.func.pg_advisory_xact_lock(sa.bindparam("number", type_=sa.BigInteger)))
_LAST = sa.select(RECORDS[AuditRecord]).order_by(RECORDS[AuditRecord].c.seq.desc()).limit(1)
_LAST_TIME = _LAST.with_only_columns(RECORDS[AuditRecord].c.at)
_TIMES = sa.select(
    sa.cast(sa.extract("epoch", sa.func.clock_timestamp()), sa.Double),
    _LAST_TIME.scalar_subquery(),
)
