"""Participles that name a state: adjectives for STE rule 3.3, no passive.

Three kinds, from ``data/participles.txt``: a place or relation ("is connected to the pump"), a
state that needs no context ("the valve is closed"), and a state that a clause asks for ("make
sure that the cover is removed").
"""

from __future__ import annotations

from functools import cache

from steguard.text.model import Sentence
from steguard.text.verbs import word_set
from steguard.text.voice import FORMS_OF_BE, Passive, sections_of
from steguard.text.wordclass import CONJ, MARK, PREP, SUB, TO, classes

_STATE_VERBS = FORMS_OF_BE - {"being", "been", "be"}
_CONDITION = word_set("if when whether until unless while that because")
_ASKING = word_set("sure ensure check verify confirm see ensures checks")
_STILL = word_set("still not already now correctly fully completely properly firmly tightly")


@cache
def _data() -> tuple[dict[str, frozenset[str]], frozenset[str], frozenset[str]]:
    sections = sections_of("participles.txt")
    place = {}
    for line in sections["place"]:
        word, _, after = line.partition(":")
        place[word] = frozenset(after.split())
    state = frozenset(word for line in sections["state"] for word in line.split())
    checked = frozenset(word for line in sections["checked"] for word in line.split())
    return place, state, checked | state


def is_state(sentence: Sentence, passive: Passive) -> bool:
    """Whether the participle says what something is like, not what somebody does."""
    lowers = sentence.lowers
    if passive.agent or (passive.last != passive.participle and not _all_states(sentence, passive)):
        return False
    place, state, checked = _data()
    word = lowers[passive.participle]
    following = lowers[passive.last + 1] if passive.last + 1 < len(lowers) else "."
    auxiliary = lowers[passive.auxiliary]
    if following in place.get(word, ()):
        return auxiliary not in ("being", "been") and _no_event(sentence, passive)
    if auxiliary not in _STATE_VERBS or not _no_event(sentence, passive):
        return False
    ends = bool(classes(following) & (MARK | CONJ | SUB | PREP) and following != "to")
    if word in state:
        return (ends and not classes(following) & PREP) or _is_asked(lowers, passive.auxiliary)
    return word in checked and ends and _is_asked(lowers, passive.auxiliary)


def _all_states(sentence: Sentence, passive: Passive) -> bool:
    _, state, checked = _data()
    known = checked if _is_asked(sentence.lowers, passive.auxiliary) else state
    return all(
        word in known or classes(word) & (CONJ | MARK)
        for word in sentence.lowers[passive.participle : passive.last + 1]
    )


def _no_event(sentence: Sentence, passive: Passive) -> bool:
    """No adverb of manner or time stands between "be" and the participle."""
    between = sentence.lowers[passive.auxiliary + 1 : passive.participle]
    return all(word in _STILL for word in between) and not (
        passive.last + 1 < len(sentence.lowers)
        and classes(sentence.lowers[passive.last + 1]) & TO
        and sentence.lowers[passive.participle] not in _data()[0]
    )


def _is_asked(lowers: list[str], auxiliary: int) -> bool:
    """Whether the clause is a condition or what somebody must make sure of."""
    for at in range(auxiliary - 1, max(-1, auxiliary - 12), -1):
        word = lowers[at]
        if word in _CONDITION:
            if word != "that":
                return True
            return any(w in _ASKING for w in lowers[max(0, at - 3) : at])
        if word in _ASKING:
            return True
        if classes(word) & MARK and word != "-":
            return False
    return False
