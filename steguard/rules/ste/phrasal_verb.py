"""Finds phrasal verbs.

Finds: a verb with a particle that together have a new meaning ("carry out", "set up", "figure
out"), in each form of the verb. The list is data; `allow` takes phrasal verbs out of it.

Why: the parts do not show the meaning of the whole, and many phrasal verbs have more than one
meaning. One verb has one meaning.

Example: Carry out the test.

Instead: Do the test.

Fix: unsafe: the verb of the list in the same form takes the place of the phrasal verb. Some
phrasal verbs need a different verb in their sentence.

Source: STE 9.3
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

from steguard.rules.base import Options, PerSentence, Rule
from steguard.text.model import Sentence
from steguard.text.pos import PROPER, masks, tags
from steguard.text.verbs import DATA, verbs
from steguard.text.wordclass import ADJ, ADV, BE, DET, GET, HAVE, NOT, NUM, PART, PREP, classes
from steguard.types import Edit, Hit, Safety, Status

_Entry = tuple[tuple[str, ...], str, str]


class PhrasalVerbOptions(Options):
    """``allow``: phrasal verbs in their base form that the rule lets pass ("set up")."""

    allow: tuple[str, ...] = ()


@cache
def _table() -> dict[str, list[_Entry]]:
    """By verb form: the particles, the base form of the replacement, and the phrasal verb."""
    table: dict[str, list[_Entry]] = {}
    for line in (DATA / "phrasal.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#") or not line:
            continue
        phrase, _, replacement = line.partition(" = ")
        base, *particles = phrase.split()
        verb = verbs()[base]
        for form in {base, verb.third, verb.ing, *verb.past, *verb.participle}:
            table.setdefault(form, []).append((tuple(particles), replacement, phrase))
    for entries in table.values():
        entries.sort(key=lambda entry: -len(entry[0]))
    return table


def forms(options: PhrasalVerbOptions) -> Iterator[tuple[str, ...]]:
    """Every form of every phrasal verb that the options do not allow, as tokens."""
    allow = {phrase.lower() for phrase in options.allow}
    for form, entries in _table().items():
        yield from ((form, *parts) for parts, _, phrase in entries if phrase not in allow)


@cache
def _particles() -> frozenset[str]:
    return frozenset(particles[0] for entries in _table().values() for particles, _, _ in entries)


def _inflected(replacement: str, base: str, form: str, participle: bool) -> str:
    """The replacement in the form that the phrasal verb has."""
    new, _, tail = replacement.partition(" ")
    old, verb = verbs()[base], verbs()[new]
    if participle and form in old.participle:
        new = verb.participle[0]
    elif form == old.third:
        new = verb.third
    elif form == old.ing:
        new = verb.ing
    elif form != base:
        new = verb.past[0] if form in old.past else verb.participle[0]
    return f"{new} {tail}".strip()


def _check(sentence: Sentence, options: PhrasalVerbOptions) -> Iterator[Hit]:
    if sentence.vocabulary.isdisjoint(_particles()):
        return
    table, lowers, tokens = _table(), sentence.lowers, sentence.tokens
    allow = {phrase.lower() for phrase in options.allow}
    for at, word in enumerate(lowers):
        entries = table.get(word)
        if entries is None:
            continue
        noun: bool | None = None
        for particles, replacement, phrase in entries:
            end = at + 1 + len(particles)
            if tuple(lowers[at + 1 : end]) != particles or phrase in allow:
                continue
            noun = _is_noun(sentence, at) if noun is None else noun
            if noun:
                break
            base = phrase.partition(" ")[0]
            text = _inflected(replacement, base, word, _is_participle(lowers, at))
            if tokens[at].text[0].isupper():
                text = text[0].upper() + text[1:]
            yield Hit(
                tokens[at].start,
                tokens[end - 1].end,
                f"'{phrase}' is a phrasal verb. Use one verb, for example '{text}'.",
                text,
                (Edit(tokens[at].start, tokens[end - 1].end, text),),
            )
            break


def _is_noun(sentence: Sentence, at: int) -> bool:
    """Whether the words before make a noun of the verb: "a look at", "A First Look at"."""
    if not at:
        return False
    before = tags(sentence)[at - 1]
    if before & PROPER:
        return bool(masks(sentence)[at - 1] & (DET | ADJ | NUM))
    return bool(before & (DET | ADJ | PART | PREP | NUM))


def _is_participle(lowers: list[str], at: int) -> bool:
    while at and classes(lowers[at - 1]) & (ADV | NOT) and not classes(lowers[at - 1]) & BE:
        at -= 1
    return bool(at and classes(lowers[at - 1]) & (BE | HAVE | GET))


def _make(options: PhrasalVerbOptions) -> PerSentence:
    return PerSentence(partial(_check, options=options), frozenset(_table()))


RULE = Rule(
    code="STE903",
    name="phrasal-verb",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.UNSAFE,
    source="STE 9.3",
    make=_make,
    module=__name__,
    options=PhrasalVerbOptions,
)
