"""Rules at work: a compiled set of rules runs over sentences and gives findings.

The set knows which words wake which rule, so that most rules never see most sentences.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass

from steguard.rules._data import holds_data, outside_data
from steguard.rules._mention import drop_mentioned
from steguard.rules.base import Checker, Options, PerSentence, Rule
from steguard.text.model import Document, Sentence
from steguard.types import Hit, Safety, Severity


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
        self._active, self._finishing, self._fresh = table.active, table.finishing, table.fresh
        self._wakes, self._words = table.wakes, table.words
        self._awake = table.always
        self._use(table.start())

    def _use(self, checkers: list[Checker]) -> None:
        self._checkers = checkers
        self._looks = [checker.sentence for checker in checkers]
        self._always = [(index, self._looks[index]) for index in self._awake]

    def copy(self) -> RuleRun:
        """A run that has seen the same sentences and goes its own way from here."""
        twin = copy(self)
        checkers = self._checkers.copy()
        for index in self._fresh:
            checkers[index] = _forked(checkers[index])
        twin._use(checkers)
        return twin

    def sentence(self, sentence: Sentence) -> list[tuple[ActiveRule, Hit]]:
        """What the rules find in the next sentence, by place."""
        found: list[tuple[ActiveRule, Hit]] = []
        for index, look in self._always:
            for hit in look(sentence):
                found.append((self._active[index], hit))
        woken = sentence.vocabulary & self._words
        if woken:
            for index in _NOBODY.union(*map(self._wakes.__getitem__, woken)):
                for hit in self._looks[index](sentence):
                    found.append((self._active[index], hit))
        if found:
            found = drop_mentioned(sentence, found)
            if holds_data(sentence):
                found = [
                    pair
                    for pair in found
                    if not pair[0].rule.languages or outside_data(sentence, pair[1])
                ]
            if len(found) > 1:
                found.sort(key=_by_place)
                found = _without_doubles(found)
        return found

    def finish(self, document: Document) -> list[tuple[ActiveRule, Hit]]:
        """What the rules find in the text as a whole; call it once, after the last sentence."""
        found = [
            (self._active[index], hit)
            for index in self._finishing
            for hit in self._checkers[index].finish(document)
        ]
        found.sort(key=_by_place)
        return found


_NOBODY: frozenset[int] = frozenset()


def _without_doubles(found: list[tuple[ActiveRule, Hit]]) -> list[tuple[ActiveRule, Hit]]:
    """One fault, one finding: leave out a hit where a rule that it yields to has one as good.

    As good is as heavy, and with a safe fix if this one has a safe fix.
    """
    names = {active.rule.name for active, _ in found}
    doubles = {
        at
        for at, (active, hit) in enumerate(found)
        if not names.isdisjoint(active.rule.yields)
        and any(
            other.rule.name in active.rule.yields
            and _WEIGHT[other.severity] >= _WEIGHT[active.severity]
            and better.start == hit.start
            and _is_safe(other, better) >= _is_safe(active, hit)
            for other, better in found
        )
    }
    return [pair for at, pair in enumerate(found) if at not in doubles] if doubles else found


def _is_safe(active: ActiveRule, hit: Hit) -> bool:
    return bool(hit.edits) and (hit.safety or active.rule.fix) is Safety.SAFE


_WEIGHT = {Severity.INFO: 0, Severity.WARNING: 1, Severity.ERROR: 2}


def _by_place(pair: tuple[ActiveRule, Hit]) -> tuple[int, int, str]:
    return pair[1].start, pair[1].end, pair[0].rule.code


def _forked(checker: Checker) -> Checker:
    """A checker with a memory of its own: attributes, and containers one level deep."""
    twin = copy(checker)
    for name, value in vars(twin).items():
        if isinstance(value, dict | list | set):
            setattr(twin, name, value.copy())
    return twin


class Lines:
    """Offsets to line and column, both from 1."""

    def __init__(self, text: str) -> None:
        self._starts = [0]
        self.extend(text, 0)

    def copy(self) -> Lines:
        twin = copy(self)
        twin._starts = self._starts.copy()
        return twin

    def extend(self, text: str, offset: int) -> None:
        """More text that begins at this offset."""
        at = text.find("\n")
        while at >= 0:
            self._starts.append(offset + at + 1)
            at = text.find("\n", at + 1)

    def position(self, offset: int) -> tuple[int, int]:
        row = bisect_right(self._starts, offset) - 1
        return row + 1, offset - self._starts[row] + 1
