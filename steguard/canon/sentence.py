"""Sentences: one line in one of seven fixed patterns, a duty, or ``if CONDITION then SENTENCE``.

::

    request TARGET with k=v k=v within 30 seconds     (also: retry cancel complete reject ...)
    report: SUBJECT is VALUE
    query: ATTRIBUTE of SUBJECT
    decision: OPTION selected
    notice: EVENT occurred
    ack: MESSAGE_ID received
    error: ACTION failed because REASON               (``fail: ACTION because REASON`` is read too)
    [ACTOR] must|must not|cannot VERB TARGET with ... within ...
    if CONDITION then SENTENCE

- Words are separated by blanks; blanks at the ends and a byte order mark are dropped. Verbs and
  keywords are lower case.
- ``TARGET SUBJECT ATTRIBUTE EVENT ACTION`` and parameter names are names; keywords are no names,
  and a verb is no ``ACTOR``.
- A ``VALUE`` is one word without quotes, or text in double quotes. It does not end with
  ``. , ; ! ?``. ``[name]`` is a placeholder and ``<int>`` a type; in quotes both are text.
- Vague, polite and emotional words are refused outside quotes, and so is double negation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any, Literal

from steguard.canon.condition import read_condition
from steguard.canon.lexicon import KEYWORDS, Lexicon, core
from steguard.canon.model import (
    ADDRESS,
    MAX_NAME,
    Ack,
    Conditional,
    Decision,
    Duty,
    Failure,
    Notice,
    Query,
    Report,
    Request,
    Sentence,
    Within,
)
from steguard.canon.problems import CanonFinding, finding
from steguard.canon.sentencewalk import Walk
from steguard.canon.sentencewords import MAX_SENTENCE
from steguard.canon.surfaces import surface as load_surface
from steguard.types import Severity, Span


@dataclass(frozen=True, slots=True)
class SentenceResult:
    """What a text is: the sentence, or None where a finding is an error."""

    sentence: Sentence | None
    findings: tuple[CanonFinding, ...] = ()

    @property
    def ok(self) -> bool:
        return self.sentence is not None


def parse_sentence(
    text: str, *, lexicon: Lexicon | None = None, language: str = "en"
) -> SentenceResult:
    """The sentence in the text, with every fault. ``language`` is ``en``, ``zh`` or ``ja``."""
    words = lexicon or core()
    if text[:1] == "\ufeff":
        text = f" {text[1:]}"
    if language == "en":
        quick = _quick(text, words, words.imperatives)
        if quick is not None:
            return SentenceResult(quick)
    walk = Walk(text, words, load_surface(language))
    made = walk.whole()
    found = [finding(text, p.start or 0, p.end or 0, p) for p in walk.problems]
    found.sort(key=lambda one: (one.start, one.code))
    wrong = any(one.severity is Severity.ERROR for one in found)
    return SentenceResult(None if wrong else made, tuple(found))


def parse_sentences(
    text: str, *, lexicon: Lexicon | None = None, language: str = "en"
) -> list[SentenceResult]:
    """Every sentence of a text, one a line. Blank lines and ``#`` lines are no sentences."""
    made: list[SentenceResult] = []
    start = 0
    for number, line in enumerate(text.split("\n"), 1):
        content = line.removesuffix("\r")
        if content.strip(" ") and not content.lstrip(" ").startswith("#"):
            one = parse_sentence(content, lexicon=lexicon, language=language)
            moved = tuple(_moved(each, start, number) for each in one.findings)
            made.append(SentenceResult(one.sentence, moved))
        start += len(line) + 1
    return made


def _moved(one: CanonFinding, start: int, number: int) -> CanonFinding:
    span = Span(one.start + start, one.end + start)
    return replace(one, span=span, line=number)


# ---- the quick path: the usual spelling of a right sentence; anything else is walked word by word

