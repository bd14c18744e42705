"""The shape of a whole answer: paragraphs, numbered steps, lists, with limits of sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from steguard.decode.grammar import Grammar, Ref, Sequence
from steguard.decode.sentence import Sentences


@dataclass(frozen=True)
class Limits:
    """What an answer can hold.

    ``words`` in a sentence, ``paragraph`` sentences in a paragraph, ``sentences`` in the answer,
    ``steps`` in a list; ``start`` and ``end`` are texts that the answer must begin and end with.
    """

    words: int = 20
    paragraph: int = 6
    sentences: int = 8
    steps: int = 9
    start: str = ""
    end: str = ""


def add_answer(grammar: Grammar, sentences: Sentences, limits: Limits, shape: str) -> None:
    """The rule ``answer``: prose, steps, or either with an introduction before the steps."""
    first = sentences.add("first", limits.words, first=True)
    later = sentences.add("later", limits.words)
    choices: list[Sequence] = []
    if shape in ("auto", "prose"):
        choices.append((_prose(grammar, first, later, limits),))
    if shape in ("auto", "steps"):
        step = sentences.add("step", limits.words, first=True, command=True)
        steps = _steps(grammar, step, limits.steps)
        choices.append((steps,))
        if shape == "auto":
            choices.append((first, "\n\n", steps))
    before: Sequence = (f"{limits.start} ",) if limits.start else ()
    after: Sequence = (f" {limits.end}",) if limits.end else ()
    grammar.add("answer", [(*before, *choice, *after) for choice in choices])


def _prose(grammar: Grammar, first: Ref, later: Ref, limits: Limits) -> Ref:
    """Paragraphs of sentences; the rules count what is left of the paragraph and the answer."""

    def rest(answer: int, paragraph: int) -> Ref | None:
        if answer < 1:
            return None
        name = f"more{answer}-{paragraph}"
        if name not in grammar.rules:
            grammar.rules[name] = []

            def choices() -> Iterator[Sequence]:
                for between, left in ((" ", paragraph - 1), ("\n\n", limits.paragraph - 1)):
                    if left < 0:
                        continue
                    yield (between, later)
                    more = rest(answer - 1, left)
                    if more is not None:
                        yield (between, later, more)

            grammar.add(name, choices())
        return Ref(name)

    more = rest(limits.sentences - 1, limits.paragraph - 1)
    return grammar.add("prose", [(first,), (first, more)] if more else [(first,)])


def _steps(grammar: Grammar, step: Ref, most: int) -> Ref:
    """``1. ...`` to at most ``most`` steps, a line each; a single step is no list."""
    after: Ref | None = None
    for number in range(most, 0, -1):
        line: Sequence = (f"{number}. ", step)
        choices = [] if number == 1 and most > 1 else [line]
        if after is not None:
            choices.append((*line, "\n", after))
        after = grammar.add(f"steps{number}", choices)
    assert after is not None
    return after
