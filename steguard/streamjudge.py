"""What to do with each checked step of a streamed answer, and how a choice ends.

In ``hold`` mode a faulty sentence ends the attempt, what was shown stays, and the next attempt
goes on from there. After the last attempt the fallback works sentence by sentence.
"""

from __future__ import annotations

from collections.abc import Sequence

from steguard.contract import Contract
from steguard.fallback import fall_back
from steguard.flow import Run, next_attempt
from steguard.forms import Part
from steguard.repair import fix_part
from steguard.result import ChoiceResult, Outcome
from steguard.streamcheck import ProseChecker, Step, make_checker
from steguard.streamchoice import Choice
from steguard.streamlists import dropped_item, kept_marker, new_marker
from steguard.types import Finding, Severity
from steguard.waiting import Waiting

_BITE = 250
"""Characters that a checker reads at once, so that little is read again after a replacement."""


class Judge:
    """Applies a contract to the choices of one streamed call."""

    def __init__(self, run: Run, waiting: Waiting) -> None:
        self.run = run
        self.waiting = waiting
        self.contract: Contract = run.contract
        spec = self.contract.profile.spec
        self.mode = spec.stream.mode
        self.resume = spec.stream.resume
        self.policy = spec.fallback

    def new_choice(self, index: int) -> Choice:
        checker = make_checker(self.contract)
        whole = self.mode == "buffer" or (self.mode == "hold" and checker.whole)
        return Choice(index, checker, whole, self.run.clock())

    def text(self, choice: Choice) -> str:
        """The answer of a choice so far, shown or not."""
        return "".join(choice.shown) + self.waiting.text(choice)

    # -- while the text comes ----------------------------------------------------------------

    def read(self, choice: Choice, text: str) -> bool:
        """Check the text that was added to a choice; whether anything new is known of it."""
        if choice.fed + len(text) == choice.size and len(text) <= _BITE:
            choice.fed = choice.size
            steps = choice.checker.feed(text)
            if not steps:
                return False
            if self.judge(choice, steps):
                return True
        self._read_on(choice)
        return True

    def _read_on(self, choice: Choice) -> None:
        while choice.fed < choice.size and choice.failure is None:
            bite = self.waiting.slice(choice, choice.fed, choice.fed + _BITE)
            choice.fed += len(bite)
            self.judge(choice, choice.checker.feed(bite))

    def judge(self, choice: Choice, steps: Sequence[Step]) -> bool:
        """Act on checked steps; whether all of them stand and the checker may go on."""
        checker = choice.checker
        for step in steps:
            if self.mode == "observe" or not step.failed:
                self._accept(choice, step)
            elif choice.whole:
                self._refuse_whole(choice, step)
            else:
                self._refuse_sentence(choice, step)
            if choice.failure is not None or choice.checker is not checker:
                return False
        return True

    def _accept(self, choice: Choice, step: Step) -> None:
        if step.first and self.mode == "hold" and choice.stopped and step.start > choice.numbered:
            choice.numbered = step.start
            marker = new_marker(choice.gaps, step.block) if step.block else None
            if marker and step.block:
                self._renumber(choice, step, step.block.marker, marker)
                return
        choice.findings += step.findings
        if not choice.checker.whole:
            choice.passed = max(choice.passed, step.safe)

    def _fail(self, choice: Choice, findings: Sequence[Finding]) -> None:
        choice.failure = [*findings]
        choice.closed = True

    def _refuse_whole(self, choice: Choice, step: Step) -> None:
        """A fault in an answer of which nothing was shown: ask again, or read on to the end."""
        if self._may_ask_again(choice):
            self._fail(choice, [*choice.findings, *step.findings])
        else:
            choice.findings += step.findings

    def _refuse_sentence(self, choice: Choice, step: Step) -> None:
        """A fault in prose: ask for the rest from there, or apply the fallback to the sentence."""
        if self._may_ask_again(choice) or self.policy == "raise":
            choice.passed = max(choice.passed, step.start)
            self.waiting.cut(choice, step.start)
            self._fail(choice, step.findings)
        elif self.policy not in ("strip", "fix") or not self._replace(choice, step):
            choice.findings += step.findings
            choice.passed = max(choice.passed, step.safe)

    def _may_ask_again(self, choice: Choice) -> bool:
        if choice.stopped is None:
            if not self.resume and choice.out:
                choice.stopped = "no_resume"
            else:
                choice.pause, choice.stopped = next_attempt(self.run, choice.number, choice.begun)
        return choice.stopped is None

    # -- the fallback, sentence by sentence ---------------------------------------------------

    def _replace(self, choice: Choice, step: Step) -> bool:
        """Put the repaired sentence in the place of a faulty one, or nothing; whether it could."""
        faulty = self.waiting.slice(choice, step.start, step.end)
        if step.start < choice.out or not faulty.strip():
            return False
        after = self.waiting.slice(choice, step.end, choice.size).lstrip(" ")
        if choice.mended != step.start:
            mended, count = fix_part(Part(faulty, lambda at: at), self.contract)
            if count and self._put(choice, step.start, step.end, mended):
                choice.mended = step.start
                return True
        if self.policy == "fix":
            return False
        marker = kept_marker(faulty, step, after)
        start, end = step.start, choice.size - len(after)
        if after.startswith("\n"):
            before = self.waiting.slice(choice, choice.out, start)
            start -= len(before) - len(before.rstrip(" "))
        if len(marker) >= end - start or not self._put(choice, start, end, marker):
            return False
        choice.removed.append(step.sentence)
        if not marker:
            dropped_item(choice.gaps, step)
            self._close_lines(choice, start)
        return True

    def _close_lines(self, choice: Choice, at: int) -> None:
        """A line went away: so do the line breaks behind it that stand before it already."""
        before = self.text(choice)[:at]
        if not before.strip():
            choice.swallow = 1 << 30
        elif before.endswith("\n"):
            choice.swallow = len(before) - len(before.rstrip("\n"))
        after = self.waiting.slice(choice, at, choice.size)
        rest = choice.swallowed(after) if choice.swallow and after else after
        if rest != after:
            self.waiting.replace(choice, at, at + len(after) - len(rest), "")

    def _renumber(self, choice: Choice, step: Step, old: str, new: str) -> None:
        line = self.waiting.slice(choice, step.start, step.end)
        at = step.start + line.find(old)
        if at < max(step.start, choice.out) or not self._put(choice, at, at + len(old), new):
            choice.findings += step.findings
            choice.passed = max(choice.passed, step.safe)

    def _put(self, choice: Choice, start: int, end: int, text: str) -> bool:
        """Replace a part of the answer and check on from there, unless the new text fails."""
        checker = self._checker_before(choice, start)
        steps = [step for step in checker.feed(text) if step.start >= start] if text else []
        if any(step.failed for step in steps):
            return False
        self.waiting.replace(choice, start, end, text)
        choice.checker, choice.fed = checker, start + len(text)
        choice.numbered = max(choice.numbered, start - 1)
        choice.edited = True
        choice.passed = max([choice.passed, *(step.safe for step in steps)])
        return True

    def _checker_before(self, choice: Choice, at: int) -> ProseChecker:
        """A checker that has read the answer up to this place and no further.

        It starts from the last replacement, so that all replacements together read the text once.
        """
        base, read = choice.base or (None, 0)
        if base is None or at < read:
            base, read = make_checker(self.contract), 0
        assert isinstance(base, ProseChecker)
        if at > read:
            base.feed(self.text(choice)[read:at])
        choice.base = (base, at)
        return base.copy()

    # -- the end -------------------------------------------------------------------------------

    def end(self, choice: Choice) -> None:
        """The stream ended for this choice: check what is left and settle it."""
        text = self.text(choice)
        reason = choice.unchecked(text)
        if reason in ("refusal", "tool_calls"):
            choice.settle(ChoiceResult(Outcome.NOT_CHECKED, text, reason=reason))
            return
        self._read_on(choice)
        while choice.failure is None and not self.judge(choice, choice.checker.close()):
            self._read_on(choice)
        if choice.failure is not None:
            if reason is None:
                return
            choice.findings += choice.failure
            choice.failure = None
        if choice.checker.whole or self.mode == "buffer":
            self._settle_whole(choice, reason)
        else:
            self._settle_prose(choice, reason)

    def _settle_prose(self, choice: Choice, reason: str | None) -> None:
        if choice.edited:
            held = self.waiting.text(choice)
            self.waiting.replace(choice, choice.out + len(held.rstrip()), choice.size, "")
        text = self.text(choice)
        findings = tuple(sorted(choice.findings, key=_place))
        failed = any(f.severity is Severity.ERROR for f in findings)
        if choice.edited:
            verdict = self.contract.check(text)
            findings, failed = verdict.findings, not verdict.passed
        if reason is not None:
            outcome = Outcome.NOT_CHECKED
        elif failed or (choice.edited and not text.strip()):
            outcome = Outcome.REJECTED
        elif choice.edited:
            outcome = Outcome.FIXED if self.policy == "fix" else Outcome.STRIPPED
        else:
            outcome = _passed(choice)
        removed = tuple(choice.removed)
        choice.settle(
            ChoiceResult(outcome, text, findings, None, reason, removed, stopped_by=choice.stopped)
        )

    def _settle_whole(self, choice: Choice, reason: str | None) -> None:
        text = self.text(choice)
        verdict = self.contract.check(text)
        if reason is not None:
            result = ChoiceResult(Outcome.NOT_CHECKED, text, verdict.findings, reason=reason)
        elif self.mode == "observe":
            outcome = _passed(choice) if verdict.passed else Outcome.REJECTED
            result = ChoiceResult(outcome, text, verdict.findings, verdict.data)
        elif verdict.passed:
            result = ChoiceResult(_passed(choice), verdict.text, verdict.findings, verdict.data)
        else:
            fallen = fall_back(self.contract, [verdict], self.policy)
            result = ChoiceResult(
                fallen.outcome,
                fallen.verdict.text,
                fallen.verdict.findings,
                fallen.verdict.data,
                removed=fallen.removed,
                stopped_by=choice.stopped,
            )
        if result.text != text:
            self.waiting.replace(choice, choice.out, choice.size, result.text)
        choice.settle(result)


def _passed(choice: Choice) -> Outcome:
    return Outcome.PASSED if choice.number == 1 else Outcome.PASSED_AFTER_RETRY


def _place(finding: Finding) -> tuple[int, int, str]:
    return (finding.span.start, finding.span.end, finding.code)
