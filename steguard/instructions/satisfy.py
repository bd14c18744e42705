"""Whether claims can all be true at once.

Each subject has a domain. The counts of a text depend on each other (a sentence has a word, a
word has a character); each relation says that a count is at the most some growing function of
others. So the largest values that fit are found by going down from the top, and claims are
possible exactly where those values are in their domains.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeVar

from steguard.instructions.claims import (
    INF,
    Affix,
    Bound,
    Claim,
    Has,
    NoneOf,
    OneOf,
    Scalar,
    Setting,
)
from steguard.instructions.keys import COUNTS, MEASURES, TERM, Role, Subject

T = TypeVar("T")
_TOP = 1e12
_SUBSETS = 20_000
_FALSE = ("bool", False)
_BOOLS = frozenset({("bool", True), _FALSE})
_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")


@dataclass
class Domain:
    """What the claims leave of one subject."""

    integer: bool
    low: float = -INF
    high: float = INF
    low_open: bool = False
    high_open: bool = False
    allowed: frozenset[Scalar] | None = None
    excluded: set[Scalar] = field(default_factory=set)
    has: set[Scalar] = field(default_factory=set)
    settings: dict[Role, Scalar] = field(default_factory=dict)
    broken: bool = False

    def add(self, claim: Claim) -> None:
        if isinstance(claim, Bound):
            claim = whole(claim) if self.integer else claim
            self.raise_low(claim.low, claim.low_open)
            if (claim.high, not claim.high_open) < (self.high, not self.high_open):
                self.high, self.high_open = claim.high, claim.high_open
        elif isinstance(claim, OneOf):
            old = self.allowed
            self.allowed = claim.values if old is None else _meet(old, claim.values)
        elif isinstance(claim, NoneOf):
            self.excluded |= claim.values
        elif isinstance(claim, Has):
            self.has |= claim.values
        elif isinstance(claim, Setting):
            old_value = self.settings.setdefault(claim.role, claim.value)
            self.broken |= old_value != claim.value

    def raise_low(self, low: float, is_open: bool = False) -> None:
        if (low, is_open) > (self.low, self.low_open):
            self.low, self.low_open = low, is_open

    @property
    def numbers(self) -> list[float] | None:
        """The permitted numbers, where numbers are listed."""
        listed = [value for kind, value in self.allowed or () if kind == "number"]
        return sorted(listed) or None

    def top(self, limit: float) -> float | None:
        """The largest number in the domain up to a limit, None where there is none."""
        high, is_open = self.high, self.high_open
        if limit < high:
            high, is_open = limit, False
        listed = self.numbers
        if listed is not None:
            fits = [v for v in listed if self._holds(v) and v <= limit]
            return max(fits, default=None)
        if high == INF:
            return INF
        if self.integer:
            value = math.ceil(high) - 1 if is_open else math.floor(high)
            while ("number", float(value)) in self.excluded:
                value -= 1
            return value if self._holds(value) else None
        if high > self.low:
            return high
        closed = high == self.low and not is_open and not self.low_open
        return high if closed and ("number", high) not in self.excluded else None

    def _holds(self, value: float) -> bool:
        above = value > self.low or (value == self.low and not self.low_open)
        below = value < self.high or (value == self.high and not self.high_open)
        whole = not self.integer or float(value).is_integer()
        return above and below and whole and ("number", float(value)) not in self.excluded

    @property
    def values_possible(self) -> bool:
        """Whether a value is left, and the required items are permitted."""
        if self.broken or self.has & self.excluded:
            return False
        allowed = self.allowed
        seen = (allowed or frozenset()) | self.excluded
        if allowed is None:
            if len(self.excluded & _BOOLS) < 2 or seen - _BOOLS:
                return True
            allowed = _BOOLS
        left = allowed - self.excluded
        if not left or not self.has <= left:
            return False
        if all(kind == "number" for kind, _ in left):
            return True
        if not left - {_FALSE}:
            return self.low < 1
        return not (self.high < 1 and left - {_FALSE})


def whole(bound: Bound) -> Bound:
    """The same limits for whole numbers, closed."""
    low, high = bound.low, bound.high
    if math.isfinite(low):
        low = math.floor(low) + 1 if bound.low_open else math.ceil(low)
    if math.isfinite(high):
        high = math.ceil(high) - 1 if bound.high_open else math.floor(high)
    return Bound(bound.subject, low, high)


def _meet(one: frozenset[Scalar], other: frozenset[Scalar]) -> frozenset[Scalar]:
    """The values in both; ``en-us`` is an ``en``."""
    both = one & other
    return both | {a for a in one if _refines(a, other)} | {b for b in other if _refines(b, one)}


def _refines(value: Scalar, others: frozenset[Scalar]) -> bool:
    kind, text = value
    if kind != "text" or not re.fullmatch(r"[a-z]{2,3}-[a-z]{2,4}", text):
        return False
    return ("text", text.split("-")[0]) in others


def domains_of(claims: Iterable[Claim]) -> dict[Subject, Domain]:
    """What the claims leave of each subject."""
    domains: dict[Subject, Domain] = {}
    for claim in claims:
        if isinstance(claim, Bound | OneOf | NoneOf | Has | Setting):
            domain = domains.get(claim.subject)
            if domain is None:
                domain = domains[claim.subject] = Domain(is_count(claim.subject))
            domain.add(claim)
    return domains


def possible(claims: Sequence[Claim], *, spaced: bool = True) -> bool:
    """Whether these claims can all be true. ``spaced``: words have a space between them."""
    domains = domains_of(claims)
    affixes: dict[Subject, set[str]] = defaultdict(set)
    for claim in claims:
        if isinstance(claim, Affix):
            affixes[claim.subject].add(claim.phrase)
    if not all(domain.values_possible for domain in domains.values()):
        return False
    if not _phrases_possible(domains, affixes):
        return False
    for subject, domain in domains.items():
        if domain.has and subject.name != TERM:
            domain.raise_low(len(domain.has))
    for space in {s.space for s in (*domains, *affixes)}:
        inside = {s.name: d for s, d in domains.items() if s.space == space}
        starts = {p for s, group in affixes.items() if s.space == space for p in group}
        if not _counts_possible(inside, starts, spaced):
            return False
    return all(_number_possible(domain) for domain in domains.values())


def is_count(subject: Subject) -> bool:
    """Whether the subject is counted in whole numbers."""
    return subject.name in MEASURES or subject.name.rpartition(".")[2] in COUNTS


def _number_possible(domain: Domain) -> bool:
    if domain.low > domain.high:
        return False
    if any(kind != "number" for kind, _ in domain.allowed or ()):
        return True
    return domain.top(INF) is not None


def _phrases_possible(domains: dict[Subject, Domain], affixes: dict[Subject, set[str]]) -> bool:
    for subject, phrases in affixes.items():
        longest = max(phrases, key=len)
        fits = longest.startswith if subject.name.endswith("start") else longest.endswith
        if not all(fits(phrase) for phrase in phrases):
            return False
    for subject, domain in domains.items():
        if subject.name != TERM:
            continue
        wanted = {str(value) for kind, value in domain.has if kind == "text"}
        for other, phrases in affixes.items():
            if other.space == subject.space:
                wanted |= phrases
        if any(contains(w, str(bad)) for w in wanted for _, bad in domain.excluded):
            return False
    return True


def contains(text: str, term: str) -> bool:
    """Whether a text has a term as words of its own."""
    if _CJK.search(term):
        return term in text
    return re.search(rf"(?<!\w){re.escape(term)}(?!\w)", text) is not None


def _least_words(domains: dict[str, Domain], phrases: set[str]) -> int:
    """How many words the required terms come to at least."""
    texts = (
        {str(value) for kind, value in domains[TERM].has if kind == "text"}
        if (TERM in domains)
        else set()
    )
    words = {word for text in texts | phrases for word in text.split() if not _CJK.search(word)}
    return sum(not any(word != other and word in other for other in words) for word in words)


def _counts_possible(domains: dict[str, Domain], phrases: set[str], spaced: bool) -> bool:
    if not any(name in MEASURES for name in domains):
        return True
    least = _least_words(domains, phrases)
    if least:
        domains = {**domains, "word": domains.get("word") or Domain(integer=True)}
        domains["word"].raise_low(least)
    every = {name: domains.get(name) or Domain(integer=True) for name in MEASURES}
    for domain in every.values():
        domain.raise_low(0)
    if any("." in name for name in domains):
        # A rule about each sentence or paragraph speaks of a text that has one.
        every["sentence"].raise_low(1)
        every["paragraph"].raise_low(1)
    if not _parts_possible(every, spaced):
        return False
    values: dict[str, float] = dict.fromkeys(MEASURES, _TOP)
    limits = _limits(every, spaced)
    for _ in range(500):
        before = dict(values)
        for name in MEASURES:
            limit = min([_TOP, *(rule(values) for rule in limits.get(name, ()))])
            found = every[name].top(limit)
            if found is None:
                return False
            values[name] = min(found, _TOP)
        if values == before:
            return True
    return False


def _parts_possible(d: dict[str, Domain], spaced: bool) -> bool:
    """The limits of one sentence and one paragraph against each other; it tightens them."""
    sentence, paragraph, inside = d["sentence.word"], d["paragraph.word"], d["paragraph.sentence"]
    letters = 2 * sentence.low - 1 if spaced else sentence.low
    if letters > d["sentence.character"].high:
        return False
    inside.raise_low(-(-paragraph.low // sentence.high) if sentence.high else 0)
    inside.high = min(inside.high, _over(paragraph.high, sentence.low))
    paragraph.raise_low(inside.low * sentence.low)
    paragraph.high = min(paragraph.high, _times(inside.high, sentence.high))
    return inside.low <= inside.high and paragraph.low <= paragraph.high


def _limits(
    d: dict[str, Domain], spaced: bool
) -> dict[str, list[Callable[[dict[str, float]], float]]]:
    """For each count, functions that give its upper limit from the other counts."""
    sw, pw, ps = d["sentence.word"], d["paragraph.word"], d["paragraph.sentence"]
    sc = d["sentence.character"]
    return {
        "word": [
            lambda v: (v["character"] + 1) // 2 if spaced else v["character"],
            lambda v: v["token"],
            lambda v: _times(v["sentence"], sw.high),
            lambda v: _times(v["paragraph"], pw.high),
        ],
        "sentence": [
            lambda v: v["word"],
            lambda v: _over(v["word"], sw.low),
            lambda v: _over(v["character"], sc.low),
            lambda v: _times(v["paragraph"], ps.high),
        ],
        "paragraph": [
            lambda v: v["sentence"],
            lambda v: _over(v["word"], pw.low),
            lambda v: _over(v["sentence"], ps.low),
        ],
        "character": [lambda v: _times(v["sentence"], sc.high + 1)],
        "bullet": [lambda v: v["word"]],
        "section": [lambda v: v["word"]],
    }


def _times(one: float, other: float) -> float:
    return 0.0 if 0 in (one, other) else one * other


def _over(total: float, each: float) -> float:
    return total // each if each > 0 else INF


def minimal_conflicts(
    items: Sequence[T], fits: Callable[[Sequence[T]], bool]
) -> list[tuple[T, ...]]:
    """The smallest groups of items that do not fit together, small groups first.

    All groups of up to four are found; of larger ones, enough to take the contradiction away.
    """
    if fits(items):
        return []
    found: list[tuple[int, ...]] = []
    for size in range(1, min(4, len(items)) + 1):
        if math.comb(len(items), size) > _SUBSETS:
            break
        for group in combinations(range(len(items)), size):
            chosen = set(group)
            if any(chosen.issuperset(known) for known in found):
                continue
            if not fits([items[i] for i in group]):
                found.append(group)
    rest = list(range(len(items)))
    for group in found:
        if group[-1] in rest:
            rest.remove(group[-1])
    while not fits([items[i] for i in rest]):
        core = _shrink(rest, lambda some: fits([items[i] for i in some]))
        found.append(tuple(core))
        rest.remove(core[-1])
    return [tuple(items[i] for i in group) for group in found]


def _shrink(items: list[int], fits: Callable[[list[int]], bool]) -> list[int]:
    core = list(items)
    for item in items:
        without = [other for other in core if other != item]
        if not fits(without):
            core = without
    return core
