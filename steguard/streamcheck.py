"""Checks a text while it comes: the same rules, the same verdict as for the whole text.

A checker takes pieces and says which findings they bring and how much of the text is safe to
show. The findings of all pieces and the close are those of :meth:`Contract.check`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from steguard.contract import Contract, make_finding
from steguard.forms import Part, TextForm
from steguard.htmltemplate import HtmlForm
from steguard.jsonform import JsonForm
from steguard.jsontext import JsonScanner, JsonTextError
from steguard.repair import part_hits
from steguard.ruleset import Lines
from steguard.text.model import Block, Document, Sentence
from steguard.text.segment import Segmenter
from steguard.types import Finding, Severity


@dataclass(slots=True)
class Step:
    """A sentence (or a field, or the end) that was checked.

    ``safe`` is how much of the text may be shown once this step has passed, ``start`` where the
    text of the step begins, marker of a list item included, ``end`` where it ends. ``first`` says
    that it is the first sentence of its ``block``.
    """

    start: int
    end: int
    safe: int
    findings: Sequence[Finding]
    sentence: str
    block: Block | None = None
    first: bool = False

    @property
    def failed(self) -> bool:
        return any(f.severity is Severity.ERROR for f in self.findings)


class StreamChecker(Protocol):
    """Checks one text piece by piece. ``whole`` says that nothing is safe before the end."""

    whole: bool

    def feed(self, text: str) -> Sequence[Step]: ...

    def close(self) -> Sequence[Step]: ...


_NO_STEPS: Sequence[Step] = ()


def make_checker(contract: Contract) -> StreamChecker:
    """The checker for a contract's form."""
    form = contract.form
    if contract.whole:
        return WholeChecker(contract)
    if isinstance(form, JsonForm):
        return JsonChecker(contract, form)
    if isinstance(form, TextForm):
        return ProseChecker(contract, form.text_format)
    assert isinstance(form, HtmlForm)
    return WholeChecker(contract)


class ProseChecker:
    """Checks prose sentence by sentence."""

    whole = False

    def __init__(self, contract: Contract, text_format: str) -> None:
        self._contract = contract
        self._format = text_format
        self._segmenter = Segmenter(format=text_format, language=contract.language)
        self._run = contract.rules("default").start(contract.language)
        self._part = Part("", _same, text_format)
        self._lines = Lines("")
        self._pieces: list[str] = []
        self._size = 0
        self._tail = ""
        self._tail_start = 0
        self._pending = 0
        self._ends = (0, 0)

    def feed(self, text: str) -> Sequence[Step]:
        self._pieces.append(text)
        self._size += len(text)
        tail, self._tail = self._tail, ""
        tail += text
        self._tail = tail
        if "\n" in text:
            self._lines.extend(text, self._size - len(text))
        found = self._segmenter.feed(text)
        pending = self._segmenter.pending_start
        if not found:
            if pending <= self._pending:
                return _NO_STEPS
            self._pending = pending
            return self._moved()
        self._pending = pending
        steps = [self._check(sentence) for sentence in found]
        last = steps[-1]
        last.safe = self._safe(last.end)
        self._forget(last.safe)
        return steps

    def close(self) -> list[Step]:
        steps = [self._check(sentence) for sentence in self._segmenter.close()]
        text = "".join(self._pieces)
        sentences: Any = _Later(lambda: self._contract.sentences(self._part_of(text)))
        document = Document(text, self._format, self._contract.language, sentences)
        findings = [
            make_finding(active, hit, self._part, text[hit.start : hit.end], self._lines)
            for active, hit in self._run.finish(document)
        ]
        return [*steps, Step(self._size, self._size, self._size, findings, "")]

    def copy(self) -> ProseChecker:
        """A checker that has read the same and goes its own way from here."""
        twin = copy(self)
        twin._segmenter = deepcopy(self._segmenter)
        twin._run = self._run.copy()
        twin._lines = self._lines.copy()
        twin._pieces = self._pieces.copy()
        return twin

    def _check(self, sentence: Sentence) -> Step:
        self._ends = (self._ends[1], sentence.end)
        findings = []
        for active, hit in self._run.sentence(sentence):
            excerpt = sentence.text[max(0, hit.start - sentence.start) : hit.end - sentence.start]
            if hit.start < sentence.start:
                excerpt = "".join(self._pieces)[hit.start : hit.end]
            findings.append(
                make_finding(active, hit, self._part, excerpt, self._lines, sentence.text)
            )
        end, block = sentence.end, sentence.block
        opening = self._opening(sentence)
        return Step(opening, end, end, findings, sentence.text, block, sentence.index == 0)

    def _opening(self, sentence: Sentence) -> int:
        """Where a sentence begins, with the marker of its line where it is the first on it."""
        if sentence.index:
            return sentence.start
        before = self._tail[: sentence.start - self._tail_start]
        line = before.rfind("\n") + 1
        opening = self._tail_start + line
        shown = self._ends[0]
        return (
            opening if line and opening >= shown else max(shown, self._tail_start + _after(before))
        )

    def _safe(self, end: int) -> int:
        """How far the text is safe after a checked end.

        Code that is no sentence is; white space and a list marker wait for what follows them.
        """
        base = self._tail_start
        limit = self._segmenter.pending_start
        line = self._tail.rfind("\n", 0, max(0, limit - base)) + 1 + base
        return line if line > end and self._tail[end - base : line - base].strip() else end

    def _part_of(self, text: str) -> Part:
        return Part(text, _same, self._format)

    def _moved(self) -> Sequence[Step]:
        """A step without a sentence: code or white space went by."""
        safe = self._safe(max(self._ends[1], self._tail_start))
        if safe <= self._tail_start:
            return []
        start = self._tail_start
        self._forget(safe)
        return [Step(start, safe, safe, (), "")]

    def _forget(self, safe: int) -> None:
        self._tail = self._tail[safe - self._tail_start :]
        self._tail_start = safe


