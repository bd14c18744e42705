"""Data inside a text: the lines of a log, a trace, a dump of keys and values.

A program wrote them and nobody can write them anew, so the rules of language do not read them.
Prose around them stays prose: ``The server sent {"a": 1, "b": 2} because the file was deleted.``
"""

from __future__ import annotations

import re
from typing import cast

from steguard.rules._words import token_at
from steguard.text.model import Kind, Sentence
from steguard.types import Hit

_RECORD = re.compile(
    r"""(?: File\ "[^"]{1,300}",\ line\ \d
        | Traceback\ \(most\ recent
        | [EWIDF]\d{4}\ \d\d:\d\d:\d\d
        | \[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d
        | \d\d:\d\d:\d\d[.,]\d{3}\b )""",
    re.VERBOSE,
)
_PAIR = re.compile(
    r"""["']\s{0,3}:\s{0,3}(?:["'{\[]|-?\d|true\b|false\b|null\b|None\b|True\b|False\b)"""
)
_SETTING = re.compile(r"(?<![\w-])[\w-]{1,40}=[^\s=]")
_SIGNS = ("=", '":', "':", '" :', ":0", ":1", ":2", ":3", ":4", ":5", 'File "', "Traceback")


def outside_data(sentence: Sentence, hit: Hit) -> bool:
    """Whether the hit is about prose: not in data, and not about a sentence that is mostly data."""
    for start, end in _ranges(sentence):
        if start <= hit.start and hit.end <= end:
            return False
        if 2 * (end - start) > hit.end - hit.start and hit.start <= start and end <= hit.end:
            return False
    return True


def holds_data(sentence: Sentence) -> bool:
    """Whether there is any data in the sentence."""
    text = sentence.text
    return any(sign in text for sign in _SIGNS) and bool(_ranges(sentence))


def _ranges(sentence: Sentence) -> list[tuple[int, int]]:
    known = sentence.cache.get("data")
    if known is None:
        known = sentence.cache["data"] = _find(sentence)
    return cast(list[tuple[int, int]], known)


def _is_protected(sentence: Sentence, offset: int) -> bool:
    """Whether the place is in a token that no rule reads and that counts as one word: a URL."""
    at = token_at(sentence, offset)
    return at < len(sentence.tokens) and sentence.tokens[at].kind is Kind.CODE


def _find(sentence: Sentence) -> list[tuple[int, int]]:
    text, offset = sentence.text, sentence.start
    if _RECORD.match(text):
        return [(offset, sentence.end)]
    ranges = []
    for pattern, least in ((_PAIR, 2), (_SETTING, 3)):
        places = [
            match.span()
            for match in pattern.finditer(text)
            if not _is_protected(sentence, offset + match.start())
        ]
        if len(places) >= least:
            # From the first key to the end of the last value.
            start, end = places[0][0], places[-1][1]
            while start and not text[start - 1].isspace():
                start -= 1
            while end < len(text) and not text[end].isspace():
                end += 1
            ranges.append((start + offset, end + offset))
    return ranges
