"""A grammar as data: rules over words, before it is written in the dialect of an engine.

A rule is a choice of sequences. A sequence holds texts and names of rules or of word sets. Rules
never call themselves on the left and never derive nothing, so recognition and sampling are short.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from steguard.decode.automaton import Words


@dataclass(frozen=True)
class Ref:
    """A rule, a word set or a pattern by its name."""

    name: str


Symbol = str | Ref
Sequence = tuple[Symbol, ...]


@dataclass(frozen=True)
class WordSet:
    """Words of one kind; ``title`` writes them with a capital."""

    words: Words
    title: bool = False


@dataclass(frozen=True)
class Shape:
    """Text of a regular form. Only literals, classes, groups, ``|``, ``?``, ``+`` and ``{m,n}``
    are used, which Python, Lark and the GBNF writer read alike; ``examples`` are for samples."""

    pattern: str
    examples: tuple[str, ...]


@dataclass
class Grammar:
    """Rules and terminals, with the name of the rule for a whole answer."""

    rules: dict[str, list[Sequence]] = field(default_factory=dict)
    terminals: dict[str, WordSet | Shape] = field(default_factory=dict)
    start: str = "answer"

    def add(self, name: str, choices: Iterable[Sequence]) -> Ref:
        """Add a rule; equal choices are one."""
        self.rules[name] = list(dict.fromkeys(choices))
        return Ref(name)

    def prune(self) -> Grammar:
        """The grammar without what the start does not reach and without empty rules."""
        rules = self.rules
        dead = {name for name, choices in rules.items() if not choices}
        while dead:
            rules = _without(rules, dead)
            dead = {name for name, choices in rules.items() if not choices}
        reached: set[str] = set()
        waiting = [self.start]
        while waiting:
            name = waiting.pop()
            if name in reached:
                continue
            reached.add(name)
            for choice in rules.get(name, ()):
                waiting += [s.name for s in choice if type(s) is Ref]
        return Grammar(
            {name: choices for name, choices in rules.items() if name in reached},
            {name: t for name, t in self.terminals.items() if name in reached},
            self.start,
        )

    def with_words(self, sets: dict[str, WordSet]) -> Grammar:
        """The grammar with other words in these terminals; a terminal without words is gone."""
        empty = {name for name, terminal in sets.items() if not terminal.words.size}
        rules = _without(self.rules, empty) if empty else self.rules
        terminals = {**self.terminals, **sets}
        return Grammar(rules, {n: t for n, t in terminals.items() if n not in empty}, self.start)

    def accepts(self, text: str) -> bool:
        """Whether the grammar can write exactly this text."""
        return len(text) in _Reader(self, text).ends(self.start, 0)

    def reach(self, text: str) -> int:
        """How many characters from the start some answer of the grammar can share."""
        reader = _Reader(self, text)
        reader.ends(self.start, 0)
        return reader.furthest

    def sample(self, chance: random.Random) -> str:
        """An answer by chance."""
        out: list[str] = []
        stack: list[Symbol] = [Ref(self.start)]
        while stack:
            symbol = stack.pop()
            if isinstance(symbol, str):
                out.append(symbol)
            elif symbol.name in self.rules:
                stack.extend(reversed(chance.choice(self.rules[symbol.name])))
            else:
                out.append(self._word(symbol.name, chance))
        return "".join(out)

    def _word(self, name: str, chance: random.Random) -> str:
        terminal = self.terminals[name]
        if isinstance(terminal, Shape):
            return chance.choice(terminal.examples)
        word = terminal.words.sample(chance)
        return title(word) if terminal.title else word

    @cached_property
    def size(self) -> int:
        """How many choices the rules have."""
        return sum(map(len, self.rules.values()))


def _without(rules: dict[str, list[Sequence]], dead: set[str]) -> dict[str, list[Sequence]]:
    """The rules without the dead ones and without choices that need one."""
    found = {}
    for name, choices in rules.items():
        if name not in dead:
            found[name] = [c for c in choices if not any(s.name in dead for s in _refs(c))]
    return found


def _refs(choice: Sequence) -> list[Ref]:
    return [symbol for symbol in choice if type(symbol) is Ref]


def title(word: str) -> str:
    """The word with its first letter as a capital; a name that has capitals stays."""
    return word[:1].upper() + word[1:]


_WORD = re.compile(r"[^\W_][\w'-]*")


class _Reader:
    """Which ends each rule can have at each place of one text."""

    def __init__(self, grammar: Grammar, text: str) -> None:
        self._grammar = grammar
        self._text = text
        self._known: dict[tuple[str, int], frozenset[int]] = {}
        self.furthest = 0
        self._patterns = {
            name: re.compile(terminal.pattern)
            for name, terminal in grammar.terminals.items()
            if isinstance(terminal, Shape)
        }

    def ends(self, name: str, at: int) -> frozenset[int]:
        key = (name, at)
        known = self._known.get(key)
        if known is None:
            choices = self._grammar.rules.get(name)
            if choices is None:
                known = self._terminal(name, at)
            else:
                known = frozenset(end for choice in choices for end in self._sequence(choice, at))
            self._known[key] = known
        return known

    def _sequence(self, choice: Sequence, at: int) -> set[int]:
        places = {at}
        for symbol in choice:
            after: set[int] = set()
            for place in places:
                if isinstance(symbol, Ref):
                    after.update(self.ends(symbol.name, place))
                elif self._text.startswith(symbol, place):
                    after.add(place + len(symbol))
            places = after
            if not places:
                break
            self.furthest = max(self.furthest, *places)
        return places

    def _terminal(self, name: str, at: int) -> frozenset[int]:
        terminal = self._grammar.terminals[name]
        text = self._text
        if isinstance(terminal, Shape):
            return frozenset(
                end
                for end in range(at + 1, min(len(text), at + 80) + 1)
                if self._patterns[name].fullmatch(text, at, end)
            )
        match = _WORD.match(text, at)
        if match is None:
            return frozenset()
        word = match[0]
        if terminal.title:
            if not word[0].isupper() and not word[0].isdigit():
                return frozenset()
            found = word in terminal.words or word[0].lower() + word[1:] in terminal.words
        else:
            found = word in terminal.words
        return frozenset((match.end(),)) if found else frozenset()
