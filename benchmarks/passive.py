"""How well ``passive-voice`` finds the passive, against Universal Dependencies gold.

A sentence has a gold passive if a token has the relation ``aux:pass``, ``nsubj:pass`` or
``csubj:pass``; a prediction is a finding of the rule. The main figures are without the stative
exemption, because the treebanks call "is located" a passive; ``stative_allowed`` repeats them
with the exemption that the strict profile uses.

The agent figures compare sentences with ``obl:agent`` to sentences where a finding names who
acts; ``reduced: forbid`` is on for them, because the gold counts "a file written by Ann" too.
``agent_finite`` counts only agents of the passives above. A file without any ``obl:agent`` (PUD
does not mark it) has no agent figures and does not enter the total.

``us_per_sentence`` is the rule on sentences that are segmented already: the trigger test, word
classes, the search and the findings, with an empty cache; the word lists are loaded before.

Data: https://github.com/UniversalDependencies, for example UD_English-EWT and UD_English-PUD.
"""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import steguard._version
from steguard.rules.ste.passive_voice import RULE, PassiveVoiceOptions
from steguard.text.model import Sentence
from steguard.text.segment import segment
from steguard.text.verbs import verbs
from steguard.text.voice import agents_without_auxiliary, passives

_PASSIVE = ("aux:pass", "nsubj:pass", "csubj:pass")


@dataclass
class Gold:
    text: str
    passive: bool
    agent: bool
    finite_agent: bool
    sentences: list[Sentence] = field(default_factory=list)


def read(path: Path) -> Iterator[Gold]:
    """The sentences of a CoNLL-U file."""
    text, rows = "", []
    for line in [*path.read_text(encoding="utf-8").splitlines(), ""]:
        if line.startswith("# text = "):
            text = line[9:]
        elif line and not line.startswith("#"):
            columns = line.split("\t")
            if columns[0].isdigit():
                rows.append((columns[6], columns[7]))
        elif not line and rows:
            heads = {head for head, relation in rows if relation.startswith(_PASSIVE)}
            agents = {head for head, relation in rows if relation.startswith("obl:agent")}
            yield Gold(text, bool(heads), bool(agents), bool(heads & agents))
            text, rows = "", []


@dataclass
class Score:
    right: int = 0
    wrong: int = 0
    missed: int = 0

    def add(self, gold: bool, predicted: bool) -> None:
        self.right += gold and predicted
        self.wrong += predicted and not gold
        self.missed += gold and not predicted

    def merge(self, other: Score) -> None:
        self.right += other.right
        self.wrong += other.wrong
        self.missed += other.missed

    @property
    def precision(self) -> float:
        return self.right / ((self.right + self.wrong) or 1)

    @property
    def recall(self) -> float:
        return self.right / ((self.right + self.missed) or 1)

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    def figures(self, prefix: str = "") -> dict[str, float]:
        return {
            f"{prefix}precision": round(self.precision, 4),
            f"{prefix}recall": round(self.recall, 4),
            f"{prefix}f1": round(self.f1, 4),
        }


def check(sentences: list[Sentence], options: PassiveVoiceOptions) -> bool:
    checker = RULE.checker(options)
    triggers = checker.triggers or frozenset()
    return any(True for s in sentences if s.vocabulary & triggers for _ in checker.sentence(s))


def seconds(data: list[Gold]) -> tuple[float, int]:
    """The best of five runs of the rule over all sentences, and how many they are."""
    sentences = [sentence for gold in data for sentence in gold.sentences]
    best = float("inf")
    for _ in range(5):
        for sentence in sentences:
            sentence.cache.clear()
        checker = RULE.checker(PassiveVoiceOptions(stative="forbid"))
        triggers = checker.triggers or frozenset()
        start = time.perf_counter()
        for sentence in sentences:
            if sentence.vocabulary & triggers:
                for _hit in checker.sentence(sentence):
                    pass
        best = min(best, time.perf_counter() - start)
    return best, len(sentences)


def naive() -> Callable[[str], bool]:
    """The regular expression that people write first."""
    pattern = re.compile(r"\b(?:am|is|are|was|were|be|been|being)\s+\w+ed\b", re.IGNORECASE)
    return lambda text: pattern.search(text) is not None


