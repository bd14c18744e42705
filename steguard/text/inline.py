"""Constructs inside a line that may hold white space: code spans, links, tags, placeholders."""

from __future__ import annotations

import re
from enum import Enum
from html import unescape

MAX_SPAN = 1_000
"""No construct inside a line is longer than this."""


class Take(Enum):
    """What to do with a construct."""

    CODE = "code"
    DROP = "drop"
    LINK = "link"
    CHARACTER = "character"
    BREAK = "break"
    RAW = "raw"


Found = tuple[Take, int, int]
"""What it is, where it ends, and (for a link) where its visible text ends."""

WAIT: Found = (Take.DROP, -1, -1)
"""Not to be known before more text has come."""

INLINE_TAGS = frozenset(
    """
    a abbr acronym b bdi bdo big cite del dfn em font i img input ins label mark q s small span
    strike strong sub sup tt u wbr picture source meter progress ruby rt rp time
    """.split()
)
CODE_TAGS = frozenset("code kbd samp var".split())
BLOCK_TAGS = frozenset(
    """
    address article aside blockquote body br button caption center dd details dialog dir div dl dt
    fieldset figcaption figure footer form frame h1 h2 h3 h4 h5 h6 head header hr html iframe
    legend li link main menu meta nav ol optgroup option p param section select summary table
    tbody td tfoot th thead title tr ul
    """.split()
)
RAW_TAGS = frozenset("script style pre textarea svg math template noscript".split())

_RUN = re.compile(r"`+")
_LINK = re.compile(r"\[([^\[\]\n]{0,500})\]")
_WRAPPED = re.compile(r"\[[^\[\]]{1,500}\](?=\()")
_TARGET = re.compile(
    r"\((?:<[^<>\n]{0,500}>|[^\s()<>]*(?:\([^\s()]*\)[^\s()]*)*)(?:[^\S\n]+(?:\"[^\"\n]*\"|'[^'\n]*'))?[^\S\n]*\)"
)
_REF = re.compile(r"\[[^\[\]\n]{0,100}\]")
_BRACKET_TEXT = re.compile(
    r"\[(?:[A-Za-z_#@$][^\[\]\n.!?]{0,80}|\d{1,4}(?:[,–-]\s?\d{1,4})*|\^\w{1,20})\]"
)
_OMISSION = re.compile(r"\[(?:\.{2,4}|…)\]")
_BRACE = re.compile(r"\{\{[^{}\n]{1,100}\}\}|\{%[^{}\n]{1,100}%\}|\{[^{}\n]{1,100}\}")
TAG = re.compile(r"<(/?)([A-Za-z][\w:\-]*)((?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+)>")
_DECLARATION = re.compile(r"<[!?][^<>]*>")
_ANGLE = re.compile(r"<[^<>\n]{1,120}>")
_ENTITY = re.compile(r"&(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")


def code_span(buffer: str, at: int, end: int, *, whole: bool) -> Found | None:
    """A backtick run and its partner of the same length."""
    reach = min(end, at + MAX_SPAN)
    run = _RUN.match(buffer, at, reach)
    assert run
    size = run.end() - at
    mark = run[0]
    close = buffer.find(mark, run.end(), reach)
    while close >= 0:
        other = _RUN.match(buffer, close, reach)
        assert other
        if other.end() - close == size:
            return (Take.CODE, other.end(), 0)
        close = buffer.find(mark, other.end(), reach)
    if whole or end - at >= MAX_SPAN:
        return (Take.CHARACTER, run.end(), 0)
    return WAIT


