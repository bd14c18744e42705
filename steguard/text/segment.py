"""Text to sentences, whole or piece by piece: the same code does both.

The law: for any way to cut a text into pieces, ``feed`` on each piece and then ``close`` give
the sentences that :func:`segment` gives for the whole. It holds because each step waits until
what has come decides it, and then never looks at how much more has come.
"""

from __future__ import annotations

import re

from steguard.text.blocks import PREFIX, Line, Role, opens_front_matter, read_line
from steguard.text.boundaries import LEAD
from steguard.text.chunks import ADDRESS, ANALYSERS
from steguard.text.inline import MAX_SPAN, TAG
from steguard.text.labels import ALERT
from steguard.text.lexicon import GOES_ON
from steguard.text.model import BlockKind, Kind, Sentence, Token
from steguard.text.prose import Prose
from steguard.text.tokens import CJK_STOPS

_FENCE_END = re.compile(r"[^\S\n]{0,40}(?:>[^\S\n]?)*[^\S\n]*(`{3,}|~{3,})[^\S\n]*$")
_QUIET = re.compile(r"[A-Za-z ,]*")
"""Text that can neither end a sentence nor open a construct: it may wait for company."""

_PATIENCE = 500
_FIRST_WORD = re.compile(r"\S{1,60}")
_NEWLINES = re.compile(r"\n+")
_NEXT = re.compile(r"\s+(\S)")
_HTML_KINDS = {
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), BlockKind.HEADING),
    "li": BlockKind.LIST_ITEM,
    "td": BlockKind.TABLE_CELL,
    "th": BlockKind.TABLE_CELL,
    "blockquote": BlockKind.QUOTE,
}
_ONE_LINE = frozenset((BlockKind.HEADING, BlockKind.TABLE_CELL))


def segment(text: str, *, format: str = "markdown", language: str = "en") -> list[Sentence]:
    """All sentences of a text, in order."""
    segmenter = Segmenter(format=format, language=language)
    sentences = segmenter.feed(text)
    sentences.extend(segmenter.close())
    return sentences


