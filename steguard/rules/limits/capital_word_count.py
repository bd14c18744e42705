"""The text has a minimum or a maximum number of words in capital letters.

Finds: fewer words in capitals than `min` or more than `max`. A word is in capitals when it has a
letter and all its letters are capitals: `NASA`, `I`, `COVID-19`. A hyphenated group is one word.
A contraction is two words (`DO` + `N'T`), and so are the parts that `&` joins: this is the
published meaning of the capital word instruction in benchmarks.

Why: capitals are a strong signal, and a text with many of them is not easy to read.

Example: (max: 0) Do NOT open the valve.

Instead: Do not open the valve.

Fix: none. An abbreviation keeps its capitals, so the correct case is not known.

Source: steguard's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from steguard.rules.base import Rule
from steguard.rules.limits._limits import (
    Places,
    Range,
    count_hits,
    range_prompt,
    whole_text,
)
from steguard.text.model import Document
from steguard.types import Hit, Safety, Status

_CHUNK = re.compile(r"""(?:(?!--|\.\.)[^\s,;:!?()\[\]{}<>"“”«»…—@#$%&*`])+""")
_NOT = re.compile(r"(?<=\w)N['’]T$")
_TAIL = re.compile(r"(?<=\w)['’](?:S|M|D|LL|RE|VE)$")


def _find(document: Document, options: Range) -> Iterable[Hit]:
    return count_hits(options.bounds, _capitals(document.text), document, "word in capitals")


def _capitals(text: str) -> Places:
    for chunk in _CHUNK.finditer(text):
        word = chunk.group().strip(".'’‘")
        if not word.isupper():
            word, start = _head(word), chunk.start() + chunk.group().index(word or "")
            if word:
                yield start, start + len(word)
            continue
        start = chunk.start() + chunk.group().index(word)
        end = start + len(word)
        tail = _NOT.search(word) or _TAIL.search(word)
        if tail:
            yield start, start + tail.start()
            start += tail.start()
        yield start, end


def _head(word: str) -> str:
    """The part in capitals before a lower-case ending: ``NASA`` in ``NASA's``."""
    tail = _SMALL_TAIL.search(word)
    head = word[: tail.start()] if tail else ""
    return head if head.isupper() else ""


_SMALL_TAIL = re.compile(r"(?<=\w)(?:n['’]t|['’](?:s|m|d|ll|re|ve))$")


RULE = Rule(
    code="LIM109",
    name="capital-word-count",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="steguard",
    make=whole_text(_find),
    module=__name__,
    options=Range,
    languages=frozenset(),
    prompt=range_prompt("word", " in capital letters.", "Do not write words in capital letters."),
)
