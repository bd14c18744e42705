"""The guarded surface of a client: ``chat.completions`` and what hangs on it.

One set of classes serves the sync and the async guard: with an :class:`AsyncGuard` each result is
awaitable, as with the client itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from steguard.errors import UsageError
from steguard.request import is_given
from steguard.result import GuardResult

if TYPE_CHECKING:
    from steguard.client import AsyncGuard, Guard


class _Through:
    """Passes through to the client what it does not define itself."""

    def __init__(self, guard: Guard | AsyncGuard, own: Any) -> None:
        self._guard = guard
        self._own = own

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)


class Beta(_Through):
    """``client.beta`` with guarded completions."""

    @property
    def chat(self) -> Chat:
        return Chat(self._guard, getattr(self._own, "chat", self._guard._client.chat))


class Chat(_Through):
    """``client.chat`` with guarded completions."""

    @property
    def completions(self) -> Completions:
        return Completions(self._guard, self._own.completions)


class Completions(_Through):
    """``client.chat.completions``, guarded. The methods take and give what the client's own do."""

    def create(self, **kwargs: Any) -> Any:
        """As the client's ``create``, ``stream=True`` included.

        ``steguard={...}`` overrides profile, schema and more for this call.
        """
        return self._guard._guarded(self._endpoint.create, kwargs)

    def parse(self, *, response_format: Any = None, **kwargs: Any) -> Any:
        """As the client's ``parse``: the answer's data also as a pydantic object."""
        if not is_given(response_format):
            return self._guard._guarded(self._endpoint.create, kwargs)
        pending = self._guard._guarded(self._endpoint.create, _with_schema(kwargs, response_format))
        return _then(pending, lambda completion: _typed(completion, response_format))

    def stream(self, **kwargs: Any) -> Any:
        """As the client's ``stream``: a context manager over events, from guarded chunks."""
        helper = getattr(type(self._own), "stream", None)
        if helper is None:
            beta = getattr(getattr(self._guard._client, "beta", None), "chat", None)
            helper = getattr(type(getattr(beta, "completions", None)), "stream", None)
        if helper is None:
            raise UsageError("this client has no 'stream'; use create(stream=True)")
        given = kwargs.get("response_format")
        return helper(_Helper(self, given if isinstance(given, type) else None), **kwargs)

    @property
    def with_raw_response(self) -> RawCompletions:
        return RawCompletions(self._guard, self._endpoint.with_raw_response)

    @property
    def with_streaming_response(self) -> StreamingCompletions:
        return StreamingCompletions(self._guard, self._endpoint)

    @property
    def _endpoint(self) -> Any:
        """What ``create`` of the client stands on; an old ``beta`` has none of its own."""
        return self._own if hasattr(self._own, "create") else self._guard._client.chat.completions


class _Helper:
    """Stands in for the client's completions in its own ``stream`` helper.

    An old helper under ``beta`` goes through ``client.chat.completions``; that is here, too.
    """

    def __init__(self, completions: Completions, schema: Any) -> None:
        self._completions = completions
        self._schema = schema
        self._client = self
        self.chat = self
        self.completions = self

    def create(self, **kwargs: Any) -> Any:
        if self._schema is not None:
            kwargs = _with_schema(kwargs, self._schema)
        return self._completions.create(**kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._completions._own, name)


class RawCompletions(_Through):
    """``client.chat.completions.with_raw_response``, guarded."""

    def create(self, **kwargs: Any) -> Any:
        """As the client's; ``.parse()`` of the result gives the guarded completion or stream."""
        return self._guard._guarded(self._own.create, kwargs, raw=True)


class StreamingCompletions(_Through):
    """``client.chat.completions.with_streaming_response``, guarded."""

    def create(self, **kwargs: Any) -> StreamingResponse:
        """A context manager; ``parse()`` of its response gives the guarded completion or stream."""
        raw = self._own.with_raw_response.create
        return StreamingResponse(lambda: self._guard._guarded(raw, kwargs, raw=True))


class StreamingResponse:
    """A response that is open inside the context."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._raw: Any = None

    def __enter__(self) -> Any:
        self._raw = self._make()
        return self._raw

    def __exit__(self, *details: object) -> None:
        parsed = self._raw.parse()
        if hasattr(parsed, "close"):
            parsed.close()

    async def __aenter__(self) -> Any:
        self._raw = await self._make()
        return AsyncRawResponse(self._raw)

    async def __aexit__(self, *details: object) -> None:
        parsed = self._raw.parse()
        if hasattr(parsed, "close"):
            await parsed.close()


class RawResponse:
    """A raw HTTP response whose ``parse()`` gives the guarded completion or stream.

    Headers, status and the rest are those of the last call to the endpoint, unguarded.
    """

    def __init__(self, raw: Any, parsed: Any, report: Any) -> None:
        self._raw = raw
        self._parsed = parsed
        self._report = report

    @property
    def steguard(self) -> GuardResult:
        """The report, as on the parsed completion or stream."""
        report = self._report
        return report if isinstance(report, GuardResult) else report.steguard

    def parse(self, **options: Any) -> Any:
        if options:
            raise UsageError("a guarded response is parsed without options")
        return self._parsed

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(self._raw)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)


class AsyncRawResponse:
    """The same for ``async with``, where ``parse`` is awaited."""

    def __init__(self, raw: RawResponse) -> None:
        self._guarded = raw

    async def parse(self, **options: Any) -> Any:
        return self._guarded.parse(**options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._guarded, name)


def attach(response: Any, result: GuardResult) -> None:
    """Put the report at ``response.steguard`` without making it a field of the response.

    A dump or a comparison of the response does not see it. What takes no attributes, such as a
    plain mapping, stays without.
    """
    try:
        object.__setattr__(response, "steguard", result)
    except (AttributeError, TypeError):
        return


def _with_schema(kwargs: dict[str, Any], schema: Any) -> dict[str, Any]:
    own = dict(kwargs.get("steguard") or {})
    return {**kwargs, "steguard": {**own, "schema": own.get("schema", schema)}}


def _then(pending: Any, function: Callable[[Any], Any]) -> Any:
    """The function of a value, or of what a value gives when it is awaited."""
    if not inspect.isawaitable(pending):
        return function(pending)

    async def later(awaited: Awaitable[Any]) -> Any:
        return function(await awaited)

    return later(pending)


def _typed(completion: Any, model: Any) -> Any:
    """The completion as the client library's parsed type."""
    from openai.types.chat import ParsedChatCompletion

    report = getattr(completion, "steguard", None)
    data = completion.model_dump()
    for choice in data["choices"]:
        text = choice["message"].get("content")
        choice["message"]["parsed"] = None
        if text and not choice["message"].get("refusal") and choice["finish_reason"] == "stop":
            choice["message"]["parsed"] = _validated(model, text)
    kind = ParsedChatCompletion[model] if isinstance(model, type) else ParsedChatCompletion[Any]
    parsed = kind.model_construct(
        **{**dict(completion), "choices": kind.model_validate(data).choices}
    )
    if report is not None:
        attach(parsed, report)
    return parsed


def _validated(model: Any, text: str) -> Any:
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(model).validate_json(text)
    except ValidationError:
        return None
