"""``steguard demo``: the real job on a real model, shown step by step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from steguard.cli.endpoint import open_endpoint
from steguard.cli.inputs import InputError
from steguard.cli.story import tell_attempt, tell_result
from steguard.client import Guard
from steguard.contract import compile_contract

_STEP_SCHEMA: dict[str, Any] = {
    "title": "agent_step",
    "type": "object",
    "properties": {
        "action": {"enum": ["read", "write", "delete", "list", "parse"]},
        "target": {"type": "string", "minLength": 1, "maxLength": 60, "x-ste": "off"},
        "reason": {"type": "string", "minLength": 10, "maxLength": 120, "x-ste": "default"},
    },
    "required": ["action", "target", "reason"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Scene:
    """One task of the demonstration."""

    title: str
    prompt: str
    profile: str
    schema: dict[str, Any] | None = None
    settings: dict[str, Any] = field(default_factory=dict)


SCENES = (
    Scene(
        "Text, profile 'strict': the draft goes back until it obeys",
        "What does a firewall do? Answer in two sentences.",
        "strict",
    ),
    Scene(
        "Conversation, profile 'loose': vague words only",
        "Why must you make a backup? Answer in two sentences.",
        "loose",
    ),
    Scene(
        "An agent step as JSON, profile 'tool-call'",
        "Next step of a file agent: get the settings from /etc/app/config.json.",
        "tool-call",
        schema=_STEP_SCHEMA,
    ),
    Scene(
        "A model that does not learn: the fallback 'strip'",
        "How does a fridge work? Answer in three sentences.",
        "strict",
        settings={"retry": {"max_attempts": 2}},
    ),
)


def command(
    base_url: Annotated[
        str | None, typer.Option("--base-url", help="The endpoint; else OPENAI_BASE_URL.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", help="The model; else OPENAI_MODEL.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="The sampling seed.")] = 1,
) -> None:
    """Guard a real model on four tasks and show every draft, finding, feedback and result.

    Without an endpoint the embedded model does the work, offline.
    """
    from openai import OpenAIError

    console = Console(highlight=False)
    tokens = 0
    with open_endpoint(base_url, model) as (client, name):
        console.print(Text(f"Model: {name}"))
        for scene in SCENES:
            try:
                tokens += _play(scene, client, name, seed, console)
            except OpenAIError as error:
                raise InputError(f"the endpoint failed: {type(error).__name__}: {error}") from None
    console.print()
    console.print(Text(f"{len(SCENES)} tasks, {tokens} tokens.", style="bold"))


def _play(scene: Scene, client: Any, model: str, seed: int, console: Console) -> int:
    console.print()
    console.print(Rule(Text(scene.title, style="bold"), align="left"))
    console.print(Text(f"Task: {scene.prompt}"))
    contract = compile_contract(scene.profile)
    if scene.settings:
        contract = compile_contract(contract.profile.with_settings(scene.settings))
    guard = Guard(
        client, contract, schema=scene.schema, on_attempt=lambda a: tell_attempt(a, console)
    )
    completion = guard.chat.completions.create(
        model=model,
        messages=[{"role": "user", "content": scene.prompt}],
        max_tokens=160,
        temperature=0.7,
        seed=seed,
    )
    result = completion.steguard
    tell_result(result, console)
    for sentence in result.worst.removed:
        console.print(Text(f"  Removed: {' '.join(sentence.split())}", style="dim"))
    console.print(Text("The caller gets:", style="bold"))
    console.print(Padding(Text(result.text or "(nothing)", style="green"), (0, 0, 0, 4)))
    return int(result.usage.total_tokens)
