"""What a bridge raises, and what both bridges share."""

from __future__ import annotations

from typing import Any

from steguard.canon.model import Message
from steguard.canon.payload import to_text
from steguard.canon.render import message_from_json, message_json
from steguard.errors import SteguardError


class BridgeError(SteguardError, ValueError):
    """A message that the other protocol cannot say; the error names the part and the remedy."""


def texts_only(message: Message) -> dict[str, Any]:
    """The JSON form with every value of the payload as Canon writes it.

    The protocols have one type of number, so that 2 would come back as 2.0.
    """
    plain = message.model_copy(update={"payload": to_text(message.payload)})
    return message_json(plain)


def from_record(record: Any, where: str) -> Message:
    """The message in a JSON form. Raises :class:`BridgeError`."""
    if not isinstance(record, dict):
        raise BridgeError(f"{where}: the Canon message is no object")
    try:
        payload = to_text(record.get("payload", {}))
        return message_from_json({**record, "payload": payload})
    except ValueError as error:
        raise BridgeError(f"{where}: this is no valid Canon message: {error}") from None


def build(**fields: Any) -> Message:
    """A message of these fields. Raises :class:`BridgeError` where they are not valid."""
    try:
        return Message(**fields)
    except ValueError as error:
        raise BridgeError(f"no Canon message can be made: {error}") from None
