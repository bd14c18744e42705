"""Which language a text is in: by its script, and within a script by its frequent words.

Scripts that one language uses nearly alone decide at once. For Latin, Cyrillic, Arabic,
Devanagari and a few more, each word of the text votes for the languages that have it in their
list of frequent words, word endings and letters. A vote weighs more the fewer languages share it.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

_TABLE = Path(__file__).parents[2] / "data" / "language_words.tsv"
_SAMPLE = 20_000
_WORD_LENGTH = 3  # letters of an alphabet that one Chinese or Japanese character stands for
_ENDINGS = range(2, 7)
_ENDING_WEIGHT, _LETTER_WEIGHT = 0.4, 0.4

_SINGLE_SCRIPTS = {
    "GUJARATI": "gu",
    "GURMUKHI": "pa",
    "TAMIL": "ta",
    "TELUGU": "te",
    "KANNADA": "kn",
    "MALAYALAM": "ml",
    "SINHALA": "si",
    "ORIYA": "or",
    "THAI": "th",
    "LAO": "lo",
    "KHMER": "km",
    "MYANMAR": "my",
    "TIBETAN": "bo",
    "GEORGIAN": "ka",
    "ARMENIAN": "hy",
    "GREEK": "el",
    "HANGUL": "ko",
    "ETHIOPIC": "am",
}
_SHARED_SCRIPTS = {
    "LATIN": "en es pt fr de it nl sv da no fi pl cs hu ro tr id vi sw tl hr",
    "CYRILLIC": "ru uk bg sr mk",
    "ARABIC": "ar fa ur",
    "DEVANAGARI": "hi mr ne",
    "HEBREW": "he yi",
    "BENGALI": "bn as",
    "KANA": "ja",
    "CJK": "zh ja",
}
_ALIASES = {"nb": "no", "nn": "no", "iw": "he", "in": "id", "fil": "tl", "jp": "ja"}
LANGUAGES = frozenset(_SINGLE_SCRIPTS.values()) | {
    code for codes in _SHARED_SCRIPTS.values() for code in codes.split()
}

_NO_PROSE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+|<[^<>\n]{1,200}>", re.DOTALL)


@dataclass
class _Votes:
    words: dict[str, dict[str, float]] = field(default_factory=dict)
    endings: dict[str, dict[str, float]] = field(default_factory=dict)
    letters: dict[str, dict[str, float]] = field(default_factory=dict)


def code_of(name: str) -> str | None:
    """The ISO 639-1 code that a code or a tag (``pt-BR``) stands for."""
    first = re.split(r"[-_]", name.strip().lower())[0]
    code = _ALIASES.get(first, first)
    return code if code in LANGUAGES else None


def detect(text: str) -> tuple[str, ...]:
    """The most probable language, with those that have the same score; empty if unknown."""
    prose = _NO_PROSE.sub(" ", _sample(text)).lower()
    script = _script(prose)
    if script is None:
        return ()
    if script in _SINGLE_SCRIPTS:
        return (_SINGLE_SCRIPTS[script],)
    candidates = tuple(_SHARED_SCRIPTS[script].split())
    if script == "KANA" or len(candidates) == 1:
        return candidates[:1]
    if script == "CJK":
        return ("zh",)
    scores = _scores(prose, candidates)
    best = max(scores.values(), default=0.0)
    if best == 0:
        return candidates
    return tuple(code for code in candidates if scores[code] >= best - 1e-9)


def _sample(text: str) -> str:
    """A long text is judged by its start, its middle and its end."""
    if len(text) <= 3 * _SAMPLE:
        return text
    middle = len(text) // 2
    return "\n".join((text[:_SAMPLE], text[middle : middle + _SAMPLE], text[-_SAMPLE:]))


def _script(text: str) -> str | None:
    """The script of most letters; Chinese characters between kana are Japanese."""
    counts: Counter[str] = Counter()
    for char, number in Counter(text).items():
        if char.isalpha():
            script = _script_of(char)
            counts[script] += number * (_WORD_LENGTH if script in ("CJK", "KANA") else 1)
    counts.pop("", None)
    if not counts:
        return None
    if counts["KANA"] and counts["KANA"] * 8 >= counts["CJK"]:
        counts["KANA"] += counts.pop("CJK", 0)
    return counts.most_common(1)[0][0]


@cache
def _script_of(char: str) -> str:
    first = unicodedata.name(char, "").split(" ", 1)[0]
    if first in ("HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"):
        return "KANA"
    return first if first in _SINGLE_SCRIPTS or first in _SHARED_SCRIPTS else ""


def _scores(text: str, candidates: tuple[str, ...]) -> dict[str, float]:
    votes = _votes(candidates)
    scores: dict[str, float] = dict.fromkeys(candidates, 0.0)
    words = Counter(_words(text))
    for word, number in words.items():
        shares = [votes.words.get(word)]
        shares += [votes.endings.get(word[-size:]) for size in _ENDINGS if len(word) > size]
        shares += [votes.letters.get(char) for char in set(word)]
        for share in shares:
            for code, weight in (share or {}).items():
                scores[code] += weight * number
    return scores


def _words(text: str) -> list[str]:
    """Runs of letters and combining marks; an apostrophe or a joiner can stand inside."""
    kept = (char if _in_word(char) else " " for char in text.replace("’", "'"))
    return "".join(kept).split()


@cache
def _in_word(char: str) -> bool:
    return char.isalpha() or char in _INSIDE or unicodedata.category(char) in _MARKS


_INSIDE = frozenset("'\u200c¿¡")
_MARKS = frozenset({"Mn", "Mc"})


@cache
def _votes(candidates: tuple[str, ...]) -> _Votes:
    """The table of one script, each entry weighted by how few languages share it."""
    votes = _Votes()
    for code, entries in _table().items():
        if code in candidates:
            for entry in entries:
                if entry[0] == "-" and len(entry) > 1:
                    votes.endings.setdefault(entry[1:], {})[code] = _ENDING_WEIGHT
                elif entry[0] == "=" and len(entry) > 1:
                    votes.letters.setdefault(entry[1:], {})[code] = _LETTER_WEIGHT
                else:
                    votes.words.setdefault(entry, {})[code] = 1.0
    for group in (votes.words, votes.endings, votes.letters):
        for share in group.values():
            rarity = 1 + math.log(len(candidates) / len(share))
            for code in share:
                share[code] *= rarity
    return votes


@cache
def _table() -> dict[str, frozenset[str]]:
    table = {}
    for line in _TABLE.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            code, _, words = line.partition("\t")
            table[code] = frozenset(words.split())
    return table
