"""A warning or caution that does not start with a command or a condition.

Finds: The first sentence after a WARNING or CAUTION label when it is no command (``Do not``,
``Keep``) and no condition (``If``, ``Before``).

Why: The reader must know at once what to do. The reason comes after that.

Example: ``WARNING: The oil is hot. Do not touch it.``

Instead: ``WARNING: Do not touch the oil. It is hot.``

Fix: None. The writer must put the command first.

Source: STE 7.2.
"""

from __future__ import annotations

from collections.abc import Iterable

from steguard.rules.base import PerSentence, Rule
from steguard.rules.ste._safety import LABELS, starts_with_command
from steguard.text.model import Sentence
from steguard.types import Hit, Safety, Status


def _hits(sentence: Sentence) -> Iterable[Hit]:
    label = sentence.block.label
    if label not in LABELS or sentence.index or starts_with_command(sentence):
        return ()
    hit = Hit(
        sentence.start,
        sentence.end,
        f"The {label} does not start with a command. Tell the reader first what to do.",
        "Start with a command or a condition.",
    )
    return (hit,)


RULE = Rule(
    code="STE702",
    name="safety-command",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="STE 7.2",
    make=lambda options: PerSentence(_hits),  # noqa: ARG005 - the rule has no options
    module=__name__,
)
