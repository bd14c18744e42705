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

- Words are separated by blanks; blanks at the ends are dropped. Verbs and keywords are lower case.
- ``TARGET SUBJECT ATTRIBUTE EVENT ACTION`` and parameter names are names; keywords are no names.
- A ``VALUE`` is one word without quotes, or text in double quotes. It does not end with
  ``. , ; ! ?``. ``[name]`` is a placeholder and ``<int>`` a type; in quotes both are text.
- Vague, polite and emotional words are refused outside quotes, and so is double negation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from steguard.canon.condition import read_condition
from steguard.canon.lexicon import Lexicon, core
from steguard.canon.model import (
    Ack,
    Conditional,
    Decision,
    Failure,
    Notice,
    Query,
    Report,
    Request,
    Sentence,
    Within,
)
from steguard.canon.problems import CanonFinding, finding
from steguard.canon.sentencewalk import MAX_SENTENCE, Walk
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

_NAME = r"([A-Za-z_]\w*)"
_VALUE = r"(\w(?:[\w./:@%+-]*[\w%/-])?)"
_PARAM = r"[A-Za-z_]\w*=\w(?:[\w./:@%+-]*[\w%/-])?"
_REQUEST = re.compile(
    rf"{_NAME} {_NAME}(?: with ({_PARAM}(?: {_PARAM})*))?"
    r"(?: within ([1-9][0-9]{0,6}) (second|minute|hour)(s)?)?",
    re.A,
)


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.A)


_QUICK: dict[str, tuple[re.Pattern[str], Callable[[str, str], Any]]] = {
    "report:": (_pattern(rf"report: {_NAME} is {_VALUE}"), Report),
    "query:": (_pattern(rf"query: {_NAME} of {_NAME}"), Query),
    "decision:": (_pattern(rf"decision: {_VALUE}() selected"), lambda option, _: Decision(option)),
    "notice:": (_pattern(rf"notice: {_NAME}() occurred"), lambda event, _: Notice(event)),
    "ack:": (_pattern(rf"ack: ({_VALUE[1:-1]})() received"), lambda one, _: Ack(one)),
    "error:": (_pattern(rf"error: {_NAME} failed because {_VALUE}"), Failure),
}


def _quick(text: str, lexicon: Lexicon, verbs: Any) -> Sentence | None:
    head, _, rest = text.partition(" ")
    known = _QUICK.get(head)
    if known is not None:
        found = known[0].fullmatch(text)
        if found is None:
            return None
        first, second = found.groups()
        avoided = lexicon.avoided
        if first.lower() in avoided or second.lower() in avoided or len(text) > 128:
            return None
        made: Sentence = known[1](first, second)
        return made
    if head in verbs:
        return _quick_request(text, lexicon)
    if head == "if" and rest.count(" then ") == 1 and '"' not in rest and len(rest) < 500:
        condition, _, then = rest.partition(" then ")
        held, problems = read_condition(condition)
        action = _quick(then, lexicon, lexicon.verbs)
        if held is not None and not problems and not isinstance(action, Conditional | None):
            return Conditional(held, action)
    return None


def _quick_request(text: str, lexicon: Lexicon) -> Request | None:
    found = _REQUEST.fullmatch(text)
    if found is None or len(text) > MAX_SENTENCE:
        return None
    verb, target, with_, amount, unit, plural = found.groups()
    avoided = lexicon.avoided
    if target.lower() in avoided or len(target) > 128:
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
    if len(dict(params)) < len(params) or not _plain_params(params, avoided):
        return None
    return Request(target, params, within, verb)


def _plain_params(params: Any, avoided: Mapping[str, Any] | frozenset[str]) -> bool:
    return all(
        len(key) <= 128 and key not in avoided and value.lower() not in avoided
        for key, value in params
    )
