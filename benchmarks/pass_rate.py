"""How often answers pass: after attempt one, two and three, and how often the fallback helps.

    python benchmarks/pass_rate.py [--calls N] [--profile P] [--kind K] [--json]
    python benchmarks/pass_rate.py --base-url URL --model NAME
    python benchmarks/pass_rate.py --local

By default the model is a scripted one behind a local HTTP server, called with the real `openai`
client. It writes a compliant draft with probability 0.6, on the first call and on each call with
feedback, so its pass rates say nothing about a real model. They show that the loop does what the
figures promise, that every call ends in a named outcome, and that no faulty text passes.
With `--base-url` or `--local` the drafts come from a real model.

`noncompliant_passed` counts texts that were returned as compliant although a fresh check or an
independent naive oracle (`oracle.py`) finds a fault in them. It must be 0.

The second table compares four system prompts without the guard. It needs a real model.

The tasks are in `benchmarks/tasks`; no data has to be fetched.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks import common, oracle, prompt_effect
from benchmarks.task_set import DisobedientModel, Kind, Task, in_turn, load_kinds, schema_of
from steguard import Guard, OutputRejected, check
from steguard.contract import Contract, compile_contract
from steguard.result import GuardResult, Outcome

REFERENCE = (
    "Published in an article about STE as an output constraint for agents (2026): "
    "60 % after attempt one, 85 % after two, 95 % after three, 5 % fallback.",
    "Published in another linter's own experiment on three large models: 1.7 to 3.1 findings per "
    "100 words without a prompt, 0.08 to 0.20 with an STE prompt. Its author warns that prompt and "
    "linter name the same rules. That is true of ours too: look at the column 'not named'.",
)
_OUTCOMES = tuple(outcome.value for outcome in Outcome)


@dataclass(frozen=True)
class Call:
    """One guarded call and what the caller got."""

    task: Task
    result: GuardResult
    returned: str

    @property
    def attempts(self) -> int:
        return max((attempt.number for attempt in self.result.attempts), default=0)

    def passed_by(self, attempt: int) -> bool:
        return self.result.passed and self.attempts <= attempt


def run(tasks: Iterable[Task], client: Any, model: str, options: dict[str, Any]) -> Iterator[Call]:
    """Guard every task. An exception of the client is an outcome too."""
    from openai import OpenAIError

    guards: dict[str, Guard] = {}
    for task in tasks:
        kind = task.kind
        if kind.name not in guards:
            guards[kind.name] = Guard(client, kind.profile, schema=schema_of(kind))
        try:
            completion = guards[kind.name].chat.completions.create(
                model=model, messages=[{"role": "user", "content": task.prompt}], **options
            )
        except OutputRejected as rejected:
            yield Call(task, rejected.result, "")
        except OpenAIError as error:
            yield Call(task, error.steguard, "")  # type: ignore[attr-defined]
        else:
            content = completion.choices[0].message.content if completion.choices else None
            yield Call(task, completion.steguard, content or "")


def rates(calls: Sequence[Call]) -> dict[str, Any]:
    """The figures of some calls."""
    count = len(calls) or 1
    seconds = [call.result.seconds for call in calls]
    return {
        "calls": len(calls),
        **{f"passed_{n}": round(sum(c.passed_by(n) for c in calls) / count, 4) for n in (1, 2, 3)},
        "fallback": round(sum(c.result.worst.stopped_by is not None for c in calls) / count, 4),
        "compliant": round(sum(c.result.compliant for c in calls) / count, 4),
        "tokens": sum(c.result.usage.total_tokens for c in calls),
        "tokens_per_call": round(sum(c.result.usage.total_tokens for c in calls) / count, 1),
        "ms_p50": round(common.percentile(seconds, 0.5) * 1000, 2),
        "ms_p95": round(common.percentile(seconds, 0.95) * 1000, 2),
    }


def by_rule(calls: Sequence[Call]) -> dict[str, dict[str, int]]:
    """Findings in first drafts and in drafts after feedback, most frequent first."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for call in calls:
        for attempt in call.result.attempts:
            when = "first_drafts" if attempt.number == 1 else "after_retries"
            for finding in attempt.findings:
                counts[finding.rule][when] += 1
    ranked = sorted(counts.items(), key=lambda item: (-item[1].total(), item[0]))
    return {
        rule: {"first_drafts": c["first_drafts"], "after_retries": c["after_retries"]}
        for rule, c in ranked
    }


