"""Finite sets of words as minimal acyclic automata.

A decoding grammar for a language of twenty thousand words has to be small and quick to make.
A set of words becomes an automaton in which equal tails are one state; from it come regular
expressions and grammar rules that share prefixes and, for frequent endings, tails.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property

State = tuple[bool, tuple[tuple[str, int], ...]]
"""Whether a word ends here, and the next state by character."""

_SHARED = 24
"""So many stems must lead to a tail before the tail is worth a factor of its own."""


class Words:
    """A finite set of non-empty words as a minimal deterministic automaton.

    Two sets with the same words are equal, whatever their order was.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self.states: list[State] = []
        ordered = sorted(set(words))
        if ordered and not ordered[0]:
            raise ValueError("an automaton of words holds no empty word")
        self.size = len(ordered)
        self.start = self._build(ordered)

    def _build(self, ordered: list[str]) -> int:
        """Build from sorted words: a branch is frozen as soon as no later word can share it."""
        known: dict[State, int] = {}
        ends: list[bool] = [False]
        edges: list[list[tuple[str, int]]] = [[]]
        before = ""

        def freeze(depth: int) -> int:
            state = (ends[depth], tuple(edges[depth]))
            found = known.get(state)
            if found is None:
                found = known[state] = len(self.states)
                self.states.append(state)
            return found

        for word in ordered:
            shared = 0
            for a, b in zip(before, word, strict=False):
                if a != b:
                    break
                shared += 1
            for depth in range(len(before), shared, -1):
                edges[depth - 1].append((before[depth - 1], freeze(depth)))
            del ends[shared + 1 :], edges[shared + 1 :]
            for _ in word[shared:]:
                ends.append(False)
                edges.append([])
            ends[-1] = True
            before = word
        for depth in range(len(before), 0, -1):
            edges[depth - 1].append((before[depth - 1], freeze(depth)))
        return freeze(0)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Words) and self.states == other.states

    def __hash__(self) -> int:
        return hash((self.size, len(self.states)))

    def __contains__(self, word: str) -> bool:
        at = self.start
        for char in word:
            for edge, target in self.states[at][1]:
                if edge == char:
                    at = target
                    break
            else:
                return False
        return self.states[at][0]

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[str]:
        """The words in alphabetical order."""
        stack = [(self.start, "")]
        while stack:
            at, word = stack.pop()
            ends, edges = self.states[at]
            if ends:
                yield word
            stack.extend((target, word + char) for char, target in reversed(edges))

    @cached_property
    def titled(self) -> Words:
        """The same words with a capital first; all other states are shared."""
        twin = Words(())
        edges = tuple((char.upper(), target) for char, target in self.states[self.start][1])
        twin.states = [*self.states, (False, tuple(dict(edges).items()))]
        twin.start, twin.size = len(self.states), self.size
        return twin

    def sample(self, chance: random.Random) -> str:
        """A word by chance; each branch has the same chance."""
        at, word = self.start, ""
        while True:
            ends, edges = self.states[at]
            if ends and (not edges or chance.random() < 0.5):
                return word
            char, at = chance.choice(edges)
            word += char

    @cached_property
    def pattern(self) -> str:
        """A regular expression of literals, groups, ``|`` and ``?`` only, anchored by its user."""
        shared = self._shared_tails()
        parts = []
        rest = []
        stems: dict[int, list[str]] = defaultdict(list)
        for word, tail in self._split(shared):
            if tail is None:
                rest.append(word)
            else:
                stems[tail].append(word)
        for tail, heads in sorted(stems.items()):
            parts.append(f"{Words(heads)._trie()}{self._trie(tail)}")
        if rest:
            parts.insert(0, Words(rest)._trie() if parts else self._trie())
        return parts[0] if len(parts) == 1 else "|".join(parts)

    def _shared_tails(self) -> frozenset[int]:
        """States with many stems and more than one ending: the inflections."""
        count: dict[int, int] = defaultdict(int)
        for _, edges in self.states:
            for _, target in edges:
                count[target] += 1
        return frozenset(
            state
            for state, many in count.items()
            if many >= _SHARED and len(self.states[state][1]) + self.states[state][0] > 1
        )

    def _split(self, shared: frozenset[int]) -> Iterator[tuple[str, int | None]]:
        """Each word as a stem and the shared tail that it ends in, or whole."""
        stack = [(self.start, "")]
        while stack:
            at, word = stack.pop()
            ends, edges = self.states[at]
            if ends:
                yield word, None
            for char, target in reversed(edges):
                if target in shared:
                    yield word + char, target
                else:
                    stack.append((target, word + char))

    def _trie(self, start: int | None = None) -> str:
        """The words from a state as one expression with common prefixes written once."""
        done: dict[int, str] = {}

        def write(at: int) -> str:
            known = done.get(at)
            if known is not None:
                return known
            ends, edges = self.states[at]
            tails: dict[str, list[str]] = {}
            for char, target in edges:
                tails.setdefault(write(target), []).append(char)
            branches = [f"{_chars(chars)}{tail}" for tail, chars in tails.items()]
            if not branches:
                text = ""
            elif len(branches) == 1 and not ends:
                text = branches[0]
            else:
                body = "|".join(branches)
                simple = len(branches) == 1 and len(body) == 1
                text = (body if simple else f"({body})") + ("?" if ends else "")
            done[at] = text
            return text

        return write(self.start if start is None else start)


def _chars(chars: list[str]) -> str:
    if len(chars) == 1:
        return escape(chars[0])
    return "[" + "".join(escape(char, inside=True) for char in chars) + "]"


def escape(char: str, *, inside: bool = False) -> str:
    """A character as a regular expression of its own, or as a member of a class."""
    return f"\\{char}" if char in (r"\]^-" if inside else r"\.^$*+?{}[]()|/") else char
