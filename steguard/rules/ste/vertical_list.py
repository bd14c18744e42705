"""A long list inside a sentence.

Finds: Four or more items (option ``items``) that commas and ``and`` or ``or`` join in one
sentence of more than 12 words.

Why: A vertical list shows how many items there are, and no item gets lost.

Example: ``Remove the bolts, the washers, the cover, the seal and the old gasket from the pump.``

Instead: A sentence that ends with a colon, and one list item for each thing.

Fix: None. The writer must write the list.

Source: STE 4.3. Preview, because commas also separate clauses and only the grammar of the whole
sentence tells which.
"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from steguard.rules._words import quoted
from steguard.rules.base import Options, PerSentence, Rule
from steguard.text.model import BlockKind, Kind, Sentence
from steguard.types import Hit, Safety, Status

_LONGEST_ITEM = 6
_SHORTEST_SENTENCE = 12


class VerticalList(Options):
    """Options of ``vertical-list``."""

    items: int = Field(default=4, ge=2, description="The smallest number of items.")


def _make(options: VerticalList) -> PerSentence:
    least = options.items

    def hits(sentence: Sentence) -> Iterator[Hit]:
        if sentence.block.kind is BlockKind.TABLE_CELL or sentence.words <= _SHORTEST_SENTENCE:
            return
        lowers = sentence.lowers
        if lowers.count(",") < least - 2 or quoted(sentence):
            return
        found = _items(sentence)
        if found >= least:
            yield Hit(
                sentence.start,
                sentence.end,
                f"This sentence holds a list of {found} items. Write a vertical list.",
                "Write a vertical list.",
            )

    return PerSentence(hits, frozenset([","]))


def _items(sentence: Sentence) -> int:
    """The number of short runs between commas up to ``and`` or ``or``; 0 if there is no list."""
    commas: list[int] = []
    for index, word in enumerate(sentence.lowers):
        if word == ",":
            if commas and index - commas[-1] > _LONGEST_ITEM:
                commas = []
            commas.append(index)
        elif word in ("and", "or") and len(commas) > 1:
            if index - commas[-1] <= _LONGEST_ITEM:
                serial = commas[-1] == index - 1
                return len(commas) + (1 if serial else 2)
        elif sentence.tokens[index].kind is Kind.PUNCT:
            commas = []
    return 0


RULE = Rule(
    code="STE403",
    name="vertical-list",
    since="0.1",
    status=Status.PREVIEW,
    fix=Safety.NONE,
    source="STE 4.3",
    make=_make,
    module=__name__,
    options=VerticalList,
    prompt=lambda options: "Write a vertical list for long data.",  # noqa: ARG005 - as it is
)
