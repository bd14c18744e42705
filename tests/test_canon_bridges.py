"""Canon to A2A and MCP and back; what does not map is a clear error."""

from __future__ import annotations

import builtins
from typing import Any

import pytest
from a2a import types as a2a
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import types as mcp

from steguard.canon.bridges import BridgeError
from steguard.canon.bridges.a2a import (
    EXTENSION,
    from_a2a,
    from_task_status,
    to_a2a,
    to_task_status,
)
from steguard.canon.bridges.mcp import (
    from_mcp_call,
    from_mcp_result,
    to_mcp_call,
    to_mcp_result,
)
from steguard.canon.exchange import fail, reply
from steguard.canon.message import parse_message
from steguard.canon.model import Message
from steguard.canon.render import render_message
from steguard.errors import MissingExtra
from tests.support.canon_subjects import message, registry, text

values = st.recursive(
    st.text(alphabet=st.characters(blacklist_categories=("Cs", "Cc", "Cf")), max_size=8),
    lambda inner: (
        st.lists(inner.filter(lambda v: not isinstance(v, list)), max_size=3)
        | st.dictionaries(st.text(alphabet="abc", min_size=1, max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)
payloads = st.dictionaries(st.text(alphabet="abcd_", min_size=1, max_size=5), values, max_size=4)


def built(payload: dict[str, Any], action: str = "request", **more: Any) -> Message:
    return Message(
        sender="agent_a",
        recipient="agent_b",
        msg_id="m-1",
        action=action,
        subject="stock",
        payload=payload,
        **more,
    )


# ---- A2A


@given(payloads)
@settings(max_examples=60)
def test_a_message_comes_back_from_a2a_as_it_was(payload: dict[str, Any]) -> None:
    sent = built(payload)
    wire = to_a2a(sent).SerializeToString()
    assert from_a2a(a2a.Message.FromString(wire)) == sent


def test_numbers_do_not_become_other_numbers_on_the_way() -> None:
    back = from_a2a(to_a2a(built({"n": 2, "x": 2.5, "b": True})))
    assert back.payload == {"n": "2", "x": "2.5", "b": "true"}


def test_the_whole_envelope_travels() -> None:
    sent = parse_message(text(rest="within: 30 seconds\nif: stock_level < 10\n")).message
    assert sent is not None
    made = to_a2a(sent, context_id="c", task_id="t")
    assert (made.message_id, made.context_id, made.task_id) == ("m-1", "c", "t")
    assert list(made.extensions) == [EXTENSION]
    assert made.role == a2a.Role.ROLE_USER
    assert to_a2a(fail(sent, "x")).role == a2a.Role.ROLE_AGENT
    assert from_a2a(made) == sent


def test_a_text_part_with_canon_is_read() -> None:
    made = a2a.Message(message_id="m-1", parts=[a2a.Part(text=text())])
    assert from_a2a(made) == message()


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ([], "has no Canon message"),
        ([a2a.Part(text="Hello!")], "has no Canon message"),
        ([a2a.Part(text=text()), a2a.Part(text=text())], "has 2 Canon messages"),
        ([a2a.Part(text=text()), a2a.Part(url="https://a.example/x.png")], "cannot say part 2"),
        ([a2a.Part(text=text(action="requets"))], "part 1, line 5"),
        ([a2a.Part(text=text(msg_id="m-2"))], "both ids must be the same"),
    ],
)
def test_what_is_no_one_canon_message_is_refused(parts: list[Any], says: str) -> None:
    with pytest.raises(BridgeError, match=says):
        from_a2a(a2a.Message(message_id="m-1", parts=parts))


@pytest.mark.parametrize(
    ("action", "state"),
    [
        ("confirm", "TASK_STATE_WORKING"),
        ("complete", "TASK_STATE_COMPLETED"),
        ("fail", "TASK_STATE_FAILED"),
        ("reject", "TASK_STATE_REJECTED"),
        ("cancel", "TASK_STATE_CANCELED"),
    ],
)
def test_a_state_of_a_task_and_an_action_are_the_same(action: str, state: str) -> None:
    sent = reply(message(), action, {"reason": "x"}, msg_id="b-1")
    status = to_task_status(sent)
    assert a2a.TaskState.Name(status.state) == state
    assert from_task_status(status, message()) == sent
    bare = a2a.TaskStatus(state=status.state)
    made = from_task_status(bare, message(), msg_id="b-2")
    assert (made.action, made.reply_to) == (action, "m-1")
    assert registry().read(made).ok


def test_a_foreign_status_keeps_its_words() -> None:
    told = a2a.Message(message_id="x", parts=[a2a.Part(text="The store is empty.")])
    status = a2a.TaskStatus(state=a2a.TaskState.TASK_STATE_FAILED, message=told)
    made = from_task_status(status, message())
    assert made.payload == {"reason": "failed", "detail": "The store is empty."}


def test_states_and_actions_without_a_partner_are_refused() -> None:
    waiting = a2a.TaskStatus(state=a2a.TaskState.TASK_STATE_INPUT_REQUIRED)
    with pytest.raises(BridgeError, match="INPUT_REQUIRED"):
        from_task_status(waiting, message())
    with pytest.raises(BridgeError, match="'query' is no state"):
        to_task_status(message(action="query", payload="  sku: A\n"))


# ---- MCP


@given(payloads)
@settings(max_examples=60)
def test_a_request_comes_back_from_a_tool_call_as_it_was(payload: dict[str, Any]) -> None:
    sent = built(payload)
    wire = to_mcp_call(sent).model_dump_json(by_alias=True)
    assert from_mcp_call(mcp.CallToolRequest.model_validate_json(wire)) == sent


def test_arguments_are_typed_by_the_registry() -> None:
    call = to_mcp_call(message(), registry())
    assert call.params.name == "inventory_check"
    assert call.params.arguments == {"sku": "A1001", "quantity": 2}
    assert from_mcp_call(call) == message()


def test_a_foreign_call_needs_the_two_sides() -> None:
    params = mcp.CallToolRequestParams(name="inventory_check", arguments={"sku": "A", "n": 2})
    with pytest.raises(BridgeError, match="give sender"):
        from_mcp_call(params)
    made = from_mcp_call(params, sender="x", recipient="y", msg_id="m")
    assert made.payload == {"sku": "A", "n": "2"}
    bad = mcp.CallToolRequestParams(name="no subject", arguments={})
    with pytest.raises(BridgeError, match="no Canon message can be made"):
        from_mcp_call(bad, sender="x", recipient="y")


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        (message(action="notify", payload="  a: b\n"), "'notify' is no tool call"),
        (message(rest="if: stock_level < 10\n"), "a tool call has no condition"),
        (message("  sku: [name]\n  quantity: 1\n"), "'sku' is still"),
    ],
)
def test_what_is_no_tool_call_is_refused(sent: Message, says: str) -> None:
    with pytest.raises(BridgeError, match=says):
        to_mcp_call(sent)


