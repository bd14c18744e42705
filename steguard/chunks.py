"""Reads and rebuilds the chunks of a stream: a client library's objects, plain data, or text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steguard.reply import get


@dataclass(slots=True)
class Delta:
    """What one chunk says about one choice. ``position`` is its place in the chunk."""

    index: int
    position: int
    text: str
    finish_reason: str | None
    refusal: str | None
    tools: Any
    bare: bool
    """Whether there is nothing in it but text, so that it may go when its text goes."""


def read_deltas(chunk: Any) -> Sequence[Delta]:
    """The deltas of a chunk; empty for usage, metadata and unknown kinds of chunk."""
    if isinstance(chunk, str):
        return [Delta(0, 0, chunk, None, None, None, True)]
    choices = get(chunk, "choices")
    if not choices:
        return ()
    return [_read(choice, position) for position, choice in enumerate(choices)]


def _read(choice: Any, position: int) -> Delta:
    delta = get(choice, "delta")
    text = get(delta, "content")
    reason = get(choice, "finish_reason")
    refusal = get(delta, "refusal")
    tools = get(delta, "tool_calls") or get(delta, "function_call")
    bare = not (reason or refusal or tools or get(delta, "role"))
    if not isinstance(text, str):
        text = ""
    return Delta(get(choice, "index") or 0, position, text, reason, refusal, tools, bare)


def has_usage(chunk: Any) -> bool:
    return not isinstance(chunk, str) and get(chunk, "usage") is not None


def with_usage(chunk: Any, usage: Any) -> Any:
    """The chunk with other usage numbers."""
    if isinstance(chunk, Mapping):
        return {**chunk, "usage": usage}
    return chunk.model_copy(update={"usage": usage})


def rewritten(
    chunk: Any, texts: Mapping[int, str], *, like: Any = None, index: int | None = None
) -> Any:
    """A copy of the chunk with these texts, by position in it.

    ``like`` gives the identity (id, created, model) of another stream, ``index`` another choice
    number. The original is never changed.
    """
    if isinstance(chunk, str):
        return texts.get(0, chunk)
    choices = []
    for position, choice in enumerate(get(chunk, "choices") or ()):
        update: dict[str, Any] = {} if index is None else {"index": index}
        if position in texts:
            update["delta"] = _copy(get(choice, "delta"), {"content": texts[position]})
        choices.append(_copy(choice, update))
    update = {"choices": choices}
    if like is not None and not isinstance(like, str):
        for name in ("id", "created", "model", "system_fingerprint"):
            value = get(like, name)
            if value is not None:
                update[name] = value
    return _copy(chunk, update)


def _copy(thing: Any, update: Mapping[str, Any]) -> Any:
    if isinstance(thing, Mapping):
        return {**thing, **update}
    return thing.model_copy(update=dict(update))
