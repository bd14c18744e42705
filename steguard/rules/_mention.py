"""Quotations that name a text: a label, a message, a button.

``The screen shows the message "The file was deleted."`` quotes what another program wrote; the
writer cannot change it, and STE counts it as one word. Direct speech and other quotations stay
text that the rules read.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TypeVar, cast

from steguard.rules._words import QUOTE_MARKS, quoted
from steguard.text.inflect import word_set
from steguard.text.model import Sentence
from steguard.types import Hit

_NAMES = word_set(
    "word words text texts message messages label labels button buttons title titles string "
    "strings phrase phrases error errors status name names field fields option options menu menus "
    "item items link links term terms value values line lines query queries prompt prompts tab "
    "tabs caption captions heading headings section sections chapter chapters warning warnings "
    "sentence sentences command commands key keys tag tags entry entries checkbox icon dialog "
    "window screen page pages pattern patterns"
)


Owner = TypeVar("Owner")


def drop_mentioned(sentence: Sentence, found: list[tuple[Owner, Hit]]) -> list[tuple[Owner, Hit]]:
    """What is left without the hits in quotations that name a text."""
    if sentence.vocabulary.isdisjoint(QUOTE_MARKS) or not _places(sentence):
        return found
    return [pair for pair in found if not is_mentioned(sentence, pair[1])]


def is_mentioned(sentence: Sentence, hit: Hit) -> bool:
    """Whether the hit lies in a quotation that stands after the noun that it names."""
    places = _places(sentence)
    at = bisect_right(places, (hit.start, sentence.end + 1)) - 1
    return at >= 0 and places[at][0] <= hit.start and hit.end <= places[at][1]


def _places(sentence: Sentence) -> list[tuple[int, int]]:
    known = sentence.cache.get("mentioned")
    if known is None:
        known = sentence.cache["mentioned"] = [
            (sentence.tokens[first].start, sentence.tokens[last - 1].end)
            for first, last in quoted(sentence)
            if _is_name(sentence, first - 1)
        ]
    return cast(list[tuple[int, int]], known)


def _is_name(sentence: Sentence, at: int) -> bool:
    if at >= 0 and sentence.lowers[at] in (":", ","):
        at -= 1
    return at >= 0 and sentence.lowers[at] in _NAMES
