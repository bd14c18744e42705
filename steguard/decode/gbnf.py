"""The grammar in GBNF, the dialect of llama.cpp; vLLM, SGLang and xgrammar read it too."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from steguard.decode.automaton import Words
from steguard.decode.grammar import Grammar, Ref, Sequence, Shape, WordSet


def to_gbnf(grammar: Grammar) -> str:
    """The grammar as GBNF text, with ``root`` as its start."""
    writer = _Writer()
    lines = []
    for name, choices in sorted(grammar.rules.items(), key=lambda rule: rule[0] != grammar.start):
        shown = "root" if name == grammar.start else name
        lines.append(f"{shown} ::= {' | '.join(map(_sequence, choices))}")
    for name, terminal in grammar.terminals.items():
        if isinstance(terminal, Shape):
            lines.append(f"{name.lower()} ::= {_shape(terminal.pattern)}")
        else:
            lines.append(f"{name.lower()} ::= {writer.root(terminal)}")
    return "\n".join([*lines, *writer.lines()]) + "\n"


def word_rules(sets: Mapping[str, tuple[Words, bool]], shapes: Mapping[str, Shape]) -> str:
    """Rules for named sets of words (with a capital where the second value says so) and shapes."""
    writer = _Writer()
    lines = [f"{n} ::= {writer.root(WordSet(words, title))}" for n, (words, title) in sets.items()]
    lines += [f"{name.lower()} ::= {_shape(shape.pattern)}" for name, shape in shapes.items()]
    return "\n".join([*lines, *writer.lines()]) + "\n"


def _sequence(choice: Sequence) -> str:
    return " ".join(
        s.name.lower() if isinstance(s, Ref) else json.dumps(s, ensure_ascii=False) for s in choice
    )


class _Writer:
    """Writes the states of all word sets as rules; equal states of any two sets are one rule."""

    def __init__(self) -> None:
        self._bodies: dict[str, str] = {}

    def root(self, terminal: WordSet) -> str:
        words = terminal.words.titled if terminal.title else terminal.words
        return self._body(words, words.start, {})

    def lines(self) -> Iterator[str]:
        for body, name in self._bodies.items():
            yield f"{name} ::= {body}"

    def _body(self, words: Words, at: int, done: dict[int, str]) -> str:
        ends, edges = words.states[at]
        by_tail: dict[str, list[str]] = defaultdict(list)
        for char, target in edges:
            by_tail[self._tail(words, target, done)].append(char)
        branches = [f"{_class(chars)} {tail}".rstrip() for tail, chars in by_tail.items()]
        if ends:
            branches.append('""')
        return " | ".join(branches)

    def _tail(self, words: Words, at: int, done: dict[int, str]) -> str:
        """What follows an edge: nothing, a few characters, or the name of a rule."""
        known = done.get(at)
        if known is None:
            ends, edges = words.states[at]
            if not edges:
                known = ""
            elif not ends and len(edges) == 1:
                char, target = edges[0]
                known = f'"{char}" {self._tail(words, target, done)}'.rstrip()
                known = known.replace('" "', "")
            else:
                body = self._body(words, at, done)
                known = self._bodies.get(body) or self._bodies.setdefault(
                    body, f"a{len(self._bodies)}"
                )
            done[at] = known
        return known


def _class(chars: list[str]) -> str:
    if len(chars) == 1:
        return json.dumps(chars[0], ensure_ascii=False)
    return "[" + "".join(f"\\{c}" if c in r"\]^-" else c for c in chars) + "]"


_PIECE = re.compile(r"\[(?:\\.|[^\]\\])*\]|\\.|[|()?+*]|\{\d+(?:,\d*)?\}|[^\[\\|()?+*{}]+")


def _shape(pattern: str) -> str:
    """A shape's expression as GBNF; both have the same classes, groups and repetitions."""
    out: list[str] = []
    for piece in _PIECE.findall(pattern):
        if piece[0] in "[(|" or piece[0] in ")?+*{":
            out.append(piece)
        elif piece[0] == "\\":
            out.append(json.dumps(piece[1]))
        else:
            out.append(" ".join(json.dumps(char) for char in piece))
    text = " ".join(out)
    return re.sub(r" ([?+*{])", r"\1", text)
