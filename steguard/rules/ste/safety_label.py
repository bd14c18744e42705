"""A hazard without the word that tells how dangerous it is.

Finds: A sentence that says what can hurt a person or damage a thing (``can cause injury``,
``risk of electric shock``) outside a WARNING or CAUTION, and an injury or death under CAUTION or
NOTE. Labels that STE does not use (DANGER, IMPORTANT, NOTICE, TIP) are faults too. Reports of
the past (``The fire caused damage``) are not meant.

Why: The label tells at once if a person or only a thing is in danger.

Example: ``NOTE: The hot oil can cause injury.``

Instead: ``WARNING: Do not touch the hot oil. It can cause injury.``

Fix: None. The writer must choose the label.

Source: STE 7.1.
"""

from __future__ import annotations

from collections.abc import Iterator

from steguard.rules._words import in_quotes
from steguard.rules.base import PerSentence, Rule
from steguard.text.inflect import word_set
from steguard.text.model import Sentence
from steguard.types import Hit, Safety, Status

_PERSONS = word_set("injury injuries death deaths burns blindness asphyxiation electrocution")
_THINGS = word_set("damage damages")
_TRIGGERS = _PERSONS | _THINGS | word_set("shock kill injure")
_CAUSES = (
    ("can", "cause"), ("may", "cause"), ("could", "cause"), ("might", "cause"), ("will", "cause"),
    ("can", "lead", "to"), ("can", "result", "in"), ("may", "result", "in"), ("may", "lead", "to"),
    ("could", "result", "in"), ("could", "lead", "to"), ("will", "result", "in"),
    ("risk", "of"), ("danger", "of"), ("hazard", "of"), ("to", "prevent"), ("to", "avoid"),
)  # fmt: skip
_FIRST = frozenset(cause[0] for cause in _CAUSES)
_FREE = word_set(
    "the a an serious severe possible or and to fatal personal physical electric electrical bodily "
    "permanent eye skin injury injuries death damage burns fire shock you people persons personnel"
)
_WINDOW = 6


def _hits(sentence: Sentence) -> Iterator[Hit]:
    label = sentence.block.label
    if label == "warning":
        return
    lowers = sentence.lowers
    for index, word in enumerate(lowers):
        if word not in _FIRST:
            continue
        end = _cause_end(lowers, index)
        found = _hazard(lowers, end) if end else None
        if found is None or in_quotes(sentence, index):
            continue
        place, person = found
        if not person and label == "caution":
            continue
        tokens = sentence.tokens
        want = "WARNING" if person else "CAUTION"
        yield Hit(
            tokens[index].start,
            tokens[place].end,
            f"This sentence tells of a hazard. Start the text with the label {want}.",
            f"Write '{want}:' and a clear command first.",
        )
        return


def _cause_end(lowers: list[str], at: int) -> int:
    for cause in _CAUSES:
        if tuple(lowers[at : at + len(cause)]) == cause:
            return at + len(cause)
    return 0


def _hazard(lowers: list[str], start: int) -> tuple[int, bool] | None:
    """The last word of the hazard, and whether it hurts a person."""
    found: tuple[int, bool] | None = None
    for index in range(start, min(start + _WINDOW, len(lowers))):
        word = lowers[index]
        person = word in _PERSONS or (word == "shock" and lowers[index - 1].startswith("electric"))
        if person or word in _THINGS:
            found = (index, person or (found is not None and found[1]))
        elif word not in _FREE:
            break
    return found


RULE = Rule(
    code="STE701",
    name="safety-label",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="STE 7.1",
    make=lambda options: PerSentence(_hits, _TRIGGERS),  # noqa: ARG005 - no options
    module=__name__,
)
