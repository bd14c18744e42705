"""``steguard fix``: make the safe repairs."""

from __future__ import annotations

import difflib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from steguard.cli.inputs import InputError, Source, read_sources
from steguard.contract import compile_contract
from steguard.repair import Fixed, fix_text
from steguard.types import Severity


def command(
    files: Annotated[list[str], typer.Argument(help="Files, folders, or - for standard input.")],
    profile: Annotated[
        str, typer.Option("--profile", "-p", help="A profile's name or file.")
    ] = "strict",
    diff: Annotated[
        bool, typer.Option("--diff", help="Show the changes and write nothing.")
    ] = False,
    unsafe: Annotated[
        bool, typer.Option("--unsafe", help="Also make repairs that can change the meaning.")
    ] = False,
) -> None:
    """Repair texts in place. Exit status: 0 nothing is left, 1 findings remain, 2 bad input.

    Standard input goes to standard output. Code, numbers and names never change.
    """
    contract = compile_contract(profile)
    left = 0
    notes = Console(stderr=True, highlight=False)
    for source in list(read_sources(files)):
        fixed = fix_text(source.text, source.contract(contract), unsafe=unsafe)
        left += sum(f.severity is Severity.ERROR for f in fixed.findings)
        if diff:
            typer.echo(_diff(source, fixed), nl=False)
        elif source.path is None:
            typer.echo(fixed.text, nl=False)
        elif fixed.text != source.text:
            write_whole(source.path, fixed.text)
        notes.print(
            f"{source.name}: {fixed.applied} repairs, {len(fixed.findings)} findings remain",
            markup=False,
        )
    raise typer.Exit(1 if left else 0)


def _diff(source: Source, fixed: Fixed) -> str:
    lines = difflib.unified_diff(
        source.text.splitlines(keepends=True),
        fixed.text.splitlines(keepends=True),
        f"a/{source.name}",
        f"b/{source.name}",
    )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def write_whole(path: Path, text: str) -> None:
    """Replace a file in one step, so that it is never half-written; its mode stays."""
    target = path.resolve()
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode("utf-8"))
            if target.exists():
                shutil.copymode(target, name)
            os.replace(name, target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
