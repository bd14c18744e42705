"""Laws of streams: any way to cut a text gives the verdict of the whole text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steguard.contract import Contract, compile_contract
from steguard.errors import OutputRejected
from steguard.flow import RetryPolicy, Run
from steguard.request import RequestPlan
from steguard.result import GuardResult
from steguard.stream import END, Next, Open, Release, StreamState, stream_flow

SENTENCES = st.sampled_from(
    [
        "Open the file.",
        "You should read it.",
        "The valve is opened by the crew.",
        "Set 3.5 mm (see Fig. 3).",
        "Use `should` here.",
        "It's 5 p.m. now.",
        "Utilize e.g. v1.0.2 of it.",
        "- Clean the tank\n- Drain it should\n",
        "\n\n## Title\n\n",
        "\n```py\nyou should = 1.\n```\n",
        "1. Stop.\n2. You might go.\n",
        "| a | you should |\n|---|---|\n| b | c |\n",
        "打开阀门。可能会失败！",
        "Wait...",
        '"Stop." he said.',
    ]
)
TEXTS = st.one_of(
    st.lists(SENTENCES, max_size=7).map(" ".join),
    st.text(alphabet="ab .!?\n`*-|1#>()\"'should\ud800é。", max_size=60),
    st.text(max_size=40),
)


def contract(**more: Any) -> Contract:
    return compile_contract(
        {"extends": "strict", "retry": {"max_attempts": 1}, "fallback": "noop", **more}
    )


NOOP = contract()
STRIP = contract(fallback="strip")
RETRY = contract(fallback="strip", retry={"max_attempts": 4})


def drive(made: Contract, answer: Callable[[int], Sequence[Any]]) -> tuple[list[Any], GuardResult]:
    """Run the flow with the answer of each call as the upstream; the chunks and the report."""
    state = StreamState(Run(made, RetryPolicy.of(made), RequestPlan(made, {"messages": []})))
    flow = stream_flow(state)
    chunks: list[Any] = []
    upstream = iter(())  # type: Any
    calls = 0
    step = next(flow)
    try:
        while True:
            value: Any = None
            if isinstance(step, Open):
                upstream = iter(answer(calls))
                calls += 1
            elif isinstance(step, Next):
                value = next(upstream, END)
            elif isinstance(step, Release):
                chunks += step.chunks
            step = flow.send(value)
    except StopIteration as done:
        return chunks, done.value
    except OutputRejected as error:
        return chunks, error.result


@st.composite
def pieces(draw: st.DrawFn, texts: st.SearchStrategy[str] = TEXTS) -> list[str]:
    text = draw(texts)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    if draw(st.booleans()):
        cuts = list(range(1, len(text)))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@given(pieces())
@settings(max_examples=150)
def test_released_text_and_findings_are_those_of_the_whole_text(parts: list[str]) -> None:
    text = "".join(parts)
    chunks, report = drive(NOOP, lambda call: parts)
    assert "".join(chunks) == text
    assert report.text == text
    assert report.findings == NOOP.check(text).findings


@given(
    pieces(
        st.lists(st.sampled_from(["Open the file.", "Close the door. ", "\n\n1. Stop it.\n"])).map(
            " ".join
        )
    )
)
@settings(deadline=None)
def test_a_clean_stream_is_the_same_chunks(parts: list[str]) -> None:
    chunks = [*map(_chunk, parts), _chunk("", "stop")]
    released, report = drive(NOOP, lambda call: chunks)
    if not report.passed:
        return
    assert len(released) == len(chunks)
    assert all(a is b for a, b in zip(released, chunks, strict=True))


@given(pieces())
@settings(max_examples=100)
def test_a_stripped_stream_has_no_fault_left(parts: list[str]) -> None:
    chunks, report = drive(STRIP, lambda call: parts)
    assert "".join(chunks) == report.text
    if report.compliant:
        assert STRIP.check(report.text).passed


@given(st.lists(pieces(st.lists(SENTENCES, max_size=6).map(" ".join)), min_size=4, max_size=4))
@settings(max_examples=100)
def test_whatever_is_called_passed_has_no_fault(answers: list[list[str]]) -> None:
    chunks, report = drive(RETRY, lambda call: answers[call])
    assert "".join(chunks) == report.text
    assert report.outcome in ("passed", "passed_after_retry", "stripped", "rejected")
    if report.compliant:
        assert RETRY.check(report.text).passed
    assert len(report.attempts) <= 4


@pytest.mark.parametrize("mode", ["buffer", "observe"])
@given(parts=pieces())
@settings(max_examples=60)
def test_the_other_modes_keep_the_law(mode: str, parts: list[str]) -> None:
    made = contract(stream={"mode": mode})
    text = "".join(parts)
    chunks, report = drive(made, lambda call: parts)
    assert "".join(chunks) == text
    assert report.findings == made.check(text).findings


def _chunk(text: str, reason: str | None = None) -> dict[str, Any]:
    return {
        "id": "x",
        "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": reason}],
    }
