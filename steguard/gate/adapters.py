"""Tool calls of the OpenAI API and of MCP, to the gate and back.

Arguments come from a model as JSON text. They are read strictly: a key that stands twice, text
that is no object, NaN and trailing text make a call with a ``fault``, and the gate denies it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import regex

from steguard.errors import MissingExtra
from steguard.gate import kinds
from steguard.gate.errors import Refused
from steguard.gate.model import Decision, SideEffect, ToolCall
from steguard.gate.policy import ToolSpec
from steguard.gate.session import Session


class _Fault(ValueError):
    pass


def tool_call(name: str, arguments: str | Mapping[str, Any] | None, call_id: str = "") -> ToolCall:
    """A call from a tool name and JSON text, or data that was read already."""
    try:
        return ToolCall(name, _read(arguments), call_id)
    except (ValueError, RecursionError) as error:
        return ToolCall(name, {}, call_id, fault=str(error) or type(error).__name__)


def _read(arguments: str | Mapping[str, Any] | None) -> dict[str, Any]:
    if arguments is None or arguments == "":
        return {}
    if not isinstance(arguments, str):
        data: Any = arguments
    else:
        data = json.loads(arguments, object_pairs_hook=_pairs, parse_constant=_constant)
    if not isinstance(data, Mapping):
        raise _Fault(f"they are JSON of type {type(data).__name__}, not an object")
    return dict(data)


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _Fault(f"the key '{key}' stands there twice")
        found[key] = value
    return found


def _constant(name: str) -> Any:
    raise _Fault(f"{name} is no JSON number")


def openai_calls(answer: Any) -> list[ToolCall]:
    """The tool calls of a chat completion, of its message, or of a list of tool calls.

    It takes the client library's objects and plain dicts. A call that is no function call has a
    fault.
    """
    choices = _get(answer, "choices")
    if choices:
        return [call for choice in choices for call in openai_calls(_get(choice, "message"))]
    calls = answer if isinstance(answer, list | tuple) else _get(answer, "tool_calls")
    return [_openai_call(one) for one in calls or ()]


def _openai_call(one: Any) -> ToolCall:
    identity = str(_get(one, "id") or "")
    function = _get(one, "function")
    if function is None:
        kind = _get(one, "type")
        name = str(_get(_get(one, str(kind)), "name") or kind)
        return ToolCall(name, {}, identity, fault=f"a call of type {kind!r} has no JSON arguments")
    return tool_call(str(_get(function, "name")), _get(function, "arguments"), identity)


def _get(thing: Any, name: str) -> Any:
    """A field of an object or a dict, in camel case or in snake case."""
    snake = regex.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    for one in (name, snake):
        found = thing.get(one) if isinstance(thing, Mapping) else getattr(thing, one, None)
        if found is not None:
            return found
    return None


def openai_message(call: ToolCall, result: Any) -> dict[str, Any]:
    """The tool message for a result, or for a decision that the call does not run."""
    if isinstance(result, Decision):
        text = refusal(result)
    else:
        text = result if isinstance(result, str) else json.dumps(result, default=str)
    return {"role": "tool", "tool_call_id": call.call_id, "content": text}


def refusal(decision: Decision) -> str:
    """What a model is told of a call that did not run: why, and what it may do instead."""
    record = {
        "status": "not_run" if decision.effect.value == "deny" else "needs_approval",
        "reason": decision.reason,
        "alternatives": list(decision.alternatives),
    }
    return json.dumps(record, ensure_ascii=False)


def answer_openai(
    session: Session, answer: Any, tools: Mapping[str, Callable[..., Any]]
) -> list[dict[str, Any]]:
    """Run the tool calls of an answer, each behind the gate, and give their tool messages.

    A call that may not run gives a message with the reason; the others run all the same.
    """
    messages = []
    for call in openai_calls(answer):
        fn = tools.get(call.name, _no_tool)
        try:
            result = session.run(call, fn)
        except Refused as error:
            result = error.decision
        messages.append(openai_message(call, result))
    return messages


def _no_tool(**_: Any) -> Any:
    raise LookupError("The program has no function for this tool.")


def mcp_specs(listed: Any, *, trust_hints: bool = False) -> dict[str, ToolSpec]:
    """Tool settings from the tools that an MCP server lists.

    A server's hints can make a tool stricter. Only with ``trust_hints`` can they make it freer
    (``readOnlyHint``, ``idempotentHint``): a server can say anything.
    """
    tools = _get(listed, "tools") or listed
    return {str(_get(one, "name")): _mcp_spec(one, trust_hints) for one in tools}


def _mcp_spec(tool: Any, trust: bool) -> ToolSpec:
    name, about = str(_get(tool, "name")), str(_get(tool, "description") or "")
    schema = _get(tool, "inputSchema")
    hints = _get(tool, "annotations")
    effect = kinds.side_effect_of(name, about, schema)
    if _get(hints, "destructiveHint") and not _get(hints, "readOnlyHint"):
        effect = SideEffect.DESTRUCTIVE
    elif effect is SideEffect.READ and _get(hints, "readOnlyHint") is False:
        effect = SideEffect.WRITE
    elif trust and _get(hints, "readOnlyHint"):
        effect = SideEffect.READ
    return ToolSpec.model_validate(
        {
            "description": about,
            "schema": schema,
            "side_effect": effect,
            "idempotent": bool(trust and _get(hints, "idempotentHint")),
        }
    )


async def call_mcp(
    session: Session, client: Any, name: str, arguments: Mapping[str, Any] | None = None
) -> Any:
    """``client.call_tool`` behind the gate; a refusal is a ``CallToolResult`` with ``isError``.

    What the server gives back becomes an observation: its structured content, else its text.
    """
    try:
        from mcp.types import CallToolResult, TextContent
    except ImportError:
        raise MissingExtra("mcp", "mcp") from None

    call = tool_call(name, arguments)
    given: list[Any] = []

    async def run(**named: Any) -> Any:
        result = await client.call_tool(name, named)
        given.append(result)
        return _mcp_data(result)

    try:
        data = await session.run(call, run)
    except Refused as error:
        text = TextContent(type="text", text=refusal(error.decision))
        return CallToolResult.model_validate({"content": [text], "isError": True})
    if given:
        return given[0]
    return CallToolResult(content=[TextContent(type="text", text=json.dumps(data, default=str))])


def _mcp_data(result: Any) -> Any:
    structured = _get(result, "structuredContent")
    if structured is not None:
        return structured
    texts = [str(_get(one, "text")) for one in _get(result, "content") or () if _get(one, "text")]
    return "\n".join(texts)
