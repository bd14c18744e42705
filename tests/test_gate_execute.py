"""Running a tool through the gate: sync and async, and every error is a refusal."""

from __future__ import annotations

import asyncio
import functools
import logging
from dataclasses import dataclass, replace
from typing import Any

import anyio
import pytest

from steguard.errors import UsageError
from steguard.gate import Effect, Gate, Step, ToolCall
from steguard.gate.audit import records
from steguard.gate.errors import (
    ApprovalRequired,
    ExecutionFailed,
    InProgress,
    OutcomeUnknown,
    Refused,
    ResultNotRecorded,
    ResultUnreadable,
)
from steguard.gate.execute import done
from steguard.gate.executions import Executions
from steguard.gate.state import ExecutionState, MemoryStore, StoreUnavailable
from tests.support.gates import POLICY, TASK, Tool, call, gate, grant


class Runner:
    """Runs calls in the same way, whether the tool is sync or async."""

    def __init__(self, mode: str, **options: Any) -> None:
        self.mode = mode
        self.gate = Gate(POLICY, MemoryStore(), **options)

    def run(self, proposed: ToolCall, tool: Tool, context=TASK, **options: Any) -> Any:
        if self.mode == "sync":
            return self.gate.execute(proposed, context, tool, **options)

        async def function(**arguments: Any) -> Any:
            await anyio.sleep(0)
            return tool(**arguments)

        async def main() -> Any:
            return await self.gate.execute(proposed, context, function, **options)

        return anyio.run(main)

    def events(self) -> list[str]:
        return [each.event for each in records(self.gate.store)]


@pytest.fixture(params=["sync", "async"])
def runner(request) -> Runner:
    return Runner(request.param)


def test_allowed(runner):
    tool = Tool({"id": 1})
    assert runner.run(call("post", text="a"), tool) == {"id": 1}
    assert runner.run(call("post", text="a"), tool) == {"id": 1}
    assert tool.calls == [{"text": "a"}]
    assert runner.events() == [
        "decision.allow",
        "execution.started",
        "execution.done",
        "execution.replayed",
    ]


def test_denied(runner):
    tool = Tool()
    with pytest.raises(Refused) as refused:
        runner.run(call("wipe"), tool)
    decision = refused.value.decision
    assert (decision.effect, decision.rule) == (Effect.DENY, "never")
    assert decision.alternatives == ("Ask the user.",)
    assert tool.calls == []
    assert runner.events() == ["decision.deny"]


def test_a_tool_that_the_policy_does_not_know(runner):
    tool = Tool()
    with pytest.raises(Refused) as refused:
        runner.run(call("rm"), tool)
    assert refused.value.decision.step is Step.TOOL
    assert tool.calls == []


def test_asked(runner):
    tool = Tool()
    with pytest.raises(ApprovalRequired) as refused:
        runner.run(call("ask", to="a"), tool)
    assert refused.value.decision.effect is Effect.ASK
    assert refused.value.approval.id in str(refused.value)
    grant(runner.gate, refused.value.approval)
    assert runner.run(call("ask", to="a"), tool) == "done"
    assert tool.calls == [{"to": "a"}]


def test_the_reason_of_a_call_that_a_person_allowed_names_the_person(runner):
    with pytest.raises(ApprovalRequired) as refused:
        runner.run(call("ask"), Tool())
    grant(runner.gate, refused.value.approval)
    runner.run(call("ask"), Tool())
    [allowed] = records(runner.gate.store, event="decision.allow")
    assert allowed.detail["reason"] == f"anna granted {refused.value.approval.id}."


def test_a_tool_that_raises(runner):
    with pytest.raises(ZeroDivisionError):
        runner.run(call("post"), Tool(error=ZeroDivisionError("by zero")))
    with pytest.raises(ExecutionFailed, match="ZeroDivisionError: by zero"):
        runner.run(call("post"), Tool())
    assert runner.events()[-1] == "execution.failed"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1)])
def test_a_tool_that_is_interrupted_leaves_a_question(error):
    guarded = gate()
    with pytest.raises(type(error)):
        guarded.execute(call("post"), TASK, Tool(error=error))
    with pytest.raises(OutcomeUnknown):
        guarded.execute(call("post"), TASK, Tool())


