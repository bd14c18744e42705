"""Reads and rebuilds the chunks of a stream: a client library's objects, plain data, or text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any


class Delta:
    """What one chunk says about one choice.

    ``position`` is its place in the chunk. ``tools`` are deltas of tool calls, ``tells_end`` says
    that a chunk of this kind tells why the answer ends, in its last one. ``bare`` says that there
    is nothing in it but text, so that it may go when its text goes.
    """

    __slots__ = (
        "bare", "finish_reason", "hidden", "index", "position", "refusal", "role", "tells_end",
        "text", "tools",
    )  # fmt: skip

    def __init__(
        self,
        index: int,
        position: int,
        text: Any,
        tells_end: bool = False,
        finish_reason: str | None = None,
        refusal: str | None = None,
        role: str | None = None,
        tools: Any = None,
    ) -> None:
        self.index = index
        self.position = position
        self.text: str = text if isinstance(text, str) else ""
        self.tells_end = tells_end
        self.finish_reason = finish_reason
        self.refusal = refusal
        self.role = role
        self.tools = tools
        self.hidden: tuple[str, ...] = ()
        self.bare = not (finish_reason or refusal or role or tools)

    def hide(self, *names: str) -> None:
        """Leave these out of what the caller gets: ``role``, ``tools``, ``finish_reason``."""
        self.hidden += tuple(name for name in names if getattr(self, name))
        for name in names:
            setattr(self, name, None)
        self.bare = not (self.finish_reason or self.refusal or self.role or self.tools)


def read_chunk(chunk: Any) -> tuple[Sequence[Delta], bool]:
    """The deltas of a chunk, and whether it tells the usage.

    There are no deltas in usage, metadata and unknown kinds of chunk.
    """
    if isinstance(chunk, str):
        return (Delta(0, 0, chunk),), False
    try:
        choices, usage = chunk.choices, chunk.usage
    except AttributeError:
        choices, usage = _get(chunk, "choices"), _get(chunk, "usage")
    if not choices:
        return (), usage is not None
    if len(choices) == 1:
        return (_read(choices[0], 0),), usage is not None
    return [_read(choice, place) for place, choice in enumerate(choices)], usage is not None


def _read(choice: Any, position: int) -> Delta:
    try:
        delta = choice.delta
        return Delta(
            choice.index or 0, position, delta.content, True, choice.finish_reason, delta.refusal,
            delta.role, delta.tool_calls or delta.function_call,
        )  # fmt: skip
    except AttributeError:
        return _read_loosely(choice, position)


def _read_loosely(choice: Any, position: int) -> Delta:
    """The same for plain data, and for objects that lack some of the fields."""
    delta = _get(choice, "delta")
    return Delta(
        _get(choice, "index") or 0,
        position,
        _get(delta, "content"),
        True,
        _get(choice, "finish_reason"),
        _get(delta, "refusal"),
        _get(delta, "role"),
        _get(delta, "tool_calls") or _get(delta, "function_call"),
    )


def with_usage(chunk: Any, usage: Any) -> Any:
    """The chunk with other usage numbers."""
    return _copy(chunk, {"usage": usage})


def rewritten(
    chunk: Any,
    texts: Mapping[int, str],
    *,
    hidden: Mapping[int, Sequence[str]] | None = None,
    like: Any = None,
    index: int | None = None,
) -> Any:
    """A copy of the chunk with these texts, and without what is hidden, by position in it.

    ``like`` gives the identity (id, created, model) of another stream, ``index`` another choice
    number. The original is never changed.
    """
    if isinstance(chunk, str):
        return texts.get(0, chunk)
    choices = []
    for position, choice in enumerate(_get(chunk, "choices") or ()):
        update: dict[str, Any] = {} if index is None else {"index": index}
        inner: dict[str, Any] = {}
        if position in texts:
            inner["content"] = texts[position]
        for name in (hidden or {}).get(position, ()):
            if name == "finish_reason":
                update[name] = None
            elif name == "role":
                inner[name] = None
            else:
                inner |= {"tool_calls": None, "function_call": None}
        if inner:
            update["delta"] = _copy(_get(choice, "delta"), inner)
        choices.append(_copy(choice, update))
    update = {"choices": choices}
    if like is not None and not isinstance(like, str):
        for name in ("id", "created", "model", "system_fingerprint"):
            value = _get(like, name)
            if value is not None:
                update[name] = value
    return _copy(chunk, update)


def _copy(thing: Any, update: Mapping[str, Any]) -> Any:
    if isinstance(thing, Mapping):
        return {**thing, **update}
    return thing.model_copy(update=dict(update))


def _get(thing: Any, name: str) -> Any:
    kind: Any = type(thing)
    return thing.get(name) if _is_mapping(kind) else getattr(thing, name, None)


@cache
def _is_mapping(kind: type[object]) -> bool:
    """The same as ``isinstance`` with ``Mapping``, which is too slow for every field of a chunk."""
    return issubclass(kind, Mapping)