def noncompliant(calls: Sequence[Call]) -> list[dict[str, Any]]:
    """Texts that were returned as compliant and are not."""
    contracts: dict[str, Contract] = {}
    wrong = []
    for call in calls:
        if not call.result.compliant:
            continue
        kind = call.task.kind
        if kind.name not in contracts:
            contracts[kind.name] = compile_contract(kind.profile, schema=schema_of(kind))
        found = check(call.returned, contracts[kind.name])
        why = [f"{f.rule}: {f.excerpt}" for f in found if f.severity == "error"]
        why += oracle.faults(call.returned, kind)
        if why:
            outcome = call.result.outcome.value
            wrong.append({"kind": kind.name, "outcome": outcome, "text": call.returned, "why": why})
    return wrong


def report(calls: Sequence[Call]) -> dict[str, Any]:
    """All figures of the guarded calls."""
    total = rates(calls)
    outcomes = Counter(call.result.outcome.value for call in calls)
    wrong = noncompliant(calls)
    groups = {
        "profiles": lambda kind: kind.profile_name,
        "kinds": lambda kind: kind.name,
        "forms": lambda kind: kind.form,
    }
    figures = {
        "n": total.pop("calls"),
        **total,
        "noncompliant_passed": len(wrong),
        "noncompliant": wrong[:10],
        "outcomes": {name: outcomes[name] for name in _OUTCOMES},
        "reasons": dict(Counter(call.result.reason for call in calls if call.result.reason)),
    }
    for name, key in groups.items():
        parts: dict[str, list[Call]] = defaultdict(list)
        for call in calls:
            parts[key(call.task.kind)].append(call)
        figures[name] = {part: rates(found) for part, found in sorted(parts.items())}
    figures["rules"] = by_rule(calls)
    return figures


def show(figures: dict[str, Any]) -> None:
    """The tables."""
    percent = common.percent
    print(f"Model: {figures['model']}\n")
    rows = [
        (
            name,
            p["calls"],
            *(percent(p[f"passed_{n}"]) for n in (1, 2, 3)),
            percent(p["fallback"]),
            percent(p["compliant"]),
            p["tokens_per_call"],
            p["ms_p50"],
            p["ms_p95"],
        )
        for group in ("profiles", "kinds", "forms")
        for name, p in figures[group].items()
    ]
    rows.append(
        (
            "all",
            figures["n"],
            *(percent(figures[f"passed_{n}"]) for n in (1, 2, 3)),
            percent(figures["fallback"]),
            percent(figures["compliant"]),
            figures["tokens_per_call"],
            figures["ms_p50"],
            figures["ms_p95"],
        )
    )
    head = (
        "",
        "calls",
        "passed 1",
        "passed 2",
        "passed 3",
        "fallback",
        "compliant",
        "tokens/call",
        "ms p50",
        "ms p95",
    )
    print(common.table(head, rows))
    print(f"\nReturned as compliant, and not compliant: {figures['noncompliant_passed']}")
    for one in figures["noncompliant"]:
        print(f"  {one['kind']} {one['outcome']}: {one['text']!r}: {one['why']}")
    print("Outcomes: " + _listed(figures["outcomes"]))
    print("Not checked because: " + (_listed(figures["reasons"]) or "-"))
    print()
    rules = [(r, c["first_drafts"], c["after_retries"]) for r, c in figures["rules"].items()]
    print(common.table(("findings of", "first drafts", "after retries"), rules))
    print()
    if figures["prompts"] is None:
        print(
            "Prompt comparison: skipped. It needs English text tasks and a model that reacts to "
            "prompts: --base-url or --local."
        )
    else:
        prompts = [
            (name, row["per_100_words"], row["named"], row["not_named"], row["words"])
            for name, row in figures["prompts"].items()
        ]
        head = ("system prompt, no guard", "findings/100 words", "named", "not named", "words")
        print(common.table(head, prompts))
    print("\nReference:")
    for line in REFERENCE:
        print(f"- {line}")


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


