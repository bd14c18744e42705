"""A Latin abbreviation.

Finds: ``e.g.``, ``i.e.``, ``etc.``, ``viz.``, ``cf.``, ``N.B.`` and ``et cetera``. ``vs.``,
``a.m.``, ``et al.`` in a reference, and ``via`` are not meant.

Why: Many readers mix up ``e.g.`` and ``i.e.``, and ``etc.`` leaves the list open.

Example: ``Use a tool, e.g. a wrench.``

Instead: ``Use a tool, for example a wrench.``

Fix: Safe for ``e.g.``, ``i.e.``, ``viz.`` and ``N.B.``, unsafe for ``cf.``. None for ``etc.``:
only the writer knows the other items.

Source: steguard's own.
"""

from __future__ import annotations

from steguard.rules._lists import PhraseFinder, phrase_index
from steguard.rules._words import after, in_quotes
from steguard.rules.base import Rule
from steguard.text.inflect import capital
from steguard.text.model import Kind, Sentence
from steguard.types import Edit, Hit, Safety, Status

_USE = {
    "e.g.": "for example",
    "e.g": "for example",
    "eg": "for example",
    "i.e.": "that is",
    "i.e": "that is",
    "ie": "that is",
    "viz": "namely",
    "cf": "refer to",
    "n.b.": "note:",
    "etc": "",
    "et cetera": "",
    "&c": "",
}
_NEED_COMMA_OR_STOP = frozenset(["eg", "ie"])
_STOPPED = frozenset(["etc", "viz", "cf", "eg", "ie", "e.g", "i.e"])


def _accept(sentence: Sentence, at: int, end: int) -> bool:
    token = sentence.tokens[at]
    if token.kind is Kind.CODE or in_quotes(sentence, at):
        return False
    if token.lower in _NEED_COMMA_OR_STOP:
        return token.text.islower() and after(sentence, end) in (",", ".", ":")
    if token.lower == "cf":
        return token.text != "CF" and after(sentence, end) == "."
    return True


def _make(sentence: Sentence, at: int, end: int, phrase: str) -> Hit:
    tokens = sentence.tokens
    last = len(tokens) - 1
    while last > end and tokens[last].text in ('"', ")", "”", "'"):
        last -= 1
    if tokens[at].lower in _STOPPED and after(sentence, end) == "." and end < last:
        end += 1
    start, stop = tokens[at].start, tokens[end - 1].end
    text = sentence.text[start - sentence.start : stop - sentence.start]
    good = _USE[phrase]
    if not good:
        return Hit(start, stop, f"'{text}' leaves the list open. Name all the items.",
                   "Name all the items.", safety=Safety.NONE)  # fmt: skip
    if good == "that is" and after(sentence, end) not in (",", ":"):
        good += ","
    if tokens[at].text[0].isupper():
        good = capital(good)
    if good.endswith(":") and after(sentence, end) in (":", ","):
        good = good[:-1]
    return Hit(
        start,
        stop,
        f"'{text}' is a Latin abbreviation. Write '{good.rstrip(',:')}'.",
        good.rstrip(",:"),
        (Edit(start, stop, good),),
        Safety.UNSAFE if phrase == "cf" else None,
    )


_INDEX = phrase_index(_USE)

RULE = Rule(
    code="SG108",
    name="latin-abbreviation",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.SAFE,
    source="steguard",
    make=lambda options: PhraseFinder(_INDEX, _accept, _make),  # noqa: ARG005 - no options
    module=__name__,
    prompt=lambda options: "Do not use Latin abbreviations.",  # noqa: ARG005 - no options
)
