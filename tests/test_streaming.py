"""Streams: nothing unchecked gets out, nothing is lost, over HTTP with the real client."""

from __future__ import annotations

import json
import time
from typing import Any

import anyio
import openai
import pytest
from openai.types.chat import ChatCompletionChunk
from pydantic import BaseModel

from steguard import OutputRejected
from steguard.streaming import StreamError
from steguard.testing import Scripted, pieces_of
from tests.conftest import ASK, BAD, GOOD, PROFILE
from tests.test_dropin import CALL, TOOLS

MIXED = "Open the file. You should read it. Close the door."
REST = "Read the file. Close the door."


def streaming(**stream: Any) -> dict[str, Any]:
    return {**PROFILE, "stream": stream}


def drain(h: Any, profile: Any = None, **kwargs: Any) -> tuple[list[Any], Any]:
    """All chunks of one guarded stream and its report."""
    request = {"model": "m", "messages": ASK, "stream": True, **kwargs}
    if h.mode == "sync":
        stream = h.guard.chat.completions.create(**request)
        chunks = list(stream)
        return chunks, stream.steguard

    async def inside() -> tuple[list[Any], Any]:
        async with h.client:
            stream = await h.guard.chat.completions.create(**request)
            chunks = [chunk async for chunk in stream]
            return chunks, stream.steguard

    return anyio.run(inside)


def text_of(chunks: list[Any], index: int = 0) -> str:
    return "".join(
        c.delta.content or "" for chunk in chunks for c in chunk.choices or () if c.index == index
    )


# --- the same type, the same ways in


def test_a_clean_stream_is_byte_identical_and_costs_one_request(harness: Any) -> None:
    h = harness([Scripted(GOOD, extra={"id": "chatcmpl-1"})])
    if h.mode == "sync":
        plain = list(h.client.chat.completions.create(model="m", messages=ASK, stream=True))
    else:

        async def raw() -> list[Any]:
            async with openai.AsyncOpenAI(base_url=h.model.base_url, api_key="k") as client:
                return [
                    c
                    async for c in await client.chat.completions.create(
                        model="m", messages=ASK, stream=True
                    )
                ]

        plain = anyio.run(raw)
    chunks, report = drain(h)
    assert [c.model_dump_json() for c in chunks] == [c.model_dump_json() for c in plain]
    assert all(type(c) is ChatCompletionChunk for c in chunks)
    assert (report.outcome, report.text) == ("passed", GOOD)
    assert len(h.requests) == 2


def test_the_stream_is_the_clients_own_type_and_a_context_manager() -> None:
    from tests.conftest import Harness

    with Harness("sync", [GOOD]) as h:
        with h.guard.chat.completions.create(model="m", messages=ASK, stream=True) as stream:
            assert isinstance(stream, openai.Stream)
            assert stream.response.status_code == 200
            first = next(stream)
            assert first.choices[0].delta.role == "assistant"
            assert text_of(list(stream)) == GOOD

    async def inside(h: Any) -> None:
        async with (
            h.client,
            await h.guard.chat.completions.create(model="m", messages=ASK, stream=True) as stream,
        ):
            assert isinstance(stream, openai.AsyncStream)
            assert text_of([c async for c in stream]) == GOOD

    with Harness("async", [GOOD]) as h:
        anyio.run(inside, h)


def test_raw_response_of_a_stream_parses_to_the_guarded_stream(harness: Any) -> None:
    h = harness([MIXED, REST])

    if h.mode == "sync":
        raw = h.guard.chat.completions.with_raw_response.create(
            model="m", messages=ASK, stream=True
        )
        assert raw.headers["content-type"] == "text/event-stream"
        text = text_of(list(raw.parse()))
    else:

        async def inside() -> str:
            async with h.client:
                raw = await h.guard.chat.completions.with_raw_response.create(
                    model="m", messages=ASK, stream=True
                )
                return text_of([c async for c in raw.parse()])

        text = anyio.run(inside)
    assert text == "Open the file. Read the file. Close the door."


def test_streaming_response_gives_completion_or_stream(harness: Any) -> None:
    h = harness([GOOD])
    if h.mode == "sync":
        with h.guard.chat.completions.with_streaming_response.create(
            model="m", messages=ASK
        ) as response:
            assert response.parse().choices[0].message.content == GOOD
        with h.guard.chat.completions.with_streaming_response.create(
            model="m", messages=ASK, stream=True
        ) as response:
            assert text_of(list(response.parse())) == GOOD
        return

    async def inside() -> None:
        async with h.client:
            create = h.guard.chat.completions.with_streaming_response.create
            async with create(model="m", messages=ASK) as response:
                assert (await response.parse()).choices[0].message.content == GOOD
            async with create(model="m", messages=ASK, stream=True) as response:
                assert text_of([c async for c in await response.parse()]) == GOOD

    anyio.run(inside)


