"""``steguard instructions``: rules for agents, checked, compiled, explained and tested."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from steguard.cli import instructions_push
from steguard.cli.inputs import InputError
from steguard.types import Severity
from steguard.yamlfile import nearest

if TYPE_CHECKING:
    from steguard.instructions.compiler import Compiled
    from steguard.instructions.outputs import Validator
    from steguard.instructions.records import State
    from steguard.instructions.registry import InstructionStore

Rules = Annotated[
    list[str] | None,
    typer.Argument(help="Folders or files of rules, or one database URL. Default: instructions/."),
]
Format = Annotated[str, typer.Option("--format", "-f", help="text or json.")]
Where = Annotated[
    list[str] | None,
    typer.Option(
        "--state",
        "-s",
        metavar="LEVEL=NAME",
        help="agent, project, workflow, stage, step, tool, artifact or task_id; repeat it.",
    ),
]


def build_app() -> typer.Typer:
    """The group of commands."""
    app = typer.Typer(
        help="Check, compile, explain and test rules for agents.", no_args_is_help=True
    )
    app.command("check")(check)
    app.command("compile")(compile_rules)
    app.command("explain")(explain)
    app.command("diff")(diff)
    app.command("test")(run_cases)
    app.command("history")(history)
    app.command("eval")(evaluate)
    app.command("schema")(schema)
    app.command("push")(instructions_push.command)
    return app


def check(
    rules: Rules = None,
    format: Format = "text",
    profile: Annotated[
        str | None,
        typer.Option("--profile", "-p", help="Check the texts of the rules with this profile too."),
    ] = None,
    publish: Annotated[
        bool, typer.Option("--publish", help="Keep the hash of each version in history.jsonl.")
    ] = False,
) -> None:
    """Find faults and contradictions. Exit status: 0 none, 1 errors, 2 unreadable files."""
    _require_format(format)
    from steguard.instructions.files import FolderStore
    from steguard.instructions.report import findings_of, style_of

    store = _open(rules)
    found = findings_of(store)
    if profile:
        found += style_of(store, profile)
    errors = sum(finding.severity is Severity.ERROR for _, finding in found)
    if format == "json":
        rows = [{"file": file, **finding.to_dict()} for file, finding in found]
        typer.echo(json.dumps({"rules": len(store.rules()), "findings": rows}, ensure_ascii=False))
    else:
        for file, f in found:
            typer.echo(
                f"{file}:{f.line}:{f.column}: {f.severity.value} {f.code} {f.rule}: {f.message}\n"
                f"      -> {f.suggestion}"
            )
        typer.echo(f"{len(store.rules())} rules, {errors} errors, {len(found) - errors} warnings")
    if publish:
        if errors:
            raise InputError("nothing is published while there are errors")
        if not isinstance(store, FolderStore):
            raise InputError("--publish is for files; a database keeps its own history")
        typer.echo(f"{store.publish()} versions published")
    raise typer.Exit(1 if errors else 0)


def compile_rules(
    rules: Rules = None,
    state: Where = None,
    request: Annotated[
        str, typer.Option("--request", "-r", help="The user's request.")
    ] = "Do the task.",
    material: Annotated[
        list[Path] | None, typer.Option("--material", "-m", help="Text files to fence as material.")
    ] = None,
    show: Annotated[
        str, typer.Option("--show", help="messages, manifest, policy, profile or all.")
    ] = "messages",
    token_budget: Annotated[
        int | None, typer.Option("--token-budget", min=1, help="The most that messages may take.")
    ] = None,
) -> None:
    """Compile the rules for one state. Exit status: 0 compiled, 1 contradictions."""
    parts = ("messages", "manifest", "policy", "profile", "all")
    if show not in parts:
        raise InputError(f"unknown part '{show}'{nearest(show, parts)}")
    compiled = _compiled(_open(rules), _state(state), request, material or [], token_budget)
    if show == "messages":
        for message in compiled.messages:
            typer.echo(f"--- {message['role']}\n{message['content']}")
        return
    whole = json.loads(compiled.to_bytes())
    typer.echo(json.dumps(whole if show == "all" else whole[show], indent=2, ensure_ascii=False))


def explain(
    rules: Rules = None,
    state: Where = None,
    rule: Annotated[str | None, typer.Option("--rule", help="Only this rule.")] = None,
    format: Format = "text",
) -> None:
    """Say for each rule whether it applies in a state, why, and what holds it."""
    _require_format(format)
    from steguard.instructions.explain import explain_rules
    from steguard.instructions.registry import unknown

    store = _open(rules)
    rows = explain_rules(store, _state(state))
    if rule is not None:
        wanted = rule.partition("@")[0]
        rows = [row for row in rows if row.rule.instruction_id == wanted]
        if not rows:
            raise unknown(wanted, None, store.rules())
    if format == "json":
        typer.echo(json.dumps([row.to_dict() for row in rows], ensure_ascii=False))
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("rule", "applies", "why", "held by"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(row.rule.ref, "yes" if row.applies else "no", row.why, row.held_by or "-")
    Console(highlight=False).print(table)


def diff(
    old: Annotated[str, typer.Argument(help="A folder, a file or a database URL.")],
    new: Annotated[str, typer.Argument(help="A folder, a file or a database URL.")],
    format: Format = "text",
) -> None:
    """Show what a new set of rules changes. Exit status: 0 nothing, 1 changes."""
    _require_format(format)
    from steguard.instructions.explain import changes_between

    changes = changes_between(_open([old]), _open([new]))
    if format == "json":
        typer.echo(json.dumps([change.to_dict() for change in changes], ensure_ascii=False))
    else:
        for change in changes:
            typer.echo(change.describe())
        typer.echo(f"{len(changes)} changes")
    raise typer.Exit(1 if changes else 0)


def run_cases(
    rules: Rules = None,
    format: Format = "text",
) -> None:
    """Run the test cases of the rules. No model is used. Exit status: 0 passed, 1 failed."""
    _require_format(format)
    from steguard.instructions.casetests import run_case
    from steguard.instructions.compiler import Compiler

    store = _open(rules)
    cases = store.cases()
    if not cases:
        raise InputError("there are no test cases; write them under 'cases' in a file of rules")
    compiler = Compiler(store, validators=_own_validators(store))
    results = [run_case(compiler, case) for case in cases]
    for result in results:
        if _is_database(rules):
            store.record_case(result.case_id, result.to_dict())
        if format == "text":
            typer.echo(f"{'pass' if result.passed else 'FAIL'} {result.case_id}")
            for fault in result.faults:
                typer.echo(f"     {fault}")
    failed = sum(not result.passed for result in results)
    if format == "json":
        typer.echo(json.dumps([result.to_dict() for result in results], ensure_ascii=False))
    else:
        typer.echo(f"{len(results)} cases, {failed} failed")
    raise typer.Exit(1 if failed else 0)


def history(
    rules: Rules = None,
    rule: Annotated[str | None, typer.Option("--rule", help="Only this rule.")] = None,
    format: Format = "text",
) -> None:
    """Show the versions of rules, who moved them, and when."""
    _require_format(format)
    from steguard.instructions.explain import history_of

    rows = history_of(_open(rules), rule)
    if format == "json":
        typer.echo(json.dumps(rows, ensure_ascii=False))
        return
    if not rows:
        typer.echo("no history; 'steguard instructions check --publish' keeps one for files")
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("when", "rule", "status", "by", "reason"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(row["at"], row["ref"], row["status"], row["actor"], row["reason"])
    Console(highlight=False).print(table)


def evaluate(
    folder: Annotated[
        str | None, typer.Argument(help="A folder with rules and eval.yaml; default: the shipped.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Measure compiler, checks and gate on recorded model output, with one part more each time."""
    from steguard.instructions.evaluation import evaluate_folder, show_table

    report = evaluate_folder(Path(folder) if folder else None)
    if as_json:
        typer.echo(json.dumps(report, ensure_ascii=False))
    else:
        Console(highlight=False).print(show_table(report))
        typer.echo(report["measured"])


