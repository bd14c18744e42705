"""Drives :func:`stream_flow` for sync and async callers, behind the client's own stream type."""

from __future__ import annotations

import asyncio
import inspect
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import suppress
from functools import cache
from itertools import product
from typing import Any, cast

from steguard.awaiting import awaited
from steguard.errors import GuardError, SteguardError, UsageError
from steguard.flow import Pause, Tell
from steguard.result import GuardResult
from steguard.stream import END, NEXT, Close, Open, Release, StreamState, stream_flow

_CLOSE_SECONDS = 5.0


class StreamError(GuardError):
    """The endpoint sent something that is no event of a stream."""


class _Pump:
    """What the sync and the async pump share: the flow, the open upstream, the report."""

    def __init__(
        self, call: Any, ask: Callable[..., Any], keep: Callable[[GuardResult], None]
    ) -> None:
        self.call = call
        self.ask = ask
        self.keep = keep
        self.state = StreamState(call.run)
        self.flow = stream_flow(self.state)
        self.upstream: Any = None
        self.source: Any = None
        self.raw: Any = None
        self.step: Any = None
        self.ended = False

    def begin(self) -> None:
        self.step = next(self.flow)

    def leave(self) -> None:
        """The caller went away or an error came: what is known is the report."""
        if not self.ended:
            self.keep(self.state.report())

    def advance(self, value: Any, error: BaseException | None = None) -> bool:
        """Move the flow one step; whether it goes on."""
        try:
            self.step = self.flow.throw(error) if error is not None else self.flow.send(value)
        except StopIteration:
            self.ended = True
            self.keep(self.state.report())
        return not self.ended

    def opened(self, reply: Any) -> None:
        """Take an open stream, or the raw response that holds one."""
        if self.call.raw:
            self.raw = self.call.raw_response = reply
            reply = reply.parse()
        self.upstream = self.source = reply

    def translate(self, error: BaseException) -> BaseException:
        """A fault of decoding or of the connection as an error that says what it is."""
        if _is_client_stream(self.source):
            error = _client_error(error)
        if isinstance(error, ValueError) and not isinstance(error, SteguardError):
            told = StreamError(
                f"the endpoint sent an event that is no JSON: {error}", self.state.report()
            )
            told.__cause__ = error
            return told
        return error


class SyncPump(_Pump):
    """Runs the flow and yields the released chunks."""

    def open(self) -> None:
        """Open the first upstream, so that its errors are raised by ``create`` itself."""
        self.begin()
        while isinstance(self.step, Open):
            value, error = self._act(self.step)
            if not self.advance(value, error) or error is None:
                break

    def chunks(self) -> Iterator[Any]:
        try:
            while not self.ended:
                step = self.step
                if isinstance(step, Release):
                    yield from step.chunks
                    self.advance(None)
                elif step is NEXT:
                    self._next()
                else:
                    self.advance(*self._act(step))
            if self.call.on_result:
                self.call.on_result(self.state.report())
        finally:
            self.leave()
            self.close()

    def _next(self) -> None:
        try:
            chunk = next(self.upstream, END)
        except BaseException as error:
            self.close()
            self.advance(None, self.translate(error))
        else:
            self.advance(chunk)

    def _act(self, step: Any) -> tuple[Any, BaseException | None]:
        try:
            if isinstance(step, Open):
                reply = self.ask(**step.kwargs)
                if inspect.isawaitable(reply):
                    reply.close()  # type: ignore[attr-defined]
                    raise UsageError("this client is async; use AsyncGuard for it")
                self.opened(reply)
                self.upstream = _iterator(self.upstream)
            elif isinstance(step, Close):
                self.close()
            elif isinstance(step, Pause):
                import time

                time.sleep(step.seconds)
            elif isinstance(step, Tell) and self.call.on_attempt:
                self.call.on_attempt(step.attempt)
        except BaseException as error:
            self.close()
            return None, self.translate(error)
        return None, None

    def close(self) -> None:
        upstream, self.upstream = self.upstream, None
        if upstream is not None:
            close = getattr(upstream, "close", None) or getattr(self.source, "close", None)
            if close is not None:
                close()

    drop = close
    """Nobody can read the chunks any more."""