class _Later(Sequence[Sentence]):
    """The sentences of a whole text, for the few rules that ask for them at the end.

    To keep them all would make a long stream slow and large.
    """

    def __init__(self, make: Callable[[], list[Sentence]]) -> None:
        self._make = make

    @cached_property
    def _all(self) -> list[Sentence]:
        return self._make()

    def __iter__(self) -> Iterator[Sentence]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def __getitem__(self, place: Any) -> Any:
        return self._all[place]


def _after(before: str) -> int:
    """The place after the white space that follows the last shown text."""
    return len(before) - len(before.lstrip())


def _same(offset: int) -> int:
    return offset


class JsonChecker:
    """Checks JSON: the structure at each character, each string field when it is complete.

    It notices faults early; what may be shown is decided at the end, by the whole check.
    """

    whole = True

    def __init__(self, contract: Contract, form: JsonForm) -> None:
        self._contract = contract
        self._form = form
        self._scanner: JsonScanner | None = None
        self._pieces: list[str] = []
        self._size = 0
        self._start = 0
        self._failed = False

    def feed(self, text: str) -> list[Step]:
        self._pieces.append(text)
        self._size += len(text)
        if self._failed:
            return []
        if self._scanner is None:
            text = self._opened(text)
            if self._scanner is None:
                return []
        if self._scanner.done and self._form.recover != "off":
            return []
        try:
            fields = self._scanner.feed(text)
        except JsonTextError as error:
            return self._impossible(error)
        steps = []
        for field in fields:
            section = self._form.section(field.pointer, field.value)
            if section == "off":
                continue
            part = self._form.part(field, section)
            if part_hits(part.text, part, self._contract):
                source = "".join(self._pieces)[self._start :]
                findings = list(self._contract.check_part(part, source, Lines(source)))
                steps.append(Step(0, self._size, 0, findings, field.value))
        return steps

    def close(self) -> list[Step]:
        verdict = self._contract.check("".join(self._pieces))
        return [Step(0, self._size, self._size, verdict.findings, "")]

    def _opened(self, text: str) -> str:
        """Begin to scan: at once, or where other text may stand around, at the first bracket."""
        if self._form.recover == "off":
            self._scanner = JsonScanner()
            return text
        at = min((i for i in (text.find("{"), text.find("[")) if i >= 0), default=-1)
        if at < 0:
            return ""
        self._scanner = JsonScanner()
        self._start = self._size - len(text) + at
        return text[at:]

    def _impossible(self, error: JsonTextError) -> list[Step]:
        assert self._scanner is not None
        self._failed = True
        if self._scanner.done or self._form.recover == "repair":
            return []
        source = "".join(self._pieces)[self._start :]
        finding = self._form.invalid(error, source)
        return [Step(0, self._size, 0, [finding], "")]


class WholeChecker:
    """Checks at the end only: the structure decides what is text, or a check reads all of it."""

    whole = True

    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        self._pieces: list[str] = []

    def feed(self, text: str) -> list[Step]:
        self._pieces.append(text)
        return []

    def close(self) -> list[Step]:
        text = "".join(self._pieces)
        verdict = self._contract.check(text)
        return [Step(0, len(text), len(text), verdict.findings, "")]
