"""One contender of ``overhead.py`` in a process of its own: a call for each line on its input.

It prints the wall time and the processor time of each call in milliseconds. It imports nothing of
steguard but for the steguard contenders, so it also runs in an environment that has only a peer.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Callable
from importlib import metadata
from typing import Any, Literal

from openai import OpenAI
from pydantic import BaseModel, Field

SYSTEM = "You are an agent on a server. Work on files and services for the user."
JSON_PROMPT = "Next step of a file agent: get the settings from /etc/app/config.json."
TEXT_PROMPT = "Write two short steps: stop the web server, then copy the log file."
JSON_REPLY = (
    '{"action": "read", "target": "/etc/app/config.json", '
    '"reason": "Read the settings of the app."}'
)
TEXT_REPLY = "Stop the web server. Then copy the log file."

Call = Callable[[], Any]


class Step(BaseModel):
    """One step of an agent that works on files."""

    action: Literal["read", "write", "delete", "list", "parse"]
    target: str = Field(max_length=60, json_schema_extra={"x-ste": "off"})
    reason: str = Field(min_length=10, max_length=160, json_schema_extra={"x-ste": "default"})


def _request(prompt: str) -> dict[str, Any]:
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": prompt}]
    return {"model": "scripted", "messages": messages}


def _content(answer: Any) -> str:
    return answer.choices[0].message.content or ""


def raw(client: OpenAI) -> Call:
    """The client alone."""
    return lambda: _content(client.chat.completions.create(**_request(JSON_PROMPT)))


def by_hand(client: OpenAI) -> Call:
    """The client with a JSON Schema in the request, and pydantic on the answer."""
    schema = {"name": "Step", "schema": Step.model_json_schema()}
    form: Any = {"type": "json_schema", "json_schema": schema}

    def call() -> Step:
        answer = client.chat.completions.create(**_request(JSON_PROMPT), response_format=form)
        return Step.model_validate_json(_content(answer))

    return call


def steguard(client: OpenAI) -> Call:
    """The guard with the profile for tool calls and a pydantic model."""
    from steguard import Guard

    guard = Guard(client, "tool-call", schema=Step)

    def call() -> Any:
        answer = guard.chat.completions.create(**_request(JSON_PROMPT))
        assert answer.steguard.outcome == "passed", answer.steguard.findings
        return Step.model_validate(answer.steguard.data)

    return call


def instructor(client: OpenAI) -> Call:
    import instructor as library

    patched = library.from_openai(client, mode=library.Mode.JSON_SCHEMA)
    return lambda: patched.chat.completions.create(**_request(JSON_PROMPT), response_model=Step)


def guardrails(client: OpenAI) -> Call:
    from guardrails import Guard

    guard = Guard.for_pydantic(Step)
    guard.configure(allow_metrics_collection=False)

    def model(messages: Any = None, **_: Any) -> str:
        answer = client.chat.completions.create(model="scripted", messages=messages)
        return _content(answer)

    def call() -> Step:
        outcome = guard(model, messages=_request(JSON_PROMPT)["messages"])
        assert outcome.validation_passed, outcome.error
        return Step.model_validate(outcome.validated_output)

    return call


def raw_text(client: OpenAI) -> Call:
    return lambda: _content(client.chat.completions.create(**_request(TEXT_PROMPT)))


def steguard_text(client: OpenAI) -> Call:
    """The guard with all strict rules on a text."""
    from steguard import Guard

    guard = Guard(client, "strict")

    def call() -> Any:
        answer = guard.chat.completions.create(**_request(TEXT_PROMPT))
        assert answer.steguard.outcome == "passed", answer.steguard.findings
        return _content(answer)

    return call


CONTENDERS: dict[str, Callable[[OpenAI], Call]] = {
    made.__name__: made
    for made in (raw, by_hand, steguard, instructor, guardrails, raw_text, steguard_text)
}
PACKAGES = {"instructor": "instructor", "guardrails": "guardrails-ai"}


def main() -> None:
    name, base_url = sys.argv[1:3]
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    with OpenAI(base_url=base_url, api_key="x", max_retries=0) as client:
        try:
            call = CONTENDERS[name](client)
        except ImportError as error:
            out.write(json.dumps({"missing": str(error)}) + "\n")
            return
        wanted = ["openai", "pydantic"] + ([PACKAGES[name]] if name in PACKAGES else [])
        told = {"python": platform.python_version(), **{p: metadata.version(p) for p in wanted}}
        out.write(json.dumps({"versions": told}) + "\n")
        for _ in sys.stdin:
            wall, processor = time.perf_counter(), time.process_time()
            call()
            spent = time.perf_counter() - wall, time.process_time() - processor
            out.write(f"{spent[0] * 1000:.4f} {spent[1] * 1000:.4f}\n")


if __name__ == "__main__":
    main()
