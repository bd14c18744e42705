"""Reads an answer of the endpoint, whether a client library's object or plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steguard.result import Usage

_NOTHING = object()


def get(thing: Any, name: str, default: Any = None) -> Any:
    """An attribute or a key."""
    if isinstance(thing, dict):
        return thing.get(name, default)
    found = getattr(thing, name, _NOTHING)
    if found is not _NOTHING:
        return found
    return thing.get(name, default) if isinstance(thing, Mapping) else default


@dataclass(frozen=True, slots=True)
class Reply:
    """One choice of an answer, read once.

    ``text`` is the text of the message, ``refusal`` the model's refusal, ``tool_calls`` the calls
    it asks for.
    """

    text: str
    refusal: str | None
    tool_calls: Sequence[Any]
    finish_reason: str | None
    message: Any

    @property
    def unchecked(self) -> str | None:
        """Why there is no whole text to check, or None."""
        if self.refusal:
            return "refusal"
        if self.finish_reason in ("length", "content_filter"):
            return self.finish_reason
        if self.tool_calls and not self.text.strip():
            return "tool_calls"
        return None


def read_choices(response: Any) -> list[Reply]:
    """The choices of a chat completion, in order."""
    return [read_choice(choice) for choice in get(response, "choices") or ()]


def read_choice(choice: Any) -> Reply:
    message = get(choice, "message")
    calls = list(get(message, "tool_calls") or ())
    function = get(message, "function_call")
    if function is not None:
        calls.append(function)
    return Reply(
        text=read_content(get(message, "content")),
        refusal=get(message, "refusal") or None,
        tool_calls=calls,
        finish_reason=get(choice, "finish_reason"),
        message=message,
    )


def read_content(content: Any) -> str:
    """The text of a message's content: a string, nothing, or parts of which some are text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    return "\n\n".join(get(part, "text") or "" for part in content if get(part, "type") == "text")


def replace_content(content: Any, text: str) -> Any:
    """The content with its text replaced; parts that are no text stay as they are."""
    if not isinstance(content, Sequence) or isinstance(content, str):
        return text
    parts: list[Any] = []
    done = False
    for part in content:
        if get(part, "type") != "text":
            parts.append(part)
        elif not done:
            done = True
            if isinstance(part, Mapping):
                parts.append({**part, "text": text})
            else:
                parts.append(part.model_copy(update={"text": text}))
    return parts if done else [*parts, {"type": "text", "text": text}]


def read_usage(response: Any) -> Usage:
    """The tokens of one call; ``unknown`` is 1 where the endpoint did not tell."""
    usage = get(response, "usage")
    if usage is None:
        return Usage(unknown=1)
    prompt = get(usage, "prompt_tokens") or 0
    completion = get(usage, "completion_tokens") or 0
    return Usage(
        prompt,
        completion,
        get(usage, "total_tokens") or prompt + completion,
        get(get(usage, "prompt_tokens_details"), "cached_tokens") or 0,
        get(get(usage, "completion_tokens_details"), "reasoning_tokens") or 0,
    )
