"""Walks over the words of a sentence along its template and explains what does not fit."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from steguard.canon import chars
from steguard.canon.condition import read_condition
from steguard.canon.lexicon import KEYWORDS, Lexicon
from steguard.canon.model import (
    MAX_NAME,
    Ack,
    Conditional,
    Decision,
    Duty,
    Failure,
    Notice,
    Placeholder,
    Query,
    Report,
    Request,
    Sentence,
    TypeRef,
    Value,
    Within,
    is_address,
    is_name,
)
from steguard.canon.problems import Problem, near
from steguard.canon.scalars import mixed_alphabets
from steguard.canon.surfaces import Element, Optional, Slot, Surface, Template, Word
from steguard.canon.times import FORMS, BadTime, is_odd, read_within
from steguard.canon.types import parse_type
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

_TOKEN = re.compile(r'(?:[^ "]|"(?:[^"\\]|\\.)*")+|"')
_HEAD = re.compile(r"([^\W\d]\w*)([:：])(.*)", re.S)
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_PLACEHOLDER = re.compile(r"\[([^\[\]]*)\]")
_NEGATIONS = frozenset("not cannot never none nothing without unless no".split())
_EDGE = ".,;!?。，；！？"


@dataclass(slots=True)
class Token:
    """A word of the sentence, or a quoted text, with its place."""

    text: str
    start: int
    end: int


class _Stop(Exception):
    """The first fault of the pattern: what follows it has no sure place."""


class Walk:
    """One text. ``problems`` has all faults, with ``start`` and ``end`` in the text."""

    def __init__(self, text: str, lexicon: Lexicon, surface: Surface) -> None:
        self.text, self._lexicon, self._surface = text, lexicon, surface
        self.problems: list[Problem] = []
        self._tokens = [Token(m[0], m.start(), m.end()) for m in _TOKEN.finditer(text)]
        self._at = 0
        self._skipped: list[str] = []
        self._verbs = lexicon.verbs_in(surface.language)

    def whole(self) -> Sentence | None:
        """The sentence; None where the words do not fit."""
        if len(self.text) > MAX_SENTENCE:
            why = f"the sentence has more than {MAX_SENTENCE} characters"
            self._add(0, len(self.text), "sentence-too-long", why)
            return None
        self._check_characters()
        if self.problems:
            return None
        made = None
        with contextlib.suppress(_Stop):
            made = self._sentence(inside=False)
        self._check_words()
        return made

    # ---- the sentence

    def _sentence(self, *, inside: bool) -> Sentence:
        self._skipped = []
        kind, template = self._kind(inside)
        slots: dict[str, Any] = {}
        self._walk(template, slots)
        if self._at < len(self._tokens):
            raise self._unexpected((*self._skipped, "end"))
        return _BUILD[kind](slots)

    def _kind(self, inside: bool) -> tuple[str, Template]:
        surface = self._surface
        first = self._now
        if first is None:
            raise self._unexpected(self._starts(inside))
        opening = surface.sentences["conditional"][0]
        if isinstance(opening, Word) and first.text == opening.text:
            if inside:
                hint = "Join the conditions with 'and'."
                raise self._fail(first, "sentence-syntax", "'if' stands inside an 'if'", hint)
            return "conditional", surface.sentences["conditional"]
        self._split_head()
        head = self._now
        assert head is not None
        if head.text[-1] in ":：":
            return self._headed(head)
        if self._is_modal(self._at) or self._is_modal(self._at + 1):
            return "duty", surface.sentences["duty"]
        verb = self._verbs.get(head.text)
        if verb is not None and (inside or verb in self._lexicon.imperatives):
            return "request", surface.sentences["request"]
        raise self._no_start(head, inside)

    def _split_head(self) -> None:
        """Make ``report:x`` two words and find the colon that stands alone."""
        first = self._tokens[self._at]
        found = _HEAD.fullmatch(first.text)
        if found is not None and found[3] and found[1] in self._surface.heads:
            middle = first.start + found.end(2)
            self._tokens[self._at : self._at + 1] = [
                Token(first.text[: found.end(2)], first.start, middle),
                Token(found[3], middle, first.end),
            ]

    def _headed(self, head: Token) -> tuple[str, Template]:
        known = self._surface.heads.get(head.text[:-1])
        if known is None:
            raise self._unknown_head(head)
        kind, template, alias = known
        if alias:
            usual = show(self._surface.sentences[kind])
            self._add(
                head.start,
                head.end,
                "usual-form",
                f"the usual form is '{usual}'",
                f"Write '{usual}'.",
                severity=Severity.WARNING,
            )
        return kind, template

    def _walk(self, elements: Template | tuple[Word | Slot, ...], slots: dict[str, Any]) -> None:
        for index, element in enumerate(elements):
            token = self._now
            if isinstance(element, Word):
                if index == 0 and element.text[-1] in ":：":
                    self._at += 1
                    continue
                if token is None or token.text != element.text:
                    raise self._unexpected((*self._skipped, element.text))
                self._at += 1
                self._skipped = []
            elif isinstance(element, Slot):
                slots[element.name] = self._slot(element.name, elements[index + 1 :])
                self._skipped = []
            elif self._opens(element):
                self._walk(element.parts, slots)
            else:
                first = element.parts[0]
                self._skipped.append(first.text if isinstance(first, Word) else first.name)

    def _opens(self, element: Optional) -> bool:
        first = element.parts[0]
        if isinstance(first, Word):
            return self._now is not None and self._now.text == first.text
        return not self._is_modal(self._at)

    # ---- slots

    def _slot(self, name: str, after: tuple[Element, ...]) -> Any:
        if name == "condition":
            return self._condition(after[0])
        if name == "sentence":
            return self._sentence(inside=True)
        if name == "params":
            return self._params()
        if name == "time":
            return self._time()
        if name == "modal":
            return self._modal()
        token = self._now
        if token is None:
            raise self._unexpected((_SHOWN.get(name, name),))
        self._at += 1
        if name == "verb":
            return self._verb(token)
        if name == "message_id":
            return self._address(token)
        if name in ("value", "option", "reason"):
            return self._value(token.text, token.start)
        return self._name(token, name)

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
            why = f"the keyword '{text}' stands where {_SHOWN.get(what, what)} is expected"
            raise self._fail(token, "reserved-word", why, None, (_SHOWN.get(what, what),))
        if is_name(text) and not mixed_alphabets(text):
            return text
        why = f"'{_short(text)}' is no name"
        hint = "Write letters, digits and '_', and start with a letter."
        if len(text) > MAX_NAME and is_name(text[:MAX_NAME].rstrip(".-")):
            why, hint = f"the name has more than {MAX_NAME} characters", "Write a shorter name."
        elif text[-1] in _EDGE:
            hint = f"Take '{text[-1]}' out."
        elif text[0] == '"':
            hint = "A name has no quotes."
        elif mixed_alphabets(text):
            why = f"'{text}' mixes letters of two alphabets that look alike"
            hint = "Write it in one alphabet."
        self._problem(token, "bad-name", why, hint, (_SHOWN.get(what, what),))
        return text

    def _address(self, token: Token) -> str:
        if token.text in KEYWORDS:
            self._at -= 1
            why = f"the keyword '{token.text}' stands where a message id is expected"
            raise self._fail(token, "reserved-word", why, None, ("message id",))
        if not is_address(token.text):
            hint = "Write ASCII letters, digits and '_ . : / @ + -'."
            why = f"'{_short(token.text)}' is no message id"
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
            fault = (f"'{_short(raw)}' is no placeholder", "Write [name], or quote the text.")
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
            raise _Stop
        return raw

    def _quoted(self, raw: str, start: int) -> str:
        found = _QUOTED.match(raw)
        if found is None or found.end() < len(raw):
            why = "the quote is not closed" if found is None else "text stands behind the quote"
            hint = 'Write the whole value in double quotes, and \\" for a quote in it.'
            self._add(start, start + len(raw), "bad-value", why, hint, expected=("value",))
            raise _Stop
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
                why = f"'{_short(name)}' cannot be the name of a parameter"
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

    def _bad_param(self, token: Token, later: bool) -> _Stop:
        text = token.text
        after = self._tokens[self._at + 1].text if self._at + 1 < len(self._tokens) else ""
        hint = "Write NAME=VALUE, with double quotes around a value of more than one word."
        if text.strip("=") == "" or text.endswith("=") or after[:1] == "=":
            hint = "Write NAME=VALUE without blanks, and a value of at least one character."
        elif "==" in text:
            hint = "Write one '='."
        elif text in ("and", ",", "&", ";"):
            hint = "Put a blank between parameters, nothing else."
        elif ":" in text:
            hint = "Write '=' between the name and the value."
        expected = ("NAME=VALUE", self._within_word(), "end") if later else ("NAME=VALUE",)
        why = f"'{_short(text)}' is no parameter"
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
        made, problems = read_condition(self.text[start:end], self._surface.condition_words)
        for one in problems:
            self.problems.append(_shifted(one, start))
        if token is None and not problems:
            raise self._unexpected((word,))
        if token is None:
            raise _Stop
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

    # ---- checks of all words

    def _check_characters(self) -> None:
        for found in chars.REFUSED.finditer(self.text):
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
        """Forbidden expressions and double negation among the words without quotes."""
        masked = _QUOTED.sub(lambda found: '"' * len(found[0]), self.text)
        at = 0
        pattern = self._lexicon.forbidden_pattern
        lower = masked.lower() if len(masked.lower()) == len(masked) else masked
        while pattern is not None and (found := pattern.search(lower, at)) is not None:
            at = found.end()
            self._forbidden(found)
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
        if whole is not None and len(whole.text.rstrip(_EDGE)) > end - start and found[0].isascii():
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

    # ---- faults

    @property
    def _now(self) -> Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _starts(self, inside: bool) -> tuple[str, ...]:
        verbs = (
            self._verbs
            if inside
            else [own for own, name in self._verbs.items() if name in self._lexicon.imperatives]
        )
        heads = [f"{head}:" for head, known in self._surface.heads.items() if not known[2]]
        opening = self._surface.sentences["conditional"][0]
        return (*verbs, *heads, *([] if inside else [getattr(opening, "text", "")]))

    def _no_start(self, head: Token, inside: bool) -> _Stop:
        text = head.text
        verb = self._verbs.get(text)
        starts = self._starts(inside)
        if verb is not None or text in self._surface.heads:
            pattern = self._lexicon.verbs[verb].pattern if verb is not None else text
            kind = self._surface.heads[text][0] if text in self._surface.heads else pattern
            usual = show(self._surface.sentences[kind])
            why = f"a sentence does not start with '{text}' alone"
            return self._fail(head, "sentence-syntax", why, f"Write '{usual}'.", (usual,))
        small = text.lower()
        if small in self._verbs or small.rstrip(":") in self._surface.heads or small == "if":
            why = f"'{text}' is not in small letters"
            return self._fail(head, "unknown-verb", why, f"Write '{small}'.", (small,))
        after = self._tokens[self._at + 1].text if self._at + 1 < len(self._tokens) else ""
        if after == ":":
            return self._fail(head, "unknown-pattern", "a blank stands before ':'", "Take it out.")
        why = f"'{_short(text)}' is no verb and starts no pattern"
        hint = near(text, starts) or "Start with a verb of the lexicon."
        return self._fail(head, "unknown-verb", why, hint, starts)

    def _unknown_head(self, head: Token) -> _Stop:
        word = head.text[:-1]
        heads = tuple(f"{one}:" for one, known in self._surface.heads.items() if not known[2])
        verb = self._lexicon.verbs.get(self._verbs.get(word.lower(), word.lower()))
        hint = near(f"{word}:", heads) or "Write one of the patterns."
        if word.lower() in self._surface.heads:
            hint = f"Write '{word.lower()}:' in small letters."
        elif verb is not None:
            hint = f"Write '{show(self._surface.sentences[verb.pattern])}'."
        why = f"'{_short(head.text)}' is no pattern"
        return self._fail(head, "unknown-pattern", why, hint, heads)

    def _unexpected(self, expected: tuple[str, ...]) -> _Stop:
        token = self._now
        shown = "the end" if token is None else f"'{_short(token.text)}'"
        at = token or Token("", *([len(self.text.rstrip(" \r\n"))] * 2))
        hint = None
        if not self._tokens:
            return self._fail(at, "sentence-syntax", "the sentence is empty", None, expected)
        if token is not None and token.text == "else":
            hint = "Write a second sentence with the opposite condition."
        elif token is not None and token.text[-1] in _EDGE:
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
    ) -> _Stop:
        self._problem(token, rule, message, hint, expected)
        return _Stop()

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


_MANY = 6
_QUOTES = "\"'\u2018\u2019\u201c\u201d\u00ab\u00bb\u300c\u300d\u300e\u300f\uff02\uff07"
_SHOWN = {
    "message_id": "message id",
    "task": "action",
}
_KINDS = {
    "time": "a vague time",
    "vague": "a vague word",
    "polite": "polite, not exact",
    "emotional": "an emotional word",
    "negation": "no Canon form",
}


def _request(slots: Mapping[str, Any]) -> Request:
    return Request(
        slots["target"],
        slots.get("params", ()),
        slots.get("within", slots.get("time")),
        slots["verb"],
    )


_BUILD: dict[str, Callable[[Mapping[str, Any]], Sentence]] = {
    "request": _request,
    "report": lambda s: Report(s["subject"], s["value"]),
    "query": lambda s: Query(s["attribute"], s["subject"]),
    "decision": lambda s: Decision(s["option"]),
    "notice": lambda s: Notice(s["event"]),
    "ack": lambda s: Ack(s["message_id"]),
    "error": lambda s: Failure(s["task"], s["reason"]),
    "duty": lambda s: Duty(s["modal"], _request(s), s.get("actor")),
    "conditional": lambda s: Conditional(s["condition"], s["sentence"]),
}


def show(template: Template) -> str:
    """A template as a reader writes it: ``error: ACTION failed because REASON``."""
    shown: list[str] = []
    for element in template:
        if isinstance(element, Word):
            shown.append(element.text)
        elif isinstance(element, Slot):
            shown.append(_SHOWN.get(element.name, element.name).replace(" ", "_").upper())
    return " ".join(shown)


def _bare_fault(raw: str) -> tuple[str, str] | None:
    """Why a value cannot stand without quotes."""
    if raw in KEYWORDS and raw not in ("true", "false"):
        hint = "Write a value that says what is so, or quote the word."
        return f"the keyword '{raw}' stands where a value is expected", hint
    quote = "Write the value in double quotes."
    if any(char in _QUOTES or char.isspace() for char in raw):
        return f"'{_short(raw)}' has a quote or a blank in it", quote
    if raw[0] in "{}[]<>|=,$%&*`" or raw[-1] in "[]{}":
        return f"a value does not start or end like '{_short(raw)}'", quote
    if raw[-1] in _EDGE:
        return f"the value ends with '{raw[-1]}'", f"Take '{raw[-1]}' out, or quote the value."
    return None


def is_bare(text: str) -> bool:
    """Whether the value can be written without quotes."""
    return bool(text) and text[0] not in '"' and _bare_fault(text) is None


def _shifted(one: Problem, by: int) -> Problem:
    from dataclasses import replace

    return replace(one, start=(one.start or 0) + by, end=(one.end or 0) + by)


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
