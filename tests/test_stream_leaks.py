"""Streams leave nothing behind: no socket, no task, no warning, however they end."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import subprocess
import sys
import textwrap
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import openai
import pytest

from steguard import AsyncGuard, Guard, OutputRejected
from steguard.streaming import StreamError
from steguard.testing import Scripted, ScriptedModel
from tests.conftest import ASK, GOOD, PROFILE

LONG = GOOD + " Open the file." * 3000
MIXED = "Open the file. You should read it. Close the door." + " Open the file." * 3000
REQUEST: dict[str, Any] = {"model": "m", "messages": ASK, "stream": True}
RAISE = {**PROFILE, "retry": {"max_attempts": 1}, "fallback": "raise"}


def sockets() -> int:
    """The open sockets of this process."""
    count = 0
    for name in os.listdir("/proc/self/fd"):
        try:
            count += os.readlink(f"/proc/self/fd/{name}").startswith("socket:")
        except OSError:
            continue
    return count


pytestmark = pytest.mark.skipif(
    not Path("/proc/self/fd").is_dir(), reason="counts sockets in /proc, which this system lacks"
)


def wait_until(condition: Callable[[], bool], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    assert condition()


@contextmanager
def nothing_left(answers: list[Any]) -> Iterator[ScriptedModel]:
    """A model of which, at the end, no stream is open and no socket is left."""
    gc.collect()
    with warnings.catch_warnings(), ScriptedModel(answers) as model:
        warnings.simplefilter("error", ResourceWarning)
        before = sockets()
        yield model
        gc.collect()
        wait_until(lambda: model.open == 0)
        wait_until(lambda: sockets() <= before)


def use(mode: str, model: ScriptedModel, sync: Any, later: Any, profile: Any = PROFILE) -> None:
    """Run one way to use a guard; an async one must end without a task that still runs."""
    options: dict[str, Any] = {"base_url": model.base_url, "api_key": "k", "max_retries": 0}
    if mode == "sync":
        with openai.OpenAI(timeout=20, **options) as client:
            sync(Guard(client, profile))
        return

    async def inside() -> None:
        async with openai.AsyncOpenAI(timeout=20, **options) as client:
            await later(AsyncGuard(client, profile))
            gc.collect()
            for _ in range(100):
                if asyncio.all_tasks() == {asyncio.current_task()}:
                    break
                await asyncio.sleep(0.02)
            assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(inside())


def freed(model: ScriptedModel) -> None:
    """The upstream is closed while the client itself is still open."""
    wait_until(lambda: model.open == 0)


def test_a_reader_that_leaves_in_the_middle(mode: str) -> None:
    def sync(guard: Guard) -> None:
        with guard.chat.completions.create(**REQUEST) as stream:
            for chunk in stream:
                if chunk.choices[0].delta.content:
                    break
        freed(model)

    async def later(guard: AsyncGuard) -> None:
        async with await guard.chat.completions.create(**REQUEST) as stream:
            async for chunk in stream:
                if chunk.choices[0].delta.content:
                    break
        freed(model)

    with nothing_left([LONG]) as model:
        use(mode, model, sync, later)
        assert model.sent < 9000


def test_a_reader_that_breaks_out_without_a_context(mode: str) -> None:
    def sync(guard: Guard) -> None:
        for chunk in guard.chat.completions.create(**REQUEST):
            if chunk.choices[0].delta.content:
                break
        del chunk
        gc.collect()
        freed(model)

    async def later(guard: AsyncGuard) -> None:
        async for chunk in await guard.chat.completions.create(**REQUEST):
            if chunk.choices[0].delta.content:
                break
        for _ in range(100):
            gc.collect()
            await asyncio.sleep(0.02)
            if not model.open:
                return
        freed(model)

    with nothing_left([LONG]) as model:
        use(mode, model, sync, later)
        assert model.sent < 9000


def test_a_reader_that_never_reads(mode: str) -> None:
    def sync(guard: Guard) -> None:
        stream = guard.chat.completions.create(**REQUEST)
        del stream
        gc.collect()
        freed(model)

    async def later(guard: AsyncGuard) -> None:
        stream = await guard.chat.completions.create(**REQUEST)
        del stream
        gc.collect()
        await asyncio.sleep(0.2)
        freed(model)

    with nothing_left([LONG]) as model:
        use(mode, model, sync, later)
        assert model.sent < 9000


def test_an_iterator_outlives_the_stream_that_made_it(mode: str) -> None:
    def sync(guard: Guard) -> None:
        chunks = iter(guard.chat.completions.create(**REQUEST))
        gc.collect()
        assert "".join(c.choices[0].delta.content or "" for c in chunks) == GOOD

    async def later(guard: AsyncGuard) -> None:
        chunks = aiter(await guard.chat.completions.create(**REQUEST))
        gc.collect()
        assert "".join([c.choices[0].delta.content or "" async for c in chunks]) == GOOD

    with nothing_left([GOOD]) as model:
        use(mode, model, sync, later)


def test_a_violation_closes_the_upstream_before_the_next_is_opened(mode: str) -> None:
    open_then: list[int] = []

    def script(request: dict[str, Any]) -> str:
        if len(model.requests) == 1:
            return MIXED
        wait_until(lambda: model.open == 0)
        open_then.append(model.open)
        return "Read it."

    def sync(guard: Guard) -> None:
        list(guard.chat.completions.create(**REQUEST))

    async def later(guard: AsyncGuard) -> None:
        [c async for c in await guard.chat.completions.create(**REQUEST)]

    with nothing_left(script) as model:  # type: ignore[arg-type]
        use(mode, model, sync, later)
        assert open_then == [0]
        assert model.sent < 9000


def test_a_rejected_answer(mode: str) -> None:
    def sync(guard: Guard) -> None:
        stream = guard.chat.completions.create(**REQUEST)
        with pytest.raises(OutputRejected):
            list(stream)
        freed(model)

    async def later(guard: AsyncGuard) -> None:
        stream = await guard.chat.completions.create(**REQUEST)
        with pytest.raises(OutputRejected):
            [c async for c in stream]
        freed(model)

    with nothing_left([MIXED]) as model:
        use(mode, model, sync, later, RAISE)


def event(text: str) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
    body = {
        "id": "c",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [choice],
    }
    return f"data: {json.dumps(body)}\n\n".encode()


BROKEN = {
    "dies": (Scripted("Open the file. Close the door. Stop it.", cut=6), openai.APIConnectionError),
    "stalls": (
        Scripted("Open the file. Close the door. Stop it.", stall=(7, 1.5)),
        openai.APITimeoutError,
    ),
    "is no JSON": (Scripted(raw=[event("Open the file. Close "), b"data: {oops\n\n"]), StreamError),
    "fails": (
        Scripted(raw=[event("Open the file. Close "), b'data: {"error": {"message": "no"}}\n\n']),
        openai.APIError,
    ),
    "is no UTF-8": (
        Scripted(raw=[event("Open the file. Close "), b'data: "\xff\xfe"\n\n']),
        StreamError,
    ),
}


@pytest.mark.parametrize("how", BROKEN)
def test_an_upstream_that_breaks_is_a_clear_error(mode: str, how: str) -> None:
    answer, kind = BROKEN[how]
    shown: list[str] = []

    def sync(guard: Guard) -> None:
        stream = guard.with_options(timeout=0.4).chat.completions.create(**REQUEST)
        with pytest.raises(kind) as caught:
            shown.extend(c.choices[0].delta.content or "" for c in stream)
        check(caught.value)

    async def later(guard: AsyncGuard) -> None:
        stream = await guard.with_options(timeout=0.4).chat.completions.create(**REQUEST)

        async def read() -> None:
            async for chunk in stream:
                shown.append(chunk.choices[0].delta.content or "")

        with pytest.raises(kind) as caught:
            await read()
        check(caught.value)

    def check(error: Any) -> None:
        assert str(error)
        assert error.steguard.outcome == "error"
        assert "".join(shown).strip() in ("", "Open the file.")

    with nothing_left([answer]) as model:
        use(mode, model, sync, later)


@pytest.mark.parametrize("how", ["dies", "stalls"])
def test_a_resumed_stream_that_breaks(mode: str, how: str) -> None:
    answer, kind = BROKEN[how]

    def sync(guard: Guard) -> None:
        with pytest.raises(kind):
            list(guard.with_options(timeout=0.4).chat.completions.create(**REQUEST))

    async def later(guard: AsyncGuard) -> None:
        with pytest.raises(kind):
            [
                c
                async for c in await guard.with_options(timeout=0.4).chat.completions.create(
                    **REQUEST
                )
            ]

    with nothing_left(["Stop it. You should go. Stop.", answer]) as model:
        use(mode, model, sync, later)


def slow(start: int = 6) -> Scripted:
    return Scripted("Open the file. Close the door. Stop it.", stall=(start, 2.0))


@pytest.mark.parametrize("library", ["anyio", "asyncio"])
def test_a_cancelled_reader_closes_the_upstream(library: str) -> None:
    seen: list[str] = []

    async def read(guard: AsyncGuard) -> None:
        async for chunk in await guard.chat.completions.create(**REQUEST):
            seen.append(chunk.choices[0].delta.content or "")

    async def later(guard: AsyncGuard) -> None:
        begun = time.monotonic()
        if library == "anyio":
            with anyio.move_on_after(0.5) as scope:
                await read(guard)
            assert scope.cancelled_caught
        else:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(read(guard), 0.5)
        assert time.monotonic() - begun < 1.5
        assert guard.last_result is None or guard.last_result.reason == "streaming"

    with nothing_left([slow()]) as model:
        use("async", model, None, later)
        wait_until(lambda: model.aborted == 1)
    assert "".join(seen).strip() in ("", "Open the file.")


def test_a_cancelled_task_group_closes_every_upstream() -> None:
    async def later(guard: AsyncGuard) -> None:
        async def read() -> None:
            async for _ in await guard.chat.completions.create(**REQUEST):
                pass

        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(read)
            await anyio.sleep(0.5)
            group.cancel_scope.cancel()

    with nothing_left([slow()]) as model:
        use("async", model, None, later)
        wait_until(lambda: model.aborted == 5)


def test_many_streams_one_after_another_use_no_more_sockets(mode: str) -> None:
    counts: list[int] = []

    def sync(guard: Guard) -> None:
        for _ in range(12):
            with guard.chat.completions.create(**REQUEST) as stream:
                next(iter(stream))
            freed(model)
            counts.append(sockets())

    async def later(guard: AsyncGuard) -> None:
        for _ in range(12):
            async with await guard.chat.completions.create(**REQUEST) as stream:
                await anext(aiter(stream))
            freed(model)
            counts.append(sockets())

    with nothing_left([LONG]) as model:
        use(mode, model, sync, later)
    assert max(counts[2:]) <= counts[1] + 2


SCRIPT = """
    import asyncio, gc, openai
    from steguard import AsyncGuard, Guard
    from steguard.testing import ScriptedModel
    ASK = {"model": "m", "messages": [{"role": "user", "content": "Go."}], "stream": True}
    LONG = "Open the file. You should go. " + "Close the door. " * 500

    async def later(url):
        async with openai.AsyncOpenAI(base_url=url, api_key="k") as client:
            guard = AsyncGuard(client, "strict")
            async for _ in await guard.chat.completions.create(**ASK):
                break
            await guard.chat.completions.create(**ASK)
            async with await guard.chat.completions.create(**ASK) as stream:
                await anext(stream)
            gc.collect()
            await asyncio.sleep(0.2)

    with ScriptedModel([LONG, "Stop it."]) as model:
        with openai.OpenAI(base_url=model.base_url, api_key="k") as client:
            guard = Guard(client, "strict")
            for _ in guard.chat.completions.create(**ASK):
                break
            guard.chat.completions.create(**ASK)
            list(guard.chat.completions.create(**ASK))
        gc.collect()
        asyncio.run(later(model.base_url))
    gc.collect()
"""


def test_the_developer_mode_of_python_has_nothing_to_say() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "default", "-c", textwrap.dedent(SCRIPT)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "ResourceWarning" not in done.stderr
    assert "never awaited" not in done.stderr
    assert "was destroyed" not in done.stderr