@contextmanager
def endpoint(arguments: argparse.Namespace, kinds: Sequence[Kind]) -> Iterator[tuple[Any, str]]:
    """The client and the model's name."""
    from openai import OpenAI

    if arguments.base_url:
        key = os.environ.get("OPENAI_API_KEY", "none")
        with OpenAI(base_url=arguments.base_url, api_key=key) as client:
            yield client, arguments.model or next(iter(client.models.list())).id
    elif arguments.local:
        from steguard.local import LocalModel

        running = LocalModel(threads=arguments.threads)
        with running as local, OpenAI(base_url=local.base_url, api_key="local") as client:
            yield client, local.model
    else:
        from steguard.testing import ScriptedModel

        script = DisobedientModel(kinds, seed=arguments.seed)
        with ScriptedModel(script) as model, OpenAI(base_url=model.base_url, api_key="x") as client:
            yield client, "scripted"


def main() -> None:
    parser = common.parser(__doc__)
    parser.add_argument("--base-url", help="an OpenAI-compatible endpoint (OPENAI_API_KEY)")
    parser.add_argument("--model", help="the model's name there")
    parser.add_argument("--local", action="store_true", help="the embedded model")
    parser.add_argument("--threads", type=int, help="of the embedded model; 1 on a busy machine")
    parser.add_argument("--calls", type=int, help="guarded calls (scripted: 1000)")
    parser.add_argument("--prompt-calls", type=int, default=24, help="calls for each system prompt")
    parser.add_argument("--profile", nargs="+", help="only tasks of these profiles")
    parser.add_argument("--kind", nargs="+", help="only tasks of these kinds")
    parser.add_argument("--seed", type=int, default=1, help="of the scripted or sampled drafts")
    parser.add_argument("--max-tokens", type=int, help="of one answer (250 with --local)")
    parser.add_argument("--temperature", type=float, help="of the sampling (0.2 with --local)")
    arguments = parser.parse_args()
    kinds = [
        kind
        for kind in load_kinds()
        if (not arguments.profile or kind.profile_name in arguments.profile)
        and (not arguments.kind or kind.name in arguments.kind)
    ]
    if not kinds:
        parser.error("no task has this profile and this kind")
    real = bool(arguments.base_url or arguments.local)
    count = arguments.calls or (sum(len(k.prompts) for k in kinds) if real else 1000)
    options = _sampling(arguments)
    with endpoint(arguments, kinds) as (client, model):
        calls = list(run(_progress(in_turn(kinds, count), count), client, model, options))
        figures = {
            "machine": common.machine(),
            "versions": common.versions("openai", "pydantic", "xllamacpp"),
            "model": model,
            **report(calls),
            "prompts": _prompts(arguments, kinds, client, model, options) if real else None,
            "reference": list(REFERENCE),
        }
    common.emit(figures, arguments.json, show)


def _sampling(arguments: argparse.Namespace) -> dict[str, Any]:
    """The sampling arguments of every call; none that the user did not ask for."""
    options: dict[str, Any] = {
        "max_tokens": arguments.max_tokens or (250 if arguments.local else None),
        "temperature": arguments.temperature,
        "seed": arguments.seed if arguments.local else None,
    }
    if arguments.local and options["temperature"] is None:
        options["temperature"] = 0.2
    return {name: value for name, value in options.items() if value is not None}


def _prompts(
    arguments: argparse.Namespace, kinds: Sequence[Kind], client: Any, model: str, options: Any
) -> dict[str, Any] | None:
    english = any(k.form == "text" and k.profile_name != "zh" for k in kinds)
    if not english or arguments.prompt_calls < 1:
        return None

    def ask(messages: list[dict[str, str]]) -> str:
        answer = client.chat.completions.create(model=model, messages=messages, **options)
        return answer.choices[0].message.content or ""

    return prompt_effect.measure(kinds, arguments.prompt_calls, ask)


def _progress(tasks: Iterable[Task], count: int) -> Iterable[Task]:
    """The tasks, with a bar on the terminal."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    return track(tasks, "calls", total=count, console=console, disable=not console.is_terminal)


if __name__ == "__main__":
    main()