def word_list() -> Callable[[str], bool]:
    """A form of "be", then a regular or an irregular participle from a list."""
    irregular = {p for v in verbs().values() for p in v.participle if not p.endswith("ed")}
    pattern = re.compile(
        r"\b(?:am|is|are|was|were|be|been|being)\s+(?:\w+ed|"
        + "|".join(sorted(irregular, key=len, reverse=True))
        + r")\b",
        re.IGNORECASE,
    )
    return lambda text: pattern.search(text) is not None


def spacy_small() -> Callable[[str], bool] | None:
    """spaCy's small English model, where both are installed."""
    try:
        nlp = importlib.import_module("spacy").load("en_core_web_sm", disable=["ner", "lemmatizer"])
    except (ImportError, OSError):
        return None
    return lambda text: any(token.dep_ in ("auxpass", "nsubjpass") for token in nlp(text))


def peer_figures(data: list[Gold]) -> dict[str, dict[str, float]]:
    peers: dict[str, Callable[[str], bool] | None] = {
        "naive_regex": naive(),
        "word_list": word_list(),
        "spacy_sm": spacy_small(),
    }
    found: dict[str, dict[str, float]] = {}
    for name, predict in peers.items():
        if predict is None:
            continue
        score = Score()
        start = time.perf_counter()
        for gold in data:
            score.add(gold.passive, predict(gold.text))
        spent = time.perf_counter() - start
        found[name] = {**score.figures(), "us_per_sentence": round(spent / len(data) * 1e6, 2)}
    return found


def measure(data: list[Gold]) -> tuple[dict[str, object], dict[str, Score]]:
    scores = {name: Score() for name in ("all", "stative", "agent", "finite")}
    marked = any(gold.agent for gold in data)
    for gold in data:
        gold.sentences = segment(gold.text, format="plain")
        scores["all"].add(
            gold.passive, check(gold.sentences, PassiveVoiceOptions(stative="forbid"))
        )
        scores["stative"].add(gold.passive, check(gold.sentences, PassiveVoiceOptions()))
        if marked:
            finite = any(p.agent for s in gold.sentences for p in passives(s))
            reduced = any(agents_without_auxiliary(s) for s in gold.sentences)
            scores["agent"].add(gold.agent, finite or reduced)
            if gold.finite_agent or not gold.agent:
                scores["finite"].add(gold.finite_agent, finite)
    return {"n": len(data), **figures(scores, marked)}, scores


def figures(scores: dict[str, Score], marked: bool) -> dict[str, object]:
    found: dict[str, object] = {
        **scores["all"].figures(),
        "stative_allowed": scores["stative"].figures(),
    }
    if marked:
        found |= scores["agent"].figures("agent_")
        found["agent_finite"] = scores["finite"].figures()
        found["agents"] = scores["agent"].right + scores["agent"].missed
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ud", type=Path, required=True, help="folder with *.conllu files")
    parser.add_argument("--json", action="store_true", help="print one JSON object only")
    arguments = parser.parse_args()
    files: dict[str, object] = {}
    total = {name: Score() for name in ("all", "stative", "agent", "finite")}
    data: list[Gold] = []
    for path in sorted(arguments.ud.glob("*.conllu")):
        part = list(read(path))
        files[path.name], scores = measure(part)
        for name, score in scores.items():
            total[name].merge(score)
        data += part
    if not data:
        parser.error(f"no *.conllu file in {arguments.ud}")
    marked = total["agent"].right + total["agent"].missed > 0
    spent, count = seconds(data)
    report = {
        "machine": f"{platform.machine()} {platform.system()}",
        "versions": {
            "python": platform.python_version(),
            "steguard": steguard._version.__version__,
        },
        "n": len(data),
        **figures(total, marked),
        "us_per_sentence": round(spent / count * 1e6, 2),
        "files": files,
        "peers": peer_figures(data),
    }
    print(json.dumps(report, indent=None if arguments.json else 1))
    if not arguments.json:
        table(report)


def table(report: dict[str, object]) -> None:
    print()
    print(f"{'':28}{'precision':>10}{'recall':>8}{'f1':>8}{'µs/sentence':>13}")
    rows: list[tuple[str, dict[str, float]]] = [("steguard", report)]  # type: ignore[list-item]
    for name, row in {**report["files"], **report["peers"]}.items():  # type: ignore[dict-item]
        rows.append((name, row))
    for name, row in rows:
        speed = row.get("us_per_sentence", "")
        print(f"{name:28}{row['precision']:>10}{row['recall']:>8}{row['f1']:>8}{speed:>13}")


if __name__ == "__main__":
    main()
