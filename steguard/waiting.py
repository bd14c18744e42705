"""The chunks of a stream that wait for their release, and the text in them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from steguard.chunks import Delta, rewritten, with_usage
from steguard.request import summed_usage
from steguard.result import Usage
from steguard.streamchoice import Choice


class Piece:
    """What a chunk says about one choice, at its place in the choice's answer.

    ``text`` is what the caller is to get; at first that of the delta.
    """

    __slots__ = ("choice", "delta", "end", "start", "text")

    def __init__(self, choice: Choice, delta: Delta, text: str) -> None:
        self.choice = choice
        self.delta = delta
        self.text = text
        self.start = choice.size
        self.end = choice.size = choice.size + len(text)


class Entry:
    """A chunk that waits. ``changed`` says that the caller gets a copy and not the chunk itself.

    ``total`` is the usage of all attempts, where the chunk tells that of one.
    """

    __slots__ = ("changed", "chunk", "pieces", "total", "usage")

    def __init__(self, chunk: Any, usage: bool) -> None:
        self.chunk = chunk
        self.usage = usage
        self.pieces: list[Piece] = []
        self.total: Usage | None = None
        self.changed = False

    @property
    def empty(self) -> bool:
        """Whether nothing is left of it that the caller could want."""
        if not self.changed or not self.pieces:
            return False
        return all(not piece.text and piece.delta.bare for piece in self.pieces)


class Waiting:
    """A queue of chunks. What is released goes out in the order in which it came."""

    def __init__(self, observe: bool) -> None:
        self.entries: deque[Entry] = deque()
        self.first: Any = None
        self._observe = observe

    def add(self, entry: Entry) -> None:
        if self.first is None:
            self.first = entry.chunk
        self.entries.append(entry)

    def text(self, choice: Choice) -> str:
        """The text of a choice that waits."""
        return "".join(piece.text for _, piece in self._pieces(choice))

    def slice(self, choice: Choice, start: int, end: int) -> str:
        """A part of the text that waits, by its place in the whole answer."""
        found = []
        for _, piece in self._pieces(choice):
            if piece.start >= end:
                break
            if piece.end > start:
                found.append(piece.text[max(0, start - piece.start) : end - piece.start])
        return "".join(found)

    def replace(self, choice: Choice, start: int, end: int, text: str) -> None:
        """Put a text in the place of what stands between two places of a choice's answer."""
        change = len(text) - (end - start)
        rest: str | None = text
        for entry, piece in self._pieces(choice):
            if piece.end <= start:
                continue
            if piece.start >= end:
                piece.start += change
                piece.end += change
                continue
            tail = piece.text[max(0, end - piece.start) :]
            if rest is None or not piece.text:
                piece.start = start if rest is not None else start + len(text)
                piece.text = tail
            else:
                piece.text = piece.text[: max(0, start - piece.start)] + rest + tail
                piece.start = min(piece.start, start)
                rest = None
            piece.end = piece.start + len(piece.text)
            entry.changed = True
        choice.size += change

    def cut(self, choice: Choice, at: int) -> None:
        """Drop what stands behind this place of a choice's answer, tool calls too."""
        for entry, piece in self._pieces(choice):
            if piece.end > at:
                piece.delta.hide("tools")
                piece.text = piece.text[: max(0, at - piece.start)]
                piece.start = min(piece.start, at)
                piece.end = piece.start + len(piece.text)
                entry.changed = True
        choice.size = at

    def forget(self, choice: Choice, *, text: bool) -> None:
        """Drop what waits of a refused attempt: its end, its tool calls, its usage, its text.

        The role of the first chunk stays, for no other chunk has it.
        """
        for entry, piece in self._pieces(choice):
            piece.delta.hide("finish_reason", "tools")
            entry.changed = True
            if text:
                piece.text, piece.start, piece.end = "", 0, 0
        self._keep(lambda entry: not (entry.empty or (entry.usage and not entry.pieces)))

    def release(self, settled: Callable[[], bool]) -> list[Any]:
        """The chunks at the head of the queue that may go out now."""
        ready: list[Any] = []
        entries = self.entries
        while entries and self._free(entries[0], settled):
            entry = entries.popleft()
            for piece in entry.pieces:
                if piece.text:
                    piece.choice.shown.append(piece.text)
                    piece.choice.out += len(piece.text)
                if piece.delta.tools:
                    piece.choice.calls_out = True
            if not entry.empty:
                ready.append(self._built(entry))
        return ready

    def _free(self, entry: Entry, settled: Callable[[], bool]) -> bool:
        for piece in entry.pieces:
            choice = piece.choice
            if piece.end > choice.passed:
                return False
            if choice.result is not None or self._observe:
                continue
            if piece.delta.finish_reason or (choice.whole and piece.text):
                return False
        return bool(entry.pieces) or not entry.usage or settled()

    def _built(self, entry: Entry) -> Any:
        chunk = entry.chunk
        if entry.changed:
            pieces = entry.pieces
            texts = {p.delta.position: p.text for p in pieces if p.text != p.delta.text}
            hidden = {p.delta.position: p.delta.hidden for p in pieces if p.delta.hidden}
            index = pieces[0].choice.index if len(pieces) == 1 else None
            chunk = rewritten(chunk, texts, hidden=hidden, like=self.first, index=index)
        if entry.total is not None:
            chunk = with_usage(chunk, summed_usage(chunk, entry.total))
        return chunk

    def _pieces(self, choice: Choice) -> Iterator[tuple[Entry, Piece]]:
        for entry in self.entries:
            for piece in entry.pieces:
                if piece.choice is choice:
                    yield entry, piece

    def _keep(self, wanted: Callable[[Entry], bool]) -> None:
        self.entries = deque(filter(wanted, self.entries))
