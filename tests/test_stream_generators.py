"""``@guarded`` on generator functions: the same streams, without a client."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import anyio
import openai
import pytest

from steguard import OutputRejected, guarded
from steguard.errors import UsageError
from steguard.testing import ScriptedModel, pieces_of
from tests.conftest import ASK, GOOD, PROFILE

MIXED = "Open the file. You should read it. Close the door."
REST = "Read the file. Close the door."


class Turns:
    """A guarded generator function, sync or async, that says these texts in turn."""

    def __init__(self, mode: str, texts: list[str], profile: Any = PROFILE, **options: Any) -> None:
        self.mode = mode
        self.given: list[str | None] = []
        self.yielded = 0
        self.closed = 0
        rest = iter(texts)

        def step(task: str, feedback: str | None = None) -> Iterator[str]:
            self.given.append(feedback)
            try:
                for piece in pieces_of(next(rest)):
                    self.yielded += 1
                    yield piece
            finally:
                self.closed += 1

        async def later(task: str, feedback: str | None = None) -> Any:
            for piece in (inner := step(task, feedback)):
                try:
                    yield piece
                except GeneratorExit:
                    inner.close()
                    raise

        plain: Any = step if mode == "sync" else later
        self.function = guarded(profile=profile, **options)(plain)

    def read(self, most: int = 10**9) -> list[str]:
        """The first pieces that come; then the reader goes away."""
        return read(self.function, "task", most=most)

    @property
    def report(self) -> Any:
        return self.function.report()


def read(function: Any, *args: Any, most: int = 10**9) -> list[Any]:
    seen: list[Any] = []
    if not inspect.isasyncgenfunction(function):
        stream = function(*args)
        for piece in stream:
            seen.append(piece)
            if len(seen) >= most:
                break
        stream.close()
        return seen

    async def inside() -> None:
        stream = function(*args)
        async for piece in stream:
            seen.append(piece)
            if len(seen) >= most:
                break
        await stream.aclose()

    anyio.run(inside)
    return seen


def test_a_generator_function_stays_one(mode: str) -> None:
    turns = Turns(mode, [GOOD])
    kind = inspect.isgeneratorfunction if mode == "sync" else inspect.isasyncgenfunction
    assert kind(turns.function)
    assert turns.function.__name__ in ("step", "later")
    assert turns.read() == pieces_of(GOOD)


def test_a_clean_answer_is_the_same_pieces(mode: str) -> None:
    turns = Turns(mode, [GOOD])
    assert turns.read() == pieces_of(GOOD)
    assert (turns.given, turns.closed) == ([None], 1)


def test_at_a_violation_the_rest_is_asked_for(mode: str) -> None:
    turns = Turns(mode, [MIXED + " Open it." * 100, REST])
    assert "".join(turns.read()) == "Open the file. Read the file. Close the door."
    assert turns.given[0] is None
    assert "should" in str(turns.given[1])
    assert "Write the rest of the text only." in str(turns.given[1])
    assert turns.closed == 2
    assert turns.yielded < 30


def test_no_piece_ever_shows_a_faulty_word(mode: str) -> None:
    shown = ""
    for piece in Turns(mode, [MIXED, "It might go. Stop.", "Read it."]).read():
        shown += piece
        assert "should" not in shown
        assert "might" not in shown
    assert shown == "Open the file. Read it."


def test_the_report_is_at_hand_at_the_end(mode: str) -> None:
    seen: list[Any] = []
    turns = Turns(mode, [MIXED, REST], on_attempt=seen.append, on_result=seen.append)
    turns.read()
    if mode == "sync":
        assert turns.report.outcome == "passed_after_retry"
        assert turns.report.text == "Open the file. Read the file. Close the door."
    assert [getattr(s, "number", None) for s in seen] == [1, 2, None]
    assert seen[-1].outcome == "passed_after_retry"


def test_the_async_report_is_that_of_the_task() -> None:
    turns = Turns("async", [GOOD])

    async def inside() -> Any:
        assert [piece async for piece in turns.function("task")] == pieces_of(GOOD)
        return turns.report

    assert anyio.run(inside).outcome == "passed"


def test_buffer_shows_nothing_before_the_whole_has_passed(mode: str) -> None:
    turns = Turns(mode, [MIXED, GOOD], {**PROFILE, "stream": {"mode": "buffer"}})
    assert turns.read() == pieces_of(GOOD)
    assert "Write the full answer again." in str(turns.given[1])


def test_observe_shows_all_at_once_and_reports(mode: str) -> None:
    seen: list[Any] = []
    turns = Turns(mode, [MIXED], {**PROFILE, "stream": {"mode": "observe"}}, on_result=seen.append)
    assert turns.read() == pieces_of(MIXED)
    assert seen[0].outcome == "rejected"
    assert [f.rule for f in seen[0].findings] == ["banned-words"]


def test_leaving_early_closes_the_inner_generator(mode: str) -> None:
    turns = Turns(mode, [GOOD + " Open it." * 100])
    assert turns.read(most=2) == pieces_of(GOOD)[:2]
    assert turns.closed == 1
    assert turns.yielded < 20
    assert turns.report.reason == "streaming"
    assert turns.report.text.startswith("Open the file.")


def test_nothing_runs_before_the_first_piece_is_asked_for(mode: str) -> None:
    turns = Turns(mode, [GOOD])
    stream = turns.function("task")
    assert turns.given == []
    if mode == "sync":
        stream.close()
    else:
        anyio.run(stream.aclose)
    assert (turns.given, turns.closed) == ([], 0)


def test_the_fallback_is_that_of_streams(mode: str) -> None:
    one = {**PROFILE, "retry": {"max_attempts": 1}}
    assert "".join(Turns(mode, [MIXED], one).read()) == "Open the file. Close the door."
    with pytest.raises(OutputRejected) as caught:
        Turns(mode, [MIXED], {**one, "fallback": "raise"}).read()
    assert caught.value.result.text == "Open the file. "


def test_feedback_goes_into_messages_where_there_is_no_parameter(mode: str) -> None:
    with ScriptedModel([MIXED, REST]) as model:
        step = chat(mode, model.base_url)
        chunks = read(step, ASK)
    text = "".join(c.choices[0].delta.content or "" for c in chunks)
    assert text == "Open the file. Read the file. Close the door."
    roles = [m["role"] for m in model.requests[1]["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    assert model.requests[1]["messages"][2]["content"].strip() == "Open the file."
    assert {c.id for c in chunks} == {chunks[0].id}
    assert chunks[-1].choices[0].finish_reason == "stop"


def chat(mode: str, url: str) -> Any:
    """A guarded function that yields the chunks of a real client."""
    if mode == "sync":

        @guarded(profile=PROFILE)
        def step(messages: list[Any]) -> Iterator[Any]:
            with openai.OpenAI(base_url=url, api_key="k") as client:
                with client.chat.completions.create(
                    model="m", messages=messages, stream=True
                ) as stream:
                    yield from stream

        return step

    @guarded(profile=PROFILE)
    async def later(messages: list[Any]) -> Any:
        async with openai.AsyncOpenAI(base_url=url, api_key="k") as client:
            create = client.chat.completions.create
            async with await create(model="m", messages=messages, stream=True) as stream:
                async for chunk in stream:
                    yield chunk

    return later


def test_an_error_of_the_function_passes_through_with_the_report(mode: str) -> None:
    def fail(feedback: str | None = None) -> Iterator[str]:
        yield "Open the file. Close"
        raise KeyError("gone")

    async def fail_later(feedback: str | None = None) -> Any:
        yield "Open the file. Close"
        raise KeyError("gone")

    plain: Any = fail if mode == "sync" else fail_later
    with pytest.raises(KeyError) as caught:
        read(guarded(profile=PROFILE)(plain))
    assert caught.value.steguard.outcome == "error"  # type: ignore[attr-defined]


def test_a_piece_that_is_no_text_is_named(mode: str) -> None:
    def count(feedback: str | None = None) -> Iterator[int]:
        yield 3

    async def count_later(feedback: str | None = None) -> Any:
        yield 3

    plain: Any = count if mode == "sync" else count_later
    with pytest.raises(UsageError, match="not int"):
        read(guarded(profile=PROFILE)(plain))


def test_methods_and_the_bare_decorator_work(mode: str) -> None:
    class Agent:
        @guarded
        def step(self, feedback: str | None = None) -> Iterator[str]:
            yield "Open the file."

        @guarded
        async def later(self, feedback: str | None = None) -> Any:
            yield "Open the file."

    method = Agent().step if mode == "sync" else Agent().later
    assert read(method) == ["Open the file."]


def test_json_is_checked_as_it_comes(mode: str) -> None:
    profile = {**PROFILE, "output": {"format": "json"}}
    bad = '{"reason": "You should go.", "more": "' + "x " * 200 + '"}'
    turns = Turns(mode, [bad, '{"reason": "Go now."}'], profile)
    assert "".join(turns.read()) == '{"reason": "Go now."}'
    assert turns.yielded < 30
