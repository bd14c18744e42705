"""Safety and note labels that open a block: "WARNING:", "**Note:**", "[!CAUTION]"."""

from __future__ import annotations

import re

from steguard.text.model import Token

LABELS = frozenset("warning caution note danger notice important tip".split())
_ALIASES = {"warnings": "warning", "cautions": "caution", "notes": "note"}
_COLONS = frozenset(":：—–-!")
ALERT = re.compile(r"\[!(note|tip|important|warning|caution)\][^\S\n]*", re.IGNORECASE)


def label_of(word: str) -> str | None:
    """The label that a lower-case word names, if it names one."""
    word = _ALIASES.get(word, word)
    return word if word in LABELS else None


def take_label(tokens: list[Token]) -> tuple[str, int] | None:
    """The label at the front and how many tokens it takes; 1 if it has no colon."""
    label = label_of(tokens[0].lower)
    if label is None:
        return None
    if len(tokens) == 1:
        return label, 1
    mark = tokens[1].text
    if mark in _COLONS and (mark != "!" or tokens[0].text.isupper()):
        return label, 2
    return None
