"""The whole loop, once, without any input or output.

:func:`guard_flow` is a generator. It yields what the driver must do (:class:`Ask` the endpoint,
:class:`Pause`, :class:`Tell` a hook) and is sent the answer. The sync and the async client, the
decorator, the proxy and the benchmarks all drive this one generator.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from steguard.contract import Contract, Verdict
from steguard.errors import OutputRejected
from steguard.fallback import Fallen, fall_back
from steguard.feedback import build_feedback, find_echo
from steguard.forms import Extract
from steguard.reply import Reply, get, read_choices, read_usage
from steguard.request import RequestPlan
from steguard.result import Attempt, ChoiceResult, GuardResult, Outcome, Usage

log = logging.getLogger("steguard")


@dataclass(frozen=True, slots=True)
class Ask:
    """Call the endpoint with these arguments and send the response, or throw what it raised."""

    kwargs: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Tell:
    """An attempt ended; call the ``on_attempt`` hook."""

    attempt: Attempt


Step = Ask | Pause | Tell


@dataclass(frozen=True)
class RetryPolicy:
    """When to stop and how long to wait: tenacity's ``stop`` and ``wait`` objects, and budgets."""

    stop: Any
    wait: Any
    token_budget: int | None = None
    time_budget: float | None = None

    @classmethod
    def of(cls, contract: Contract, stop: Any = None, wait: Any = None) -> RetryPolicy:
        """The policy of a contract; the caller's own tenacity objects win."""
        import tenacity

        spec = contract.profile.spec.retry
        return cls(
            stop or tenacity.stop_after_attempt(spec.max_attempts),
            wait or tenacity.wait_fixed(spec.wait),
            spec.token_budget,
            spec.time_budget,
        )


@dataclass
class Run:
    """What one guarded call has done so far."""

    contract: Contract
    policy: RetryPolicy
    plan: RequestPlan
    clock: Callable[[], float] = time.monotonic
    started: float = 0.0
    usage: Usage = field(default_factory=Usage)
    attempts: list[Attempt] = field(default_factory=list)

    def result(self, choices: Sequence[ChoiceResult], response: Any = None) -> GuardResult:
        return GuardResult(
            self.contract.name,
            tuple(choices),
            tuple(self.attempts),
            self.usage,
            self.clock() - self.started,
            response,
            tuple(self.plan.unenforced),
            self.plan.enforcement,
        )


@dataclass(frozen=True, slots=True)
class _Answer:
    """A response and how long it took."""

    response: Any
    seconds: float


def guard_flow(run: Run) -> Generator[Step, Any, GuardResult]:
    """Drive one guarded call to its end.

    Returns the result, whose ``response`` is what the caller gets. Raises
    :class:`OutputRejected` where the profile says so, and passes on what the driver throws in,
    with the result so far at its attribute ``steguard``.
    """
    run.started = run.clock()
    try:
        answer = yield from _ask(run, run.plan.first())
        run.usage += read_usage(answer.response)
        replies = read_choices(answer.response)
        choices: list[ChoiceResult] = []
        responses: list[Any] = []
        for index, reply in enumerate(replies):
            choice, response = yield from _settle(run, index, reply, answer)
            choices.append(choice)
            responses.append(response)
        if not choices:
            choices.append(ChoiceResult(Outcome.NOT_CHECKED, "", reason="no_choices"))
    except Exception as error:
        attach_run(error, run)
        raise
    result = run.result(choices, run.plan.response(answer.response, choices, responses, run.usage))
    log.info(
        "%s: %s after %d attempts, %d tokens",
        result.profile,
        result.outcome.value,
        len(result.attempts),
        result.usage.total_tokens,
    )
    if result.outcome is Outcome.REJECTED and run.contract.profile.spec.fallback == "raise":
        raise OutputRejected(rejection(result), result)
    return result


def probe_flow(run: Run) -> Generator[Step, Any, None]:
    """Find out, once for an endpoint, which grammar it takes; nothing where nobody asks for one.

    The tokens of the probe count for the call that needed it.
    """
    if not run.plan.must_probe:
        return
    from steguard.decode.endpoint import probing

    search = probing(run.contract.profile.spec.constrain.endpoint, run.plan.kwargs.get("model"))
    kwargs = next(search)
    while True:
        try:
            reply = yield Ask(kwargs)
            run.usage += read_usage(reply)
        except Exception as error:
            if getattr(error, "status_code", None) is None:
                raise
            log.debug("the endpoint refuses a probe: %s", error)
            reply = None
        try:
            kwargs = search.send(reply)
        except StopIteration as found:
            run.plan.found_grammar(found.value)
            return


def _ask(run: Run, kwargs: dict[str, Any]) -> Generator[Step, Any, _Answer]:
    while True:
        begun = run.clock()
        try:
            response = yield Ask(kwargs)
        except Exception as error:
            weaker = run.plan.weaken(kwargs, error)
            if weaker is None:
                raise
            log.warning("the endpoint refuses what the profile adds; it is checked here only")
            kwargs = weaker
            continue
        return _Answer(response, run.clock() - begun)


