"""Finds noun clusters that are too long.

Finds: more than `max` nouns in a row ("fuel pump inlet filter housing"), in list items, headings
and table cells too. A word in hyphens is one noun. A name in capitals, inline code and a
technical name of `allow` do not count.

Why: the reader must find out which noun describes which. Each more noun multiplies the
possibilities.

Example: Check the fuel pump inlet filter housing.

Instead: Check the housing of the inlet filter on the fuel pump.

Fix: none, because only the writer knows how the nouns are related.

Source: STE 2.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from pydantic import Field

from steguard.rules.base import Options, PerSentence, Rule
from steguard.text.model import Kind, Sentence
from steguard.text.pos import masks, tags
from steguard.text.verbs import word_set
from steguard.text.wordclass import (
    ADJ,
    ADV,
    BASE,
    CONJ,
    DET,
    ING,
    MARK,
    NOUN,
    PART,
    PREP,
    PRON,
    SUB,
    THIRD,
    classes,
    words,
)
from steguard.types import Hit, Safety, Status

_ENGLISH_ENDS = (
    "tion", "sion", "ment", "ness", "ity", "ance", "ence", "ship", "er", "or", "age", "ure", "ing",
    "ist", "ism", "ics", "gy", "ware", "ance", "line", "point", "ode",
)  # fmt: skip
_NO_PART = word_set(
    "lot lots kind kinds sort sorts type types thing things way ways time times day days week"
    " weeks month months year years today tomorrow yesterday thanks thank please ok okay hello hi"
    " bit number amount majority use need help lets etc vs pm am mr mrs ms dr st co inc ltd"
)
_ACTIVITIES = word_set(
    "banking bearing building ceiling engineering gearing heating housing landing learning lighting"
    " machining marketing parking piping planning plumbing processing routing scheduling shipping"
    " training wiring testing monitoring logging networking"
)


class NounClusterOptions(Options):
    """``max`` nouns in a row are permitted; each technical name in ``allow`` counts as one."""

    max: int = Field(3, ge=2, le=10)
    allow: tuple[str, ...] = ()


def _look(sentence: Sentence, options: NounClusterOptions, run: str) -> Iterable[Hit]:
    """Most sentences have no row of words that can be nouns: one look-up a word tells."""
    if len(sentence.lowers) < len(run):
        return ()
    if run not in "".join(map(_LETTERS.__getitem__, sentence.lowers)):
        return ()
    return _check(sentence, options)


def _check(sentence: Sentence, options: NounClusterOptions) -> Iterator[Hit]:
    possible = masks(sentence)
    if not _may_have_cluster(possible, sentence, options.max):
        return
    tag = tags(sentence)
    tokens, lowers = sentence.tokens, sentence.lowers
    names = [tuple(name.lower().split()) for name in options.allow]
    at, count = 0, len(tokens)
    while at < count:
        end = at
        while end < count and _is_part(sentence, tag, possible, at, end):
            end += 1
        length = end - at - _saved(lowers[at:end], names)
        if length > options.max and _is_english(lowers[at:end]):
            start, stop = tokens[at].start, tokens[end - 1].end
            cluster = sentence.text[start - sentence.start : stop - sentence.start]
            yield Hit(
                start,
                stop,
                f"The cluster '{cluster}' has {length} nouns. The maximum is {options.max}.",
                f"Divide the cluster: write 'the {lowers[end - 1]} of the ...'.",
            )
        at = max(end, at + 1)


_NEVER = ADV | PREP | DET | PRON | SUB | PART | MARK


class _Letters(dict[str, str]):
    """By word: ``n`` for what can be a part of a cluster, else a space; kept up to a limit."""

    def __missing__(self, word: str) -> str:
        mask = classes(word)
        if len(self) >= 60_000:
            self.clear()
        letter = self[word] = "n" if mask & NOUN and not mask & _NEVER else " "
        return letter


_LETTERS = _Letters()


def _may_have_cluster(possible: list[int], sentence: Sentence, most: int) -> bool:
    """A cheap look before the tagger: enough words in a row can be nouns."""
    run = 0
    for at, mask in enumerate(possible):
        if mask & NOUN and not mask & _NEVER:
            run += 1
            if (
                run > most
                and sum(t.text.islower() for t in sentence.tokens[at - most : at + 1]) >= most
            ):
                return True
        else:
            run = 0
    return False


def _is_part(sentence: Sentence, tag: list[int], possible: list[int], first: int, at: int) -> bool:
    """Whether the token goes on with the cluster that starts at ``first``."""
    token, mask = sentence.tokens[at], possible[at]
    if tag[at] != NOUN or token.kind is not Kind.WORD or not mask & NOUN or mask & _NEVER:
        return False
    word = token.lower
    if word in _NO_PART or "'" in word or "’" in word or len(word) < 2:
        return False
    if not token.text.islower() and not (at == 0 and token.text[1:].islower()):
        return False
    if at == first:
        return not (mask & BASE and at and possible[at - 1] & (MARK | CONJ))
    if sentence.text[token.start - sentence.start - 1] not in " \n":
        return False
    before = possible[at - 1]
    # A plural or a form in -s before another noun is often the end of a subject.
    if before & THIRD or (mask & (BASE | THIRD | ADJ | ADV | PREP) and _may_be_verb(sentence, at)):
        return False
    if possible[at - 1] & ING and sentence.lowers[at - 1] not in _ACTIVITIES:
        return False
    return not mask & PART


def _may_be_verb(sentence: Sentence, at: int) -> bool:
    """Whether a noun that is a verb too stands where a verb can stand."""
    before = sentence.lowers[at - 1]
    return before.endswith("s") and not before.endswith(("ss", "us", "is", "ics"))


def _saved(run: list[str], names: list[tuple[str, ...]]) -> int:
    """How many words the technical names in the run save."""
    saved, at = 0, 0
    while at < len(run):
        size = max((len(n) for n in names if tuple(run[at : at + len(n)]) == n), default=1)
        saved += size - 1
        at += size
    return saved


def _is_english(run: list[str]) -> bool:
    """Whether most words are known: a run of unknown words is another language or a name."""
    table = words()
    known = sum(word in table or "-" in word or word.endswith(_ENGLISH_ENDS) for word in run)
    return known * 4 >= len(run) * 3


def _make(options: NounClusterOptions) -> PerSentence:
    return PerSentence(partial(_look, options=options, run="n" * (options.max + 1)))


RULE = Rule(
    code="STE201",
    name="noun-cluster",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="STE 2.1",
    make=_make,
    module=__name__,
    options=NounClusterOptions,
    prompt=lambda options: f"Do not write more than {options.max} nouns in a row.",
)
