"""The loop for streams, without any input or output.

:func:`stream_flow` is a generator like :func:`steguard.flow.guard_flow`: it yields what the driver
must do and is sent chunks. In ``hold`` mode a sentence is released when it has passed. At a
violation the upstream is closed, what was released stays, and the model is asked for the rest.
In ``buffer`` mode nothing is released before the whole answer has passed; JSON and templates,
which only the end can prove right, are always held so. ``observe`` releases at once and reports.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any

from steguard.chunks import Delta, read_chunk
from steguard.errors import OutputRejected
from steguard.feedback import build_feedback
from steguard.flow import Pause, Run, Tell, attach_run, log, next_attempt, rejection
from steguard.reply import Reply, read_usage
from steguard.result import Attempt, ChoiceResult, GuardResult, Outcome, Usage
from steguard.streamcheck import make_checker
from steguard.streamchoice import Choice, Lead
from steguard.streamjudge import Judge
from steguard.waiting import Entry, Piece, Waiting


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
NEXT = Next()


class StreamState:
    """What a stream knows so far; the driver reads the report from it at any time."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.choices: dict[int, Choice] = {}
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
        nothing = ChoiceResult(Outcome.NOT_CHECKED, "", reason="streaming")
        return self.run.result(so_far or [nothing])


class _Flow:
    """The state of one streamed call and the steps that change it."""

    def __init__(self, state: StreamState) -> None:
        self.run = state.run
        self.choices = state.choices
        self.contract = self.run.contract
        spec = self.contract.profile.spec
        self.observe = spec.stream.mode == "observe"
        self.limit = spec.stream.max_chars
        self.waiting = Waiting(self.observe)
        self.judge = Judge(self.run, self.waiting)
        self.usage = Usage(unknown=1)

    # -- one upstream stream -----------------------------------------------------------------

    def read(self, kwargs: dict[str, Any], only: Choice | None) -> Generator[StreamStep, Any, None]:
        """Open a stream and take its chunks until it ends or must be closed.

        ``only`` is the choice that a resumed stream belongs to.
        """
        begun = self.run.clock()
        wanted = 1 if only else int(kwargs.get("n") or 1)
        kwargs = yield from self._open(kwargs)
        self.usage = Usage(unknown=1)
        while (chunk := (yield NEXT)) is not END:
            if not self.take(chunk, only):
                continue
            ready = self.release()
            if ready:
                yield Release(ready)
            if self._all_closed(only, wanted):
                yield Close()
                break
        seconds = self.run.clock() - begun
        self.run.usage += self.usage
        for choice in [only] if only else list(self.choices.values()):
            if choice.failure is None:
                self.judge.end(choice)
            yield from self.record(choice, seconds, kwargs)
        ready = self.release()
        if ready:
            yield Release(ready)

    def _open(self, kwargs: dict[str, Any]) -> Generator[StreamStep, Any, dict[str, Any]]:
        while True:
            try:
                yield Open(kwargs)
            except Exception as error:
                weaker = self.run.plan.weaken(kwargs, error)
                if weaker is None:
                    raise
                kwargs = weaker
                continue
            return kwargs

    def _all_closed(self, only: Choice | None, wanted: int) -> bool:
        if only:
            return only.closed
        choices = self.choices.values()
        return len(choices) >= wanted and all(choice.closed for choice in choices)

    def take(self, chunk: Any, only: Choice | None) -> bool:
        """Take one chunk and check its text; whether chunks may go out or the stream may end."""
        deltas, usage = read_chunk(chunk)
        entry = Entry(chunk, usage)
        if usage:
            self.usage = read_usage(chunk)
            if self.run.attempts:
                entry.total = self.run.usage + self.usage
        waiting = self.waiting
        waiting.add(entry)
        news = len(waiting.entries) == 1
        for delta in deltas:
            choice = only or self.choices.get(delta.index) or self._new_choice(delta.index)
            if only:
                entry.changed = True
            if choice.closed:
                delta.hide("tools")
                entry.changed = True
                entry.pieces.append(Piece(choice, delta, ""))
            elif self._take_delta(entry, choice, delta, only is not None):
                news = True
        if entry.changed and entry.empty and waiting.entries[-1] is entry:
            waiting.entries.pop()
        return news

    def _take_delta(self, entry: Entry, choice: Choice, delta: Delta, again: bool) -> bool:
        choice.tells_end = delta.tells_end
        if not delta.bare:
            self._note(choice, delta, again)
        text = delta.text
        if not text:
            entry.pieces.append(Piece(choice, delta, ""))
            return False
        choice.draft.append(text)
        if choice.lead is not None or choice.swallow:
            text = self._joined(choice, text)
            entry.changed = True
        entry.pieces.append(Piece(choice, delta, text))
        if self.observe:
            choice.passed = choice.size
        if choice.size > self.limit:
            choice.finish_reason = "max_chars"
            choice.closed = True
            return True
        return self.judge.read(choice, text) or self.observe

    def _note(self, choice: Choice, delta: Delta, again: bool) -> None:
        """Take what is in a delta besides text. What went out before is not sent again."""
        if delta.refusal:
            choice.refusal += delta.refusal
        if delta.finish_reason:
            choice.finish_reason = delta.finish_reason
        if again:
            delta.hide("role")
        if delta.tools and choice.calls_out and again:
            delta.hide("tools")
        elif delta.tools:
            choice.note_calls(delta.tools)

    @staticmethod
    def _joined(choice: Choice, text: str) -> str:
        if choice.lead is not None:
            text = choice.lead.feed(text)
            if choice.lead.done:
                choice.lead = None
        return choice.swallowed(text) if choice.swallow and text else text

    # -- the end of a stream, and the next ---------------------------------------------------

    def record(
        self, choice: Choice, seconds: float, kwargs: dict[str, Any]
    ) -> Generator[StreamStep, Any, None]:
        """Write the attempt down; prepare the next one where the choice failed."""
        findings = choice.findings if choice.failure is None else choice.failure
        first = choice is next(iter(self.choices.values()))
        attempt = Attempt(
            choice.number,
            choice.index,
            tuple(kwargs["messages"]),
            "".join(choice.draft) or choice.refusal,
            tuple(findings),
            self.usage if first or choice.number > 1 else Usage(),
            seconds,
            choice.finish_reason,
        )
        if choice.failure is not None and choice.stopped is None:
            kept = "" if choice.whole else self.judge.text(choice)
            attempt = replace(attempt, feedback=self._feedback(choice, kept))
            draft = kept if kept.strip() else attempt.draft
            calls = () if choice.calls_out else tuple(choice.calls.values())
            reply = Reply(draft, None, calls, None, None)
            choice.added += self.run.plan.retry_messages(reply, attempt.feedback or "")
        self.run.attempts.append(attempt)
        log.debug("stream attempt %d: %d errors", attempt.number, attempt.errors)
        yield Tell(attempt)

    def _feedback(self, choice: Choice, kept: str) -> str:
        return build_feedback(
            choice.failure or (),
            form=self.contract.form.name,
            language=self.contract.language,
            detail=self.contract.profile.spec.retry.feedback,
            kept=kept,
        )

    def again(self, choice: Choice) -> None:
        """Make a failed choice ready for its next attempt."""
        self.waiting.forget(choice, text=choice.whole)
        choice.begin_again(make_checker(self.contract))
        kept = "" if choice.whole else self.judge.text(choice)
        if kept.strip():
            choice.lead = Lead(kept)
        if kept:
            self.judge.judge(choice, choice.checker.feed(kept))

    def next_choice(self) -> Choice | None:
        """The next choice that needs another attempt."""
        for choice in self.choices.values():
            if choice.result is not None:
                continue
            if choice.stopped is None and len(self.choices) > 1:
                choice.pause, choice.stopped = next_attempt(self.run, choice.number, choice.begun)
            if choice.stopped is None:
                return choice
            choice.settle(self._refused(choice))
        return None

    def _refused(self, choice: Choice) -> ChoiceResult:
        """A choice that was stopped at a violation: what was shown stands, the rest never came."""
        if choice.whole:
            self.waiting.cut(choice, choice.out)
        findings = tuple(choice.failure or choice.findings)
        text = self.judge.text(choice)
        return ChoiceResult(Outcome.REJECTED, text, findings, stopped_by=choice.stopped)

    def release(self) -> list[Any]:
        """The chunks that may go out now."""
        return self.waiting.release(self._settled)

    def _settled(self) -> bool:
        return all(choice.result is not None for choice in self.choices.values())

    def _new_choice(self, index: int) -> Choice:
        found = self.choices[index] = self.judge.new_choice(index)
        return found


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
        while (choice := flow.next_choice()) is not None:
            if choice.pause:
                yield Pause(choice.pause)
            flow.again(choice)
            yield from flow.read(run.plan.again(choice.added), choice)
        ready = flow.release()
        if ready:
            yield Release(ready)
    except Exception as error:
        attach_run(error, run)
        raise
    results = [choice.result for choice in state.choices.values() if choice.result is not None]
    nothing = ChoiceResult(Outcome.NOT_CHECKED, "", reason="no_choices")
    result = state.result = run.result(results or [nothing])
    log.info("%s: %s after %d streams", result.profile, result.outcome.value, len(run.attempts))
    raises = run.contract.profile.spec.fallback == "raise" and not flow.observe
    if raises and result.outcome is Outcome.REJECTED:
        raise OutputRejected(rejection(result), result)
    return result
