"""What the user's own text names: values, dates, persons, things, documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from typing import Any

import regex

from steguard.gate import kinds
from steguard.gate.model import leaves
from steguard.gate.verbs import negated_clauses
from steguard.gate.words import MONTHS, STOP, fold, nouns_alike, stem


@dataclass(frozen=True, slots=True)
class Name:
    """One field of a record that can name the record."""

    value: Any
    kind: kinds.Kind
    explicit: bool


class Request:
    """The user's request, read once; what it says not to do names nothing."""

    def __init__(self, text: str, *, whole: bool = False) -> None:
        for clause in () if whole else negated_clauses(text):
            text = text.replace(clause, " ")
        self.text = text
        self._folded = fold(text)

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(regex.findall(r"[\p{L}\p{N}]+", self._folded))

    @cached_property
    def stems(self) -> frozenset[str]:
        said = {stem(w) for w in self.words if len(w) > 2 and w not in STOP}
        return frozenset(said | {stem(w) for form, w in _IMPLIED if form.search(self.text)})

    @cached_property
    def numbers(self) -> frozenset[float]:
        found = regex.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w])", self.text)
        return frozenset(float(one.replace(",", "")) for one in found if one.strip(","))

    @cached_property
    def urls(self) -> frozenset[str]:
        found = _URLS.findall(self.text)
        return frozenset(plain_url(one.rstrip(".,;:!?")) for one in found)

    @cached_property
    def templates(self) -> tuple[regex.Pattern[str], ...]:
        """Forms with a gap that the request gives: ``www.{user}.example.com``."""
        found = regex.findall(r"[^\s'\"]*[{<\[]\w+[}>\]][^\s'\"]*", self._folded)
        return tuple(_template(plain_url(one.rstrip(".,;:!?"))) for one in found if len(one) > 8)

    @cached_property
    def phrases(self) -> tuple[str, ...]:
        """What the request puts in quotes, and its file names, addresses and proper names."""
        quoted = regex.findall(r"(?<!\w)['\"“‘]([^'\"”’\n]{2,80})['\"”’](?!\w)", self.text)
        exact = regex.findall(r"[\w.+/-]+@[\w.-]+\w|[\w./-]+\.[A-Za-z]\w{1,4}\b", self.text)
        return tuple({fold(one) for one in (*quoted, *exact, *self.proper)})

    @cached_property
    def proper(self) -> frozenset[str]:
        """Words with a capital inside a sentence that are no month, day or plain word."""
        found = regex.findall(r"(?<![.!?:\n]\s|^|['\"“‘])\b(\p{Lu}[\p{L}\p{N}]{2,})", self.text)
        return frozenset(w.casefold() for w in found if w.casefold() not in STOP | MONTHS.keys())

    @cached_property
    def dates(self) -> frozenset[tuple[int | None, int, int]]:
        """The days that the request names; the year is None where it does not say it."""
        return frozenset(_dates(self._folded))

    @cached_property
    def durations(self) -> frozenset[int]:
        """The lengths in days that the request gives: three nights, 2 weeks."""
        found = regex.findall(rf"\b(\d{{1,2}}|{_COUNT_WORDS})[ -](night|day|week)", self._folded)
        return frozenset(
            (int(n) if n.isdigit() else _COUNTS.index(n)) * (7 if unit == "week" else 1)
            for n, unit in found
        )

    def holds(self, value: Any) -> bool:
        """Whether the request says this value, whole."""
        if isinstance(value, bool) or value is None:
            return False
        if isinstance(value, int | float):
            return float(value) in self.numbers
        text = fold(str(value))
        if not text or not self._folded:
            return False
        if _TIME_OF_DAY.fullmatch(text):
            return True
        if _SHORT_ID.fullmatch(text):
            found = text in self._folded and regex.search(_ID_IN_TEXT.format(text), self._folded)
            return bool(found)
        day = iso_day(text)
        if day is not None:
            return any(
                one in self.dates for shift in (0, *self.durations) for one in _both(day, shift)
            )
        if _URL.match(text):
            url = plain_url(str(value))
            return url in self.urls or any(one.fullmatch(fold(url)) for one in self.templates)
        return len(text) > 1 and _stands_in(text, self._folded)

    def names(self, names: Iterable[Name]) -> bool:
        """Whether the request names a record by one of these fields."""
        return any(self._names(one) for one in names)

    def _names(self, name: Name) -> bool:
        value = name.value
        if not isinstance(value, str):
            weighty = value >= 100 or f"{value:.2f}" in self.text
            return name.kind is kinds.Kind.NUMBER and weighty and self.holds(value)
        lines = [line for line in value.splitlines() if line.strip()]
        return any(self._names_line(line, name) for line in {*lines[:1], *lines[-1:]})

    def _names_line(self, value: str, name: Name) -> bool:
        short = fold(value)[:200]
        plain = _REPLY.sub("", short)
        if len(plain) < 3 or plain in STOP or plain in MONTHS:
            return False
        if not name.explicit and _LOWER.fullmatch(value.strip()):
            return False
        if self.holds(plain) or self._holds_loosely(plain):
            return True
        return any(_stands_in(phrase, short) for phrase in self.phrases)

    def _holds_loosely(self, name: str) -> bool:
        """A file name without its ending and with blanks: 'grocery-list.docx' as 'grocery list'."""
        loose = _DASHES.sub(" ", _ENDING.sub("", name)).strip()
        return loose != name and len(loose) > 3 and self.holds(loose)

    def names_person(self, value: Any) -> bool:
        """Whether the request has a name that is part of this address or user name."""
        parts = regex.findall(r"\p{L}{3,}", str(value).partition("@")[0].casefold())
        return any(part in self.proper for part in parts) or self.holds(value)

    def shares_word(self, value: str) -> bool:
        """Whether the value and the request have a word of weight in common."""
        words = regex.findall(r"[\p{L}\p{N}]+", fold(value))
        return any(len(w) > 2 and w not in STOP and stem(w) in self.stems for w in words)

    @cached_property
    def defers(self) -> bool:
        """Whether the request leaves something to a document."""
        return bool(_DEFERS.search(self._folded))

    @cached_property
    def turns_back(self) -> bool:
        """Whether the request is about who wrote or sent something."""
        return bool(_TURNS_BACK.search(self._folded))

    @cached_property
    def wishes(self) -> bool:
        """Whether the request says what the user wants instead of what to do."""
        return bool(
            regex.search(
                r"\b(?:i|we)(?:'d| would)\b|\b(?:wants?|needs?|wish(?:es)?)\b", self._folded
            )
        )

    @cached_property
    def delegates(self) -> bool:
        """Whether the request leaves to a document what to do at all."""
        return bool(_DELEGATES.search(self._folded))

    def points_to(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        """Whether the request points to the document that this call read."""
        kind = set(kinds.tokens(tool)) & kinds.WORDS["document"]
        if not kind:
            return False
        said = [v for _, v in leaves(dict(arguments)) if isinstance(v, str) and len(v) > 2]
        if not kind & _OPINIONS and any(self.holds(value) for value in said):
            return True
        return self.defers and any(nouns_alike(word) & self.stems for word in kind)


_IMPLIED = (
    (regex.compile(r"[\w.+-]+@[\w-]+\.\w"), "email"),
    (regex.compile(r"https?://|\bwww\."), "page"),
    (regex.compile(r"\w\.(?:txt|md|docx?|pdf|xlsx?|csv|json|ya?ml|py|html?|log)\b"), "file"),
    (regex.compile(r"\b[A-Z]{2}\d{2}[A-Z0-9]{10,}\b"), "account"),
    (regex.compile(r"[$€£]\s?\d|\d\s?(?:[$€£]|euros?|dollars?|pounds?)"), "money"),
)
"""Forms that name a thing without its word: who writes an address, means mail."""
_URLS = regex.compile(
    r"(?:https?://|www\.)[^\s'\"<>()\[\]]+|\b[\w.-]+\.\w{2,}/[^\s'\"<>()]*", regex.IGNORECASE
)
_WHOLE = r"(?<![\w@+%/=&\-.]){}(?![\w@%+/=\-]|\.\w)"


def _stands_in(text: str, whole: str) -> bool:
    """Whether a text stands in another one, with nothing of a longer value around it."""
    return text in whole and bool(regex.search(_WHOLE.format(regex.escape(text)), whole))


_ID_IN_TEXT = r"(?:\bids?|#|\bnumber|\bno\.|\bnr\.|['\"])\s*(?:is\s|:)?\s*['\"]?{}\b"
_URL = regex.compile(r"https?://|www\.|[\w-]+(?:\.[\w-]+)+/")
_OPINIONS = frozenset("review reviews comment comments post posts chat thread threads feed".split())
_DEFERS = regex.compile(
    r"\b(?:accordingly|according to|based (?:up)?on|as (?:per|described|mentioned|specified|listed|"
    r"stated|said|written|explained|requested|instructed|asked)|mentioned|specified|listed|"
    r"described|stated|outlined|indicated|contained|found|provided|given|instructions?|follow|"
    r"actions|tasks|to-?dos?|(?:is|are|was|were|it's|they're) (?:in|on)|"
    r"in (?:the|my|an?|this|that)|"
    r"from (?:the|my|an?|this|that)|on (?:the|my|his|her|their|its|this|that)|of the|see|bill|"
    r"invoice|posted|sent|shared|linked|attached)\b"
)
_TURNS_BACK = regex.compile(
    r"\b(?:reply|respond|answer|refund|reimburse|return|back|senders?|authors?|writers?|who|whoever)\b"
)
_DELEGATES = regex.compile(
    r"\b(?:follow(?:ing)?|carry out|execute|do|complete|perform|handle|process|implement|work "
    r"through|take care of|act on|obey|comply with)\s+(?:\w+\s+){0,3}?(?:instructions?|actions?|"
    r"tasks?|to-?dos?|steps|requests?|orders|items|what)\b(?! in the order)"
)


def plain_url(url: str) -> str:
    """A URL as it is compared: without its scheme, its last slash and the case of its host."""
    bare = regex.sub(r"^https?://", "", url.strip(), flags=regex.IGNORECASE)
    host, slash, rest = bare.partition("/")
    return (host.casefold() + slash + rest).rstrip("/")


def iso_day(text: str) -> tuple[int, int, int] | None:
    """The day of an ISO date or date and time."""
    found = _ISO_DAY.match(text)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def _both(day: tuple[int, int, int], shift: int) -> Iterable[tuple[int | None, int, int]]:
    """A day some days earlier, with and without its year."""
    try:
        at = date(*day) - timedelta(days=shift)
    except (ValueError, OverflowError):
        return ()
    return (at.year, at.month, at.day), (None, at.month, at.day)


def _template(text: str) -> regex.Pattern[str]:
    """A form with gaps; one plain word fits into a gap."""
    parts = regex.split(r"[{<\[]\w+[}>\]]", text)
    return regex.compile(r"[\p{L}\p{N}_-]+".join(regex.escape(part) for part in parts))


_COUNTS = "zero one two three four five six seven eight nine ten".split()
_COUNT_WORDS = "|".join(_COUNTS)
_SHORT_ID = regex.compile(r"\d{1,3}")
_LOWER = regex.compile(r"\p{Ll}+")
_REPLY = regex.compile(r"^(?:(?:re|fwd?|aw|wg):\s*)+")
_DASHES, _ENDING = regex.compile(r"[-_]+"), regex.compile(r"\.\w{1,5}$")
_ISO_DAY = regex.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?:$|[t\s])")
_TIME_OF_DAY = regex.compile(r"\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]m)?")
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_MONTH = "(" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\b\.?"
_YEAR = r"(?:,?\s+(\d{4}))?"


