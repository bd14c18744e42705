"""Puts the commands together. A command is imported when it is called, so each starts quickly."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from steguard import __version__

_COMMANDS = ("check", "fix", "run", "demo", "rules", "explain")
_GROUPS = ("profile", "canon", "gate", "instructions", "vocabulary")


class _LazyGroup(TyperGroup):
    """Finds a command in the module of its name; a group has the function ``build_app`` there."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - click's form
        return [*_COMMANDS, *_GROUPS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        if cmd_name not in (*_COMMANDS, *_GROUPS):
            return None
        module = import_module(f"steguard.cli.{cmd_name}")
        if cmd_name in _GROUPS:
            app = module.build_app()
        else:
            app = typer.Typer(add_completion=False, rich_markup_mode=None)
            app.command(cmd_name)(module.command)
        command = typer.main.get_command(app)
        command.name = cmd_name
        return command


def build() -> typer.Typer:
    """The whole application."""
    app = typer.Typer(
        name="steguard",
        cls=_LazyGroup,
        help="Check, repair and guard text so that it has one meaning.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_root)
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
