"""What a text is made of: blocks, sentences, tokens.

All offsets are code points in the text that was given, so ``text[token.start:token.end]`` is
always the token itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class BlockKind(StrEnum):
    """The structure a sentence stands in."""

    PARAGRAPH = "paragraph"
    HEADING = "heading"
    LIST_ITEM = "list-item"
    TABLE_CELL = "table-cell"
    QUOTE = "quote"


class Kind(StrEnum):
    """What a token is.

    ``WORD`` is a natural-language word, hyphenated groups included (``cross-section``) and
    contractions and possessives whole (``don't``, ``pump's``). ``NUMBER`` is a numeral with its
    decimals and sign. ``CODE`` is a protected span that counts as one word and that no rule
    reads: inline code, a URL, a path, an identifier, a placeholder. ``CJK`` is one Chinese,
    Japanese or Korean character. ``PUNCT`` is everything else that is visible; it is no word.
    """

    WORD = "word"
    NUMBER = "number"
    CODE = "code"
    CJK = "cjk"
    PUNCT = "punct"


@dataclass(slots=True)
class Block:
    """A stretch of prose with one structure.

    ``index`` counts blocks from 0. ``level`` is the heading level or the list nesting (from 1).
    ``ordered`` and ``marker`` describe a list item (``1.``, ``-``). ``label`` is the lower-case
    safety or note label that opens the block (``warning``, ``caution``, ``note``), else None.
    """

    kind: BlockKind
    start: int
    index: int
    level: int = 0
    ordered: bool = False
    marker: str = ""
    label: str | None = None


@dataclass(slots=True)
class Token:
    """A word, number, protected span, CJK character or punctuation mark."""

    text: str
    lower: str
    start: int
    end: int
    kind: Kind


@dataclass(slots=True)
class Sentence:
    """One sentence, list item, heading or table cell.

    ``start`` and ``end`` enclose the visible text without surrounding white space. ``index`` is
    the place in its block, from 0. ``tokens`` and ``lowers`` run in parallel; ``vocabulary`` is
    the set of ``lowers`` and decides which rules look at the sentence at all. ``words`` is the
    STE word count (rules 8.4 to 8.7); for Chinese text it is the character count. ``ended`` says
    whether a full stop or its like closes it. ``asides`` holds the texts in parentheses, which
    STE counts as sentences of their own: (start, end, words) of each.
    """

    text: str
    start: int
    end: int
    block: Block
    index: int
    tokens: list[Token]
    lowers: list[str]
    vocabulary: frozenset[str]
    words: int
    ended: bool
    language: str = "en"
    asides: tuple[tuple[int, int, int], ...] = ()
    cache: dict[str, object] = field(default_factory=dict, repr=False, compare=False)
    """What rules computed for this sentence and share (part-of-speech tags, clauses)."""


@dataclass(slots=True)
class Document:
    """A whole text after the last sentence was seen; rules read it in ``finish``."""

    text: str
    format: str
    language: str
    sentences: list[Sentence]
