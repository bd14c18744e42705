"""What a decoding constraint does to the answers of a small model, and what it costs.

    python benchmarks/decode.py [--prompts N] [--threads N] [--json]

The model is the embedded one (SmolLM2-135M-Instruct). Four ways are compared on the same prompts
and seeds: the prompt alone; with the decoding constraint; with retry instead; with both. An
answer is clean when the checks of the profile `strict` find nothing and the model ended it.

- `clean_*`: the share of answers that are clean (for the two ways with retry, after the retries).
- `bad_sentences_*`: the share of sentences with a finding at the first attempt.
- `speed_ratio`: tokens a second with the constraint over tokens a second without it, over whole
  requests, so the time to read the grammar counts.
- `compile_ms`: the time to compile the contract to a grammar the first time, and `compile_named_ms`
  with the names of a further prompt.
- `perplexity_ratio`: perplexity of the constrained answers over that of the free answers, both
  under the free model with the same prompt. It is measured on a sample, since the server gives
  the probabilities only of what it writes itself: the model is asked for each next token.
- `key_terms_*`: the share of the task's key terms that the answer names.
- `repeat_ratio`: the share of repeated sentences, constrained over free (both shares are given).

The prompts are in `benchmarks/data/decode`; no data has to be fetched.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks import common
from steguard import Guard
from steguard.contract import Contract, compile_contract
from steguard.decode import compile_constraint
from steguard.local import LocalModel
from steguard.text.segment import segment

TASKS = Path(__file__).parent / "data" / "decode" / "prompts.tsv"
MAX_TOKENS = 240
TEMPERATURE = 0.7
_OFF = {"extends": "strict", "retry": {"max_attempts": 1}, "fallback": "noop"}
_ON = {"mode": "require", "endpoint": "llama.cpp"}
WAYS: dict[str, dict[str, Any]] = {
    "prompt": _OFF,
    "decode": {**_OFF, "constrain": _ON},
    "retry": {"extends": "strict", "fallback": "noop"},
    "all": {"extends": "strict", "fallback": "noop", "constrain": _ON},
}


@dataclass(frozen=True)
class Task:
    prompt: str
    terms: tuple[str, ...]


@dataclass(frozen=True)
class Answer:
    """The first draft, how the call ended, and what the first attempt took."""

    task: Task
    draft: str
    clean: bool
    first_clean: bool
    cut: bool
    tokens: int
    seconds: float


def tasks(count: int | None) -> list[Task]:
    lines = TASKS.read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    found = [Task(prompt, tuple(terms.split())) for prompt, terms in rows]
    if count is None or count >= len(found):
        return found
    return found[:: max(1, len(found) // count)][:count]


def run(way: str, client: Any, model: str, todo: Sequence[Task]) -> list[Answer]:
    guard = Guard(client, profile=WAYS[way])
    answers = []
    for seed, task in enumerate(todo):
        result = guard.chat.completions.create(
            model=model,
            messages=[{"role": "user", "content": task.prompt}],
            max_tokens=MAX_TOKENS,
            temperature=TEMPERATURE,
            seed=seed,
        ).steguard
        first = result.attempts[0]
        cut = first.finish_reason != "stop"
        answers.append(
            Answer(
                task,
                first.draft,
                result.passed,
                not first.errors and not cut,
                cut,
                first.usage.completion_tokens,
                first.latency,
            )
        )
    return answers


def sentences(text: str) -> list[str]:
    return [s.text.strip() for s in segment(text) if s.text.strip()]


def bad_sentences(contract: Contract, answers: Sequence[Answer]) -> float:
    bad = total = 0
    for answer in answers:
        total += len(sentences(answer.draft))
        bad += len({f.sentence for f in contract.check(answer.draft).errors})
    return bad / max(1, total)


def repeats(answers: Sequence[Answer]) -> float:
    """The share of sentences that stand in the same answer before."""
    again = total = 0
    for answer in answers:
        found = [s.lower() for s in sentences(answer.draft)]
        total += len(found)
        again += len(found) - len(set(found))
    return again / max(1, total)


def key_terms(answers: Sequence[Answer]) -> float:
    named = total = 0
    for answer in answers:
        text = answer.draft.lower()
        total += len(answer.task.terms)
        named += sum(term.removesuffix("s") in text for term in answer.task.terms)
    return named / max(1, total)


def perplexity(client: Any, model: str, system: str, answers: Sequence[Answer]) -> float:
    """The perplexity of answers under the free model, by the words that they hold.

    For each word the model is given the text before it and asked for the most likely next
    tokens; a word that does not begin with one of them counts with a fixed low probability.
    """
    logs = []
    for answer in answers:
        for before, word in _places(answer.draft):
            logs.append(_log_probability(client, model, system, answer.task.prompt, before, word))
    return math.exp(-mean(logs)) if logs else float("nan")


_FLOOR = math.log(1e-5)
_EVERY = 6


def _places(text: str) -> Iterator[tuple[str, str]]:
    """Every sixth word with the text before it."""
    at = 0
    for number, word in enumerate(text.split(" ")):
        if number and number % _EVERY == 0 and word.strip():
            yield text[:at], word
        at += len(word) + 1


def _log_probability(
    client: Any, model: str, system: str, prompt: str, before: str, word: str
) -> float:
    reply = client.completions.create(
        model=model,
        prompt=(
            f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{prompt}<|im_end|>\n"
            f"<|im_start|>assistant\n{before.rstrip()}"
        ),
        max_tokens=1,
        temperature=0,
        logprobs=200,
        extra_body={"n_probs": 200, "cache_prompt": True},
    )
    wanted = f" {word}"
    best = _FLOOR
    for token, log in _candidates(reply):
        if token.strip() and wanted.startswith(token):
            best = max(best, log)
    return best


def _candidates(reply: Any) -> Iterator[tuple[str, float]]:
    logprobs = reply.choices[0].logprobs
    content = getattr(logprobs, "content", None)
    for entry in content or ():
        for option in entry["top_logprobs"]:
            yield option["token"], option["logprob"]
    if content is None and getattr(logprobs, "top_logprobs", None):
        yield from logprobs.top_logprobs[0].items()


def compile_times() -> tuple[float, float, Contract]:
    """Milliseconds for a contract's first grammar, for the names of a prompt, and the contract."""
    compile_contract("strict").check("Warm the rules.")
    compile_constraint(compile_contract({"extends": "strict", "retry": {"max_attempts": 2}}))
    times = []
    for number in range(5):
        contract = compile_contract({"extends": "strict", "retry": {"max_attempts": number + 3}})
        begun = time.perf_counter()
        len(compile_constraint(contract).lark)
        times.append(time.perf_counter() - begun)
    begun = time.perf_counter()
    len(compile_constraint(contract, names=["heat pump kettle"]).lark)
    named = time.perf_counter() - begun
    return 1000 * min(times), 1000 * named, contract


