"""What is known of a chunk (a stretch of text without white space): its pieces and its stop.

A chunk's analysis does not depend on its neighbours, so it is remembered: most chunks of a text
are words that came before.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from steguard.text.lexicon import ABBREVIATIONS, STARTERS, UNITS
from steguard.text.lists import may_be_marker
from steguard.text.model import Kind, Token
from steguard.text.tokens import CJK_STOPS, PIECE, STOPS, Piece, classify, is_camel

_WORD, _NUMBER, _CODE, _PUNCT = Kind.WORD, Kind.NUMBER, Kind.CODE, Kind.PUNCT

_GLUED = re.compile(r"([a-z]{2,}|[A-Z]?[a-z]+)\.([A-Z][a-z']*)$")
_GLUED_LOUD = re.compile(
    r"(?<=[\w)\"”’'])(?:[!?]+[\"”’)]*(?=[A-Z][a-z' ]|I$)"
    r"|(?<=[a-z])\?(?=[a-z]{2})|\.{2,}(?=[A-Z][a-z]|I$))"
)
_SPECIAL = {
    "markdown": re.compile(rf"[`\[<{{&\]{CJK_STOPS}]"),
    "plain": re.compile(rf"[`\[<{{{CJK_STOPS}]"),
    "html": re.compile(rf"[`\[<{{&{CJK_STOPS}]"),
}
FACE, ADDRESS, SYMBOL, STAMP, CLOSING, ASIDE = "☺", "@", "◆", "⏱", "✉", ")"
SOFT_MARKS = frozenset((FACE, ADDRESS, SYMBOL, STAMP, CLOSING, ASIDE))
"""Marks of a :class:`Stop` that is none by itself: an emoticon, an address, an emoji, a date with a
time, the closing phrase of a letter, the end of an aside."""
STAMPED = frozenset(("AM", "PM"))
CLOSINGS = frozenset(("regards,", "sincerely,", "wishes,", "cheers,", "truly,", "faithfully,"))
_FACE = re.compile(r"(?:[:;=][\-o^']?[)(DPpO\]\[|/\\3*]+|<3+|\^[_.]*\^)$")
_FEELING = re.compile(
    "[\U0001f600-\U0001f64f\U0001f910-\U0001f93a\U0001f970-\U0001f97a\U0001f440-\U0001f450"
    "\U0001f389\U0001f38a\U0001f493-\U0001f49f\U0001f4af\u2763\u2764\u263a"
    "\ufe0f\u200d\U0001f3fb-\U0001f3ff]+$"
)
"""Emoji that comment on what stands before; the others (a tick, a warning sign) announce."""
_LINE = re.compile(r"([=_*~#\-–—])\1{7,}$")
_DOTS = re.compile(r"[.…!?]+[\"”’')\]»]*$")
NUMBERS, PAIRS = 1, 2
"""Bits of :attr:`Chunk.care`: numbers, and quotes or parentheses, that the word count must see."""
MAX_CHUNK = 800
"""A stretch without white space longer than this is cut."""


@dataclass(slots=True)
class Stop:
    """A sentence stop at the end of a chunk: its mark, the word before, what closes after it.

    ``dotted``: the stop is part of an abbreviation. ``spaced`` counts marks of a spaced ellipsis
    (``. . .``) after the first. A ``plain`` stop ends the sentence before any capital.
    """

    mark: str
    word: str
    lower: str
    quote: bool
    bracket: bool
    dotted: bool
    spaced: int = 0
    plain: bool = False

    def after(self, token: Token) -> Stop:
        """The same stop with ``token`` as the word before it."""
        return Stop(self.mark, token.text, token.lower, self.quote, self.bracket, False)

    def longer(self, mark: str) -> Stop:
        """The stop with one more mark of a spaced ellipsis."""
        return Stop(
            self.mark + mark, self.word, self.lower, self.quote, self.bracket, self.dotted,
            self.spaced + 1,
        )  # fmt: skip


@dataclass(slots=True)
class Chunk:
    """What is known of a stretch without white space.

    ``word`` is the lower-case form where the chunk is one plain word, else None. ``special``
    chunks hold an opening mark whose meaning depends on what follows. ``cut`` is where a second
    sentence begins without a space.
    """

    word: str | None
    pieces: tuple[Piece, ...] = ()
    words: int = 1
    care: int = 0
    stop: Stop | None = None
    special: bool = False
    cut: int = 0
    tail: bool = False
    line: bool = False
    odd: bool = False
    simple: bool = False


class Analyser:
    """Chunks of one text format, remembered."""

    LIMIT = 50_000
    LONGEST = 40

    def __deepcopy__(self, memo: object) -> Analyser:
        """What it remembers serves all segmenters and their copies alike."""
        return self

    def __init__(self, format: str) -> None:
        self._special = _SPECIAL[format]
        self._marks = format == "markdown"
        self.known: dict[str, Chunk] = {}
        self._plain: dict[str, Chunk] = {}

    def learn(self, text: str) -> Chunk:
        """Analyse a chunk and remember it if it is short."""
        chunk = self._analyse(text)
        if len(text) <= self.LONGEST:
            if len(self.known) >= self.LIMIT:
                self.known.clear()
            self.known[text] = chunk
        return chunk

    def _analyse(self, text: str) -> Chunk:
        if text.isascii() and text.isalpha() and len(text) <= MAX_CHUNK and not is_camel(text):
            lower = text.lower()
            if text in STAMPED:
                return Chunk(None, ((text, lower, 0, 2, _WORD),), odd=True)
            return Chunk(lower, ((text, lower, 0, len(text), _WORD),))
        if len(text) > MAX_CHUNK or self._special.search(text):
            return Chunk(None, special=True)
        return self._split(text)

    def split(self, text: str) -> Chunk:
        """The pieces of a text without white space whose opening marks are just marks."""
        chunk = self._plain.get(text)
        if chunk is None:
            chunk = self._split(text)
            if len(text) <= self.LONGEST:
                if len(self._plain) >= self.LIMIT:
                    self._plain.clear()
                self._plain[text] = chunk
        return chunk

    def _split(self, text: str) -> Chunk:
        if _FACE.match(text) or _FEELING.match(text):
            mark = FACE if text.isascii() else SYMBOL
            piece = (text, text.lower(), 0, len(text), _PUNCT)
            soft = Stop(mark, "", "", False, False, False)
            return Chunk(None, (piece,), 0, 0, soft, tail=True)
        if _LINE.match(text):
            return Chunk(None, line=True, odd=True, words=0)
        cut = _cut(text)
        if cut:
            return Chunk(None, cut=cut, odd=True)
        pieces: list[Piece] = []
        words = care = 0
        for match in PIECE.finditer(text):
            group = match.lastgroup or "punct"
            if group == "mark" and self._marks:
                continue
            start, end = match.span()
            run = match[0]
            if self._marks and group == "run" and "_" in (run[0], run[-1]):
                core = _inside_emphasis(run)
                start += run.index(core)
                end = start + len(core)
                run = core
            for piece in classify(group, run, start, end):
                kind = piece[4]
                if kind is _PUNCT:
                    care |= _care(piece[0])
                else:
                    words += 1
                    if kind is _NUMBER:
                        care |= NUMBERS
                pieces.append(piece)
        stop = _stop(pieces)
        odd = may_be_marker(text) or text.lower() in CLOSINGS
        return Chunk(
            None,
            tuple(pieces),
            words,
            care,
            stop,
            tail=_DOTS.match(text) is not None,
            odd=odd,
            simple=stop is None and not odd and bool(pieces),
        )


def _inside_emphasis(run: str) -> str:
    """``_word_`` without the marks; ``__init__`` and ``_my_name`` are identifiers."""
    core = run.strip("_")
    if "_" in core or (run.startswith("__") and run.endswith("__") and core.islower()):
        return run
    return core


def _care(text: str) -> int:
    return PAIRS if text in _PAIRED else 0


_PAIRED = frozenset("\"'“”‘’«»()（）「」『』")


def _cut(text: str) -> int:
    """Where a sentence begins inside a chunk ("end.The"), else 0."""
    if "." in text:
        head = text.rstrip(".,;:!?\"'”’)]")
        glued = _GLUED.match(head)
        if glued and glued[2].lower() in STARTERS and len(glued[2]) > 1:
            return glued.start(2)
    if ("?" in text or "!" in text or ".." in text) and "/" not in text and "=" not in text:
        loud = _GLUED_LOUD.search(text)
        if loud and loud.start() and loud.end() < len(text):
            return loud.end()
    return 0


_QUOTES = frozenset("\"'”’»›」』》〉")
_BRACKETS = frozenset(")]}）】")


def _stop(pieces: list[Piece]) -> Stop | None:
    """The stop that closes the pieces, whatever quotes and brackets follow it."""
    quote = bracket = False
    at = len(pieces) - 1
    while at >= 0:
        text = pieces[at][0]
        if pieces[at][4] is not _PUNCT:
            break
        if text in _QUOTES:
            quote = True
        elif text in _BRACKETS:
            bracket = True
        elif text[0] in "*_~":
            pass
        else:
            break
        at -= 1
    if at < 0:
        return None
    text, lower, _, _, kind = pieces[at]
    if (kind is _PUNCT and text[0] in STOPS) or text[0] == "．":
        before = pieces[at - 1] if at else None
        if before is None:
            return Stop(text, "", "", quote, bracket, False)
        stop = Stop(text, before[0], before[1], quote, bracket, False)
        stop.plain = not (quote or bracket) and text in _PLAIN_MARKS and _is_ordinary(before)
        return stop
    if kind is _CODE and ("://" in text or "@" in text or text.startswith("www.")):
        return Stop(ADDRESS, "", "", quote, bracket, False)
    if kind is _WORD and text.endswith("."):
        return Stop(".", text[:-1], lower[:-1], quote, bracket, True)
    if bracket and pieces[-1][0] == ")":
        return Stop(ASIDE, "", "", quote, bracket, False)
    return None


_PLAIN_MARKS = frozenset((".", "!", "?"))


def _is_ordinary(before: Piece) -> bool:
    lower = before[1]
    return lower.isalpha() and len(lower) > 1 and lower not in ABBREVIATIONS and lower not in UNITS


ANALYSERS = {name: Analyser(name) for name in _SPECIAL}
"""Shared by all segmenters: an analysis depends on nothing but the chunk."""