def bracket(buffer: str, at: int, end: int, *, whole: bool, links: bool) -> Found | None:
    """A link, an image, a placeholder or a reference in square brackets."""
    reach = min(end, at + MAX_SPAN)
    if links and buffer.startswith("[![", at):
        return (Take.DROP, at + 1, 0)
    omission = _OMISSION.match(buffer, at, reach)
    if omission:
        return (Take.CHARACTER, omission.end(), 0)
    text = _LINK.match(buffer, at, reach)
    if text is None:
        if whole or end - at >= MAX_SPAN or _stopped(buffer, at + 1, end, "[]"):
            return None
        return WAIT
    close = text.end() - 1
    if links and text.end() < end:
        sign = buffer[text.end()]
        if sign == "(":
            target = _TARGET.match(buffer, text.end(), reach)
            if target:
                return (Take.LINK, target.end(), close)
            if not whole and end - at < MAX_SPAN:
                return WAIT
        elif sign == "[":
            ref = _REF.match(buffer, text.end(), reach)
            if ref:
                return (Take.LINK, ref.end(), close)
            if not whole and end - at < MAX_SPAN:
                return WAIT
    if _BRACKET_TEXT.match(buffer, at, reach) and len(text[1].split()) <= 5:
        return (Take.CODE, text.end(), 0)
    return None


def wrapped_link(buffer: str, at: int, end: int) -> Found | None:
    """A link whose visible text goes over a line break."""
    reach = min(end, at + MAX_SPAN)
    text = _WRAPPED.match(buffer, at, reach)
    target = _TARGET.match(buffer, text.end(), reach) if text else None
    return (Take.LINK, target.end(), text.end() - 1) if text and target else None


def link_tail(buffer: str, at: int, end: int, *, whole: bool) -> Found | None:
    """What is left of a link around an image: ``](target)``."""
    if at + 1 >= end or buffer[at + 1] != "(":
        return None
    target = _TARGET.match(buffer, at + 1, min(end, at + MAX_SPAN))
    if target:
        return (Take.DROP, target.end(), 0)
    return None if whole or end - at >= MAX_SPAN else WAIT


def _stopped(buffer: str, start: int, end: int, signs: str) -> bool:
    return any(buffer.find(sign, start, end) >= 0 for sign in signs)


def brace(buffer: str, at: int, end: int, *, whole: bool) -> Found | None:
    """A placeholder or data in curly brackets."""
    found = _BRACE.match(buffer, at, min(end, at + 120))
    if found:
        return (Take.CODE, found.end(), 0)
    if whole or end - at >= 120:
        return None
    return WAIT


def angle(buffer: str, at: int, end: int, *, whole: bool, html: bool, markup: bool) -> Found | None:
    """A tag, a comment, an address or a placeholder in angle brackets."""
    following = buffer[at + 1 : at + 2]
    if not following or not (following.isalpha() or following in "/!?"):
        return None if following or whole else WAIT
    reach = min(end, at + MAX_SPAN)
    if html and following in "!?":
        declaration = _DECLARATION.match(buffer, at, reach)
        if declaration:
            return (Take.DROP, declaration.end(), 1)
    tag = TAG.match(buffer, at, reach)
    if tag and (markup or html):
        name = tag[2].lower()
        if name in RAW_TAGS:
            return (Take.RAW, tag.end(), 0)
        if name in CODE_TAGS:
            return _code_element(buffer, at, end, tag, whole=whole)
        if name in BLOCK_TAGS:
            return (Take.BREAK, tag.end(), 0)
        if html or name in INLINE_TAGS:
            return (Take.DROP, tag.end(), 0)
    if not html:
        other = _ANGLE.match(buffer, at, reach)
        if other:
            return (Take.CODE, other.end(), 0)
    if whole or end - at >= MAX_SPAN or buffer.find("<", at + 1, end) >= 0:
        return None
    return WAIT


def _code_element(
    buffer: str, at: int, end: int, tag: re.Match[str], *, whole: bool
) -> Found | None:
    if tag[1]:
        return (Take.DROP, tag.end(), 0)
    close = re.compile(rf"</{tag[2]}\s*>", re.IGNORECASE).search(
        buffer, tag.end(), min(end, at + MAX_SPAN)
    )
    if close:
        return (Take.CODE, close.end(), 0)
    if whole or end - at >= MAX_SPAN:
        return (Take.DROP, tag.end(), 0)
    return WAIT


def entity(buffer: str, at: int, end: int) -> tuple[int, str] | None:
    """The end of a character reference and the character that it stands for."""
    found = _ENTITY.match(buffer, at, end)
    if found is None:
        return None
    text = unescape(found[0])
    return (found.end(), text) if text != found[0] else None
