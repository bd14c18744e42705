"""A Canon message as a SQLAlchemy Core statement. Every value is a bound parameter.

Tables and columns come from the mapping; no text of the message ever becomes a part of the SQL.
The condition (``if``) of a message becomes a part of ``WHERE`` where the mapping names a column
for each of its names.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from steguard.canon.generate.values import GenerationError, pick, single, used_all, values_of
from steguard.canon.model import And, Compare, Condition, Member, Message, Not, Or
from steguard.canon.registry import Registry
from steguard.errors import MissingExtra

if TYPE_CHECKING:
    from sqlalchemy.sql import ColumnElement, Executable

Kind = Literal["select", "insert", "update", "delete"]
KINDS: tuple[Kind, ...] = ("select", "insert", "update", "delete")
_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
OPERATORS = (*_OPERATORS, "in")


@dataclass(frozen=True)
class SqlMapping:
    """How one action of a subject becomes a statement.

    ``columns`` are those that a ``select`` gives. ``values`` maps a column to the field that it is
    set to. ``where`` maps a column to an operator and a field. ``conditions`` maps a name in the
    message's ``if`` to a column. ``ignore`` names fields that are left out on purpose.
    """

    kind: Kind
    table: str
    columns: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)
    where: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    conditions: Mapping[str, str] = field(default_factory=dict)
    ignore: tuple[str, ...] = ()

    def names(self) -> set[str]:
        """Every column that the mapping names."""
        return {*self.columns, *self.values, *self.where, *self.conditions.values()}


def to_sql(message: Message, mapping: Any, registry: Registry | None = None) -> Executable:
    """The statement for a message.

    ``mapping`` is a :class:`SqlMapping` or a :class:`~steguard.canon.generate.mapping.Mapping`.
    Raises :class:`GenerationError` where the message does not fit it, :class:`MissingExtra`
    without SQLAlchemy.
    """
    try:
        import sqlalchemy as sa
    except ImportError:
        raise MissingExtra("SQLAlchemy", "store") from None
    plan: SqlMapping = mapping if isinstance(mapping, SqlMapping) else mapping.sql_for(message)
    values = values_of(message, registry)
    fields = [*plan.values.values(), *(name for _, name in plan.where.values())]
    used_all(message, values, fields, plan.ignore)
    schema, _, name = plan.table.rpartition(".")
    columns: list[Any] = [sa.column(column) for column in sorted(plan.names())]
    table = sa.table(name, *columns, schema=schema or None)
    tests = [
        _test(table.c[column], op, pick(values, name, message), name)
        for column, (op, name) in plan.where.items()
    ]
    if message.condition is not None:
        tests.append(_condition(message.condition, table, plan))
    if plan.kind in ("update", "delete") and not tests:
        raise GenerationError(f"a {plan.kind} without 'where' changes every row; add 'where'")
    set_to = {c: single(pick(values, n, message), n) for c, n in plan.values.items()}
    if plan.kind == "insert":
        if tests:
            raise GenerationError("an insert has no condition; remove 'where' or 'if'")
        return sa.insert(table).values(set_to)
    if plan.kind == "select":
        return sa.select(*(table.c[name] for name in plan.columns)).where(*tests)
    if plan.kind == "update":
        return sa.update(table).where(*tests).values(set_to)
    return sa.delete(table).where(*tests)


def _test(column: Any, op: str, value: Any, name: str) -> ColumnElement[bool]:
    if op == "in":
        if not isinstance(value, list | tuple):
            raise GenerationError(f"'{name}' is one value, and 'in' needs a list")
        found: ColumnElement[bool] = column.in_([single(item, name) for item in value])
        return found
    compared: ColumnElement[bool] = _OPERATORS[op](column, single(value, name))
    return compared


def _condition(condition: Condition, table: Any, plan: SqlMapping) -> Any:
    import sqlalchemy as sa

    if isinstance(condition, Compare):
        return _OPERATORS[condition.op](_column(condition.name, table, plan), condition.value)
    if isinstance(condition, Member):
        column = _column(condition.name, table, plan)
        values = list(condition.values)
        return column.not_in(values) if condition.negated else column.in_(values)
    if isinstance(condition, Not):
        return sa.not_(_condition(condition.term, table, plan))
    joined = sa.and_ if isinstance(condition, And) else sa.or_
    assert isinstance(condition, And | Or)
    return joined(*(_condition(term, table, plan) for term in condition.terms))


def _column(name: str, table: Any, plan: SqlMapping) -> Any:
    if name not in plan.conditions:
        raise GenerationError(
            f"the message has the condition name '{name}' and the mapping has no column for it; "
            "name one under 'conditions'"
        )
    return table.c[plan.conditions[name]]
