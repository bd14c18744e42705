"""Words of requests and of tool names: what they mean for the gate."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

import regex

from steguard import resources

_BLANK = regex.compile(r"[\s\p{Cf}]+")


def fold(text: str) -> str:
    """Text as it is compared: one form, no letter case, single blanks, no invisible signs."""
    return _BLANK.sub(" ", unicodedata.normalize("NFC", text)).strip().casefold()


MONTHS = {
    name: number
    for number, names in enumerate(
        "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|"
        "september sept sep|october oct|november nov|december dec".split("|"),
        start=1,
    )
    for name in names.split()
}

RELATIVE_DAYS = frozenset(
    """today tomorrow tonight yesterday monday tuesday wednesday thursday friday saturday sunday
    weekend next""".split()
)

STOP = frozenset(
    """a about above all also am an and any are as at be because been before but by can could did
    do does done down each every few for from get give had has have he her here him his how i if in
    into is it its just like make many me more most much my new no not now of off on once one only
    or other our out over own please same see she should so some such sure than that the their them
    then there these they this those through to too under until up us very was we were what when
    where which while who will with would you your yes need want let know tell using use via per
    monday tuesday wednesday thursday friday saturday sunday today tomorrow yesterday week month
    year day time hour hours minute minutes first last next total name number id ids""".split()
)


def word_groups(file: str) -> dict[str, frozenset[str]]:
    """The lines ``group: words`` of a data file; a group may have many lines."""
    found: dict[str, frozenset[str]] = {}
    for line in data_lines(file):
        name, _, words = line.partition(":")
        found[name] = found.get(name, frozenset()) | frozenset(words.split())
    return found


def data_lines(file: str) -> list[str]:
    """The lines of a data file, without comments."""
    lines = resources.data(file).read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """A word without its common endings, so that forms of one word are equal."""
    for ending, instead in (
        ("ies", "y"), ("ied", "y"), ("sses", "ss"), ("ings", ""), ("ing", ""), ("ed", ""),
        ("es", ""), ("s", ""), ("e", ""),
    ):  # fmt: skip
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: len(word) - len(ending)] + instead
            break
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "sl":
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word


@lru_cache(maxsize=1)
def _groups() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in data_lines("gate_nouns.txt"):
        group = frozenset(stem(word) for word in line.split())
        for one in group:
            found[one] = found.get(one, frozenset()) | group
    return found


def nouns_alike(word: str) -> frozenset[str]:
    """The stems of the words for things of the same kind, the word itself among them."""
    one = stem(word)
    return _groups().get(one, frozenset()) | {one}
