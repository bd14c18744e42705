"""The tokenizer: a chunk without white space becomes words, numbers, code and punctuation.

A chunk's analysis does not depend on its neighbours, so it is remembered: most chunks of a text
are words that came before. An abbreviation with inner stops is one token with them (``e.g.``,
``U.S.``); one with a single stop is two (``Dr`` and ``.``). ``lower`` has straight apostrophes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from steguard.text.lexicon import STARTERS, UNITS
from steguard.text.model import Kind

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
    (?P<url>(?:(?:https?|ftps?|file|ssh|git|wss?|s3|data|tel|mailto)://|mailto:|www\.)
        [^\s<>"“”‘’`{CJK_STOPS}，、）{CJK_RANGE}]*[^\s<>"“”‘’'`{CJK_STOPS}，、）{CJK_RANGE}.,;:!?)\]}}*_~…])
  | (?P<email>[\w.+\-]++@[\w\-]++(?:\.[\w\-]*[\w])*+)
  | (?P<handle>[@\#](?=[\w\-]*\w)[\w\-]+(?<![\-]))
  | (?P<winpath>(?:[A-Za-z]:\\|\\\\)[\w.\\\-$]*[\w\\$])
  | (?P<path>(?<![\w])(?:~|\.\.?)?/[\w.\-@+%]*[\w](?:/[\w.\-@+%]*[\w])*/?
        |(?<![\w./])[\w.\-@]+(?:/[\w.\-@]+)+(?<=[\w])(?:/(?!\w))?)
  | (?P<flag>(?<![\w\-])(?:--[A-Za-z][\w\-]*(?:=[\w.\-/]*[\w/])?|-[A-Za-z](?![\w\-])))
  | (?P<var>\$[A-Za-z_]\w*|%[A-Za-z_]\w*%)
  | (?P<call>[A-Za-z_][\w.]*\((?:[^\s()]*)\)(?![\w]))
  | (?P<slash>[A-Z]/[A-Z](?!\w))
  | (?P<abbr>(?:(?<![\w.])(?:[^\W\d_]\.){{2,}}(?:[^\W\d_](?![\w]))?|(?<![\w.])[A-Z][a-z]{{1,3}}\.(?:[A-Z]\.)+|(?<![\w.])[A-Z][a-z]{{0,3}}\.(?=['’]s\b))
        (?:['’]s\b)?)
  | (?P<wide>[\uff10-\uff19]+(?:[．，：][\uff10-\uff19]+)*[％]?)
  | (?P<number>(?:(?<![\w)\]])[+\-−±~≈]?[$€£¥₹]?|(?<=[\w)\]])[$€£¥₹]?)
        \d(?:[\d.,:/×\-–−]*+(?<=[\d]))?(?:[%‰]|°[CFK]?|[²³])?(?!{_A}|_|[.]\w))
  | (?P<ellipsis>\[(?:\.\.\.|…)\])
  | (?P<run>{_A}(?:{_A}|_)*(?:\((?:s|es)\)(?!\w)|(?:[.'’\-‑_·+]|&(?={_A}{{1,2}}(?!\w)))(?:{_A}|_)+)*(?:\+\+|\#(?!\w))?
        |_+{_A}(?:{_A}|_)*)
  | (?P<tic>['’](?:s|t|re|ve|ll|d|m|em|til|cause|tis|twas|\d\ds)(?!\w))
  | (?P<cjk>[{CJK_RANGE}])
  | (?P<stop>[.!?…‽‼⁇⁈⁉]+|[{CJK_STOPS}．]+)
  | (?P<escape>\\[!-/:-@\[-`{{-~])
  | (?P<dash>[\-–—]{{2,}})
  | (?P<mark>[*_~]+)
  | (?P<unit>°[CFK]?|[%‰])
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
    "markdown": re.compile(r"[`\[<{&\]]"),
    "plain": re.compile(r"[`\[<{]"),
    "html": re.compile(r"[`\[<{&]"),
}

FACE, ADDRESS, SYMBOL = "☺", "@", "◆"
SOFT_MARKS = frozenset((FACE, ADDRESS, SYMBOL))
"""Marks of a :class:`Stop` that is none by itself: an emoticon, an address, an emoji."""

_FACE = re.compile(r"(?:[:;=][\-o^']?[)(DPpO\]\[|/\\3*]+|<3+|\^[_.]*\^|[xX]D+)$")
_EMOJI = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff\ufe0f\u200d\U000e0020-\U000e007f]+$")
_LINE = re.compile(r"([=_*~#\-–—])\1{7,}$")
_DOTS = re.compile(r"[.…]+$")

Piece = tuple[str, str, int, int, Kind]

LOOK = 1
"""Bit of :attr:`Chunk.care`: numbers, quotes or parentheses that the word count must look at."""


@dataclass(slots=True)
class Stop:
    """A sentence stop at the end of a chunk: its mark, the word before, what closes after it.

    ``dotted``: the stop is part of an abbreviation. ``spaced`` counts marks of a spaced ellipsis
    (``. . .``) after the first.
    """

    mark: str
    word: str
    lower: str
    quote: bool
    bracket: bool
    dotted: bool
    spaced: int = 0


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


class Analyser:
    """Chunks of one text format, remembered."""

    LIMIT = 50_000
    LONGEST = 40

    def __init__(self, format: str) -> None:  # noqa: A002 - the public name
        self._special = _SPECIAL[format]
        self._marks = format == "markdown"
        self.known: dict[str, Chunk] = {}

    def learn(self, text: str) -> Chunk:
        """Analyse a chunk and remember it if it is short."""
        chunk = self._analyse(text)
        if len(text) <= self.LONGEST:
            if len(self.known) >= self.LIMIT:
                self.known.clear()
            self.known[text] = chunk
        return chunk

    def _analyse(self, text: str) -> Chunk:
        if text.isascii() and text.isalpha() and not _is_camel(text):
            return Chunk(text.lower())
        if _FACE.match(text) or _EMOJI.match(text):
            mark = FACE if text.isascii() else SYMBOL
            piece = (text, text.lower(), 0, len(text), PUNCT)
            return Chunk(None, (piece,), 0, 0, Stop(mark, "", "", False, False, False), tail=True)
        if _LINE.match(text):
            return Chunk(None, line=True)
        if self._special.search(text):
            return Chunk(None, special=True)
        return self.split(text)

    def split(self, text: str) -> Chunk:
        """The pieces of a chunk that has no marks with far-reaching meaning."""
        cut = _cut(text)
        if cut:
            return Chunk(None, cut=cut)
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
                        care |= LOOK
                pieces.append(piece)
        tail = _DOTS.match(text) is not None
        return Chunk(None, tuple(pieces), words, care, _stop(pieces), tail=tail)


def _care(text: str) -> int:
    return LOOK if text in _PAIRED else 0


_PAIRED = frozenset("\"'“”‘’«»()（）「」『』％%°")


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
    elif group in ("abbr", "slash", "tic"):
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
        return Stop(text, before[0], before[1], quote, bracket, False)
    if kind is CODE and ("://" in text or "@" in text or text.startswith("www.")):
        return Stop(ADDRESS, "", "", quote, bracket, False)
    if kind is WORD and text.endswith("."):
        return Stop(".", text[:-1], lower[:-1], quote, bracket, True)
    return None


ANALYSERS = {name: Analyser(name) for name in _SPECIAL}
"""Shared by all segmenters: an analysis depends on nothing but the chunk."""
