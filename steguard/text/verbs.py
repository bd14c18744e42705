"""Verb forms: from a base form to its inflections and back.

``participle("opened")`` is ``"open"``; ``third("carry")`` is ``"carries"``. The base forms are
data (``data/verbs.txt``, ``data/irregular.txt``); regular morphology does the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

DATA = Path(__file__).parent.parent / "data"

_VOWELS = "aeiou"


def word_set(words: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(words.split())


def read_words(name: str) -> list[str]:
    """The words of a data file without its comment lines."""
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [word for line in lines if line[:1] not in ("#", "[") for word in line.split()]


@dataclass(frozen=True, slots=True)
class Verb:
    """A base form and what the data says of it."""

    base: str
    past: tuple[str, ...]
    participle: tuple[str, ...]
    doubles: bool
    noun: bool
    adjective: bool
    transitive: bool

    @property
    def third(self) -> str:
        return third(self.base)

    @property
    def ing(self) -> str:
        return _ing(self.base, self.doubles)


def _short(base: str) -> bool:
    """One syllable that ends in consonant, vowel, consonant: ``stop``, ``quit``."""
    if len(base) < 3 or base[-1] in "aeiouwxy" or base[-2] not in _VOWELS:
        return False
    head = base[:-2]
    if head.endswith("qu"):
        return True
    return head[-1] not in _VOWELS and not any(c in "aeiouy" for c in head)


def third(base: str) -> str:
    """The form after he, she, it; also the regular plural of a noun."""
    if base in ("be", "have"):
        return {"be": "is", "have": "has"}[base]
    if base.endswith(("s", "x", "z", "ch", "sh")) or base in ("go", "do", "undo", "redo", "veto"):
        return base + "es"
    if base.endswith("o") and base in ("echo", "overdo", "outdo", "embargo", "undergo", "forgo"):
        return base + "es"
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return base[:-1] + "ies"
    return base + "s"


def _past(base: str, doubles: bool) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return base[:-1] + "ied"
    if base.endswith("c"):
        return base + "ked"
    return base + base[-1] + "ed" if doubles else base + "ed"


def _ing(base: str, doubles: bool) -> str:
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith(("ee", "oe", "ye")) and base not in ("be", "singe"):
        return base[:-1] + "ing"
    if base.endswith("c"):
        return base + "king"
    return base + base[-1] + "ing" if doubles else base + "ing"


@cache
def verbs() -> dict[str, Verb]:
    """Every known verb by its base form."""
    irregular: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    for line in (DATA / "irregular.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            base, past, participle = line.split()
            irregular[base] = (tuple(past.split("/")), tuple(participle.split("/")))
    table: dict[str, Verb] = {}
    entries = read_words("verbs.txt")
    known = {entry.partition(":")[0].rstrip("+") for entry in entries}
    entries += [base for base in irregular if base not in known]
    for entry in entries:
        base, _, flags = entry.partition(":")
        plus = base.endswith("+") or "+" in flags
        base = base.rstrip("+")
        doubles = plus or _short(base)
        if base in irregular:
            pasts, participles = irregular[base]
        else:
            pasts = participles = (_past(base, doubles),)
            if not plus and base.endswith("l") and base[-2:-1] in "aeiou" and not _short(base):
                # British spelling doubles the l of an unstressed syllable: cancelled.
                pasts = participles = (*pasts, base + "led")
        table[base] = Verb(
            base, pasts, participles, doubles, "n" in flags, "a" in flags, "i" not in flags
        )
    table["be"] = Verb("be", ("was", "were"), ("been",), False, False, False, False)
    table["have"] = Verb("have", ("had",), ("had",), False, False, False, True)
    table["do"] = Verb("do", ("did",), ("done",), False, False, False, True)
    table["get"] = Verb("get", ("got",), ("got", "gotten"), True, False, False, True)
    return table


@cache
def _participles() -> dict[str, str]:
    table: dict[str, str] = {}
    for verb in verbs().values():
        for form in verb.participle:
            table.setdefault(form, verb.base)
    # "found" and "ground" are participles of find and grind far more often than bases.
    table.update(found="find", ground="grind", wound="wind", lain="lie", bound="bind", felt="feel")
    return table


@cache
def _pasts() -> dict[str, str]:
    table: dict[str, str] = {}
    for verb in verbs().values():
        for form in verb.past:
            table.setdefault(form, verb.base)
    return table


@cache
def _thirds() -> dict[str, str]:
    return {verb.third: verb.base for verb in verbs().values()}


@cache
def _ings() -> dict[str, str]:
    table: dict[str, str] = {}
    for verb in verbs().values():
        table.setdefault(verb.ing, verb.base)
        if verb.base.endswith("l") and not verb.doubles:
            table.setdefault(verb.base + "ling", verb.base)
    return table


_PREFIXES = ("re", "pre", "over", "under", "mis", "de", "dis", "co", "out", "sub", "auto")


def _stem(word: str, known: dict[str, str]) -> str | None:
    """The base behind a prefix: ``reindexed`` is a form of ``reindex``."""
    for prefix in _PREFIXES:
        rest = word[len(prefix) :]
        if len(rest) > 4 and word.startswith(prefix) and rest in known:
            return prefix + known[rest]
    return None


def participle(word: str) -> str | None:
    """The base form of a past participle that the data knows, else None."""
    known = _participles()
    return known.get(word) or _stem(word, known)


def past(word: str) -> str | None:
    """The base form of a past tense form."""
    known = _pasts()
    return known.get(word) or _stem(word, known)


def present(word: str) -> str | None:
    """The base form of a form in -s."""
    known = _thirds()
    return known.get(word) or _stem(word, known)


def gerund(word: str) -> str | None:
    """The base form of a form in -ing."""
    known = _ings()
    return known.get(word) or _stem(word, known)


def is_base(word: str) -> bool:
    """Whether this is a verb's base form."""
    return word in verbs()


def past_of(base: str) -> str:
    """The past tense of a base form, known or regular."""
    verb = verbs().get(base)
    return verb.past[0] if verb else _past(base, _short(base))
