"""Test doubles for programs that use steguard: a scripted model behind a real HTTP server.

>>> with ScriptedModel(["You should open the file.", "Open the file."]) as model:
...     client = OpenAI(base_url=model.base_url, api_key="test")

It speaks the OpenAI wire format, chat completions and models, whole and streamed, so that the
real client library, its retries and its parsing are part of the test.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass
class Scripted:
    """One scripted answer.

    ``content`` is the text, None, or a list of content parts. ``choices`` overrides everything
    about the message for ``n`` above 1: one dict a choice, merged over the defaults. ``status``
    and ``body`` make an error or a malformed answer. ``pieces`` are the streamed parts of the
    text; by default words. ``raw`` is written to the socket instead of any answer. ``cut`` closes
    the connection after so many streamed pieces, ``stall`` waits so many seconds before the
    piece of this number.
    """

    content: Any = ""
    finish_reason: str = "stop"
    refusal: str | None = None
    tool_calls: list[dict[str, Any]] | None = None
    message: dict[str, Any] = field(default_factory=dict)
    choices: list[dict[str, Any]] | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    usage: dict[str, Any] | None = field(default_factory=dict)
    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    pieces: Sequence[str] | None = None
    raw: Sequence[bytes] | None = None
    cut: int | None = None
    stall: tuple[int, float] | None = None
    delay: float = 0.0


Script = Iterable[str | Scripted] | Callable[[dict[str, Any]], "str | Scripted"]


class ScriptedModel:
    """A local server whose model says what the script says.

    ``script`` is a sequence of answers, of which the last repeats, or a function from the request
    to an answer. ``requests`` holds every request body, ``headers`` its headers, ``sent`` counts
    the streamed pieces that went out, ``aborted`` the streams whose reader went away.
    """

    def __init__(self, script: Script) -> None:
        self._answer = script if callable(script) else _in_turn(list(script))
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.sent = 0
        self.aborted = 0
        self.open = 0
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.model = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )

    @property
    def base_url(self) -> str:
        """What the client's ``base_url`` must be."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *details: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def answer(self, path: str, headers: dict[str, str], request: dict[str, Any]) -> Scripted:
        with self._lock:
            self.requests.append(request)
            self.headers.append(headers)
            self.paths.append(path)
            said = self._answer(request)
        return said if isinstance(said, Scripted) else Scripted(said)

    def count(self, **changes: int) -> None:
        with self._lock:
            for name, change in changes.items():
                setattr(self, name, getattr(self, name) + change)


