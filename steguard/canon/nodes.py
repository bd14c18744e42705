"""The nodes of a Canon document, each with its exact place in the text.

``start`` and ``end`` are code point offsets in the whole text, ``line`` and ``column`` start at 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

BAD = "bad"
"""The style of a scalar whose text could not be read; the fault is already reported."""


@dataclass(slots=True)
class Node:
    """A place in the text. ``comment`` is the comment behind it, with its ``#``.

    ``before`` holds the comment lines above a key or a list item; an empty one is a blank line.
    """

    start: int
    end: int
    line: int
    column: int
    comment: str | None = field(default=None, kw_only=True)
    before: list[str] = field(default_factory=list, kw_only=True)


@dataclass(slots=True)
class Scalar(Node):
    """A text. ``style`` is ``plain double single literal``, or ``bad`` where it was not read."""

    text: str = ""
    style: str = "plain"

    def data(self) -> Any:
        return self.text


@dataclass(slots=True)
class Items(Node):
    """A list; ``flow`` where it is written as ``[a, b]``."""

    items: list[AnyNode] = field(default_factory=list)
    flow: bool = False

    def data(self) -> Any:
        return [item.data() for item in self.items]

    @property
    def placeholder(self) -> str | None:
        """``name`` where this is ``[name]``; a schema of a list type may read it as a list."""
        from steguard.canon.model import is_name

        if self.flow and len(self.items) == 1:
            only = self.items[0]
            if isinstance(only, Scalar) and only.style == "plain" and is_name(only.text):
                return only.text
        return None


@dataclass(slots=True)
class Entry:
    """One ``key: value``."""

    key: Scalar
    value: AnyNode


@dataclass(slots=True)
class Fields(Node):
    """A mapping in the order of the text."""

    entries: list[Entry] = field(default_factory=list)

    def data(self) -> Any:
        return {entry.key.text: entry.value.data() for entry in self.entries}

    def get(self, key: str) -> AnyNode | None:
        """The value of the key; None where it is missing."""
        entry = self.entry(key)
        return entry.value if entry else None

    def entry(self, key: str) -> Entry | None:
        return next((entry for entry in self.entries if entry.key.text == key), None)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)


AnyNode = Scalar | Items | Fields
