"""The values of a message that a mapping uses, and the proof that it uses all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from steguard.canon.model import Message, Placeholder, TypeRef
from steguard.canon.payload import to_json
from steguard.canon.registry import Registry
from steguard.errors import SteguardError


class GenerationError(SteguardError, ValueError):
    """Nothing can be generated from this message with this mapping; the message says why."""


def values_of(message: Message, registry: Registry | None) -> dict[str, Any]:
    """The payload, typed where there is a registry. Raises :class:`GenerationError`."""
    if registry is None:
        values: dict[str, Any] = dict(message.payload)
    else:
        typed = registry.read(message)
        if not typed.ok:
            raise GenerationError(
                "the message is not valid: "
                + " ".join(f"{p.message} {p.suggestion or ''}".strip() for p in typed.errors)
            )
        values = {**message.payload, **typed.payload}
    for name, value in values.items():
        if isinstance(value, Placeholder | TypeRef):
            raise GenerationError(f"'{name}' is still '{value}'; fill it first")
    return values


def used_all(
    message: Message, values: Mapping[str, Any], used: Iterable[str], ignored: Iterable[str]
) -> None:
    """Raise :class:`GenerationError` where a field of the message would be dropped."""
    left = set(values) - set(used) - set(ignored)
    if left:
        names = ", ".join(f"'{name}'" for name in sorted(left))
        raise GenerationError(
            f"the mapping of '{message.subject}' {message.action} does not use {names}; "
            "use it, or name it under 'ignore'"
        )


def pick(values: Mapping[str, Any], name: str, message: Message) -> Any:
    """One value of the message. Raises :class:`GenerationError` where it is missing."""
    if name not in values:
        raise GenerationError(
            f"the mapping needs '{name}' and the message '{message.msg_id}' does not have it"
        )
    return values[name]


def single(value: Any, name: str) -> Any:
    """The value if it is one. Raises :class:`GenerationError` for a list or a group."""
    if isinstance(value, list | tuple | Mapping):
        raise GenerationError(f"'{name}' is a list or a group, and one value is needed here")
    return value


def text_of(value: Any, name: str) -> str:
    """The value as text, for an address or a header."""
    plain = to_json(single(value, name))
    if isinstance(plain, bool):
        return "true" if plain else "false"
    return str(plain)