# Ranges of ASCII characters are a bitmap to `re`, and much faster than \w in a class.
_NAME = r"([A-Za-z_][0-9A-Za-z_]*+)"
_BARE = r"[0-9A-Za-z_](?:[%+\-./0-9:@A-Z_a-z]*[%\-/0-9A-Z_a-z])?"
_VALUE = rf'({_BARE}|"[ !#-\[\]-~]*+")'
_PARAM = rf"[A-Za-z_][0-9A-Za-z_]*+={_BARE}"
_REQUEST = re.compile(
    rf"{_NAME} {_NAME}(?: with ({_PARAM}(?: {_PARAM})*+))?"
    r"(?: within ([1-9][0-9]{0,6}) (second|minute|hour)(s)?)?"
).fullmatch
_DUTY = re.compile(rf"(?:{_NAME} )?(must not|must|cannot) (.+)").fullmatch

_QUICK: dict[str, tuple[re.Pattern[str], Callable[[str, str], Any]]] = {
    "report:": (re.compile(rf"report: {_NAME} is {_VALUE}"), Report),
    "query:": (re.compile(rf"query: {_NAME} of {_NAME}"), Query),
    "decision:": (re.compile(rf"decision: {_VALUE}() selected"), lambda one, _: Decision(one)),
    "notice:": (re.compile(rf"notice: {_NAME}() occurred"), lambda one, _: Notice(one)),
    "ack:": (re.compile(rf"ack: ({ADDRESS})() received"), lambda one, _: Ack(one)),
    "error:": (re.compile(rf"error: {_NAME} failed because {_VALUE}"), Failure),
}
_LITERALS = ("true", "false")
_MODALS: dict[str, Literal["must", "must not", "cannot"]] = {
    "must": "must",
    "must not": "must not",
    "cannot": "cannot",
}


def _quick(text: str, lexicon: Lexicon, verbs: Collection[str]) -> Sentence | None:
    """The sentence; None where it is not in the usual spelling, wrong, or worth a finding."""
    head, _, rest = text.partition(" ")
    known = _QUICK.get(head)
    if known is not None:
        return _quick_pattern(text, *known, lexicon.avoided)
    if head in verbs:
        return _quick_request(text, lexicon)
    if head == "if":
        return _quick_conditional(rest, lexicon)
    duty = _DUTY(text)
    if duty is None:
        return None
    actor, modal, order = duty.groups()
    request = _quick_request(order, lexicon)
    if request is None or request.verb not in lexicon.verbs:
        return None
    if actor is not None and (actor in lexicon.verbs or _avoided(actor, lexicon)):
        return None
    return Duty(_MODALS[modal], request, actor)


def _quick_pattern(
    text: str, pattern: re.Pattern[str], make: Callable[[str, str], Any], avoided: frozenset[str]
) -> Sentence | None:
    found = pattern.fullmatch(text)
    if found is None or len(text) > MAX_NAME:
        return None
    first, second = found.groups()
    if first[0] == '"':
        first = first[1:-1]
    elif first.lower() in avoided:
        return None
    if second[:1] == '"':
        second = second[1:-1]
    elif second.lower() in avoided and (make is Query or second not in _LITERALS):
        return None
    made: Sentence = make(first, second)
    return made


def _quick_conditional(rest: str, lexicon: Lexicon) -> Conditional | None:
    if rest.count(" then ") != 1 or '"' in rest or "'" in rest:
        return None
    condition, _, then = rest.partition(" then ")
    held, problems = read_condition(condition)
    action = _quick(then, lexicon, lexicon.verbs)
    if held is None or problems or action is None or isinstance(action, Conditional):
        return None
    return Conditional(held, action)


def _quick_request(text: str, lexicon: Lexicon) -> Request | None:
    found = _REQUEST(text)
    if found is None or len(text) > MAX_SENTENCE:
        return None
    verb, target, with_, amount, unit, plural = found.groups()
    if _avoided(target, lexicon):
        return None
    within = None
    if amount is not None:
        number = int(amount)
        if (number == 1) is (plural is not None):
            return None
        within = Within(number, unit)
    if with_ is None:
        return Request(target, (), within, verb)
    params = tuple([tuple(pair.split("=", 1)) for pair in with_.split(" ")])
    if len(dict(params)) < len(params):
        return None
    for key, value in params:
        small = value.lower()
        if (
            len(key) > MAX_NAME
            or key in KEYWORDS
            or (small in lexicon.avoided and value not in _LITERALS)
        ):
            return None
    return Request(target, params, within, verb)


def _avoided(name: str, lexicon: Lexicon) -> bool:
    return len(name) > MAX_NAME or name.lower() in lexicon.avoided