def measure(count: int | None, threads: int | None) -> dict[str, Any]:
    from openai import OpenAI

    todo = tasks(count)
    contract = compile_contract("strict")
    compile_ms, named_ms, other = compile_times()
    constraint = compile_constraint(other)
    with LocalModel(threads=threads) as model:
        client = OpenAI(base_url=model.base_url, api_key="local", timeout=600)
        run("decode", client, model.model, todo[:1])  # Warm the weights.
        answers = {way: run(way, client, model.model, todo) for way in WAYS}
        sample = max(1, len(todo) // 12)
        odds = {
            way: perplexity(client, model.model, contract.prompt, answers[way][::sample])
            for way in ("prompt", "decode")
        }
    free, bound = answers["prompt"], answers["decode"]
    speed = {way: _speed(answers[way]) for way in ("prompt", "decode")}
    repeated = {way: repeats(answers[way]) for way in ("prompt", "decode")}
    return {
        "machine": common.machine(),
        "versions": common.versions("openai", "xllamacpp"),
        "n": len(todo),
        "clean_prompt": mean(a.first_clean for a in free),
        "clean_decode": mean(a.first_clean for a in bound),
        "clean_retry": mean(a.clean for a in answers["retry"]),
        "clean_all": mean(a.clean for a in answers["all"]),
        "cut_prompt": mean(a.cut for a in free),
        "cut_decode": mean(a.cut for a in bound),
        "bad_sentences_prompt": bad_sentences(contract, free),
        "bad_sentences_decode": bad_sentences(contract, bound),
        "tokens_per_second_prompt": speed["prompt"],
        "tokens_per_second_decode": speed["decode"],
        "speed_ratio": speed["decode"] / speed["prompt"],
        "compile_ms": compile_ms,
        "compile_named_ms": named_ms,
        "lark_characters": len(constraint.lark),
        "gbnf_characters": len(constraint.gbnf),
        "grammar_choices": constraint.grammar.size,
        "perplexity_prompt": odds["prompt"],
        "perplexity_decode": odds["decode"],
        "perplexity_ratio": odds["decode"] / odds["prompt"],
        "key_terms_prompt": key_terms(free),
        "key_terms_decode": key_terms(bound),
        "repeats_prompt": repeated["prompt"],
        "repeats_decode": repeated["decode"],
        "repeat_ratio": repeated["decode"] / max(repeated["prompt"], 1e-9),
    }


def _speed(answers: Sequence[Answer]) -> float:
    """The median of tokens a second over the answers, whole requests."""
    return median(a.tokens / a.seconds for a in answers if a.tokens)


def show(figures: dict[str, Any]) -> None:
    rows = [
        [key, f"{value:.3f}" if isinstance(value, float) else str(value)]
        for key, value in figures.items()
        if key not in ("machine", "versions", "n")
    ]
    print(common.table(["figure", "value"], rows))


def main() -> None:
    parser = common.parser(__doc__)
    parser.add_argument("--prompts", type=int, help="how many prompts (all)")
    parser.add_argument("--threads", type=int, help="processors for the model (all)")
    arguments = parser.parse_args()
    common.emit(measure(arguments.prompts, arguments.threads), arguments.json, show)


if __name__ == "__main__":
    main()
