"""The loop for streams, without any input or output.

:func:`stream_flow` is a generator like :func:`steguard.flow.guard_flow`: it yields what the driver
must do and is sent chunks. In ``hold`` mode a sentence is released when it has passed. At a
violation the upstream is closed, what was released stays, and the model is asked for the rest.
In ``buffer`` mode nothing is released before the whole answer has passed; JSON and templates,
which only the end can prove right, are always held so. ``observe`` releases at once and reports.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from steguard.chunks import Delta, has_usage, read_deltas, rewritten, with_usage
from steguard.contract import Contract, Verdict
from steguard.errors import OutputRejected
from steguard.fallback import fall_back
from steguard.feedback import build_feedback
from steguard.flow import Pause, Run, Tell, attach_run, log, next_attempt, rejection
from steguard.forms import Part
from steguard.repair import fix_part
from steguard.reply import Reply, read_usage
from steguard.request import summed_usage
from steguard.result import Attempt, ChoiceResult, GuardResult, Outcome, Usage
from steguard.streamcheck import Step, StreamChecker, make_checker
from steguard.types import Finding, Severity


@dataclass(frozen=True, slots=True)
class Open:
    """Open a stream at the endpoint with these arguments."""

    kwargs: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Next:
    """Send the next chunk of the open stream, or :data:`END`."""


@dataclass(frozen=True, slots=True)
class Release:
    """Give these chunks to the caller."""

    chunks: list[Any]


@dataclass(frozen=True, slots=True)
class Close:
    """Close the open stream at once."""


END: Any = object()
"""What the driver sends where the open stream has no more chunks."""

StreamStep = Open | Next | Release | Close | Pause | Tell
_NEXT = Next()
_SETTLED = 1 << 62


@dataclass(slots=True)
class _Piece:
    """The text of one choice in a chunk, at its place in the choice's answer."""

    choice: _Choice
    delta: Delta
    start: int
    end: int
    text: str


@dataclass(slots=True)
class _Entry:
    """A chunk that waits for its release."""

    chunk: Any
    pieces: list[_Piece]
    usage: bool = False
    changed: bool = False


@dataclass(eq=False)
class _Choice:
    """One choice of the answer, through all its attempts."""

    index: int
    checker: StreamChecker
    passed: int = 0
    size: int = 0
    shown: list[str] = field(default_factory=list)
    pending: str = ""
    draft: list[str] = field(default_factory=list)
    number: int = 1
    begun: float = 0.0
    added: list[Any] = field(default_factory=list)
    lead: str | None = None
    findings: list[Finding] = field(default_factory=list)
    failure: list[Finding] | None = None
    stopped: str | None = None
    drafts: list[Verdict] = field(default_factory=list)
    finish_reason: str | None = None
    refusal: str = ""
    tools: bool = False
    removed: list[str] = field(default_factory=list)
    edited: bool = False
    result: ChoiceResult | None = None

    @property
    def text(self) -> str:
        return "".join(self.shown) + self.pending


