"""``steguard gate approvals|ledger|audit|store``: what the gate remembers."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any

import typer

from steguard.cli.inputs import InputError
from steguard.gate import audit as log
from steguard.gate.approvals import Approvals
from steguard.gate.executions import Executions
from steguard.gate.state import Approval, ApprovalState, AuditRecord, Execution, ExecutionState
from steguard.store import open_store

DEFAULT = "sqlite:///steguard.db"

Store = Annotated[
    str,
    typer.Option(
        "--store",
        envvar="STEGUARD_STORE",
        help="The database: sqlite:///FILE or postgresql+psycopg://USER@HOST/DATABASE.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON, one object a line.")]
Task = Annotated[str | None, typer.Option("--task", help="Only this task.")]
Limit = Annotated[int, typer.Option("--limit", min=1, help="The newest so many.")]
Answerer = Annotated[str, typer.Option("--by", help="Who answers.")]
Roles = Annotated[list[str] | None, typer.Option("--role", help="A role of this person.")]
Note = Annotated[str, typer.Option("--note", help="Why.")]
ApprovalId = Annotated[str, typer.Argument(metavar="ID", help="The approval, from the list.")]


class Ending(StrEnum):
    """What a person can find out about a run."""

    DONE = "done"
    FAILED = "failed"
    NOT_DONE = "not-done"


def register(app: typer.Typer) -> None:
    """Add the commands to the group ``gate``."""
    approvals = typer.Typer(help="Questions that wait for a person.", no_args_is_help=True)
    approvals.command("list")(list_approvals)
    approvals.command("grant")(grant)
    approvals.command("deny")(deny)
    app.add_typer(approvals, name="approvals")
    ledger = typer.Typer(help="What ran, and how it ended.", no_args_is_help=True)
    ledger.command("list")(list_executions)
    ledger.command("reconcile")(reconcile)
    app.add_typer(ledger, name="ledger")
    app.command("audit")(audit)
    store = typer.Typer(help="The database of the gate.", no_args_is_help=True)
    store.command("upgrade")(upgrade)
    app.add_typer(store, name="store")


def list_approvals(
    store: Store = DEFAULT,
    task: Task = None,
    every: Annotated[bool, typer.Option("--all", help="Answered and expired ones too.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the questions that wait, with exactly what will run."""
    approvals = Approvals(open_store(store, upgrade=False))
    found = approvals.all(task=task) if every else approvals.pending(task=task)
    _print((asdict(each) for each in found), map(_approval, found), as_json, "No approval waits.")


def grant(
    approval_id: ApprovalId,
    by: Answerer,
    role: Roles = None,
    note: Note = "",
    store: Store = DEFAULT,
) -> None:
    """Say yes to one execution, once."""
    approvals = Approvals(open_store(store, upgrade=False))
    approval = approvals.grant(approval_id, by=by, roles=role or (), note=note)
    if approval.state is ApprovalState.GRANTED:
        typer.echo(f"{approval.id}: granted until {_time(approval.expires_at)}.")
    else:
        missing = approval.needed - len(approval.granted_by)
        typer.echo(f"{approval.id}: {missing} more must say yes.")


def deny(
    approval_id: ApprovalId,
    by: Answerer,
    role: Roles = None,
    note: Note = "",
    store: Store = DEFAULT,
) -> None:
    """Say no, or take back a yes that is not used yet."""
    approvals = Approvals(open_store(store, upgrade=False))
    approval = approvals.deny(approval_id, by=by, roles=role or (), note=note)
    typer.echo(f"{approval.id}: denied.")


