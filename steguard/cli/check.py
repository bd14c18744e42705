"""``steguard check``: what is wrong with these texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import typer
from rich.console import Console

from steguard.cli.changed import added_lines
from steguard.cli.formats import FORMATS, summary
from steguard.cli.inputs import Checked, InputError, Source, read_sources
from steguard.contract import Contract, compile_contract
from steguard.profile import Profile
from steguard.yamlfile import nearest


def command(
    files: Annotated[list[str], typer.Argument(help="Files, folders, or - for standard input.")],
    profile: Annotated[
        str, typer.Option("--profile", "-p", help="A profile's name or file.")
    ] = "strict",
    format: Annotated[
        str, typer.Option("--format", "-f", help="text, json, agent, github or sarif.")
    ] = "text",
    schema: Annotated[
        str | None, typer.Option("--schema", help="A JSON Schema file for JSON texts.")
    ] = None,
    changed: Annotated[
        str | None,
        typer.Option(
            "--changed",
            metavar="[REV]",
            help="Only lines added since a git revision (HEAD).",
        ),
    ] = None,
    max_per_100_words: Annotated[
        float | None,
        typer.Option(
            "--max-per-100-words", min=0, help="Exit 1 only above so many findings per 100 words."
        ),
    ] = None,
    preview: Annotated[
        bool, typer.Option("--preview", help="Run the rules in preview too, as warnings.")
    ] = False,
) -> None:
    """Check texts. Exit status: 0 clean, 1 findings, 2 usage or bad input."""
    if format not in FORMATS:
        raise InputError(f"unknown format '{format}'{nearest(format, list(FORMATS))}")
    contract = compile_contract(profile, schema=schema)
    if preview:
        contract = compile_contract(_with_preview(contract), schema=schema)
    console = Console(highlight=False)
    checked = [_check(source, contract, changed) for source in _sources(files)]
    FORMATS[format](checked, console)
    if max_per_100_words is not None:
        bad = summary(checked)["findings_per_100_words"] > max_per_100_words
    else:
        bad = any(not item.verdict.passed for item in checked)
    raise typer.Exit(1 if bad else 0)


def _sources(files: Sequence[str]) -> list[Source]:
    found = list(read_sources(files))
    if not found:
        raise InputError("these folders hold no text files")
    return found


def _check(source: Source, base: Contract, changed: str | None) -> Checked:
    contract = source.contract(base)
    verdict = contract.check(source.text)
    if changed is not None and source.path is not None:
        added = added_lines(source.path, changed)
        if added is not None:
            kept = tuple(
                f
                for f in verdict.findings
                if added & set(range(f.line, f.line + verdict.text.count("\n", f.start, f.end) + 1))
            )
            verdict = replace(verdict, findings=kept)
    return Checked(source, verdict, contract)


def _with_preview(contract: Contract) -> Profile:
    from steguard.rules.registry import all_rules
    from steguard.types import Status

    settings = {
        rule.name: {"severity": "warning"}
        for rule in all_rules().values()
        if rule.status is Status.PREVIEW and rule.name not in contract.profile.active
    }
    return contract.profile.with_settings({"rules": settings})
