"""A warning or caution that does not tell the risk.

Finds: A WARNING or CAUTION in which no sentence tells what can occur (``can cause injury``,
``is hot``, ``because``). The finding comes when the text of the label ends.

Why: A reader who does not know the risk does not obey the command.

Example: ``WARNING: Do not touch the pipe.``

Instead: ``WARNING: Do not touch the pipe. It is hot and can cause injury.``

Fix: None. Only the writer knows the risk.

Source: STE 7.3.
"""

from __future__ import annotations

from collections.abc import Iterable

from steguard.rules.base import Rule
from steguard.rules.ste._safety import LABELS
from steguard.text.inflect import word_set
from steguard.text.model import Document, Sentence
from steguard.text.wordclass import BE, MODAL, classes
from steguard.types import Hit, Safety, Status

_RISKS = word_set(
    "injury injuries injure injures death kill kills damage damages danger dangerous hazard "
    "hazardous risk risks burn burns fire explosion explode explodes shock poisonous toxic "
    "flammable corrosive hot sharp radiation failure fail fails lose loses loss break breaks "
    "because cause causes corrupt corrupts delete deletes deleted leak leaks harmful harm hurt "
    "hurts so otherwise result results prevent permanent permanently irreversible heavy cold "
    "pressure moving live voltage crash crashes overwrite overwrites overwritten lost"
)


class _Results:
    """Collects the sentences of a labelled block until the next block starts."""

    triggers: frozenset[str] | None = None

    def __init__(self) -> None:
        self._block = -1
        self._first: Sentence | None = None
        self._told = False

    def sentence(self, sentence: Sentence) -> Iterable[Hit]:
        block = sentence.block
        hits: Iterable[Hit] = ()
        if block.index != self._block:
            hits = self._close()
            self._block = block.index
            self._first = sentence if block.label in LABELS else None
            self._told = False
        if self._first is not None and not self._told:
            self._told = _tells_a_risk(sentence)
        return hits

    def finish(self, document: Document) -> Iterable[Hit]:  # noqa: ARG002 - the protocol's form
        return self._close()

    def _close(self) -> Iterable[Hit]:
        first, told = self._first, self._told
        self._first = None
        if first is None or told:
            return ()
        hit = Hit(
            first.start,
            first.end,
            f"This {first.block.label} does not tell the risk. Tell what can occur.",
            "Add a sentence that tells what can occur.",
        )
        return (hit,)


def _tells_a_risk(sentence: Sentence) -> bool:
    if not sentence.vocabulary.isdisjoint(_RISKS):
        return True
    return sentence.index > 0 and any(classes(word) & (BE | MODAL) for word in sentence.vocabulary)


RULE = Rule(
    code="STE703",
    name="safety-result",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="STE 7.3",
    make=lambda options: _Results(),  # noqa: ARG005 - the rule has no options
    module=__name__,
)
