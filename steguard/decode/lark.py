"""The grammar in the Lark dialect of llguidance.

llama.cpp (built with it), vLLM, SGLang and OpenAI's custom tools read it.
"""

from __future__ import annotations

import json

from steguard.decode.grammar import Grammar, Ref, Sequence, Shape, WordSet


def to_lark(grammar: Grammar, *, header: bool = False) -> str:
    """The grammar as Lark text. ``header`` adds the line by which llama.cpp knows the dialect."""
    lines = ["%llguidance {}", ""] if header else []
    lines += [
        f"{'start' if name == grammar.start else name}: "
        + " | ".join(_sequence(choice) for choice in choices)
        for name, choices in sorted(grammar.rules.items(), key=lambda r: r[0] != grammar.start)
    ]
    for name, terminal in grammar.terminals.items():
        lines.append(f"{name}: /{_pattern(terminal)}/")
    return "\n".join(lines) + "\n"


def _pattern(terminal: WordSet | Shape) -> str:
    if isinstance(terminal, Shape):
        return terminal.pattern
    words = terminal.words
    return words.titled.pattern if terminal.title else words.pattern


def _sequence(choice: Sequence) -> str:
    return " ".join(
        s.name if isinstance(s, Ref) else json.dumps(s, ensure_ascii=False) for s in choice
    )
