"""The open sentence: pieces of text come in, finished sentences go out."""

from __future__ import annotations

from steguard.text.boundaries import ends, soft_mark
from steguard.text.chunks import ANALYSERS, PAIRS, SOFT_MARKS, Chunk, Stop
from steguard.text.count import count, units
from steguard.text.labels import take_label
from steguard.text.lists import ListRun
from steguard.text.model import Block, BlockKind, Kind, Sentence, Token
from steguard.text.tokens import CJK_STOPS

MAX_SENTENCE = 20_000
"""A sentence longer than this is cut, so that a stream stays bounded."""

_PUNCT = Kind.PUNCT


class OpenSentence:
    """Builds blocks, sentences and tokens; :class:`steguard.text.prose.Prose` reads the text."""

    def __init__(self, format: str, language: str) -> None:
        self.format, self.language = format, language
        self._analyser = ANALYSERS[format]
        self._characters = language == "zh"
        # the text that is still needed, and where it begins
        self._buffer = ""
        self._base = 0
        # the open block
        self._blocks = 0
        self._block: Block | None = None
        self._index = 0
        self._label: str | None = None
        self._list = ListRun()
        self._links: dict[int, int] = {}
        # the open sentence
        self._out: list[Sentence] = []
        self._tokens: list[Token] = []
        self._lowers: list[str] = []
        self._marks = 0
        self._care = 0
        self._start = 0
        self._lead = self._lead_end = -1
        self._last = -1
        self._stop: Stop | None = None
        self._settled = 0

    # -- blocks and sentences ----------------------------------------------------------------

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

    def _end_block(self) -> None:
        if self._tokens:
            self._end_sentence()
        self._stop = None
        self._block = None
        self._list.reset()
        if self._links:
            self._links.clear()

    def _end_sentence(self) -> None:
        tokens, stop = self._tokens, self._stop
        if not tokens:
            self._stop = None
            return
        if self._block is None:
            self._open(BlockKind.PARAGRAPH, self._start - self._base)
        block = self._block
        assert block is not None
        if not self._index:
            self._open_label(block)
        if self._lowers[0] == "step" and len(tokens) > 3:
            self._drop_step()
        start, end, base = self._start, self._last, self._base
        lowers = self._lowers
        words = len(tokens) - self._marks
        asides: tuple[tuple[int, int, int], ...] = ()
        if self._care or self._characters:
            if self._care & PAIRS or self._characters:
                words, asides = count(tokens, characters=self._characters)
            else:
                words -= units(tokens)
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
                stop is not None and stop.mark not in SOFT_MARKS,
                self.language,
                asides,
            )
        )
        self._index += 1
        self._settled = end
        self._tokens, self._lowers = [], []
        self._marks = self._care = 0
        self._stop = None

    def _open_label(self, block: Block) -> None:
        """Let a label at the front of the block go from the sentence to the block."""
        found = take_label(self._tokens)
        if found is None:
            return
        block.label, used = found
        if used == len(self._tokens):
            self._label = block.label
        elif used > 1:
            self._marks -= sum([t.kind is _PUNCT for t in self._tokens[:used]])
            del self._tokens[:used], self._lowers[:used]
            self._start = self._tokens[0].start

    def _drop_step(self) -> None:
        """``Step 2:`` at the front is a step number and no word."""
        tokens = self._tokens
        if tokens[1].kind is Kind.NUMBER and tokens[2].text in (".", ":", ")"):
            del tokens[:3], self._lowers[:3]
            self._marks -= 1
            self._start = tokens[0].start

    def _leading(self, start: int, end: int) -> None:
        """Markup stands at these offsets: it belongs to a sentence that begins right after it."""
        if start != self._lead_end:
            self._lead = start
        self._lead_end = end

    def _first(self, at: int) -> int:
        """Where a sentence begins whose first token stands at ``at``."""
        return self._lead if self._lead_end == at and self._lead >= self._settled else at

    def _put(self, token: Token) -> None:
        if not self._tokens:
            self._start = self._first(token.start)
        self._tokens.append(token)
        self._lowers.append(token.lower)
        self._marks += token.kind is _PUNCT
        self._last = token.end
        if token.end - self._start > MAX_SENTENCE:
            self._end_sentence()

    def _decide(self, stop: Stop, text: str, spaced: bool, chunk: Chunk) -> None:
        """A stop is open and ``text`` comes next: end the sentence or go on."""
        wide = stop.mark[0] in CJK_STOPS
        if chunk.tail and not wide:
            return
        if self._links:  # inside the text of a link
            self._stop = None
            return
        if not spaced and not wide:
            if any(piece[4] is not _PUNCT for piece in chunk.pieces):
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
        rest, last = self._tokens[-3:], self._last
        del self._tokens[-3:], self._lowers[-3:]
        self._marks -= 3
        self._last = self._tokens[-1].end
        self._end_sentence()
        for token in rest:
            self._put(token)
        self._last = last

    def _add(self, text: str, at: int, chunk: Chunk, spaced: bool) -> None:
        """Take the pieces of a chunk, which begins at the offset ``at``, into the sentence."""
        if chunk.odd and self._add_odd(text, at, chunk, spaced):
            return
        tokens, lowers = self._tokens, self._lowers
        pieces = chunk.pieces
        if not tokens:
            if not pieces:
                self._leading(at, at + len(text))
                return
            self._start = self._first(at)
        for piece, lower, first, last, kind in pieces:
            tokens.append(Token(piece, lower, at + first, at + last, kind))
            lowers.append(lower)
        self._marks += len(pieces) - chunk.words
        self._last = at + len(text) if tokens else self._last
        self._care |= chunk.care
        stop = chunk.stop
        if stop is None:
            return
        if chunk.tail and self._stop is not None:
            self._extend(self._stop, stop)
            return
        if not stop.word and len(tokens) > len(pieces):
            before = tokens[-len(pieces) - 1]
            near = before.end == at or stop.mark[0] not in ".…"
            if near and before.kind is not _PUNCT:
                stop = stop.after(before)
        self._stop = stop

    def _add_odd(self, text: str, at: int, chunk: Chunk, spaced: bool) -> bool:
        """A chunk that ends or begins a sentence by itself; False if it is none after all."""
        split = self._analyser.split
        if chunk.cut:
            cut = chunk.cut
            self._add(text[:cut], at, split(text[:cut]), spaced)
            self._end_sentence()
            self._add(text[cut:], at + cut, split(text[cut:]), False)
            return True
        if chunk.line:
            self._end_sentence()
            return True
        turn = self._list.turn(text, self._tokens) if spaced else 0
        if not turn:
            mark = soft_mark(text, self._tokens)
            if mark is None:
                return False
            self._add(text, at, Chunk(None, chunk.pieces, chunk.words), spaced)
            self._stop = Stop(mark, "", "", False, False, False)
            return True
        self._end_sentence()
        self._last = at + turn
        if turn < len(text):
            self._add(text[turn:], at + turn, split(text[turn:]), False)
        return True

    def _extend(self, stop: Stop, more: Stop) -> None:
        """Another mark after a stop: the dots of an ellipsis add up."""
        if more.mark[0] in ".…":
            self._stop = stop.longer(more.mark)
