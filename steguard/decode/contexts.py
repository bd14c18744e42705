"""What can stand beside what in a sentence: a small automaton over kinds of words.

A context is what the words before say about the next one. After "is", for example, no participle
can come, however many adverbs stand between. Each context forbids a little more than the rule
that it serves finds, so that what the grammar writes passes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from steguard.decode.kinds import Kind
from steguard.decode.lexis import Word
from steguard.decode.pairs import (
    AFTER_FUNCTION,
    NUMBER,
    OF_THAT,
    TO_ONLY,
)


class Mode(Enum):
    """What the first word makes of the sentence."""

    __hash__ = object.__hash__  # Members are single, and this is the quick one.

    STATEMENT = "s"
    COMMAND = "c"  # "and" must not join a second command, and no condition can follow


class At(Enum):
    """Where in a sentence the next word stands. The value is part of rule names."""

    __hash__ = object.__hash__  # Members are single, and this is the quick one.

    FREE = "f"
    OPEN = "o"  # after "the", "of": free, but a sentence cannot end here
    BE = "b"  # after is, are, was: a state closes the clause
    AUX = "x"  # after be, have, get and adverbs
    CHAIN = "h"  # after "is slowly", "is short": the chain goes on or ends
    AUX_PREP = "xp"  # after "is in": "is in fact closed"
    STATE = "st"  # after "is closed": only the end or a comma
    STATE_COMMA = "sc"  # after "is closed,": no other participle
    ING = "g"  # after a noun in -ing: no object
    JOINED = "j"  # after "and" in an instruction: no command
    JOINED_NOUN = "jn"  # after a noun that can be a command: no object
    ASKED = "k"  # after "when the valve": "is" opens a question
    ASKING = "n"  # right after "when", "how"
    COMMA = "a"  # after the comma of such a clause: "is" opens a question
    QUESTION_BE = "v"  # after "when the valve is"
    QUESTION_AUX = "w"  # after "when you have" and "when the valve is slowly"
    QUESTION = "q"  # the words after that: no participle up to the comma


_OPEN_ENDED = frozenset(
    (
        At.OPEN,
        At.BE,
        At.AUX,
        At.AUX_PREP,
        At.STATE_COMMA,
        At.JOINED,
        At.QUESTION_BE,
        At.QUESTION_AUX,
        At.ASKING,
    )
)
_OBJECTS = frozenset((Kind.DET, Kind.PRON, Kind.POINT, Kind.PERSON))
_ADVERBS = frozenset((Kind.ADVERB, Kind.AMOUNT, Kind.SLOW))
_AFTER_ING = _OBJECTS | {Kind.AMOUNT, Kind.SUB}
_CHAIN = frozenset(
    (
        At.BE,
        At.AUX,
        At.CHAIN,
        At.AUX_PREP,
        At.QUESTION_BE,
        At.QUESTION_AUX,
        At.QUESTION,
        At.STATE_COMMA,
    )
)


_QUESTION = frozenset((At.QUESTION_BE, At.QUESTION_AUX, At.QUESTION))
_VERBS = frozenset((At.BE, At.AUX, At.CHAIN, At.QUESTION_BE, At.QUESTION_AUX))


@dataclass(frozen=True)
class Context:
    """Where the next word stands, or the forbidden pair that the last word opened."""

    at: At = At.FREE
    pair: int = 0
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.at, self.pair)))

    def __hash__(self) -> int:
        return self._hash

    @property
    def name(self) -> str:
        return self.at.value + (f"{self.pair}" if self.pair else "")

    @property
    def closes(self) -> bool:
        """Whether the sentence can end here."""
        return self.at not in _OPEN_ENDED

    @property
    def pauses(self) -> bool:
        """Whether a comma can follow. "is, however, closed" is one verb, so not in a chain."""
        return self.closes and self.at is not At.CHAIN


FREE = Context()


def step(context: Context, word: Word, mode: Mode) -> Context | None:
    """The context after the word, or None where the word cannot stand.

    A word that opens a forbidden pair does not stand where the next word depends on more.
    """
    if context.pair and context.pair in word.second:
        return None
    at = _place(context.at, word, mode)
    return None if at is None else _opened(at, word)


def _opened(at: At, word: Word) -> Context | None:
    if at is At.FREE and not word.ending:
        at = At.OPEN
    if at is At.STATE:  # Only a mark can follow, so no pair can come of it.
        return Context(at)
    if word.first and at is not At.FREE and word.first not in _KEPT.get(at, ()):
        return None
    return Context(at, word.first)


_KEPT = {
    At.OPEN: (AFTER_FUNCTION, NUMBER),
    At.ASKED: (TO_ONLY, OF_THAT),
    At.QUESTION: (OF_THAT,),
}
"""The forbidden pairs that a place other than the free one remembers: what texts need."""


def after_comma(context: Context) -> Context:
    """The context after a word and a comma."""
    if context.at is At.STATE:
        return Context(At.STATE_COMMA)
    return Context(At.COMMA) if context.at in (At.ASKED, At.QUESTION) else FREE


def _place(at: At, word: Word, mode: Mode) -> At | None:
    kind = word.kind
    if at is At.STATE:
        return None
    if kind in (Kind.PART, Kind.STATE, Kind.ING) and at in _CHAIN:
        state = at in (At.BE, At.QUESTION_BE) and kind is Kind.STATE
        return At.STATE if state else None
    if at in _VERBS:
        if kind in _ADVERBS:
            return At.QUESTION_AUX if at in _QUESTION else At.CHAIN
        if kind in (Kind.BE, Kind.AUX, Kind.ASKED, Kind.WHEN):
            return None
    if at in (At.BE, At.AUX, At.CHAIN):
        if kind is Kind.PREP:
            return At.AUX_PREP
        if at is At.AUX and kind is Kind.TO:
            return None
    if at is At.AUX_PREP and kind in _ADVERBS:
        return At.CHAIN
    if at in (At.BE, At.AUX, At.CHAIN, At.AUX_PREP) and kind is Kind.PHRASE:
        return At.CHAIN
    if at is At.STATE_COMMA and kind in _ADVERBS | {Kind.JOIN, Kind.OR}:
        return at
    if at is At.ING and kind in _AFTER_ING:
        return None
    if mode is Mode.COMMAND and kind in (Kind.IF, Kind.WHEN):
        return None
    if at is At.JOINED:
        found = _after_join(word)
        if found is not At.FREE:
            return found
    if at is At.JOINED_NOUN and (kind in _OBJECTS or kind is Kind.AMOUNT):
        return None
    if at is At.COMMA and kind is Kind.BE:
        return None
    if at in (At.ASKING, At.ASKED) and kind is Kind.ING:
        return None
    if at in (At.ASKING, At.ASKED) and kind is Kind.JOIN:
        return None if at is At.ASKING else at
    if at in _QUESTION:
        return _in_question(at, kind, mode)
    return _plain(at, kind, mode)


def _after_join(word: Word) -> At | None:
    """Where the word after "and" leaves an instruction; FREE where "and" says nothing."""
    kind = word.kind
    if kind in (Kind.VERB, Kind.ASKS, Kind.DO, Kind.AUX, Kind.JOIN, Kind.ASKED):
        return None
    if kind in (Kind.PART, Kind.STATE):
        return None if word.verb else At.JOINED_NOUN
    if kind in (Kind.ADVERB, Kind.AMOUNT):
        return At.JOINED
    if kind in (Kind.VERBAL, Kind.PHRASE):
        return At.JOINED_NOUN
    if word.verb:
        return None
    return At.FREE


def _in_question(at: At, kind: Kind, mode: Mode) -> At | None:
    if kind in (Kind.ASKED, Kind.WHEN) or (kind is Kind.JOIN and mode is Mode.COMMAND):
        return None
    if kind is Kind.AUX:
        return At.QUESTION_AUX
    if kind is Kind.TO and at is At.QUESTION_AUX:
        return None
    return At.QUESTION_BE if kind is Kind.BE else At.QUESTION


def _plain(at: At, kind: Kind, mode: Mode) -> At:
    """The place that the word itself opens."""
    if kind in (Kind.ASKED, Kind.WHEN):
        return At.ASKING
    if kind is Kind.BE:
        return At.QUESTION_BE if at in (At.ASKING, At.ASKED) else At.BE
    if kind is Kind.AUX:
        return At.QUESTION_AUX if at in (At.ASKING, At.ASKED) else At.AUX
    if kind is Kind.ING:
        return At.ING
    if kind is Kind.JOIN and mode is not Mode.STATEMENT:
        return At.JOINED
    return At.ASKED if at in (At.ASKING, At.ASKED) else At.FREE


_NO_OPENERS = frozenset((Kind.BE, Kind.AUX, Kind.POINT, Kind.ING, Kind.MODAL, Kind.OR, Kind.JOIN))
_COMMAND_OPENERS = frozenset(
    (Kind.VERB, Kind.DO, Kind.ASKS, Kind.SUB, Kind.IF, Kind.WHEN, Kind.ASKED, Kind.TO)
)
_MAYBE_COMMANDS = frozenset((Kind.VERBAL, Kind.SLOW, Kind.PART, Kind.STATE, Kind.PHRASE))
COMMANDS = _MAYBE_COMMANDS | {Kind.VERB, Kind.ASKS, Kind.DO}
"""Kinds that can open a command, where the word is a verb."""


def opening(word: Word, *, first: bool) -> tuple[Mode, Context] | None:
    """The mode and context that the first word of a sentence gives, or None where it cannot open.

    A mode is only sure for a word that is no adverb; :func:`reopens` says where to look again.
    ``first`` is true for the first sentence of a text, where "it" points to nothing.
    """
    kind = word.kind
    if kind is Kind.ADVERB and not reopens(word):
        return None
    if kind in _NO_OPENERS or (first and (kind is Kind.PERSON or word.filler)):
        return None
    mode = Mode.STATEMENT
    if kind in _COMMAND_OPENERS or (kind in _MAYBE_COMMANDS and word.verb):
        mode = Mode.COMMAND
    place = _plain(At.FREE, kind, mode)
    context = _opened(place, word)
    return None if context is None else (mode, context)


def reopens(word: Word) -> bool:
    """Whether the word leaves it open what the sentence is: "then", "carefully"."""
    return word.kind is Kind.ADVERB and not word.first and word.ending
