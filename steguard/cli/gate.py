"""``steguard gate``: check policies, explain decisions, run test cases, derive a policy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from steguard.cli import gate_state
from steguard.cli.inputs import InputError
from steguard.gate.adapters import tool_call
from steguard.gate.cases import Setting, run_cases
from steguard.gate.decide import decide
from steguard.gate.derive import derive as derive_policy
from steguard.gate.model import Decision, Effect
from steguard.gate.policyfile import PolicyError, load_policy, read, remarks
from steguard.gate.policyfile import build as build_policy

PolicyFile = Annotated[Path, typer.Argument(metavar="POLICY", help="A policy file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON.")]
Request = Annotated[str, typer.Option("--request", help="The user's request, or @FILE.")]


def build_app() -> typer.Typer:
    """The group of commands."""
    app = typer.Typer(
        help="The tool gate: which tool calls run, which ask a person, which do not run.",
        no_args_is_help=True,
    )
    app.command("check")(check)
    app.command("explain")(explain)
    app.command("test")(run_tests)
    app.command("derive")(derive)
    gate_state.register(app)
    return app


def check(
    policies: Annotated[list[Path], typer.Argument(metavar="POLICY...", help="Policy files.")],
    as_json: AsJson = False,
) -> None:
    """Check policy files: their form, their patterns and schemas, names that do not exist."""
    found: list[PolicyError] = []
    for path in policies:
        if not path.is_file():
            raise InputError(f"there is no file '{path}'")
        try:
            marked = read(path)
            found += remarks(build_policy(marked), marked)
        except PolicyError as error:
            found.append(error)
    if as_json:
        typer.echo(json.dumps({"findings": [_record(one) for one in found]}))
    else:
        for one in found:
            typer.echo(str(one))
        count = sum(len(one.problems) for one in found)
        typer.echo(f"policies: {len(policies)}, findings: {count}")
    raise typer.Exit(1 if found else 0)


def _record(error: PolicyError) -> dict[str, Any]:
    return {
        "file": error.file,
        "line": error.line,
        "column": error.column,
        "message": error.message,
        "also": list(error.problems[1:]),
    }


def explain(
    policy: PolicyFile,
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="The tool of the call.")],
    arguments: Annotated[
        str, typer.Argument(metavar="[ARGUMENTS]", help="The arguments as JSON, or @FILE.")
    ] = "{}",
    request: Request = "",
    scope: Annotated[
        list[str] | None, typer.Option("--scope", metavar="KEY=VALUE", help="The scope.")
    ] = None,
    observations: Annotated[
        Path | None,
        typer.Option(help="YAML or JSON: a list of {tool, data, arguments, source}."),
    ] = None,
    task: Annotated[str, typer.Option(help="The task.")] = "T-1",
    as_json: AsJson = False,
) -> None:
    """Say what the gate decides on one call, and which conditions it looked at.

    Exit 0 for allow, 1 for ask and deny.
    """
    setting = Setting.model_validate(
        {
            "task": task,
            "request": _text(request),
            "scope": _pairs(scope or []),
            "observations": _list(observations),
        }
    )
    call = tool_call(tool, _text(arguments))
    decision = decide(load_policy(policy), call, setting.context(), explain=True)
    if as_json:
        checks = [
            {"step": c.step.value, "passed": c.passed, "note": c.note, "rule": c.rule or None}
            for c in decision.checks
        ]
        typer.echo(json.dumps({**decision.to_dict(), "checks": checks}, ensure_ascii=False))
    else:
        _show(decision)
    raise typer.Exit(0 if decision.effect is Effect.ALLOW else 1)


def _show(decision: Decision) -> None:
    colour = {Effect.ALLOW: "green", Effect.ASK: "yellow", Effect.DENY: "red"}[decision.effect]
    typer.secho(decision.effect.value, fg=colour, bold=True, nl=False)
    typer.echo(f"  {decision.tool}: {decision.reason}")
    for one in decision.checks:
        mark = "yes" if one.passed else "no "
        rule = f" [{one.rule}]" if one.rule else ""
        typer.echo(f"  {mark}  {one.step.value:<11}{one.note}{rule}")
    for alternative in decision.alternatives:
        typer.echo(f"  instead: {alternative}")
    typer.echo(f"  digest {decision.digest}")


def run_tests(
    cases: Annotated[list[Path], typer.Argument(metavar="CASES...", help="Files of cases.")],
    policy: Annotated[
        Path | None, typer.Option("--policy", help="The policy, in place of the file's own.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run test cases: each has a call, its context, and what the gate must say."""
    given = load_policy(policy) if policy is not None else None
    outcomes = [outcome for path in cases for outcome in run_cases(path, given)]
    faults = [one for outcome in outcomes for one in outcome.faults]
    failed = sum(bool(outcome.faults) for outcome in outcomes)
    if as_json:
        findings = [_record(one) for one in faults]
        typer.echo(json.dumps({"cases": len(outcomes), "failed": failed, "findings": findings}))
    else:
        for one in faults:
            typer.echo(str(one))
        typer.echo(f"{len(outcomes)} cases, {failed} failed")
    raise typer.Exit(1 if failed else 0)


def derive(
    request: Annotated[str, typer.Argument(metavar="REQUEST", help="The request, or @FILE.")],
    tools: Annotated[
        Path, typer.Option("--tools", help="Tool definitions: a JSON list as OpenAI takes it.")
    ],
    base: Annotated[
        Path | None, typer.Option("--base", help="A policy whose rules hold too.")
    ] = None,
) -> None:
    """Derive the policy of one task from the user's request and the tool definitions alone."""
    data = read(tools).data
    if not isinstance(data, list | dict):
        raise InputError(f"{tools}: give a list of tools, or a mapping of name to definition")
    try:
        made = derive_policy(_text(request), data, base=load_policy(base) if base else None)
    except (KeyError, AttributeError, TypeError):
        raise InputError(f"{tools}: a tool has a 'name' and its 'parameters'") from None
    plain = made.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    typer.echo(yaml.safe_dump({"steguard_gate": 1, **plain}, sort_keys=False, allow_unicode=True))


def _text(value: str) -> str:
    if not value.startswith("@"):
        return value
    try:
        return Path(value[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{value[1:]} cannot be read: {error}") from None


def _pairs(items: list[str]) -> dict[str, str]:
    for item in items:
        if "=" not in item:
            raise InputError(f"write a scope as KEY=VALUE, not '{item}'")
    return dict(item.split("=", 1) for item in items)


def _list(path: Path | None) -> list[Any]:
    data = read(path).data if path is not None else []
    if not isinstance(data, list):
        raise InputError(f"{path}: give a list of observations")
    return data
