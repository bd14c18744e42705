"""Words as STE counts them (rules 8.4 to 8.7).

A number, a number with its unit, an identifier, an abbreviation, a quoted text or title and a
hyphenated group are one word each. A text in parentheses is one word of the sentence around it
and a sentence of its own inside.
"""

from __future__ import annotations

from steguard.text.lexicon import UNITS
from steguard.text.model import Kind, Token

_PAIRS = {"“": "”", "«": "»", "「": "」", "『": "』", "‘": "’"}
_OPEN = frozenset("(（")
_CLOSE = frozenset(")）")

Aside = tuple[int, int, int]


def count(tokens: list[Token], *, characters: bool = False) -> tuple[int, tuple[Aside, ...]]:
    """The number of words and the asides (start, end, words), in the order of their starts.

    With ``characters`` (Chinese) parentheses and quotes do not fold: each character counts.
    """
    if characters:
        return sum(token.kind is not Kind.PUNCT for token in tokens), ()
    partner = _partners(tokens)
    if not partner:
        return sum([token.kind is not Kind.PUNCT for token in tokens]) - units(tokens), ()
    asides: list[Aside] = []
    words = _count(tokens, 0, len(tokens), partner, asides)
    asides.sort()
    return words, tuple(asides)


def units(tokens: list[Token]) -> int:
    """How many tokens are units of the number before them: they are no words of their own."""
    found = 0
    last = len(tokens) - 1
    for index, token in enumerate(tokens):
        if token.kind is Kind.NUMBER and index < last:
            following = tokens[index + 1]
            if following.kind is not Kind.PUNCT and is_unit(following):
                found += 1
    return found


def _partners(tokens: list[Token]) -> dict[int, int]:
    """Opening index to closing index of the outermost pairs of quotes and parentheses."""
    partner: dict[int, int] = {}
    stack: list[int] = []
    quote: tuple[int, str] | None = None
    for index, token in enumerate(tokens):
        if token.kind is not Kind.PUNCT:
            continue
        text = token.text
        if quote is not None and text == quote[1] and not _opens(tokens, index, text):
            partner[quote[0]] = index
            quote = None
        elif text in _OPEN:
            stack.append(index)
        elif text in _CLOSE:
            if stack:
                partner[stack.pop()] = index
        elif quote is None:
            if text in _PAIRS:
                quote = (index, _PAIRS[text])
            elif text in ('"', "'") and _opens(tokens, index, text):
                quote = (index, text)
    return partner


def _opens(tokens: list[Token], index: int, text: str) -> bool:
    """Whether a straight quote opens: no word stands right before it, one right after."""
    if text in ("”", "»", "」", "』", "’"):
        return False
    here = tokens[index]
    before = tokens[index - 1] if index else None
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    glued_left = before is not None and before.end == here.start and before.text not in "([—–-/"
    glued_right = after is not None and after.start == here.end
    return glued_right and not glued_left


def _count(
    tokens: list[Token], first: int, last: int, partner: dict[int, int], asides: list[Aside]
) -> int:
    """Words from ``first`` to ``last``; the work of one pair is done when its end is met."""
    frames = [_Frame(first, last)]
    while True:
        frame = frames[-1]
        if frame.index >= frame.last:
            frames.pop()
            if not frames:
                return frame.words
            _close_frame(frames[-1], frame, tokens, asides)
            continue
        token = tokens[frame.index]
        close = partner.get(frame.index, -1)
        if frame.index < close < frame.last:
            frames.append(_Frame(frame.index + 1, close))
            frame.index = close + 1
            frame.number = False
            continue
        frame.index += 1
        lower = token.lower
        if token.kind is Kind.PUNCT:
            frame.number = frame.number and lower in UNITS and not frame.unit
            frame.unit = frame.number
        elif frame.number and not frame.unit and is_unit(token):
            frame.number = False
        else:
            frame.words += 1
            frame.plain = True
            frame.number = token.kind is Kind.NUMBER
            frame.unit = False


class _Frame:
    """One level of parentheses or quotes while it is counted."""

    __slots__ = ("first", "folded", "index", "last", "number", "plain", "unit", "words")

    def __init__(self, first: int, last: int) -> None:
        self.first = self.index = first
        self.last = last
        self.words = 0
        self.folded = 0
        self.number = self.unit = self.plain = False


def _close_frame(outer: _Frame, inner: _Frame, tokens: list[Token], asides: list[Aside]) -> None:
    """A pair is one word of what stands around it, but all its words if it stands alone."""
    if not inner.words:
        return
    alone = not outer.words and not any(
        token.kind is not Kind.PUNCT for token in tokens[inner.last + 1 : outer.last]
    )
    outer.words += inner.words if alone else 1
    if tokens[inner.first - 1].text in _OPEN and not alone:
        asides.append((tokens[inner.first - 1].start, tokens[inner.last].end, inner.words))


def is_unit(token: Token) -> bool:
    """Whether a token after a number is its unit ("in" is a preposition more often than inches)."""
    return token.lower in UNITS and (token.lower not in ("in", "a") or token.text == "A")