class Segmenter(Prose):
    """Sentences from text that comes in pieces."""

    def __init__(self, *, format: str = "markdown", language: str = "en") -> None:
        if format not in ANALYSERS:
            raise ValueError(f"unknown format {format!r}; use markdown, plain or html")
        super().__init__(format, language)
        self._quiet = False
        self._line_start = not self._html
        self._first_line = True
        self._skip = ""
        self._quoted = False
        self._indents: list[int] = []
        self._lists: list[list[int]] = []
        self._line_at = 0

    # -- the public face ---------------------------------------------------------------------

    @property
    def pending_start(self) -> int:
        """The offset of the first character that is not yet inside a returned sentence."""
        return self._settled

    def feed(self, chunk: str) -> list[Sentence]:
        """Take the next piece; return the sentences that are now complete."""
        if not chunk:
            return []
        buffer, self._buffer = self._buffer, ""
        buffer += chunk
        self._buffer = buffer
        if self._wake is not None:
            signs, size = self._wake
            if len(buffer) < size and not any(sign in chunk for sign in signs):
                return []
            self._wake = None
        elif (
            self._quiet
            and len(buffer) - self._pos < _PATIENCE
            and _QUIET.fullmatch(chunk) is not None
        ):
            return []
        out = self._run()
        self._quiet = (
            self._stop is None
            and self._wake is None
            and not self._line_start
            and self._skip_end is None
            and _QUIET.fullmatch(self._buffer, self._pos) is not None
        )
        return out

    def close(self) -> list[Sentence]:
        """The text is complete; return the last sentences."""
        self._final = True
        out = self._run()
        self._end_block()
        out.extend(self._out)
        self._out = []
        return out

    # -- lines --------------------------------------------------------------------------------

    def _run(self) -> list[Sentence]:
        if self._html:
            self._run_html()
        else:
            self._run_lines()
        self._trim()
        out, self._out = self._out, []
        return out

    def _trim(self) -> None:
        keep = self._pos
        if self._tokens:
            keep = min(keep, self._start - self._base)
        if self._lead_end == self._base + self._pos:
            keep = min(keep, self._lead - self._base)
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
                if newline == self._pos and not self._skip:
                    self._blank_lines()
                    continue
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
                if self._skip_end is not None or self._pos > end:
                    continue
            if not whole:
                self._peek(end)
                return
            self._end_line()
            self._line_start = True
            self._pos = end + 1
        self._pos = min(self._pos, size)

    def _blank_lines(self) -> None:
        """Empty lines, however many: the block ends."""
        self._end_block()
        self._first_line = False
        run = _NEWLINES.match(self._buffer, self._pos)
        assert run
        self._pos = run.end()
        self._settle(self._pos)

    def _peek(self, end: int) -> None:
        """End a sentence early if the first character of the next one already decides it."""
        stop = self._stop
        if stop is None or self._wake is not None:
            return
        if stop.mark[0] in CJK_STOPS:
            if self._buffer[self._pos : self._pos + 1].isalnum():
                self._end_sentence()
        elif stop.plain:
            following = _NEXT.match(self._buffer, self._pos, end)
            if following and following[1].isupper():
                self._end_sentence()

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
                "-->" if role is Role.COMMENT else rf"</{line.marker}\s{{0,8}}>", re.IGNORECASE
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
        self._put(Token(text, text.lower(), at, at + len(text), Kind.CODE))
        self._end_block()

    def _text_line(self, line: Line, start: int) -> None:
        block = self._block
        if block is not None and line.quoted == self._quoted:
            if self._tokens and self._is_break(line.start, start):
                self._end_sentence()
            self._line_at = self._base + line.start
            return
        self._end_block()
        kind = BlockKind.QUOTE if line.quoted else BlockKind.PARAGRAPH
        self._open(kind, start)
        self._quoted = line.quoted
        if not line.indent:
            self._indents.clear()
        alert = ALERT.match(self._buffer, line.start) if line.quoted else None
        if alert and self._block is not None:
            self._block.label = alert[1].lower()
            line.start = alert.end()
        self._line_at = self._base + line.start

    def _is_break(self, start: int, end: int) -> bool:
        """Whether the writer broke the line before ``start`` on purpose, not for want of width."""
        stop, last = self._stop, self._tokens[-1]
        if self._links or (stop is not None and stop.mark != ADDRESS):
            return False
        word = _FIRST_WORD.match(self._buffer, start, start + PREFIX)
        if word is None or not word[0].lstrip(LEAD)[:1].isupper():
            return False
        if stop is not None and last.start == self._line_at:
            return True
        length = self._base + end - 1 - self._line_at
        if length + 1 + len(word[0]) >= 45 and length <= 110:
            return False
        return last.text not in ",;–—-&(/" and last.lower not in GOES_ON

    def _item_line(self, line: Line, start: int) -> None:
        self._end_block()
        indents = self._indents
        while indents and line.indent <= indents[-1] - 1:
            indents.pop()
        if not indents or line.indent >= indents[-1] + 2:
            indents.append(line.indent)
        marker = line.marker.strip("*_")
        ordered = marker[-1:] in ".):" or marker[:1].isdigit()
        self._open(BlockKind.LIST_ITEM, start, level=len(indents), ordered=ordered, marker=marker)
        self._quoted = line.quoted
        self._line_at = self._base + line.start
        self._list.begin(marker)

    def _beyond(self, limit: int) -> int:
        buffer = self._buffer
        if self._row or self._quoted or limit >= len(buffer):
            return 0
        if self._block is not None and self._block.kind is BlockKind.HEADING:
            return 0
        newline = buffer.find("\n", limit + 1)
        end = newline if newline >= 0 else len(buffer)
        whole = newline >= 0 or self._final
        if not whole and end - limit < MAX_SPAN:
            return -1
        if limit + 1 >= end:
            return 0
        line = read_line(buffer, limit + 1, end, whole=whole, markup=True, first=False)
        if line is None:
            return -1
        return min(end, limit + MAX_SPAN) if line.role is Role.TEXT and not line.quoted else 0

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
        if block is not None and block.kind in _ONE_LINE:
            self._end_block()
        self._row = False

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
        tag = TAG.match(self._buffer, at)
        assert tag
        name = tag[2].lower()
        if name == "br" or (self._block is not None and not self._html):
            self._end_sentence()
            return
        kind = _HTML_KINDS.get(name)
        fresh = self._block is not None and not self._index and not self._tokens
        if kind is None and fresh and not tag[1] and name not in ("ul", "ol", "tr", "table"):
            return
        self._end_block()
        if name in ("ul", "ol"):
            if not tag[1]:
                self._lists.append([name == "ol", 0])
            elif self._lists:
                self._lists.pop()
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
