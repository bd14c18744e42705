"""Verdicts on the verifiable instructions of IFEval.

    python benchmarks/ifeval.py --data DIR [--answers FILE] [--json]

DIR holds `ifeval_input_data.jsonl`: the 541 prompts of the "Instruction-Following Eval" data set
(Apache-2.0) from the folder `instruction_following_eval/data` of the repository
google-research/google-research on GitHub; its file is named `input_data.jsonl` there, and both
names are good here. For each of the 834 instructions, answers that follow it and answers that
break it are built (`ifeval_answers.py`), and the verdict of steguard's text limits is compared.

`--answers FILE` judges answers that you have instead: one JSON object a line with
`instruction_id`, `kwargs`, `answer` and `follows` (true or false).
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.ifeval_answers import BUILDERS
from steguard._version import __version__
from steguard.rules.registry import get_rule
from steguard.ruleset import ActiveRule, RuleSet
from steguard.text.model import Document
from steguard.text.segment import segment

Limit = tuple[str, dict[str, Any]]


class Judged(NamedTuple):
    instruction: str
    kwargs: dict[str, Any]
    kind: str
    answer: str
    follows: bool
    verdict: bool


def limits_for(instruction: str, kwargs: dict[str, Any]) -> list[Limit]:
    """The text limits that one instruction stands for."""
    arguments = {key: value for key, value in kwargs.items() if value is not None}
    limits: list[Limit] = _LIMITS[instruction](**arguments)
    return limits


def _range(relation: str, limit: int) -> dict[str, int]:
    return {"min": limit} if relation == "at least" else {"max": limit - 1}


def _exactly(count: int) -> dict[str, int]:
    return {"min": count, "max": count}


_ENGLISH: Limit = ("language", {"language": "en"})

_LIMITS: dict[str, Any] = {
    "length_constraints:number_words": lambda relation, num_words: [
        ("word-count", _range(relation, num_words))
    ],
    "length_constraints:number_sentences": lambda relation, num_sentences: [
        ("sentence-count", {**_range(relation, num_sentences), "lines": "join"})
    ],
    "length_constraints:number_paragraphs": lambda num_paragraphs: [
        ("paragraph-count", {**_exactly(num_paragraphs), "divider": "***"})
    ],
    "length_constraints:nth_paragraph_first_word": lambda num_paragraphs, nth_paragraph, **rest: [
        (
            "paragraph-first-word",
            {
                "word": rest["first_word"],
                "paragraph": nth_paragraph,
                "paragraphs": num_paragraphs,
            },
        )
    ],
    "keywords:existence": lambda keywords: [("must-include", {"terms": keywords})],
    "keywords:forbidden_words": lambda forbidden_words: [
        ("must-not-include", {"terms": forbidden_words})
    ],
    "keywords:frequency": lambda keyword, relation, frequency: [
        ("keyword-count", {"keyword": keyword, "relation": relation, "count": frequency})
    ],
    "keywords:letter_frequency": lambda letter, let_relation, let_frequency: [
        ("letter-count", {"letter": letter, "relation": let_relation, "count": let_frequency})
    ],
    "change_case:capital_word_frequency": lambda capital_relation, capital_frequency: [
        ("capital-word-count", _range(capital_relation, capital_frequency))
    ],
    "change_case:english_capital": lambda: [("letter-case", {"case": "upper"}), _ENGLISH],
    "change_case:english_lowercase": lambda: [("letter-case", {"case": "lower"}), _ENGLISH],
    "language:response_language": lambda language: [("language", {"language": language})],
    "detectable_content:number_placeholders": lambda num_placeholders: [
        ("placeholder-count", {"min": num_placeholders})
    ],
    "detectable_content:postscript": lambda postscript_marker: [
        ("postscript", {"marker": postscript_marker})
    ],
    "detectable_format:number_bullet_lists": lambda num_bullets: [
        ("bullet-count", _exactly(num_bullets))
    ],
    "detectable_format:constrained_response": lambda: [
        (
            "one-of",
            {"choices": [f"My answer is {word}." for word in ("yes", "no", "maybe")]},
        )
    ],
    "detectable_format:number_highlighted_sections": lambda num_highlights: [
        ("highlight-count", {"min": num_highlights})
    ],
    "detectable_format:multiple_sections": lambda section_spliter, num_sections: [
        ("section-count", {"splitter": section_spliter, "min": num_sections})
    ],
    "detectable_format:json_format": lambda: [("valid-json", {"required": True})],
    "detectable_format:title": lambda: [("title", {"form": "angle"})],
    "startend:end_checker": lambda end_phrase: [("must-end", {"text": end_phrase})],
    "startend:quotation": lambda: [("quotation", {"required": True})],
    "combination:repeat_prompt": lambda prompt_to_repeat: [
        ("repeat-prompt", {"text": prompt_to_repeat})
    ],
    "combination:two_responses": lambda: [("two-responses", {"separator": "******"})],
    "punctuation:no_comma": lambda: [("no-comma", {"required": True})],
}


def follows(instruction: str, kwargs: dict[str, Any], answer: str) -> bool:
    """Whether steguard finds no fault in the answer under this one instruction."""
    active = []
    for name, options in limits_for(instruction, kwargs):
        rule = get_rule(name)
        active.append(ActiveRule(rule, rule.options.model_validate(options)))
    run = RuleSet(active).start()
    sentences = segment(answer, format="markdown", language="en")
    found = any(run.sentence(sentence) for sentence in sentences)
    return not found and not run.finish(Document(answer, "markdown", "en", sentences))


def instructions(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every instruction of every prompt, in order."""
    names = ("ifeval_input_data.jsonl", "input_data.jsonl")
    path = next((folder / name for name in names if (folder / name).exists()), None)
    if path is None:
        sys.exit(f"{folder} has no {names[0]}")
    for line in path.read_text("utf-8").splitlines():
        prompt = json.loads(line)
        for name, kwargs in zip(prompt["instruction_id_list"], prompt["kwargs"], strict=True):
            yield name, {key: value for key, value in kwargs.items() if value is not None}


