"""The messages of a call in the form of an API.

Roles are a matter of each API; the authority of a rule is a matter of the program. Only the form
changes here: every API gets the same text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from steguard.errors import UsageError
from steguard.yamlfile import nearest

TARGETS = ("openai", "openai-developer", "anthropic")

Messages = Sequence[Mapping[str, Any]]


def for_target(messages: Messages, target: str) -> dict[str, Any]:
    """The keyword arguments of a call: ``messages``, and ``system`` where the API wants it apart.

    ``openai`` has a system message, ``openai-developer`` a developer message, and ``anthropic``
    a system parameter with blocks for tools.
    """
    if target == "openai":
        return {"messages": [dict(message) for message in messages]}
    if target == "openai-developer":
        return {"messages": [_developer(message) for message in messages]}
    if target == "anthropic":
        system = [str(m["content"]) for m in messages if m["role"] == "system"]
        turns = [_anthropic(message) for message in messages if message["role"] != "system"]
        return {"system": "\n\n".join(system), "messages": _merged(turns)}
    raise UsageError(f"unknown target '{target}'{nearest(target, TARGETS)}")


def _developer(message: Mapping[str, Any]) -> dict[str, Any]:
    role = message["role"]
    return {**message, "role": "developer" if role == "system" else role}


def _anthropic(message: Mapping[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    if message["role"] == "tool":
        result = {
            "type": "tool_result",
            "tool_use_id": message.get("tool_call_id"),
            "content": content,
        }
        return {"role": "user", "content": [result]}
    blocks = _blocks(content)
    for call in message.get("tool_calls") or ():
        function = call["function"]
        blocks.append(
            {
                "type": "tool_use",
                "id": call["id"],
                "name": function["name"],
                "input": json.loads(function["arguments"] or "{}"),
            }
        )
    return {"role": message["role"], "content": blocks}


def _blocks(content: Any) -> list[Any]:
    if isinstance(content, list):
        return list(content)
    return [{"type": "text", "text": content}] if content else []


def _merged(turns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Neighbours of one role as one turn, as the API wants it."""
    merged: list[dict[str, Any]] = []
    for turn in turns:
        if merged and merged[-1]["role"] == turn["role"]:
            merged[-1] = {**turn, "content": [*merged[-1]["content"], *turn["content"]]}
        else:
            merged.append(turn)
    return merged
