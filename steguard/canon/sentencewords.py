"""The words of a sentence: their places, their faults, and what no word may be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from steguard.canon import chars
from steguard.canon.lexicon import Lexicon
from steguard.canon.problems import Problem
from steguard.canon.surfaces import Surface
from steguard.types import Severity

MAX_SENTENCE = 65_536

CODES = {
    "sentence-syntax": "CAN301",
    "unknown-verb": "CAN302",
    "unknown-pattern": "CAN303",
    "reserved-word": "CAN304",
    "bad-name": "CAN305",
    "bad-value": "CAN306",
    "duplicate-parameter": "CAN307",
    "bad-parameter": "CAN308",
    "bad-time": "CAN310",
    "usual-form": "CAN311",
    "forbidden-expression": "CAN320",
    "double-negation": "CAN321",
    "refused-character": "CAN102",
    "sentence-too-long": "CAN309",
}

_TOKEN = re.compile(r' *((?:[^ "]|"(?:[^"\\]|\\.)*")++)')
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
EDGE = ".,;!?。，；！？"
_NEGATIONS = frozenset("not cannot never none nothing without unless no".split())
_MANY, _MOST = 6, 20
_KINDS = {
    "time": "a vague time",
    "vague": "a vague word",
    "polite": "polite, not exact",
    "emotional": "an emotional word",
    "negation": "no Canon form",
}


@dataclass(slots=True)
class Token:
    """A word of the sentence, or a quoted text, with its place."""

    text: str
    start: int
    end: int


class Stop(Exception):
    """The first fault of the pattern: what follows it has no sure place."""


class Words:
    """One text. ``problems`` has all faults, with ``start`` and ``end`` in the text."""

    def __init__(self, text: str, lexicon: Lexicon, surface: Surface) -> None:
        self.text, self._lexicon, self._surface = text, lexicon, surface
        self.problems: list[Problem] = []
        self._tokens = list(_tokens(text))
        self._at = 0
        self._skipped: list[str] = []
        self._exempt = (0, 0)
        self._verbs = lexicon.verbs_in(surface.language)

    def _check_characters(self) -> None:
        for found in islice(chars.REFUSED.finditer(self.text), _MOST):
            why = f"{chars.describe(found[0])} is refused here"
            hint = "A sentence is one line with blanks between its words."
            self._add(found.start(), found.end(), "refused-character", why, hint)
        at = self.text.rstrip("\r\n").find("\n")
        if at >= 0:
            why = "a sentence stands on one line"
            self._add(at, at + 1, "refused-character", why, "Write one sentence a line.")
        self._tokens = [one for one in self._tokens if one.text.strip("\r\n")]
        for token in self._tokens:
            token.text = token.text.rstrip("\r\n")

    def _check_words(self) -> None:
        """Forbidden expressions and double negation among the words without quotes.

        A condition has names and literals of its own; they are data.
        """
        start, end = self._exempt
        words = f"{self.text[:start]}{' ' * (end - start)}{self.text[end:]}"
        last = self._tokens[-1] if self._tokens else None
        if last is not None and last.text[0] == '"' and not QUOTED.match(last.text):
            words = words[: last.start]
        masked = QUOTED.sub(lambda found: '"' * len(found[0]), words)
        at = 0
        pattern = self._lexicon.forbidden_pattern
        lower = masked.lower() if len(masked.lower()) == len(masked) else masked
        while pattern is not None and (found := pattern.search(lower, at)) is not None:
            at = found.end()
            self._forbidden(found)
            if len(self.problems) > _MOST:
                break
        negations = [one for one in self._tokens if one.text.lower() in _NEGATIONS]
        if len(negations) > 1 and not any(
            one.rule == "condition-negation" for one in self.problems
        ):
            opening = self._surface.sentences["conditional"][0]
            if self._tokens[0].text != getattr(opening, "text", ""):
                self._drop(negations[1].start, negations[1].end)
                self._problem(
                    negations[1], "double-negation", "double negation is refused", "Take both out."
                )

    def _forbidden(self, found: re.Match[str]) -> None:
        start, end = found.span()
        whole = next((t for t in self._tokens if t.start <= start and end <= t.end), None)
        if whole is not None and len(whole.text.rstrip(EDGE)) > end - start and found[0].isascii():
            return
        kind, advice = self._lexicon.advice(found[0])
        if any(one.rule == "bad-time" for one in self._over(start, end)):
            return
        overlapping = self._drop(start, end)
        expected = tuple(word for one in overlapping for word in one.expected)
        why = f"'{self.text[start:end]}' is {_KINDS.get(kind, kind)}"
        self._add(start, end, "forbidden-expression", why, advice, expected=expected)

    def _over(self, start: int, end: int) -> list[Problem]:
        return [one for one in self.problems if (one.start or 0) < end and start < (one.end or 0)]

    def _drop(self, start: int, end: int) -> list[Problem]:
        """Take away what was said about this place, because a better reason is known."""
        dropped = self._over(start, end)
        self.problems = [one for one in self.problems if one not in dropped]
        return dropped

    @property
    def _now(self) -> Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _unexpected(self, expected: tuple[str, ...]) -> Stop:
        token = self._now
        shown = "the end" if token is None else f"'{short(token.text)}'"
        at = token or Token("", *([len(self.text.rstrip(" \r\n"))] * 2))
        hint = None
        if not self._tokens:
            return self._fail(at, "sentence-syntax", "the sentence is empty", None, expected)
        if token is not None and token.text == "else":
            hint = "Write a second sentence with the opposite condition."
        elif token is not None and token.text[-1] in EDGE:
            hint = f"Take '{token.text[-1]}' out."
        elif token is not None and "end" in expected and self._at:
            before = self._tokens[self._at - 1].text
            if before[-1:] != '"' and "=" not in before:
                hint = "Write one word there, with '_' between its parts, or quote a value."
        names = " or ".join(f"'{one}'" if one != "end" else "the end" for one in expected)
        if len(expected) > _MANY:
            names = "the start of a sentence"
        return self._fail(
            at, "sentence-syntax", f"{shown} stands where {names} is expected", hint, expected
        )

    def _fail(
        self,
        token: Token,
        rule: str,
        message: str,
        hint: str | None = None,
        expected: tuple[str, ...] = (),
    ) -> Stop:
        self._problem(token, rule, message, hint, expected)
        return Stop()

    def _problem(
        self,
        token: Token,
        rule: str,
        message: str,
        hint: str | None = None,
        expected: tuple[str, ...] = (),
    ) -> None:
        self._add(token.start, token.end, rule, message, hint, expected=expected)

    def _add(
        self,
        start: int,
        end: int,
        rule: str,
        message: str,
        hint: str | None = None,
        *,
        expected: tuple[str, ...] = (),
        severity: Severity = Severity.ERROR,
    ) -> None:
        self.problems.append(
            Problem((), CODES[rule], rule, message, hint, expected, severity, start=start, end=end)
        )


def _tokens(text: str) -> Iterator[Token]:
    """The words; a quote that is never closed is the last one, up to the end of the text."""
    at = 0
    while (found := _TOKEN.match(text, at)) is not None:
        at = found.end()
        yield Token(found[1], found.start(1), at)
    rest = text[at:].lstrip(" ")
    if rest:
        yield Token(rest, len(text) - len(rest), len(text))


def short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
