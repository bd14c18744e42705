"""The constraint for engines that cannot hold contexts: fewer words, and no context is needed.

A regular expression with a state for each context and count would be huge. Without participles,
without "and" and without words that open a forbidden phrase no context is left, so a sentence is
a plain repetition. What this accepts, the whole grammar accepts, but it says less.
"""

from __future__ import annotations

from collections.abc import Mapping

from steguard.decode.automaton import Words
from steguard.decode.contexts import opening
from steguard.decode.grammar import Shape
from steguard.decode.kinds import Kind
from steguard.decode.lexis import Lexis, Word
from steguard.decode.texts import Limits

_KINDS = frozenset(
    (
        Kind.BE, Kind.MODAL, Kind.DO, Kind.TO, Kind.OR, Kind.SUB, Kind.DET, Kind.PRON, Kind.PREP,
        Kind.ADVERB, Kind.AMOUNT, Kind.PHRASE, Kind.ASKS, Kind.VERB, Kind.VERBAL, Kind.FINITE,
        Kind.PLAIN, Kind.SLOW,
    )
)  # fmt: skip
"""Kinds of words after which every other word of these kinds can stand."""


def _fits(word: Word) -> bool:
    return word.kind in _KINDS and not word.first


def _three_sets(lexis: Lexis) -> tuple[Words, Words, Words]:
    """The words that can open a sentence, stand in it, and close it."""
    fitting = {text: word for text, word in lexis.words.items() if _fits(word)}
    openers = (
        text
        for text, word in fitting.items()
        if word.kind is not Kind.ADVERB and opening(word, first=True) is not None
    )
    closers = (
        text for text, word in fitting.items() if word.ending and word.kind not in _UNFINISHED
    )
    return Words(openers), Words(fitting), Words(closers)


_UNFINISHED = frozenset((Kind.BE, Kind.MODAL, Kind.DO, Kind.TO, Kind.OR, Kind.SUB))


def sentence_pattern(lexis: Lexis, most: int, shapes: Mapping[str, Shape]) -> str:
    """An expression for one sentence of three to ``most`` words, without anchors."""
    openers, words, closers = _three_sets(lexis)
    middle = "|".join([words.pattern, *(shape.pattern for shape in shapes.values())])
    between = f"(,? ({middle})){{1,{max(1, most - 2)}}}"
    return f"({openers.titled.pattern}){between},? ({closers.pattern})\\."


def to_regex(lexis: Lexis, limits: Limits, shapes: Mapping[str, Shape]) -> str:
    """An expression for a whole answer of one paragraph, without anchors."""
    sentence = sentence_pattern(lexis, limits.words, shapes)
    more = min(limits.paragraph, limits.sentences) - 1
    return f"{sentence}( {sentence}){{0,{more}}}" if more else sentence


def to_narrow_gbnf(lexis: Lexis, limits: Limits, shapes: Mapping[str, Shape]) -> str:
    """The same as GBNF. llama.cpp's own grammar engine tries every way that is open at each
    token, so this with its three word sets is quick where the whole grammar is slow."""
    from steguard.decode.gbnf import word_rules

    openers, middle, closers = _three_sets(lexis)
    more = min(limits.paragraph, limits.sentences) - 1
    rules = word_rules({"t": (openers, True), "w": (middle, False), "e": (closers, False)}, shapes)
    names = " | ".join(["w", *(name.lower() for name in shapes)])
    most = max(0, limits.words - 2)
    root = f'root ::= s (" " s){{0,{more}}}' if more else "root ::= s"
    head = f'{root}\ns ::= t ("," ? " " m){{1,{most}}} ","? " " e "."\nm ::= {names}\n'
    return head.replace('"," ?', '","?') + rules
