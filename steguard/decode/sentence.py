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
from steguard.decode.grammar import Grammar, Ref, Sequence, WordSet
from steguard.decode.kinds import Kind
from steguard.decode.lexis import Atom, Lexis, Word
from steguard.decode.pairs import NUMBER

_LATE = 3
"""With fewer words left no new clause begins, so that a sentence lands before its limit."""

_NONE: frozenset[int] = frozenset()
_CLAUSES = frozenset((Kind.SUB, Kind.IF, Kind.WHEN, Kind.ASKED))


Move = tuple[Ref, Context]
"""Words, and the context after them."""

Blocks = frozenset[int]
"""Numbers of blocks. A block is the words (or the shape) that lead to the same place from each."""

_LARGE = 30
"""A block of so many words is a terminal of its own; small ones are joined as they are needed."""


class Sentences:
    """Writes the rules for sentences into a grammar."""

    def __init__(self, grammar: Grammar, lexis: Lexis, shapes: tuple[str, ...]) -> None:
        self._grammar = grammar
        self._atoms = [*lexis.atoms(), Atom(Word(Kind.PLAIN, name=True), texts=("name",))]
        for name in shapes:
            number = name == "number"
            word = Word(Kind.DET, NUMBER, frozenset((NUMBER,))) if number else Word(Kind.DET)
            self._atoms.append(Atom(word, shape=name))
        self._unions: dict[Blocks, tuple[int, Words]] = {}
        self._groups: dict[tuple[Blocks, bool], Ref] = {}
        self._partition()
        self._next = cache(self._steps)
        self._usual = cache(self._find_usual)
        self._moves = cache(self._find_moves)
        alone = frozenset(n for n, atom in enumerate(self._samples) if atom.word.name)
        self.names = (self._terminal(alone, False), self._terminal(alone, True))

    def add(
        self,
        name: str,
        most: int,
        *,
        least: int = 3,
        first: bool = False,
        command: bool = False,
    ) -> Ref:
        """The rule for a sentence of ``least`` to ``most`` words.

        ``first``: it opens the text. ``command``: it is an instruction.
        """
        choices: list[Sequence] = []
        for (mode, context), opener in self._openings(first, command, title=True).items():
            rest = self._rest(mode, context, most - 1, least - 1)
            choices += [] if rest is None else [(opener, rest)]
        adverbs = frozenset(
            number
            for number, atom in enumerate(self._samples)
            if not atom.shape and reopens(atom.word) and not (first and atom.word.filler)
        )
        for (mode, context), opener in self._openings(first, command, title=False).items():
            rest = self._rest(mode, context, most - 2, least - 2)
            if rest is not None and adverbs:
                adverb = self._group(adverbs, True)
                choices += [(adverb, " ", opener, rest), (adverb, ", ", opener, rest)]
        return self._grammar.add(name, choices)

    def _openings(
        self, first: bool, command: bool, *, title: bool
    ) -> dict[tuple[Mode, Context], Ref]:
        """The words that open a sentence, or that do so after an adverb (no ``title``)."""
        found: dict[tuple[Mode, Context], set[int]] = defaultdict(set)
        for number, atom in enumerate(self._samples):
            word = atom.word
            start = None if atom.shape else opening(word, first=first)
            if start is None or reopens(word):
                continue
            if not all(opening(head, first=first) for head in atom.heads):
                continue
            if command and not (word.kind in COMMANDS and (word.verb or word.kind is Kind.DO)):
                continue
            found[start].add(number)
        return {start: self._group(frozenset(n), title) for start, n in found.items()}

    def _sentence(self, mode: Mode, context: Context, left: int, need: int) -> Ref | None:
        """One word or more from a context, with so many words left."""
        if left < 1:
            return None

        own, usual = self._moves(mode, context, left <= _LATE)

        def following(moves: tuple[Move, ...]) -> Iterator[Sequence]:
            for words, after in moves:
                rest = self._rest(mode, after, left - 1, need - 1)
                if rest is not None:
                    yield (words, rest)

        def choices() -> Iterator[Sequence]:
            yield from following(own)
            if usual:
                shared = self._memo(f"u{mode.value}", left, need, lambda: following(usual))
                if shared is not None:
                    yield (shared,)

        return self._memo(f"s{mode.value}{context.name}", left, need, choices)

    def _find_moves(
        self, mode: Mode, context: Context, late: bool
    ) -> tuple[tuple[Move, ...], tuple[Move, ...]]:
        """Where the next word leads: what only this context has, and what all free ones share."""
        free = context.at in (At.FREE, At.OPEN)
        usual = self._usual(mode, late) if free else {}
        steps = self._next(mode, context, late)
        own = {after: blocks - usual.get(after, _NONE) for after, blocks in steps.items()}
        return self._as_moves(own), self._as_moves(usual)

    def _as_moves(self, steps: Mapping[Context, Blocks]) -> tuple[Move, ...]:
        return tuple((self._group(blocks), after) for after, blocks in steps.items() if blocks)

    def _find_usual(self, mode: Mode, late: bool) -> dict[Context, Blocks]:
        """What every free context has in common; it is written once for all of them."""
        free = [c for c in self._contexts if c.at in (At.FREE, At.OPEN)]
        first, *others = [self._next(mode, context, late) for context in free]
        return {
            after: blocks.intersection(*(other.get(after, _NONE) for other in others))
            for after, blocks in first.items()
        }

    def _rest(self, mode: Mode, context: Context, left: int, need: int) -> Ref | None:
        """What follows a word: the end, or a space or a comma and more words."""

        def choices() -> Iterator[Sequence]:
            if need <= 0 and context.closes:
                yield (".",)
            more = self._sentence(mode, context, left, need)
            if more is not None:
                yield (" ", more)
            if context.pauses:
                later = self._sentence(mode, after_comma(context), left, need)
                if later is not None:
                    yield (", ", later)

        return self._memo(f"r{mode.value}{context.name}", left, need, choices)

    def _memo(
        self, kind: str, left: int, need: int, choices: Callable[[], Iterable[Sequence]]
    ) -> Ref | None:
        name = f"{kind}-{left}"
        if need > 0:
            name += f"n{need}"
        if name not in self._grammar.rules:
            self._grammar.add(name, choices())
        return Ref(name) if self._grammar.rules[name] else None

    def _steps(self, mode: Mode, context: Context, late: bool) -> dict[Context, Blocks]:
        """By the context that follows: the blocks of words that lead there."""
        found: dict[Context, set[int]] = defaultdict(set)
        leads = self._leads[mode, context]
        for number, atom in enumerate(self._samples):
            if late and atom.word.kind in _CLAUSES:
                continue
            after = leads[atom.word]
            if after is not None and all(leads[head] for head in atom.heads):
                found[after].add(number)
        return {after: frozenset(numbers) for after, numbers in found.items()}

    def _group(self, blocks: Blocks, title: bool = False) -> Ref:
        """The words of the blocks as one rule: a terminal for each large block and each shape,
        and one for all the small blocks, since an engine pays for each terminal that is open."""
        found = self._groups.get((blocks, title))
        if found is None:
            shapes = [self._samples[n].shape for n in sorted(blocks) if self._samples[n].shape]
            words = [n for n in sorted(blocks) if not self._samples[n].shape]
            small = frozenset(n for n in words if not self._stands_alone(n))
            names = [
                *shapes,
                *(self._terminal(frozenset((n,)), title) for n in words if n not in small),
            ]
            if small:
                names.append(self._terminal(small, title))
            found = Ref(names[0])
            if len(names) > 1:
                rule = f"g{len(self._groups)}"
                found = self._grammar.add(rule, [(Ref(name),) for name in names])
            self._groups[blocks, title] = found
        return found

    def _stands_alone(self, number: int) -> bool:
        """Whether a block is a terminal of its own: it is large, or its words change."""
        return len(self._words[number]) >= _LARGE or self._samples[number].word.name

    def _terminal(self, blocks: Blocks, title: bool) -> str:
        """The name of the terminal for the words of these blocks."""
        number, words = self._unions.get(blocks, (-1, None))
        if words is None:
            number, words = len(self._unions), Words(t for n in blocks for t in self._words[n])
            self._unions[blocks] = (number, words)
        name = f"{'T' if title else 'W'}{number}"
        self._grammar.terminals.setdefault(name, WordSet(words, title))
        return name

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
