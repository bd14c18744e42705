"""Hints that rewrite a free prompt as a Canon prompt, found without a model.

>>> advice = advise("Please give me a short summary of the text. Not too many numbers.")
>>> [finding.suggestion for finding in advice.findings]
['Remove it.', 'Write max_words: 150', ...]
>>> print(advice.draft())
canon-prompt: v1.0
...

Each wish that a program cannot check ("short") is a finding with the setting that says the same
(``max_words: 150``). What the prompt lacks (the role, the task, the fields of the answer) is a
finding too. The draft holds every setting that was found, with numbers to change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import regex
import yaml

from steguard import resources
from steguard.canon.problems import CanonFinding, Problem, finding
from steguard.ruleset import Lines
from steguard.types import Severity

_WISH, _FILLER, _GAP, _CLASH = "CAN451", "CAN452", "CAN453", "CAN454"
_ORDER = (
    "role task subject input max_words min_words max_sentences max_numbers style output_format "
    "guardrail"
).split()
_MAX_PROMPT = 100_000


@dataclass(frozen=True, slots=True)
class _Hint:
    """One kind of wish: its patterns, and the settings that say the same."""

    kind: str
    patterns: tuple[Any, ...]
    settings: tuple[tuple[str, str], ...]
    exact: bool
    why: str
    do: str


@dataclass(frozen=True)
class Advice:
    """What can be said about a free prompt.

    ``settings`` maps JSON pointers of a Canon prompt to values; ``missing`` names the parts that
    the free prompt does not give at all.
    """

    text: str
    findings: tuple[CanonFinding, ...]
    settings: Mapping[str, str | list[str]] = field(default_factory=dict)
    missing: tuple[str, ...] = ()

    def draft(self) -> str:
        """A Canon prompt with these settings; what is missing has a usual value to change."""
        settings: dict[str, Any] = {"/role": "assistant", "/task": "answer"}
        settings |= self.settings
        settings.setdefault("/input/text", "<text>")
        tree: dict[str, Any] = {}
        for pointer, value in settings.items():
            *parents, last = pointer.strip("/").split("/")
            place = tree
            for name in parents:
                place = place.setdefault(name, {})
            place[last] = value
        lines = ["canon-prompt: v1.0"]
        for name in _ORDER:
            if name in tree:
                lines += _lines(name, tree[name], "")
        return "\n".join(lines) + "\n"


def advise(text: str) -> Advice:
    """The hints for a free prompt in English or Chinese. Never raises for what the text holds."""
    text = text[:_MAX_PROMPT]
    lines = Lines(text)
    hits = sorted(_hits(text), key=lambda hit: (hit[0], -hit[1]))
    kept = list(_apart(hits))
    settings: dict[str, str | list[str]] = {}
    exact: set[str] = set()
    findings = []
    for start, end, hint, given in kept:
        if hint.settings:
            problem = _wish(hint, given)
            for pointer, value in given:
                if pointer in exact and not hint.exact:
                    continue
                if hint.exact:
                    exact.add(pointer)
                _put(settings, pointer, value)
        else:
            code = _FILLER if hint.kind == "filler" else _WISH
            weight = Severity.INFO if hint.kind == "filler" else Severity.WARNING
            problem = Problem((), code, hint.kind, hint.why, hint.do, severity=weight)
        findings.append(_at(text, lines, start, end, problem))
    findings += _settled(text, kept, settings, exact)
    findings.sort(key=lambda found: (found.start, found.end))
    missing = tuple(_missing(settings))
    end = len(text.rstrip())
    findings += [
        finding(
            text, end, end, Problem((), _GAP, "missing-setting", why, do, severity=Severity.INFO)
        )
        for why, do in (_GAPS[name] for name in missing)
    ]
    return Advice(text, tuple(findings), settings, missing)


def _settled(
    text: str, kept: Sequence[Any], settings: dict[str, str | list[str]], exact: set[str]
) -> Iterator[CanonFinding]:
    """Take one of two limits of length away where both cannot hold, and say so."""
    low, high = settings.get("/min_words"), settings.get("/max_words")
    if not isinstance(low, str) or not isinstance(high, str) or int(low) <= int(high):
        return
    keep_low = "/min_words" in exact and "/max_words" not in exact
    gone = "/max_words" if keep_low else "/min_words"
    del settings[gone]
    start, end, _, _ = next(hit for hit in kept if gone in dict(hit[3]))
    message = f"The prompt wants {low} words or more and {high} words or fewer."
    yield finding(
        text, start, end, Problem((), _CLASH, "conflicting-wishes", message, "Write one limit.")
    )


_GAPS = {
    "role": ("The prompt does not say which role the model has.", "Write role: assistant"),
    "task": ("The prompt does not name one task.", "Write task: with one verb, such as summarize"),
    "limit": ("The answer has no limit of length.", "Write max_words: 150"),
    "fields": (
        "The prompt does not say which parts the answer has.",
        "Write include_fields: under output_format: with a name for each part",
    ),
}


def _at(text: str, lines: Lines, start: int, end: int, problem: Problem) -> CanonFinding:
    line, column = lines.position(start)
    return finding(text, start, end, problem, line=line, column=column)


def _missing(settings: Mapping[str, Any]) -> Iterator[str]:
    for name in ("role", "task"):
        if f"/{name}" not in settings:
            yield name
    if not any(pointer.startswith("/max_") for pointer in settings):
        yield "limit"
    if "/output_format/include_fields" not in settings:
        yield "fields"


def _hits(text: str) -> Iterator[tuple[int, int, _Hint, list[tuple[str, str]]]]:
    for hint in _hints():
        for pattern in hint.patterns:
            for match in pattern.finditer(text):
                group = match[1] if pattern.groups else ""
                given = [
                    (pointer, value.replace("$1", _clean(group)))
                    for pointer, value in hint.settings
                ]
                yield match.start(), match.end(), hint, given


def _apart(hits: Sequence[Any]) -> Iterator[Any]:
    """The hits without those that stand inside the one before them."""
    reached = -1
    for hit in hits:
        if hit[0] >= reached and hit[1] > hit[0]:
            reached = hit[1]
            yield hit


def _wish(hint: _Hint, given: Sequence[tuple[str, str]]) -> Problem:
    shown = ", ".join(_setting(pointer, value) for pointer, value in given)
    return Problem((), _WISH, hint.kind, hint.why, f"Write {shown}", severity=Severity.WARNING)


def _setting(pointer: str, value: str) -> str:
    """A setting on one line; ``.`` stands between the name of a group and that of its field."""
    listed = f"[{', '.join(_names(value))}]" if pointer in _LISTS else value
    return f"{pointer.strip('/').replace('/', '.')}: {listed}"


def _put(settings: dict[str, str | list[str]], pointer: str, value: str) -> None:
    if pointer in _LISTS:
        listed = settings.setdefault(pointer, [])
        assert isinstance(listed, list)
        listed += [name for name in _names(value) if name not in listed]
    elif pointer not in _FIRST or pointer not in settings:
        settings[pointer] = value.lower()


_LISTS = (
    "/guardrail/must_not_include",
    "/guardrail/must_include",
    "/output_format/include_fields",
)
_FIRST = ("/role", "/task")
"""Settings whose first mention counts: a later one is most often a detail."""


def _names(value: str) -> list[str]:
    """The names in a list of running text; what is no plain name is left out."""
    parts = _LIST_MARK.split(value)
    names = (part.strip(" \t'\"“”‘’「」") for part in parts)
    return [name for name in names if _PLAIN_NAME.fullmatch(name)]


_LIST_MARK = regex.compile(r"[,，、/]|\band\b|\bor\b|以及|和|与|及", regex.IGNORECASE)
_PLAIN_NAME = regex.compile(r"[\p{L}_][\p{L}\p{N}_-]*(?: [\p{L}\p{N}_-]+){0,3}")


def _clean(group: str) -> str:
    return _THOUSANDS.sub("", group).strip()


_THOUSANDS = regex.compile(r"(?<=\d),(?=\d)")


def _lines(name: str, value: Any, indent: str) -> list[str]:
    if isinstance(value, dict):
        inner = [line for key, item in value.items() for line in _lines(key, item, indent + "  ")]
        return [f"{indent}{name}:", *inner]
    if isinstance(value, list):
        return [f"{indent}{name}: [{', '.join(value)}]"]
    return [f"{indent}{name}: {value}"]


@cache
def _hints() -> tuple[_Hint, ...]:
    raw = yaml.safe_load(resources.data("canon/hints.yaml").read_text(encoding="utf-8"))
    return tuple(
        _Hint(
            one["kind"],
            tuple(regex.compile(pattern, regex.IGNORECASE) for pattern in one["find"]),
            tuple((pointer, str(value)) for pointer, value in one.get("set", {}).items()),
            one.get("exact", False),
            one["why"],
            one.get("do", ""),
        )
        for one in raw
    )
