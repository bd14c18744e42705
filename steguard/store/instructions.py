"""Instructions in a database.

The content of a version never changes; the database itself refuses it. What is read is compared
with its hash.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection, Row

from steguard.gate.state import Clock, canonical_json, label, plain_text
from steguard.instructions.records import Instruction, Scope, digest, version_key
from steguard.instructions.registry import (
    Activation,
    Binding,
    CaseRecord,
    Event,
    ImmutableVersion,
    InstructionError,
    Rollout,
    UnknownInstruction,
    require_same,
    unknown,
)
from steguard.store.database import Database
from steguard.store.tables import (
    activation_log,
    instruction_bindings,
    instruction_definitions,
    instruction_events,
    instruction_rollouts,
    instruction_test_cases,
    instruction_test_results,
    instruction_versions,
)

T = TypeVar("T")


class SqlInstructionStore:
    """An :class:`~steguard.instructions.registry.InstructionStore` in SQLite or PostgreSQL."""

    def __init__(self, database: Database, *, clock: Clock = time.time) -> None:
        self.database = database
        self._clock = clock

    def close(self) -> None:
        """Close all connections."""
        self.database.close()

    def add(self, rule: Instruction, *, actor: str, at: float | None = None) -> Instruction:
        when = self._clock() if at is None else at

        def work(connection: Connection) -> Instruction:
            _add(
                connection,
                instruction_definitions,
                {"instruction_id": rule.instruction_id, "at": when, "actor": plain_text(actor)},
            )
            if not _add(connection, instruction_versions, _row_of(rule, when)):
                known = _one(connection, rule.instruction_id, rule.version)
                require_same(known, rule)
                return known
            event = Event(
                instruction_id=rule.instruction_id,
                version=rule.version,
                before=None,
                after=rule.status,
                actor=actor,
                at=when,
            )
            connection.execute(sa.insert(instruction_events).values(_event_row(event)))
            return rule

        return self.database.transact(work)

    def get(self, instruction_id: str, version: str) -> Instruction:
        return self._read(lambda connection: _one(connection, instruction_id, version))

    def rules(self) -> tuple[Instruction, ...]:
        return self._read(_all)

    def versions(self, instruction_id: str) -> tuple[Instruction, ...]:
        return self._read(lambda connection: _versions(connection, instruction_id))

    def move(self, event: Event) -> Instruction:
        def work(connection: Connection) -> Instruction:
            rule = _one(connection, event.instruction_id, event.version)
            table = instruction_versions
            changed = connection.execute(
                sa.update(table)
                .where(
                    table.c.instruction_id == event.instruction_id,
                    table.c.number == _number(event.version),
                    table.c.status == (event.before.value if event.before else None),
                )
                .values(status=event.after.value)
            )
            if changed.rowcount != 1:
                raise InstructionError(
                    f"{rule.ref} is {rule.status.value} now, not "
                    f"{event.before.value if event.before else 'new'}; read it again"
                )
            connection.execute(sa.insert(instruction_events).values(_event_row(event)))
            return rule.with_status(event.after)

        return self.database.transact(work)

    def history(self, instruction_id: str | None = None) -> tuple[Event, ...]:
        table = instruction_events
        query = sa.select(table).order_by(table.c.seq)
        if instruction_id is not None:
            query = query.where(table.c.instruction_id == instruction_id)
        return self._rows(query, lambda row: Event(**_without(row, "seq")))

    def bind(self, binding: Binding) -> None:
        content = binding.model_dump(mode="json")
        row = {**content, "digest": hashlib.sha256(canonical_json(content).encode()).hexdigest()}

        def work(connection: Connection) -> None:
            _versions(connection, binding.instruction_id)
            if binding.version is not None:
                _one(connection, binding.instruction_id, binding.version)
            _add(connection, instruction_bindings, row)

        self.database.transact(work)

    def bindings(self) -> tuple[Binding, ...]:
        table = instruction_bindings
        query = sa.select(table).order_by(table.c.seq)
        return self._rows(
            query,
            lambda row: Binding(
                instruction_id=row.instruction_id, version=row.version, scope=Scope(**row.scope)
            ),
        )

    def set_rollout(self, rollout: Rollout) -> None:
        def work(connection: Connection) -> None:
            _one(connection, rollout.instruction_id, rollout.version)
            row = rollout.model_dump()
            if not _add(connection, instruction_rollouts, row):
                table = instruction_rollouts
                name = row.pop("instruction_id")
                connection.execute(
                    sa.update(table).where(table.c.instruction_id == name).values(row)
                )

        self.database.transact(work)

    def rollouts(self) -> tuple[Rollout, ...]:
        query = sa.select(instruction_rollouts)
        found = self._rows(query, lambda row: Rollout(**row._mapping))
        return tuple(sorted(found, key=lambda rollout: rollout.instruction_id))

    def add_case(self, case: CaseRecord) -> None:
        row = case.model_dump(mode="json", exclude={"results"})
        table = instruction_test_cases

        def work(connection: Connection) -> None:
            _versions(connection, case.instruction_id)
            if _add(connection, table, row):
                for result in case.results:
                    _add_result(connection, case.case_id, result)
                return
            known = connection.execute(
                sa.select(table.c.given, table.c.expected).where(table.c.case_id == case.case_id)
            ).one()
            if tuple(known) != (case.given, case.expected):
                raise ImmutableVersion(f"the test case '{case.case_id}' exists with other content")

        self.database.transact(work)

    def cases(self, instruction_id: str | None = None) -> tuple[CaseRecord, ...]:
        table, results = instruction_test_cases, instruction_test_results

        def work(connection: Connection) -> tuple[CaseRecord, ...]:
            query = sa.select(table).order_by(table.c.seq)
            if instruction_id is not None:
                query = query.where(table.c.instruction_id == instruction_id)
            found: dict[str, list[Any]] = {}
            for row in connection.execute(sa.select(results).order_by(results.c.seq)):
                found.setdefault(row.case_id, []).append(row.result)
            return tuple(
                CaseRecord(**_without(row, "seq"), results=tuple(found.get(row.case_id, ())))
                for row in connection.execute(query)
            )

        return self._read(work)

    def record_case(self, case_id: str, result: dict[str, Any]) -> None:
        table = instruction_test_cases

        def work(connection: Connection) -> None:
            known = sa.select(table.c.seq).where(table.c.case_id == case_id)
            if connection.execute(known).first() is None:
                raise UnknownInstruction(f"there is no test case '{case_id}'")
            _add_result(connection, case_id, result)

        self.database.transact(work)

    def log_activation(self, activation: Activation) -> None:
        row = {**activation.model_dump(mode="json"), "task_id": label(activation.task_id)}
        statement = sa.insert(activation_log).values(row)
        self.database.transact(lambda connection: connection.execute(statement))

    def activations(self, task_id: str | None = None) -> tuple[Activation, ...]:
        table = activation_log
        query = sa.select(table).order_by(table.c.seq)
        if task_id is not None:
            query = query.where(table.c.task_id == label(task_id))
        return self._rows(query, lambda row: Activation(**_without(row, "seq")))

    def _read(self, work: Callable[[Connection], T]) -> T:
        return self.database.transact(work, write=False)

    def _rows(self, query: sa.Select[Any], make: Callable[[Row[Any]], T]) -> tuple[T, ...]:
        return self._read(lambda connection: tuple(map(make, connection.execute(query))))


def _add(connection: Connection, table: sa.Table, row: Mapping[str, Any]) -> bool:
    """Insert a row; False where its key is taken."""
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    statement = insert(table).values(row).on_conflict_do_nothing()
    return connection.execute(statement.returning(sa.literal(1))).first() is not None


def _add_result(connection: Connection, case_id: str, result: Mapping[str, Any]) -> None:
    statement = sa.insert(instruction_test_results)
    connection.execute(statement.values(case_id=case_id, result=dict(result)))


def _number(version: str) -> str:
    """The same for 1 and 1.0.0."""
    return ".".join(map(str, version_key(version)))


def _row_of(rule: Instruction, at: float) -> dict[str, Any]:
    return {
        "instruction_id": rule.instruction_id,
        "number": _number(rule.version),
        "version": rule.version,
        "hash": rule.hash,
        "content": rule.content(),
        "author": plain_text(rule.author),
        "at": at,
        "status": rule.status.value,
        "enabled": rule.enabled,
    }


def _rule(row: Row[Any]) -> Instruction:
    if digest(row.content) != row.hash:
        raise InstructionError(
            f"the content of {row.instruction_id}@{row.version} was changed in the database; "
            "restore it from a backup"
        )
    return Instruction.model_validate(
        {**row.content, "author": row.author, "status": row.status, "enabled": row.enabled}
    )


def _sorted(rows: Iterable[Row[Any]]) -> tuple[Instruction, ...]:
    rules = map(_rule, rows)
    return tuple(sorted(rules, key=lambda r: (r.instruction_id, version_key(r.version))))


def _all(connection: Connection) -> tuple[Instruction, ...]:
    return _sorted(connection.execute(sa.select(instruction_versions)))


def _versions(connection: Connection, instruction_id: str) -> tuple[Instruction, ...]:
    table = instruction_versions
    found = connection.execute(sa.select(table).where(table.c.instruction_id == instruction_id))
    rules = _sorted(found)
    if not rules:
        raise unknown(instruction_id, None, _all(connection))
    return rules


def _one(connection: Connection, instruction_id: str, version: str) -> Instruction:
    table = instruction_versions
    row = connection.execute(
        sa.select(table).where(
            table.c.instruction_id == instruction_id, table.c.number == _number(version)
        )
    ).first()
    if row is None:
        raise unknown(instruction_id, version, _all(connection))
    return _rule(row)


def _event_row(event: Event) -> dict[str, Any]:
    row = event.model_dump(mode="json")
    return {**row, "actor": plain_text(event.actor), "reason": plain_text(event.reason)}


def _without(row: Row[Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in row._mapping.items() if key != name}
