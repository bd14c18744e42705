"""Reads the parts of a sentence that the writer fills in: names, values, parameters, times."""

from __future__ import annotations

import re
from typing import Any

from steguard.canon import chars
from steguard.canon.condition import read_condition
from steguard.canon.lexicon import KEYWORDS
from steguard.canon.model import (
    MAX_NAME,
    Placeholder,
    TypeRef,
    Value,
    Within,
    is_address,
    is_name,
)
from steguard.canon.problems import Problem, near
from steguard.canon.scalars import mixed_alphabets
from steguard.canon.sentencewords import EDGE, QUOTED, Stop, Token, Words, short
from steguard.canon.surfaces import Element, Optional, Slot, Word
from steguard.canon.times import FORMS, BadTime, is_odd, read_within
from steguard.canon.types import parse_type
from steguard.types import Severity

_PLACEHOLDER = re.compile(r"\[([^\[\]]*)\]")
_QUOTES = "\"'\u2018\u2019\u201c\u201d\u00ab\u00bb\u300c\u300d\u300e\u300f\uff02\uff07"
SHOWN = {
    "message_id": "message id",
    "task": "action",
}


class Slots(Words):
    """The words, and what reads a slot at the place where the walk is."""

    def _verb(self, token: Token) -> str:
        verb = self._verbs.get(token.text)
        if verb is not None:
            return verb
        self._at -= 1
        text = f"'{token.text}' is no verb of the lexicon '{self._lexicon.name}'"
        hint = near(token.text, self._verbs) or "Write a verb of the lexicon."
        raise self._fail(token, "unknown-verb", text, hint, tuple(self._verbs))

    def _name(self, token: Token, what: str) -> str:
        text = token.text
        if text in KEYWORDS:
            self._at -= 1
            why = f"the keyword '{text}' stands where {SHOWN.get(what, what)} is expected"
            raise self._fail(token, "reserved-word", why, None, (SHOWN.get(what, what),))
        if is_name(text) and not mixed_alphabets(text):
            return text
        why = f"'{short(text)}' is no name"
        hint = "Write letters, digits and '_', and start with a letter."
        if len(text) > MAX_NAME and is_name(text[:MAX_NAME].rstrip(".-")):
            why, hint = f"the name has more than {MAX_NAME} characters", "Write a shorter name."
        elif text[-1] in EDGE:
            hint = f"Take '{text[-1]}' out."
        elif text[0] == '"':
            hint = "A name has no quotes."
        elif mixed_alphabets(text):
            why = f"'{text}' mixes letters of two alphabets that look alike"
            hint = "Write it in one alphabet."
        self._problem(token, "bad-name", why, hint, (SHOWN.get(what, what),))
        return text

    def _address(self, token: Token) -> str:
        if token.text in KEYWORDS:
            self._at -= 1
            why = f"the keyword '{token.text}' stands where a message id is expected"
            raise self._fail(token, "reserved-word", why, None, ("message id",))
        if not is_address(token.text):
            hint = "Write ASCII letters, digits and '_ . : / @ + -'."
            why = f"'{short(token.text)}' is no message id"
            self._problem(token, "bad-name", why, hint, ("message id",))
        return token.text

    def _value(self, raw: str, start: int) -> Value:
        fault = None
        if raw and raw[0] == '"':
            return self._quoted(raw, start)
        if raw[:1] == "[":
            found = _PLACEHOLDER.fullmatch(raw)
            if found is not None and is_name(found[1]):
                return Placeholder(found[1])
            fault = (f"'{short(raw)}' is no placeholder", "Write [name], or quote the text.")
        elif raw[:1] == "<" and raw[-1:] == ">":
            kind = parse_type(raw)
            if isinstance(kind, TypeRef):
                return kind
            fault = (str(kind), "Write a type, or quote the text.")
        else:
            fault = _bare_fault(raw)
        if fault is not None:
            rule = "reserved-word" if raw in KEYWORDS else "bad-value"
            self._add(start, start + len(raw), rule, *fault, expected=("value",))
        if raw in KEYWORDS and fault is not None:
            raise Stop
        return raw

    def _quoted(self, raw: str, start: int) -> str:
        found = QUOTED.match(raw)
        if found is None or found.end() < len(raw):
            why = "the quote is not closed" if found is None else "text stands behind the quote"
            hint = 'Write the whole value in double quotes, and \\" for a quote in it.'
            self._add(start, start + len(raw), "bad-value", why, hint, expected=("value",))
            raise Stop
        try:
            return chars.unescape(found[1])
        except chars.BadEscape as error:
            at = start + 1
            self._add(
                at + error.start, at + error.end, "bad-value", error.message, error.suggestion
            )
            return raw

    def _params(self) -> tuple[tuple[str, Value], ...]:
        found: dict[str, Value] = {}
        stop = self._within_word()
        while (token := self._now) is not None and (not found or token.text != stop):
            name, equals, raw = token.text.partition("=")
            if not equals or not name or not raw or '"' in name or raw[0] == "=":
                raise self._bad_param(token, bool(found))
            self._at += 1
            if name in KEYWORDS or not is_name(name):
                why = f"'{short(name)}' cannot be the name of a parameter"
                self._add(token.start, token.start + len(name), "bad-parameter", why, "Rename it.")
            value = self._value(raw, token.start + len(name) + 1)
            if name in found:
                why = f"the parameter '{name}' stands here twice"
                self._add(
                    token.start,
                    token.start + len(name),
                    "duplicate-parameter",
                    why,
                    "Take one out.",
                )
            found[name] = value
        if not found:
            raise self._unexpected(("NAME=VALUE",))
        return tuple(found.items())

    def _bad_param(self, token: Token, later: bool) -> Stop:
        text = token.text
        after = self._tokens[self._at + 1].text if self._at + 1 < len(self._tokens) else ""
        hint = "Write NAME=VALUE, with double quotes around a value of more than one word."
        if after[:1] == '"':
            hint = "Close the quote."
        elif text.strip("=") == "" or text.endswith("=") or after[:1] == "=":
            hint = "Write NAME=VALUE without blanks, and a value of at least one character."
        elif "==" in text:
            hint = "Write one '='."
        elif text in ("and", ",", "&", ";"):
            hint = "Put a blank between parameters, nothing else."
        elif ":" in text:
            hint = "Write '=' between the name and the value."
        expected = ("NAME=VALUE", self._within_word(), "end") if later else ("NAME=VALUE",)
        why = f"'{short(text)}' is no parameter"
        return self._fail(token, "bad-parameter", why, hint, expected)

    def _within_word(self) -> str:
        for element in self._surface.sentences["request"]:
            if isinstance(element, Optional) and element.parts[1] == Slot("time"):
                first = element.parts[0]
                return first.text if isinstance(first, Word) else ""
        return ""

    def _time(self) -> Within | None:
        rest = self._tokens[self._at :]
        if not rest:
            raise self._unexpected(FORMS)
        self._at = len(self._tokens)
        text = " ".join(token.text for token in rest)
        start, end = rest[0].start, rest[-1].end
        for own, english in ((own, english) for english, own in self._surface.units.items()):
            if len(rest) == 2 and rest[1].text == own and self._surface.language != "en":
                text = f"{rest[0].text} {english}" + ("" if rest[0].text == "1" else "s")
        try:
            made = read_within(text)
        except BadTime as error:
            hint = error.suggestion
            vague = self._lexicon.forbidden_in(text)
            if any("=" in token.text for token in rest):
                hint = "Write 'with' and the parameters before 'within'."
            elif vague is not None:
                hint = self._lexicon.advice(vague[0])[1]
            self._add(start, end, "bad-time", error.message, hint, expected=FORMS)
            return None
        if is_odd(text):
            why = "the usual form has no plural here"
            self._add(start, end, "usual-form", why, f"Write '{made}'.", severity=Severity.WARNING)
        return made

    def _condition(self, after: Element) -> Any:
        word = after.text if isinstance(after, Word) else ""
        begin = self._at
        while (token := self._now) is not None and token.text != word:
            self._at += 1
        start = self._tokens[begin].start if begin < len(self._tokens) else len(self.text)
        end = self._tokens[self._at - 1].end if self._at > begin else start
        self._exempt = (start, end)
        made, problems = read_condition(self.text[start:end], self._surface.condition_words)
        for one in problems:
            self.problems.append(_shifted(one, start))
        if token is None and not problems:
            raise self._unexpected((word,))
        if token is None:
            raise Stop
        return made

    def _is_modal(self, at: int) -> bool:
        words = {own.split()[0] for own in self._surface.modals.values()}
        return at < len(self._tokens) and self._tokens[at].text in words

    def _modal(self) -> str:
        longest = sorted(self._surface.modals.items(), key=lambda one: -len(one[1]))
        for modal, own in longest:
            words = own.split()
            here = [token.text for token in self._tokens[self._at : self._at + len(words)]]
            if here == words:
                self._at += len(words)
                return modal
        raise self._unexpected(tuple(self._surface.modals.values()))


def _bare_fault(raw: str) -> tuple[str, str] | None:
    """Why a value cannot stand without quotes."""
    if raw in KEYWORDS and raw not in ("true", "false"):
        hint = "Write a value that says what is so, or quote the word."
        return f"the keyword '{raw}' stands where a value is expected", hint
    quote = "Write the value in double quotes."
    if any(char in _QUOTES or char.isspace() for char in raw):
        return f"'{short(raw)}' has a quote or a blank in it", quote
    if raw[0] in "{}[]<>|=,$%&*`" or raw[-1] in "[]{}":
        return f"a value does not start or end like '{short(raw)}'", quote
    if raw[-1] in EDGE:
        return f"the value ends with '{raw[-1]}'", f"Take '{raw[-1]}' out, or quote the value."
    return None


def is_bare(text: str) -> bool:
    """Whether the value can be written without quotes."""
    return bool(text) and text[0] not in '"' and _bare_fault(text) is None


def _shifted(one: Problem, by: int) -> Problem:
    from dataclasses import replace

    return replace(one, start=(one.start or 0) + by, end=(one.end or 0) + by)
