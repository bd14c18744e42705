"""Finds actions that a noun hides.

Finds: an empty verb ("perform", "make", "conduct", "give", "do") with a noun that names an
action ("perform an inspection of", "make a decision"). The noun alone is no fault: "the
inspection is complete", "the test has two steps".

Why: a verb shows the action. A noun makes the sentence longer and hides the action behind an
empty verb.

Example: Perform an inspection of the filter.

Instead: Inspect the filter.

Fix: unsafe: the verb takes the place of the phrase, where a preposition and an object follow
and no adjective stands before the noun.

Source: STE 3.7
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from steguard.rules.base import PerSentence, Rule
from steguard.text.model import Sentence
from steguard.text.verbs import DATA, third, verbs, word_set
from steguard.text.wordclass import ADJ, ADV, DET, NUM, PART, classes
from steguard.types import Edit, Hit, Safety, Status

_EMPTY = word_set("perform conduct make do give undertake accomplish execute effect")
_ONLY = {
    "make": word_set(
        "adjustment agreement alteration analysis announcement arrangement assessment attempt "
        "calculation change choice comparison conclusion correction decision determination "
        "discovery estimate improvement modification observation payment preparation "
        "recommendation selection measurement mention"
    ),
    "give": frozenset(["description", "explanation", "demonstration", "summary", "estimate"]),
    "do": word_set(
        "analysis assessment calculation calibration comparison evaluation examination inspection "
        "investigation measurement review validation verification search"
    ),
    "execute": frozenset(["verification", "validation", "inspection"]),
}


@cache
def _table() -> dict[str, tuple[str, frozenset[str]]]:
    table = {}
    for line in (DATA / "nominals.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#") or not line:
            continue
        noun, _, rest = line.partition(" = ")
        verb, _, after = rest.partition(" | ")
        table[noun] = (verb, frozenset(after.split()))
    return table


@cache
def _empty_verbs() -> dict[str, tuple[str, str]]:
    """The base and the form of an empty verb, by the form as it is written."""
    table: dict[str, tuple[str, str]] = {}
    for base in _EMPTY:
        verb = verbs()[base]
        table |= dict.fromkeys((*verb.past, *verb.participle), (base, "past"))
        table |= {verb.third: (base, "third"), verb.ing: (base, "ing"), base: (base, "base")}
    return table


def _inflected(base: str, form: str) -> str:
    verb = verbs().get(base)
    if form == "third":
        return third(base)
    if verb is None or form == "base":
        return base
    return verb.ing if form == "ing" else verb.past[0]


def _check(sentence: Sentence) -> Iterator[Hit]:
    table, lowers, tokens = _table(), sentence.lowers, sentence.tokens
    for at, word in enumerate(lowers):
        entry = table.get(word)
        if entry is None or at < 1:
            continue
        first = at - 1
        plain = True
        while first >= 0 and at - first < 5 and _belongs(lowers[first]):
            plain = plain and lowers[first] in ("a", "an", "the")
            first -= 1
        if first < 0 or (first == at - 1 and lowers[first] not in ("perform", "conduct")):
            continue
        empty = _empty_verbs().get(lowers[first])
        if empty is None or word not in _ONLY.get(empty[0], table):
            continue
        verb, prepositions = entry
        following = lowers[at + 1] if at + 1 < len(lowers) else ""
        text = _inflected(verb, empty[1])
        end = tokens[at].end
        edits: tuple[Edit, ...] = ()
        if tokens[first].text[0].isupper():
            text = text[0].upper() + text[1:]
        if plain and following in prepositions and at + 2 < len(tokens):
            end = tokens[at + 1].end
            edits = (Edit(tokens[first].start, end, text),)
        yield Hit(
            tokens[first].start,
            end,
            f"'{tokens[at].text}' hides the verb '{verb}'. Use the verb.",
            text,
            edits,
            Safety.UNSAFE if edits else Safety.NONE,
        )


def _belongs(word: str) -> bool:
    mask = classes(word)
    return bool(mask & (DET | ADJ | NUM | PART | ADV)) and word not in _empty_verbs()


RULE = Rule(
    code="STE307",
    name="nominalisation",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.UNSAFE,
    source="STE 3.7",
    make=lambda _: PerSentence(_check, frozenset(_table())),
    module=__name__,
)
