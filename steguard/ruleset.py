"""Rules at work: a compiled set of rules runs over sentences and gives findings.

The set knows which words wake which rule, so that most rules never see most sentences.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from steguard.rules._mention import is_mentioned
from steguard.rules.base import Checker, Options, PerSentence, Rule
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
        self._tables: dict[str, WakeTable] = {}

    def start(self, language: str = "en") -> RuleRun:
        """Begin a new text in this language."""
        table = self._tables.get(language)
        if table is None:
            fits = [a for a in self.active if not a.rule.languages or language in a.rule.languages]
            table = self._tables[language] = WakeTable(fits)
        return RuleRun(table)


class WakeTable:
    """Which words wake which rule, worked out once for all texts of a language."""

    def __init__(self, active: Sequence[ActiveRule]) -> None:
        self.active = active
        self.checkers: list[Checker] = [a.rule.checker(a.options) for a in active]
        self.fresh = [i for i, c in enumerate(self.checkers) if not getattr(c, "stateless", False)]
        self.finishing = [i for i, c in enumerate(self.checkers) if type(c) is not PerSentence]
        self.always = [i for i, c in enumerate(self.checkers) if c.triggers is None]
        self.wakes: dict[str, list[int]] = {}
        for index, checker in enumerate(self.checkers):
            for word in checker.triggers or ():
                self.wakes.setdefault(word, []).append(index)
        self.words = frozenset(self.wakes)

    def start(self) -> list[Checker]:
        """The checkers for one text: fresh ones where they remember, else the shared ones."""
        checkers = self.checkers.copy()
        for index in self.fresh:
            active = self.active[index]
            checkers[index] = active.rule.checker(active.options)
        return checkers


class RuleRun:
    """The rules on one text. Feed sentences in order, then finish."""

    def __init__(self, table: WakeTable) -> None:
        self._active, self._finishing = table.active, table.finishing
        self._always, self._wakes, self._words = table.always, table.wakes, table.words
        self._checkers = table.start()

    def sentence(self, sentence: Sentence) -> list[tuple[ActiveRule, Hit]]:
        """What the rules find in the next sentence, by place."""
        order: Sequence[int] = self._always
        woken = sentence.vocabulary & self._words
        if woken:
            order = sorted({*order, *(index for word in woken for index in self._wakes[word])})
        found: list[tuple[ActiveRule, Hit]] = []
        for index in order:
            for hit in self._checkers[index].sentence(sentence):
                found.append((self._active[index], hit))
        if found:
            found = [pair for pair in found if not is_mentioned(sentence, pair[1])]
        if len(found) > 1:
            found.sort(key=lambda pair: (pair[1].start, pair[1].end, pair[0].rule.code))
        return found

    def finish(self, document: Document) -> list[tuple[ActiveRule, Hit]]:
        """What the rules find in the text as a whole; call it once, after the last sentence."""
        found = [
            (self._active[index], hit)
            for index in self._finishing
            for hit in self._checkers[index].finish(document)
        ]
        found.sort(key=lambda pair: (pair[1].start, pair[1].end, pair[0].rule.code))
        return found


class Lines:
    """Offsets to line and column, both from 1."""

    def __init__(self, text: str) -> None:
        self._starts = [0]
        self.extend(text, 0)

    def extend(self, text: str, offset: int) -> None:
        """More text that begins at this offset."""
        at = text.find("\n")
        while at >= 0:
            self._starts.append(offset + at + 1)
            at = text.find("\n", at + 1)

    def position(self, offset: int) -> tuple[int, int]:
        row = bisect_right(self._starts, offset) - 1
        return row + 1, offset - self._starts[row] + 1