def _dates(text: str) -> Iterable[tuple[int | None, int, int]]:
    for y, m, d in regex.findall(r"\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})\b", text):
        yield int(y), int(m), int(d)
    for a, b, y in regex.findall(r"\b(\d{1,2})[/.](\d{1,2})[/.](\d{4})\b", text):
        yield int(y), int(a), int(b)
        yield int(y), int(b), int(a)
    for m, d, y in regex.findall(rf"\b{_MONTH}\s+(?:the\s+)?{_DAY}\b{_YEAR}", text):
        yield int(y) if y else None, MONTHS[m], int(d)
    for d, m, y in regex.findall(rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}{_YEAR}", text):
        yield int(y) if y else None, MONTHS[m], int(d)
    ranges = rf"\b{_DAY}\s*(?:to|-|–|and|until|till|through)\s*(?:the\s+)?{_DAY}"
    for a, b, m, y in regex.findall(rf"{ranges}\s+(?:of\s+)?{_MONTH}{_YEAR}", text):
        for day in (a, b):
            yield int(y) if y else None, MONTHS[m], int(day)
    for m, a, b, y in regex.findall(rf"\b{_MONTH}\s+{ranges[2:]}{_YEAR}", text):
        for day in (a, b):
            yield int(y) if y else None, MONTHS[m], int(day)
