"""Streams chunk by chunk, without a network: what goes out, in which order, and never twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from steguard.contract import Contract, compile_contract
from steguard.errors import OutputRejected
from steguard.flow import RetryPolicy, Run
from steguard.request import RequestPlan
from steguard.result import GuardResult
from steguard.stream import END, Close, Next, Open, Release, StreamState, stream_flow
from steguard.streamchoice import Lead
from steguard.testing import pieces_of
from tests.conftest import ASK, PROFILE
from tests.support.effort import effort, grows_linearly


class Driven:
    """One flow run to its end: what went out, what was sent, how much of each stream was read."""

    def __init__(self, profile: Any, answers: Sequence[Sequence[Any]], **kwargs: Any) -> None:
        contract: Contract = compile_contract(profile)
        plan = RequestPlan(contract, {"messages": ASK, **kwargs})
        state = StreamState(Run(contract, RetryPolicy.of(contract), plan))
        self.chunks: list[Any] = []
        self.requests: list[dict[str, Any]] = []
        self.read: list[int] = []
        self.closed = 0
        self.result = self._run(stream_flow(state), answers)

    def _run(self, flow: Any, answers: Sequence[Sequence[Any]]) -> GuardResult:
        step, upstream = next(flow), iter(())  # type: Any
        try:
            while True:
                value: Any = None
                if isinstance(step, Open):
                    upstream = iter(answers[min(len(self.requests), len(answers) - 1)])
                    self.requests.append(step.kwargs)
                    self.read.append(0)
                elif isinstance(step, Next):
                    value = next(upstream, END)
                    self.read[-1] += value is not END
                elif isinstance(step, Release):
                    self.chunks += step.chunks
                elif isinstance(step, Close):
                    self.closed += 1
                step = flow.send(value)
        except StopIteration as done:
            return done.value
        except OutputRejected as error:
            return error.result

    def text(self, index: int = 0) -> str:
        deltas = [c for chunk in self.chunks for c in chunk["choices"] if c["index"] == index]
        return "".join(c["delta"].get("content") or "" for c in deltas)

    def said(self, name: str) -> list[Any]:
        """What the released deltas say in this field."""
        deltas = [c["delta"] for chunk in self.chunks for c in chunk["choices"]]
        return [d[name] for d in deltas if d.get(name)]


def chunk(text: str | None = None, reason: str | None = None, index: int = 0, **delta: Any) -> Any:
    content = {} if text is None else {"content": text}
    choice = {"index": index, "delta": {**content, **delta}, "finish_reason": reason}
    return {"id": "c", "choices": [choice]}


def answer(text: str, *, reason: str = "stop", index: int = 0) -> list[Any]:
    words = [chunk(piece, index=index) for piece in pieces_of(text)]
    return [chunk("", index=index, role="assistant"), *words, chunk(reason=reason, index=index)]


def call(at: str = "x") -> list[Any]:
    head = {"index": 0, "id": "call_1", "function": {"name": "look", "arguments": ""}}
    rest = {"index": 0, "function": {"arguments": f'{{"at": "{at}"}}'}}
    return [chunk(tool_calls=[head]), chunk(tool_calls=[rest]), chunk(reason="tool_calls")]


def once(**more: Any) -> dict[str, Any]:
    return {**PROFILE, "retry": {"max_attempts": 1}, **more}


# --- nothing is sent twice


@pytest.mark.parametrize("mode", ["hold", "buffer"])
def test_a_resumed_stream_does_not_send_the_role_again(mode: str) -> None:
    bad, good = answer("Stop it. You should go."), answer("Go.")
    driven = Driven({**PROFILE, "stream": {"mode": mode}}, [bad, good])
    assert driven.result.outcome == "passed_after_retry"
    assert driven.said("role") == ["assistant"]


@pytest.mark.parametrize("mode", ["hold", "buffer"])
def test_the_role_stays_when_it_came_with_refused_text(mode: str) -> None:
    bad = [chunk("You should go. Now", role="assistant"), chunk(" go.", reason="stop")]
    driven = Driven({**PROFILE, "stream": {"mode": mode}}, [bad, answer("Go.")])
    assert (driven.text(), driven.said("role")) == ("Go.", ["assistant"])


@pytest.mark.parametrize("mode", ["hold", "buffer"])
def test_tool_calls_of_a_refused_attempt_are_not_sent(mode: str) -> None:
    bad = [*answer("Stop it. You should look.")[:-1], *call("old")]
    good = [*answer("Look.")[:-1], *call("new")]
    profile = {**PROFILE, "stream": {"mode": mode}, "rules": {"missing-text": "off"}}
    driven = Driven(profile, [bad, good])
    calls = [c[0] for c in driven.said("tool_calls")]
    assert [c.get("id") for c in calls] == ["call_1", None]
    assert calls[1]["function"]["arguments"] == '{"at": "new"}'


def test_the_next_attempt_is_told_of_calls_that_did_not_run() -> None:
    bad = [*answer("Stop it. You should look.")[:-1], *call("old")]
    driven = Driven(PROFILE, [bad, answer("Go.")])
    draft, told = driven.requests[1]["messages"][-3:-1]
    assert draft["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"at": "old"}'}
    assert (told["role"], told["tool_call_id"]) == ("tool", "call_1")


def test_tool_calls_that_went_out_are_not_sent_again() -> None:
    first = [chunk("", role="assistant"), *call("one")[:2], *answer("You should go. Stop.")[1:]]
    driven = Driven(PROFILE, [first, [*answer("Go.")[:-1], *call("two")]])
    assert (
        "".join(c[0]["function"]["arguments"] for c in driven.said("tool_calls")) == '{"at": "one"}'
    )
    assert driven.text() == "Go."


# --- several choices


def test_one_bad_choice_does_not_end_the_stream_before_the_others_came() -> None:
    both = [*answer("You should go. Stop it now. Go.")[:-1], *answer("Open it. Close it.", index=1)]
    driven = Driven(PROFILE, [both, answer("Go.")], n=2)
    assert (driven.text(0), driven.text(1)) == ("Go.", "Open it. Close it.")
    assert [c.outcome for c in driven.result.choices] == ["passed_after_retry", "passed"]
    assert driven.requests[1]["n"] == 1


def test_the_stream_is_closed_when_every_choice_is_bad() -> None:
    long = [chunk(" on", index=i % 2) for i in range(500)]
    both = [
        *answer("You should go. Stop.")[:-1],
        *answer("It might go. Stop.", index=1)[:-1],
        *long,
    ]
    driven = Driven(PROFILE, [both, answer("Go."), answer("Stop.")], n=2)
    assert (driven.text(0), driven.text(1)) == ("Go.", "Stop.")
    assert driven.read[0] < 20


def test_a_choice_that_is_too_long_does_not_cut_the_others() -> None:
    both = [*answer("Open it. " * 20)[:-1], *answer("Open it. Close it.", index=1)]
    driven = Driven({**PROFILE, "stream": {"max_chars": 100}}, [both], n=2)
    assert driven.text(1) == "Open it. Close it."
    assert [c.reason for c in driven.result.choices] == ["max_chars", None]


def test_a_chunk_with_several_choices_keeps_the_good_one() -> None:
    parts = zip(
        pieces_of("You should go. Stop it."), pieces_of("Open it. Close it now."), strict=True
    )
    rows = [
        {"id": "c", "choices": [chunk(a)["choices"][0], chunk(b, index=1)["choices"][0]]}
        for a, b in parts
    ]
    end = {"id": "c", "choices": [chunk(reason="stop", index=i)["choices"][0] for i in (0, 1)]}
    driven = Driven(PROFILE, [[*rows, end], answer("Go.")], n=2)
    assert (driven.text(0), driven.text(1)) == ("Go.", "Open it. Close it now.")
    reasons = [(c["index"], c["finish_reason"]) for k in driven.chunks for c in k["choices"]]
    assert sorted(r for r in reasons if r[1]) == [(0, "stop"), (1, "stop")]


# --- usage


def usage(prompt: int, completion: int) -> dict[str, int]:
    total = prompt + completion
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total}


def test_usage_that_comes_with_the_last_text_chunk_is_summed() -> None:
    first = [
        *answer("Stop it. You should go.")[:-1],
        {**chunk(reason="stop"), "usage": usage(5, 5)},
    ]
    second = [*answer("Go.")[:-1], {**chunk(reason="stop"), "usage": usage(8, 2)}]
    driven = Driven(PROFILE, [first, second])
    told = [c["usage"]["total_tokens"] for c in driven.chunks if c.get("usage")]
    assert told == [driven.result.usage.total_tokens] == [20]


# --- an answer that just stops


def test_a_stream_that_ends_without_a_reason_is_not_called_passed() -> None:
    driven = Driven(PROFILE, [answer("Open it. Close the")[:-1]])
    assert (driven.result.outcome, driven.result.reason) == ("not_checked", "cut")
    assert driven.text() == "Open it. Close the"


def test_text_pieces_need_no_reason() -> None:
    assert Driven(PROFILE, [["Open it. ", "Close it."]]).result.outcome == "passed"


# --- the fallback in a list


def stripped(text: str, **more: Any) -> str:
    driven = Driven(once(**more), [answer(text)])
    assert driven.result.outcome == "stripped"
    assert driven.text() == driven.result.text
    return driven.text()


def test_later_numbers_close_the_gap_of_a_lost_item() -> None:
    text = "Do these steps:\n\n1. Open it.\n2. You should go.\n3. Stop it.\n4. It might go.\n5. Go.\n\nThen stop."
    wanted = "Do these steps:\n\n1. Open it.\n2. Stop it.\n3. Go.\n\nThen stop."
    assert stripped(text) == wanted


def test_numbers_that_get_shorter_keep_the_places_right() -> None:
    items = [f"{n}. Open file {n}." for n in range(1, 13)]
    items[4] = "5. You should go."
    items[10] = "11. It might go."
    left = stripped("\n".join(items)).split("\n")
    assert [line.partition(".")[0] for line in left] == [str(n) for n in range(1, 11)]
    assert left[-1] == "10. Open file 12."


def test_a_new_list_keeps_its_own_numbers() -> None:
    text = "1. You should go.\n2. Stop it.\n\nDo this too.\n\n1. Open it.\n2. Close it."
    assert stripped(text) == "1. Stop it.\n\nDo this too.\n\n1. Open it.\n2. Close it."


def test_an_item_that_loses_its_first_sentence_keeps_its_marker() -> None:
    assert (
        stripped("1. Open it.\n2. You should go. Stop it.\n3. Go.")
        == "1. Open it.\n2. Stop it.\n3. Go."
    )
    assert stripped("- You should go. Stop it.\n- Go.") == "- Stop it.\n- Go."


def test_a_list_whose_last_item_goes_stays_apart_from_the_next_paragraph() -> None:
    assert stripped("1. Open it.\n2. You should go.\n\nThen stop.") == "1. Open it.\n\nThen stop."


def test_a_lost_paragraph_leaves_one_blank_line() -> None:
    assert stripped("Open it.\n\nYou should go.\n\nStop it.") == "Open it.\n\nStop it."
    assert stripped("You should go.\n\nStop it.") == "Stop it."
    assert stripped("Open it. You should go.\n\nStop it.") == "Open it.\n\nStop it."


def test_the_gap_is_the_same_however_the_text_is_cut() -> None:
    text = "1. Open it.\n2. You should go.\n3. Stop it. It might go.\n10. Go.\n\nUtilize it. Stop."
    whole = Driven(once(), [[text]]).result.text
    for size in (1, 2, 3, 7, 50):
        parts = [text[i : i + size] for i in range(0, len(text), size)]
        assert Driven(once(), [parts]).result.text == whole
    assert whole == "1. Open it.\n2. Stop it.\n9. Go.\n\nUse it. Stop."


def test_a_sentence_that_is_repaired_and_still_faulty_goes() -> None:
    text = "Stop it. Utilize it. | a | you should |\n|---|---|\n| b | c |\n - It might. Go.\nStop."
    for parts in ([text], list(text)):
        result = Driven(once(), [parts]).result
        assert (result.outcome, "should" in result.text, "might" in result.text) == (
            "stripped",
            False,
            False,
        )


# --- the join of a resumed answer


def joined(shown: str, *parts: str) -> str:
    lead = Lead(shown)
    said = ""
    for part in parts:
        said += part if lead.done else lead.feed(part)
    return said


@pytest.mark.parametrize(
    ("shown", "parts", "wanted"),
    [
        ("Open it. ", ["Close", " it."], "Close it."),
        ("Open it.", ["Close it."], " Close it."),
        ("Open the big file. ", ["Open the", " big file.", " Stop."], "Stop."),
        ("Open the big file. ", ["Open the big", " door."], "Open the big door."),
        ("Stop. Open the big file. ", ["Open the big file. Go."], "Go."),
        ("Stop. ", ["Stop. Go."], "Stop. Go."),
        ("Open it. ", ["\n\n", "1. Stop."], "\n\n1. Stop."),
        ("Do this:\n\n", ["\n", "1. Stop."], "1. Stop."),
        ("1. Go.\n", ["   - Stop."], "   - Stop."),
        ("打开阀门。", ["关门。"], "关门。"),
    ],
)
def test_a_resumed_answer_is_joined_to_what_was_shown(
    shown: str, parts: list[str], wanted: str
) -> None:
    assert joined(shown, *parts) == wanted


# --- effort


@pytest.mark.parametrize("profile", [PROFILE, {**PROFILE, "stream": {"mode": "buffer"}}, once()])
def test_the_work_grows_with_the_length_and_no_faster(profile: Any) -> None:
    every = 10 if profile.get("retry") else 10**9

    def run(sentences: int) -> None:
        said = [
            "You should go. " if i % every == 5 else "Open the file. " for i in range(sentences)
        ]
        Driven(profile, [pieces_of("".join(said))])

    assert grows_linearly(run, 40)


def test_one_huge_chunk_with_many_faults_is_read_once() -> None:
    def run(faults: int) -> None:
        driven = Driven(once(), [["Open the file. You should go. " * faults]])
        assert driven.result.text == ("Open the file. " * faults).rstrip()

    assert grows_linearly(run, 20)


def test_a_copy_of_a_segmenter_shares_what_all_segmenters_remember() -> None:
    from copy import deepcopy

    from steguard.text.segment import Segmenter

    def run(words: int) -> None:
        segmenter = Segmenter()
        segmenter.feed(" ".join(f"word{n}" for n in range(words)))
        segmenter.close()

    run(20)
    before = effort(lambda: deepcopy(Segmenter()))
    run(5000)
    assert effort(lambda: deepcopy(Segmenter())) == before
