"""Text inside a block, read chunk by chunk.

The hot loop takes text a window at a time, cut at spaces, and knows most chunks from before. A
chunk whose meaning depends on what follows (a bracket, a backtick, a tag) is read by itself.
"""

from __future__ import annotations

import re

from steguard.text.boundaries import ends
from steguard.text.chunks import (
    ADDRESS,
    MAX_CHUNK,
    PAIRS,
    Stop,
)
from steguard.text.inline import (
    MAX_SPAN,
    TAG,
    WAIT,
    Found,
    Take,
    angle,
    brace,
    bracket,
    code_span,
    entity,
    link_tail,
    wrapped_link,
)
from steguard.text.model import BlockKind, Kind, Token
from steguard.text.opensentence import MAX_SENTENCE, OpenSentence
from steguard.text.tokens import CJK_STOPS

_WINDOW = 1_000
_CLOSERS = "[”’」』）)\"'》】]"
_CHUNK = re.compile(
    rf"[^\s{CJK_STOPS}]{{1,{MAX_CHUNK}}}(?:[{CJK_STOPS}]{{1,8}}{_CLOSERS}{{0,8}}+)?"
    rf"|[{CJK_STOPS}]{{1,8}}{_CLOSERS}{{0,8}}+"
)
SLACK = 20
"""A chunk may be so much longer than ``MAX_CHUNK``."""
_ODD_SPACE = re.compile(r"[^\S ]")
_STABLE_CJK = re.compile(rf"[{CJK_STOPS}]{_CLOSERS}{{0,8}}+(?=[^\s{CJK_STOPS}])")
_LAST_SPACE = re.compile(r".*\s", re.DOTALL)
_SAME = re.compile(r"(.)\1*", re.DOTALL)
_SPACES = re.compile(r"\s*")
_SIGNS = {
    "markdown": re.compile(r"[`\[<{\]]|!(?=\[)|\$(?=\{)|&(?=#?\w{1,31};)"),
    "plain": re.compile(r"[`\[<{]|\$(?=\{)"),
    "html": re.compile(r"[`\[<{]|\$(?=\{)|&(?=#?\w{1,31};)"),
}
_GLUED_TAIL = re.compile(r"['’]?(?:s|es|ed|ing)?(?!\w)|(?:-\w{1,20}){1,4}(?!\w)")
_TAIL = 100
"""So much may hang on a span, as the "s" of a plural does."""
_WORD, _NUMBER, _CODE, _PUNCT = Kind.WORD, Kind.NUMBER, Kind.CODE, Kind.PUNCT


def _is_open(found: Found | None) -> bool:
    return found is None or found[0] is Take.CHARACTER


def _is_citation(text: str, at: int) -> bool:
    """``[1]`` or ``[^note]`` right after a stop: the stop still ends the sentence."""
    return text[at] == "[" and (text[at + 1].isdigit() or text[at + 1] == "^")


