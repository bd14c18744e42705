"""Conditions: ``stock_level < 10 and (name == "a" or region in ["eu", "us"])``.

A comparison is ``NAME op literal``; names stand at the left, literals at the right. Literals are
whole numbers, decimal numbers, ``true``, ``false``, dates (``2026-01-31``) and quoted text. There
are no calls and no arithmetic. ``and`` binds closer than ``or``. A name has one type in the whole
condition; ``< <= > >=`` take numbers and dates. Double negation is refused.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from steguard.canon import chars
from steguard.canon.lexicon import KEYWORDS
from steguard.canon.model import And, Compare, Condition, Literals, Member, Not, Or
from steguard.canon.problems import CanonFinding, Problem, finding

MAX_DEPTH = 16
MAX_COMPARISONS = 200
MAX_INT_DIGITS = 18

CODES = {
    "condition-syntax": "CAN330",
    "condition-type": "CAN331",
    "condition-limit": "CAN332",
    "condition-literal": "CAN333",
    "condition-negation": "CAN334",
}
OPERATORS = ("==", "!=", "<", "<=", ">", ">=")
_OPERATORS = (*OPERATORS, "in", "not in")

_TOKEN = re.compile(
    r""" *(?:(?P<number>-?[0-9][\w.:+-]*)|(?P<text>"(?:[^"\\]|\\.)*"|'[^']*')"""
    r"""|(?P<word>[^\W\d]\w*(?:[.-]\w+)*)|(?P<op><=|>=|==|!=|<>|&&|\|\||[<>=!+*/%-])"""
    r"""|(?P<mark>[()\[\],])|(?P<end>\Z)|(?P<bad>.))""",
    re.S,
)
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


class ConditionError(ValueError):
    """A condition cannot be decided; ``code`` is ``undefined_name`` or ``type_mismatch``."""

    def __init__(self, code: str, name: str, message: str) -> None:
        super().__init__(message)
        self.code, self.name = code, name


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
    reader = _Reader(text, words or {})
    try:
        made = reader.whole()
    except _Stop:
        return None, reader.problems
    return (None if reader.problems else made), reader.problems


def names(condition: Condition) -> dict[str, str]:
    """Every name with its type: ``number text bool date``."""
    return {part.name: _kind(_sample(part)) for part in _leaves(condition)}


def evaluate(condition: Condition, values: Mapping[str, Any]) -> bool:
    """Whether the condition holds. A dotted name is looked up as it is, then step by step.

    Raises :class:`ConditionError` for a name without a value (wherever it stands, so that no
    order of terms hides it) and for a value of another type. Text is never read as a number.
    """
    found = {part.name: _lookup(part.name, values) for part in _leaves(condition)}
    for part in _leaves(condition):
        value, wanted = found[part.name], _kind(_sample(part))
        if _kind(value) != wanted:
            raise ConditionError(
                "type_mismatch",
                part.name,
                f"'{part.name}' is {type(value).__name__} where the condition needs {wanted}",
            )
    return _holds(condition, found)


