"""Finds the progressive tenses.

Finds: a form of "be" with a verb in -ing ("is running", "was not sending", "is going to stop").
Adjectives ("is missing", "is interesting") and a name of an activity ("the task is testing the
pump") are no progressive.

Why: the simple tenses say the same with one word less. "Is going to" is a future that looks like
a movement.

Example: The server is running.

Instead: The server runs.

Fix: unsafe: the simple present or the simple past takes the place of "is running". It is not
given where a modal, "have" or an adverb stands in the verb.

Source: STE 3.2
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from steguard.rules.base import PerSentence, Rule
from steguard.rules.ste._chains import chains
from steguard.text.model import Sentence
from steguard.text.pos import masks
from steguard.text.verbs import gerund, past_of, third, word_set
from steguard.text.voice import CONTRACTED_BE, FORMS_OF_BE
from steguard.text.wordclass import BASE, NOUN, PREP, TO
from steguard.types import Edit, Hit, Safety, Status

_ACTIVITIES = word_set(
    "step steps goal task purpose aim objective job method approach way idea key problem issue "
    "option solution plan challenge focus role part priority strategy trick action activity thing "
    "work process alternative example reason result mistake responsibility mission what practice "
    "difference one use cause point matter topic subject rule habit"
)
_PLACES = word_set("of for in to with on")


def _look(sentence: Sentence) -> Iterable[Hit]:
    text = sentence.text
    return _check(sentence) if "ing" in text or "ING" in text else ()


def _check(sentence: Sentence) -> Iterator[Hit]:
    tokens, lowers = sentence.tokens, sentence.lowers
    for chain in chains(sentence):
        if not chain.ing or chain.be < 0 or chain.modal >= 0:
            continue
        at, be = chain.last, chain.be
        if _names_activity(sentence, be):
            continue
        if lowers[at] != "being" and _is_noun(sentence, be, at):
            continue
        first = chain.first if chain.have >= 0 else be
        suggestion, edits = _simple(sentence, first, at)
        yield Hit(
            tokens[first].start,
            tokens[at].end,
            f"'{tokens[at].text}' with 'be' is a progressive tense. Use a simple tense.",
            suggestion,
            edits,
            Safety.UNSAFE if edits else Safety.NONE,
        )


def _names_activity(sentence: Sentence, be: int) -> bool:
    """Whether the subject is "the goal" or "the next step": then -ing names what it is."""
    head = be - 1
    lowers, possible = sentence.lowers, masks(sentence)
    for at in range(be - 1, max(-1, be - 9), -1):
        if lowers[at] in _ACTIVITIES:
            return True
        if possible[at] & PREP and lowers[at] in _PLACES:
            head = at - 1
    return head >= 0 and lowers[head] in _ACTIVITIES


def _is_noun(sentence: Sentence, be: int, at: int) -> bool:
    """Whether the form in -ing describes the noun that follows it: "are running costs"."""
    possible = masks(sentence)
    if possible[at] & NOUN and at == be + 1 and at + 1 < len(possible):
        after = possible[at + 1]
        return bool(after & (NOUN | PREP)) and not after & TO
    return False


def _simple(sentence: Sentence, first: int, at: int) -> tuple[str, tuple[Edit, ...]]:
    """The simple form and the edit, where the verb has just its two parts."""
    lowers, possible, tokens = sentence.lowers, masks(sentence), sentence.tokens
    if (
        lowers[at] == "going"
        and at + 2 < len(lowers)
        and lowers[at + 1] == "to"
        and possible[at + 2] & BASE
    ):
        if lowers[first] in ("is", "are", "am") and at == first + 1:
            return "will", (Edit(tokens[first].start, tokens[at + 1].end, "will"),)
        return "Use 'will'.", ()
    base = gerund(lowers[at])
    if base is None or base == "be" or at != first + 1:
        return "Use the simple present or the simple past.", ()
    forms = {
        "is": third(base),
        "are": base,
        "am": base,
        "was": past_of(base),
        "were": past_of(base),
    }
    form = forms.get(lowers[first])
    if form is None or first == 0:
        return "Use the simple present or the simple past.", ()
    return form, (Edit(tokens[first].start, tokens[at].end, form),)


RULE = Rule(
    code="STE303",
    name="progressive-tense",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.UNSAFE,
    source="STE 3.2",
    make=lambda _: PerSentence(_look, FORMS_OF_BE | CONTRACTED_BE),
    module=__name__,
)
