"""``steguard vocabulary``: an approved word list from the user's own copy of the standard."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from steguard import vocabulary
from steguard.cli.fix import write_whole
from steguard.cli.inputs import InputError


def build_app() -> typer.Typer:
    """The group of commands."""
    app = typer.Typer(help="Make and check an approved word list.", no_args_is_help=True)
    app.command("build")(build)
    app.command("check")(check)
    return app


def build(
    pdf: Annotated[Path, typer.Option("--pdf", help="Your copy of the standard.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The JSON Lines file to write.")] = Path(
        "vocabulary.jsonl"
    ),
    first: Annotated[int, typer.Option("--first", min=1, help="The first dictionary page.")] = 1,
    last: Annotated[
        int | None, typer.Option("--last", min=1, help="The last dictionary page.")
    ] = None,
    format: Annotated[str, typer.Option("--format", "-f", help="text or json.")] = "text",
) -> None:
    """Read the dictionary pages of a PDF and write a vocabulary.

    The counts tell a bad parse. Exit status: 0 good, 1 the counts look wrong, 2 bad input.
    """
    if format not in ("text", "json"):
        raise InputError(f"unknown format '{format}'; valid: text, json")
    if not pdf.is_file():
        raise InputError(f"{pdf}: there is no such file")
    report = vocabulary.build(pdf, first=first, last=last)
    if not report.words:
        raise InputError(f"{pdf}: no page holds dictionary entries")
    write_whole(out, vocabulary.dump(report.words))
    console = Console(highlight=False)
    if format == "json":
        typer.echo(json.dumps(report.to_dict(), ensure_ascii=False))
    else:
        console.print(
            f"{out}: {report.approved} approved words, {report.not_approved} not approved",
            markup=False,
        )
        for pos, count in report.by_pos.items():
            console.print(f"  {count:5d}  {pos}", markup=False)
        for warning in report.warnings:
            console.print(f"warning: {warning}", markup=False)
    raise typer.Exit(1 if report.warnings else 0)


def check(
    files: Annotated[list[Path], typer.Argument(help="Vocabulary files.")],
) -> None:
    """Check vocabulary files and name the first fault with its line."""
    for file in files:
        loaded = vocabulary.load(file)
        typer.echo(f"{file}: good ({len(loaded.approved)} approved forms)")