@pytest.mark.parametrize("backend", ["asyncio", "anyio"])
def test_a_cancelled_tool_leaves_a_question(backend):
    guarded = gate()

    async def slow() -> None:
        await anyio.sleep(10)

    async def cancelled_by_anyio() -> None:
        with anyio.move_on_after(0.05):
            await guarded.execute(call("post"), TASK, slow)

    async def cancelled_by_asyncio() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(guarded.execute(call("post"), TASK, slow), 0.05)

    anyio.run(cancelled_by_anyio if backend == "anyio" else cancelled_by_asyncio)
    [execution] = Executions(guarded.store).all()
    assert execution.state is ExecutionState.UNKNOWN
    with pytest.raises(OutcomeUnknown):
        guarded.execute(call("post"), TASK, Tool())


def test_two_tasks_of_one_loop_run_it_once():
    guarded, calls = gate(), []

    async def slow() -> str:
        calls.append(1)
        await anyio.sleep(0.05)
        return "done"

    async def attempt(results: list[str]) -> None:
        try:
            results.append(await guarded.execute(call("post"), TASK, slow))
        except InProgress:
            results.append("in progress")

    async def main() -> list[str]:
        results: list[str] = []
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(attempt, results)
        return results

    assert sorted(anyio.run(main)) == ["done", "in progress", "in progress"]
    assert calls == [1]


def test_arguments_are_fixed_when_the_decision_is_made():
    """What is digested is what runs, whoever holds the same list."""
    guarded, shared, seen = gate(), ["a"], []

    def tool(to: list[str]) -> list[str]:
        seen.append(list(to))
        to.append("changed by the tool")
        return to

    result = guarded.execute(call("post", to=shared), TASK, tool)
    assert (seen, shared) == ([["a"]], ["a"])
    [execution] = Executions(guarded.store).all()
    assert execution.arguments == {"to": ["a"]}
    result.append("changed by the caller")
    again = guarded.execute(call("post", to=["a"]), TASK, tool)
    assert again == ["a", "changed by the tool"]
    again.append("changed by the caller")
    assert guarded.execute(call("post", to=["a"]), TASK, tool) == ["a", "changed by the tool"]


@dataclass
class Receipt:
    number: int
    items: tuple[str, ...]


def test_results_are_kept_as_json_data(runner):
    tool = Tool(Receipt(3, ("a", "b")))
    assert runner.run(call("post"), tool) == Receipt(3, ("a", "b"))
    assert runner.run(call("post"), tool) == {"number": 3, "items": ["a", "b"]}


@pytest.mark.parametrize("result", [object(), float("nan")], ids=["object", "nan"])
def test_a_result_that_is_no_json_data_is_given_once(runner, result):
    tool = Tool(result)
    assert runner.run(call("post"), tool) is result
    with pytest.raises(ResultUnreadable, match="no JSON data"):
        runner.run(call("post"), tool)
    assert len(tool.calls) == 1


def test_arguments_that_are_no_json_data_are_refused(runner):
    looped: list[Any] = []
    looped.append(looped)
    for value in (float("nan"), float("inf"), object(), {1: 2}, looped, "\ud800"):
        tool = Tool()
        with pytest.raises(Refused) as refused:
            runner.run(call("post", "", text=value), tool)
        assert refused.value.decision.effect is Effect.DENY
        assert tool.calls == []
    assert set(runner.events()) == {"decision.deny"}


def test_a_call_that_could_not_be_read_is_refused(runner):
    tool = Tool()
    with pytest.raises(Refused, match="no JSON"):
        runner.run(replace(call("post"), fault="this is no JSON"), tool)
    assert tool.calls == []


def test_a_function_that_does_not_take_the_arguments_had_no_effect():
    guarded = gate()
    with pytest.raises(UsageError, match="missing a required argument: 'to'"):
        guarded.execute(call("send", text="a"), TASK, lambda to: to)
    with pytest.raises(UsageError, match="unexpected keyword argument 'text'"):
        guarded.execute(call("send", text="a"), TASK, lambda: None)
    assert guarded.execute(call("send", text="a"), TASK, lambda text: text) == "a"


def test_a_sync_function_that_gives_an_awaitable_had_no_effect():
    guarded = gate()

    async def inner() -> str:
        return "done"

    with pytest.raises(UsageError, match="async def"):
        guarded.execute(call("send"), TASK, lambda: inner())
    assert anyio.run(lambda: guarded.execute(call("send"), TASK, inner)) == "done"


class AsyncObject:
    async def __call__(self, text: str) -> str:
        return text


async def _say(text: str, end: str) -> str:
    return text + end


@pytest.mark.parametrize("function", [AsyncObject(), functools.partial(_say, end="")])
def test_other_async_callables(function):
    guarded = gate()

    async def main() -> str:
        return await guarded.execute(call("post", text="a"), TASK, function)

    assert anyio.run(main) == "a"


