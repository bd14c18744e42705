"""Finds paragraphs that do not start with their topic.

Finds: a paragraph whose first sentence points back or adds detail ("For example, ...",
"However, ...", "In addition, ..."), in a paragraph with `min_sentences` sentences or more.
Preview: the rule sees the opening words and not the topic.

Why: the first sentence tells the reader what the paragraph is about, and a reader who looks for
one fact reads only first sentences.

Example: For example, the pump stops. The tank is full. The valve is shut.

Instead: Two faults stop the pump. For example, ...

Fix: none, because only the writer knows the topic.

Source: STE 6.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pydantic import Field

from steguard.rules.base import Options, Rule
from steguard.text.model import BlockKind, Document, Sentence
from steguard.text.verbs import word_set
from steguard.types import Hit, Safety, Status

_BACK = word_set(
    "however therefore thus additionally furthermore moreover also consequently hence similarly"
    " likewise nevertheless nonetheless otherwise besides and but so"
)
_PHRASES = (
    ("for", "example"), ("for", "instance"), ("in", "addition"), ("as", "a", "result"),
    ("in", "other", "words"), ("in", "contrast"), ("on", "the", "other", "hand"), ("in", "fact"),
)  # fmt: skip


class TopicFirstOptions(Options):
    """``min_sentences``: a shorter paragraph needs no topic sentence."""

    min_sentences: int = Field(3, ge=1, le=50)


class _Checker:
    """Reports the opening of a paragraph when the paragraph is long enough."""

    triggers: frozenset[str] | None = None

    def __init__(self, options: TopicFirstOptions) -> None:
        self._least = options.min_sentences
        self._opening: Hit | None = None
        self._block = -1
        self._count = 0

    def sentence(self, sentence: Sentence) -> Iterator[Hit]:
        if sentence.block.kind is not BlockKind.PARAGRAPH:
            return
        if sentence.block.index != self._block:
            self._block, self._count = sentence.block.index, 0
            self._opening = _opening(sentence)
        self._count += 1
        if self._opening and self._count == self._least:
            yield self._opening

    def finish(self, document: Document) -> Iterable[Hit]:  # noqa: ARG002 - the protocol's form
        return ()


def _opening(sentence: Sentence) -> Hit | None:
    lowers, tokens = sentence.lowers, sentence.tokens
    size = next((len(p) for p in _PHRASES if tuple(lowers[: len(p)]) == p), 0)
    if not size and lowers and lowers[0] in _BACK:
        size = 1
    if not size:
        return None
    end = tokens[size - 1].end
    words = sentence.text[: end - sentence.start]
    return Hit(
        tokens[0].start,
        end,
        f"The paragraph starts with '{words}', which points back.",
        "Write the topic in the first sentence.",
    )


RULE = Rule(
    code="STE601",
    name="topic-first",
    since="0.1",
    status=Status.PREVIEW,
    fix=Safety.NONE,
    source="STE 6.1",
    make=lambda options: _Checker(options),
    module=__name__,
    options=TopicFirstOptions,
)
