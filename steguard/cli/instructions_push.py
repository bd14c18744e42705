"""``steguard instructions push``: rules from files into the database of a team."""

from __future__ import annotations

import json
from typing import Annotated

import typer


def command(
    by: Annotated[str, typer.Option("--by", help="Who adds them.")],
    rules: Annotated[
        list[str] | None, typer.Argument(metavar="RULES...", help="Files or folders of rules.")
    ] = None,
    to: Annotated[
        str,
        typer.Option(
            envvar="STEGUARD_STORE",
            help="The database: sqlite:///FILE or postgresql+psycopg://USER@HOST/DATABASE.",
        ),
    ] = "sqlite:///steguard.db",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Add new versions, bindings, shares and test cases to a database; makes it if need be.

    A version that is there keeps its status. A version with other content is an error.
    """
    from steguard.instructions.files import FolderStore
    from steguard.store import open_instructions
    from steguard.store.push import push

    source = FolderStore(list(rules or ["instructions"]))
    done = push(source, open_instructions(to), actor=by)
    if as_json:
        typer.echo(json.dumps({"added": done.added, "known": done.known}))
        return
    for ref in done.added:
        typer.echo(f"{ref}: added")
    typer.echo(f"{len(done.added)} versions added, {len(done.known)} known")
