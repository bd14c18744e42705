"""Rules at work: a compiled set of rules runs over sentences and gives findings.

The set knows which words wake which rule, so that most rules never see most sentences.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from steguard.rules.base import Checker, Options, Rule
from steguard.text.model import Document, Sentence
from steguard.types import Hit, Severity


@dataclass(frozen=True)
class ActiveRule:
    """A rule that is switched on, with its options and its weight."""

    rule: Rule
    options: Options
    severity: Severity = Severity.ERROR


class RuleSet:
    """Rules that are switched on together; immutable and safe to share between threads."""

    def __init__(self, active: Iterable[ActiveRule]) -> None:
        self.active = tuple(active)

    def start(self, language: str = "en") -> RuleRun:
        """Begin a new text in this language."""
        return RuleRun([a for a in self.active if not a.rule.languages or language in a.rule.languages])


class RuleRun:
    """The rules on one text. Feed sentences in order, then finish."""

    def __init__(self, active: Sequence[ActiveRule]) -> None:
        self._active = active
        self._checkers: list[Checker] = [a.rule.checker(a.options) for a in active]
        self._always = [i for i, c in enumerate(self._checkers) if c.triggers is None]
        wakes: dict[str, list[int]] = {}
        for index, checker in enumerate(self._checkers):
            for word in checker.triggers or ():
                wakes.setdefault(word, []).append(index)
        self._wakes = wakes
        self._words = frozenset(wakes)

    def sentence(self, sentence: Sentence) -> list[tuple[ActiveRule, Hit]]:
        """What the rules find in the next sentence, by place."""
        awake = set(self._always)
        for word in sentence.vocabulary & self._words:
            awake.update(self._wakes[word])
        found: list[tuple[ActiveRule, Hit]] = []
        for index in sorted(awake):
            rule = self._active[index]
            found.extend((rule, hit) for hit in self._checkers[index].sentence(sentence))
        if len(found) > 1:
            found.sort(key=lambda pair: (pair[1].start, pair[1].end, pair[0].rule.code))
        return found

    def finish(self, document: Document) -> list[tuple[ActiveRule, Hit]]:
        """What the rules find in the text as a whole; call it once, after the last sentence."""
        found = [
            (rule, hit)
            for rule, checker in zip(self._active, self._checkers, strict=True)
            for hit in checker.finish(document)
        ]
        found.sort(key=lambda pair: (pair[1].start, pair[1].end, pair[0].rule.code))
        return found


class Lines:
    """Offsets to line and column, both from 1."""

    def __init__(self, text: str) -> None:
        self._starts = [0]
        at = text.find("\n")
        while at >= 0:
            self._starts.append(at + 1)
            at = text.find("\n", at + 1)

    def position(self, offset: int) -> tuple[int, int]:
        row = bisect_right(self._starts, offset) - 1
        return row + 1, offset - self._starts[row] + 1