class Prose(OpenSentence):
    """Reads text inside blocks; :class:`steguard.text.segment.Segmenter` finds the blocks."""

    def __init__(self, format: str, language: str) -> None:
        super().__init__(format, language)
        self._signs = _SIGNS[format]
        self._html = format == "html"
        self._markup = format == "markdown"
        self._row = False
        self._pos = 0
        self._held = 0
        self._final = False
        self._forced = False
        self._wake: tuple[str, int] | None = None
        self._skip_end: re.Pattern[str] | None = None

    # -- chunks ----------------------------------------------------------------------------------

    def _inline(self, limit: int, whole: bool) -> bool:
        """Read chunks up to ``limit``; False if a construct needs more text."""
        spaces = _SPACES.match
        if whole:
            self._forced = False
        while self._pos < limit:
            before = self._pos
            if not self._window(limit, whole):
                return False
            if self._is_raw():
                break
            if self._pos == before:
                at = spaces(self._buffer, self._pos, limit).end()  # type: ignore[union-attr]
                at = self._slow(at, limit, whole)
                if at < 0:
                    self._pos = self._held
                    return False
                self._pos = at
                if self._is_raw():
                    break
        return True

    def _is_raw(self) -> bool:
        """Whether a comment or a script has begun, whose end is yet to be found."""
        return self._skip_end is not None

    def _stable(self, end: int) -> int:
        """Up to where the chunks of an unfinished line cannot change any more."""
        buffer, pos = self._buffer, self._pos
        self._forced = False
        at = max(pos, buffer.rfind(" ", pos, end))
        if not buffer.isascii():
            for match in _STABLE_CJK.finditer(buffer, at, end):
                at = match.end()
        if at == pos and end - pos > MAX_CHUNK + SLACK:
            start = _SPACES.match(buffer, pos, end).end()  # type: ignore[union-attr]
            space = _ODD_SPACE.search(buffer, start, end)
            if space:
                return space.start()
            whole_chunks = (end - start - SLACK) // MAX_CHUNK
            if whole_chunks > 0:
                self._forced = True
                return start + whole_chunks * MAX_CHUNK
        return at

    def _window(self, limit: int, whole: bool) -> bool:
        """Read the chunks that a window holds; False if one needs more text than there is."""
        buffer, base, pos = self._buffer, self._base, self._pos
        end = self._window_end(pos, limit)
        if not end:
            return True
        text = buffer[pos:end]
        if not text.isprintable():
            text = _ODD_SPACE.sub(" ", text)
        known, learn = self._analyser.known.get, self._analyser.learn
        row = self._row
        at = base + pos
        tokens, lowers, stop = self._tokens, self._lowers, self._stop
        hard = (self._start if tokens else at) + MAX_SENTENCE
        for word in text.split(" "):
            if not word:
                at += 1
                continue
            chunk = known(word) or learn(word)
            lower = chunk.word
            if lower is not None and stop is None and at < hard:
                if not tokens:
                    self._start = at
                    hard = at + MAX_SENTENCE
                last = at + len(word)
                tokens.append(Token(word, lower, at, last, _WORD))
                lowers.append(lower)
                self._last = last
                at = last + 1
                continue
            if stop is None and chunk.simple and at < hard and not row:
                if not tokens:
                    self._start = at
                    hard = at + MAX_SENTENCE
                for piece, lower, first, end_of, kind in chunk.pieces:
                    tokens.append(Token(piece, lower, at + first, at + end_of, kind))
                    lowers.append(lower)
                self._marks += len(chunk.pieces) - chunk.words
                self._care |= chunk.care
                self._last = at = at + len(word)
                at += 1
                continue
            if chunk.special or (row and "|" in word):
                here = at - base
                self._pos = after = self._slow(here, limit, whole)
                if after < 0:
                    self._pos = self._held
                    return False
                if after != here + len(word) or self._skip_end is not None:
                    return True
            else:
                if stop is not None:
                    self._decide(stop, word, True, chunk)
                if at >= hard and self._tokens:
                    self._end_sentence()
                self._add(word, at, chunk, True)
            at += len(word) + 1
            tokens, lowers, stop = self._tokens, self._lowers, self._stop
            hard = (self._start if tokens else at) + MAX_SENTENCE
        self._pos = min(at - base, end)
        return True

    def _window_end(self, pos: int, limit: int) -> int:
        """Where a window that begins at ``pos`` ends, 0 if none can begin there."""
        buffer = self._buffer
        if self._forced or (self._base + pos == self._last and not buffer[pos].isspace()):
            return 0
        if limit - pos <= _WINDOW:
            return limit
        end = buffer.rfind(" ", pos, pos + _WINDOW) + 1
        if end <= pos:
            odd = _LAST_SPACE.match(buffer, pos, pos + _WINDOW)
            return odd.end() if odd else 0
        return end

    # -- marks with far-reaching meaning -----------------------------------------------------------

    def _slow(self, at: int, limit: int, whole: bool) -> int:
        """Read one chunk with care; return where to go on, -1 to wait for more text."""
        buffer = self._buffer
        while at < limit:
            sign = buffer[at]
            if sign.isspace():
                return at
            jump = self._links.pop(self._base + at, 0)
            if jump:
                at = jump - self._base
                self._last = jump
                continue
            if self._row and sign == "|":
                self._end_block()
                self._open(BlockKind.TABLE_CELL, at + 1)
                at += 1
                self._last = self._base + at
                continue
            if self._forced and sign in "`[!]{<&$" and limit - at < MAX_SPAN + _TAIL:
                self._held = at
                return -1
            found = self._construct(sign, at, limit, whole)
            if whole and self._markup and sign in "`[" and _is_open(found):
                found = self._wrapped(sign, at, limit, found)
            if found is WAIT:
                self._held = at
                self._wake = ("`]})>< \n", at + MAX_SPAN)
                return -1
            if found is None:
                end = self._run_of_text(at, limit)
                if end < 0:
                    self._held = at
                    return -1
                at = end
                if self._stop is not None and self._stop.mark[0] in CJK_STOPS:
                    return at
            else:
                at = self._take(found, at, limit)
                if self._skip_end is not None:
                    return at
        return at

    def _run_of_text(self, at: int, limit: int) -> int:
        """Text up to the next sign that may open something, or to the end of the chunk."""
        buffer, base = self._buffer, self._base
        here = _CHUNK.match(buffer, at, limit + SLACK if self._forced else limit)
        end = here.end() if here else limit
        same = _SAME.match(buffer, at, end)
        after = same.end() if same and same.end() - at > 3 else at + 1
        match = self._signs.search(buffer, after, end)
        if match:
            end = match.start()
        elif end >= limit and self._forced and end - at < MAX_CHUNK:
            return -1
        for position in self._links:
            if at < position - base < end:
                end = position - base
        if self._row:
            pipe = buffer.find("|", at + 1, end)
            while pipe > 0 and buffer[pipe - 1] == "\\":
                pipe = buffer.find("|", pipe + 1, end)
            end = pipe if pipe >= 0 else end
        text = buffer[at:end]
        spaced = base + at > self._last
        chunk = self._analyser.split(text)
        if self._stop is not None:
            self._decide(self._stop, text, spaced, chunk)
        if self._tokens and base + at - self._start >= MAX_SENTENCE:
            self._end_sentence()
        self._add(text, base + at, chunk, spaced)
        return end

    def _construct(self, sign: str, at: int, limit: int, whole: bool) -> Found | None:
        buffer, markup = self._buffer, self._markup
        if sign == "`":
            return code_span(buffer, at, limit, whole=whole)
        if sign == "[":
            return bracket(buffer, at, limit, whole=whole, links=markup)
        if sign == "]" and markup:
            return link_tail(buffer, at, limit, whole=whole)
        if sign == "!" and markup and buffer.startswith("[", at + 1):
            found = bracket(buffer, at + 1, limit, whole=whole, links=True)
            return found if found is None or found is WAIT else (Take.CODE, found[1], 0)
        if sign == "{":
            return brace(buffer, at, limit, whole=whole)
        if sign == "$" and buffer.startswith("{", at + 1):
            return brace(buffer, at + 1, limit, whole=whole)
        if sign == "<":
            if self._html and buffer.startswith("<!--", at):
                return (Take.RAW, at + 4, 0)
            return angle(buffer, at, limit, whole=whole, html=self._html, markup=markup)
        if sign == "&" and (markup or self._html):
            known = entity(buffer, at, limit)
            return self._entity(at, *known) if known else None
        return None

    def _wrapped(self, sign: str, at: int, limit: int, found: Found | None) -> Found | None:
        """A code span or a link that is not closed on its line may go on on the next one."""
        beyond = self._beyond(limit)
        if beyond < 0:
            return WAIT
        if beyond:
            if sign == "`":
                return code_span(self._buffer, at, beyond, whole=True)
            link = wrapped_link(self._buffer, at, beyond)
            if link is not None and link[2] > limit:
                return link
        return found

    def _beyond(self, limit: int) -> int:
        """Where the next line of the same text ends: 0 if there is none, -1 to wait."""
        raise NotImplementedError

    def _entity(self, at: int, end: int, text: str) -> Found:
        if text.isspace():
            return (Take.DROP, end, 1)
        start, stop = self._base + at, self._base + end
        before = self._tokens[-1] if self._tokens else None
        if before is not None and before.end == start and before.kind is _WORD and text.isalnum():
            self._tokens[-1] = Token(
                before.text + self._buffer[at:end],
                before.lower + text.lower(),
                before.start,
                stop,
                _WORD,
            )
            self._lowers[-1] = self._tokens[-1].lower
            self._last = stop
            return (Take.DROP, end, 1)
        self._decide_mark(at)
        kind = _WORD if text.isalnum() else _PUNCT
        if kind is _PUNCT:
            self._care |= PAIRS
        self._put(Token(self._buffer[at:end], text.lower(), start, stop, kind))
        return (Take.DROP, end, 1)

    def _take(self, found: Found, at: int, limit: int) -> int:
        take, end, inner = found
        base = self._base
        if take is Take.CODE:
            stop = self._stop
            cited = stop is not None and base + at == self._last and _is_citation(self._buffer, at)
            self._decide_mark(at)
            tail = _GLUED_TAIL.match(self._buffer, end, max(end, limit))
            if tail and not self._links:
                end = tail.end()
            text = self._buffer[at:end]
            self._put(Token(text, text.lower(), base + at, base + end, _CODE))
            if cited and self._tokens:
                self._stop = stop
            elif text[0] == "<" and "@" in text:
                self._stop = Stop(ADDRESS, "<", "<", False, False, False)
        elif take is Take.CHARACTER:
            self._decide_mark(at)
            text = self._buffer[at:end]
            self._put(Token(text, text, base + at, base + end, _PUNCT))
        elif take is Take.LINK:
            self._links[base + inner] = base + end
            self._end_wide()
            self._glue(at, at + 1)
            self._leading(base + at, base + at + 1)
            return at + 1
        elif take is Take.DROP:
            if not inner:
                opening = self._buffer[at + 1 : at + 2] != "/"
                if opening:
                    self._end_wide()
                self._glue(at, end)
                if opening:
                    self._leading(base + at, base + end)
        elif take is Take.BREAK:
            self._break(at)
        else:
            tag = TAG.match(self._buffer, at, end)
            if tag is None or not tag[1]:
                self._end_block()
                pattern = rf"</{tag[2]}\s{{0,8}}>" if tag else "-->"
                self._skip_end = re.compile(pattern, re.IGNORECASE)
        return end

    def _end_wide(self) -> None:
        """Markup opens right after a Chinese stop: the sentence ends before it."""
        if self._stop is not None and self._stop.mark[0] in CJK_STOPS:
            self._end_sentence()

    def _glue(self, at: int, end: int) -> None:
        """Markup without width: what follows it stands as close as the markup itself does."""
        if self._tokens and self._base + at == self._last:
            self._last = self._base + end

    def _decide_mark(self, at: int) -> None:
        """A stop is open and a span or a sign comes next."""
        stop = self._stop
        if stop is None:
            return
        spaced = self._base + at > self._last
        if (spaced or stop.mark[0] in CJK_STOPS) and ends(stop, self._tokens, "`"):
            self._end_sentence()
        self._stop = None

    def _break(self, at: int) -> None:
        raise NotImplementedError
