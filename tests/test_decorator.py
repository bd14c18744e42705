"""``@guarded`` on agent step functions of every kind."""

from __future__ import annotations

import inspect
from typing import Any

import anyio
import openai
import pytest
from pydantic import BaseModel

from steguard import OutputRejected, guarded
from steguard.errors import UsageError
from steguard.testing import ScriptedModel
from tests.conftest import ALSO_BAD, ASK, BAD, GOOD, PROFILE


class AgentStep(BaseModel):
    action: str
    reason: str


def turns(mode: str, values: list[Any], signature: str = "feedback") -> tuple[Any, list[Any]]:
    """A guarded function that returns these values in turn, and what it was given."""
    given: list[Any] = []
    rest = iter(values)

    def with_feedback(task: str, feedback: str | None = None) -> Any:
        given.append(feedback)
        return next(rest)

    def with_messages(messages: list[Any]) -> Any:
        given.append(messages)
        return next(rest)

    plain = with_feedback if signature == "feedback" else with_messages
    if mode == "sync":
        return guarded(profile=PROFILE)(plain), given

    if signature == "feedback":

        async def later(task: str, feedback: str | None = None) -> Any:
            return with_feedback(task, feedback)
    else:

        async def later(messages: list[Any]) -> Any:
            return with_messages(messages)

    return guarded(profile=PROFILE)(later), given


def call(function: Any, *args: Any, **kwargs: Any) -> Any:
    if inspect.iscoroutinefunction(inspect.unwrap(function)):
        return anyio.run(lambda: function(*args, **kwargs))
    return function(*args, **kwargs)


def test_text_is_returned_as_text_and_feedback_is_given(mode: str) -> None:
    step, given = turns(mode, [BAD, ALSO_BAD, GOOD])
    assert call(step, "task") == GOOD
    assert given[0] is None
    assert "should" in given[1]
    assert "is opened" in given[2]


def test_feedback_goes_into_messages_where_there_is_no_parameter(mode: str) -> None:
    step, given = turns(mode, [BAD, GOOD], "messages")
    mine = list(ASK)
    assert call(step, mine) == GOOD
    assert mine == ASK
    assert [m["role"] for m in given[1]][-2:] == ["assistant", "user"]


def test_a_mapping_stays_a_mapping(mode: str) -> None:
    step, _ = turns(mode, [{"reason": "You should go."}, {"reason": "Go to the door."}])
    assert call(step, "task") == {"reason": "Go to the door."}


def test_a_model_stays_a_model(mode: str) -> None:
    good = AgentStep(action="read", reason="Read the file.")
    step, given = turns(mode, [AgentStep(action="read", reason="You should read it."), good])
    assert call(step, "task") is good
    assert "/reason" in given[1]


def test_a_stripped_model_is_rebuilt(mode: str) -> None:
    step, _ = turns(mode, [AgentStep(action="a", reason="You should read it. Read the file.")] * 3)
    assert call(step, "task") == AgentStep(action="a", reason="Read the file.")


def test_a_completion_stays_a_completion(mode: str) -> None:
    with ScriptedModel([BAD, GOOD]) as model:
        if mode == "sync":

            @guarded(profile=PROFILE)
            def step(messages: list[Any]) -> Any:
                with openai.OpenAI(base_url=model.base_url, api_key="k") as client:
                    return client.chat.completions.create(model="m", messages=messages)
        else:

            @guarded(profile=PROFILE)
            async def step(messages: list[Any]) -> Any:
                async with openai.AsyncOpenAI(base_url=model.base_url, api_key="k") as client:
                    return await client.chat.completions.create(model="m", messages=messages)

        answer = call(step, ASK)
    assert answer.choices[0].message.content == GOOD
    assert answer.steguard.outcome == "passed_after_retry"
    assert len(model.requests) == 2


def test_text_that_must_be_json_is_checked_with_the_schema() -> None:
    texts = iter(['{"action": 1}', '{"action": "read", "reason": "Read the file."}'])

    @guarded(profile={**PROFILE, "output": {"format": "json"}}, schema=AgentStep)
    def step(feedback: str | None = None) -> str:
        return next(texts)

    assert AgentStep.model_validate_json(step()).action == "read"
    assert step.report().attempts[0].findings[0].rule == "schema-mismatch"


def test_methods_and_bare_decorator_work() -> None:
    class Agent:
        @guarded
        def step(self, feedback: str | None = None) -> str:
            return "Open the file."

    assert Agent().step() == "Open the file."
    assert Agent.step.__name__ == "step"
    assert Agent.step.contract.name == "strict"


def test_the_error_of_the_function_passes_through(mode: str) -> None:
    step, _ = turns(mode, [])
    with pytest.raises((StopIteration, RuntimeError)):
        call(step, "task")


def test_rejection_raises_where_the_profile_says_so() -> None:
    @guarded(profile={**PROFILE, "fallback": "raise"})
    def step(feedback: str | None = None) -> str:
        return BAD

    with pytest.raises(OutputRejected):
        step()


def test_a_function_that_cannot_get_feedback_is_refused_at_decoration() -> None:
    with pytest.raises(UsageError, match="'step' cannot get feedback"):

        @guarded
        def step(task: str) -> str:
            return task


def test_a_value_that_is_no_text_is_named() -> None:
    @guarded
    def step(feedback: str | None = None) -> Any:
        return 3

    with pytest.raises(UsageError, match="not int"):
        step()
