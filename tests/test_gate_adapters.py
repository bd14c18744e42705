"""Calls of OpenAI and MCP, and decorated functions, behind the gate."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from openai.types.chat import ChatCompletion

from steguard.errors import UsageError
from steguard.gate import Context, Effect, Gate, SideEffect, Source, Step, ToolCall, load_policy
from steguard.gate.adapters import (
    answer_openai,
    call_mcp,
    mcp_specs,
    openai_calls,
    openai_message,
    tool_call,
)
from steguard.gate.errors import Refused

POLICY = {
    "tools": {"find": {"side_effect": "read"}, "send": {"side_effect": "external"}, "wipe": {}},
    "rules": [
        {"id": "find", "effect": "allow", "tools": ["find"]},
        {
            "id": "send",
            "effect": "allow",
            "tools": ["send"],
            "arguments": {"to": {"from": ["user_request", "tool_observation"]}},
        },
        {"id": "wipe", "effect": "ask", "tools": ["wipe"]},
    ],
}


def gate() -> Gate:
    return Gate(load_policy(POLICY))


def decide(call: ToolCall) -> Any:
    return gate().decide(call, Context(task_id="T-1", request="Mail a@x.com"))


# Arguments as a model writes them


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"to": "a@x.com", "to": "evil@x.com"}', "the key 'to' stands there twice"),
        ('{"to": {"a": 1, "a": 2}}', "the key 'a' stands there twice"),
        ('"{\\"to\\": \\"a@x.com\\"}"', "JSON of type str, not an object"),
        ("[]", "JSON of type list, not an object"),
        ("null", "JSON of type NoneType, not an object"),
        ('{"to": NaN}', "NaN is no JSON number"),
        ('{"to": "a@x.com"', "Expecting"),
        ('{"to": "a@x.com"} {"to": "b"}', "Extra data"),
        ("{'to': 'a@x.com'}", "Expecting"),
        ("[" * 100_000, ""),
    ],
)
def test_arguments_that_can_be_read_in_two_ways_are_denied(text: str, says: str) -> None:
    decision = decide(tool_call("send", text))
    assert (decision.effect, decision.step) == (Effect.DENY, Step.ARGUMENTS)
    assert says in decision.reason


@pytest.mark.parametrize("arguments", ['{"to": "a@x.com"}', {"to": "a@x.com"}])
def test_plain_arguments_pass(arguments: Any) -> None:
    assert decide(tool_call("send", arguments)).effect is Effect.ALLOW


@pytest.mark.parametrize("arguments", ["", None, "{}"])
def test_no_arguments_are_an_empty_object(arguments: Any) -> None:
    assert tool_call("find", arguments) == ToolCall("find", {})


# OpenAI


def completion(*calls: tuple[str, str]) -> dict[str, Any]:
    listed = [
        {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": text}}
        for n, (name, text) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": listed}
    choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("typed", [True, False])
def test_calls_come_from_objects_and_dicts(whole: bool, typed: bool) -> None:
    data: Any = completion(("find", "{}"), ("send", '{"to": 1}'))
    answer = ChatCompletion.model_validate(data) if typed else data
    if not whole:
        answer = answer.choices[0].message if typed else data["choices"][0]["message"]
    assert openai_calls(answer) == [
        ToolCall("find", {}, "call_0"),
        ToolCall("send", {"to": 1}, "call_1"),
    ]


def test_an_answer_without_calls_has_none() -> None:
    assert openai_calls({"role": "assistant", "content": "Hi", "tool_calls": None}) == []


def test_a_call_that_is_no_function_call_is_denied() -> None:
    custom = {"id": "x", "type": "custom", "custom": {"name": "find", "input": "rm -rf /"}}
    (call,) = openai_calls([custom])
    decision = decide(call)
    assert (call.name, decision.effect) == ("find", Effect.DENY)


def test_each_call_gets_its_message_and_a_refusal_stops_no_other() -> None:
    sent: list[Any] = []
    tools = {"find": lambda: [{"mail": "b@x.com"}], "send": lambda to: sent.append(to) or "sent"}
    calls = completion(
        ("find", "{}"),
        ("send", '{"to": "evil@x.com"}'),
        ("send", '{"to": "b@x.com"}'),
        ("wipe", "{}"),
        ("nope", "{}"),
    )
    with gate().task(Context(task_id="T-1", request="Mail Bob.")) as task:
        messages = answer_openai(task, calls, tools)
    assert [m["tool_call_id"] for m in messages] == [f"call_{n}" for n in range(5)]
    assert sent == ["b@x.com"]
    refused = json.loads(messages[1]["content"])
    assert refused["status"] == "not_run"
    assert refused["alternatives"] == ["Ask the user for the value of 'to'."]
    assert messages[2]["content"] == "sent"
    assert json.loads(messages[3]["content"])["status"] == "needs_approval"
    assert json.loads(messages[4]["content"])["status"] == "not_run"
    assert [seen.tool for seen in task.context.observations] == ["find", "send"]


def test_a_result_that_is_data_goes_back_as_json() -> None:
    message = openai_message(ToolCall("find", {}, "id"), {"a": [1]})
    assert message == {"role": "tool", "tool_call_id": "id", "content": '{"a": [1]}'}


# Decorated functions


def test_a_decorated_function_runs_only_inside_a_task() -> None:
    made = gate()
    sent: list[Any] = []

    @made.tool
    def send(to: str, body: str = "hi") -> str:
        """Sends."""
        sent.append((to, body))
        return "sent"

    with pytest.raises(UsageError, match="inside 'with gate"):
        send("a@x.com")
    with made.task(Context(task_id="T-1", request="Mail a@x.com")) as task:
        assert send("a@x.com") == "sent"
        with pytest.raises(Refused, match="no known source"):
            send(to="b@x.com")
    with pytest.raises(UsageError, match="inside 'with gate"), gate().task(Context()):
        send("a@x.com")
    assert sent == [("a@x.com", "hi")]
    assert send.__doc__ == "Sends."
    (seen,) = task.context.observations
    assert (seen.tool, seen.data, seen.arguments) == ("send", "sent", {"to": "a@x.com"})


def test_an_async_function_is_awaited() -> None:
    made = gate()

    @made.tool(name="find")
    async def search() -> list[dict[str, str]]:
        return [{"mail": "b@x.com"}]

    async def main() -> Any:
        with made.task(Context(task_id="T-1")) as task:
            await search()
            return task.decide(ToolCall("send", {"to": "b@x.com"})).effect

    assert anyio.run(main) is Effect.ALLOW


def test_a_tool_takes_its_arguments_by_name() -> None:
    made = gate()

    @made.tool
    def find(*words: str) -> None: ...

    with made.task(Context(task_id="T-1")), pytest.raises(UsageError, match="by name; 'words'"):
        find("a")


def test_what_the_program_retrieved_is_no_observation_of_the_system() -> None:
    with gate().task(Context(task_id="T-1")) as task:
        task.observe(ToolCall("search", {}), [{"mail": "b@x.com"}], Source.RETRIEVED_DOCUMENT)
        assert task.decide(ToolCall("send", {"to": "b@x.com"})).effect is Effect.DENY


# MCP


def listed(name: str, description: str = "", **hints: Any) -> SimpleNamespace:
    annotations = SimpleNamespace(**hints) if hints else None
    schema = {"type": "object", "properties": {}}
    return SimpleNamespace(
        name=name, description=description, inputSchema=schema, annotations=annotations
    )


def test_hints_of_a_server_make_a_tool_stricter_only() -> None:
    tools = [
        listed("get_page"),
        listed("get_all", destructiveHint=True),
        listed("look", readOnlyHint=False),
        listed("push_file", readOnlyHint=True, idempotentHint=True),
    ]
    specs = mcp_specs(SimpleNamespace(tools=tools))
    effects = {name: spec.side_effect for name, spec in specs.items()}
    assert effects == {
        "get_page": SideEffect.READ,
        "get_all": SideEffect.DESTRUCTIVE,
        "look": SideEffect.WRITE,
        "push_file": SideEffect.EXTERNAL,
    }
    assert not specs["push_file"].idempotent
    trusted = mcp_specs(tools, trust_hints=True)["push_file"]
    assert (trusted.side_effect, trusted.idempotent) == (SideEffect.READ, True)


class Client:
    """A client session of MCP, as far as the gate uses it."""

    def __init__(self, structured: Any = None) -> None:
        self.calls: list[Any] = []
        self.structured = structured

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        self.calls.append((name, arguments))
        text = SimpleNamespace(type="text", text="mail: evil@x.com")
        return SimpleNamespace(content=[text], structuredContent=self.structured, isError=False)


def test_mcp_calls_pass_the_gate_and_become_observations() -> None:
    pytest.importorskip("mcp")
    client = Client(structured=[{"mail": "b@x.com"}])

    async def main() -> tuple[Any, Any, Any]:
        with gate().task(Context(task_id="T-1", request="Mail Bob.")) as task:
            found = await call_mcp(task, client, "find")
            sent = await call_mcp(task, client, "send", {"to": "b@x.com"})
            refused = await call_mcp(task, client, "send", {"to": "evil@x.com"})
            return found, sent, refused

    found, sent, refused = anyio.run(main)
    assert client.calls == [("find", {}), ("send", {"to": "b@x.com"})]
    assert not found.isError
    assert not sent.isError
    data = refused.model_dump(by_alias=True)
    assert data["isError"]
    assert json.loads(data["content"][0]["text"])["status"] == "not_run"


def test_plain_text_of_an_mcp_server_is_content() -> None:
    pytest.importorskip("mcp")
    client = Client()

    async def main() -> Any:
        with gate().task(Context(task_id="T-1")) as task:
            await call_mcp(task, client, "find")
            return task.decide(ToolCall("send", {"to": "evil@x.com"})).effect

    assert anyio.run(main) is Effect.DENY