def schema() -> None:
    """Print the JSON Schema of files of rules, for editors."""
    from steguard.instructions.files import file_schema

    typer.echo(json.dumps(file_schema(), indent=2, ensure_ascii=False))


def _open(paths: list[str] | None) -> InstructionStore:
    if paths and _is_database(paths):
        if len(paths) > 1:
            raise InputError("give one database URL, or files and folders")
        from steguard.store import open_instructions

        return open_instructions(paths[0], upgrade=False)
    from steguard.instructions.files import FolderStore

    if not paths and not Path("instructions").is_dir():
        raise InputError(
            "there is no folder 'instructions' here; name one, or write instructions/rules.yaml:\n"
            "instructions:\n  - {id: tone, text: Write in a calm tone.}"
        )
    return FolderStore(list(paths or ["instructions"]))


def _own_validators(store: InstructionStore) -> dict[str, Validator]:
    """Stand-ins for validators that only the program has; they find nothing."""
    from steguard.instructions.outputs import VALIDATORS

    names = {rule.validator for rule in store.rules() if rule.validator}
    missing = sorted(names - set(VALIDATORS))
    for name in missing:
        typer.echo(f"the validator '{name}' is the program's own and does not run here", err=True)
    return {name: lambda text, data, facts: () for name in missing}  # noqa: ARG005


def _is_database(paths: list[str] | None) -> bool:
    return any(
        path.partition(":")[0].partition("+")[0] in ("sqlite", "postgresql", "postgres")
        for path in paths or ()
    )


def _state(pairs: list[str] | None) -> State:
    from steguard.instructions.records import State

    names = [name for name in State.model_fields if name != "tools"] + ["tool"]
    values: dict[str, Any] = {}
    for pair in pairs or ():
        name, mark, value = pair.partition("=")
        if not mark or not value or name not in names:
            raise InputError(f"'{pair}' is no LEVEL=NAME{nearest(name, names)}")
        if name == "tool":
            values["tools"] = (*values.get("tools", ()), value)
        elif name in values:
            raise InputError(f"'{name}' stands twice; a state has one name at each level")
        else:
            values[name] = value
    return State(**values)


def _compiled(
    store: InstructionStore,
    state: State,
    request: str,
    materials: list[Path],
    token_budget: int | None,
) -> Compiled:
    import hashlib

    from steguard.cli.inputs import read_file
    from steguard.instructions.compiler import Compiler, InstructionConflict
    from steguard.instructions.fence import Material

    pieces = [Material(str(path), read_file(path).text, origin=str(path)) for path in materials]
    # A preview for eyes; a program keeps a secret of its own.
    key = hashlib.sha256(b"steguard instructions compile").digest()
    compiler = Compiler(
        store, fence_key=key, token_budget=token_budget, validators=_own_validators(store)
    )
    try:
        return compiler.compile(state, request, materials=pieces)
    except InstructionConflict as error:
        typer.echo(f"steguard: {error}", err=True)
        raise typer.Exit(1) from None


def _require_format(format: str) -> None:
    if format not in ("text", "json"):
        raise InputError(f"unknown format '{format}'{nearest(format, ['text', 'json'])}")