def _settle(
    run: Run, index: int, reply: Reply, answer: _Answer
) -> Generator[Step, Any, tuple[ChoiceResult, Any]]:
    """Check one choice and ask again until it passes or the policy stops."""
    drafts: list[Verdict] = []
    number = 0
    added: list[Any] = []
    messages = run.plan.messages
    usage = run.usage if index == 0 else Usage()
    begun = run.clock()
    while True:
        number += 1
        verdict, own = _judge(run.contract, reply, retried=number > 1)
        if own or not drafts:
            drafts.append(verdict)
        reason = reply.unchecked
        failed = reason is None and not verdict.passed
        attempt = Attempt(
            number,
            index,
            (*messages, *added),
            reply.text,
            verdict.findings,
            usage,
            answer.seconds,
            reply.finish_reason,
            get(answer.response, "id"),
            verdict.extract.recovery,
        )
        pause, stopped = next_attempt(run, number, begun) if failed else (0.0, None)
        if failed and stopped is None:
            feedback = build_feedback(
                verdict.findings,
                form=run.contract.form.name,
                language=run.contract.language,
                detail=run.contract.profile.spec.retry.feedback,
            )
            attempt = replace(attempt, feedback=feedback)
        run.attempts.append(attempt)
        log.debug("attempt %d of choice %d: %d errors", number, index, attempt.errors)
        yield Tell(attempt)
        if reason is not None:
            left = ChoiceResult(Outcome.NOT_CHECKED, reply.text, verdict.findings, reason=reason)
            return left, answer.response
        if not failed:
            outcome = Outcome.PASSED if number == 1 else Outcome.PASSED_AFTER_RETRY
            return ChoiceResult(
                outcome, verdict.text, verdict.findings, verdict.data
            ), answer.response
        if stopped is not None:
            return _fallen(run, drafts, stopped), answer.response
        if pause:
            yield Pause(pause)
        added += run.plan.retry_messages(reply, attempt.feedback or "")
        answer = yield from _ask(run, run.plan.again(added))
        usage = read_usage(answer.response)
        run.usage += usage
        again = read_choices(answer.response)
        if not again:
            return ChoiceResult(Outcome.NOT_CHECKED, "", reason="no_choices"), answer.response
        reply = again[0]


def _judge(contract: Contract, reply: Reply, *, retried: bool) -> tuple[Verdict, bool]:
    """Check a reply, and say whether it is an answer of its own and no echo of the feedback.

    A reply with nothing to check has no findings.
    """
    if reply.unchecked in ("refusal", "tool_calls"):
        return Verdict(reply.text, (), None, Extract(reply.text, [])), True
    verdict = contract.check(reply.text)
    echo = find_echo(reply.text) if retried else None
    if echo is None:
        return verdict, True
    return replace(verdict, findings=(echo, *verdict.findings)), False


def next_attempt(run: Run, number: int, begun: float) -> tuple[float, str | None]:
    """Seconds to wait before the next attempt, and why there is none."""
    import tenacity

    policy = run.policy
    now = run.clock()
    if policy.token_budget is not None and run.usage.total_tokens >= policy.token_budget:
        return 0.0, "token_budget"
    if policy.time_budget is not None and now - run.started >= policy.time_budget:
        return 0.0, "time_budget"
    retrying = tenacity.Retrying(stop=policy.stop, wait=policy.wait)
    state = tenacity.RetryCallState(retrying, None, (), {})
    state.attempt_number = number
    state.start_time, state.outcome_timestamp = begun, now
    state.outcome = tenacity.Future.construct(number, None, has_exception=False)
    pause = float(policy.wait(state))
    state.upcoming_sleep = pause
    if policy.stop(state):
        plain = isinstance(policy.stop, tenacity.stop_after_attempt)
        return 0.0, "attempts" if plain else "stop"
    return pause, None


def _fallen(run: Run, drafts: Sequence[Verdict], stopped: str) -> ChoiceResult:
    policy = run.contract.profile.spec.fallback
    fallen: Fallen = fall_back(run.contract, drafts, policy)
    return ChoiceResult(
        fallen.outcome,
        fallen.verdict.text,
        fallen.verdict.findings,
        fallen.verdict.data,
        removed=fallen.removed,
        stopped_by=stopped,
    )


def attach_run(error: Exception, run: Run) -> None:
    """Put the attempts so far on an exception that passes through."""
    choice = ChoiceResult(Outcome.ERROR, "", reason=type(error).__name__)
    try:
        error.steguard = run.result([choice])  # type: ignore[attr-defined]
    except AttributeError:
        log.debug("the exception %s takes no attributes", type(error).__name__)


def rejection(result: GuardResult) -> str:
    worst = [f for f in result.findings if f.severity == "error"]
    shown = "; ".join(f"{f.rule}: {f.message}" for f in worst[:3])
    more = f" and {len(worst) - 3} more" if len(worst) > 3 else ""
    count = max((a.number for a in result.attempts), default=0)
    return f"the answer breaks the profile '{result.profile}' after {count} attempts: {shown}{more}"
