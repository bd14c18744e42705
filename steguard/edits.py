"""Edits applied to a text."""

from __future__ import annotations

from collections.abc import Sequence

from steguard.types import Edit


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """A text with edits made; the edits must not overlap."""
    pieces: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        pieces += (text[at : edit.start], edit.text)
        at = edit.end
    return "".join([*pieces, text[at:]])
