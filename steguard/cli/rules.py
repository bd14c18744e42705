"""``steguard rules``: the list of rules."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from steguard.cli.inputs import InputError
from steguard.profile import load_profile
from steguard.rules.registry import all_rules


def command(
    profile: Annotated[
        str | None, typer.Option("--profile", "-p", help="Only the rules that this profile runs.")
    ] = None,
    format: Annotated[str, typer.Option("--format", "-f", help="text or json.")] = "text",
) -> None:
    """List the rules: code, name, status, fix, source and what it finds."""
    if format not in ("text", "json"):
        raise InputError(f"unknown format '{format}'; valid: text, json")
    shown = list(all_rules().values())
    if profile is not None:
        active = load_profile(profile).active
        shown = [a.rule for a in sorted(active.values(), key=lambda a: a.rule.code)]
    if format == "json":
        records = [
            {
                "code": rule.code,
                "name": rule.name,
                "status": rule.status.value,
                "fix": rule.fix.value,
                "source": rule.source,
                "summary": rule.summary,
            }
            for rule in shown
        ]
        typer.echo(json.dumps({"rules": records}, ensure_ascii=False))
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("code", "name", "status", "fix", "source", "finds"):
        table.add_column(heading, no_wrap=heading in ("code", "name"))
    for rule in shown:
        table.add_row(
            rule.code, rule.name, rule.status.value, rule.fix.value, rule.source, rule.summary
        )
    Console(highlight=False).print(table)
