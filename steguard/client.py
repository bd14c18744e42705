"""``Guard`` and ``AsyncGuard``: a chat-completion client whose answers are checked.

They wrap any client with ``chat.completions.create``, and pass through whatever they do not
guard. All the logic is in :mod:`steguard.flow`; here is only the driving.
"""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar, cast

from steguard.awaiting import awaited
from steguard.completions import Beta, Chat, RawResponse, attach
from steguard.contract import Contract, compile_contract
from steguard.errors import UsageError
from steguard.flow import Ask, Pause, RetryPolicy, Run, Step, Tell, guard_flow, probe_flow
from steguard.profile import Profile
from steguard.request import Capabilities, RequestPlan
from steguard.result import Attempt, GuardResult
from steguard.yamlfile import nearest

ProfileLike = str | Path | Mapping[str, Any] | Profile | Contract
OnAttempt = Callable[[Attempt], Any]
OnResult = Callable[[GuardResult], Any]

T = TypeVar("T")

_CALL_KEYS = ("profile", "schema", "stop", "wait", "settings", "on_attempt", "on_result")


class _Base:
    """What the sync and the async guard share: configuration and the plan of a call."""

    _flavour: str

    def __init__(
        self,
        client: Any,
        profile: ProfileLike = "strict",
        *,
        schema: Any = None,
        stop: Any = None,
        wait: Any = None,
        on_attempt: OnAttempt | None = None,
        on_result: OnResult | None = None,
    ) -> None:
        """Guard a client.

        ``profile`` is a shipped name, a file, a mapping or a compiled contract. ``schema`` (a
        path, a mapping or a pydantic model) makes the answers JSON. ``stop`` and ``wait`` are
        tenacity objects that replace the profile's own. ``on_attempt`` gets each
        :class:`Attempt`, ``on_result`` each :class:`GuardResult`.

        Raises :class:`ProfileError` for a bad profile or schema, :class:`UsageError` for a client
        that cannot work here.
        """
        _require_completions(client)
        found = flavour(client)
        if found not in (self._flavour, "unknown"):
            right = "AsyncGuard" if found == "async" else "Guard"
            raise UsageError(
                f"this client is {found}; use {right}({type(client).__name__}(...)) for it"
            )
        self._client = client
        self._contract = compile_contract(profile, schema=schema)
        self._stop, self._wait = stop, wait
        self._on_attempt, self._on_result = on_attempt, on_result
        self._capabilities = Capabilities()
        self._contracts: dict[Any, Contract] = {}
        self._mine: ContextVar[GuardResult | None] = ContextVar("steguard_last", default=None)
        self._newest: GuardResult | None = None

    @property
    def contract(self) -> Contract:
        """The compiled profile."""
        return self._contract

    @property
    def last_result(self) -> GuardResult | None:
        """The report of the last call of this thread or task; else of the newest call anywhere."""
        return self._mine.get() or self._newest

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._client, name)

    def _with_client(self, client: Any) -> Any:
        """The same guard around another client."""
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._client = client
        return twin

    def with_options(self, **options: Any) -> Any:
        """A guard around ``client.with_options(...)``."""
        return self._with_client(self._client.with_options(**options))

    copy = with_options

    @property
    def chat(self) -> Chat:
        """``client.chat`` with guarded completions."""
        return Chat(cast("Guard", self), self._client.chat)

    @property
    def beta(self) -> Beta:
        """``client.beta``, where older client libraries keep ``parse`` and ``stream``."""
        return Beta(cast("Guard", self), self._client.beta)

    def _begin(self, kwargs: dict[str, Any], raw: bool = False) -> _Call:
        own = kwargs.pop("steguard", None) or {}
        if not isinstance(own, Mapping):
            raise UsageError("'steguard' must be a mapping of overrides for this call")
        for key in own:
            if key not in _CALL_KEYS:
                raise UsageError(f"unknown override '{key}'{nearest(str(key), _CALL_KEYS)}")
        contract = self._contract_for(own)
        policy = RetryPolicy.of(
            contract, own.get("stop") or self._stop, own.get("wait") or self._wait
        )
        plan = RequestPlan(contract, kwargs, self._capabilities)
        run = Run(contract, policy, plan, time.monotonic)
        return _Call(
            run,
            own.get("on_attempt") or self._on_attempt,
            own.get("on_result") or self._on_result,
            raw,
        )

    def _contract_for(self, own: Mapping[str, Any]) -> Contract:
        profile, schema, settings = own.get("profile"), own.get("schema"), own.get("settings")
        if profile is None and schema is None and settings is None:
            return self._contract
        key = None
        if settings is None and isinstance(profile, str | Path | None):
            key = (str(profile), schema if isinstance(schema, str | Path | type | None) else None)
            if schema is not None and key[1] is None:
                key = None
            elif key in self._contracts:
                return self._contracts[key]
        base: Any = self._contract if profile is None else profile
        if settings is not None:
            base = compile_contract(base).profile.with_settings(settings)
        contract = compile_contract(base, schema=schema)
        if key is not None:
            self._contracts[key] = contract
        return contract

    def _remember(self, result: GuardResult) -> None:
        self._mine.set(result)
        self._newest = result


