"""Checks of an answer beyond its format: what it says must be true in the records.

A validator takes the answer (its text, and its data where it is JSON) and the facts of the task,
and yields what is wrong. A correct form proves nothing: a citation can name a source that does
not exist, a state can be one that may not follow, and "sent" is true only where a tool ran.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from steguard.contract import Contract, Verdict
from steguard.jsontext import JsonScanner, JsonTextError
from steguard.ruleset import Lines
from steguard.types import Finding, Severity, Span


class ExecutionRecords(Protocol):
    """Where it stands what really ran; :class:`steguard.gate.executions.Executions` is one."""

    def done(self, task: str, tool: str) -> Sequence[Any]:
        """The records of runs of this tool in this task that came to their end."""
        ...


class _NoRecords:
    def done(self, task: str, tool: str) -> Sequence[Any]:  # noqa: ARG002
        return ()


@dataclass(frozen=True)
class Facts:
    """What is known of a task when an answer is checked.

    ``evidence`` has the sources of the task: id to the task that owns it. ``transitions`` says
    which state may follow which; ``state`` is the state now. ``claims`` maps a state or a word
    that claims an effect (``sent``) to the tool whose run proves it.
    """

    task_id: str = "task"
    evidence: Mapping[str, str] = field(default_factory=dict)
    state: str | None = None
    transitions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    claims: Mapping[str, str] = field(default_factory=lambda: {"sent": "send_email"})
    records: ExecutionRecords = field(default_factory=_NoRecords)


@dataclass(frozen=True)
class Problem:
    """What a validator found: at a JSON pointer, or at a place in the text."""

    message: str
    suggestion: str | None = None
    pointer: str | None = None
    excerpt: str = ""


Validator = Callable[[str, Any, Facts], Iterable[Problem]]

_ID_KEYS = frozenset(
    f"{noun}{ending}"
    for noun in ("citation", "evidence", "source")
    for ending in ("_id", "_ids", "s", "")
)
_CLAIM_KEYS = frozenset("claims facts findings statements conclusions".split())
_IN_TEXT = re.compile(r"\[([A-Za-z][\w.:-]*\d[\w.:-]*|\d+)\]")
_STATE_KEYS = frozenset("state next_state delivery_state".split())
_NOT_DONE = re.compile(
    r"\b(?:not|never|no|cannot|unsent|until|before|after|if|when|once|will|would|must|can|could|"
    r"should|may|to be|awaiting|pending)\b|n't\b|[没未不待将等]",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?\n。！？]+")


def _walk(data: Any, pointer: str = "") -> Iterator[tuple[str, str, Any]]:
    """Every value below a key: the key, its pointer, the value."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            place = f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}"
            yield str(key), place, value
            yield from _walk(value, place)
    elif isinstance(data, list | tuple):
        for index, value in enumerate(data):
            yield from _walk(value, f"{pointer}/{index}")


def _cited(text: str, data: Any) -> Iterator[tuple[str, str | None]]:
    """The ids that an answer cites, with the pointer where there is one."""
    if not isinstance(data, Mapping | list):
        yield from ((found[1], None) for found in _IN_TEXT.finditer(text))
        return
    for key, pointer, value in _walk(data):
        if key in _ID_KEYS:
            listed = value if isinstance(value, list) else [value]
            for index, item in enumerate(listed):
                place = f"{pointer}/{index}" if isinstance(value, list) else pointer
                if isinstance(item, str | int) and not isinstance(item, bool):
                    yield str(item), place


def citations_exist(text: str, data: Any, facts: Facts) -> Iterator[Problem]:
    """Each cited source exists and belongs to the task."""
    for cited, pointer in _cited(text, data):
        owner = facts.evidence.get(cited)
        if owner is None:
            message = f"The source '{cited}' does not exist."
        elif owner != facts.task_id:
            message = f"The source '{cited}' belongs to the task '{owner}'."
        else:
            continue
        yield Problem(message, "Cite a source of this task.", pointer, cited)


def citation_coverage(text: str, data: Any, facts: Facts) -> Iterator[Problem]:
    """Each fact has a source, or is marked as unverified; and each source exists."""
    yield from citations_exist(text, data, facts)
    if not isinstance(data, Mapping | list):
        if not any(True for _ in _cited(text, data)):
            yield Problem("The text cites no source.", "Put the id of a source after each fact.")
        return
    statements = [
        (f"{pointer}/{index}", item)
        for key, pointer, value in _walk(data)
        if key in _CLAIM_KEYS and isinstance(value, list)
        for index, item in enumerate(value)
    ]
    for pointer, item in statements:
        unverified = isinstance(item, Mapping) and item.get("status") == "unverified"
        if not unverified and not any(True for _ in _cited("", item if _held(item) else {})):
            remedy = "Add its source, or set 'status' to 'unverified'."
            yield Problem("This fact has no source.", remedy, pointer)
    if not statements and not any(True for _ in _cited(text, data)):
        yield Problem("The answer cites no source.", "Add the ids of the sources.")


def _held(item: Any) -> bool:
    return isinstance(item, Mapping | list)


