"""The text has a minimum or a maximum number of words.

Finds: a text with fewer words than `min` or more words than `max`. A word is a run of letters,
digits and underscores, so `don't` and `well-known` are two words each; a Chinese or Japanese
character is one word. This is the published meaning of "at least N words" and "less than N
words" in instruction benchmarks. With `counting: ste` the words of the prose count as STE counts
them: a hyphenated group, a number with its unit and an identifier are one word, code is none.

Why: a display, a message queue or a prompt has space for a fixed quantity of text.

Example: (max: 4) The pump is in the cabinet.

Instead: Open the pump cabinet.

Fix: none. A person or a model decides which words are necessary.

Source: steguard's own. The STE count follows STE 8.4 to 8.7.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from steguard.rules.base import Rule
from steguard.rules.limits._limits import (
    CJK,
    Places,
    Range,
    count_hits,
    range_prompt,
    whole_text,
)
from steguard.text.model import Document, Kind
from steguard.types import Hit, Safety, Status

_WORD = re.compile(rf"[{CJK}]|[^\W{CJK}]+")


class WordCount(Range):
    counting: Literal["plain", "ste"] = Field(
        "plain", description="`plain`: runs of letters and digits; `ste`: as STE counts words."
    )


def _find(document: Document, options: WordCount) -> Iterable[Hit]:
    places = _ste(document) if options.counting == "ste" else _plain(document.text)
    return count_hits(options.bounds, places, document, "word")


def _plain(text: str) -> Places:
    return (word.span() for word in _WORD.finditer(text))


def _ste(document: Document) -> Places:
    """As many places as STE counts words; each stands at a word of its sentence."""
    for sentence in document.sentences:
        words = [t for t in sentence.tokens if t.kind is not Kind.PUNCT] or sentence.tokens
        total = sentence.words + sum(aside[2] for aside in sentence.asides)
        for index in range(total):
            token = words[min(index, len(words) - 1)]
            yield token.start, sentence.end if index == total - 1 else token.end


RULE = Rule(
    code="LIM101",
    name="word-count",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="steguard",
    make=whole_text(_find),
    module=__name__,
    options=WordCount,
    languages=frozenset(),
    prompt=range_prompt("word"),
)
