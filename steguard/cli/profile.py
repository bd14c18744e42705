"""``steguard profile``: list, show, check and make profiles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from steguard.cli.fix import write_whole
from steguard.cli.inputs import InputError
from steguard.contract import compile_contract
from steguard.profile import load_profile, profile_names, profile_schema

_NEW = """\
# yaml-language-server: $schema=./profile.schema.json
steguard: 1
name: {name}
description: Say in one sentence what this profile is for.
extends: {parent}
# rules:
#   sentence-length: {{max: 20}}
#   banned-words: {{add: {{leverage: use}}}}
#   passive-voice: warning
# output: {{format: json, schema: answer.schema.json}}
# retry: {{max_attempts: 3, token_budget: 4000}}
# fallback: strip   # strip, fix, best, raise or noop
"""


def build_app() -> typer.Typer:
    """The group of commands."""
    app = typer.Typer(help="List, show, check and make profiles.", no_args_is_help=True)
    app.command("list")(list_profiles)
    app.command("show")(show)
    app.command("check")(check)
    app.command("schema")(schema)
    app.command("new")(new)
    return app


def list_profiles() -> None:
    """List the shipped profiles."""
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "rules", "format", "fallback", "for"):
        table.add_column(heading)
    for name in profile_names():
        profile = load_profile(name)
        spec = profile.spec
        table.add_row(
            name, str(len(profile.active)), spec.output.format, spec.fallback, spec.description
        )
    Console(highlight=False).print(table)


def show(
    name: Annotated[str, typer.Argument(help="A profile's name or file.")],
    prompt: Annotated[
        bool, typer.Option("--prompt", help="Show the system prompt and nothing else.")
    ] = False,
) -> None:
    """Show what a profile comes to: settings, rules with options, and the system prompt."""
    contract = compile_contract(name)
    if prompt:
        typer.echo(contract.prompt)
        return
    settings = contract.profile.spec.model_dump(
        mode="json", by_alias=True, exclude={"rules", "select"}
    )
    settings["rules"] = {
        active.rule.name: {
            "severity": active.severity.value,
            **active.options.model_dump(mode="json", exclude_unset=True),
        }
        for active in contract.profile.active.values()
    }
    import yaml

    typer.echo(yaml.safe_dump(settings, sort_keys=False, allow_unicode=True), nl=False)
    if contract.prompt:
        typer.echo(f"\n# The system prompt:\n\n{contract.prompt}")


def check(
    files: Annotated[list[str], typer.Argument(help="Profile files or names.")],
) -> None:
    """Check profile files and name every fault with its place."""
    for file in files:
        contract = compile_contract(file)
        length = len(contract.prompt.split())
        typer.echo(f"{file}: good ({len(contract.profile.active)} rules, prompt of {length} words)")


def schema() -> None:
    """Print the JSON Schema of profile files, for editors."""
    typer.echo(json.dumps(profile_schema(), indent=2, ensure_ascii=False))


def new(
    name: Annotated[str, typer.Argument(help="The name; the file is profiles/NAME.yaml.")],
    extends: Annotated[str, typer.Option("--extends", help="The profile to build on.")] = "strict",
) -> None:
    """Make a profile to edit: profiles/NAME.yaml, with its JSON Schema beside it."""
    load_profile(extends)
    if not name.replace("-", "").replace("_", "").isalnum():
        raise InputError(f"'{name}' is no profile name; use letters, digits, '-' and '_'")
    if name in profile_names():
        raise InputError(f"'{name}' is a shipped profile; choose another name")
    path = Path("profiles") / f"{name}.yaml"
    if path.exists():
        raise InputError(f"{path} exists already")
    path.parent.mkdir(exist_ok=True)
    write_whole(path, _NEW.format(name=name, parent=extends))
    schema_path = path.parent / "profile.schema.json"
    if not schema_path.exists():
        write_whole(schema_path, json.dumps(profile_schema(), indent=2, ensure_ascii=False) + "\n")
    typer.echo(f"{path}: made. Edit it, then run: steguard profile check {path}")