def test_a_hook_of_the_gate_is_asked(runner):
    with pytest.raises(KeyboardInterrupt):
        runner.gate.execute(call("post"), TASK, Tool(error=KeyboardInterrupt()))
    runner.gate.reconcilers["post"] = lambda execution: done(execution.key)
    assert runner.run(call("post"), Tool()) == "T-1/c1"


class Broken:
    """A store that stops working after some transactions."""

    def __init__(self, works: int) -> None:
        self.store, self.works = MemoryStore(), works

    def transact(self, work: Any) -> Any:
        if self.works == 0:
            raise StoreUnavailable("The store cannot be used: no route to host")
        self.works -= 1
        return self.store.transact(work)

    read = transact


def test_a_store_that_cannot_be_reached_denies(runner, caplog):
    runner.gate.store = Broken(0)
    tool = Tool()
    with caplog.at_level(logging.ERROR, "steguard.gate"), pytest.raises(Refused) as refused:
        runner.run(call("post"), tool)
    decision = refused.value.decision
    assert (decision.effect, decision.step) == (Effect.DENY, Step.ERROR)
    assert "no route to host" in decision.reason
    assert isinstance(refused.value.__cause__, StoreUnavailable)
    assert tool.calls == []
    assert "the store has no record of it" in caplog.text


def test_a_store_that_fails_after_the_tool_ran_says_so(runner):
    runner.gate.store = broken = Broken(1)
    tool = Tool("sent")
    with pytest.raises(ResultNotRecorded, match="reconcile") as failed:
        runner.run(call("post"), tool)
    assert failed.value.result == "sent"
    runner.gate.store = broken.store
    with pytest.raises(OutcomeUnknown):
        runner.run(call("post"), tool)
    assert len(tool.calls) == 1


def test_the_error_of_the_tool_is_not_hidden_by_the_store(runner, caplog):
    runner.gate.store = Broken(1)
    with pytest.raises(ZeroDivisionError):
        runner.run(call("post"), Tool(error=ZeroDivisionError()))
    assert "is not recorded" in caplog.text


def test_an_error_in_the_decision_denies_and_is_written_down(runner, monkeypatch):
    def failing(*_: Any, **__: Any) -> None:
        raise RuntimeError("a check broke")

    monkeypatch.setattr("steguard.gate.admission.decide", failing)
    tool = Tool()
    with pytest.raises(Refused, match="a check broke") as refused:
        runner.run(call("post"), tool)
    assert refused.value.decision.step is Step.ERROR
    assert tool.calls == []
    [denied] = records(runner.gate.store)
    assert (denied.event, denied.detail["step"]) == ("decision.deny", "error")
    assert Executions(runner.gate.store).all() == []


def test_a_gate_without_a_store_remembers_in_memory():
    guarded, tool = gate(), Tool()
    for _ in range(2):
        assert guarded.execute(call("post"), TASK, tool) == "done"
    assert len(tool.calls) == 1


def test_a_tool_may_call_another_tool(runner):
    inner = Tool("inner")

    def outer() -> str:
        return runner.gate.execute(call("post", "c2"), TASK, inner)

    assert runner.gate.execute(call("post", "c1"), TASK, outer) == "inner"
    assert len(Executions(runner.gate.store).all()) == 2


def test_a_tool_that_calls_itself_is_in_progress():
    guarded = gate()

    def again() -> None:
        guarded.execute(call("post"), TASK, again)

    with pytest.raises(InProgress):
        guarded.execute(call("post"), TASK, again)


@pytest.mark.parametrize("key", ["", " "])
def test_an_empty_key_is_a_mistake(key):
    with pytest.raises(UsageError, match="empty"):
        gate().execute(call("post"), TASK, Tool(), key=key)


def test_a_gate_takes_the_url_of_its_store(tmp_path):
    pytest.importorskip("sqlalchemy", reason="needs the extra 'store'")
    tool = Tool({"id": 1})
    for _ in range(2):
        guarded = gate(f"sqlite:///{tmp_path / 'gate.db'}")
        assert guarded.execute(call("post"), TASK, tool) == {"id": 1}
        guarded.store.close()
    assert len(tool.calls) == 1


def test_what_cannot_be_taken_apart_is_recorded_all_the_same(monkeypatch, caplog):
    def failing(*_: Any) -> None:
        raise RecursionError

    monkeypatch.setattr("steguard.gate.provenance.fields", failing)
    guarded = gate()
    deep: list[Any] = []
    for _ in range(100):
        deep = [deep]
    assert guarded.execute(call("post"), TASK, Tool(deep)) == deep
    assert guarded.execute(call("post"), TASK, Tool()) == deep
    assert "count as content" in caplog.text