def test_the_stream_helper_gives_events_from_guarded_chunks(harness: Any) -> None:
    h = harness([MIXED, REST])
    wanted = "Open the file. Read the file. Close the door."
    if h.mode == "sync":
        with h.guard.chat.completions.stream(model="m", messages=ASK) as stream:
            deltas = [e.delta for e in stream if e.type == "content.delta"]
            final = stream.get_final_completion()
    else:

        async def inside() -> Any:
            async with h.client:
                async with h.guard.chat.completions.stream(model="m", messages=ASK) as stream:
                    deltas = [e.delta async for e in stream if e.type == "content.delta"]
                    return deltas, await stream.get_final_completion()

        deltas, final = anyio.run(inside)
    assert "".join(deltas) == final.choices[0].message.content == wanted


class Step(BaseModel):
    action: str
    reason: str


def test_the_stream_helper_with_a_model_is_guarded_by_it(harness: Any) -> None:
    good = json.dumps({"action": "read", "reason": "Read the file."})
    h = harness([json.dumps({"action": "read", "reason": "You should read it."}), good])
    if h.mode == "sync":
        with h.guard.chat.completions.stream(
            model="m", messages=ASK, response_format=Step
        ) as stream:
            final = stream.get_final_completion()
    else:

        async def inside() -> Any:
            async with (
                h.client,
                h.guard.chat.completions.stream(
                    model="m", messages=ASK, response_format=Step
                ) as stream,
            ):
                return await stream.get_final_completion()

        final = anyio.run(inside)
    assert final.choices[0].message.parsed == Step(action="read", reason="Read the file.")
    assert len(h.requests) == 2


def test_leaving_early_closes_the_upstream(harness: Any) -> None:
    h = harness([Scripted(GOOD + " Open the file." * 2000)])
    request = {"model": "m", "messages": ASK, "stream": True}
    if h.mode == "sync":
        with h.guard.chat.completions.create(**request) as stream:
            for chunk in stream:
                if chunk.choices[0].delta.content:
                    break
        assert stream.response.is_closed
    else:

        async def inside() -> None:
            async with h.client:
                async with await h.guard.chat.completions.create(**request) as stream:
                    async for chunk in stream:
                        if chunk.choices[0].delta.content:
                            break
                assert stream.response.is_closed

        anyio.run(inside)
    wait_until(lambda: h.model.open == 0)
    assert h.model.sent < 9000


