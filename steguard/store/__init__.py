"""Instructions and the gate's memory in a database: SQLite, or PostgreSQL for many machines.

>>> gate = Gate("policy.yaml", open_store("sqlite:///steguard.db"))
>>> rules = open_instructions("postgresql+psycopg://user@host/database")

Both need the extra ``store``. Tables are made and brought up to date when a store is opened; two
processes that do so at once make one migration.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from steguard.errors import MissingExtra

if TYPE_CHECKING:
    from steguard.gate.state import Clock
    from steguard.store.instructions import SqlInstructionStore
    from steguard.store.state import SqlStore

__all__ = ["open_instructions", "open_store", "require"]


def require() -> None:
    """Raise :class:`MissingExtra` where the database layer is not installed."""
    for module, name in (("sqlalchemy", "SQLAlchemy"), ("alembic", "Alembic")):
        if find_spec(module) is None:
            raise MissingExtra(name, "store")


def open_store(url: str, *, upgrade: bool = True, clock: Clock | None = None) -> SqlStore:
    """The gate's memory in this database.

    Without a ``clock``, the time is PostgreSQL's, or this machine's for SQLite. With
    ``upgrade=False`` tables of an older version are refused instead of brought up to date.
    Raises ``StoreUnavailable``, ``StoreVersionError``, ``MissingExtra``.
    """
    require()
    from steguard.store.database import Database
    from steguard.store.state import SqlStore

    return SqlStore(Database(url, upgrade=upgrade), clock=clock)


def open_instructions(url: str, *, upgrade: bool = True) -> SqlInstructionStore:
    """The instructions in this database. Options and errors are those of :func:`open_store`."""
    require()
    from steguard.store.database import Database
    from steguard.store.instructions import SqlInstructionStore

    return SqlInstructionStore(Database(url, upgrade=upgrade))
