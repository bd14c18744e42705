"""There is no text.

Finds: an answer without one word.
Why: an empty answer tells the next program nothing, and looks like success.
Example: an empty string.
Instead: the answer.
Fix: none.
Source: steguard's own.
"""

from __future__ import annotations

from collections.abc import Iterator

from steguard.rules.base import Options, PerDocument, Rule
from steguard.text.model import Document, Kind
from steguard.types import Hit, Safety, Status


def _make(options: Options) -> PerDocument:
    def check(document: Document) -> Iterator[Hit]:
        if not any(t.kind is not Kind.PUNCT for s in document.sentences for t in s.tokens) and not _code(document):
            yield Hit(0, len(document.text), "There is no text.", "Write the answer.")

    return PerDocument(check)


def _code(document: Document) -> bool:
    return "```" in document.text


RULE = Rule(
    code="SG001",
    name="missing-text",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="steguard",
    make=_make,
    module=__name__,
    languages=frozenset(),
)
