"""Sentences with a limit of words, as rules.

There is one rule for each mode, context and number of words that are left. A choice is a set of
words that lead to the same context, and the rule for what follows. So an engine that reads a
sentence has few ways open at a time: the sets of one rule share no word.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache

from steguard.decode.automaton import Words
from steguard.decode.contexts import (
    COMMANDS,
    FREE,
    At,
    Context,
    Mode,
    after_comma,
    opening,
    reopens,
    step,
)
from steguard.decode.grammar import Grammar, Ref, Sequence, Shape, WordSet
from steguard.decode.kinds import Kind
from steguard.decode.lexis import Atom, Lexis, Word
from steguard.decode.pairs import NUMBER

_LATE = 3
"""With fewer words left no new clause begins, so that a sentence lands before its limit."""

_NONE: frozenset[str] = frozenset()
_CLAUSES = frozenset((Kind.SUB, Kind.IF, Kind.WHEN, Kind.ASKED, Kind.JOIN, Kind.OR))


Move = tuple[Ref, Context]
"""Words, and the context after them."""


class Sentences:
    """Writes the rules for sentences into a grammar."""

    def __init__(self, grammar: Grammar, lexis: Lexis, shapes: dict[str, Shape]) -> None:
        self._grammar = grammar
        self._atoms = [*lexis.atoms(), Atom(Word(Kind.PLAIN, name=True), texts=("name",))]
        for name, shape in shapes.items():
            grammar.terminals[name] = shape
            number = name == "QUANTITY"
            word = Word(Kind.DET, NUMBER, frozenset((NUMBER,))) if number else Word(Kind.DET)
            self._atoms.append(Atom(word, shape=name))
        self._unions: dict[frozenset[str], Ref] = {}
        self._made: dict[int, Words] = {}
        self._partition()
        self._next = cache(self._steps)
        self._usual = cache(self._find_usual)
        self._moves = cache(self._find_moves)
        self._start = cache(self._openings)
        block = next(n for a, n in self._block.items() if a.word.name)
        self.names = (f"W{block}", f"T{block}")

    def add(
        self,
        name: str,
        most: int,
        *,
        least: int = 3,
        first: bool = False,
        command: bool = False,
        stop: str = ".",
    ) -> Ref:
        """The rule for a sentence of ``least`` to ``most`` words that ends with ``stop``.

        ``first``: it opens the text. ``command``: it is an instruction.
        """
        choices: list[Sequence] = []
        openings = self._start(first, command)
        for (mode, context), opener in openings.items():
            rest = self._rest(mode, context, most - 1, least - 1, stop)
            choices += [] if rest is None else [(opener, rest)]
        adverbs = [a for a in self._samples if not a.shape and reopens(a.word) and not a.word.first]
        adverb = self._set([a for a in adverbs if not (first and a.word.filler)], True)
        for (mode, context), opener in self._later(first, command).items():
            rest = self._rest(mode, context, most - 2, least - 2, stop)
            if rest is not None:
                choices += [(adverb, " ", opener, rest), (adverb, ", ", opener, rest)]
        return self._grammar.add(name, choices)

    def _openings(self, first: bool, command: bool) -> dict[tuple[Mode, Context], Ref]:
        return self._by_opening(first, command, title=True)

    def _later(self, first: bool, command: bool) -> dict[tuple[Mode, Context], Ref]:
        """What can follow an adverb that opens a sentence."""
        return self._by_opening(first, command, title=False)

    def _by_opening(
        self, first: bool, command: bool, *, title: bool
    ) -> dict[tuple[Mode, Context], Ref]:
        found: dict[tuple[Mode, Context], list[Atom]] = defaultdict(list)
        for atom in self._samples:
            word = atom.word
            start = None if atom.shape else opening(word, first=first)
            if start is None or reopens(word):
                continue
            if not all(opening(head, first=first) for head in atom.heads):
                continue
            if command and not (word.kind in COMMANDS and (word.verb or word.kind is Kind.DO)):
                continue
            found[start].append(atom)
        return {start: self._set(atoms, title) for start, atoms in found.items()}

    def _sentence(
        self, mode: Mode, context: Context, left: int, need: int, stop: str
    ) -> Ref | None:
        """One word or more from a context, with so many words left."""
        if left < 1:
            return None

        own, usual = self._moves(mode, context, left <= _LATE)

        def following(moves: tuple[Move, ...]) -> Iterator[Sequence]:
            for words, after in moves:
                rest = self._rest(mode, after, left - 1, need - 1, stop)
                if rest is not None:
                    yield (words, rest)

        def choices() -> Iterator[Sequence]:
            yield from following(own)
            if usual:
                shared = self._memo(f"u{mode.value}", left, need, stop, lambda: following(usual))
                if shared is not None:
                    yield (shared,)

        return self._memo(f"s{mode.value}{context.name}", left, need, stop, choices)

    def _find_moves(
        self, mode: Mode, context: Context, late: bool
    ) -> tuple[tuple[Move, ...], tuple[Move, ...]]:
        """Where the next word leads: what only this context has, and what all free ones share."""
        free = context.at in (At.FREE, At.OPEN)
        usual = self._usual(mode, late) if free else {}
        steps = self._next(mode, context, late)
        own = {after: blocks - usual.get(after, _NONE) for after, blocks in steps.items()}
        return self._as_moves(own), self._as_moves(usual)

    def _as_moves(self, steps: Mapping[Context, frozenset[str]]) -> tuple[Move, ...]:
        return tuple((self._group(blocks), after) for after, blocks in steps.items() if blocks)

    def _find_usual(self, mode: Mode, late: bool) -> dict[Context, frozenset[str]]:
        """What every free context has in common; it is written once for all of them."""
        free = [c for c in self._contexts if c.at in (At.FREE, At.OPEN)]
        first, *others = [self._next(mode, context, late) for context in free]
        return {
            after: blocks.intersection(*(other.get(after, _NONE) for other in others))
            for after, blocks in first.items()
        }

    def _rest(self, mode: Mode, context: Context, left: int, need: int, stop: str) -> Ref | None:
        """What follows a word: the end, or a space or a comma and more words."""

        def choices() -> Iterator[Sequence]:
            if need <= 0 and context.closes:
                yield (stop,)
            more = self._sentence(mode, context, left, need, stop)
            if more is not None:
                yield (" ", more)
            if context.pauses and left > _LATE:
                later = self._sentence(mode, after_comma(context), left, need, stop)
                if later is not None:
                    yield (", ", later)

        return self._memo(f"r{mode.value}{context.name}", left, need, stop, choices)

    def _memo(
        self, kind: str, left: int, need: int, stop: str, choices: Callable[[], Iterable[Sequence]]
    ) -> Ref | None:
        name = f"{kind}-{left}"
        if need > 0:
            name += f"n{need}"
        if stop != ".":
            name += "c"
        if name not in self._grammar.rules:
            self._grammar.add(name, choices())
        return Ref(name) if self._grammar.rules[name] else None

    def _steps(self, mode: Mode, context: Context, late: bool) -> dict[Context, frozenset[str]]:
        """By the context that follows: the terminals of the words that lead there."""
        found: dict[Context, set[str]] = defaultdict(set)
        leads = self._leads[mode, context]
        for atom in self._samples:
            if late and atom.word.kind in _CLAUSES:
                continue
            after = leads[atom.word]
            if after is not None and all(leads[head] for head in atom.heads):
                found[after].add(self._terminal(atom))
        return {after: frozenset(names) for after, names in found.items()}

    def _set(self, atoms: list[Atom], title: bool = False) -> Ref:
        return self._group(frozenset(self._terminal(atom, title) for atom in atoms))

    def _terminal(self, atom: Atom, title: bool = False) -> str:
        """The name of the terminal for the block of an atom, or of its shape."""
        if atom.shape:
            return atom.shape
        number = self._block[atom]
        name = f"{'T' if title else 'W'}{number}"
        if name not in self._grammar.terminals:
            words = self._made.get(number)
            if words is None:
                words = self._made[number] = Words(self._words[number])
            self._grammar.terminals[name] = WordSet(words, title)
        return name

    def _group(self, names: frozenset[str]) -> Ref:
        """A choice between terminals as one rule; equal choices are one rule."""
        if len(names) == 1:
            return Ref(next(iter(names)))
        found = self._unions.get(names)
        if found is None:
            choices = [(Ref(name),) for name in sorted(names)]
            found = self._unions[names] = self._grammar.add(f"g{len(self._unions)}", choices)
        return found

    def _partition(self) -> None:
        """Put words that lead to the same places from everywhere into one block."""
        self._contexts = self._reachable()
        words = {word for atom in self._atoms for word in (atom.word, *atom.heads)}
        self._leads = {
            (mode, context): {word: step(context, word, mode) for word in words}
            for mode in Mode
            for context in self._contexts
        }
        blocks: dict[object, list[Atom]] = defaultdict(list)
        behaviour = {word: self._behaviour(word) for word in words}
        for atom in self._atoms:
            if not atom.shape:
                own = behaviour[atom.word]
                heads = frozenset(behaviour[head][1] for head in atom.heads)
                blocks[own, frozenset(h for h in heads if not h >= own[1])].append(atom)
        self._block = {atom: n for n, atoms in enumerate(blocks.values()) for atom in atoms}
        self._words = [[t for a in atoms for t in a.texts] for atoms in blocks.values()]
        # One atom speaks for its block; a shape is a block of its own.
        self._samples = [atoms[0] for atoms in blocks.values()]
        self._samples += [atom for atom in self._atoms if atom.shape]

    def _behaviour(self, word: Word) -> tuple[object, frozenset[object]]:
        """What decides where a word leads, and the places where it can stand at all."""
        steps = {place: leads[word] for place, leads in self._leads.items()}
        starts = {first: opening(word, first=first) for first in (True, False)}
        commands = word.kind in COMMANDS and (word.verb or word.kind is Kind.DO)
        extra = (commands and starts[False] is not None, reopens(word), word.kind in _CLAUSES)
        stands = {key for key, value in steps.items() if value is not None}
        stands |= {key for key, value in starts.items() if value is not None}  # type: ignore[misc]
        key = (
            tuple(steps.values()),
            tuple(starts.values()),
            extra,
            word.first > 0,
            word.filler,
            word.name,
        )
        return key, frozenset(stands)

    def _reachable(self) -> list[Context]:
        """Every context that some row of words leads to."""
        words = list(dict.fromkeys(atom.word for atom in self._atoms))
        found = [FREE]
        for context in found:
            following = {step(context, word, mode) for mode in Mode for word in words}
            following |= {after_comma(context)} if context.pauses else set()
            found += [c for c in following if c is not None and c not in found]
        return found
