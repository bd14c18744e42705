"""Conditions: ``stock_level < 10 and (name == "a" or region in ["eu", "us"])``.

A comparison is ``NAME op literal``; names stand at the left, literals at the right. Literals are
whole numbers, decimal numbers, ``true``, ``false``, dates (``2026-01-31``) and quoted text. There
are no calls and no arithmetic. ``and`` binds closer than ``or``. A name has one type in the whole
condition; ``< <= > >=`` take numbers and dates. Double negation is refused.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from steguard.canon import chars
from steguard.canon.decide import ConditionError, evaluate, kind_of, names, to_cel
from steguard.canon.lexicon import KEYWORDS
from steguard.canon.model import And, Compare, Condition, Literals, Member, Not, Or
from steguard.canon.problems import CanonFinding, Problem, finding

__all__ = [
    "ConditionError",
    "ConditionResult",
    "evaluate",
    "names",
    "parse_condition",
    "read_condition",
    "to_cel",
]

MAX_DEPTH = 16
MAX_COMPARISONS = 200
MAX_INT_DIGITS = 18

CODES = {
    "condition-syntax": "CAN330",
    "condition-type": "CAN331",
    "condition-limit": "CAN332",
    "condition-literal": "CAN333",
    "condition-negation": "CAN334",
    "condition-character": "CAN335",
}
OPERATORS = ("==", "!=", "<", "<=", ">", ">=")
_OPERATORS = (*OPERATORS, "in", "not in")

_TOKEN = re.compile(
    r""" *(?:(?P<number>-?[0-9][\w.:+-]*)|(?P<text>"(?:[^"\\]|\\.)*"|'[^']*')"""
    r"""|(?P<word>[^\W\d]\w*(?:[.-]\w+)*)|(?P<op><=|>=|==|!=|<>|&&|\|\||[<>=!+*/%-])"""
    r"""|(?P<mark>[()\[\],])|(?P<end>[\r\n]*\Z)|(?P<bad>.))""",
    re.S,
)
_BREAK = re.compile(r"[\r\n](?![\r\n]*\Z)")
_INT = re.compile(r"-?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SIMPLE = re.compile(r"([A-Za-z_]\w*) (==|!=|<=?|>=?) (-?(?:0|[1-9][0-9]{0,17}))", re.A)
_HINTS = {
    "=": "Write '=='.",
    "<>": "Write '!='.",
    "&&": "Write 'and'.",
    "||": "Write 'or'.",
    "!": "Write 'not'.",
}


@dataclass(frozen=True, slots=True)
class ConditionResult:
    """What the text of a condition is: the condition, or None and the findings."""

    condition: Condition | None
    findings: tuple[CanonFinding, ...]

    @property
    def ok(self) -> bool:
        return self.condition is not None


def parse_condition(text: str, *, words: Mapping[str, str] | None = None) -> ConditionResult:
    """The condition in the text. ``words`` maps keywords of another language to English."""
    made, problems = read_condition(text, words)
    found = tuple(finding(text, p.start or 0, p.end or 0, p) for p in problems)
    return ConditionResult(made, found)


def read_condition(
    text: str, words: Mapping[str, str] | None = None
) -> tuple[Condition | None, list[Problem]]:
    """The condition, and problems whose ``start`` and ``end`` are offsets in the text."""
    simple = _SIMPLE.fullmatch(text)
    if simple is not None and simple[1] not in KEYWORDS:
        return Compare(simple[1], simple[2], int(simple[3])), []
    odd = chars.REFUSED.search(text) or _BREAK.search(text)
    if odd is not None:
        why = f"{chars.describe(odd[0])} is refused here"
        return None, [
            Problem(
                (),
                CODES["condition-character"],
                "condition-character",
                why,
                "Take it out.",
                start=odd.start(),
                end=odd.end(),
            )
        ]
    reader = _Reader(text, words or {})
    try:
        made = reader.whole()
    except _Stop:
        return None, reader.problems
    return (None if reader.problems else made), reader.problems


class _Stop(Exception):
    """The first fault of the grammar: what follows it has no sure meaning."""


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


class _Reader:
    def __init__(self, text: str, words: Mapping[str, str]) -> None:
        self.text, self._words = text, words
        self.problems: list[Problem] = []
        self._kinds: dict[str, str] = {}
        self._count = 0
        self._tokens = list(self._scan())
        self._at = 0

    def _scan(self) -> Iterator[_Token]:
        at = 0
        while True:
            found = _TOKEN.match(self.text, at)
            assert found is not None
            kind = str(found.lastgroup)
            word = found[kind]
            if kind == "word" and word in self._words:
                word = self._words[word]
            yield _Token(kind, word, found.start(kind), found.end(kind))
            if kind == "end":
                return
            if kind == "bad" and word in "\"'":
                yield _Token("end", "", len(self.text), len(self.text))
                return
            at = found.end()

    @property
    def now(self) -> _Token:
        return self._tokens[self._at]

    def whole(self) -> Condition:
        made = self._or(0)
        if self.now.kind != "end":
            raise self._unexpected(("and", "or", "end"))
        return made

    def _or(self, depth: int) -> Condition:
        terms = [self._and(depth)]
        while self._word("or"):
            terms.append(self._and(depth))
        return terms[0] if len(terms) == 1 else Or(tuple(terms))

    def _and(self, depth: int) -> Condition:
        terms = [self._not(depth)]
        while self._word("and"):
            terms.append(self._not(depth))
        return terms[0] if len(terms) == 1 else And(tuple(terms))

    def _not(self, depth: int) -> Condition:
        token = self.now
        if not self._word("not"):
            return self._primary(depth)
        if self.now.text == "not" and self.now.kind == "word":
            hint = "Take both 'not' out."
            raise self._fail("condition-negation", "double negation is refused", hint)
        term = self._primary(depth)
        if (
            isinstance(term, Not)
            or (isinstance(term, Member) and term.negated)
            or (isinstance(term, Compare) and term.op == "!=")
        ):
            self._problem(
                token, "condition-negation", "double negation is refused", "Write '==', or 'in'."
            )
        return Not(term)

    def _primary(self, depth: int) -> Condition:
        if self.now.text != "(" or self.now.kind != "mark":
            return self._comparison()
        if depth >= MAX_DEPTH:
            raise self._fail("condition-limit", f"more than {MAX_DEPTH} parentheses are open")
        self._at += 1
        made = self._or(depth + 1)
        if not self._mark(")"):
            raise self._unexpected(("and", "or", ")"))
        return made

    def _comparison(self) -> Condition:
        self._count += 1
        if self._count > MAX_COMPARISONS:
            raise self._fail("condition-limit", f"more than {MAX_COMPARISONS} comparisons")
        name = self._name()
        token = self.now
        if token.kind == "op" and token.text in OPERATORS:
            self._at += 1
            return self._compare(name, token)
        if self._word("in"):
            return self._member(name, False)
        if token.kind == "word" and token.text == "not" and self._tokens[self._at + 1].text == "in":
            self._at += 2
            return self._member(name, True)
        if token.kind in ("end", "word", "mark") and token.text not in ("[", ","):
            hint = f"Write a comparison, such as '{name.text} == true'."
            raise self._unexpected(_OPERATORS, hint)
        raise self._unexpected(_OPERATORS)

    def _name(self) -> _Token:
        token = self.now
        if token.kind == "word" and token.text not in KEYWORDS:
            if "-" in token.text:
                raise self._fail(
                    "condition-syntax",
                    "a name in a condition has no '-', and there is no arithmetic",
                    "Write '_'.",
                )
            self._at += 1
            return token
        hint = None
        if token.kind in ("number", "text") or token.text in ("true", "false"):
            hint = "Write the name at the left and the value at the right."
        raise self._unexpected(("name", "not", "("), hint)

    def _compare(self, name: _Token, op: _Token) -> Condition:
        token = self.now
        value = self._literal()
        kind = self._type(name, value, token)
        if op.text not in ("==", "!=") and kind in ("text", "bool"):
            self._problem(
                op,
                "condition-type",
                f"'{op.text}' takes numbers and dates, not {kind}",
                "Write '==' or '!='.",
            )
        after = self.now
        if after.kind == "op" and after.text in OPERATORS:
            raise self._fail(
                "condition-syntax",
                "a comparison has one operator",
                f"Write '{name.text} ... and {name.text} ...'.",
                ("and", "or", "end"),
            )
        return Compare(name.text, op.text, value)

    def _member(self, name: _Token, negated: bool) -> Condition:
        if not self._mark("["):
            raise self._unexpected(("[",), "Write a list, such as [1, 2].")
        values: list[Literals] = []
        while True:
            token = self.now
            values.append(self._literal())
            self._type(name, values[-1], token)
            if self._mark("]"):
                return Member(name.text, tuple(values), negated)
            if not self._mark(","):
                raise self._unexpected((",", "]"))

    def _literal(self) -> Literals:
        token = self.now
        value: Literals | None = None
        if token.kind == "number":
            value = self._number(token)
        elif token.kind == "text":
            value = self._text(token)
        elif token.kind == "word" and token.text in ("true", "false"):
            value = token.text == "true"
        if value is None:
            hint = None
            if token.kind == "word" and token.text not in KEYWORDS:
                hint = f'Write text in quotes: "{token.text}".'
            raise self._unexpected(("number", "date", "true", "false", "text in quotes"), hint)
        self._at += 1
        assert value is not None
        return value

    def _number(self, token: _Token) -> Literals:
        text = token.text
        digits = sum(char.isdigit() for char in text)
        if digits > MAX_INT_DIGITS:
            raise self._fail("condition-limit", f"the number has more than {MAX_INT_DIGITS} digits")
        if _INT.fullmatch(text):
            return int(text)
        if _FLOAT.fullmatch(text):
            return float(text)
        if _DATE.fullmatch(text):
            try:
                return dt.date.fromisoformat(text)
            except ValueError:
                raise self._fail(
                    "condition-literal", f"there is no day {text}", "Write a day that exists."
                ) from None
        raise self._fail(
            "condition-literal",
            f"'{text[:40]}' is no number and no date",
            "Write 10, 2.5 or 2026-01-31.",
            ("number", "date"),
        )

    def _text(self, token: _Token) -> str:
        inside = token.text[1:-1]
        if token.text[0] == "'":
            return inside
        try:
            return chars.unescape(inside)
        except chars.BadEscape as error:
            raise self._fail("condition-literal", error.message, error.suggestion) from None

    def _type(self, name: _Token, value: Literals, token: _Token) -> str:
        kind = kind_of(value)
        known = self._kinds.setdefault(name.text, kind)
        if known != kind:
            self._problem(
                token,
                "condition-type",
                f"'{name.text}' is {known} before and {kind} here",
                "Compare a name with values of one type.",
            )
        return kind

    def _word(self, word: str) -> bool:
        if self.now.kind == "word" and self.now.text == word:
            self._at += 1
            return True
        return False

    def _mark(self, mark: str) -> bool:
        if self.now.kind == "mark" and self.now.text == mark:
            self._at += 1
            return True
        return False

    def _unexpected(self, expected: tuple[str, ...], hint: str | None = None) -> _Stop:
        token = self.now
        shown = "the end" if token.kind == "end" else f"'{token.text[:40]}'"
        if token.kind == "bad":
            shown = "a quote that is not closed" if token.text in "\"'" else shown
            if not token.text.isascii() or not token.text.isprintable():
                shown = chars.describe(token.text)
        if token.kind == "op" and token.text in "+-*/%":
            hint = "There is no arithmetic: compare a name with a value."
        elif token.kind == "word" and token.text.lower() in ("and", "or", "not", "in"):
            hint = hint or f"Write '{token.text.lower()}' between terms, in small letters."
        elif token.text == ",":
            hint = "Take ',' out."
        elif token.text == "(" and self._at and self._tokens[self._at - 1].kind == "word":
            hint = "There are no calls."
        hint = _HINTS.get(token.text, hint)
        message = f"{shown} stands where {_or(expected)} is expected"
        return self._fail("condition-syntax", message, hint, expected)

    def _fail(
        self, rule: str, message: str, hint: str | None = None, expected: tuple[str, ...] = ()
    ) -> _Stop:
        self._problem(self.now, rule, message, hint, expected)
        return _Stop()

    def _problem(
        self,
        token: _Token,
        rule: str,
        message: str,
        hint: str | None = None,
        expected: tuple[str, ...] = (),
    ) -> None:
        self.problems.append(
            Problem(
                (), CODES[rule], rule, message, hint, expected, start=token.start, end=token.end
            )
        )


def _or(expected: tuple[str, ...]) -> str:
    shown = [_CLASSES.get(word, f"'{word}'") for word in expected]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"


_CLASSES = {
    "name": "a name",
    "number": "a number",
    "date": "a date",
    "text in quotes": "text in quotes",
    "end": "the end",
}
