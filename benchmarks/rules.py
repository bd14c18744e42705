"""How fast the whole ``strict`` profile is, and what it finds in messages of agents.

``sentences_per_second`` is :meth:`Contract.check` on one core in CPU time: form, segmentation,
rules, findings. ``wall_sentences_per_second`` is the same by the clock. Each message is read in
several rounds and its fastest one counts, because another program on the machine can only make a
round slower. ``us_per_sentence`` divides the time: segmentation, rules, and the rest (findings with
line and column).

``linear_ratio`` is the time of ten times a text over ten times the time of the text; 1 is linear.
``linear`` has it for each text: the messages of the log, marks that open and never close, one
sentence without end, and ``large``, which compares 0.5 MB of messages with 5 MB.

Data: ``messages.jsonl`` with one JSON object a line whose ``content`` is the text of a message;
we use messages of https://github.com/ag2ai/Agents_Failure_Attribution (Who&When). The peer is
measured with ``--write-good DIR`` after ``npm install write-good`` in DIR, on the same sentences.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

import common  # noqa: E402 - a peer may bring a package named "benchmarks"

from steguard.contract import Contract, compile_contract  # noqa: E402
from steguard.text.model import Document, Sentence  # noqa: E402
from steguard.text.segment import segment  # noqa: E402

NODE = Path(__file__).parent / "data" / "rules" / "write_good.mjs"
LARGE = 5_000_000
SMALL = 40_000
PASSES = 3


def messages(folder: Path) -> list[str]:
    """The texts of the log in this folder, or in its folder ``agent_logs``."""
    path = folder / "messages.jsonl"
    if not path.exists():
        path = folder / "agent_logs" / "messages.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["content"] for line in lines]


class Fastest:
    """The sum of the fastest rounds of many small pieces of work."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._best: dict[int, float] = {}

    def run(self, piece: int, work: Callable[[], Any]) -> Any:
        """Do a piece of work and keep its time if it is the best so far."""
        start = self._clock()
        result = work()
        took = self._clock() - start
        self._best[piece] = min(took, self._best.get(piece, took))
        return result

    def total(self) -> float:
        return sum(self._best.values())


class Speed:
    """Sentences a second, and where the time goes. Each call of ``measure`` can only improve it."""

    def __init__(self, contract: Contract, texts: list[str]) -> None:
        self._contract, self._texts = contract, texts
        self._rules = contract.rules("default")
        self._whole, self._wall = Fastest(time.process_time), Fastest(time.perf_counter)
        self._splitting, self._checking = Fastest(time.process_time), Fastest(time.process_time)
        self.sentences = [segment(text) for text in texts]
        for text in texts:
            contract.check(text)

    def _run(self, text: str, sentences: list[Sentence]) -> None:
        state = self._rules.start("en")
        for sentence in sentences:
            state.sentence(sentence)
        state.finish(Document(text, "markdown", "en", sentences))

    def measure(self, rounds: int) -> None:
        for _ in range(rounds):
            for at, text in enumerate(self._texts):
                check = partial(self._contract.check, text)
                self._wall.run(at, partial(self._whole.run, at, check))
                sentences = self._splitting.run(at, partial(segment, text))
                self._checking.run(at, partial(self._run, text, sentences))

    def report(self) -> dict[str, Any]:
        count = sum(map(len, self.sentences))
        whole, parts = self._whole.total(), (self._splitting.total(), self._checking.total())
        micro = 1e6 / count
        return {
            "n": count,
            "sentences_per_second": round(count / whole),
            "wall_sentences_per_second": round(count / self._wall.total()),
            "us_per_sentence": {
                "whole": round(whole * micro, 1),
                "segmentation": round(parts[0] * micro, 1),
                "rules": round(parts[1] * micro, 1),
                "rest": round(max(0.0, whole - sum(parts)) * micro, 1),
            },
        }


def found(contract: Contract, texts: list[str]) -> dict[str, Any]:
    """What the profile finds, by rule, and how much in a hundred words."""
    count: Counter[str] = Counter()
    words = 0
    for text in texts:
        count.update(finding.rule for finding in contract.check(text).findings)
        words += sum(sentence.words for sentence in segment(text))
    return {
        "words": words,
        "findings": count.total(),
        "findings_by_rule": dict(count.most_common()),
        "findings_per_100_words": {
            rule: round(100 * number / words, 3) for rule, number in count.most_common()
        },
    }


