"""``steguard run``: one guarded call from the command line."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer
from rich.console import Console

from steguard.cli.endpoint import open_endpoint
from steguard.cli.inputs import InputError
from steguard.cli.story import tell_attempt, tell_result
from steguard.client import Guard
from steguard.contract import compile_contract
from steguard.errors import OutputRejected


def command(
    prompt: Annotated[str, typer.Argument(help="What to ask, or - for standard input.")],
    profile: Annotated[
        str, typer.Option("--profile", "-p", help="A profile's name or file.")
    ] = "strict",
    schema: Annotated[
        str | None, typer.Option("--schema", help="A JSON Schema file that the answer obeys.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option("--base-url", help="The endpoint; else OPENAI_BASE_URL.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", help="The model; else OPENAI_MODEL.")
    ] = None,
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", min=1, help="Tokens in one answer at the most.")
    ] = 400,
    temperature: Annotated[
        float | None, typer.Option("--temperature", min=0, help="The sampling temperature.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="The sampling seed.")] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show each draft, finding and feedback.")
    ] = False,
    format: Annotated[
        str, typer.Option("--format", "-f", help="text: the answer; json: the whole report.")
    ] = "text",
) -> None:
    """Ask a model once, guarded. The answer goes to standard output, the report to standard error.

    Exit status: 0 the answer obeys the profile, 1 it does not or was not checked, 2 usage, bad
    input or an endpoint that fails.
    """
    from openai import OpenAIError

    if format not in ("text", "json"):
        raise InputError(f"unknown format '{format}'; valid: text, json")
    question = sys.stdin.read() if prompt == "-" else prompt
    if not question.strip():
        raise InputError("the prompt is empty")
    contract = compile_contract(profile, schema=schema)
    notes = Console(stderr=True, highlight=False)
    extra = {"temperature": temperature, "seed": seed}
    with open_endpoint(base_url, model) as (client, name):
        guard = Guard(
            client,
            contract,
            on_attempt=(lambda attempt: tell_attempt(attempt, notes)) if verbose else None,
        )
        try:
            guard.chat.completions.create(
                model=name,
                messages=[{"role": "user", "content": question}],
                max_tokens=max_tokens,
                **{key: value for key, value in extra.items() if value is not None},
            )
            result = guard.last_result
        except OutputRejected as error:
            result = error.result
        except OpenAIError as error:
            raise InputError(f"the endpoint failed: {type(error).__name__}: {error}") from None
    assert result is not None
    if format == "json":
        typer.echo(json.dumps(result.to_dict(), ensure_ascii=False))
    else:
        typer.echo(result.text)
    tell_result(result, notes)
    raise typer.Exit(0 if result.compliant else 1)