def built(folder: Path) -> Iterator[Judged]:
    for name, kwargs in instructions(folder):
        for kind, answer, right in BUILDERS[name](kwargs):
            yield Judged(name, kwargs, kind, answer, right, follows(name, kwargs, answer))


def given(path: Path) -> Iterator[Judged]:
    for line in path.read_text("utf-8").splitlines():
        if line.strip():
            case = json.loads(line)
            name, kwargs = case["instruction_id"], case.get("kwargs") or {}
            verdict = follows(name, kwargs, case["answer"])
            yield Judged(name, kwargs, "given", case["answer"], bool(case["follows"]), verdict)


def report(judged: Iterable[Judged]) -> tuple[dict[str, Any], list[Judged]]:
    by_type: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    wrong = []
    for case in judged:
        by_type[case.instruction][1] += 1
        if case.verdict == case.follows:
            by_type[case.instruction][0] += 1
        else:
            wrong.append(case)
    right = sum(pair[0] for pair in by_type.values())
    total = sum(pair[1] for pair in by_type.values())
    types = {name: {"right": r, "total": t} for name, (r, t) in sorted(by_type.items())}
    return {"right": right, "total": total, "types": types}, wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="the folder with the prompts")
    parser.add_argument("--answers", type=Path, help="a JSONL file with answers to judge")
    parser.add_argument("--json", action="store_true", help="print one JSON object only")
    arguments = parser.parse_args()
    if (arguments.data is None) == (arguments.answers is None):
        parser.error("give --data DIR or --answers FILE")
    figures, wrong = report(
        given(arguments.answers) if arguments.answers else built(arguments.data)
    )
    figures["n"] = (
        figures["total"] if arguments.answers else sum(1 for _ in instructions(arguments.data))
    )
    figures["machine"] = f"{platform.machine()} {platform.system()}"
    figures["versions"] = {"steguard": __version__, "python": platform.python_version()}
    if arguments.json:
        print(json.dumps(figures))
        return
    for name, pair in figures["types"].items():
        print(f"{name:46} {pair['right']:6} of {pair['total']:6}")
    print(f"{'all':46} {figures['right']:6} of {figures['total']:6}")
    for case in wrong[:40]:
        print(f"\nwrong: {case.instruction} {case.kwargs} ({case.kind})")
        print(f"  follows: {case.follows}, steguard: {case.verdict}, answer: {case.answer[:300]!r}")


if __name__ == "__main__":
    main()
