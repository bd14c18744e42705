"""Safe edits, applied until nothing changes.

A fix never adds a finding: an edit after which a text has more findings of any rule than before
is taken back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from steguard.contract import Contract
from steguard.edits import apply_edits
from steguard.forms import Part
from steguard.ruleset import ActiveRule
from steguard.text.model import Document
from steguard.types import Edit, Finding, Hit, Safety

_ROUNDS = 20

PartHits = list[tuple[ActiveRule, Hit]]


@dataclass(frozen=True, slots=True)
class Fixed:
    """``text`` after the edits, how many were made, and the findings that remain."""

    text: str
    applied: int
    findings: tuple[Finding, ...]


def fix_text(text: str, contract: Contract, *, unsafe: bool = False) -> Fixed:
    """Repair a whole answer: prose, the string fields of JSON, the visible text of HTML.

    ``unsafe`` also makes edits that can change the meaning.
    """
    extract = contract.form.extract(text)
    replacements: dict[int, str] = {}
    applied = 0
    for index, part in enumerate(extract.parts):
        new, count = fix_part(part, contract, unsafe=unsafe)
        if count:
            replacements[index] = new
            applied += count
    joined = contract.form.join(extract, replacements) if replacements else extract.text
    if joined is None:
        joined, applied = extract.text, 0
    return Fixed(joined, applied, contract.check(joined).findings)


def fix_part(part: Part, contract: Contract, *, unsafe: bool = False) -> tuple[str, int]:
    """The repaired text of one part and the number of edits."""
    wanted = (Safety.SAFE, Safety.UNSAFE) if unsafe else (Safety.SAFE,)

    def find(text: str) -> PartHits:
        return part_hits(text, part, contract)

    state = _State(part.text, find(part.text))
    for _ in range(_ROUNDS):
        before = state.applied
        state.refused.clear()
        for _ in range(_ROUNDS):
            fixes = _open_fixes(state, wanted)
            if not fixes:
                break
            _apply(state, _apart(fixes), find)
        if state.applied == before:
            break
    return state.text, state.applied


def _open_fixes(state: _State, wanted: Sequence[Safety]) -> list[Sequence[Edit]]:
    """The fixes of the wanted kinds that were not refused since the text last changed."""
    fixes = [
        hit.edits
        for active, hit in state.found
        if hit.edits and (hit.safety or active.rule.fix) in wanted
    ]
    return [edits for edits in fixes if not _keys(edits, state.text) <= state.refused]


@dataclass
class _State:
    """A text on its way to its fixed point."""

    text: str
    found: PartHits
    applied: int = 0
    refused: set[tuple[str, str, str]] = field(default_factory=set)


def part_hits(text: str, part: Part, contract: Contract) -> PartHits:
    """What the rules of a part's section find in a text that stands in its place."""
    here = Part(text, part.place, part.format, part.pointer, part.section)
    run = contract.rules(part.section).start(contract.language)
    sentences = contract.sentences(here)
    found = [pair for sentence in sentences for pair in run.sentence(sentence)]
    return found + run.finish(Document(text, part.format, contract.language, sentences))


def _apply(state: _State, fixes: Sequence[Sequence[Edit]], find: Callable[[str], PartHits]) -> None:
    """Make all fixes at once; where that adds a finding, halve them until the guilty is alone.

    The second half goes first, so that the offsets of the first stay right.
    """
    new = apply_edits(state.text, [edit for edits in fixes for edit in edits])
    after = find(new)
    if not _worse(state.found, after):
        state.text, state.found = new, after
        state.applied += len(fixes)
        return
    if len(fixes) == 1:
        state.refused |= _keys(fixes[0], state.text)
        return
    middle = len(fixes) // 2
    _apply(state, fixes[middle:], find)
    _apply(state, fixes[:middle], find)


def _worse(before: PartHits, after: PartHits) -> bool:
    old = Counter(active.rule.name for active, _ in before)
    new = Counter(active.rule.name for active, _ in after)
    return any(count > old[name] for name, count in new.items())


def _keys(edits: Sequence[Edit], text: str) -> set[tuple[str, str, str]]:
    """What identifies an edit when offsets have moved: the words around it, old and new text."""
    return {(text[max(0, e.start - 20) : e.start], text[e.start : e.end], e.text) for e in edits}


def _apart(fixes: Sequence[Sequence[Edit]]) -> list[Sequence[Edit]]:
    chosen: list[Sequence[Edit]] = []
    last = -1
    for edits in sorted(fixes, key=lambda edits: min(e.start for e in edits)):
        start, end = min(e.start for e in edits), max(e.end for e in edits)
        if start > last:
            chosen.append(edits)
            last = end
    return chosen
