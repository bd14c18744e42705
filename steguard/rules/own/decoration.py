"""Emoji, decorative symbols and rows of marks in a text.

Finds: Emoji and ornaments, ``!!!``, ``???`` and rows such as ``=====`` inside a sentence. Check
marks, arrows, ``°``, ``©``, mathematical signs and a status in a table cell (✅, ❌) carry meaning
and are not meant.

Why: A decoration gives no information, and a program reads it as data.

Example: ``Done!!! 🎉``

Instead: ``Done!``

Fix: Safe for emoji and rows of marks. Unsafe for signs that can be a status (✅, ❌, ⚠️).

Source: steguard's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from steguard.rules._words import in_quotes, token_at
from steguard.rules.base import PerSentence, Rule
from steguard.text.model import BlockKind, Kind, Sentence
from steguard.types import Edit, Hit, Safety, Status

# Joiners, skin tones and variation selectors belong to the emoji before them.
_EMOJI = re.compile(
    "(?:[\U0001f000-\U0001faff\u2605\u2606\u2618\u2620-\u2638\u2654-\u267f\u2692-\u26ff"
    "\u2702-\u2712\u271d\u2721-\u2729\u272a-\u2760\u2763-\u2767\u2795-\u2797\u27b0\u2b50\u2b55"
    "\u2600-\u2604\u23e9-\u23f3\u231a\u231b\u2b1b\u2b1c\u2705\u274c\u274e\u2728\u2764]"
    "[\ufe0f\u200d\u20e3\U0001f3fb-\U0001f3ff]*)+"
)
_KEPT = frozenset("✓✔✗✘☐☑☒→←↑↓↔⇒⇐°©®™±×÷≤≥≠≈∞√∑∆µ§¶†‡•")
_STATUS = frozenset("✅❌⚠✔🚫⛔🔴🟢🟡🟠🔵❎❗❓🛑")
_ROW = re.compile(r"([=~#-])\1{3,}")
_RUN = re.compile(r"[!?]{2,}")


def _is_loud(text: str) -> bool:
    return (
        (("!" in text or "?" in text) and _RUN.search(text) is not None)
        or "====" in text
        or "----" in text
        or "~~~~" in text
        or "####" in text
    )


def _look(sentence: Sentence) -> Iterable[Hit]:
    """Plain ASCII without a run of marks has no decoration."""
    text = sentence.text
    if text.isascii() and not _is_loud(text):
        return ()
    return (*_emoji(sentence), *_rows(sentence))


def _emoji(sentence: Sentence) -> Iterator[Hit]:
    text, first = sentence.text, sentence.start
    for match in _EMOJI.finditer(text):
        start, stop = match.span()
        if match[0][0] in _KEPT or _protected(sentence, start + first, stop + first):
            continue
        status = any(sign in match[0] for sign in _STATUS)
        if status and sentence.block.kind is BlockKind.TABLE_CELL:
            continue
        yield Hit(
            start + first,
            stop + first,
            f"The decoration '{match[0]}' gives no information. Remove it.",
            "Remove it.",
            _cut(sentence, start, stop),
            Safety.UNSAFE if status else Safety.SAFE,
        )


def _cut(sentence: Sentence, start: int, stop: int) -> tuple[Edit, ...]:
    """Take the decoration out with the space on one side, unless nothing else is there."""
    text = sentence.text
    if len(sentence.tokens) == 1 or (start == 0 and stop == len(text)):
        return ()
    if start and text[start - 1].isspace():
        while start and text[start - 1] in " \t":
            start -= 1
    else:
        while stop < len(text) and text[stop] in " \t":
            stop += 1
    return (Edit(start + sentence.start, stop + sentence.start, ""),)


def _rows(sentence: Sentence) -> Iterator[Hit]:
    first = sentence.start
    for index, token in enumerate(sentence.tokens):
        if token.kind is Kind.PUNCT and len(token.text) > 1 and _RUN.fullmatch(token.text):
            good = "?" if "?" in token.text else "!"
            if in_quotes(sentence, index):
                continue
            yield Hit(
                token.start,
                token.end,
                f"'{token.text}' gives no information. Write '{good}'.",
                good,
                (Edit(token.start, token.end, good),),
            )
    for match in _ROW.finditer(sentence.text):
        start, stop = match.span()
        if not _protected(sentence, start + first, stop + first) and _stands_apart(sentence, match):
            yield Hit(
                start + first,
                stop + first,
                f"The row '{match[0][:8]}' gives no information. Remove it.",
                "Remove it.",
                _cut(sentence, start, stop),
            )


def _stands_apart(sentence: Sentence, match: re.Match[str]) -> bool:
    """A row in a word (``a----b``) is no ornament."""
    text = sentence.text
    left = match.start() == 0 or text[match.start() - 1].isspace()
    right = match.end() == len(text) or text[match.end()].isspace()
    return left and right


def _protected(sentence: Sentence, start: int, stop: int) -> bool:
    index = token_at(sentence, start)
    if index >= len(sentence.tokens) or sentence.tokens[index].start >= stop:
        return False
    return sentence.tokens[index].kind in (Kind.CODE, Kind.WORD) or in_quotes(sentence, index)


RULE = Rule(
    code="SG110",
    name="decoration",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.SAFE,
    source="steguard",
    make=lambda options: PerSentence(_look),  # noqa: ARG005 - the rule has no options
    module=__name__,
    prompt=lambda options: "Do not use emoji or decorations.",  # noqa: ARG005 - no options
)
