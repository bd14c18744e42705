"""A small form of a grammar, and its three spellings: GBNF, Lark (llguidance) and regex.

A grammar is a mapping of rule names to parts. Rules do not refer back to themselves, so every
grammar is regular and has a regex. A rule whose name is in capitals is one token of the Lark
grammar.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from steguard.errors import UsageError


@dataclass(frozen=True, slots=True)
class Text:
    """Exactly this text."""

    text: str


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of the inside of a character class such as ``a-z0-9_``."""

    inside: str


@dataclass(frozen=True, slots=True)
class Rule:
    """What the rule of this name stands for."""

    name: str


@dataclass(frozen=True, slots=True)
class Seq:
    """The parts one behind the other."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Alt:
    """One of the parts."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Many:
    """The part at least ``low`` times, at most ``high`` times; None is no limit."""

    part: Part
    low: int = 0
    high: int | None = None


Part = Text | Chars | Rule | Seq | Alt | Many
Grammar = Mapping[str, Part]


def seq(*parts: Part | str) -> Part:
    """The parts one behind the other; a text stands for itself."""
    made = tuple(Text(one) if isinstance(one, str) else one for one in parts)
    return made[0] if len(made) == 1 else Seq(made)


def alt(*parts: Part | str) -> Part:
    """One of the parts; a text stands for itself."""
    made = tuple(Text(one) if isinstance(one, str) else one for one in parts)
    return made[0] if len(made) == 1 else Alt(made)


def maybe(*parts: Part | str) -> Part:
    """The parts, or nothing."""
    return Many(seq(*parts), 0, 1)


def write(grammar: Grammar, start: str, form: str) -> str:
    """The grammar as ``gbnf``, ``lark`` or ``regex``; rules that nothing uses are left out."""
    used = dict(_used(grammar, start))
    if form == "regex":
        return _Regex(used).rule(start)
    if form == "gbnf":
        return _gbnf(used, start)
    if form == "lark":
        return _lark(used, start)
    raise UsageError(f"unknown form '{form}'; write gbnf, lark or regex")


def _used(grammar: Grammar, start: str) -> Iterator[tuple[str, Part]]:
    seen: dict[str, None] = {}
    todo = [start]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen[name] = None
            yield name, grammar[name]
            todo.extend(reversed(list(_names(grammar[name]))))


def _names(part: Part) -> Iterator[str]:
    if isinstance(part, Rule):
        yield part.name
    elif isinstance(part, Seq | Alt):
        for one in part.parts:
            yield from _names(one)
    elif isinstance(part, Many):
        yield from _names(part.part)


# ---- regex


class _Regex:
    """Every rule as a regex, in the part of the syntax that Python, Rust and PCRE share."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._made: dict[str, str] = {}

    def rule(self, name: str) -> str:
        if name not in self._made:
            self._made[name] = self.part(self._grammar[name])
        return self._made[name]

    def part(self, part: Part, inside: bool = False) -> str:
        """The regex; ``inside`` groups what a quantifier or a neighbour would tear apart."""
        if isinstance(part, Text):
            text = "".join(_regex_char(char) for char in part.text)
            return f"(?:{text})" if inside and len(part.text) != 1 else text
        if isinstance(part, Chars):
            return f"[{part.inside}]"
        if isinstance(part, Rule):
            return f"(?:{self.rule(part.name)})"
        if isinstance(part, Seq):
            text = "".join(self.part(one, isinstance(one, Alt)) for one in part.parts)
            return f"(?:{text})" if inside else text
        if isinstance(part, Alt):
            return f"(?:{'|'.join(self.part(one) for one in part.parts)})"
        return self.part(part.part, True) + _times(part)


def _times(part: Many) -> str:
    known = {(0, 1): "?", (0, None): "*", (1, None): "+"}
    found = known.get((part.low, part.high))
    if found is not None:
        return found
    high = "" if part.high is None else str(part.high)
    return f"{{{part.low}}}" if part.high == part.low else f"{{{part.low},{high}}}"


def _regex_char(char: str) -> str:
    if char == "\n":
        return r"\n"
    return f"\\{char}" if char in r"\.^$*+?{}[]()|/-" else char


# ---- GBNF


def _gbnf(grammar: Grammar, start: str) -> str:
    lines = [f"root ::= {_gbnf_name(start)}"]
    for name, part in grammar.items():
        lines.append(f"{_gbnf_name(name)} ::= {_gbnf_part(part)}")
    return "\n".join(lines) + "\n"


def _gbnf_name(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower())


def _gbnf_part(part: Part, inside: bool = False) -> str:
    if isinstance(part, Text):
        return _quoted(part.text)
    if isinstance(part, Chars):
        return f"[{part.inside}]"
    if isinstance(part, Rule):
        return _gbnf_name(part.name)
    if isinstance(part, Seq):
        text = " ".join(_gbnf_part(one, True) for one in part.parts)
        return f"({text})" if inside else text
    if isinstance(part, Alt):
        text = " | ".join(_gbnf_part(one) for one in part.parts)
        return f"({text})" if inside else text
    return _gbnf_part(part.part, True) + _times(part)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


# ---- Lark, in the dialect of llguidance


def _lark(grammar: Grammar, start: str) -> str:
    """Rules in capitals become one regex; llguidance reads a text without blanks between tokens."""
    regex = _Regex(grammar)
    lines = ["%llguidance {}", "", f"start: {_lark_name(start)}"]
    tokens = _tokens(grammar, start)
    for name, part in grammar.items():
        if name in tokens:
            lines.append(f"{_lark_name(name)}: /{regex.rule(name)}/")
        elif name.islower() or name == start:
            lines.append(f"{_lark_name(name)}: {_lark_part(part)}")
    return "\n".join(lines) + "\n"


def _tokens(grammar: Grammar, start: str) -> set[str]:
    """The capital rules that a small rule uses directly."""
    return {
        name
        for rule, part in grammar.items()
        if rule.islower() or rule == start
        for name in _names(part)
        if not name.islower()
    }


def _lark_name(name: str) -> str:
    return name.replace("-", "_")


def _lark_part(part: Part, inside: bool = False) -> str:
    if isinstance(part, Text):
        return _quoted(part.text)
    if isinstance(part, Chars):
        return f"/[{part.inside}]/"
    if isinstance(part, Rule):
        return _lark_name(part.name)
    if isinstance(part, Seq):
        text = " ".join(_lark_part(one, True) for one in part.parts)
        return f"({text})" if inside else text
    if isinstance(part, Alt):
        text = " | ".join(_lark_part(one) for one in part.parts)
        return f"({text})" if inside else text
    return _lark_part(part.part, True) + _times(part)
