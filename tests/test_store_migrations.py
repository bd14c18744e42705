"""Tables: made once, brought up to date by one process, refused where they are newer."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy", reason="needs the extra 'store'")

import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from steguard.errors import MissingExtra
from steguard.gate.state import AuditRecord, StoreUnavailable, StoreVersionError
from steguard.store import migrate, open_instructions, open_store
from steguard.store.tables import metadata
from tests.support.gates import TASK, Tool, call, gate
from tests.support.processes import NEEDS_FORK, Barrier, fork, wait
from tests.support.stores import KINDS, new_database, run_sql


@pytest.fixture(params=KINDS)
def url(request, tmp_path: Path):
    with new_database(request.param, tmp_path) as made:
        yield made


def test_the_migrations_make_the_tables_of_the_code(url):
    open_store(url).close()
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    with engine.connect() as connection:
        options = {"version_table": migrate.VERSION_TABLE}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, metadata) == []


def test_the_migrations_have_numbers_without_gap():
    assert migrate.known() == [f"{n:04}" for n in range(1, len(migrate.known()) + 1)]


def test_gate_and_instructions_share_a_database(url):
    store, rules = open_store(url), open_instructions(url)
    gate(store).execute(call("post"), TASK, Tool())
    assert rules.rules() == ()
    assert store.database.version == migrate.head()
    store.close()
    rules.close()


def test_old_tables_are_brought_up_to_date_and_keep_their_rows(url, monkeypatch):
    monkeypatch.setattr(migrate, "known", lambda: ["0001"])
    monkeypatch.setattr(migrate, "TARGET", "0001")
    store = open_store(url)
    gate(store).execute(call("post"), TASK, Tool("kept"))
    store.close()
    monkeypatch.undo()
    with pytest.raises(StoreVersionError, match=r"version 0001.*needs version .*store upgrade"):
        open_store(url, upgrade=False)
    store = open_store(url)
    assert store.database.version == migrate.head()
    assert gate(store).execute(call("post"), TASK, Tool()) == "kept"
    store.close()


@pytest.mark.parametrize("upgrade", [True, False])
def test_newer_tables_are_refused(url, upgrade):
    open_store(url).close()
    run_sql(url, f"UPDATE {migrate.VERSION_TABLE} SET version_num = '9999'")
    with pytest.raises(
        StoreVersionError, match=r"version 9999.*pip install -U 'steguard\[store\]'"
    ):
        open_store(url, upgrade=upgrade)


def test_missing_tables_are_refused_where_they_must_not_be_made(url):
    with pytest.raises((StoreVersionError, StoreUnavailable), match="gate store upgrade"):
        open_store(url, upgrade=False)
    open_store(url).close()
    open_store(url, upgrade=False).close()


def test_an_own_alembic_of_the_application_is_left_alone(url):
    run_sql(url, "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
    run_sql(url, "INSERT INTO alembic_version VALUES ('mine')")
    open_store(url).close()
    open_store(url).close()


@NEEDS_FORK
def test_many_processes_make_one_migration(url, monkeypatch):
    barrier, count = Barrier(), 4

    def work() -> int:
        made = []
        real = migrate._migrate
        monkeypatch.setattr(migrate, "_migrate", lambda *a: made.append(1) or real(*a))
        barrier.wait()
        store = open_store(url)
        gate(store).execute(call("post", str(os.getpid())), TASK, Tool())
        return 10 + len(made)

    import alembic.command  # noqa: F401 - loaded before the fork, so that all race

    children = [fork(work) for _ in range(count)]
    barrier.open()
    assert sorted(wait(child) for child in children) == [10] * (count - 1) + [11]
    store = open_store(url, upgrade=False)
    started = store.read(lambda tx: tx.find(AuditRecord, {"event": "execution.done"}))
    assert len(started) == count
    store.close()


@NEEDS_FORK
def test_a_migration_that_is_killed_leaves_nothing_half_made(url, monkeypatch):
    def work() -> None:
        real = migrate._migrate

        def dying(*arguments: object) -> None:
            real(*arguments)
            os._exit(7)

        monkeypatch.setattr(migrate, "_migrate", dying)
        open_store(url)

    assert wait(fork(work)) == 7
    store = open_store(url)
    assert gate(store).execute(call("post"), TASK, Tool()) == "done"
    store.close()


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("steguard.db", "no database URL. Write sqlite:///FILE"),
        ("", "no database URL"),
        ("mysql://host/db", "no store in 'mysql'"),
        ("sqlite://", "MemoryStore"),
        ("sqlite:///:memory:", "MemoryStore"),
        ("sqlite:////no/such/folder/x.db", "The folder /no/such/folder"),
        ("postgresql://u:secret@127.0.0.1:1/x?connect_timeout=2", r"127.0.0.1.*cannot be used"),
        ("postgresql+psycopg2://u@127.0.0.1:1/x?connect_timeout=2", "cannot be used"),
    ],
)
def test_a_database_that_cannot_be_used(url, message):
    with pytest.raises(StoreUnavailable, match=message) as failed:
        open_store(url)
    assert "secret" not in str(failed.value)


def test_a_file_that_is_no_database(tmp_path):
    path = tmp_path / "text.db"
    path.write_text("This is a text, and it is long enough to be seen as one. " * 20)
    with pytest.raises(StoreUnavailable, match="not a database"):
        open_store(f"sqlite:///{path}")


def test_looking_makes_no_file(tmp_path):
    path = tmp_path / "none.db"
    with pytest.raises(StoreUnavailable, match="gate store upgrade"):
        open_store(f"sqlite:///{path}", upgrade=False)
    assert not path.exists()


@pytest.mark.parametrize("module", ["sqlalchemy", "alembic"])
def test_a_missing_extra_has_its_install_line(module, tmp_path, monkeypatch):
    monkeypatch.setattr("steguard.store.find_spec", lambda name: None if name == module else 1)
    for function in (open_store, open_instructions):
        with pytest.raises(MissingExtra, match=r"pip install 'steguard\[store\]'"):
            function(f"sqlite:///{tmp_path / 'x.db'}")


def test_a_missing_driver_has_its_install_line(monkeypatch):
    monkeypatch.setattr("steguard.store.database.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"psycopg.*pip install 'steguard\[store\]'"):
        open_store("postgresql://u@127.0.0.1:1/x")


def test_the_gate_does_not_load_the_database_layer():
    import subprocess

    code = "import steguard.gate, steguard.gate.execute, steguard.store, sys; " + (
        "sys.exit('sqlalchemy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