class StreamState:
    """What a stream knows so far; the driver reads the report from it at any time."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.choices: dict[int, _Choice] = {}
        self.result: GuardResult | None = None

    def report(self) -> GuardResult:
        """The result, or what is known of it while the stream runs."""
        if self.result is not None:
            return self.result
        so_far = [
            c.result
            or ChoiceResult(
                Outcome.NOT_CHECKED, "".join(c.shown), tuple(c.findings), reason="streaming"
            )
            for c in self.choices.values()
        ]
        return self.run.result(
            so_far or [ChoiceResult(Outcome.NOT_CHECKED, "", reason="streaming")]
        )


class _Flow:
    """The state of one streamed call and the steps that change it."""

    def __init__(self, state: StreamState) -> None:
        self.state = state
        self.run = state.run
        self.contract: Contract = state.run.contract
        spec = self.contract.profile.spec
        self.mode = spec.stream.mode
        self.resume = spec.stream.resume
        self.limit = spec.stream.max_chars
        self.policy = spec.fallback
        self.queue: deque[_Entry] = deque()
        self.first: Any = None
        self.usage = Usage(unknown=1)

    # -- one upstream stream -----------------------------------------------------------------

    def read(
        self, kwargs: dict[str, Any], only: _Choice | None
    ) -> Generator[StreamStep, Any, None]:
        """Open a stream and take its chunks until it ends or must be closed.

        ``only`` is the choice that a resumed stream belongs to.
        """
        begun = self.run.clock()
        yield from self._open(kwargs)
        self.usage = Usage(unknown=1)
        while True:
            chunk = yield _NEXT
            if chunk is END:
                break
            stop = self.take(chunk, only)
            ready = self.flush()
            if ready:
                yield Release(ready)
            if stop:
                yield Close()
                break
        seconds = self.run.clock() - begun
        self.run.usage += self.usage
        open_choices = [only] if only else list(self.state.choices.values())
        for choice in open_choices:
            if choice.failure is None:
                self.end(choice)
            yield from self.record(choice, seconds, kwargs)
        ready = self.flush()
        if ready:
            yield Release(ready)

    def _open(self, kwargs: dict[str, Any]) -> Generator[StreamStep, Any, None]:
        while True:
            try:
                yield Open(kwargs)
            except Exception as error:
                weaker = self.run.plan.weaken(kwargs, error)
                if weaker is None:
                    raise
                kwargs = weaker
                continue
            return

    def take(self, chunk: Any, only: _Choice | None) -> bool:
        """Take one chunk; whether the stream must be closed now."""
        if self.first is None:
            self.first = chunk
        if has_usage(chunk):
            self.usage = read_usage(chunk)
        deltas = read_deltas(chunk)
        if not deltas:
            self.queue.append(_Entry(chunk, [], has_usage(chunk)))
            return False
        entry = _Entry(chunk, [], has_usage(chunk))
        self.queue.append(entry)
        stop = False
        for delta in deltas:
            choice = only or self.choice(delta.index)
            if choice.failure is not None:
                entry.pieces.append(_Piece(choice, delta, 0, 0, ""))
                entry.changed = True
                continue
            stop = self._take_delta(entry, choice, delta, only is not None) or stop
        if self.queue and self.queue[-1] is entry and self._empty(entry):
            self.queue.pop()
        return stop

    def _take_delta(self, entry: _Entry, choice: _Choice, delta: Delta, again: bool) -> bool:
        if delta.refusal:
            choice.refusal += delta.refusal
        if delta.tools:
            choice.tools = True
        if delta.finish_reason:
            choice.finish_reason = delta.finish_reason
        text = delta.text
        if text:
            choice.draft.append(text)
            if choice.lead is not None:
                text = self._lead(choice, text)
                entry.changed = True
        if again:
            entry.changed = True
        start = choice.size
        choice.size += len(text)
        entry.pieces.append(_Piece(choice, delta, start, choice.size, text))
        if not text:
            return False
        choice.pending += text
        if self.mode == "observe":
            choice.passed = choice.size
        if choice.size > self.limit:
            choice.finish_reason = "max_chars"
            return True
        return self.judge(choice, choice.checker.feed(text))

    def _lead(self, choice: _Choice, text: str) -> str:
        """The start of a resumed answer, joined to what was shown.

        Some models write the whole answer again; what repeats the shown text is left out.
        """
        shown = choice.text
        assert choice.lead is not None
        choice.lead += text
        lead, wanted = choice.lead.lstrip(), shown.strip()
        if wanted.startswith(lead) and len(lead) < len(wanted):
            return ""
        rest = lead.removeprefix(wanted) if len(wanted) > 12 else lead
        if not rest.strip():
            return ""
        choice.lead = None
        if shown[-1].isspace():
            return rest.lstrip()
        return rest if rest[:1].isspace() else f" {rest}"

    # -- verdicts ----------------------------------------------------------------------------

    def judge(self, choice: _Choice, steps: Sequence[Step]) -> bool:
        """Act on checked steps; whether the stream must be closed now."""
        checker = choice.checker
        for step in steps:
            if self.mode == "observe" or not step.failed:
                choice.findings += step.findings
                if not checker.whole:
                    choice.passed = max(choice.passed, step.safe)
                continue
            whole = checker.whole or self.mode == "buffer"
            stop = (
                self._refuse_whole(choice, step) if whole else self._refuse_sentence(choice, step)
            )
            if choice.failure is not None or choice.checker is not checker:
                return stop
        return False

    def _refuse_whole(self, choice: _Choice, step: Step) -> bool:
        """A fault in an answer of which nothing was shown: ask again, or read on to the end."""
        if choice.stopped is None:
            choice.stopped = self._why_stop(choice)
        if choice.stopped is None:
            choice.failure = [*choice.findings, *step.findings]
            return len(self.state.choices) == 1
        choice.findings += step.findings
        return False

    def _refuse_sentence(self, choice: _Choice, step: Step) -> bool:
        """A fault in prose: ask for the rest from there, or apply the fallback to the sentence."""
        if choice.stopped is None:
            choice.stopped = self._why_stop(choice)
        if choice.stopped is None:
            self.cut(choice, step.start)
            choice.failure = [*step.findings]
            return len(self.state.choices) == 1
        if self.policy in ("strip", "fix"):
            return self._replace(choice, step)
        choice.findings += step.findings
        if self.policy != "raise":
            choice.passed = max(choice.passed, step.safe)
            return False
        choice.failure = [*step.findings]
        self.cut(choice, step.start)
        return True

    def _why_stop(self, choice: _Choice) -> str | None:
        if not self.resume and choice.shown:
            return "no_resume"
        return next_attempt(self.run, choice.number, choice.begun)[1]

    def _replace(self, choice: _Choice, step: Step) -> bool:
        """Put the repaired sentence in the place of a faulty one, or nothing."""
        offset = choice.size - len(choice.pending)
        before = choice.pending[: step.start - offset]
        faulty = choice.pending[step.start - offset : step.end - offset]
        after = choice.pending[step.end - offset :]
        if not faulty.strip() or step.start < offset:
            choice.findings += step.findings
            choice.passed = max(choice.passed, step.safe)
            return False
        mended, count = fix_part(Part(faulty, lambda at: at), self.contract)
        for text in (
            [mended, ""] if count and self.policy == "strip" else [mended] if count else [""]
        ):
            if not text and self.policy == "fix":
                break
            rest = after if text else after.lstrip(" ")
            checker = make_checker(self.contract)
            steps = checker.feed("".join(choice.shown) + before + text)
            known = [s for s in steps if s.start >= offset + len(before)]
            if any(s.failed for s in known):
                continue
            if not text:
                choice.removed.append(step.sentence)
            self._swap(
                choice,
                before + text + rest,
                offset + len(before),
                len(faulty) + len(after) - len(rest),
                text,
            )
            choice.checker = checker
            choice.edited = True
            choice.passed = max(choice.passed, *(s.safe for s in steps), 0)
            return self.judge(choice, checker.feed(rest)) if rest else False
        choice.findings += step.findings
        choice.passed = max(choice.passed, step.safe)
        return False

    def _swap(self, choice: _Choice, pending: str, at: int, length: int, text: str) -> None:
        """Replace ``length`` characters at ``at`` of the choice's answer, in the queue too."""
        change = len(text) - length
        done = False
        for entry in self.queue:
            for piece in entry.pieces:
                if piece.choice is not choice:
                    continue
                if piece.end <= at:
                    continue
                if piece.start >= at + length:
                    piece.start += change
                    piece.end += change
                    continue
                entry.changed = True
                head = piece.text[: max(0, at - piece.start)]
                tail = piece.text[max(0, at + length - piece.start) :]
                piece.text = head + ("" if done else text) + tail
                piece.start = min(piece.start, at) if not done else at + len(text)
                piece.end = piece.start + len(piece.text)
                done = True
        choice.pending = pending
        choice.size += change

    def cut(self, choice: _Choice, at: int) -> None:
        """Drop what stands behind this place of the choice's answer."""
        choice.passed = max(choice.passed, at)
        offset = choice.size - len(choice.pending)
        choice.pending = choice.pending[: max(0, at - offset)]
        choice.size = at
        for entry in self.queue:
            self._trim(entry)
        self.queue = deque(e for e in self.queue if not self._empty(e))

    def _trim(self, entry: _Entry) -> None:
        for piece in entry.pieces:
            if piece.end > piece.choice.size:
                keep = max(0, piece.choice.size - piece.start)
                piece.text, piece.end = piece.text[:keep], piece.start + keep
                entry.changed = True

    @staticmethod
    def _empty(entry: _Entry) -> bool:
        return (
            bool(entry.pieces)
            and entry.changed
            and all(not p.text and p.delta.bare for p in entry.pieces)
        )

    # -- the end of a stream -----------------------------------------------------------------

    def end(self, choice: _Choice) -> None:
        """The stream ended for this choice: check what is left and settle it."""
        if choice.lead is not None:
            choice.lead = None
        reason = self.unchecked(choice)
        if reason in ("refusal", "tool_calls"):
            self.settle(choice, ChoiceResult(Outcome.NOT_CHECKED, choice.text, reason=reason))
            return
        checker = None
        while checker is not choice.checker:
            checker = choice.checker
            self.judge(choice, checker.close())
        if choice.failure is not None:
            if reason is None:
                return
            choice.findings += choice.failure
            choice.failure = None
        if choice.checker.whole or self.mode == "buffer":
            self._settle_whole(choice, reason)
        else:
            self._settle_prose(choice, reason)

    def _settle_prose(self, choice: _Choice, reason: str | None) -> None:
        if choice.edited and choice.pending != choice.pending.rstrip():
            blank = len(choice.pending) - len(choice.pending.rstrip())
            self._swap(choice, choice.pending.rstrip(), choice.size - blank, blank, "")
        text = choice.text
        findings = tuple(sorted(choice.findings, key=_place))
        failed = any(f.severity is Severity.ERROR for f in findings)
        if reason is not None:
            outcome = Outcome.NOT_CHECKED
        elif choice.edited:
            verdict = self.contract.check(text)
            findings, failed = verdict.findings, not verdict.passed
            done = Outcome.FIXED if self.policy == "fix" else Outcome.STRIPPED
            outcome = Outcome.REJECTED if failed or not text.strip() else done
        elif failed:
            outcome = Outcome.REJECTED
        else:
            outcome = Outcome.PASSED if choice.number == 1 else Outcome.PASSED_AFTER_RETRY
        self.settle(
            choice,
            ChoiceResult(
                outcome,
                text,
                findings,
                reason=reason,
                removed=tuple(choice.removed),
                stopped_by=choice.stopped,
            ),
        )

    def _settle_whole(self, choice: _Choice, reason: str | None) -> None:
        verdict = self.contract.check(choice.text)
        if reason is not None:
            result = ChoiceResult(Outcome.NOT_CHECKED, choice.text, verdict.findings, reason=reason)
        elif self.mode == "observe" or verdict.passed:
            good = Outcome.PASSED if choice.number == 1 else Outcome.PASSED_AFTER_RETRY
            outcome = good if verdict.passed else Outcome.REJECTED
            text = choice.text if self.mode == "observe" else verdict.text
            result = ChoiceResult(outcome, text, verdict.findings, verdict.data)
        else:
            fallen = fall_back(self.contract, [*choice.drafts, verdict], self.policy)
            result = ChoiceResult(
                fallen.outcome,
                fallen.verdict.text,
                fallen.verdict.findings,
                fallen.verdict.data,
                removed=fallen.removed,
                stopped_by=choice.stopped,
            )
        if result.text != choice.text:
            offset = choice.size - len(choice.pending)
            self._swap(choice, result.text, offset, len(choice.pending), result.text)
        self.settle(choice, result)

    def settle(self, choice: _Choice, result: ChoiceResult) -> None:
        choice.result = result
        choice.findings = list(result.findings)
        choice.passed = _SETTLED

    @staticmethod
    def unchecked(choice: _Choice) -> str | None:
        if choice.refusal:
            return "refusal"
        if choice.finish_reason in ("length", "content_filter", "max_chars"):
            return choice.finish_reason
        if choice.tools and not choice.text.strip():
            return "tool_calls"
        return None

    def record(
        self, choice: _Choice, seconds: float, kwargs: dict[str, Any]
    ) -> Generator[StreamStep, Any, None]:
        """Write the attempt down; prepare the next one where the choice failed."""
        findings = choice.failure if choice.failure is not None else choice.findings
        attempt = Attempt(
            choice.number,
            choice.index,
            tuple(kwargs["messages"]),
            "".join(choice.draft) or choice.refusal,
            tuple(findings),
            self.usage
            if choice is next(iter(self.state.choices.values())) or choice.number > 1
            else Usage(),
            seconds,
            choice.finish_reason,
        )
        retry = choice.failure is not None and choice.stopped is None
        if retry:
            feedback = self._feedback(choice)
            attempt = replace(attempt, feedback=feedback)
            kept = "".join(choice.shown) + choice.pending
            draft = kept if kept.strip() else attempt.draft
            reply = Reply(draft, None, (), None, None)
            choice.added += self.run.plan.retry_messages(reply, feedback)
        self.run.attempts.append(attempt)
        log.debug(
            "stream attempt %d of choice %d: %d errors",
            attempt.number,
            choice.index,
            attempt.errors,
        )
        yield Tell(attempt)

    def _feedback(self, choice: _Choice) -> str:
        return build_feedback(
            choice.failure or (),
            form=self.contract.form.name,
            language=self.contract.language,
            detail=self.contract.profile.spec.retry.feedback,
            kept="" if choice.checker.whole or self.mode == "buffer" else choice.text,
        )

    def again(self, choice: _Choice) -> None:
        """Make a failed choice ready for its next attempt."""
        self.queue = deque(e for e in self.queue if not self._belongs(e, choice))
        choice.number += 1
        choice.failure = None
        choice.finish_reason = None
        choice.draft = []
        choice.findings = [f for f in choice.findings if f.severity is not Severity.ERROR]
        choice.checker = make_checker(self.contract)
        if choice.checker.whole or self.mode == "buffer":
            choice.pending, choice.size, choice.passed = "", 0, 0
            choice.findings = []
            return
        kept = choice.text
        choice.findings = []
        if kept:
            choice.lead = ""
            self.judge(choice, choice.checker.feed(kept))

    def _belongs(self, entry: _Entry, choice: _Choice) -> bool:
        """Whether a waiting chunk is of a refused attempt: its end, its usage, its text."""
        if not entry.pieces:
            return entry.usage
        if self.mode == "buffer" or choice.checker.whole:
            return all(p.choice is choice and not p.delta.tools for p in entry.pieces)
        return all(p.choice is choice and p.delta.finish_reason for p in entry.pieces)

    # -- release -----------------------------------------------------------------------------

    def flush(self) -> list[Any]:
        """The chunks at the head of the queue that may go out now."""
        ready: list[Any] = []
        queue = self.queue
        while queue and self._free(queue[0]):
            entry = queue.popleft()
            for piece in entry.pieces:
                if piece.text:
                    piece.choice.shown.append(piece.text)
                    piece.choice.pending = piece.choice.pending[len(piece.text) :]
            if self._empty(entry):
                continue
            ready.append(self._built(entry))
        return ready

    def _free(self, entry: _Entry) -> bool:
        if not entry.pieces:
            if not entry.usage:
                return True
            return all(c.result is not None for c in self.state.choices.values())
        for piece in entry.pieces:
            choice = piece.choice
            if piece.end > choice.passed:
                return False
            if choice.result is None and self.mode != "observe":
                if piece.delta.finish_reason or (piece.start >= choice.passed and piece.text):
                    return False
                if (self.mode == "buffer" or choice.checker.whole) and piece.text:
                    return False
        return True

    def _built(self, entry: _Entry) -> Any:
        if not entry.changed:
            if entry.usage and len(self.run.attempts) > 1:
                return with_usage(entry.chunk, summed_usage(entry.chunk, self.run.usage))
            return entry.chunk
        texts = {p.delta.position: p.text for p in entry.pieces if p.text != p.delta.text}
        index = entry.pieces[0].choice.index if len(entry.pieces) == 1 else None
        return rewritten(entry.chunk, texts, like=self.first, index=index)

    def choice(self, index: int) -> _Choice:
        found = self.state.choices.get(index)
        if found is None:
            found = _Choice(index, make_checker(self.contract), begun=self.run.clock())
            self.state.choices[index] = found
        return found