def list_executions(
    store: Store = DEFAULT,
    task: Task = None,
    tool: Annotated[str | None, typer.Option("--tool", help="Only this tool.")] = None,
    limit: Limit = 100,
    unsettled: Annotated[
        bool, typer.Option("--open", help="Only runs that a person must look at.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List what ran. With --open, the exit status is 1 where a person must look."""
    executions = Executions(open_store(store, upgrade=False))
    if unsettled:
        found = [
            each
            for each in executions.unsettled()
            if task in (None, each.task) and tool in (None, each.tool)
        ]
    else:
        found = executions.all(task=task, tool=tool, limit=limit)
    nothing = "No run is open." if unsettled else "Nothing ran."
    _print((asdict(each) for each in found), map(_execution, found), as_json, nothing)
    if unsettled and found:
        raise typer.Exit(1)


def reconcile(
    key: Annotated[str, typer.Argument(help="The key of the execution, from the list.")],
    ending: Annotated[Ending, typer.Argument(help="How the run ended.")],
    by: Answerer,
    result: Annotated[
        str | None, typer.Option("--result", help="For 'done': what the tool gave, as JSON.")
    ] = None,
    note: Note = "",
    force: Annotated[bool, typer.Option("--force", help="Also while it seems to run.")] = False,
    store: Store = DEFAULT,
) -> None:
    """Say how a run ended that has no record of its end. After 'not-done' it may run again."""
    value = None
    if result is not None:
        if ending is not Ending.DONE:
            raise InputError("'--result' goes with 'done' only")
        try:
            value = json.loads(result)
        except ValueError as error:
            raise InputError(f"'--result' is no JSON: {error}") from None
    state = ExecutionState(ending.value.replace("-", "_"))
    executions = Executions(open_store(store, upgrade=False))
    closed = executions.reconcile(key, state, by=by, result=value, note=note, force=force)
    typer.echo(f"{_safe(closed.key)}: {closed.state.value}.")


def audit(
    store: Store = DEFAULT,
    task: Task = None,
    key: Annotated[str | None, typer.Option("--key", help="Only this execution.")] = None,
    tool: Annotated[str | None, typer.Option("--tool", help="Only this tool.")] = None,
    limit: Limit = 100,
    verify: Annotated[
        bool, typer.Option("--verify", help="Check the chain of hashes; 1 where it is broken.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show the log of decisions and changes, or check that nobody changed it."""
    opened = open_store(store, upgrade=False)
    if verify:
        faults = log.verify(opened)
        typer.echo("\n".join(faults) or "The log is whole.")
        raise typer.Exit(1 if faults else 0)
    found = log.records(opened, task=task, key=key, tool=tool, limit=limit)
    _print((asdict(each) for each in found), map(_line, found), as_json, "The log is empty.")


def upgrade(store: Store = DEFAULT) -> None:
    """Make the tables, or bring them up to date."""
    opened = open_store(store)
    typer.echo(f"{opened.database.name}: the tables are up to date ({opened.database.version}).")


def _print(
    records: Iterable[dict[str, Any]], texts: Iterable[str], as_json: bool, nothing: str
) -> None:
    if as_json:
        for record in records:
            typer.echo(json.dumps(record, sort_keys=True))
        return
    shown = list(texts)
    typer.echo("\n".join(shown) if shown else nothing)


def _approval(approval: Approval) -> str:
    lines = [
        f"{approval.id}  {approval.state.value}  {_safe(approval.tool)}",
        f"  arguments  {_json(approval.arguments)}",
        f"  task       {_safe(approval.task)}  agent {_safe(approval.agent) or '-'}",
        f"  asked      {_time(approval.at)}, expires {_time(approval.expires_at)}",
    ]
    if approval.approvers:
        groups = [" or ".join(group) for group in approval.approvers]
        lines.append(f"  may answer {_safe('; and '.join(groups))}")
    if approval.needed > 1 or approval.granted_by:
        names = ", ".join(approval.granted_by) or "nobody"
        lines.append(f"  said yes   {_safe(names)} ({approval.needed} needed)")
    if approval.state is ApprovalState.DENIED:
        lines.append(f"  denied by  {_safe(approval.decided_by or '')} {_safe(approval.note)}")
    lines.append(f"  reason     {_safe(approval.reason)}")
    return "\n".join(lines)


def _execution(execution: Execution) -> str:
    end = ""
    if execution.state is ExecutionState.DONE:
        end = f"  result     {_json(execution.result)}\n"
    elif execution.error:
        end = f"  error      {_safe(execution.error)}\n"
    look = "  a person must look: steguard gate ledger reconcile\n"
    return (
        f"{_safe(execution.key)}  {execution.state.value}  {_safe(execution.tool)}\n"
        f"  arguments  {_json(execution.arguments)}\n"
        f"  started    {_time(execution.at)}, attempt {execution.attempts}\n"
        f"{end}{look if execution.state is ExecutionState.UNKNOWN else ''}"
    ).rstrip("\n")


def _line(record: AuditRecord) -> str:
    parts = [
        str(record.seq),
        _time(record.at),
        record.event,
        _safe(record.tool) or "-",
        _safe(record.key) or "-",
        _safe(str(record.detail.get("reason") or record.detail.get("by") or "")),
    ]
    return "  ".join(parts).rstrip()


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def _json(value: Any) -> str:
    return _safe(json.dumps(value, ensure_ascii=False, sort_keys=True))


def _safe(text: str) -> str:
    """Text that a model wrote, without what could change how the terminal shows the rest."""
    return "".join(
        char if unicodedata.category(char)[0] != "C" else char.encode("unicode_escape").decode()
        for char in text
    )
