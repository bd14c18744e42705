"""What the loss of a sentence does to the list it stands in, while the list still comes."""

from __future__ import annotations

import re

from steguard.streamcheck import Step
from steguard.text.model import Block, BlockKind

_NUMBER = re.compile(r"\d+")
_MARKER = re.compile(r"[ \t]*(?:[-*+•]|#{1,6}|\(?\w{1,3}[.)])[ \t]+")


def kept_marker(faulty: str, step: Step, after: str) -> str:
    """The marker that stays when a sentence goes, because its line goes on behind it."""
    if not step.first or not after or after.startswith("\n"):
        return ""
    if step.block is None or step.block.kind not in (BlockKind.LIST_ITEM, BlockKind.HEADING):
        return ""
    marker = _MARKER.match(faulty)
    return marker[0] if marker else ""


def dropped_item(gaps: dict[int, int], step: Step) -> None:
    """Count an item of a numbered list that went away."""
    block = step.block
    if step.first and block:
        _enter(gaps, block)
        if block.ordered and _NUMBER.search(block.marker):
            gaps[block.level] = gaps.get(block.level, 0) + 1


def new_marker(gaps: dict[int, int], block: Block) -> str | None:
    """The marker that closes the gap before this item, None where there is none."""
    _enter(gaps, block)
    number = _NUMBER.search(block.marker) if block.ordered else None
    lost = gaps.get(block.level)
    if not number or not lost:
        return None
    marker = block.marker
    return f"{marker[: number.start()]}{int(number[0]) - lost}{marker[number.end() :]}"


def _enter(gaps: dict[int, int], block: Block) -> None:
    """Another block ends the deeper lists; one that is no item ends them all."""
    if block.kind is not BlockKind.LIST_ITEM:
        gaps.clear()
    for deeper in [level for level in gaps if level > block.level]:
        del gaps[deeper]
