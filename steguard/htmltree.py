"""HTML as a tree whose nodes know their place, and what of it is not well formed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "source",
        "track",
        "wbr",
    ]
)


@dataclass(slots=True)
class Node:
    """An element (``tag``) or a text (``tag`` is empty) with its place in the source."""

    tag: str
    attributes: dict[str, str]
    start: int
    open_end: int = 0
    end: int = 0
    text: str = ""
    children: list[Node] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Wrong:
    """A structural fault at a place."""

    message: str
    start: int
    end: int
    suggestion: str | None = None


class HtmlTree(HTMLParser):
    """Builds the tree of one HTML text and collects what is not well formed."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=False)
        self._lines = _line_starts(text)
        self._text = text
        self.root = Node("#root", {}, 0)
        self.open = [self.root]
        self.wrong: list[Wrong] = []
        self.feed(text)
        self.close()
        for node in self.open[1:]:
            self.wrong.append(
                Wrong(
                    f"The tag <{node.tag}> is not closed.",
                    node.start,
                    node.open_end,
                    f"Write </{node.tag}>.",
                )
            )
            node.end = len(text)
        self.root.end = len(text)

    def _here(self) -> int:
        row, column = self.getpos()
        return self._lines[row - 1] + column

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        start = self._here()
        end = start + len(self.get_starttag_text() or "")
        node = Node(tag, {name: value or "" for name, value in attrs}, start, end, end)
        names = [name for name, _ in attrs]
        for name in {n for n in names if names.count(n) > 1}:
            self.wrong.append(Wrong(f"The attribute '{name}' stands twice in <{tag}>.", start, end))
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        start = self._here()
        close = self._text.find(">", start)
        end = close + 1 if close >= 0 else len(self._text)
        if tag in VOID:
            return
        names = [node.tag for node in self.open]
        if tag not in names[1:]:
            self.wrong.append(
                Wrong(f"The tag </{tag}> closes nothing.", start, end, "Remove the tag.")
            )
            return
        while self.open[-1].tag != tag:
            node = self.open.pop()
            node.end = start
            self.wrong.append(
                Wrong(
                    f"The tag <{node.tag}> is not closed.",
                    node.start,
                    node.open_end,
                    f"Write </{node.tag}>.",
                )
            )
        node = self.open.pop()
        node.end = end

    def _add_text(self, data: str, length: int) -> None:
        start = self._here()
        siblings = self.open[-1].children
        if siblings and not siblings[-1].tag and siblings[-1].end == start:
            siblings[-1].text += data
            siblings[-1].end += length
        else:
            siblings.append(Node("", {}, start, start, start + length, data))

    def handle_data(self, data: str) -> None:
        self._add_text(data, len(data))

    def handle_entityref(self, name: str) -> None:
        self._reference(f"&{name}")

    def handle_charref(self, name: str) -> None:
        self._reference(f"&#{name}")

    def _reference(self, text: str) -> None:
        end = self._here() + len(text)
        whole = text + ";" if self._text[end : end + 1] == ";" else text
        self._add_text(whole, len(whole))

    def unknown_decl(self, data: str) -> None:
        """A marked section such as CDATA is no element and no text."""


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in re.finditer("\n", text))]