class _Call:
    """One guarded call on its way: the flow, the hooks, and the last raw response."""

    def __init__(
        self, run: Run, on_attempt: OnAttempt | None, on_result: OnResult | None, raw: bool
    ) -> None:
        self.run = run
        self.on_attempt = on_attempt
        self.on_result = on_result
        self.raw = raw
        self.raw_response: Any = None

    def parsed(self, reply: Any) -> Any:
        """The completion in a reply; a raw response is kept for the caller."""
        if not self.raw:
            return reply
        self.raw_response = reply
        return reply.parse()

    def given(self, result: GuardResult) -> Any:
        """What the caller gets: the completion with the report on it, or the raw response."""
        attach(result.response, result)
        if self.raw:
            return RawResponse(self.raw_response, result.response, result)
        return result.response


class Guard(_Base):
    """A sync client whose answers obey a profile.

    >>> from openai import OpenAI
    >>> guard = Guard(OpenAI(), profile="strict")
    >>> guard.chat.completions.create(model="gpt-4o-mini", messages=[...])

    The result is the client library's own ``ChatCompletion``; the report stands at
    ``completion.steguard`` and ``guard.last_result``.
    """

    _flavour = "sync"

    def __enter__(self) -> Guard:
        self._client.__enter__()
        return self

    def __exit__(self, *details: object) -> None:
        self._client.__exit__(*details)

    def _drive(self, call: _Call, ask: Callable[..., Any]) -> GuardResult:
        """Run the flow with this function as the endpoint."""
        result = self._run(guard_flow(call.run), call, ask)
        self._remember(result)
        if call.on_result:
            call.on_result(result)
        return result

    @staticmethod
    def _run(flow: Generator[Step, Any, T], call: _Call, ask: Callable[..., Any]) -> T:
        try:
            step = next(flow)
        except StopIteration as done:
            return cast(T, done.value)
        while True:
            reply: Any = None
            error: BaseException | None = None
            if isinstance(step, Ask):
                try:
                    reply = ask(**step.kwargs)
                    if inspect.isawaitable(reply):
                        _close(reply)
                        error = UsageError("this client is async; use AsyncGuard for it")
                    else:
                        reply = call.parsed(reply)
                except BaseException as raised:
                    error = raised
            elif isinstance(step, Pause):
                time.sleep(step.seconds)
            elif isinstance(step, Tell) and call.on_attempt:
                call.on_attempt(step.attempt)
            try:
                step = flow.throw(error) if error is not None else flow.send(reply)
            except StopIteration as done:
                return cast(T, done.value)

    def _guarded(self, ask: Callable[..., Any], kwargs: dict[str, Any], raw: bool = False) -> Any:
        call = self._begin(kwargs, raw)
        self._run(probe_flow(call.run), call, ask)
        if kwargs.get("stream") is True:
            return self._streamed(call, ask)
        return call.given(self._drive(call, ask))

    def _streamed(self, call: _Call, ask: Callable[..., Any]) -> Any:
        from steguard.streaming import SyncPump, guarded_stream

        pump = SyncPump(call, ask, self._remember)
        pump.open()
        stream = guarded_stream(pump, pump.chunks(), pump.upstream)
        return RawResponse(pump.raw, stream, stream) if call.raw else stream


