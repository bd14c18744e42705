"""One choice of a streamed answer, through all its attempts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from steguard.reply import get
from steguard.result import ChoiceResult
from steguard.streamcheck import StreamChecker
from steguard.types import Finding

_SETTLED = 1 << 62
_SHORTEST_REPEAT = 13
_LAST_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*$")


@dataclass(eq=False, slots=True)
class Choice:
    """What is known of one choice.

    All places are offsets in its answer. The caller has got what is before ``out``, the checker has
    read what is before ``fed``, what is before ``passed`` may go out, ``size`` is all. ``whole``
    says that no text may go out before the answer is settled.
    """

    index: int
    checker: StreamChecker
    whole: bool
    begun: float = 0.0
    number: int = 1
    shown: list[str] = field(default_factory=list)
    out: int = 0
    passed: int = 0
    fed: int = 0
    size: int = 0
    lead: Lead | None = None
    swallow: int = 0
    """Line breaks that the next text loses, because the line before them went away."""

    draft: list[str] = field(default_factory=list)
    finish_reason: str | None = None
    refusal: str = ""
    calls: dict[Any, dict[str, Any]] = field(default_factory=dict)
    calls_out: bool = False
    tells_end: bool = False
    closed: bool = False
    """Whether the rest of this attempt is not read."""

    findings: list[Finding] = field(default_factory=list)
    failure: list[Finding] | None = None
    stopped: str | None = None
    pause: float = 0.0
    added: list[Any] = field(default_factory=list)
    base: tuple[StreamChecker, int] | None = None
    removed: list[str] = field(default_factory=list)
    edited: bool = False
    gaps: dict[int, int] = field(default_factory=dict)
    """How many items each level of the running list has lost."""

    numbered: int = -1
    mended: int = -1
    result: ChoiceResult | None = None

    def settle(self, result: ChoiceResult) -> None:
        """This is how it ends; all its text may go out."""
        self.result = result
        self.findings = list(result.findings)
        self.passed = _SETTLED

    def unchecked(self, text: str) -> str | None:
        """Why this text cannot be called a whole answer that was checked, or None."""
        if self.refusal:
            return "refusal"
        if self.finish_reason in ("length", "content_filter", "max_chars"):
            return self.finish_reason
        if self.calls and not text.strip():
            return "tool_calls"
        if self.tells_end and not self.finish_reason and not self.closed:
            return "cut"
        return None

    def note_calls(self, tools: Any) -> None:
        """Put the deltas of tool calls together, as the request for a new attempt needs them."""
        for number, delta in enumerate(tools if isinstance(tools, list | tuple) else ()):
            place = get(delta, "index")
            call = self.calls.setdefault(
                number if place is None else place,
                {"id": "", "type": "function", "function": {"name": "", "arguments": ""}},
            )
            call["id"] = get(delta, "id") or call["id"]
            for name in ("name", "arguments"):
                call["function"][name] += get(get(delta, "function"), name) or ""
        if not isinstance(tools, list | tuple):
            self.calls.setdefault(0, {})

    def swallowed(self, text: str) -> str:
        """The text without the line breaks that went away with the line before them."""
        rest = text.lstrip("\n")
        lost = min(self.swallow, len(text) - len(rest))
        self.swallow = 0 if rest else self.swallow - lost
        return text[lost:]

    def begin_again(self, checker: StreamChecker) -> None:
        """Forget what belongs to the refused attempt alone."""
        self.number += 1
        self.checker = checker
        self.failure = None
        self.finish_reason = None
        self.refusal = ""
        self.closed = False
        self.draft = []
        self.findings = []
        if not self.calls_out:
            self.calls = {}
        if self.whole:
            self.size = self.passed = 0
        self.fed = self.size


class Lead:
    """The start of a resumed answer, joined to what was shown.

    Some models write the whole answer again, or its last sentence; what repeats the shown text is
    left out.
    """

    def __init__(self, shown: str) -> None:
        self._end = shown[-1:]
        self._breaks = len(shown) - len(shown.rstrip("\n"))
        wanted = shown.strip()
        last = _LAST_SENTENCE.search(wanted)
        self._wanted = [wanted]
        if last and _SHORTEST_REPEAT <= len(last[0].strip()) < len(wanted):
            self._wanted.append(last[0].strip())
        self._held: list[str] = []
        self._read = 0
        self._repeated = 0
        self._space = True
        self.done = False

    def feed(self, text: str) -> str:
        """Take the next text; return what of it goes on from the shown text."""
        self._held.append(text)
        if self._space:
            text = text.lstrip()
            if not text:
                return ""
            self._space = False
        if self._wanted:
            self._compare(text)
            if self._wanted:
                return ""
        lead = "".join(self._held)
        rest = lead.lstrip()[self._repeated :] if self._repeated else lead
        if not rest.strip():
            return ""
        self.done = True
        return self._joined(rest)

    def _compare(self, text: str) -> None:
        running = []
        for wanted in self._wanted:
            left = len(wanted) - self._read
            if not wanted.startswith(text[:left], self._read):
                continue
            if len(text) < left:
                running.append(wanted)
            elif len(wanted) >= _SHORTEST_REPEAT:
                self._repeated = max(self._repeated, len(wanted))
        self._wanted = running
        self._read += len(text)

    def _joined(self, rest: str) -> str:
        bare = rest.lstrip("\n")
        breaks = len(rest) - len(bare)
        if breaks:
            return rest[min(breaks, self._breaks) :]
        if self._end == "\n":
            return rest[1:] if rest[0] == " " and rest[1:2] != " " else rest
        if self._end.isspace():
            return rest.lstrip(" ")
        return rest if rest[0].isspace() or self._end > "\u2e80" else f" {rest}"
