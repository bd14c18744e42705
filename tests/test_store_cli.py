"""``steguard gate approvals|ledger|audit|store`` on a real database."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from steguard.cli import main
from steguard.gate.audit import records
from tests.support.gates import TASK, Tool, call, gate, question
from tests.support.stores import made_database


class Cli:
    def __init__(self, url: str, capsys: pytest.CaptureFixture[str]) -> None:
        self.url, self._capsys = url, capsys
        self.error = ""

    def __call__(self, *words: str, status: int = 0) -> str:
        with pytest.raises(SystemExit) as ended:
            main(["gate", *words])
        output = self._capsys.readouterr()
        self.error = output.err
        assert ended.value.code == status, output
        return output.out


@pytest.fixture
def cli(tmp_path: Path, monkeypatch, capsys):
    with made_database("sqlite", tmp_path) as url:
        monkeypatch.setenv("STEGUARD_STORE", url)
        yield Cli(url, capsys)


@pytest.fixture
def store(cli):
    from steguard.store import open_store

    opened = open_store(cli.url)
    yield opened
    opened.close()


def test_a_question_is_listed_and_answered(cli, store):
    asking = gate(store)
    approval = question(asking, call("ask", to="a@b.c"))
    shown = cli("approvals", "list")
    assert approval.id in shown
    assert '{"to": "a@b.c"}' in shown
    [listed] = [json.loads(line) for line in cli("approvals", "list", "--json").splitlines()]
    assert (listed["id"], listed["state"]) == (approval.id, "pending")
    assert "granted until" in cli("approvals", "grant", approval.id, "--by", "anna")
    assert cli("approvals", "list") == "No approval waits.\n"
    assert asking.execute(call("ask", to="a@b.c"), TASK, Tool()) == "done"
    assert "spent" in cli("approvals", "list", "--all")


def test_a_question_is_denied(cli, store):
    approval = question(gate(store), call("ask"))
    assert cli("approvals", "deny", approval.id, "--by", "anna", "--note", "no") == (
        f"{approval.id}: denied.\n"
    )
    cli("approvals", "grant", approval.id, "--by", "anna", status=2)
    assert "anna denied it" in cli.error


def test_roles_and_more_than_one_person(cli, store):
    approval = question(gate(store), call("both"))
    cli("approvals", "grant", approval.id, "--by", "eve", status=2)
    assert "'eve' may not answer. These may: anna, boss." in cli.error
    assert "1 more must say yes" in cli("approvals", "grant", approval.id, "--by", "anna")
    assert "(2 needed)" in cli("approvals", "list")
    cli("approvals", "grant", approval.id, "--by", "ben", "--role", "boss")


def test_what_a_model_wrote_cannot_steer_the_terminal(cli, store):
    question(gate(store), call("ask", text="a\x1b[2J\u202e漢字"))
    shown = cli("approvals", "list")
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "漢字" in shown


def test_a_person_settles_a_run(cli, store):
    with pytest.raises(KeyboardInterrupt):
        gate(store).execute(call("post"), TASK, Tool(error=KeyboardInterrupt()))
    assert "a person must look" in cli("ledger", "list", "--open", status=1)
    cli("ledger", "reconcile", "T-1/c1", "done", "--by", "anna", "--result", "{", status=2)
    assert "'--result' is no JSON" in cli.error
    cli("ledger", "reconcile", "T-1/c1", "failed", "--by", "anna", "--result", "1", status=2)
    cli("ledger", "reconcile", "T-1/c9", "done", "--by", "anna", status=2)
    assert "no execution 'T-1/c9'" in cli.error
    cli("ledger", "reconcile", "T-1/c1", "done", "--by", "anna", "--result", '{"id": 1}')
    assert cli("ledger", "list", "--open") == "No run is open.\n"
    assert '{"id": 1}' in cli("ledger", "list", "--task", "T-1", "--tool", "post")
    assert gate(store).execute(call("post"), TASK, Tool()) == {"id": 1}


def test_the_log(cli, store):
    for number in range(3):
        gate(store).execute(call("post", f"c{number}"), TASK, Tool())
    assert len(cli("audit").splitlines()) == len(records(store)) == 9
    assert len(cli("audit", "--limit", "2").splitlines()) == 2
    assert len(cli("audit", "--key", "T-1/c1").splitlines()) == 3
    assert json.loads(cli("audit", "--limit", "1", "--json"))["seq"] == 9
    assert cli("audit", "--verify") == "The log is whole.\n"
    with sqlite3.connect(cli.url.removeprefix("sqlite:///")) as connection:
        connection.execute("DROP TRIGGER audit_never_changed")
        connection.execute("UPDATE audit SET tool = 'x' WHERE seq = 4")
    connection.close()
    assert cli("audit", "--verify", status=1) == "record 4: its content was changed\n"


def test_a_store_is_made_and_named(cli, tmp_path):
    url = f"sqlite:///{tmp_path / 'new.db'}"
    cli("ledger", "list", "--store", url, status=2)
    assert "steguard gate store upgrade" in cli.error
    assert "up to date" in cli("store", "upgrade", "--store", url)
    assert cli("ledger", "list", "--store", url) == "Nothing ran.\n"
    assert cli("audit", "--store", url) == "The log is empty.\n"
    cli("audit", "--store", "new.db", status=2)
    assert "'new.db' is no database URL" in cli.error


RULES = """\
steguard: 1
instructions:
  - {id: report.words, version: 1, text: Write 500 words or fewer., key: report.max_words, value: 500}
  - {id: report.cite, version: 1, text: Give a source for each fact.}
bindings:
  - {instruction_id: report.cite, scope: {project: p}}
"""


@pytest.fixture
def instructions(cli, tmp_path, capsys):
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "rules.yaml").write_text(RULES)

    def run(*words: str, status: int | None = 0) -> str:
        with pytest.raises(SystemExit) as ended:
            main(["instructions", *words])
        output = capsys.readouterr()
        assert (ended.value.code or 0) == status, output
        return output.out + output.err

    run.folder = folder
    return run


def test_rules_go_from_files_into_a_database(cli, instructions):
    folder = instructions.folder
    assert "2 versions added, 0 known" in instructions("push", str(folder), "--by", "anna")
    assert "0 versions added, 2 known" in instructions("push", str(folder), "--by", "anna")
    assert "2 rules, 0 errors" in instructions("check", cli.url)
    assert "anna" in instructions("history", cli.url)
    (folder / "rules.yaml").write_text(
        RULES.replace("version: 1, text: Give", "version: 2, text: Name")
    )
    pushed = json.loads(instructions("push", str(folder), "--by", "ben", "--json"))
    assert pushed == {"added": ["report.cite@2"], "known": ["report.words@1"]}


def test_a_version_that_was_changed_in_its_file_is_not_pushed(cli, instructions):
    folder = instructions.folder
    instructions("push", str(folder), "--by", "anna")
    changed = RULES.replace("Write 500", "Write 50") + (
        "  - {instruction_id: report.words, scope: {project: q}}\n"
    )
    (folder / "rules.yaml").write_text(changed)
    told = instructions("push", str(folder), "--by", "anna", status=2)
    assert "report.words@1 is in the database with other content" in told
    from steguard.store import open_instructions

    store = open_instructions(cli.url)
    assert len(store.bindings()) == 1
    store.close()


def test_looking_at_rules_makes_no_database(cli, instructions, tmp_path):
    told = instructions("check", f"sqlite:///{tmp_path / 'none.db'}", status=2)
    assert "There is no store" in told
    assert not (tmp_path / "none.db").exists()
