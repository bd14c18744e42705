"""Text to sentences, whole or piece by piece: the same code does both.

The law: for any way to cut a text into pieces, ``feed`` on each piece and then ``close`` give
the sentences that :func:`segment` gives for the whole. It holds because each step waits until
what has come decides it, and then never looks at how much more has come.
"""

from __future__ import annotations

import re

from steguard.text.blocks import (
    MAX_LINE,
    Line,
    Role,
    opens_front_matter,
    read_line,
)
from steguard.text.boundaries import ends
from steguard.text.count import count
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
)
from steguard.text.lists import ListRun
from steguard.text.model import Block, BlockKind, Kind, Sentence, Token
from steguard.text.tokens import ANALYSERS, CJK_STOPS, LOOK, SOFT_MARKS, Chunk, Stop

MAX_CHUNK = 800
"""A stretch without white space longer than this is cut."""

MAX_SENTENCE = 20_000
"""A sentence longer than this is cut, so that a stream stays bounded."""

_CJK_CLOSERS = "[”’」』）)\"'》】]"
_CHUNK = re.compile(
    rf"[^\s{CJK_STOPS}]{{1,{MAX_CHUNK}}}(?:[{CJK_STOPS}]+{_CJK_CLOSERS}*+)?"
    rf"|[{CJK_STOPS}]+{_CJK_CLOSERS}*+"
)
_CHUNK_ASCII = re.compile(rf"\S{{1,{MAX_CHUNK}}}")
_STABLE_CJK = re.compile(rf"[{CJK_STOPS}]{_CJK_CLOSERS}*+(?=[^\s{CJK_STOPS}])")
_SPACE = re.compile(r"\s")
_SPECIAL_SIGNS = {
    "markdown": re.compile(r"[`\[<{&!\]]|\s"),
    "plain": re.compile(r"[`\[<{]|\s"),
    "html": re.compile(r"[`\[<{&]|\s"),
}
_LABEL = frozenset({"warning", "caution", "note", "notes", "danger", "notice", "important", "tip"})
_LABELS = {"notes": "note"}
_FENCE_END = re.compile(r"[^\S\n]{0,40}(?:>[^\S\n]?)*[^\S\n]*(`{3,}|~{3,})[^\S\n]*$")
_HTML_KINDS = {
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), BlockKind.HEADING),
    "li": BlockKind.LIST_ITEM,
    "td": BlockKind.TABLE_CELL,
    "th": BlockKind.TABLE_CELL,
    "blockquote": BlockKind.QUOTE,
}
_GLUED_TAIL = re.compile(r"['’]?(?:s|es|ed|ing)?(?![\w])|(?:-\w+)+")


def segment(text: str, *, format: str = "markdown", language: str = "en") -> list[Sentence]:  # noqa: A002
    """All sentences of a text, in order."""
    segmenter = Segmenter(format=format, language=language)
    sentences = segmenter.feed(text)
    sentences.extend(segmenter.close())
    return sentences


