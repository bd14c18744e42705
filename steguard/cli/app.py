"""Puts the commands together."""

from __future__ import annotations

from typing import Annotated

import typer

from steguard import __version__
from steguard.cli import (
    canon,
    check,
    demo,
    explain,
    fix,
    gate,
    instructions,
    profile,
    rules,
    run,
    vocabulary,
)


def build() -> typer.Typer:
    """The whole application."""
    app = typer.Typer(
        name="steguard",
        help="Check, repair and guard text so that it has one meaning.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_root)
    app.command("check")(check.command)
    app.command("fix")(fix.command)
    app.command("run")(run.command)
    app.command("demo")(demo.command)
    app.command("rules")(rules.command)
    app.command("explain")(explain.command)
    app.add_typer(profile.build(), name="profile")
    app.add_typer(canon.build(), name="canon")
    app.add_typer(gate.build(), name="gate")
    app.add_typer(instructions.build(), name="instructions")
    app.add_typer(vocabulary.build_app(), name="vocabulary")
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"steguard {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Check, repair and guard text so that it has one meaning."""
