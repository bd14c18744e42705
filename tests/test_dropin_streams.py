"""Streams as a drop-in replacement: the situations that need a stream of their own."""

from __future__ import annotations

import json
import time
from typing import Any

import anyio
import pytest

from steguard.contract import Contract, compile_contract
from steguard.ruleset import RuleRun
from steguard.testing import Scripted
from tests.conftest import ALSO_BAD, ASK, BAD, GOOD, PROFILE
from tests.test_streaming import MIXED, REST, chunk, delta, drain, event, streaming, text_of

REQUEST: dict[str, Any] = {"model": "m", "messages": ASK, "stream": True}


def test_a_stream_has_close_and_the_async_one_aclose_too(harness: Any) -> None:
    h = harness([GOOD])
    if h.mode == "sync":
        stream = h.guard.chat.completions.create(**REQUEST)
        stream.close()
        assert stream.response.is_closed
        return

    async def inside() -> None:
        async with h.client:
            for name in ("close", "aclose"):
                stream = await h.guard.chat.completions.create(**REQUEST)
                await getattr(stream, name)()
                assert stream.response.is_closed

    anyio.run(inside)


def test_sentences_come_before_the_stream_ends(harness: Any) -> None:
    h = harness([Scripted("Open the file. Close the door. Stop.", stall=(8, 1.5))])
    begun = time.monotonic()
    times: list[float] = []

    def take(seen: Any) -> None:
        if "file." in (seen.choices[0].delta.content or ""):
            times.append(time.monotonic() - begun)

    if h.mode == "sync":
        for seen in h.guard.chat.completions.create(**REQUEST):
            take(seen)
    else:

        async def inside() -> None:
            async with h.client:
                async for seen in await h.guard.chat.completions.create(**REQUEST):
                    take(seen)

        anyio.run(inside)
    assert times[0] < 1.4


def test_unknown_kinds_of_chunk_pass_in_their_place(harness: Any) -> None:
    raw = [
        event(object="vendor.start", note={"a": 1}),
        chunk([delta("Open the file. ", role="assistant")]),
        event(id="x", object="vendor.ping"),
        chunk([delta("Close it.")]),
        chunk([delta(reason="stop")]),
        event(id="x", object="vendor.scan", choices=[], verdict="clean"),
        b"data: [DONE]\n\n",
    ]
    chunks, report = drain(harness([Scripted(raw=raw)]))
    kinds = [c.object for c in chunks]
    assert kinds[0] == "vendor.start"
    assert chunks[0].note == {"a": 1}
    assert kinds.count("vendor.ping") == 1
    assert chunks[-1].verdict == "clean"
    assert (text_of(chunks), report.outcome) == ("Open the file. Close it.", "passed")


def test_rules_that_look_at_different_lengths_are_both_right(harness: Any) -> None:
    profile: dict[str, Any] = {
        **PROFILE,
        "select": ["banned-words", "paragraph-length", "repeated-word", "missing-text"],
        "rules": {"paragraph-length": {"max": 2}},
        "retry": {"max_attempts": 1},
        "fallback": "noop",
    }
    text = "Open it. Close it. Stop it. Read the the file.\n\nYou should go."
    contract: Contract = compile_contract(profile)
    chunks, report = drain(harness([text], profile))
    assert text_of(chunks) == text
    assert report.findings == contract.check(text).findings
    assert {f.rule for f in report.findings} == {
        "banned-words",
        "paragraph-length",
        "repeated-word",
    }


@pytest.mark.parametrize("stream", [{}, {"mode": "observe"}])
def test_each_sentence_and_the_end_are_checked_once(
    harness: Any, monkeypatch: pytest.MonkeyPatch, stream: Any
) -> None:
    sentences: list[str] = []
    ends: list[Any] = []
    one, last = RuleRun.sentence, RuleRun.finish

    def sentence(self: Any, seen: Any) -> Any:
        sentences.append(seen.text)
        return one(self, seen)

    def finish(self: Any, document: Any) -> Any:
        ends.append(document)
        return last(self, document)

    monkeypatch.setattr(RuleRun, "sentence", sentence)
    monkeypatch.setattr(RuleRun, "finish", finish)
    h = harness([GOOD], streaming(**stream))
    sentences.clear()
    ends.clear()
    drain(h)
    assert sentences == ["Open the file.", "Close the door."]
    assert len(ends) == 1