def state_transition(text: str, data: Any, facts: Facts) -> Iterator[Problem]:  # noqa: ARG001
    """A state that the answer sets may follow the state now."""
    if facts.state is None or not _held(data):
        return
    permitted = (facts.state, *facts.transitions.get(facts.state, ()))
    for key, pointer, value in _walk(data):
        if key in _STATE_KEYS and value not in permitted:
            remedy = f"Write one of: {', '.join(permitted)}."
            yield Problem(f"'{value}' cannot follow '{facts.state}'.", remedy, pointer, str(value))


def executed(text: str, data: Any, facts: Facts) -> Iterator[Problem]:
    """What the answer says was done has an execution record."""
    for claim, tool in facts.claims.items():
        if facts.records.done(facts.task_id, tool):
            continue
        for pointer, excerpt in _claimed(claim, text, data):
            yield Problem(
                f"'{claim}' has no execution record of the tool '{tool}'.",
                "Say what is true: the action did not run.",
                pointer,
                excerpt,
            )


def _claimed(claim: str, text: str, data: Any) -> Iterator[tuple[str | None, str]]:
    """Where an answer says that something was done."""
    if not _held(data):
        for excerpt in _said(claim, text):
            yield None, excerpt
        return
    for key, pointer, value in _walk(data):
        if value is True and key.casefold() == claim.casefold():
            yield pointer, "true"
        elif isinstance(value, str):
            for excerpt in _said(claim, value):
                yield pointer, excerpt


def _said(claim: str, text: str) -> Iterator[str]:
    """The word where a sentence states it; "not sent" and "will be sent" state nothing done."""
    ascii_word = claim.isascii()
    pattern = re.escape(claim)
    if ascii_word:
        pattern = rf"(?<![A-Za-z0-9_]){pattern}(?![A-Za-z0-9_])"
    for sentence in _SENTENCE.finditer(text):
        found = re.search(pattern, sentence[0], re.IGNORECASE)
        if found and not _NOT_DONE.search(sentence[0][: found.start()]):
            yield found[0]


VALIDATORS: dict[str, Validator] = {
    "citations_exist": citations_exist,
    "citation_coverage": citation_coverage,
    "state_transition": state_transition,
    "executed": executed,
}
"""The validators that a rule can name; a program can give others to the compiler."""


@dataclass(frozen=True)
class Check:
    """A validator that a rule asks for."""

    rule: str
    name: str
    validator: Validator


@dataclass(frozen=True)
class InstructionContract(Contract):
    """A contract that also runs the validators of rules; a guard uses it like any other."""

    checks: tuple[Check, ...] = ()
    facts: Facts = field(default_factory=Facts)
    max_characters: float = float("inf")
    min_characters: float = 0

    @property
    def whole(self) -> bool:
        return bool(self.checks) or self.min_characters > 0 or self.max_characters < float("inf")

    def with_settings(self, settings: Mapping[str, Any]) -> InstructionContract:
        """The same checks with these keys laid over the profile."""
        return replace(self, profile=self.profile.with_settings(settings))

    def with_facts(self, **facts: Any) -> InstructionContract:
        """The same checks with other facts: evidence, state, records."""
        return replace(self, facts=replace(self.facts, **facts))

    def check(self, text: str) -> Verdict:
        verdict = super().check(text)
        lines = Lines(verdict.text)
        found = [
            _finding(check, problem, verdict.text, verdict.data, lines)
            for check in self.checks
            for problem in check.validator(verdict.text, verdict.data, self.facts)
        ]
        found += self._length(verdict.text, lines)
        merged = sorted(
            (*verdict.findings, *found), key=lambda f: (f.span.start, f.span.end, f.code)
        )
        return Verdict(verdict.text, tuple(merged), verdict.data, verdict.extract)

    def _length(self, text: str, lines: Lines) -> list[Finding]:
        size = len(text.strip())
        if self.min_characters <= size <= self.max_characters:
            return []
        if size > self.max_characters:
            limit, word, start = self.max_characters, "maximum", int(self.max_characters)
        else:
            limit, word, start = self.min_characters, "minimum", len(text)
        line, column = lines.position(start)
        message = f"The text has {size} characters. The {word} is {limit:g}."
        return [Finding("character-count", "INS201", message, Span(start, len(text)), line, column)]


def _finding(check: Check, problem: Problem, text: str, data: Any, lines: Lines) -> Finding:
    start, end = _place(problem, text, data)
    line, column = lines.position(start)
    return Finding(
        rule=check.name.replace("_", "-"),
        code="INS200",
        message=problem.message,
        span=Span(start, end),
        line=line,
        column=column,
        severity=Severity.ERROR,
        suggestion=problem.suggestion,
        pointer=problem.pointer,
        excerpt=text[start:end],
    )


def _place(problem: Problem, text: str, data: Any) -> tuple[int, int]:
    """Where the problem stands in the answer; the whole answer where that cannot be told."""
    if problem.pointer and data is not None:
        scanner = JsonScanner()
        try:
            scanner.feed(text)
            scanner.close()
        except JsonTextError:
            return 0, len(text)
        return scanner.spans.get(problem.pointer, (0, len(text)))
    at = text.find(problem.excerpt) if problem.excerpt else -1
    return (at, at + len(problem.excerpt)) if at >= 0 else (0, len(text))
