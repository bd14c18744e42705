"""The exact text that was sent: every line with its byte offset, invisible characters by name.

>>> print(raw_view("to: agent_b\\u200b\\r\\n"))
   1 000000 to: agent_b<U+200B ZERO WIDTH SPACE><CR><LF>
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from steguard.canon import chars

_SHORT = {"\n": "<LF>", "\r": "<CR>", "\t": "<TAB>"}
_TRAILING = re.compile(r"(?<! ) +(?=[\r\n]*\Z)")


@dataclass(frozen=True, slots=True)
class RawLine:
    """One line: its number, the offset of its first byte, its bytes, and what it looks like."""

    number: int
    offset: int
    data: bytes
    shown: str

    @property
    def hex(self) -> str:
        return self.data.hex(" ")


def raw_lines(text: str | bytes) -> list[RawLine]:
    """The lines of the text. Bytes that are no UTF-8 are shown as ``<BYTE FF>``."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    made: list[RawLine] = []
    offset = 0
    for number, line in enumerate(_split(data), 1):
        made.append(RawLine(number, offset, line, show(line)))
        offset += len(line)
    return made


def raw_view(text: str | bytes, *, with_hex: bool = False) -> str:
    """The lines as a table: number, byte offset, text; the bytes below each line if asked for."""
    rows: list[str] = []
    for line in raw_lines(text):
        rows.append(f"{line.number:4d} {line.offset:06x} {line.shown}")
        if with_hex:
            rows.append(f"     {'':6} {line.hex}")
    return "\n".join(rows)


def show(data: bytes) -> str:
    """These bytes as text in which nothing is invisible."""
    text = data.decode("utf-8", "surrogateescape")
    text = _TRAILING.sub(lambda found: f"<SPACE x{len(found[0])}>", text)
    return "".join(_shown(char) for char in text)


def invisible(text: str) -> list[tuple[int, str]]:
    """The offset and the name of every character of the text that a reader cannot see."""
    return [
        (offset, chars.describe(char))
        for offset, char in enumerate(text)
        if char not in "\n " and (chars.is_invisible(char) or char.isspace())
    ]


def _shown(char: str) -> str:
    if char in _SHORT:
        return _SHORT[char]
    if "\udc80" <= char <= "\udcff":
        return f"<BYTE {ord(char) - 0xDC00:02X}>"
    if chars.is_invisible(char) or (char.isspace() and char != " "):
        return f"<{chars.describe(char)}>"
    return char


def _split(data: bytes) -> list[bytes]:
    """The lines with their ends; only LF ends a line, as in a Canon document."""
    parts = data.split(b"\n")
    lines = [part + b"\n" for part in parts[:-1]]
    return [*lines, parts[-1]] if parts[-1] else lines
