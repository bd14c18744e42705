"""The words that a constrained answer can use, and what the grammar knows of each.

The words are those that steguard knows, or the approved words of a vocabulary, and the names of
the task. A word that a rule forbids is not among them; a phrase that a rule forbids gives pairs
of words that must not stand side by side.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from steguard.decode.kinds import Kind, kind_of, usable
from steguard.decode.pairs import choose, groups_of
from steguard.text.lexicon import (
    COMPANY,
    GENERAL,
    MONTHS,
    NEVER_LAST,
    NUMBERED,
    PLACES,
    TITLES,
    UNITS_WITH_STOP,
)
from steguard.text.verbs import word_set
from steguard.text.wordclass import (
    ADJ,
    ADV,
    BASE,
    CONJ,
    DET,
    NOT,
    NOUN,
    NUM,
    PREP,
    PRON,
    SUB,
    TO,
    classes,
)


@dataclass(frozen=True)
class Word:
    """What the grammar knows of a word: its kind and the forbidden pairs that it is part of."""

    kind: Kind
    first: int = 0
    second: frozenset[int] = frozenset()
    verb: bool = False
    ending: bool = True
    filler: bool = False
    name: bool = False
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Words are keys everywhere while a grammar is made.
        parts = (self.kind, self.first, self.second, self.verb, self.ending, self.filler, self.name)
        object.__setattr__(self, "_hash", hash(parts))

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True)
class Atom:
    """Words that the grammar does not tell apart, or a shape that counts as one word.

    ``heads`` are words that these words begin with. A model that wants to write "to" where it
    cannot would write "told": it begins with the same letters, and there is no way back. So a
    word stands only where its heads can.
    """

    word: Word
    heads: frozenset[Word] = frozenset()
    texts: tuple[str, ...] = ()
    shape: str = ""


@dataclass(frozen=True)
class Lexis:
    """The words of a grammar with their parts in forbidden pairs."""

    words: dict[str, Word]

    def atoms(self) -> list[Atom]:
        """The words by what the grammar knows of them and of their beginnings."""
        found: dict[tuple[Word, frozenset[Word]], list[str]] = defaultdict(list)
        short = {text: _head(word) for text, word in self.words.items() if _is_head(text, word)}
        for text, word in self.words.items():
            # "ready" is no trap for "read", but "puts" is one for "put".
            longest = len(text) if text.endswith("s") else len(text) - 1
            heads = (short.get(text[:size]) for size in range(2, longest))
            found[word, frozenset(h for h in heads if h and h.kind is not word.kind)].append(text)
        return [Atom(word, heads, tuple(texts)) for (word, heads), texts in found.items()]


def _is_head(text: str, word: Word) -> bool:
    """Whether a model often wants the word where it cannot stand."""
    return word.kind in (Kind.TO, Kind.BE, Kind.PART, Kind.STATE) or text == "of"


def _head(word: Word) -> Word:
    """What of a word decides where it can stand, as far as it is the head of another."""
    if word.kind in (Kind.PART, Kind.STATE):
        return Word(Kind.PART)
    return Word(word.kind, 0, word.second)


def build(
    candidates: Iterable[str],
    phrases: Iterable[tuple[str, ...]],
    keep: frozenset[str] = frozenset(),
    fillers: frozenset[str] = frozenset(),
) -> Lexis:
    """The words that can stand, after the forbidden phrases have taken theirs.

    A phrase of one word takes the word out. A longer phrase can never stand where one pair of its
    neighbours is forbidden, or one of its words; the cheapest of these is taken. ``keep`` are
    names that no longer phrase takes out.
    """
    phrases = [parts for parts in phrases if all(_spoken(part) for part in parts)]
    banned = {parts[0] for parts in phrases if len(parts) == 1}
    allowed = {w for w in candidates if w not in banned and (w in keep or usable(w))}
    allowed -= {word for word in allowed - keep if _is_trap(word, banned)}
    allowed, pairs = choose(phrases, allowed, keep)
    groups = groups_of(pairs)
    opens = {first: number for number, (firsts, _) in groups.items() for first in firsts}
    members: dict[str, set[int]] = defaultdict(set)
    for number, (_, seconds) in groups.items():
        for word in seconds:
            members[word].add(number)
    return Lexis(
        {
            word: Word(
                kind_of(word),
                opens.get(word, 0),
                frozenset(members.get(word, ())),
                bool(classes(word) & BASE),
                not _opens_a_phrase(word),
                word in fillers,
            )
            for word in sorted(allowed)
        }
    )


def _is_trap(word: str, banned: set[str]) -> bool:
    """Whether the word begins with one that a model is likely to want and cannot have, and is
    only a little longer: "beings", "shoulder"."""
    heads = (word[:size] for size in range(max(3, len(word) - 3), len(word)))
    return any(
        head in _WANTED or head in banned or (head.endswith("ing") and not usable(head))
        for head in heads
    )


_WANTED = word_set("being been having getting please")


def _spoken(part: str) -> bool:
    """Whether the grammar can write this part of a phrase at all."""
    return part.replace("-", "").isalnum()


_STOPPED = TITLES | NUMBERED | MONTHS | NEVER_LAST | COMPANY | PLACES | UNITS_WITH_STOP | GENERAL
"""With a full stop after it such a word is an abbreviation, and the sentence goes on."""
_OPEN = DET | PREP | CONJ | SUB | TO


def _opens_a_phrase(word: str) -> bool:
    """Whether a sentence cannot end with the word: "the", "of", "fig"."""
    if word in _STOPPED:
        return True
    mask = classes(word)
    return bool(mask & _OPEN) and not mask & (PRON | ADV | NOUN | ADJ | NUM | NOT)
