"""What to do with the last draft when no attempt passed.

``strip`` repairs what can be repaired safely and deletes the sentences that still break a rule.
It never leaves a broken list, broken JSON or an empty text: where the rest would be one of these,
it gives up and the result says ``rejected``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from steguard.contract import Contract, Verdict
from steguard.edits import apply_edits
from steguard.forms import Part
from steguard.repair import fix_part, fix_text, part_hits
from steguard.result import Outcome
from steguard.text.model import BlockKind, Kind, Sentence
from steguard.types import Edit, Severity

_ROUNDS = 10


@dataclass(frozen=True, slots=True)
class Fallen:
    """The text after the fallback, what the checks say of it, and the sentences it lost."""

    outcome: Outcome
    verdict: Verdict
    removed: tuple[str, ...] = ()


def fall_back(contract: Contract, drafts: Sequence[Verdict], policy: str) -> Fallen:
    """Apply a policy to the drafts of one choice, oldest first.

    ``raise`` is the caller's business; here it means ``noop``.
    """
    last = drafts[-1]
    if policy == "best":
        return Fallen(Outcome.REJECTED, min(reversed(drafts), key=lambda v: len(v.errors)))
    if policy == "fix":
        verdict = contract.check(fix_text(last.text, contract).text)
        return Fallen(Outcome.FIXED if verdict.passed else Outcome.REJECTED, verdict)
    if policy == "strip":
        for draft in reversed(drafts):
            stripped = strip_text(contract, draft)
            if stripped is not None:
                return stripped
        return Fallen(Outcome.REJECTED, min(reversed(drafts), key=lambda v: len(v.errors)))
    return Fallen(Outcome.REJECTED, last)


def strip_text(contract: Contract, draft: Verdict) -> Fallen | None:
    """The draft without its faults, or None where nothing useful would be left."""
    extract = draft.extract
    replacements: dict[int, str] = {}
    removed: list[str] = []
    for index, part in enumerate(extract.parts):
        text, lost = _strip_part(contract, part)
        removed += lost
        if text != part.text:
            replacements[index] = text if _has_words(contract, part, text) else ""
    joined = contract.form.join(extract, replacements)
    if joined is None:
        return None
    verdict = contract.check(joined)
    return Fallen(Outcome.STRIPPED, verdict, tuple(removed)) if verdict.passed else None


def _strip_part(contract: Contract, part: Part) -> tuple[str, list[str]]:
    text, _ = fix_part(part, contract)
    removed: list[str] = []
    for _ in range(_ROUNDS):
        faults = [
            hit
            for active, hit in part_hits(text, part, contract)
            if active.severity is Severity.ERROR
        ]
        if not faults:
            break
        now = Part(text, part.place, part.format, part.pointer, part.section)
        sentences = contract.sentences(now)
        bad = _guilty(sentences, [(hit.start, hit.end) for hit in faults])
        if not bad:
            break
        removed += [sentences[i].text for i in sorted(bad)]
        text = remove_sentences(text, sentences, bad, markdown=part.format != "html")
    return text, removed


def _guilty(sentences: Sequence[Sentence], faults: Sequence[tuple[int, int]]) -> set[int]:
    bad = set()
    at = 0
    for start, end in sorted(faults):
        while at < len(sentences) and sentences[at].end <= start:
            at += 1
        index = at
        while index < len(sentences) and sentences[index].start < max(end, start + 1):
            bad.add(index)
            index += 1
    return bad


def _has_words(contract: Contract, part: Part, text: str) -> bool:
    here = Part(text, part.place, part.format)
    return any(token.kind is not Kind.PUNCT for s in contract.sentences(here) for token in s.tokens)


def remove_sentences(
    text: str, sentences: Sequence[Sentence], bad: Collection[int], *, markdown: bool = True
) -> str:
    """A text without some of its sentences, with the structure around them intact.

    A block that loses all its sentences goes with its line and marker; ordered lists are numbered
    anew; a lead-in that ends in a colon goes when its list is gone. A table cell becomes empty.
    """
    blocks: dict[int, list[int]] = {}
    for index, sentence in enumerate(sentences):
        blocks.setdefault(sentence.block.index, []).append(index)
    doomed = set(bad)
    _doom_lead_ins(sentences, blocks, doomed)
    cuts: list[tuple[int, int]] = []
    for members in blocks.values():
        gone = [i for i in members if i in doomed]
        if not gone:
            continue
        block = sentences[members[0]].block
        whole = len(gone) == len(members)
        if whole and markdown and block.kind is not BlockKind.TABLE_CELL:
            cuts.append(_lines_around(text, block.start, sentences[members[-1]].end))
            continue
        for i in gone:
            cuts.append(_sentence_cut(sentences, members, i))
    edits = [Edit(start, end, "") for start, end in cuts]
    if markdown:
        edits += _renumbered(text, sentences, blocks, doomed)
    text = apply_edits(text, edits)
    if not markdown:
        return re.sub(r"<(li|p)\b[^<>]*>\s*</\1>\s*", "", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n") if cuts else text


def _doom_lead_ins(
    sentences: Sequence[Sentence], blocks: dict[int, list[int]], doomed: set[int]
) -> None:
    order = sorted(blocks)
    for position, number in enumerate(order):
        last = blocks[number][-1]
        if last in doomed or not sentences[last].text.rstrip().endswith((":", "：")):
            continue
        items: list[int] = []
        for following in order[position + 1 :]:
            listed = sentences[blocks[following][0]].block.kind is BlockKind.LIST_ITEM
            if items and not listed:
                break
            items += blocks[following]
            if not listed:
                break
        if items and all(i in doomed for i in items):
            doomed.add(last)


def _lines_around(text: str, start: int, end: int) -> tuple[int, int]:
    first = text.rfind("\n", 0, start) + 1
    after = text.find("\n", end)
    return first, len(text) if after < 0 else after + 1


def _sentence_cut(
    sentences: Sequence[Sentence], members: Sequence[int], index: int
) -> tuple[int, int]:
    """A sentence with the space after it, or with the space before it where it is the last."""
    start, end = sentences[index].start, sentences[index].end
    if index != members[-1]:
        return start, sentences[index + 1].start
    if index != members[0]:
        return sentences[index - 1].end, end
    return start, end


_NUMBER = re.compile(r"\d+")


def _renumbered(
    text: str,
    sentences: Sequence[Sentence],
    blocks: dict[int, list[int]],
    doomed: Collection[int],
) -> list[Edit]:
    """Edits that close the gaps which deleted items leave in ordered lists."""
    edits: list[Edit] = []
    shifts: dict[int, int] = {}
    for number in sorted(blocks):
        members = blocks[number]
        block = sentences[members[0]].block
        if block.kind is not BlockKind.LIST_ITEM:
            shifts.clear()
            continue
        for deeper in [level for level in shifts if level > block.level]:
            del shifts[deeper]
        found = _NUMBER.search(block.marker) if block.ordered else None
        if not found:
            continue
        if all(i in doomed for i in members):
            shifts[block.level] = shifts.get(block.level, 0) + 1
        elif shifts.get(block.level):
            line = text.rfind("\n", 0, block.start) + 1
            at = text.find(block.marker, line, sentences[members[0]].start)
            if at >= 0:
                new = str(int(found[0]) - shifts[block.level])
                edits.append(Edit(at + found.start(), at + found.end(), new))
    return edits
