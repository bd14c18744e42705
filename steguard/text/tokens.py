"""The tokenizer: a chunk without white space becomes words, numbers, code and punctuation.

A chunk's analysis does not depend on its neighbours, so it is remembered: most chunks of a text
are words that came before. An abbreviation with inner stops is one token with them (``e.g.``,
``U.S.``); one with a single stop is two (``Dr`` and ``.``). ``lower`` has straight apostrophes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from steguard.text.lexicon import ABBREVIATIONS, STARTERS, UNITS
from steguard.text.lists import may_be_marker
from steguard.text.model import Kind, Token

WORD, NUMBER, CODE, CJK, PUNCT = Kind.WORD, Kind.NUMBER, Kind.CODE, Kind.CJK, Kind.PUNCT

CJK_RANGE = (
    "\u2e80-\u2fff\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b\u3040-\u30fa\u30fc-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
CJK_STOPS = "。！？；｡"
STOPS = ".!?…‽‼⁇⁈⁉" + CJK_STOPS
CLOSERS = "\"'”’)]}»›」』）】》〉"
OPENERS = "\"'“‘([{«‹「『（【《〈¿¡"

_L = f"[^\\W\\d_{CJK_RANGE}\uff10-\uff19]|[\u0300-\u036f\u00ad\u200d]"
_A = f"(?:[^\\W_{CJK_RANGE}\uff10-\uff19]|[\u0300-\u036f\u00ad\u200d])"
_TLD = "com|org|net|edu|gov|io|dev|ai|co|uk|de|fr|eu|info|app|cn"

PIECE = re.compile(
    rf"""
    (?P<cjk>[{CJK_RANGE}])
  | (?P<url>(?:(?:https?|ftps?|file|ssh|git|wss?|s3|data|tel|mailto)://|mailto:|www\.)
        [^\s<>"“”‘’`{CJK_STOPS}，、）{CJK_RANGE}]*[^\s<>"“”‘’'`{CJK_STOPS}，、）{CJK_RANGE}.,;:!?)\]}}*_~…])
  | (?P<email>[A-Za-z0-9._+\-]++@[A-Za-z0-9\-]++(?:\.[A-Za-z0-9\-]*[A-Za-z0-9])*+)
  | (?P<handle>[@\#](?=[\w\-]*\w)[\w\-]+(?<![\-]))
  | (?P<winpath>(?:[A-Za-z]:\\|\\\\)[\w.\\\-$]*[\w\\$])
  | (?P<slash>(?<![\w/])[A-Z]/[A-Z](?![\w/]))
  | (?P<path>(?<![\w])(?:~|\.\.?)?/[\w.\-@+%]*[\w](?:/[\w.\-@+%]*[\w])*/?
        |(?<![\w./])[A-Za-z0-9_.\-@]++(?:/[A-Za-z0-9_.\-@]+)+(?<=[\w])(?:/(?!\w))?)
  | (?P<flag>(?<![\w\-])(?:--[A-Za-z][\w\-]*(?:=[\w.\-/]*[\w/])?|-[A-Za-z](?![\w\-])))
  | (?P<var>\$[A-Za-z_]\w*|%[A-Za-z_]\w*%)
  | (?P<call>[A-Za-z_][\w.]*\((?:[^\s()]*)\)(?![\w]))
  | (?P<abbr>(?:(?<![\w.])(?:[^\W\d_]\.){{2,}}(?:[^\W\d_](?![\w]))?|(?<![\w.])[A-Z][a-z]{{1,3}}\.(?:[A-Z]\.)+|(?<![\w.])[A-Z][a-z]{{0,3}}\.(?=['’]s\b))
        (?:['’]s\b)?)
  | (?P<wide>[\uff10-\uff19]+(?:[．，：][\uff10-\uff19]+)*[％]?)
  | (?P<number>(?:(?<![\w)\]])[+\-−±~≈]?[$€£¥₹]?|(?<=[\w)\]])[$€£¥₹]?)
        \d(?:[.,:/×\-–−]?\d)*+(?:[%‰]|°[CFK]?|[²³])?(?!{_A}|_|[.]\w|[\-‑]{_A}))
  | (?P<numero>[Nn][°º](?!\w))
  | (?P<ellipsis>\[(?:\.\.\.|…)\])
  | (?P<run>{_A}(?:{_A}|_)*(?:\((?:s|es)\)(?!\w)|(?:[.'’\-‑_·+]|&(?={_A}{{1,2}}(?!\w)))(?:{_A}|_)+)*(?:\+\+|\#(?!\w))?
        |_+{_A}(?:{_A}|_)*)
  | (?P<tic>['’](?:s|t|re|ve|ll|d|m|em|til|cause|tis|twas|\d\ds)(?!\w))
  | (?P<stop>[.!?…‽‼⁇⁈⁉]+|[{CJK_STOPS}．]+)
  | (?P<escape>\\[!-/:-@\[-`{{-~])
  | (?P<dash>[\-–—]{{2,}})
  | (?P<mark>[*_~]+)
  | (?P<unit>°[CFK]?|[%‰])
  | (?P<repeat>(?P<sign>[^\w\s])(?P=sign){{3,}})
  | (?P<punct>.)
    """,
    re.VERBOSE | re.DOTALL,
)

_DOTTED = re.compile(r"\w+(?:\.\w+)+$")
_NUMBER_UNIT = re.compile(r"\d[\d.,]*([^\W\d_].*)$")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th|s)$")
_HASH = re.compile(r"(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}$")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")
_CAMEL = re.compile(r"[a-z]+(?:[A-Z][a-z0-9]+)+[A-Z]?$")
_GLUED = re.compile(r"([a-z]{2,}|[A-Z]?[a-z]+)\.([A-Z][a-z']*)$")
_GLUED_LOUD = re.compile(
    r"(?<=[\w)\"”’'])(?:[!?]+[\"”’)]*(?=[A-Z][a-z' ]|I$)|(?<=[a-z])\?(?=[a-z]{2})|\.{2,}(?=[A-Z][a-z]|I$))"
)
_BRAND = frozenset({"iphone", "ipad", "ipod", "ios", "macos", "ebay", "imac", "itunes", "imessage"})
_VERSION = re.compile(r"[vV]?\d+(?:\.(?:\d+|x|X|\*))+(?:-\w+)*$")
_SPECIAL = {
    "markdown": re.compile(rf"[`\[<{{&\]{CJK_STOPS}]"),
    "plain": re.compile(rf"[`\[<{{{CJK_STOPS}]"),
    "html": re.compile(rf"[`\[<{{&{CJK_STOPS}]"),
}

FACE, ADDRESS, SYMBOL, STAMP, CLOSING = "☺", "@", "◆", "⏱", "✉"
SOFT_MARKS = frozenset((FACE, ADDRESS, SYMBOL, STAMP, CLOSING))
"""Marks of a :class:`Stop` that is none by itself: an emoticon, an address, an emoji, a date with a
time, the closing phrase of a letter."""

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

Piece = tuple[str, str, int, int, Kind]

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


class Analyser:
    """Chunks of one text format, remembered."""

    LIMIT = 50_000
    LONGEST = 40

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
        if text.isascii() and text.isalpha() and len(text) <= MAX_CHUNK and not _is_camel(text):
            lower = text.lower()
            if text in STAMPED:
                return Chunk(None, ((text, lower, 0, 2, WORD),), odd=True)
            return Chunk(lower, ((text, lower, 0, len(text), WORD),))
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
            piece = (text, text.lower(), 0, len(text), PUNCT)
            stop = Stop(mark, "", "", False, False, False)
            return Chunk(None, (piece,), 0, 0, stop, tail=True)
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
            for piece in _classify(group, match[0], start, end):
                kind = piece[4]
                if kind is PUNCT:
                    care |= _care(piece[0])
                else:
                    words += 1
                    if kind is NUMBER:
                        care |= NUMBERS
                pieces.append(piece)
        return Chunk(
            None,
            tuple(pieces),
            words,
            care,
            _stop(pieces),
            tail=_DOTS.match(text) is not None,
            odd=may_be_marker(text) or text.lower() in CLOSINGS,
        )


def _care(text: str) -> int:
    return PAIRS if text in _PAIRED else 0


_PAIRED = frozenset("\"'“”‘’«»()（）「」『』")


def _is_camel(text: str) -> bool:
    return (
        not text.islower()
        and not text.istitle()
        and _CAMEL.match(text) is not None
        and text.lower() not in _BRAND
        and text not in UNITS
    )


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


_CODE_GROUPS = frozenset("url email handle winpath flag var".split())


def _classify(group: str, text: str, start: int, end: int) -> tuple[Piece, ...]:
    kind = PUNCT
    if group == "run":
        kind = _run_kind(text)
    elif group in ("abbr", "slash", "tic", "numero"):
        kind = WORD
    elif group in ("number", "wide"):
        kind = NUMBER
        if text.count(".") > 1 and _VERSION.match(text):
            kind = CODE
    elif group in _CODE_GROUPS:
        kind = CODE
    elif group == "cjk":
        kind = CJK
    elif group == "path":
        return _path(text, start, end)
    elif group == "call":
        return _call(text, start, end)
    return ((text, _lower(text), start, end, kind),)


def _lower(text: str) -> str:
    return text.lower() if text.isascii() else text.lower().replace("’", "'").replace("‑", "-")


def _run_kind(text: str) -> Kind:
    if "_" in text:
        return CODE
    if "." in text and _DOTTED.match(text):
        return CODE
    if text[0].isdigit():
        if text.isdigit() or _ORDINAL.match(text):
            return NUMBER
        unit = _NUMBER_UNIT.match(text)
        if unit and unit[1].lower() in UNITS:
            return NUMBER
    if text.isalpha():
        return CODE if _is_camel(text) else WORD
    if _HASH.match(text) or _UUID.match(text):
        return CODE
    return WORD


_FILE = re.compile(r"[\w.\-@/]*(?:\.\w{1,5}|[\d_]\w*|/)$")


def _path(text: str, start: int, end: int) -> tuple[Piece, ...]:
    """A path is code; words that a slash joins ("and/or", "km/h") are not."""
    lower = text.lower()
    if lower in UNITS:
        return ((text, lower, start, end, WORD),)
    if text[0] in "/~." or _FILE.match(text):
        return ((text, lower, start, end, CODE),)
    pieces: list[Piece] = []
    at = start
    for number, part in enumerate(text.split("/")):
        if number:
            pieces.append(("/", "/", at, at + 1, PUNCT))
            at += 1
        for match in PIECE.finditer(part):
            group = match.lastgroup or "punct"
            s, e = match.span()
            pieces.extend(_classify(group, match[0], at + s, at + e))
        at += len(part)
    return tuple(pieces)


_PLAIN_CALL = re.compile(r"([A-Za-z]+)\((.+)\)$")


def _call(text: str, start: int, end: int) -> tuple[Piece, ...]:
    """``run()`` is code; ``valve(s)`` is a word; ``word(aside)`` is a word and an aside."""
    plain = _PLAIN_CALL.match(text)
    if plain is None or _is_camel(plain[1]) or any(c in text for c in "=,'\"_"):
        return ((text, text.lower(), start, end, CODE),)
    if plain[2] in ("s", "es"):
        return ((text, text.lower(), start, end, WORD),)
    word, inner = plain[1], plain[2]
    at = start + len(word)
    pieces: list[Piece] = [
        (word, word.lower(), start, at, WORD),
        ("(", "(", at, at + 1, PUNCT),
    ]
    at += 1
    for match in PIECE.finditer(inner):
        s, e = match.span()
        pieces.extend(_classify(match.lastgroup or "punct", match[0], at + s, at + e))
    pieces.append((")", ")", end - 1, end, PUNCT))
    return tuple(pieces)


_QUOTES = frozenset("\"'”’»›」』》〉")
_BRACKETS = frozenset(")]}）】")


def _stop(pieces: list[Piece]) -> Stop | None:
    """The stop that closes the pieces, whatever quotes and brackets follow it."""
    quote = bracket = False
    at = len(pieces) - 1
    while at >= 0:
        text = pieces[at][0]
        if pieces[at][4] is not PUNCT:
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
    if kind is PUNCT and text[0] in STOPS or text[0] == "．":
        before = pieces[at - 1] if at else None
        if before is None:
            return Stop(text, "", "", quote, bracket, False)
        stop = Stop(text, before[0], before[1], quote, bracket, False)
        stop.plain = not (quote or bracket) and text in _PLAIN_MARKS and _is_ordinary(before)
        return stop
    if kind is CODE and ("://" in text or "@" in text or text.startswith("www.")):
        return Stop(ADDRESS, "", "", quote, bracket, False)
    if kind is WORD and text.endswith("."):
        return Stop(".", text[:-1], lower[:-1], quote, bracket, True)
    return None


_PLAIN_MARKS = frozenset((".", "!", "?"))


def _is_ordinary(before: Piece) -> bool:
    lower = before[1]
    return lower.isalpha() and len(lower) > 1 and lower not in ABBREVIATIONS and lower not in UNITS


ANALYSERS = {name: Analyser(name) for name in _SPECIAL}
"""Shared by all segmenters: an analysis depends on nothing but the chunk."""
