"""Canon messages as A2A messages and task states, and back (``a2a-sdk`` 1.x).

The whole Canon message travels as one data part, so that it comes back as it was. The A2A
``message_id`` is the ``msg_id``. The name of the extension in ``extensions`` says what it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steguard.canon.bridges.errors import BridgeError, from_record, texts_only
from steguard.canon.exchange import reply
from steguard.canon.message import parse_message
from steguard.canon.model import Message
from steguard.errors import MissingExtra

if TYPE_CHECKING:
    from a2a import types

EXTENSION = "urn:steguard:canon:v1.0"
MEDIA_TYPE = "application/vnd.canon+json"
TEXT_MEDIA_TYPE = "text/vnd.canon"
_FROM_ASKER = ("request", "query", "notify", "retry", "cancel")
_STATES = {
    "request": "TASK_STATE_SUBMITTED",
    "retry": "TASK_STATE_SUBMITTED",
    "confirm": "TASK_STATE_WORKING",
    "report": "TASK_STATE_WORKING",
    "complete": "TASK_STATE_COMPLETED",
    "fail": "TASK_STATE_FAILED",
    "reject": "TASK_STATE_REJECTED",
    "cancel": "TASK_STATE_CANCELED",
}
_ACTIONS = {
    "TASK_STATE_SUBMITTED": "confirm",
    "TASK_STATE_WORKING": "confirm",
    "TASK_STATE_COMPLETED": "complete",
    "TASK_STATE_FAILED": "fail",
    "TASK_STATE_REJECTED": "reject",
    "TASK_STATE_CANCELED": "cancel",
}


def to_a2a(
    message: Message, *, context_id: str = "", task_id: str = "", role: str | None = None
) -> types.Message:
    """The A2A message. ``role`` is ``user`` or ``agent``; by default the action decides.

    Raises :class:`MissingExtra` without the SDK.
    """
    sdk, values = _sdk()
    if role not in (None, "user", "agent"):
        raise BridgeError(f"there is no role '{role}'; write user or agent")
    chosen = role or ("user" if message.action in _FROM_ASKER else "agent")
    part = sdk.Part(data=values(texts_only(message)), media_type=MEDIA_TYPE)
    made: types.Message = sdk.Message(
        message_id=message.msg_id,
        context_id=context_id,
        task_id=task_id,
        role=sdk.Role.ROLE_USER if chosen == "user" else sdk.Role.ROLE_AGENT,
        parts=[part],
        extensions=[EXTENSION],
    )
    return made


def from_a2a(message: types.Message) -> Message:
    """The Canon message in an A2A message: its data part, or a text part with Canon text.

    Raises :class:`BridgeError` where there is none, more than one, or content beside it that
    Canon cannot say.
    """
    _sdk()
    found: list[Message] = []
    others: list[str] = []
    for number, part in enumerate(message.parts, 1):
        made = _read(part, f"part {number}")
        if made is None:
            others.append(f"part {number} ({part.WhichOneof('content') or 'empty'})")
        else:
            found.append(made)
    if len(found) != 1:
        what = "no Canon message" if not found else f"{len(found)} Canon messages"
        raise BridgeError(
            f"the A2A message '{message.message_id}' has {what}; send one part of the type "
            f"{MEDIA_TYPE}"
        )
    if others:
        raise BridgeError(f"Canon cannot say {', '.join(others)}; send it in a message of its own")
    if message.message_id and message.message_id != found[0].msg_id:
        raise BridgeError(
            f"the A2A message is '{message.message_id}' and the Canon message in it is "
            f"'{found[0].msg_id}'; both ids must be the same"
        )
    return found[0]


def as_json(message: Message) -> dict[str, Any]:
    """The A2A message of a Canon message in the JSON form of the protocol."""
    _sdk()
    from google.protobuf.json_format import MessageToDict  # type: ignore[import-untyped]

    record: dict[str, Any] = MessageToDict(to_a2a(message))
    return record


def to_task_status(message: Message) -> types.TaskStatus:
    """The state of the task that a message tells, with the message in it.

    Raises :class:`BridgeError` for an action that is no state of a task.
    """
    sdk, _ = _sdk()
    if message.action not in _STATES:
        raise BridgeError(
            f"'{message.action}' is no state of a task; these are: {', '.join(_STATES)}"
        )
    state = sdk.TaskState.Value(_STATES[message.action])
    status: types.TaskStatus = sdk.TaskStatus(state=state, message=to_a2a(message))
    return status


def from_task_status(
    status: types.TaskStatus, request: Message, *, msg_id: str | None = None
) -> Message:
    """The Canon answer to a request that a state of its task means.

    A Canon message in the status is taken as it is. Raises :class:`BridgeError` for a state that
    has no action (``INPUT_REQUIRED``, ``AUTH_REQUIRED``).
    """
    sdk, _ = _sdk()
    if status.HasField("message") and EXTENSION in status.message.extensions:
        return from_a2a(status.message)
    name = sdk.TaskState.Name(status.state)
    if name not in _ACTIONS:
        raise BridgeError(f"Canon has no action for the state {name}; handle it in your program")
    told = " ".join(p.text for p in status.message.parts if p.WhichOneof("content") == "text")
    payload: dict[str, Any] = {}
    if _ACTIONS[name] in ("fail", "reject"):
        payload = {"reason": name.removeprefix("TASK_STATE_").lower()}
    if told.strip():
        payload["detail"] = told.strip()
    try:
        return reply(request, _ACTIONS[name], payload, msg_id=msg_id)
    except ValueError as error:
        raise BridgeError(f"no Canon message can be made of the status: {error}") from None


def _read(part: types.Part, where: str) -> Message | None:
    kind = part.WhichOneof("content")
    if kind == "data":
        from google.protobuf.json_format import MessageToDict

        record = MessageToDict(part.data)
        known = isinstance(record, dict) and "canon-message" in record
        return from_record(record, where) if known or part.media_type == MEDIA_TYPE else None
    if kind == "text" and (
        part.media_type == TEXT_MEDIA_TYPE or part.text.lstrip().startswith("canon-message:")
    ):
        parsed = parse_message(part.text)
        if parsed.message is None:
            first = parsed.findings[0]
            raise BridgeError(f"{where}, line {first.line}: {first.message}")
        return parsed.message
    return None


def _sdk() -> tuple[Any, Any]:
    try:
        from a2a import types
        from google.protobuf.json_format import ParseDict
        from google.protobuf.struct_pb2 import Value  # type: ignore[import-untyped]
    except ImportError:
        raise MissingExtra("The A2A SDK", "a2a") from None
    return types, lambda data: ParseDict(data, Value())