def to_cel(condition: Condition) -> str:
    """The condition in the Common Expression Language.

    A date becomes a timestamp at midnight UTC. A name that is no CEL identifier is looked up in a
    map ``fields``.
    """
    if isinstance(condition, Compare):
        return f"{_cel_name(condition.name)} {condition.op} {_cel(condition.value)}"
    if isinstance(condition, Member):
        inside = ", ".join(_cel(value) for value in condition.values)
        made = f"{_cel_name(condition.name)} in [{inside}]"
        return f"!({made})" if condition.negated else made
    if isinstance(condition, Not):
        return f"!({to_cel(condition.term)})"
    glue = " && " if isinstance(condition, And) else " || "
    return glue.join(
        f"({to_cel(term)})" if isinstance(term, And | Or) else to_cel(term)
        for term in condition.terms
    )


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
            at = found.end()

    @property
    def now(self) -> _Token:
        return self._tokens[self._at]

    def whole(self) -> Condition:
        made = self._or(0)
        if self.now.kind != "end":
            self._unexpected(("and", "or", "end"))
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
            self._fail("condition-negation", "double negation is refused", "Take both 'not' out.")
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
            self._fail("condition-limit", f"more than {MAX_DEPTH} parentheses are open")
        self._at += 1
        made = self._or(depth + 1)
        if not self._mark(")"):
            self._unexpected(("and", "or", ")"))
        return made

    def _comparison(self) -> Condition:
        self._count += 1
        if self._count > MAX_COMPARISONS:
            self._fail("condition-limit", f"more than {MAX_COMPARISONS} comparisons")
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
            self._unexpected(_OPERATORS, hint)
        self._unexpected(_OPERATORS)
        raise AssertionError

    def _name(self) -> _Token:
        token = self.now
        if token.kind == "word" and token.text not in KEYWORDS:
            if "-" in token.text:
                self._fail(
                    "condition-syntax",
                    "a name in a condition has no '-', and there is no arithmetic",
                    "Write '_'.",
                )
            self._at += 1
            return token
        hint = None
        if token.kind in ("number", "text") or token.text in ("true", "false"):
            hint = "Write the name at the left and the value at the right."
        self._unexpected(("name", "not", "("), hint)
        raise AssertionError

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
            self._fail(
                "condition-syntax",
                "a comparison has one operator",
                f"Write '{name.text} ... and {name.text} ...'.",
                ("and", "or", "end"),
            )
        return Compare(name.text, op.text, value)

    def _member(self, name: _Token, negated: bool) -> Condition:
        if not self._mark("["):
            self._unexpected(("[",), "Write a list, such as [1, 2].")
        values: list[Literals] = []
        while True:
            token = self.now
            values.append(self._literal())
            self._type(name, values[-1], token)
            if self._mark("]"):
                return Member(name.text, tuple(values), negated)
            if not self._mark(","):
                self._unexpected((",", "]"))

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
            self._unexpected(("number", "date", "true", "false", "text in quotes"), hint)
        self._at += 1
        assert value is not None
        return value

    def _number(self, token: _Token) -> Literals:
        text = token.text
        digits = sum(char.isdigit() for char in text)
        if digits > MAX_INT_DIGITS:
            self._fail("condition-limit", f"the number has more than {MAX_INT_DIGITS} digits")
        if _INT.fullmatch(text):
            return int(text)
        if _FLOAT.fullmatch(text):
            return float(text)
        if _DATE.fullmatch(text):
            try:
                return dt.date.fromisoformat(text)
            except ValueError:
                self._fail(
                    "condition-literal", f"there is no day {text}", "Write a day that exists."
                )
        self._fail(
            "condition-literal",
            f"'{text[:40]}' is no number and no date",
            "Write 10, 2.5 or 2026-01-31.",
            ("number", "date"),
        )
        raise AssertionError

    def _text(self, token: _Token) -> str:
        inside = token.text[1:-1]
        if token.text[0] == "'":
            return inside
        try:
            return chars.unescape(inside)
        except chars.BadEscape as error:
            self._fail("condition-literal", error.message, error.suggestion)
            raise AssertionError from None

    def _type(self, name: _Token, value: Literals, token: _Token) -> str:
        kind = _kind(value)
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

    def _unexpected(self, expected: tuple[str, ...], hint: str | None = None) -> None:
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
        elif token.text == "(" and self._at and self._tokens[self._at - 1].kind == "word":
            hint = "There are no calls."
        hint = _HINTS.get(token.text, hint)
        message = f"{shown} stands where {_or(expected)} is expected"
        self._fail("condition-syntax", message, hint, expected)

    def _fail(
        self, rule: str, message: str, hint: str | None = None, expected: tuple[str, ...] = ()
    ) -> None:
        self._problem(self.now, rule, message, hint, expected)
        raise _Stop

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
    shown = [
        word if " " in word or (word.isalpha() and len(word) > 3) else f"'{word}'"
        for word in expected
    ]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"


def _leaves(condition: Condition) -> Iterator[Compare | Member]:
    if isinstance(condition, Compare | Member):
        yield condition
    elif isinstance(condition, Not):
        yield from _leaves(condition.term)
    else:
        for term in condition.terms:
            yield from _leaves(term)


def _sample(part: Compare | Member) -> Literals:
    return part.value if isinstance(part, Compare) else part.values[0]


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "text"
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        return "date"
    return "other"


def _lookup(name: str, values: Mapping[str, Any]) -> Any:
    if name in values:
        return values[name]
    found: Any = values
    for step in name.split("."):
        if not isinstance(found, Mapping) or step not in found:
            raise ConditionError("undefined_name", name, f"'{name}' has no value")
        found = found[step]
    return found


def _holds(condition: Condition, values: Mapping[str, Any]) -> bool:
    if isinstance(condition, Compare):
        return _compare(values[condition.name], condition.op, condition.value)
    if isinstance(condition, Member):
        return (values[condition.name] in condition.values) is not condition.negated
    if isinstance(condition, Not):
        return not _holds(condition.term, values)
    decide = all if isinstance(condition, And) else any
    return decide(_holds(term, values) for term in condition.terms)


def _compare(left: Any, op: str, right: Any) -> bool:
    if op == "==":
        return bool(left == right)
    if op == "!=":
        return bool(left != right)
    if op[0] == "<":
        return bool(left < right or (op == "<=" and left == right))
    return bool(left > right or (op == ">=" and left == right))


_CEL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")
_CEL_RESERVED = frozenset(
    "as break const continue else false for function if import in let loop package namespace null"
    " return true var void while".split()
)


def _cel_name(name: str) -> str:
    if _CEL_NAME.fullmatch(name) and not _CEL_RESERVED.intersection(name.split(".")):
        return name
    return f"fields[{json.dumps(name, ensure_ascii=False)}]"


def _cel(value: Literals) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dt.date):
        return f'timestamp("{value.isoformat()}T00:00:00Z")'
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return repr(value)