def _grown(texts: list[str], size: int) -> str:
    """Messages one after the other until the text has this size."""
    joined = "\n\n".join(texts)
    return (joined * (size // len(joined) + 1))[:size]


def _seconds(contract: Contract, text: str, rounds: int) -> float:
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        contract.check(text)
        best = min(best, time.process_time() - start)
    return best


def growth(contract: Contract, texts: list[str], rounds: int) -> dict[str, Any]:
    """The time of ten times a text over ten times the time of the text."""
    plain = _grown(texts, SMALL)
    kinds = {
        "messages": plain,
        "open-marks": "( [ \" ' ** `_ < { and the pump is opened, " * (SMALL // 45),
        "no-end": "the pump is opened and the valve should be closed, then " * (SMALL // 56),
    }
    ratios = {}
    for name, text in kinds.items():
        once = _seconds(contract, text, 2 * rounds)
        ratios[name] = round(_seconds(contract, text * 10, rounds) / (10 * once), 2)
    tenth = _seconds(contract, _grown(texts, LARGE // 10), 2)
    large = _seconds(contract, _grown(texts, LARGE), 1)
    ratios["large"] = round(large / (10 * tenth), 2)
    return {
        "linear_ratio": ratios["messages"],
        "linear": ratios,
        "large": {"characters": LARGE, "seconds": round(large, 2)},
    }


class WriteGood:
    """The peer on the same sentences, by the clock of its process."""

    def __init__(self, folder: Path | None, sentences: list[list[Sentence]]) -> None:
        self._folder = folder
        self._texts = [[sentence.text for sentence in text] for text in sentences]
        self._best: list[float] = [float("inf")] * len(self._texts)
        self._told: dict[str, Any] = {}
        self.reason = self._missing()

    def _missing(self) -> str | None:
        if self._folder is None:
            return "not asked for: give --write-good DIR"
        if not (self._folder / "node_modules" / "write-good").is_dir():
            return f"skipped: no node_modules/write-good in {self._folder}"
        return None if shutil.which("node") else "skipped: no node"

    def measure(self, rounds: int) -> None:
        if self._folder is None or self.reason is not None:
            return
        done = subprocess.run(
            ["node", str(NODE), str(self._folder.resolve())],
            input=json.dumps({"texts": self._texts, "rounds": rounds}),
            capture_output=True,
            text=True,
            check=True,
        )
        self._told = json.loads(done.stdout)
        self._best = list(map(min, self._best, self._told["us"]))

    @property
    def version(self) -> str:
        return str(self._told["version"])

    def report(self, ours: float) -> dict[str, Any]:
        """``ours``: the sentences a second of steguard by the same clock."""
        each = sum(self._best) / sum(map(len, self._texts))
        return {
            "us_per_sentence": round(each, 1),
            "sentences_per_second": round(1e6 / each),
            "findings": self._told["findings"],
            "steguard_is_faster_by": round(ours * each / 1e6, 2),
        }


def report(options: Any) -> dict[str, Any]:
    texts = messages(options.data)
    contract = compile_contract("strict")
    speed = Speed(contract, texts)
    peer = WriteGood(options.write_good, speed.sentences)
    for _ in range(PASSES):  # in turns, so that both meet the same load of the machine
        speed.measure(options.rounds)
        peer.measure(options.rounds)
    measured = speed.report()
    made: dict[str, Any] = {
        "machine": common.machine(),
        "versions": common.versions(),
        "messages": len(texts),
        **measured,
        **found(contract, texts),
        **growth(contract, texts, 3),
        "peers": {},
    }
    if peer.reason is None:
        made["versions"]["write-good"] = peer.version
        made["peers"]["write_good"] = peer.report(measured["wall_sentences_per_second"])
    else:
        made["skipped"] = {"write_good": peer.reason}
    return made


def show(made: dict[str, Any]) -> None:
    parts = made["us_per_sentence"]
    rows: list[tuple[str, object]] = [
        ("sentences a second, one core, CPU", made["sentences_per_second"]),
        ("sentences a second, clock", made["wall_sentences_per_second"]),
        *((f"µs a sentence: {name}", value) for name, value in parts.items()),
        *((f"ten times the text: {name}", value) for name, value in made["linear"].items()),
        (f"seconds for {made['large']['characters']} characters", made["large"]["seconds"]),
    ]
    for name, peer in made["peers"].items():
        rows += [(f"{name}: {key.replace('_', ' ')}", value) for key, value in peer.items()]
    for name, reason in made.get("skipped", {}).items():
        rows.append((name, reason))
    print(common.table(("strict profile", ""), rows))
    print()
    rates = made["findings_per_100_words"]
    print(
        common.table(
            ("rule", "findings", "in 100 words"),
            [(rule, n, rates[rule]) for rule, n in made["findings_by_rule"].items()],
        )
    )
    print(f"\n{made['findings']} findings in {made['words']} words, {made['messages']} messages")


def main() -> None:
    parser = common.parser(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with messages.jsonl")
    parser.add_argument("--write-good", type=Path, help="folder with node_modules/write-good")
    parser.add_argument("--rounds", type=int, default=4, help="rounds in each of 3 passes")
    options = parser.parse_args()
    common.emit(report(options), options.json, show)


if __name__ == "__main__":
    main()