class AsyncGuard(_Base):
    """An async client whose answers obey a profile; as :class:`Guard`, with ``await``."""

    _flavour = "async"

    async def __aenter__(self) -> AsyncGuard:
        await self._client.__aenter__()
        return self

    async def __aexit__(self, *details: object) -> None:
        await self._client.__aexit__(*details)

    async def _drive(self, call: _Call, ask: Callable[..., Awaitable[Any]]) -> GuardResult:
        """Run the flow with this function as the endpoint."""
        result = await self._run(guard_flow(call.run), call, ask)
        self._remember(result)
        if call.on_result:
            await awaited(call.on_result(result))
        return result

    @staticmethod
    async def _run(
        flow: Generator[Step, Any, T], call: _Call, ask: Callable[..., Awaitable[Any]]
    ) -> T:
        try:
            step = next(flow)
        except StopIteration as done:
            return cast(T, done.value)
        while True:
            reply: Any = None
            error: BaseException | None = None
            if isinstance(step, Ask):
                try:
                    pending = ask(**step.kwargs)
                    if not inspect.isawaitable(pending):
                        raise UsageError("this client is sync; use Guard for it")
                    reply = call.parsed(await pending)
                except BaseException as raised:
                    error = raised
            elif isinstance(step, Pause):
                import anyio

                await anyio.sleep(step.seconds)
            elif isinstance(step, Tell) and call.on_attempt:
                await awaited(call.on_attempt(step.attempt))
            try:
                step = flow.throw(error) if error is not None else flow.send(reply)
            except StopIteration as done:
                return cast(T, done.value)

    async def _guarded(
        self, ask: Callable[..., Awaitable[Any]], kwargs: dict[str, Any], raw: bool = False
    ) -> Any:
        call = self._begin(kwargs, raw)
        await self._run(probe_flow(call.run), call, ask)
        if kwargs.get("stream") is True:
            return await self._streamed(call, ask)
        return call.given(await self._drive(call, ask))

    async def _streamed(self, call: _Call, ask: Callable[..., Awaitable[Any]]) -> Any:
        from steguard.streaming import AsyncPump, guarded_stream

        pump = AsyncPump(call, ask, self._remember)
        await pump.open()
        stream = guarded_stream(pump, pump.chunks(), pump.upstream)
        return RawResponse(pump.raw, stream, stream) if call.raw else stream


def flavour(client: Any) -> str:
    """Whether a client is ``sync``, ``async``, or ``unknown`` until it is called."""
    create = inspect.unwrap(client.chat.completions.create)
    if inspect.iscoroutinefunction(create):
        return "async"
    library = sys.modules.get("openai")
    if library is not None and isinstance(client, library.OpenAI):
        return "sync"
    return "unknown"


def _require_completions(client: Any) -> None:
    create = getattr(getattr(getattr(client, "chat", None), "completions", None), "create", None)
    if not callable(create):
        hint = "; pass an instance, such as OpenAI()" if isinstance(client, type) else ""
        raise UsageError(
            f"{_name(client)} has no 'chat.completions.create'; "
            f"steguard guards clients that have one{hint}"
        )


def _name(client: Any) -> str:
    return f"the class {client.__name__}" if isinstance(client, type) else type(client).__name__


def _close(awaitable: Any) -> None:
    close = getattr(awaitable, "close", None)
    if close is not None:
        close()
