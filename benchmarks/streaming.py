"""What a guarded stream costs: tokens until an answer obeys, time to the first sentence, overhead.

    python benchmarks/streaming.py [--sentences N] [--trials N] [--seed S] [--json]

**Tokens.** A simulated model writes an answer of N sentences. It draws them from recorded drafts
(`benchmarks/data/streaming`), a faulty one with probability p, at the first call and after any
feedback. Counted are the tokens that the model writes until an answer obeys, in three ways: `hold`
(the stream is closed at a fault, the rest is asked for), `buffer` (the stream is closed at a fault,
the whole is asked for again) and a guard of whole answers. The first table has a model that writes
each whole answer anew. The second has one that keeps its correct sentences when it writes the whole
again, as the feedback tells it to; it is the harder opponent. Prompt tokens are not counted; the
calls are.

**First sentence.** A local HTTP server sends one token each 20 ms. The time from the call to the
end of the first sentence, through the guard and through the plain `openai` client.

**Overhead.** Processor time per token that the guard (`hold`, all rules of the profile `strict`)
adds to the loop over the same chunk objects, on a clean text of 1,000 and of 100,000 tokens.

No data has to be fetched.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks import common
from steguard import Guard
from steguard.contract import Contract, compile_contract
from steguard.flow import Ask, RetryPolicy, Run, guard_flow
from steguard.request import RequestPlan
from steguard.result import GuardResult
from steguard.stream import END, Next, Open, StreamState, stream_flow
from steguard.testing import Scripted, ScriptedModel, pieces_of

DATA = Path(__file__).parent / "data" / "streaming"
RATES = (0.02, 0.05, 0.1, 0.2)
WAYS = ("hold", "buffer", "whole")
PACE = 0.02
PARAGRAPH = 5
ASK = [{"role": "user", "content": "Write the instructions."}]


def drafts(name: str) -> list[str]:
    return (DATA / name).read_text(encoding="utf-8").splitlines()


@dataclass
class Model:
    """A model that writes a faulty sentence with probability ``rate``.

    With ``keeps`` it writes its correct sentences again when it is asked for the whole answer.
    """

    rate: float
    length: int
    keeps: bool
    random: random.Random
    clean: Sequence[str] = field(default_factory=lambda: drafts("clean.txt"))
    faulty: Sequence[str] = field(default_factory=lambda: drafts("faulty.txt"))
    tokens: int = 0
    calls: int = 0
    _plan: list[tuple[str, bool]] = field(default_factory=list)

    def answer(self, messages: Sequence[Any]) -> Iterator[str]:
        """The tokens of the next answer, or of the rest that the last message asks for."""
        self.calls += 1
        resumed = "Write the rest" in messages[-1]["content"]
        before = self._plan
        self._plan = before[: self._shown(messages[-2]["content"])] if resumed else []
        for number in range(len(self._plan), self.length):
            known = before[number] if self.keeps and number < len(before) else None
            sentence = known if known and known[1] else self._sentence()
            self._plan.append(sentence)
            yield from pieces_of(sentence[0])

    def _sentence(self) -> tuple[str, bool]:
        good = self.random.random() >= self.rate
        return self.random.choice(self.clean if good else self.faulty) + " ", good

    def _shown(self, text: str) -> int:
        """How many sentences of the plan this text holds."""
        size = 0
        for count, (sentence, _) in enumerate(self._plan):
            size += len(sentence)
            if size > len(text) + 1:
                return count
        return len(self._plan)


def run(contract: Contract) -> Run:
    return Run(contract, RetryPolicy.of(contract), RequestPlan(contract, {"messages": ASK}))


def by_stream(contract: Contract, model: Model) -> GuardResult:
    """One answer through the guarded stream; a token counts when the guard takes it."""
    flow = stream_flow(StreamState(run(contract)))
    upstream: Iterator[str] = iter(())
    step = next(flow)
    try:
        while True:
            value: Any = None
            if isinstance(step, Open):
                upstream = model.answer(step.kwargs["messages"])
            elif isinstance(step, Next):
                value = next(upstream, END)
                model.tokens += value is not END
            step = flow.send(value)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]


def by_whole(contract: Contract, model: Model) -> GuardResult:
    """One answer through the guard of whole answers."""
    flow = guard_flow(run(contract))
    step = next(flow)
    try:
        while True:
            value: Any = None
            if isinstance(step, Ask):
                tokens = list(model.answer(step.kwargs["messages"]))
                model.tokens += len(tokens)
                message = {"role": "assistant", "content": "".join(tokens)}
                value = {"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
            step = flow.send(value)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]


def tokens(length: int, trials: int, seed: int, keeps: bool) -> dict[str, Any]:
    """Tokens and calls per answer by rate and way, and the share of whole-answer retry."""
    rows: dict[str, Any] = {}
    for rate in RATES:
        row: dict[str, Any] = {}
        for way in WAYS:
            mode = "hold" if way == "whole" else way
            contract = compile_contract(
                {
                    "extends": "strict",
                    "rules": {"paragraph-length": "off"},
                    "retry": {"max_attempts": 100},
                    "stream": {"mode": mode},
                }
            )
            drive = by_whole if way == "whole" else by_stream
            spent = calls = unfinished = 0
            for trial in range(trials):
                model = Model(rate, length, keeps, random.Random(seed + trial))
                result = drive(contract, model)
                unfinished += not (result.passed and contract.check(result.text).passed)
                spent += model.tokens
                calls += model.calls
            row[way] = {"tokens": spent / trials, "calls": calls / trials, "unfinished": unfinished}
        for way in ("hold", "buffer"):
            row[way]["ratio_to_whole_retry"] = row[way]["tokens"] / row["whole"]["tokens"]
        rows[str(rate)] = row
    return rows


# --- the first sentence


def first_sentence(repeats: int) -> dict[str, float]:
    """Milliseconds from the call to the end of the first sentence, over HTTP."""
    import openai

    text = " ".join(drafts("clean.txt")[:3])
    times: dict[str, list[float]] = {"first_sentence_ms": [], "raw_first_sentence_ms": []}
    server = ScriptedModel(lambda _: Scripted(raw=_paced(text)))
    with server, openai.OpenAI(base_url=server.base_url, api_key="none") as client:
        guard = Guard(client, "strict")
        for repeat in range(repeats + 1):
            for name, source in zip(times, (guard, client), strict=True):
                spent = _until_sentence(source)
                if repeat:
                    times[name].append(spent * 1000)
    return {name: statistics.median(values) for name, values in times.items()}


def _paced(text: str) -> Any:
    """Server-sent events of a streamed answer, each a moment after the one before."""
    from steguard.testing import _records

    for record in _records({"model": "m"}, Scripted(text)):
        time.sleep(PACE)
        yield record


def _until_sentence(source: Any) -> float:
    begun = time.perf_counter()
    seen = ""
    with source.chat.completions.create(model="m", messages=ASK, stream=True) as stream:
        for chunk in stream:
            seen += chunk.choices[0].delta.content or ""
            if "." in seen:
                return time.perf_counter() - begun
    raise AssertionError("the stream has no sentence")


# --- the overhead


class _Client:
    """A client whose stream is a list of ready chunks."""

    def __init__(self, chunks: Sequence[Any]) -> None:
        self.chat = self.completions = self
        self._chunks = chunks

    def create(self, **request: Any) -> Iterator[Any]:  # noqa: ARG002 - the client's own form
        return iter(self._chunks)


def clean_chunks(count: int) -> list[Any]:
    """A clean text of so many tokens as chunk objects of the client library."""
    from openai.types.chat import ChatCompletionChunk

    made: dict[str, Any] = {}

    def chunk(text: str, reason: str | None = None) -> Any:
        choice = {"index": 0, "delta": {"content": text}, "finish_reason": reason}
        return ChatCompletionChunk.model_validate(
            {"id": "c", "created": 1, "model": "m", "object": "chat.completion.chunk",
             "choices": [choice]}
        )  # fmt: skip

    def texts() -> Iterator[str]:
        for number, sentence in enumerate(cycle(drafts("clean.txt"))):
            gap = "" if not number else " " if number % PARAGRAPH else "\n\n"
            yield from pieces_of(gap + sentence)

    chunks = []
    for text in islice(texts(), count):
        if text not in made:
            made[text] = chunk(text)
        chunks.append(made[text])
    return [*chunks, chunk("", "stop")]


def us_per_token(count: int, repeats: int) -> float:
    """Processor time that the guard adds to one token; the best of some runs."""
    profile = {"extends": "strict", "stream": {"max_chars": 10 * count + 100}}
    chunks = clean_chunks(count)
    client = _Client(chunks)
    guard = Guard(client, profile)

    def guarded() -> None:
        stream = guard.chat.completions.create(model="m", messages=ASK, stream=True)
        assert sum(1 for _ in stream) == len(chunks)
        assert stream.steguard.passed, stream.steguard.findings

    def raw() -> None:
        stream = client.create(model="m", messages=ASK, stream=True)
        assert sum(1 for _ in stream) == len(chunks)

    return (_best(guarded, repeats) - _best(raw, repeats)) / count * 1e6


def _best(function: Callable[[], None], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        begun = time.process_time()
        function()
        times.append(time.process_time() - begun)
    return min(times)


def show(report: dict[str, Any]) -> None:
    length = report["sentences"]
    for key, habit in (("rates", "writes the whole anew"), ("keeps", "keeps correct sentences")):
        print(f"Tokens per obedient answer of {length} sentences; the model {habit}\n")
        print(
            common.table(
                ["p", *(f"{w} tokens" for w in WAYS), *(f"{w} calls" for w in WAYS), "hold/whole"],
                [
                    [
                        rate,
                        *(row[way]["tokens"] for way in WAYS),
                        *(row[way]["calls"] for way in WAYS),
                        common.percent(row["hold"]["ratio_to_whole_retry"]),
                    ]
                    for rate, row in report[key].items()
                ],
            )
        )
        print()
    rows = [
        ["first sentence, guarded (ms)", report["first_sentence_ms"]],
        ["first sentence, plain client (ms)", report["raw_first_sentence_ms"]],
        ["added per token, 1,000 tokens (µs)", report["us_per_token_1k"]],
        ["added per token, 100,000 tokens (µs)", report["us_per_token_100k"]],
    ]
    print(common.table(["", "value"], rows))


def main() -> None:
    made = common.parser(__doc__)
    made.add_argument("--sentences", type=int, default=10, help="sentences in an answer")
    made.add_argument("--trials", type=int, default=150, help="answers for each rate and way")
    made.add_argument("--seed", type=int, default=1)
    args = made.parse_args()
    anew = tokens(args.sentences, args.trials, args.seed, keeps=False)
    keeps = tokens(args.sentences, args.trials, args.seed, keeps=True)
    report = {
        "n": args.trials,
        "machine": common.machine(),
        "versions": common.versions("openai"),
        "sentences": args.sentences,
        "tokens_ratio_to_whole_retry": anew["0.1"]["hold"]["ratio_to_whole_retry"],
        "tokens_ratio_to_whole_retry_buffer": anew["0.1"]["buffer"]["ratio_to_whole_retry"],
        "tokens_ratio_to_whole_retry_keeps": keeps["0.1"]["hold"]["ratio_to_whole_retry"],
        "unfinished": sum(
            row[way]["unfinished"] for t in (anew, keeps) for row in t.values() for way in WAYS
        ),
        **first_sentence(9),
        "us_per_token_1k": us_per_token(1_000, 15),
        "us_per_token_100k": us_per_token(100_000, 2),
        "rates": anew,
        "keeps": keeps,
    }
    common.emit(report, args.json, show)


if __name__ == "__main__":
    main()
