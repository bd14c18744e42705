"""``@guarded``: an agent step function whose result is checked, and which is called again.

The function may be sync or async and may return text, a mapping, a pydantic model or a chat
completion. A generator function yields pieces of text or the chunks of a chat completion, and is
guarded as a stream. Where the function has a parameter ``feedback``, the feedback goes there;
else it goes into its ``messages``, and so does the system prompt of the profile.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing, closing
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar, get_type_hints, overload

from steguard.client import AsyncGuard, Guard, OnAttempt, OnResult, ProfileLike
from steguard.completions import attach
from steguard.contract import Contract, compile_contract
from steguard.errors import UsageError
from steguard.forms import TextForm
from steguard.jsonform import JsonForm
from steguard.reply import get
from steguard.result import GuardResult
from steguard.schema import is_model

P = ParamSpec("P")
T = TypeVar("T")


@overload
def guarded(function: Callable[P, T], /) -> Callable[P, T]: ...


@overload
def guarded(
    *,
    profile: ProfileLike = ...,
    schema: Any = ...,
    stop: Any = ...,
    wait: Any = ...,
    on_attempt: OnAttempt | None = ...,
    on_result: OnResult | None = ...,
) -> Callable[[Callable[P, T]], Callable[P, T]]: ...


def guarded(function: Any = None, /, *, profile: ProfileLike = "strict", **options: Any) -> Any:
    """Check what an agent step function returns, and call it again with feedback.

    The decorated function returns the same kind of thing as the function; a generator function
    gives a generator of what may be shown, as the profile's ``stream`` says. ``report()`` on it
    gives the :class:`GuardResult` of the last call of this thread or task, ``contract`` the
    compiled profile (its ``prompt`` is for functions that build their messages themselves). The
    options are those of :class:`Guard`.

    Raises :class:`UsageError` at decoration where the function takes neither ``feedback`` nor
    ``messages``.
    """
    if function is None:
        return functools.partial(guarded, profile=profile, **options)
    signature = inspect.signature(function)
    if not _takes(signature, "feedback") and not _takes(signature, "messages"):
        raise UsageError(
            f"'{function.__name__}' cannot get feedback; "
            "give it a parameter 'feedback' or 'messages'"
        )
    schema = options.pop("schema", None)
    contract = _shaped(compile_contract(profile, schema=schema), _annotation(function))
    later = inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)
    keeper: Any = (AsyncGuard if later else Guard)(_Endpoint, contract, **options)
    bind = functools.partial(_Step, function, signature)
    wrapper: Any = functools.wraps(function)(_wrapper(function)(keeper, bind))
    wrapper.contract = contract
    wrapper.report = lambda: keeper.last_result
    return wrapper


def _wrapper(function: Callable[..., Any]) -> Callable[..., Any]:
    if inspect.isasyncgenfunction(function):
        return _async_generator
    if inspect.isgeneratorfunction(function):
        return _generator
    return _coroutine if inspect.iscoroutinefunction(function) else _plain


def _plain(keeper: Any, bind: Callable[..., _Step]) -> Any:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        step = bind(args, kwargs)
        call = keeper._begin(step.request())
        return step.given(keeper._drive(call, lambda **r: step.seen(step.call(r), call)))

    return wrapper


def _coroutine(keeper: Any, bind: Callable[..., _Step]) -> Any:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        step = bind(args, kwargs)
        call = keeper._begin(step.request())

        async def ask(**request: Any) -> Any:
            return step.seen(await step.call(request), call)

        return step.given(await keeper._drive(call, ask))

    return wrapper


def _generator(keeper: Any, bind: Callable[..., _Step]) -> Any:
    def wrapper(*args: Any, **kwargs: Any) -> Iterator[Any]:
        from steguard.streaming import SyncPump

        step = bind(args, kwargs)
        call = keeper._begin(step.request())
        pump = SyncPump(call, lambda **r: _pieces(step.call(r)), keeper._remember)
        pump.open()
        yield from pump.chunks()

    return wrapper


def _async_generator(keeper: Any, bind: Callable[..., _Step]) -> Any:
    async def wrapper(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        from steguard.streaming import AsyncPump

        step = bind(args, kwargs)
        call = keeper._begin(step.request())
        pump = AsyncPump(call, lambda **r: _async_pieces(step.call(r)), keeper._remember)
        await pump.open()
        async with aclosing(pump.chunks()) as chunks:
            async for chunk in chunks:
                yield chunk

    return wrapper


def _pieces(inner: Any) -> Iterator[Any]:
    with closing(inner):
        for piece in inner:
            yield _piece(piece)


async def _async_pieces(inner: Any) -> AsyncGenerator[Any, None]:
    async with aclosing(inner):
        async for piece in inner:
            yield _piece(piece)


def _piece(piece: Any) -> Any:
    """What a generator yielded, if a stream can hold it."""
    if isinstance(piece, str | Mapping) or get(piece, "choices") is not None:
        return piece
    raise UsageError(
        "a guarded generator yields pieces of text or chunks of a chat completion, "
        f"not {type(piece).__name__}"
    )


class _Endpoint:
    """Stands in for a client: the decorated function is the endpoint."""

    class chat:
        class completions:
            @staticmethod
            def create(**_: Any) -> Any:
                raise UsageError("a decorated function has no endpoint of its own")


@dataclass
class _Step:
    """One call of a decorated function, through all its attempts."""

    function: Callable[..., Any]
    signature: inspect.Signature
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __post_init__(self) -> None:
        self._values: dict[str, Any] = {}
        self._last: Any = None
        self._called = False
        self._called = False
        self._bound = self.signature.bind(*self.args, **self.kwargs)
        self._bound.apply_defaults()

    def request(self) -> dict[str, Any]:
        return {"messages": list(self._bound.arguments.get("messages") or ())}

    def call(self, request: Mapping[str, Any]) -> Any:
        """Call the function with the messages or the feedback of this attempt."""
        bound = self.signature.bind(*self.args, **self.kwargs)
        messages = request["messages"]
        if _takes(self.signature, "messages"):
            bound.arguments["messages"] = messages
        if self._called and _takes(self.signature, "feedback"):
            bound.arguments["feedback"] = get(messages[-1], "content") if messages else None
        self._called = True
        return self.function(*bound.args, **bound.kwargs)

    def seen(self, value: Any, call: Any) -> Any:
        """What the function returned, in the form of a chat completion."""
        self._last = value
        if get(value, "choices") is not None and not isinstance(value, str):
            self._values[str(len(self._values))] = value
            return value
        text, kind = _text_of(value)
        if kind is not None:
            call.run.contract = call.run.plan.contract = _shaped(call.run.contract, kind)
        self._values[text] = value
        return {"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": text}}]}

    def given(self, result: GuardResult) -> Any:
        """The accepted result, as the kind of thing that the function returns."""
        last = self._last
        if not isinstance(result.response, Mapping):
            attach(result.response, result)
            return result.response
        if result.text in self._values:
            return self._values[result.text]
        if isinstance(last, str):
            return result.text
        if is_model(type(last)):
            return type(last).model_validate(result.data)
        return result.data


def _text_of(value: Any) -> tuple[str, Any]:
    """A returned value as text, and the type that shapes the contract (None for text)."""
    if value is None:
        return "", None
    if isinstance(value, str):
        return value, None
    if is_model(type(value)):
        return value.model_dump_json(), type(value)
    if isinstance(value, Mapping | list):
        return json.dumps(value, ensure_ascii=False), dict
    raise UsageError(
        f"a guarded function returns text, a mapping, a pydantic model or a chat completion, "
        f"not {type(value).__name__}"
    )


def _shaped(contract: Contract, kind: Any) -> Contract:
    """The contract for a function that returns this type: data makes a text contract JSON."""
    if not isinstance(contract.form, TextForm):
        return contract
    fields = contract.profile.spec.output.fields
    if is_model(kind):
        return Contract(contract.profile, JsonForm(model=kind, fields=fields))
    if kind is dict:
        return Contract(contract.profile, JsonForm(fields=fields))
    return contract


def _annotation(function: Callable[..., Any]) -> Any:
    try:
        hint = get_type_hints(function).get("return")
    except (NameError, TypeError):
        return None
    return dict if getattr(hint, "__origin__", hint) in (dict, Mapping) else _own_model(hint)


def _own_model(hint: Any) -> Any:
    """A model that is the data itself; a chat completion is a model too, but an envelope."""
    if not is_model(hint) or "choices" in hint.model_fields:
        return None
    return hint


def _takes(signature: inspect.Signature, name: str) -> bool:
    return name in signature.parameters
