"""How phrases are kept out: which word goes, or which two words must not be neighbours."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise

from steguard.decode.kinds import Kind, kind_of
from steguard.text.verbs import word_set
from steguard.text.wordclass import (
    ADV,
    BE,
    CONJ,
    DET,
    HAVE,
    MODAL,
    NOT,
    PREP,
    PRON,
    SUB,
    TO,
    classes,
)


def choose(
    phrases: Iterable[tuple[str, ...]], allowed: set[str], keep: frozenset[str]
) -> tuple[set[str], dict[str, set[str]]]:
    """The words that stay, and the forbidden neighbours by first word.

    A phrase can never stand where one of its words is gone, or one pair of its neighbours is
    forbidden. The cheapest of these is taken. Words in ``keep`` are not taken out.
    """
    allowed = set(allowed)
    pairs: dict[str, set[str]] = defaultdict(set)
    for parts in sorted(phrases, key=lambda parts: (len(parts), parts)):
        if len(parts) < 2 or not all(part in allowed for part in parts):
            continue
        neighbours = list(pairwise(parts))
        if any(second in pairs.get(first, ()) for first, second in neighbours):
            continue
        if any(_never_side_by_side(*pair) for pair in neighbours):
            continue
        longer = 2 if len(parts) > 2 else 0
        costs = {pair: _cost(pair, pairs.get(pair[0]), longer) for pair in neighbours}
        first, second = min(neighbours, key=costs.__getitem__)
        word = min(parts, key=lambda part: (_price(part), -len(part)))
        if word not in keep and _price(word) < costs[first, second]:
            allowed.discard(word)
        else:
            pairs[first].add(second)
    return allowed, {first: seconds for first, seconds in pairs.items() if first in allowed}


_PARTICLES = word_set(
    "up out off down back away apart over aside ahead across around through together on about along"
)
_INSIDE = _PARTICLES | word_set("in into for at with after by to")
_TO_OF_THAT = word_set("to of that")
_FREQUENT = word_set(
    "number time times part point change changes help use uses other same next more most large"
    " small program computer machine any see make makes set take takes look some one new user users"
    " well"
    " put puts bring brings come comes end ends try keep keeps go goes fill fills great"
    " good thing things way order reason general present current level first account result process"
    " sure like now rule total say range"
)
_SPARE = word_set(
    "luck extent forth fair per few moment degree basis intervals whenever wherever whether"
    " questions less hesitate potential chatbot llm heights thought later principle theory else"
    " others honest happy feel thanks assistant cutting future possible stated mentioned tuned"
    " vibrant"
)
"""A text can do without these."""


def _never_side_by_side(first: str, second: str) -> bool:
    """Whether the contexts forbid the pair already: "have to", "need to"."""
    return second == "to" and kind_of(first) is Kind.AUX


def _price(word: str) -> int:
    """What it costs a text to do without the word."""
    if word in _SPARE:
        return 1
    if word in _CORE:
        return 1000
    common = DET | PREP | CONJ | SUB | TO | PRON | BE | MODAL | HAVE | NOT
    return 40 if classes(word) & common or word in _FREQUENT else 6


def _cost(pair: tuple[str, str], others: set[str] | None, longer: int) -> int:
    """What it costs to forbid a pair. ``others`` must not follow the first word already; they
    should be of one group with the second. ``longer`` is added for a function word: "range of" is
    much of the language and "a wide range of" little, so there "wide range" goes."""
    first, second = pair
    if others and not any({second} | others <= group for group in _FAMILIES):
        return 35
    if kind_of(first) in _KEEPS_CONTEXT or first in _CORE:
        return 99
    cost = 12 if _is_function(first) else 2
    if second in _TO_OF_THAT or second in _INSIDE:
        return cost + longer
    if second in _HEADS:
        return cost + 40
    return cost + (8 if _is_function(second) else 1)


_FAMILIES = (_TO_OF_THAT, _INSIDE)
_CORE = word_set(
    "the a an and or to of in for by at as if is are it with on be not you this that from"
)
_HEADS = word_set("the a an is are it you this with on")
_KEEPS_CONTEXT = frozenset(
    (Kind.BE, Kind.AUX, Kind.JOIN, Kind.ASKED, Kind.WHEN, Kind.ING, Kind.TO, Kind.PHRASE)
)
"""After these the next word depends on more than a pair."""


def _is_function(word: str) -> bool:
    return bool(classes(word) & (DET | PREP | CONJ | SUB | PRON | MODAL | NOT | ADV))


(
    TO_ONLY,
    OF_THAT,
    PARTICLE,
    INSIDE,
    AFTER_FUNCTION,
    OTHER,
    OTHER_FUNCTION,
    NUMBER,
) = range(1, 9)
"""The groups of forbidden pairs: by the second word, else by the first. Each group is a context of
its own in the grammar, so a few large ones beat many small. A number forbids a number after it,
which would be no English."""


def _group_of(first: str, seconds: set[str]) -> int:
    if seconds <= _TO_OF_THAT:
        return TO_ONLY if seconds == {"to"} else OF_THAT
    if seconds <= _INSIDE:
        return PARTICLE if seconds <= _PARTICLES else INSIDE
    if _is_function(first):
        return AFTER_FUNCTION
    return OTHER_FUNCTION if any(map(_is_function, seconds)) else OTHER


_ALWAYS = {
    OF_THAT: _TO_OF_THAT,
    PARTICLE: _PARTICLES,
    INSIDE: _INSIDE,
}


def groups_of(pairs: dict[str, set[str]]) -> dict[int, tuple[set[str], set[str]]]:
    """The first words and the second words of each group. In a group each first forbids each
    second, which is a little more than the phrases ask."""
    groups: dict[int, tuple[set[str], set[str]]] = {}
    for first, seconds in pairs.items():
        number = _group_of(first, seconds)
        firsts, all_seconds = groups.setdefault(number, (set(), set(_ALWAYS.get(number, ()))))
        firsts.add(first)
        all_seconds |= seconds
    return groups