def test_two_guards_around_one_client_both_check_a_stream(harness: Any) -> None:
    inner = {**PROFILE, "name": "inner", "select": ["passive-voice"]}
    outer = {**PROFILE, "name": "outer", "select": ["banned-words"]}
    h = harness([ALSO_BAD, BAD, GOOD], inner)
    h.guard = type(h.guard)(h.guard, outer)
    chunks, report = drain(h)
    assert text_of(chunks) == GOOD
    assert (report.profile, report.outcome) == ("outer", "passed_after_retry")
    assert len(h.requests) == 3


def test_the_thoughts_of_a_model_pass_and_are_not_checked(harness: Any) -> None:
    raw = [
        chunk([delta(role="assistant", reasoning_content="You should think.")]),
        chunk([delta("Open the ")]),
        chunk([delta("file.", reasoning_content="It might work.")]),
        chunk([delta(reason="stop")]),
        b"data: [DONE]\n\n",
    ]
    chunks, report = drain(harness([Scripted(raw=raw)]))
    thoughts = [getattr(c.choices[0].delta, "reasoning_content", None) for c in chunks]
    assert [t for t in thoughts if t] == ["You should think.", "It might work."]
    assert report.outcome == "passed"


def test_nothing_of_the_feedback_or_the_refused_draft_is_in_the_stream(harness: Any) -> None:
    h = harness([MIXED, ALSO_BAD, REST])
    chunks, report = drain(h)
    everything = "".join(c.model_dump_json() for c in chunks)
    assert "should" not in everything
    assert "rules" not in everything
    assert "is opened" not in everything
    assert text_of(chunks) == report.text
    assert [c.choices[0].finish_reason for c in chunks if c.choices[0].finish_reason] == ["stop"]


def test_the_loose_profile_never_raises_in_a_stream(harness: Any) -> None:
    text = "It could probably be several things. " * 3
    chunks, report = drain(harness([text], "loose"))
    assert report.outcome == "rejected"
    assert text_of(chunks) == text


def test_only_what_caller_or_profile_asked_for_is_sent_for_a_stream(harness: Any) -> None:
    h = harness([MIXED, REST])
    drain(h, temperature=0, steguard={"settings": {"retry": {"max_attempts": 2}}})
    assert [set(r) for r in h.requests] == [{"model", "messages", "stream", "temperature"}] * 2
    assert len({json.dumps(r["messages"]) for r in h.requests}) == 2


def test_parallel_async_streams_share_nothing(harness: Any) -> None:
    def echo(request: dict[str, Any]) -> str:
        word = request["messages"][1]["content"]
        again = len(request["messages"]) > 2
        return f"Read {word}." if again else f"Open {word}. You should read {word}."

    h = harness(echo)
    words = [f"file{n}" for n in range(8)]
    told: dict[str, str] = {}

    def request(word: str) -> dict[str, Any]:
        return {**REQUEST, "messages": [{"role": "user", "content": word}]}

    if h.mode == "sync":
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(8) as pool:
            create = h.guard.chat.completions.create
            texts = pool.map(lambda w: text_of(list(create(**request(w)))), words)
            told = dict(zip(words, texts, strict=True))
    else:

        async def one(word: str) -> None:
            stream = await h.guard.chat.completions.create(**request(word))
            told[word] = text_of([c async for c in stream])

        async def inside() -> None:
            async with h.client, anyio.create_task_group() as group:
                for word in words:
                    group.start_soon(one, word)

        anyio.run(inside)
    assert told == {w: f"Open {w}. Read {w}." for w in words}