class AsyncPump(_Pump):
    """As :class:`SyncPump`, with ``await``."""

    _loop: asyncio.AbstractEventLoop | None = None
    _closing: Any = None

    async def open(self) -> None:
        with suppress(RuntimeError):
            self._loop = asyncio.get_running_loop()
        self.begin()
        while isinstance(self.step, Open):
            value, error = await self._act(self.step)
            if not self.advance(value, error) or error is None:
                break

    async def chunks(self) -> AsyncGenerator[Any, None]:
        try:
            while not self.ended:
                step = self.step
                if isinstance(step, Release):
                    for chunk in step.chunks:
                        yield chunk
                    self.advance(None)
                elif step is NEXT:
                    await self._next()
                else:
                    self.advance(*await self._act(step))
            if self.call.on_result:
                await awaited(self.call.on_result(self.state.report()))
        finally:
            self.leave()
            await self.close()

    async def _next(self) -> None:
        try:
            chunk = await anext(self.upstream)
        except StopAsyncIteration:
            self.advance(END)
        except BaseException as error:
            await self.close()
            self.advance(None, self.translate(error))
        else:
            self.advance(chunk)

    async def _act(self, step: Any) -> tuple[Any, BaseException | None]:
        try:
            if isinstance(step, Open):
                reply = self.ask(**step.kwargs)
                if not inspect.isawaitable(reply):
                    if not hasattr(reply, "__aiter__"):
                        raise UsageError("this client is sync; use Guard for it")
                else:
                    reply = await reply
                self.opened(reply)
                if inspect.isawaitable(self.upstream):
                    self.upstream = await self.upstream
                if not hasattr(self.upstream, "__anext__"):
                    self.upstream = aiter(self.upstream)
            elif isinstance(step, Close):
                await self.close()
            elif isinstance(step, Pause):
                import anyio

                await anyio.sleep(step.seconds)
            elif isinstance(step, Tell) and self.call.on_attempt:
                await awaited(self.call.on_attempt(step.attempt))
        except BaseException as error:
            await self.close()
            return None, self.translate(error)
        return None, None

    async def close(self) -> None:
        upstream, self.upstream = self.upstream, None
        if upstream is None:
            return
        import anyio

        with anyio.move_on_after(_CLOSE_SECONDS, shield=True):
            for thing, name in product((upstream, self.source), ("close", "aclose")):
                close = getattr(thing, name, None)
                if close is not None:
                    await awaited(close())
                    return

    def drop(self) -> None:
        """Nobody can read the chunks any more; under asyncio the upstream is closed soon."""
        loop = self._loop
        if self.upstream is not None and loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._close_soon)

    def _close_soon(self) -> None:
        assert self._loop is not None
        self._closing = self._loop.create_task(self.close())


def guarded_stream(pump: Any, iterator: Any, like: Any) -> Any:
    """A stream of the client library's own type over the released chunks.

    ``iterator`` gives the chunks. The report stands at ``stream.steguard``, early with the
    findings so far and complete at the end.
    """
    kind = _stream_type(cast(Any, type(like))) if _is_client_stream(like) else _PlainStream
    if isinstance(pump, AsyncPump) and kind is _PlainStream:
        kind = _PlainAsyncStream
    stream = kind.__new__(kind)
    stream._guard_pump = pump
    stream._iterator = iterator
    weakref.finalize(iterator, pump.drop).atexit = False
    return stream


def _client_error(error: BaseException) -> BaseException:
    """A fault of the HTTP library as the client library's error, as its newer releases have it."""
    names = {base.__name__ for base in type(error).__mro__}
    request = getattr(error, "_request", None)
    if "TransportError" not in names or request is None:
        return error
    import openai

    told: BaseException = openai.APIConnectionError(message=str(error), request=request)
    if "TimeoutException" in names:
        told = openai.APITimeoutError(request=request)
    told.__cause__ = error
    return told


def _is_client_stream(like: Any) -> bool:
    """Whether this is a stream of the client library, whose classes read ``_iterator``."""
    roots = {base.__module__.split(".")[0] for base in type(like).__mro__}
    return "openai" in roots and hasattr(like, "_iterator")


class _Report:
    """The report of a stream, early and at the end."""

    _guard_pump: Any
    _iterator: Any

    @property
    def steguard(self) -> GuardResult:
        """The result; while the stream runs, what is known so far."""
        return self._guard_pump.state.report()  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_guard") or name == "_iterator":
            raise AttributeError(name)
        return getattr(self._guard_pump.source, name)


class _PlainStream(_Report):
    """A stream for clients whose own type is unknown."""

    def __iter__(self) -> Iterator[Any]:
        return iter(self._iterator)

    def __next__(self) -> Any:
        return next(self._iterator)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the upstream; the chunks released so far stay valid."""
        self._iterator.close()
        self._guard_pump.close()


class _PlainAsyncStream(_Report):
    """The async form of :class:`_PlainStream`."""

    def __aiter__(self) -> AsyncIterator[Any]:
        return aiter(self._iterator)

    async def __anext__(self) -> Any:
        return await anext(self._iterator)

    async def __aenter__(self) -> Any:
        return self

    async def __aexit__(self, *details: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the upstream; the chunks released so far stay valid."""
        await self._iterator.aclose()
        await self._guard_pump.close()

    aclose = close


@cache
def _stream_type(base: type) -> Any:
    """The client's own stream class with the guard's iterator and close."""
    own = _PlainAsyncStream if hasattr(base, "__aiter__") else _PlainStream
    names = {
        name: own.__dict__[name]
        for name in ("__iter__", "__next__", "__aiter__", "__anext__", "close", "aclose")
        if name in own.__dict__
    }
    body = {
        **names,
        "steguard": _Report.steguard,
        "__getattr__": _Report.__getattr__,
        "response": property(lambda self: self._guard_pump.source.response),
        "__doc__": "A guarded stream; it is the client library's own type.",
    }
    return type(base.__name__, (base,), body)


def _iterator(stream: Any) -> Any:
    return stream if hasattr(stream, "__next__") else iter(stream)
