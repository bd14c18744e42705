"""Canon requests as MCP tool calls, answers as tool results, and back (``mcp`` 2.x).

The tool is the subject, its arguments are the payload. The envelope travels in ``_meta``, so that
a message comes back as it was. A condition cannot travel: a tool call is made or it is not made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from steguard.canon.bridges.errors import BridgeError, build, from_record, texts_only
from steguard.canon.exchange import reply
from steguard.canon.model import Message, Placeholder, TypeRef
from steguard.canon.payload import to_json, to_text
from steguard.canon.registry import Registry, new_id
from steguard.errors import MissingExtra

if TYPE_CHECKING:
    from mcp import types

META = "steguard/canon"
CALLS = ("request", "query")
RESULTS = ("report", "complete", "confirm")
FAILURES = ("fail", "reject")


def to_mcp_call(message: Message, registry: Registry | None = None) -> types.CallToolRequest:
    """The tool call of a ``request`` or a ``query``; typed arguments where there is a registry.

    Raises :class:`BridgeError` for another action, a condition, a placeholder, or a message that
    the registry refuses; :class:`MissingExtra` without the SDK.
    """
    sdk = _sdk()
    if message.action not in CALLS:
        raise BridgeError(f"'{message.action}' is no tool call; these are: {', '.join(CALLS)}")
    if message.condition is not None:
        raise BridgeError("a tool call has no condition; test the 'if' first and call then")
    for name, value in message.payload.items():
        if isinstance(value, Placeholder | TypeRef):
            raise BridgeError(f"'{name}' is still '{value}'; fill it first")
    envelope = {k: v for k, v in texts_only(message).items() if k != "payload"}
    params = sdk.CallToolRequestParams(
        name=message.subject,
        arguments=_typed(message, registry),
        _meta={META: envelope},
    )
    made: types.CallToolRequest = sdk.CallToolRequest(method="tools/call", params=params)
    return made


def from_mcp_call(
    call: types.CallToolRequest | types.CallToolRequestParams,
    *,
    sender: str | None = None,
    recipient: str | None = None,
    msg_id: str | None = None,
) -> Message:
    """The request in a tool call. Without an envelope in ``_meta`` the two sides must be given.

    Raises :class:`BridgeError` where no valid message can be made.
    """
    _sdk()
    params: Any = getattr(call, "params", call)
    arguments = params.arguments or {}
    envelope = (params.meta or {}).get(META)
    if envelope is not None:
        if not isinstance(envelope, Mapping) or envelope.get("subject") != params.name:
            raise BridgeError(f"the envelope in _meta is not about the tool '{params.name}'")
        return from_record({**envelope, "payload": dict(arguments)}, "tool call")
    if sender is None or recipient is None:
        raise BridgeError("the tool call has no envelope; give sender=... and recipient=...")
    return build(
        sender=sender,
        recipient=recipient,
        msg_id=msg_id or new_id(),
        action="request",
        subject=params.name,
        payload=_payload(arguments),
    )


def to_mcp_result(message: Message, registry: Registry | None = None) -> types.CallToolResult:
    """The tool result of an answer: ``report complete confirm``, or an error of ``fail reject``.

    Raises :class:`BridgeError` for another action.
    """
    from steguard.canon.render import render_message

    sdk = _sdk()
    if message.action not in (*RESULTS, *FAILURES):
        listed = ", ".join((*RESULTS, *FAILURES))
        raise BridgeError(f"'{message.action}' is no result of a tool; these are: {listed}")
    envelope = {k: v for k, v in texts_only(message).items() if k != "payload"}
    made: types.CallToolResult = sdk.CallToolResult(
        content=[sdk.TextContent(type="text", text=render_message(message))],
        structuredContent=_typed(message, registry),
        isError=message.action in FAILURES,
        _meta={META: envelope},
    )
    return made


def from_mcp_result(
    result: types.CallToolResult, request: Message, *, msg_id: str | None = None
) -> Message:
    """The Canon answer that a tool result means: as it was sent, else a ``report`` or a ``fail``.

    Raises :class:`BridgeError` for content that Canon cannot say (pictures, sound, links), and for
    a result that needs more input.
    """
    _sdk()
    envelope = (result.meta or {}).get(META)
    content = result.structured_content
    if isinstance(envelope, Mapping):
        made = from_record({**envelope, "payload": dict(content or {})}, "tool result")
        if made.reply_to not in (None, request.msg_id):
            raise BridgeError(f"the result answers '{made.reply_to}' and not '{request.msg_id}'")
        return made
    if result.result_type != "complete":
        raise BridgeError(f"Canon has no action for the result type '{result.result_type}'")
    others = [part.type for part in result.content if part.type != "text"]
    if others:
        raise BridgeError(f"Canon cannot say the content {', '.join(others)}")
    told = "\n".join(part.text for part in result.content if part.type == "text")
    if result.is_error:
        payload: dict[str, Any] = {"reason": "tool_error", **({"detail": told} if told else {})}
        return _reply(request, "fail", payload, msg_id)
    if isinstance(content, Mapping):
        return _reply(request, "report", _payload(content), msg_id)
    if content is not None:
        raise BridgeError("the structured content is no object; a payload has named fields")
    return _reply(request, "report", {"text": told} if told else {}, msg_id)


def _reply(request: Message, action: str, payload: dict[str, Any], msg_id: str | None) -> Message:
    try:
        return reply(request, action, payload, msg_id=msg_id)
    except ValueError as error:
        raise BridgeError(f"no Canon message can be made of the result: {error}") from None


def _typed(message: Message, registry: Registry | None) -> dict[str, Any]:
    if registry is None:
        plain: dict[str, Any] = to_json(message.payload)
        return plain
    typed = registry.read(message)
    if not typed.ok:
        raise BridgeError(" ".join(p.message for p in typed.errors))
    read: dict[str, Any] = to_json({**message.payload, **typed.payload})
    return read


def _payload(values: Mapping[str, Any]) -> dict[str, Any]:
    """JSON values as Canon values; a value that is null is left out, as if it were not given."""
    try:
        return {key: to_text(value) for key, value in values.items() if value is not None}
    except ValueError as error:
        raise BridgeError(str(error)) from None


def _sdk() -> Any:
    try:
        from mcp import types
    except ImportError:
        raise MissingExtra("The MCP SDK", "mcp") from None
    return types