class Segmenter:
    """Sentences from text that comes in pieces."""

    def __init__(self, *, format: str = "markdown", language: str = "en") -> None:  # noqa: A002
        if format not in ANALYSERS:
            raise ValueError(f"unknown format {format!r}; use markdown, plain or html")
        self.format, self.language = format, language
        self._analyser = ANALYSERS[format]
        self._signs = _SPECIAL_SIGNS[format]
        self._html = format == "html"
        self._markup = format == "markdown"
        self._characters = language == "zh"
        self._buffer = ""
        self._base = 0
        self._pos = 0
        self._final = False
        self._wake: tuple[str, int] | None = None
        # lines and blocks
        self._line_start = not self._html
        self._first_line = True
        self._skip: str = ""
        self._skip_end: re.Pattern[str] | None = None
        self._blocks = 0
        self._block: Block | None = None
        self._row = False
        self._quoted = False
        self._indents: list[int] = []
        self._label: str | None = None
        self._lists: list[list[int]] = []
        # the open sentence
        self._out: list[Sentence] = []
        self._tokens: list[Token] = []
        self._start = 0
        self._last = -1
        self._care = 0
        self._stop: Stop | None = None
        self._index = 0
        self._list = ListRun()
        self._links: dict[int, int] = {}
        self._settled = 0

    # -- the public face ---------------------------------------------------------------------

    @property
    def pending_start(self) -> int:
        """The offset of the first character that is not yet inside a returned sentence."""
        return self._settled

    def feed(self, chunk: str) -> list[Sentence]:
        """Take the next piece; return the sentences that are now complete."""
        if not chunk:
            return []
        buffer = self._buffer
        self._buffer = ""
        buffer += chunk
        self._buffer = buffer
        if self._wake is not None:
            signs, size = self._wake
            if len(buffer) < size and not any(sign in chunk for sign in signs):
                return []
            self._wake = None
        return self._run()

    def close(self) -> list[Sentence]:
        """The text is complete; return the last sentences."""
        self._final = True
        out = self._run()
        self._end_block()
        out.extend(self._take())
        return out

    def _take(self) -> list[Sentence]:
        out = self._out
        self._out = []
        return out

    # -- lines ---------------------------------------------------------------------------------

    def _run(self) -> list[Sentence]:
        if self._html:
            self._run_html()
        else:
            self._run_lines()
        self._trim()
        return self._take()

    def _trim(self) -> None:
        keep = self._pos
        if self._tokens:
            keep = min(keep, self._start - self._base)
        if keep > 4096 or keep == len(self._buffer):
            self._buffer = self._buffer[keep:]
            self._base += keep
            self._pos -= keep

    def _run_lines(self) -> None:
        buffer = self._buffer
        size = len(buffer)
        while self._pos < size:
            newline = buffer.find("\n", self._pos)
            end = newline if newline >= 0 else size
            whole = newline >= 0 or self._final
            if self._line_start and self._skip_end is None:
                if not self._begin_line(self._pos, end, whole):
                    return
                if self._line_start:  # the line held no text
                    self._settle(min(end + 1, size))
                    self._pos = end + 1
                    continue
            self._line_start = False
            if self._skip_end is None or self._leave_raw(end):
                if not self._inline(end if whole else self._stable(end), whole):
                    return
                if self._skip_end is not None:
                    continue
            if not whole:
                return
            self._end_line()
            self._line_start = True
            self._pos = end + 1
        self._pos = min(self._pos, size)

    def _stable(self, end: int) -> int:
        """Up to where the chunks of an unfinished line cannot change any more."""
        buffer = self._buffer
        at = self._pos
        for index in range(end - 1, max(at, end - MAX_CHUNK) - 1, -1):
            if buffer[index].isspace():
                at = index
                break
        if at == self._pos and end - at > MAX_CHUNK + 20:
            spaces = list(_SPACE.finditer(buffer, at, end))
            at = spaces[-1].start() if spaces else at + (end - at - 20) // MAX_CHUNK * MAX_CHUNK
        for match in _STABLE_CJK.finditer(buffer, at, end):
            at = match.end()
        return at

    def _settle(self, at: int) -> None:
        if not self._tokens:
            self._settled = max(self._settled, self._base + at)

    def _begin_line(self, start: int, end: int, whole: bool) -> bool:
        """Find the role of a line and act on it; False if more text is needed."""
        if self._skip:
            return self._skip_line(start, end, whole)
        line = read_line(
            self._buffer, start, end, whole=whole, markup=self._markup, first=self._first_line
        )
        if line is None:
            return False
        self._first_line = False
        self._act(line, start, end)
        return True

    def _skip_line(self, start: int, end: int, whole: bool) -> bool:
        """A line inside code or front matter."""
        if not whole:
            return False
        text = self._buffer[start:end]
        if self._skip == "front?":
            if not opens_front_matter(text):
                self._skip = ""
                return self._begin_line(start, end, whole)
            self._skip = "---"
        if self._skip == "---":
            if text.strip() in ("---", "..."):
                self._skip = ""
            return True
        fence = _FENCE_END.match(text) if len(text) < 200 else None
        if fence and fence[1].startswith(self._skip):
            self._skip = ""
        return True

    def _act(self, line: Line, start: int, end: int) -> None:
        """Let a line open or close blocks; afterwards ``_line_start`` says if it held no text."""
        role = line.role
        if role is Role.TEXT:
            self._text_line(line, start)
        elif role is Role.ITEM:
            self._item_line(line, start)
        elif role is Role.HEADING:
            self._end_block()
            self._open(BlockKind.HEADING, start, level=line.level)
        elif role is Role.ROW:
            self._end_block()
            self._row = True
            self._open(BlockKind.TABLE_CELL, start)
        elif role is Role.CODE:
            self._code_line(line, start, end)
            return
        elif role in (Role.COMMENT, Role.RAW):
            self._end_block()
            self._quoted = line.quoted
            self._skip_end = re.compile(
                "-->" if role is Role.COMMENT else rf"</{line.marker}\s*>", re.IGNORECASE
            )
        else:
            self._structure_line(line)
            return
        self._line_start = False
        self._pos = line.start

    def _structure_line(self, line: Line) -> None:
        if line.role is Role.UNDERLINE and self._block is not None:
            if self._block.kind is BlockKind.PARAGRAPH and self._tokens and not self._index:
                self._block.kind = BlockKind.HEADING
                self._block.level = line.level
        elif line.role is Role.FENCE:
            self._skip = line.marker
        elif line.role is Role.FRONT:
            self._skip = "front?"
        self._end_block()
        if line.role is not Role.BLANK:
            self._label = None

    def _code_line(self, line: Line, start: int, end: int) -> None:
        self._end_block()
        self._open(BlockKind.PARAGRAPH, start)
        text = self._buffer[line.start : end].rstrip()
        at = self._base + line.start
        self._start = at
        self._tokens.append(Token(text, text.lower(), at, at + len(text), Kind.CODE))
        self._last = at + len(text)
        self._end_block()

    def _text_line(self, line: Line, start: int) -> None:
        block = self._block
        if block is not None and line.quoted == self._quoted:
            return
        self._end_block()
        kind = BlockKind.QUOTE if line.quoted else BlockKind.PARAGRAPH
        self._open(kind, start)
        self._quoted = line.quoted
        if not line.indent:
            self._indents.clear()

    def _item_line(self, line: Line, start: int) -> None:
        self._end_block()
        indents = self._indents
        while indents and line.indent <= indents[-1] - 1:
            indents.pop()
        if not indents or line.indent >= indents[-1] + 2:
            indents.append(line.indent)
        marker = line.marker.strip("*_")
        ordered = marker[-1:] in ".):" or marker[:1].isdigit()
        self._open(
            BlockKind.LIST_ITEM, start, level=len(indents), ordered=ordered, marker=marker
        )
        self._quoted = line.quoted
        self._list.begin(marker)

    def _leave_raw(self, end: int) -> bool:
        """Look for the end of a comment or of a script; True if text follows on this line."""
        assert self._skip_end is not None
        found = self._skip_end.search(self._buffer, self._pos, end)
        if found is None:
            if not self._final and end == len(self._buffer):
                self._pos = max(self._pos, end - 20)
            else:
                self._pos = end
            self._settle(self._pos)
            return False
        self._skip_end = None
        self._pos = found.end()
        self._settle(self._pos)
        return True

    def _end_line(self) -> None:
        block = self._block
        if block is not None and block.kind in (BlockKind.HEADING, BlockKind.TABLE_CELL):
            self._end_block()
        self._row = False

    # -- blocks and sentences --------------------------------------------------------------------

    def _open(
        self,
        kind: BlockKind,
        start: int,
        *,
        level: int = 0,
        ordered: bool = False,
        marker: str = "",
    ) -> None:
        self._block = Block(
            kind, self._base + start, self._blocks, level, ordered, marker, self._label
        )
        self._label = None
        self._blocks += 1
        self._index = 0
        self._list.reset()

    def _end_block(self) -> None:
        if self._tokens:
            self._end_sentence()
        self._tokens = []
        self._stop = None
        self._block = None
        self._links.clear()

    def _end_sentence(self) -> None:
        tokens = self._tokens
        block = self._block
        if block is None:
            self._open(BlockKind.PARAGRAPH, self._start - self._base)
            block = self._block
            assert block is not None
        if self._index == 0 and self._take_label(tokens, block):
            return
        base = self._base
        start, end = self._start, self._last
        lowers = [token.lower for token in tokens]
        asides: tuple[tuple[int, int, int], ...] = ()
        if self._care & LOOK or self._characters:
            words, asides = count(tokens, characters=self._characters)
        else:
            words = sum([token.kind is not Kind.PUNCT for token in tokens])
        self._out.append(
            Sentence(
                self._buffer[start - base : end - base],
                start,
                end,
                block,
                self._index,
                tokens,
                lowers,
                frozenset(lowers),
                words,
                self._stop is not None and self._stop.mark not in SOFT_MARKS,
                self.language,
                asides,
            )
        )
        self._index += 1
        self._settled = end
        self._fresh()

    def _fresh(self) -> None:
        self._tokens = []
        self._care = 0
        self._stop = None

    def _take_label(self, tokens: list[Token], block: Block) -> bool:
        """Take "WARNING:" from the front of a block; True if nothing else is there."""
        first = tokens[0].lower
        if first not in _LABEL:
            if first != "[!" and not (first.startswith("[!") and first[2:-1] in _LABEL):
                return False
            first = first[2:-1]
        label = _LABELS.get(first, first)
        if len(tokens) == 1:
            block.label = self._label = label
            return False
        if tokens[1].text not in (":", "：", "!"):
            return False
        block.label = label
        if len(tokens) == 2:
            self._label = label
            return False
        del tokens[:2]
        self._start = tokens[0].start
        return False

    # -- text inside a line ----------------------------------------------------------------------

    def _inline(self, limit: int, whole: bool) -> bool:
        """Read chunks up to ``limit``; False if a construct needs more text."""
        buffer, base = self._buffer, self._base
        known = self._analyser.known
        learn = self._analyser.learn
        word_kind = Kind.WORD
        pattern = _CHUNK_ASCII if buffer.isascii() else _CHUNK
        while True:
            special = -1
            for match in pattern.finditer(buffer, self._pos, limit):
                text = match[0]
                start, end = match.span()
                chunk = known.get(text) or learn(text)
                spaced = base + start > self._last
                if chunk.special or self._row and "|" in text:
                    special = start
                    break
                if self._stop is not None:
                    self._decide(text, spaced, chunk)
                if chunk.word is not None:
                    tokens = self._tokens
                    if not tokens:
                        self._start = base + start
                    tokens.append(Token(text, chunk.word, base + start, base + end, word_kind))
                    self._last = base + end
                    continue
                self._add(text, start, chunk, spaced)
                if self._tokens and self._last - self._start > MAX_SENTENCE:
                    self._end_sentence()
            if special < 0:
                self._pos = limit
                return True
            at = self._special(special, limit, whole)
            if at < 0:
                return False
            self._pos = at
            if self._skip_end is not None:
                return True

    def _decide(self, text: str, spaced: bool, chunk: Chunk) -> None:
        """A stop is open and ``text`` comes next: end the sentence or go on."""
        stop = self._stop
        assert stop is not None
        if chunk.tail and stop.mark[0] not in CJK_STOPS:
            return
        if not spaced and stop.mark[0] not in CJK_STOPS:
            if any(piece[4] is not Kind.PUNCT for piece in chunk.pieces) or chunk.word:
                self._stop = None
            return
        if ends(stop, self._tokens, text):
            if stop.spaced == 3 and stop.word:
                self._split_ellipsis()
            else:
                self._end_sentence()
        self._stop = None

    def _split_ellipsis(self) -> None:
        """``done. . . . The rest``: a full stop and then an ellipsis that opens a sentence."""
        tokens = self._tokens
        rest, last = tokens[-3:], self._last
        del tokens[-3:]
        self._last = tokens[-1].end
        self._end_sentence()
        self._tokens = rest
        self._start, self._last = rest[0].start, last

    def _add(self, text: str, start: int, chunk: Chunk, spaced: bool) -> None:
        """Take the pieces of a chunk into the sentence."""
        if chunk.cut:
            self._add_cut(text, start, chunk.cut)
            return
        if chunk.line:
            if self._tokens:
                self._end_sentence()
            return
        base = self._base + start
        if spaced:
            turn = self._list.turn(text, self._tokens)
            if turn:
                if self._tokens:
                    self._end_sentence()
                self._last = base + len(text)
                if turn == len(text):
                    return
                text = text[turn:]
                self._add(text, start + turn, self._analyser.split(text), False)
                return
        tokens = self._tokens
        if not tokens:
            self._start = base
        for piece, lower, first, last, kind in chunk.pieces:
            tokens.append(Token(piece, lower, base + first, base + last, kind))
        self._last = base + len(text)
        self._care |= chunk.care
        stop = chunk.stop
        if stop is not None:
            if chunk.tail and self._stop is not None:
                self._extend(self._stop, stop)
                return
            if not stop.word and len(tokens) > len(chunk.pieces):
                before = tokens[-len(chunk.pieces) - 1]
                near = before.end == base or stop.mark[0] not in ".…"
                if near and before.kind is not Kind.PUNCT:
                    stop = Stop(
                        stop.mark, before.text, before.lower, stop.quote, stop.bracket, False
                    )
            self._stop = stop

    def _extend(self, stop: Stop, more: Stop) -> None:
        """Another mark after a stop: the dots of an ellipsis add up."""
        if more.mark[0] not in ".…":
            return
        self._stop = Stop(
            stop.mark + more.mark,
            stop.word,
            stop.lower,
            stop.quote,
            stop.bracket,
            stop.dotted,
            stop.spaced + 1,
        )

    def _add_cut(self, text: str, start: int, cut: int) -> None:
        """Two sentences without a space between them."""
        split = self._analyser.split
        self._add(text[:cut], start, split(text[:cut]), True)
        if self._tokens:
            self._end_sentence()
        self._stop = None
        self._add(text[cut:], start + cut, split(text[cut:]), False)

    # -- marks with far-reaching meaning -----------------------------------------------------------

    def _special(self, at: int, limit: int, whole: bool) -> int:
        """Read one chunk that holds opening marks; return where to go on, -1 to wait."""
        buffer = self._buffer
        signs = self._signs
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
                self._next_cell(at)
                at += 1
                self._last = self._base + at
                continue
            found = self._construct(sign, at, limit, whole)
            if found is WAIT:
                self._pos = at
                self._wake = ("`]})>< \n" if sign in "[" else "`>}\n<", at + MAX_SPAN)
                return -1
            if found is not None:
                at = self._take_construct(found, at)
                if self._skip_end is not None:
                    return at
                continue
            at = self._plain_run(at, limit, signs)
            if self._stop is not None and self._stop.mark[0] in CJK_STOPS:
                return at
        return at

    def _plain_run(self, at: int, limit: int, signs: re.Pattern[str]) -> int:
        """Text up to the next sign that may open something, or to the end of the chunk."""
        buffer = self._buffer
        chunk_here = _CHUNK.match(buffer, at, limit)
        end = chunk_here.end() if chunk_here else limit
        match = signs.search(buffer, at + 1, end)
        if match:
            end = match.start()
        for position in sorted(p - self._base for p in self._links):
            if at < position < end:
                end = position
                break
        if self._row:
            pipe = buffer.find("|", at + 1, end)
            end = pipe if pipe >= 0 else end
        text = buffer[at:end]
        spaced = self._base + at > self._last
        chunk = self._analyser.split(text)
        if self._stop is not None:
            self._decide(text, spaced, chunk)
        self._add(text, at, chunk, spaced)
        return end

    def _construct(self, sign: str, at: int, limit: int, whole: bool) -> Found | None:
        buffer = self._buffer
        if sign == "`":
            return code_span(buffer, at, limit, whole=whole)
        if sign == "[":
            return bracket(buffer, at, limit, whole=whole, links=self._markup)
        if sign == "!" and self._markup and buffer.startswith("[", at + 1):
            found = bracket(buffer, at + 1, limit, whole=whole, links=True)
            if found is None or found is WAIT:
                return found
            return (Take.CODE, found[1], 0)
        if sign == "{":
            return brace(buffer, at, limit, whole=whole)
        if sign == "<":
            if self._html and buffer.startswith("<!--", at):
                return (Take.RAW, at + 4, 0)
            return angle(
                buffer, at, limit, whole=whole, html=self._html, markup=self._markup
            )
        if sign == "&" and (self._markup or self._html):
            known = entity(buffer, at, limit)
            if known:
                return self._entity(at, known[0], known[1])
        return None

    def _entity(self, at: int, end: int, text: str) -> Found:
        if text.isspace():
            return (Take.DROP, end, 1)
        start, stop = self._base + at, self._base + end
        before = self._tokens[-1] if self._tokens else None
        glued = before is not None and before.end == start
        if text.isalnum() and glued and before is not None and before.kind is Kind.WORD:
            before.text += self._buffer[at:end]
            before.lower += text.lower()
            before.end = self._last = stop
            return (Take.DROP, end, 1)
        self._decide_mark(at)
        kind = Kind.WORD if text.isalnum() else Kind.PUNCT
        self._put(Token(self._buffer[at:end], text.lower(), start, stop, kind))
        return (Take.DROP, end, 1)

    def _take_construct(self, found: Found, at: int) -> int:
        take, end, inner = found
        base = self._base
        if take is Take.LINK:
            self._links[base + inner] = base + end
            self._glue(at)
            return at + 1
        if take is Take.BREAK:
            self._break(at)
            return end
        if take is Take.RAW:
            tag = TAG.match(self._buffer, at, end)
            name = tag[2] if tag else ""
            if tag is None or not tag[1]:
                self._end_block()
                self._skip_end = re.compile(
                    rf"</{name}\s*>" if name else "-->", re.IGNORECASE
                )
            return end
        if take is Take.DROP:
            if not inner:
                self._glue(at)
                self._last = max(self._last, base + end) if self._tokens else self._last
            return end
        if take is Take.CHARACTER:
            return self._character(at, end)
        return self._code(at, end)

    def _glue(self, at: int) -> None:
        """Markup without width: what follows it stands as close as the markup itself does."""
        if self._tokens and self._base + at == self._last:
            self._last += 1

    def _character(self, at: int, end: int) -> int:
        self._decide_mark(at)
        text = self._buffer[at:end]
        self._put(Token(text, text, self._base + at, self._base + end, Kind.PUNCT))
        return end

    def _code(self, at: int, end: int) -> int:
        self._decide_mark(at)
        tail = _GLUED_TAIL.match(self._buffer, end)
        if tail and not self._links:
            end = tail.end()
        text = self._buffer[at:end]
        self._put(Token(text, text.lower(), self._base + at, self._base + end, Kind.CODE))
        return end

    def _put(self, token: Token) -> None:
        if not self._tokens:
            self._start = token.start
        self._tokens.append(token)
        self._last = token.end

    def _decide_mark(self, at: int) -> None:
        """A stop is open and a span or a sign comes next."""
        stop = self._stop
        if stop is None:
            return
        spaced = self._base + at > self._last
        if (spaced or stop.mark[0] in CJK_STOPS) and ends(stop, self._tokens, "`"):
            self._end_sentence()
        self._stop = None

    def _next_cell(self, at: int) -> None:
        self._end_block()
        self._open(BlockKind.TABLE_CELL, at + 1)

    # -- HTML --------------------------------------------------------------------------------------

    def _run_html(self) -> None:
        while True:
            size = len(self._buffer)
            if self._skip_end is not None and not self._leave_raw(size):
                return
            before = self._pos
            limit = size if self._final else self._stable(size)
            if not self._inline(limit, self._final) or self._skip_end is None:
                return
            if self._pos == before and not self._final:
                return

    def _break(self, at: int) -> None:
        """A block tag: the sentence ends, and the next block takes its kind."""
        self._end_block()
        tag = TAG.match(self._buffer, at)
        assert tag
        name = tag[2].lower()
        if name in ("ul", "ol"):
            if not tag[1]:
                self._lists.append([name == "ol", 0])
            elif self._lists:
                self._lists.pop()
        kind = _HTML_KINDS.get(name)
        if kind is None or tag[1]:
            return
        level = int(name[1]) if kind is BlockKind.HEADING else 0
        ordered, marker = False, ""
        if kind is BlockKind.LIST_ITEM:
            level = max(1, len(self._lists))
            if self._lists and self._lists[-1][0]:
                self._lists[-1][1] += 1
                ordered, marker = True, f"{self._lists[-1][1]}."
            else:
                marker = "-"
        self._open(kind, at, level=level, ordered=ordered, marker=marker)


__all__ = ["MAX_LINE", "Segmenter", "segment"]
