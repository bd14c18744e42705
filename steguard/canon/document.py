"""The raw Canon document: a strict subset of YAML in which every value is text.

What a document is:

- ``key: value`` lines; a nested mapping or a list stands deeper, all its lines at one indentation.
  A list may also stand at the indentation of its key, as YAML allows.
- Keys are names (letters, digits, ``_ . -``) or double-quoted text. No blank before the colon, one
  or more after it. A key stands once in a mapping.
- Plain values are one line of at most 1,024 characters. ``: ``, ``" #"`` without a blank behind it,
  a colon at the end and the characters that YAML gives a meaning at the start are refused: quote
  such a text. What looks like a number, a date, ``no`` or ``on`` is text like any other.
- ``"double"`` quotes with escapes, ``'single'`` quotes with ``''`` for one quote; one line each.
- ``|`` and ``|-`` start a block of literal lines; the first line is not blank and not deeper than
  the others need. With ``|`` the text ends with one line end (with none where the document ends
  without one, as in YAML), with ``|-`` with none. No folded blocks, no ``|+``, no digits.
- Lists: ``- item`` lines (text, ``[name]`` or mappings), or ``[a, b]`` on one line (text only).
  ``[]`` and ``{}`` are the empty list and the empty mapping; no other flow mapping exists.
- An empty value is refused; ``""`` is the empty text.
- ``# comment`` lines anywhere, and a comment behind a value after a blank: `` # comment``, with a
  blank after the ``#`` too.
- Lines end with LF or CR LF. A byte order mark at the start of the text is skipped. Blank lines
  mean nothing. ``---`` alone on a line starts a document; nothing else is a marker (no ``...``, no
  ``----``, no directives).
- Tabs, control characters, invisible characters and marks of writing direction are refused; see
  :mod:`steguard.canon.chars`. Anchors, aliases, tags, merge keys and complex keys do not exist.

A document without a finding is read to the same data by a YAML reader that makes no types of text
(PyYAML's ``BaseLoader``). All faults of a text are found at once.
"""

from __future__ import annotations

from typing import Any

from steguard.canon import chars
from steguard.canon.docfaults import problem
from steguard.canon.docreader import Reader
from steguard.canon.nodes import AnyNode, Entry, Fields, Items, Scalar
from steguard.canon.problems import CanonFinding, Path, Problem, finding
from steguard.types import Severity

__all__ = ["Document", "Entry", "Fields", "Items", "Scalar", "parse_document", "parse_documents"]


class Document:
    """One document: its nodes, its findings, and the place of every key and value.

    ``text`` is the whole text that it was read from. ``after`` are the comment lines at its end.
    """

    def __init__(
        self, text: str, root: Fields, findings: tuple[CanonFinding, ...], after: list[str]
    ) -> None:
        self.text, self.root, self.findings, self.after = text, root, findings, after

    @property
    def ok(self) -> bool:
        """Whether no finding is an error."""
        return all(one.severity is not Severity.ERROR for one in self.findings)

    def data(self) -> dict[str, Any]:
        """The document as text, lists and mappings, as YAML's base loader reads it."""
        data: dict[str, Any] = self.root.data()
        return data

    def node(self, path: Path, at: str = "value") -> AnyNode:
        """The node at the path, or the nearest one around it that exists."""
        node: AnyNode = self.root
        for index, part in enumerate(path):
            step = _step(node, part, at if index == len(path) - 1 else "value")
            if step is None:
                break
            node = step
        return node

    def finding(self, fault: Problem) -> CanonFinding:
        """The finding for a problem: its path looked up in the text."""
        node = self.node(fault.path, fault.at)
        start, end = node.start, max(node.end, node.start)
        if fault.at == "end":
            start = end
        if fault.start is not None and isinstance(node, Scalar):
            start, end = self._part(node, fault.start, fault.end or fault.start)
        return finding(self.text, start, end, fault)

    def _part(self, node: Scalar, start: int, end: int) -> tuple[int, int]:
        """The place of a part of a value; of a block it is the whole value."""
        if node.style in ("double", "single"):
            inside = self.text[node.start + 1 : node.end - 1]
            first, last = (
                node.start + 1 + chars.written_offset(inside, at, node.style) for at in (start, end)
            )
            return first, last
        if node.style == "literal":
            return node.start, node.end
        return min(node.start + start, node.end), min(node.start + end, node.end)


def parse_document(text: str) -> Document:
    """The one document in the text. A text with more than one has a finding that says so."""
    reader = Reader(text)
    root, after = reader.document()
    if reader.more:
        start, end = reader.marker()
        reader.report(
            start,
            end,
            problem("one-document", "a second document starts here", "Parse it as a stream."),
        )
    return Document(text, root, tuple(reader.sorted()), after)


def parse_documents(text: str) -> list[Document]:
    """Every document of a stream, split at the lines ``---``."""
    reader = Reader(text)
    made: list[tuple[Fields, list[str], int]] = []
    while True:
        root, after = reader.document()
        made.append((root, after, reader.position()))
        if not reader.more:
            break
        reader.next_document()
    findings = reader.sorted()
    documents: list[Document] = []
    begin = 0
    for root, after, end in made:
        own = tuple(one for one in findings if begin <= one.start < end)
        documents.append(Document(text, root, own, after))
        begin = end
    return documents


def _step(node: AnyNode, part: str | int, at: str) -> AnyNode | None:
    if isinstance(node, Fields):
        entry = node.entry(str(part))
        if entry is None:
            return None
        return entry.key if at == "key" else entry.value
    if isinstance(node, Items) and isinstance(part, int) and part < len(node.items):
        return node.items[part]
    return None
