"""The answer, or a part of it, is not there.

Finds: An answer that is empty or holds only white space, punctuation or code, and words that
stand where a text must come: ``TODO``, ``TBD``, ``FIXME``, ``lorem ipsum``, ``[insert date]``,
``<your name here>``, or dots on their own.

Why: An empty answer tells the next program nothing and looks like success. A placeholder that
nobody filled in goes on to the reader as if it were a fact.

Example: ``The part number is [insert part number].``

Instead: ``The part number is P-1042.``

Fix: None; only the writer knows the missing text.

Source: steguard's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pydantic import Field

from steguard.rules.base import Options, Rule
from steguard.text.model import Document, Kind, Sentence, Token
from steguard.types import Hit, Safety, Status


class MissingOptions(Options):
    """What counts as missing."""

    code_only: bool = Field(False, description="An answer that is only code is enough.")
    placeholders: bool = Field(True, description="Find placeholders that nobody filled in.")


_MARKS = frozenset({"TODO", "TBD", "FIXME", "TBA", "XXX", "TBC", "T.B.D."})
_STAND_INS = frozenset(mark.lower() for mark in _MARKS) | {"lorem"}
_FILL_VERBS = "insert|enter|add|write|fill|put|specify|provide|replace|describe|include|type|paste"
_FILL = re.compile(
    rf"[\[<{{(]+\s*(?:(?:{_FILL_VERBS})\b.*|(?:your|the)\b.*\bhere|your\s.+|placeholder.*|to be .+"
    r"|tbd|todo|tba|fixme|xxx+|\.\.\.|…)\s*[\]>})]+$",
    re.IGNORECASE | re.DOTALL,
)
_DOTS = frozenset({"...", "…", "......", "……", "___", "[...]", "[…]", "...."})


class _Missing:
    triggers: frozenset[str] | None = None

    def __init__(self, options: MissingOptions) -> None:
        self._options = options
        self._text = self._code = False

    def sentence(self, sentence: Sentence) -> Iterable[Hit]:
        if not self._text:
            self._note(sentence)
        text = sentence.text
        if self._options.placeholders and (
            not sentence.words
            or "[" in text
            or "{" in text
            or "<" in text
            or not sentence.vocabulary.isdisjoint(_STAND_INS)
        ):
            return _placeholders(sentence)
        return ()

    def _note(self, sentence: Sentence) -> None:
        for token in sentence.tokens:
            if token.kind is Kind.CODE:
                self._code = True
            elif token.kind is not Kind.PUNCT:
                self._text = True

    def finish(self, document: Document) -> Iterator[Hit]:
        if self._text:
            return
        text = document.text
        start = len(text) - len(text.lstrip())
        end = max(start, len(text.rstrip()))
        if self._code or "```" in text or "~~~" in text:
            if not self._options.code_only:
                yield Hit(start, end, "The answer has only code.", "Write the answer in words.")
        elif not any("".join(s.lowers) in _DOTS for s in document.sentences):
            yield Hit(start, end, "There is no text.", "Write the answer.")


def _placeholders(sentence: Sentence) -> Iterator[Hit]:
    tokens = sentence.tokens
    for index, token in enumerate(tokens):
        if token.kind is Kind.CODE:
            if token.text[0] in "[<{" and _FILL.match(token.text):
                yield _placeholder(token.start, token.end, token.text)
        elif token.text in _MARKS and not _is_named(sentence, index):
            yield _placeholder(token.start, token.end, token.text)
        elif token.lower == "lorem" and _next_is(tokens, index, "ipsum"):
            yield _placeholder(token.start, tokens[index + 1].end, "lorem ipsum")
    if tokens and not sentence.words and "".join(sentence.lowers) in _DOTS:
        yield _placeholder(sentence.start, sentence.end, sentence.text)


def _placeholder(start: int, end: int, text: str) -> Hit:
    return Hit(
        start,
        end,
        f"Text is missing where “{text}” stands.",
        "Write the missing text.",
    )


def _next_is(tokens: list[Token], index: int, word: str) -> bool:
    return index + 1 < len(tokens) and tokens[index + 1].lower == word


def _is_named(sentence: Sentence, index: int) -> bool:
    """Whether the sentence speaks about the mark ("the TODO list", "TODO comments")."""
    tokens = sentence.tokens
    before = tokens[index - 1].lower if index else ""
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    if before in _SPEAK or before in _QUOTES:
        return True
    return after is not None and after.kind is Kind.WORD and after.lower in _SPOKEN_OF


_SPOKEN_OF = frozenset(
    "list lists comment comments item items file files app marker markers note notes entry entries"
    " tag tags".split()
)
_SPEAK = frozenset("the a an this that each every all no any of and or word".split())
_QUOTES = frozenset("\"'“‘`")


def _make(options: MissingOptions) -> _Missing:
    return _Missing(options)


RULE = Rule(
    code="SG001",
    name="missing-text",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="steguard",
    make=_make,
    module=__name__,
    options=MissingOptions,
    languages=frozenset(),
)