def _in_turn(answers: list[str | Scripted]) -> Callable[[dict[str, Any]], str | Scripted]:
    if not answers:
        raise ValueError("a script has at least one answer")
    place = iter(range(10**9))
    return lambda request: answers[min(next(place), len(answers) - 1)]  # noqa: ARG005


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    model: ScriptedModel

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A reader that goes away is no news here."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        self._send(200, {"object": "list", "data": [{"id": "scripted", "object": "model"}]})

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        request = json.loads(self.rfile.read(size) or b"{}")
        answer = self.server.model.answer(self.path, dict(self.headers), request)
        if answer.delay:
            time.sleep(answer.delay)
        if answer.status != 200:
            body = answer.body or {"error": {"message": "scripted error", "type": "error"}}
            self._send(answer.status, body, answer.headers)
        elif request.get("stream"):
            self._stream(request, answer)
        else:
            body = completion(request, answer) if answer.body is None else answer.body
            self._send(200, body, answer.headers)

    def _send(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        lines = [f"HTTP/1.1 {status} OK", "Content-Type: application/json"]
        lines += [f"{k}: {v}" for k, v in (headers or {}).items()]
        head = "\r\n".join([*lines, f"Content-Length: {len(data)}", "", ""]).encode()
        self.wfile.write(head + data)

    def _stream(self, request: dict[str, Any], answer: Scripted) -> None:
        model = self.server.model
        model.count(open=1)
        lines = ("HTTP/1.1 200 OK", "Content-Type: text/event-stream", "Transfer-Encoding: chunked")
        head = "\r\n".join([*lines, "", ""])
        try:
            self.wfile.write(head.encode())
            for number, record in enumerate(_records(request, answer)):
                if answer.stall and number == answer.stall[0]:
                    time.sleep(answer.stall[1])
                if answer.cut is not None and number >= answer.cut:
                    self.close_connection = True
                    self.connection.close()
                    return
                self.wfile.write(b"%x\r\n%s\r\n" % (len(record), record))
                model.count(sent=1)
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            model.count(aborted=1)
            self.close_connection = True
        finally:
            model.count(open=-1)


def completion(request: dict[str, Any], answer: Scripted) -> dict[str, Any]:
    """The body of a chat completion."""
    choices = [
        _choice(index, {**_defaults(answer), **over})
        for index, over in enumerate(answer.choices or [{}] * int(request.get("n") or 1))
    ]
    usage = _usage(request, answer)
    body = {
        "id": f"chatcmpl-{id(answer):x}",
        "object": "chat.completion",
        "created": 1700000000,
        "model": request.get("model", "scripted"),
        "choices": choices,
        **answer.extra,
    }
    return body if usage is None else {**body, "usage": usage}


def _defaults(answer: Scripted) -> dict[str, Any]:
    return {
        "content": answer.content,
        "finish_reason": answer.finish_reason,
        "refusal": answer.refusal,
        "tool_calls": answer.tool_calls,
        **answer.message,
    }


def _choice(index: int, said: dict[str, Any]) -> dict[str, Any]:
    message = {
        k: v for k, v in said.items() if k != "finish_reason" and not (k == "tool_calls" and not v)
    }
    reason = "tool_calls" if said.get("tool_calls") else said["finish_reason"]
    return {
        "index": index,
        "finish_reason": reason,
        "logprobs": None,
        "message": {"role": "assistant", **message},
    }


def _usage(request: dict[str, Any], answer: Scripted) -> dict[str, Any] | None:
    if answer.usage is None:
        return None
    sent = sum(len(str(m.get("content") or "").split()) for m in request.get("messages", ()))
    said = len(str(answer.content or "").split())
    counted = {"prompt_tokens": sent, "completion_tokens": said, **answer.usage}
    return {"total_tokens": counted["prompt_tokens"] + counted["completion_tokens"], **counted}


def pieces_of(text: str) -> list[str]:
    """A text cut into words with the space before them, much as tokens are."""
    return re.findall(r"\s*\S+|\s+$", text)


def _records(request: dict[str, Any], answer: Scripted) -> Iterable[bytes]:
    """The server-sent events of a streamed answer."""
    if answer.raw is not None:
        yield from answer.raw
        return
    base = {
        "id": f"chatcmpl-{id(answer):x}",
        "object": "chat.completion.chunk",
        "created": 1700000000,
        "model": request.get("model", "scripted"),
        **answer.extra,
    }

    def event(choices: list[dict[str, Any]], **more: Any) -> bytes:
        return f"data: {json.dumps({**base, 'choices': choices, **more})}\n\n".encode()

    def delta(index: int, content: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        return {"index": index, "delta": content, "logprobs": None, "finish_reason": reason}

    said = [
        {**_defaults(answer), **over}
        for over in answer.choices or [{}] * int(request.get("n") or 1)
    ]
    for index in range(len(said)):
        yield event([delta(index, {"role": "assistant", "content": ""})])
    streams = [_deltas(one, answer.pieces) for one in said]
    for row in range(max((len(s) for s in streams), default=0)):
        for index, stream in enumerate(streams):
            if row < len(stream):
                yield event([delta(index, stream[row])])
    for index, one in enumerate(said):
        reason = "tool_calls" if one.get("tool_calls") else one["finish_reason"]
        yield event([delta(index, {}, reason)])
    if (request.get("stream_options") or {}).get("include_usage"):
        yield event([], usage=_usage(request, answer))
    yield b"data: [DONE]\n\n"


def _deltas(said: dict[str, Any], pieces: Sequence[str] | None) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = []
    if said.get("refusal"):
        result += [{"refusal": piece} for piece in pieces_of(said["refusal"])]
    if isinstance(said.get("content"), str):
        result += [{"content": piece} for piece in (pieces or pieces_of(said["content"]))]
    for number, call in enumerate(said.get("tool_calls") or ()):
        arguments = call["function"]["arguments"]
        head = {**call, "index": number, "function": {**call["function"], "arguments": ""}}
        result.append({"tool_calls": [head]})
        for piece in pieces_of(arguments):
            result.append({"tool_calls": [{"index": number, "function": {"arguments": piece}}]})
    return result