def wait_until(condition: Any, seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    assert condition()


# --- what must pass through


def test_usage_chunk_arrives_and_is_summed(harness: Any) -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    h = harness([Scripted(GOOD, usage=usage)])
    chunks, report = drain(h, stream_options={"include_usage": True})
    assert chunks[-1].usage.total_tokens == 15
    assert report.usage.total_tokens == 15
    # The only fault is in the last sentence, so that the first stream is read to its end.
    h = harness(
        [Scripted("Open the file. You should go.", usage=usage), Scripted("Go.", usage=usage)]
    )
    chunks, report = drain(h, stream_options={"include_usage": True})
    with_usage = [c for c in chunks if c.usage]
    assert len(with_usage) == 1
    assert report.usage.total_tokens == with_usage[0].usage.total_tokens
    assert report.usage.unknown + report.usage.total_tokens // 15 == 2


def test_usage_of_an_aborted_stream_is_marked_unknown(harness: Any) -> None:
    _, report = drain(harness([MIXED, REST]), stream_options={"include_usage": True})
    assert report.usage.unknown == 1
    assert report.usage.total_tokens > 0


def event(**body: Any) -> bytes:
    return f"data: {json.dumps(body)}\n\n".encode()


def chunk(choices: Any, **more: Any) -> bytes:
    return event(
        id="c1", object="chat.completion.chunk", created=1, model="m", choices=choices, **more
    )


def delta(text: str | None = None, reason: str | None = None, **more: Any) -> dict[str, Any]:
    content = {} if text is None else {"content": text}
    return {"index": 0, "delta": {**content, **more}, "finish_reason": reason}


def test_chunks_without_choices_pass(harness: Any) -> None:
    raw = [
        chunk([], prompt_filter_results=[{"a": 1}]),
        chunk(None),
        chunk([delta("Open the ", role="assistant")]),
        chunk([delta("file.", vendor="x")]),
        chunk([delta(reason="stop")]),
        b"data: [DONE]\n\n",
    ]
    chunks, report = drain(harness([Scripted(raw=raw)]))
    assert [len(c.choices or ()) for c in chunks] == [0, 0, 1, 1, 1]
    assert chunks[0].prompt_filter_results == [{"a": 1}]
    assert chunks[3].choices[0].delta.vendor == "x"
    assert report.outcome == "passed"


def test_events_cut_across_http_chunks_are_read_rightly(harness: Any) -> None:
    whole = b"".join(
        [
            chunk([delta("打开文件。 Open 文件 ", role="assistant")]),
            chunk([delta("now.")]),
            chunk([delta(reason="stop")]),
            b"data: [DONE]\n\n",
        ]
    )
    raw = [whole[i : i + 3] for i in range(0, len(whole), 3)]
    chunks, report = drain(harness([Scripted(raw=raw)]))
    assert text_of(chunks) == "打开文件。 Open 文件 now."
    assert report.outcome == "passed"


def test_tools_work_in_a_stream_and_are_never_dropped(harness: Any) -> None:
    chunks, report = drain(harness([Scripted(None, tool_calls=[CALL])]), tools=TOOLS)
    calls = [c.choices[0].delta.tool_calls[0] for c in chunks if c.choices[0].delta.tool_calls]
    assert calls[0].id == "call_1"
    assert "".join(c.function.arguments for c in calls) == '{"at": "x"}'
    assert (report.outcome, report.reason) == ("not_checked", "tool_calls")
    chunks, report = drain(harness([Scripted(GOOD, tool_calls=[CALL])]), tools=TOOLS)
    assert text_of(chunks) == GOOD
    assert chunks[-1].choices[0].finish_reason == "tool_calls"
    assert any(c.choices[0].delta.tool_calls for c in chunks)
    assert report.outcome == "passed"


def test_a_streamed_refusal_is_delivered_and_not_retried(harness: Any) -> None:
    h = harness([Scripted(None, refusal="I cannot do that.")])
    chunks, report = drain(h)
    assert "".join(c.choices[0].delta.refusal or "" for c in chunks) == "I cannot do that."
    assert (report.outcome, report.reason, len(h.requests)) == ("not_checked", "refusal", 1)


def test_a_stream_cut_by_the_token_limit_is_not_called_passed(harness: Any) -> None:
    h = harness([Scripted("Open the file. Close the", finish_reason="length")])
    chunks, report = drain(h)
    assert text_of(chunks) == "Open the file. Close the"
    assert (report.outcome, report.reason, len(h.requests)) == ("not_checked", "length", 1)


def test_several_choices_interleaved(harness: Any) -> None:
    first = Scripted(choices=[{"content": GOOD}, {"content": MIXED}, {"content": "Stop."}])
    h = harness([first, REST])
    chunks, report = drain(h, n=3)
    assert [text_of(chunks, i) for i in range(3)] == [
        GOOD,
        "Open the file. Read the file. Close the door.",
        "Stop.",
    ]
    assert [c.outcome for c in report.choices] == ["passed", "passed_after_retry", "passed"]
    reasons = [
        (c.choices[0].index, c.choices[0].finish_reason)
        for c in chunks
        if c.choices[0].finish_reason
    ]
    assert sorted(reasons) == [(0, "stop"), (1, "stop"), (2, "stop")]


# --- hold: nothing unchecked gets out


def test_at_a_violation_the_upstream_is_closed_and_the_rest_is_asked_for(harness: Any) -> None:
    h = harness([Scripted(MIXED + " Open the file." * 3000), REST])
    chunks, report = drain(h)
    assert text_of(chunks) == "Open the file. Read the file. Close the door."
    assert report.outcome == "passed_after_retry"
    assert [f.rule for f in report.attempts[0].findings] == ["banned-words"]
    wait_until(lambda: h.model.open == 0)
    assert h.model.sent < 9000
    sent = h.requests[1]["messages"]
    assert sent[-2]["content"].strip() == "Open the file."
    assert "Write the rest of the text only." in sent[-1]["content"]
    assert {c.id for c in chunks} == {chunks[0].id}
    assert [c.choices[0].finish_reason for c in chunks if c.choices[0].finish_reason] == ["stop"]


def test_no_chunk_ever_shows_a_faulty_word(harness: Any) -> None:
    h = harness([MIXED, "It might work. Go.", "Read the file."])
    shown = ""
    for c in drain(h)[0]:
        shown += c.choices[0].delta.content or ""
        assert "should" not in shown
        assert "might" not in shown
    assert shown == "Open the file. Read the file."


def test_a_banned_word_split_over_chunks_is_caught(harness: Any) -> None:
    h = harness([Scripted(BAD, pieces=["You sho", "uld open", " the file."]), GOOD])
    chunks, report = drain(h)
    assert text_of(chunks) == GOOD
    assert report.outcome == "passed_after_retry"


def test_sentences_are_released_before_the_stream_ends(harness: Any) -> None:
    h = harness([Scripted("Open the file. Close the door. Stop.", stall=(9, 0.5))])
    if h.mode == "async":
        pytest.skip("the order of release is the same generator")
    stream = h.guard.chat.completions.create(model="m", messages=ASK, stream=True)
    begun = time.monotonic()
    seen = ""
    for c in stream:
        seen += c.choices[0].delta.content or ""
        if "file." in seen:
            break
    assert time.monotonic() - begun < 0.45
    assert stream.steguard.reason == "streaming"
    assert text_of(list(stream)) in " Close the door. Stop."
    assert stream.steguard.outcome == "passed"


def test_a_model_that_writes_everything_again_is_not_shown_twice(harness: Any) -> None:
    first = "Open the file. Read the log. You should go. Stop."
    again = "Open the file. Read the log. Go to the door. Stop."
    chunks, _ = drain(harness([first, again]))
    assert text_of(chunks) == again


def test_a_list_marker_waits_for_its_item(harness: Any) -> None:
    first = "Do these steps:\n\n1. Open the file.\n2. You should read it.\n"
    rest = "2. Read it.\n3. Stop.\n"
    chunks, report = drain(harness([first, rest]))
    assert text_of(chunks) == "Do these steps:\n\n1. Open the file.\n2. Read it.\n3. Stop.\n"
    assert report.outcome == "passed_after_retry"


def test_after_the_last_attempt_faulty_sentences_are_left_out(harness: Any) -> None:
    profile = {**PROFILE, "retry": {"max_attempts": 1}}
    text = "Utilize the tool. You should go. Close the door. It might work."
    chunks, report = drain(harness([text], profile))
    assert text_of(chunks) == "Use the tool. Close the door."
    assert report.outcome == "stripped"
    assert report.choices[0].removed == ("You should go.", "It might work.")
    assert report.text == "Use the tool. Close the door."


def test_fallbacks_of_a_stream(harness: Any) -> None:
    one = {"retry": {"max_attempts": 1}}
    chunks, report = drain(harness([MIXED], {**PROFILE, **one, "fallback": "noop"}))
    assert (text_of(chunks), report.outcome) == (MIXED, "rejected")
    assert [f.rule for f in report.findings] == ["banned-words"]
    h = harness([MIXED], {**PROFILE, **one, "fallback": "raise"})
    with pytest.raises(OutputRejected) as caught:
        drain(h)
    assert caught.value.result.text == "Open the file. "


def test_without_resume_a_shown_prefix_ends_the_retries(harness: Any) -> None:
    h = harness([MIXED, GOOD], streaming(resume=False))
    chunks, report = drain(h)
    assert text_of(chunks) == "Open the file. Close the door."
    assert (report.outcome, len(h.requests)) == ("stripped", 1)
    h = harness([BAD, GOOD], streaming(resume=False))
    assert drain(h)[1].outcome == "passed_after_retry"


# --- buffer and observe


def test_buffer_shows_nothing_before_the_whole_has_passed(harness: Any) -> None:
    h = harness([MIXED, GOOD], streaming(mode="buffer"))
    chunks, report = drain(h)
    assert (text_of(chunks), report.outcome) == (GOOD, "passed_after_retry")
    assert [c.choices[0].delta.content for c in chunks if c.choices[0].delta.content] == pieces_of(
        GOOD
    )


def test_buffer_falls_back_on_the_whole_last_draft(harness: Any) -> None:
    chunks, report = drain(harness([MIXED], streaming(mode="buffer")))
    assert (text_of(chunks), report.outcome) == ("Open the file. Close the door.", "stripped")
    assert len(report.attempts) == 3


def test_observe_shows_everything_at_once_and_reports(harness: Any) -> None:
    h = harness([MIXED], streaming(mode="observe"))
    chunks, report = drain(h)
    assert (text_of(chunks), report.outcome, len(h.requests)) == (MIXED, "rejected", 1)
    assert [f.rule for f in report.findings] == ["banned-words"]


# --- JSON


JSON = {**PROFILE, "output": {"format": "json"}}


def test_a_faulty_field_stops_the_stream_when_it_is_complete(harness: Any) -> None:
    bad = json.dumps({"reason": "You should read it.", "rest": ["Open the file."] * 3000})
    good = json.dumps({"reason": "Read it now.", "rest": []})
    h = harness([bad, good], JSON)
    chunks, report = drain(h)
    assert text_of(chunks) == good
    assert report.data == json.loads(good)
    wait_until(lambda: h.model.open == 0)
    assert h.model.sent < 9000
    assert report.attempts[0].findings[0].pointer == "/reason"


def test_impossible_json_stops_the_stream_at_its_first_impossible_character(harness: Any) -> None:
    bad = '{"reason": oops, ' + '"x": "Open the file.", ' * 3000
    h = harness([bad, '{"reason": "Read it now."}'], JSON)
    _, report = drain(h)
    assert report.outcome == "passed_after_retry"
    assert report.attempts[0].findings[0].rule == "invalid-json"
    wait_until(lambda: h.model.open == 0)
    assert h.model.sent < 9000


def test_fenced_json_is_delivered_as_json(harness: Any) -> None:
    chunks, report = drain(harness(['```json\n{"reason": "Read it now."}\n```'], JSON))
    assert text_of(chunks) == '{"reason": "Read it now."}'
    assert report.outcome == "passed"


def test_json_falls_back_at_the_last_attempt(harness: Any) -> None:
    bad = json.dumps({"reason": "You should read it. Read the file."})
    chunks, report = drain(harness([bad], JSON))
    assert json.loads(text_of(chunks)) == {"reason": "Read the file."}
    assert report.outcome == "stripped"


# --- hooks


def test_hooks_and_last_result(harness: Any) -> None:
    seen: list[Any] = []
    h = harness([MIXED, REST], on_attempt=seen.append, on_result=seen.append)
    _, report = drain(h)
    assert [getattr(s, "number", s) for s in seen] == [1, 2, report]
    assert h.guard.last_result is report


# --- what goes wrong


@pytest.mark.parametrize(
    ("status", "kind"), [(401, openai.AuthenticationError), (500, openai.InternalServerError)]
)
def test_an_error_at_the_start_is_raised_by_create(harness: Any, status: int, kind: Any) -> None:
    h = harness([Scripted(status=status)])
    with pytest.raises(kind):
        h.create(stream=True)


def consume(h: Any) -> tuple[str, BaseException | None]:
    """What was shown before an error, and the error."""
    shown: list[str] = []
    request = {"model": "m", "messages": ASK, "stream": True}

    def take(chunk: Any) -> None:
        shown.append(chunk.choices[0].delta.content or "")

    async def inside() -> None:
        async with h.client:
            async for c in await h.guard.chat.completions.create(**request):
                take(c)

    try:
        if h.mode == "sync":
            for c in h.guard.chat.completions.create(**request):
                take(c)
        else:
            anyio.run(inside)
    except Exception as error:
        return "".join(shown), error
    return "".join(shown), None


def test_an_upstream_that_dies_leaves_a_valid_prefix_and_an_error(harness: Any) -> None:
    shown, error = consume(harness([Scripted("Open the file. Close the door. Stop it.", cut=6)]))
    assert shown.strip() in ("", "Open the file.")
    assert error is not None
    assert error.steguard.outcome == "error"


def test_malformed_events_are_a_clear_error(harness: Any) -> None:
    raw = [chunk([delta("Open the file. Close ", role="assistant")]), b"data: {oops\n\n"]
    shown, error = consume(harness([Scripted(raw=raw)]))
    assert shown.strip() in ("", "Open the file.")
    assert isinstance(error, StreamError)
    assert "is no JSON" in str(error)


def test_an_upstream_that_stalls_times_out(harness: Any) -> None:
    h = harness([Scripted("Open the file. Close the door. Stop it.", stall=(7, 1.5))])
    h.guard = h.guard.with_options(timeout=0.4)
    shown, error = consume(h)
    assert shown.strip() == "Open the file."
    assert isinstance(error, openai.APITimeoutError) or "timed out" in str(error)


def test_an_error_in_the_resumed_stream_passes_through(harness: Any) -> None:
    shown, error = consume(harness([MIXED, Scripted(status=500)]))
    assert shown == "Open the file. "
    assert isinstance(error, openai.InternalServerError)
    assert [a.draft for a in error.steguard.attempts] == [
        "Open the file. You should read it. Close"
    ]


def test_a_very_long_answer_is_stopped(harness: Any) -> None:
    h = harness([Scripted("Open the file. " * 5000)], streaming(max_chars=300))
    chunks, report = drain(h)
    assert (report.outcome, report.reason) == ("not_checked", "max_chars")
    assert len(text_of(chunks)) < 400
    wait_until(lambda: h.model.open == 0)
