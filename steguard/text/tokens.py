"""The tokenizer: a chunk without white space becomes words, numbers, code and punctuation.

An abbreviation with inner stops is one token with them (``e.g.``,
``U.S.``); one with a single stop is two (``Dr`` and ``.``). ``lower`` has straight apostrophes.
"""

from __future__ import annotations

import re

from steguard.text.lexicon import UNITS
from steguard.text.model import Kind

WORD, NUMBER, CODE, CJK, PUNCT = Kind.WORD, Kind.NUMBER, Kind.CODE, Kind.CJK, Kind.PUNCT

CJK_RANGE = (
    "\u2e80-\u2fff\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b\u3040-\u30fa\u30fc-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
CJK_STOPS = "。！？；｡"
STOPS = ".!?…‽‼⁇⁈⁉" + CJK_STOPS

_A = f"(?:[^\\W_{CJK_RANGE}\uff10-\uff19]|[\u0300-\u036f\u00ad\u200d])"

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
  | (?P<abbr>(?:(?<![\w.])(?:[^\W\d_]\.){{2,}}(?:[^\W\d_](?![\w]))?
        |(?<![\w.])[A-Z][a-z]{{1,3}}\.(?:[A-Z]\.)+
        |(?<![\w.])[A-Z][a-z]{{0,3}}\.(?=['’]s\b))
        (?:['’]s\b)?)
  | (?P<wide>[\uff10-\uff19]+(?:[．，：][\uff10-\uff19]+)*[％]?)
  | (?P<number>(?:(?<![\w)\]])[+\-−±~≈]?[$€£¥₹]?|(?<=[\w)\]])[$€£¥₹]?)
        \d(?:[.,:/×\-–−]?\d)*+(?:[%‰]|°[CFK]?|[²³])?(?!{_A}|_|[.]\w|[\-‑]{_A}))
  | (?P<numero>[Nn][°º](?!\w))
  | (?P<ellipsis>\[(?:\.\.\.|…)\])
  | (?P<run>{_A}(?:{_A}|_)*
        (?:\((?:s|es)\)(?!\w)|(?:[.'’\-‑_·+]|&(?={_A}{{1,2}}(?!\w)))(?:{_A}|_)+)*
        (?:\+\+|\#(?!\w))?
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
_BRAND = frozenset({"iphone", "ipad", "ipod", "ios", "macos", "ebay", "imac", "itunes", "imessage"})
_VERSION = re.compile(r"[vV]?\d+(?:\.(?:\d+|x|X|\*))+(?:-\w+)*$")


Piece = tuple[str, str, int, int, Kind]


def is_camel(text: str) -> bool:
    return (
        not text.islower()
        and not text.istitle()
        and _CAMEL.match(text) is not None
        and text.lower() not in _BRAND
        and text not in UNITS
    )


_CODE_GROUPS = frozenset("url email handle winpath flag var".split())


def classify(group: str, text: str, start: int, end: int) -> tuple[Piece, ...]:
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
        return CODE if is_camel(text) else WORD
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
            pieces.extend(classify(group, match[0], at + s, at + e))
        at += len(part)
    return tuple(pieces)


_PLAIN_CALL = re.compile(r"([A-Za-z]+)\((.+)\)$")


def _call(text: str, start: int, end: int) -> tuple[Piece, ...]:
    """``run()`` is code; ``valve(s)`` is a word; ``word(aside)`` is a word and an aside."""
    plain = _PLAIN_CALL.match(text)
    if plain is None or is_camel(plain[1]) or any(c in text for c in "=,'\"_"):
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
        pieces.extend(classify(match.lastgroup or "punct", match[0], at + s, at + e))
    pieces.append((")", ")", end - 1, end, PUNCT))
    return tuple(pieces)