def test_a_message_that_the_registry_refuses_is_not_called() -> None:
    with pytest.raises(BridgeError, match="'quantity' is 0"):
        to_mcp_call(message("  sku: A\n  quantity: 0\n"), registry())


@pytest.mark.parametrize("action", ["report", "complete", "fail", "reject"])
def test_an_answer_comes_back_from_a_result_as_it_was(action: str) -> None:
    sent = reply(message(), action, {"reason": "a", "n": "2"}, msg_id="b-1")
    result = to_mcp_result(sent)
    assert result.is_error is (action in ("fail", "reject"))
    wire = result.model_dump_json(by_alias=True)
    assert from_mcp_result(mcp.CallToolResult.model_validate_json(wire), message()) == sent


def test_a_foreign_result_becomes_a_report_or_a_failure() -> None:
    def result(**fields: Any) -> Message:
        told = [mcp.TextContent(type="text", text="five")]
        made = mcp.CallToolResult(content=told, **fields)
        return from_mcp_result(made, message(), msg_id="b-1")

    plain = result()
    assert (plain.action, plain.payload, plain.reply_to) == ("report", {"text": "five"}, "m-1")
    assert result(structuredContent={"n": 5, "x": None}).payload == {"n": "5"}
    failed = result(isError=True)
    assert (failed.action, failed.payload["detail"]) == ("fail", "five")


def test_results_that_canon_cannot_say_are_refused() -> None:
    picture = mcp.ImageContent(type="image", data="AAAA", mimeType="image/png")
    with pytest.raises(BridgeError, match="cannot say the content image"):
        from_mcp_result(mcp.CallToolResult(content=[picture]), message())
    with pytest.raises(BridgeError, match="no object"):
        from_mcp_result(mcp.CallToolResult(content=[], structuredContent=[1]), message())
    with pytest.raises(BridgeError, match="no result of a tool"):
        to_mcp_result(message())
    other = to_mcp_result(reply(message(msg_id="m-7"), msg_id="b-1"))
    with pytest.raises(BridgeError, match="answers 'm-7'"):
        from_mcp_result(other, message())


# ---- extras


@pytest.mark.parametrize(
    ("module", "call", "line"),
    [
        ("a2a", lambda: to_a2a(message()), "pip install 'steguard[a2a]'"),
        ("mcp", lambda: to_mcp_call(message()), "pip install 'steguard[mcp]'"),
    ],
)
def test_a_missing_extra_has_the_install_line(
    monkeypatch: pytest.MonkeyPatch, module: str, call: Any, line: str
) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.split(".")[0] == module:
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra) as error:
        call()
    assert line in str(error.value)


def test_the_text_of_a_result_is_canon() -> None:
    sent = reply(message(), payload={"n": "2"}, msg_id="b-1")
    (part,) = to_mcp_result(sent).content
    assert part.type == "text"
    assert part.text == render_message(sent)
