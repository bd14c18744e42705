"""One task behind the gate: calls in order, and what they gave back."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar, Token
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from steguard.errors import UsageError
from steguard.gate.model import Context, Decision, Observation, Source, ToolCall

if TYPE_CHECKING:
    from steguard.gate.gate import Gate

F = TypeVar("F", bound=Callable[..., Any])
_current: ContextVar[Session | None] = ContextVar("steguard_gate_session", default=None)


class Session:
    """The state of one task. ``context`` grows by one observation for each call that ran."""

    def __init__(self, gate: Gate, context: Context) -> None:
        self.gate = gate
        self.context = context
        self._token: Token[Session | None] | None = None

    def __enter__(self) -> Self:
        self._token = _current.set(self)
        return self

    def __exit__(self, *details: object) -> None:
        if self._token is not None:
            _current.reset(self._token)
            self._token = None

    def decide(self, call: ToolCall) -> Decision:
        """What the gate says to this call now."""
        return self.gate.decide(call, self.context)

    def run(self, call: ToolCall, fn: Callable[..., Any], *, key: str | None = None) -> Any:
        """Run a call, or raise :class:`steguard.gate.errors.Refused`; await an async tool."""
        result = self.gate.execute(call, self.context, fn, key=key)
        if inspect.isawaitable(result):
            return self._later(call, result)
        self.observe(call, result)
        return result

    async def _later(self, call: ToolCall, result: Any) -> Any:
        value = await result
        self.observe(call, value)
        return value

    def observe(
        self, call: ToolCall, data: Any, source: Source = Source.TOOL_OBSERVATION
    ) -> Observation:
        """Take what a tool gave back as data for later calls. It never changes the policy."""
        seen = Observation(call.name, data, dict(call.arguments), call.call_id, source)
        self.context = replace(self.context, observations=(*self.context.observations, seen))
        return seen


def gated(gate: Gate, function: F, name: str) -> F:
    """The function behind the gate of the current task."""
    signature = inspect.signature(function)

    def call_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Session, ToolCall]:
        session = _current.get()
        if session is None or session.gate is not gate:
            raise UsageError(f"Call '{name}' inside 'with gate.task(Context(...)):'.")
        bound = signature.bind(*args, **kwargs)
        return session, ToolCall(name, _named(bound))

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def later(*args: Any, **kwargs: Any) -> Any:
            session, call = call_of(args, kwargs)
            return await session.run(call, function)

        return cast("F", later)

    @functools.wraps(function)
    def now(*args: Any, **kwargs: Any) -> Any:
        session, call = call_of(args, kwargs)
        return session.run(call, function)

    return cast("F", now)


def _named(bound: inspect.BoundArguments) -> dict[str, Any]:
    """All arguments by name; the gate sees no positions."""
    named: dict[str, Any] = {}
    for key, value in bound.arguments.items():
        kind = bound.signature.parameters[key].kind
        if kind is inspect.Parameter.VAR_KEYWORD:
            named.update(value)
        elif kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.POSITIONAL_ONLY):
            raise UsageError(f"A gated tool takes arguments by name; '{key}' has none.")
        else:
            named[key] = value
    return named