def _place(finding: Finding) -> tuple[int, int, str]:
    return (finding.span.start, finding.span.end, finding.code)


def stream_flow(state: StreamState) -> Generator[StreamStep, Any, GuardResult]:
    """Drive one streamed call to its end; returns the result.

    Raises :class:`OutputRejected` where the profile says ``fallback: raise``, and passes on what
    the driver throws in, with the result so far at its attribute ``steguard``.
    """
    run = state.run
    run.started = run.clock()
    flow = _Flow(state)
    try:
        yield from flow.read(run.plan.first(), None)
        if not state.choices:
            result = [ChoiceResult(Outcome.NOT_CHECKED, "", reason="no_choices")]
        else:
            for choice in list(state.choices.values()):
                while choice.result is None and choice.stopped is None:
                    pause, stopped = next_attempt(run, choice.number, choice.begun)
                    if stopped is not None:
                        choice.stopped = stopped
                        break
                    if pause:
                        yield Pause(pause)
                    flow.again(choice)
                    yield from flow.read(run.plan.again(choice.added), choice)
            result = [c.result or _refused(c) for c in state.choices.values()]
        ready = flow.flush()
        if ready:
            yield Release(ready)
    except Exception as error:
        attach_run(error, run)
        raise
    state.result = run.result(result)
    log.info(
        "%s: %s after %d streams", run.contract.name, state.result.outcome.value, len(run.attempts)
    )
    if (
        state.result.outcome is Outcome.REJECTED
        and flow.policy == "raise"
        and flow.mode != "observe"
    ):
        raise OutputRejected(rejection(state.result), state.result)
    return state.result


def _refused(choice: _Choice) -> ChoiceResult:
    """A choice that was stopped at a violation: what was shown stands, the rest never came."""
    findings = tuple(choice.failure or choice.findings)
    return ChoiceResult(Outcome.REJECTED, choice.text, findings, stopped_by=choice.stopped)
