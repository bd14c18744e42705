"""The loop: outcomes, fallbacks, budgets, hooks, and what goes wrong upstream."""

from __future__ import annotations

import logging
from typing import Any

import openai
import pytest
import tenacity

from steguard import OutputRejected, ProfileError, check
from steguard.errors import UsageError
from steguard.testing import Scripted
from tests.conftest import ALSO_BAD, ASK, BAD, GOOD, PROFILE


def with_fallback(policy: str, **more: Any) -> dict[str, Any]:
    return {**PROFILE, "fallback": policy, **more}


# --- outcomes and fallbacks


def test_strip_deletes_what_violates_and_keeps_the_rest(harness: Any) -> None:
    answer = harness([BAD], with_fallback("strip")).create()
    report = answer.steguard
    assert answer.choices[0].message.content == "Close the door."
    assert report.outcome == "stripped"
    assert report.choices[0].removed == ("You should open the file.",)
    assert report.choices[0].stopped_by == "attempts"
    assert report.findings == ()
    assert not report.passed
    assert report.compliant


def test_strip_repairs_before_it_deletes(harness: Any) -> None:
    answer = harness(["Utilize the tool prior to the test."], with_fallback("strip")).create()
    assert answer.choices[0].message.content == "Use the tool before the test."
    assert answer.steguard.choices[0].removed == ()


def test_strip_that_leaves_nothing_is_a_rejection_with_the_best_draft(harness: Any) -> None:
    worse = "You should probably open it. It might be opened."
    answer = harness([worse, "You should open it.", worse], with_fallback("strip")).create()
    assert answer.steguard.outcome == "rejected"
    assert answer.choices[0].message.content == "You should open it."
    assert [f.rule for f in answer.steguard.findings] == ["banned-words"]


def test_an_answer_that_repeats_the_feedback_is_no_answer(harness: Any) -> None:
    def parrot(request: dict[str, Any]) -> str:
        last = request["messages"][-1]["content"]
        return last if "does not obey" in last else BAD

    h = harness(parrot, with_fallback("strip"))
    answer = h.create()
    assert answer.choices[0].message.content == "Close the door."
    assert answer.steguard.outcome == "stripped"
    assert answer.steguard.attempts[1].findings[0].rule == "feedback-echo"
    assert len(h.requests) == 3


def test_fix_repairs_what_is_safe(harness: Any) -> None:
    h = harness(["Utilize the tool."], with_fallback("fix"))
    assert h.create().steguard.outcome == "fixed"
    h = harness([BAD], with_fallback("fix"))
    answer = h.create()
    assert (answer.steguard.outcome, answer.choices[0].message.content) == ("rejected", BAD)


def test_best_gives_the_attempt_with_the_fewest_findings(harness: Any) -> None:
    worse = "You should probably open it. It might be opened."
    answer = harness([worse, BAD, worse], with_fallback("best")).create()
    assert (answer.steguard.outcome, answer.choices[0].message.content) == ("rejected", BAD)


def test_noop_gives_the_last_draft(harness: Any) -> None:
    answer = harness([BAD, BAD, ALSO_BAD], with_fallback("noop")).create()
    assert (answer.steguard.outcome, answer.choices[0].message.content) == ("rejected", ALSO_BAD)


def test_raise_gives_every_attempt_with_the_error(harness: Any) -> None:
    h = harness([BAD], with_fallback("raise"))
    with pytest.raises(OutputRejected, match="after 3 attempts: banned-words") as caught:
        h.create()
    assert len(caught.value.result.attempts) == 3
    assert caught.value.result.outcome == "rejected"


def test_an_empty_answer_is_asked_for_again(harness: Any) -> None:
    h = harness(["", GOOD])
    assert h.create().steguard.outcome == "passed_after_retry"
    assert [m["role"] for m in h.requests[1]["messages"]][-2:] == ["user", "user"]


def test_an_answer_without_choices_is_not_checked(harness: Any) -> None:
    h = harness(
        [
            Scripted(
                body={
                    "id": "x",
                    "object": "chat.completion",
                    "created": 1,
                    "model": "m",
                    "choices": [],
                }
            )
        ]
    )
    assert (h.create().steguard.outcome, len(h.requests)) == ("not_checked", 1)


def test_warnings_are_reported_and_do_not_fail(harness: Any) -> None:
    profile = {**PROFILE, "rules": {"banned-words": "warning"}}
    report = harness([BAD], profile).create().steguard
    assert report.outcome == "passed"
    assert [f.severity for f in report.findings] == ["warning"]


# --- the conversation


def test_prompt_is_injected_and_feedback_quotes_the_sentence(harness: Any) -> None:
    h = harness([BAD, GOOD], "strict")
    h.create()
    assert h.requests[0]["messages"][0]["role"] == "system"
    feedback = h.requests[1]["messages"][-1]["content"]
    assert "> `You should open the file.`" in feedback
    assert "Close the door" not in feedback


def test_the_feedback_itself_obeys_the_strict_profile(harness: Any) -> None:
    h = harness(
        [BAD + " It is not recommended to utilize the tool, which was broken by the user.", GOOD],
        "strict",
    )
    report = h.create().steguard
    assert check(report.attempts[0].feedback, "strict") == []


def test_a_developer_message_takes_the_prompt(harness: Any) -> None:
    h = harness([GOOD], "strict")
    h.create(messages=[{"role": "developer", "content": "Be kind."}, *ASK])
    sent = h.requests[0]["messages"]
    assert [m["role"] for m in sent] == ["developer", "user"]
    assert sent[0]["content"].startswith("Be kind.\n\n")


def test_summary_feedback_quotes_nothing(harness: Any) -> None:
    h = harness([BAD, GOOD], {**PROFILE, "retry": {"feedback": "summary"}})
    h.create()
    assert ">" not in h.requests[1]["messages"][-1]["content"]


# --- when to stop


def test_max_attempts_of_one_asks_once(harness: Any) -> None:
    h = harness([BAD], {**PROFILE, "retry": {"max_attempts": 1}})
    assert h.create().steguard.outcome == "stripped"
    assert len(h.requests) == 1


def test_a_token_budget_stops_retries(harness: Any) -> None:
    usage = {"prompt_tokens": 30, "completion_tokens": 30}
    h = harness(
        [Scripted(BAD, usage=usage)], {**PROFILE, "retry": {"max_attempts": 9, "token_budget": 100}}
    )
    report = h.create().steguard
    assert (len(report.attempts), report.choices[0].stopped_by) == (2, "token_budget")


def test_a_time_budget_stops_retries(harness: Any) -> None:
    profile = {**PROFILE, "retry": {"max_attempts": 50, "time_budget": 0.3}}
    report = harness([Scripted(BAD, delay=0.2)], profile).create().steguard
    assert report.choices[0].stopped_by == "time_budget"
    assert len(report.attempts) < 50


def test_tenacity_objects_of_the_caller_are_obeyed(harness: Any) -> None:
    waits: list[int] = []

    def wait(state: tenacity.RetryCallState) -> float:
        waits.append(state.attempt_number)
        return 0.01

    h = harness(
        [BAD], stop=tenacity.stop_after_attempt(2) | tenacity.stop_after_delay(60), wait=wait
    )
    report = h.create().steguard
    assert (len(report.attempts), report.choices[0].stopped_by) == (2, "stop")
    assert waits == [1, 2]


# --- hooks, logs, overrides


def test_hooks_see_each_attempt_and_the_result(harness: Any) -> None:
    seen: list[Any] = []
    h = harness([BAD, GOOD], on_attempt=seen.append, on_result=seen.append)
    answer = h.create()
    assert [getattr(s, "number", s) for s in seen] == [1, 2, answer.steguard]


def test_async_hooks_are_awaited() -> None:
    import anyio

    from tests.conftest import Harness

    seen: list[str] = []

    async def hook(thing: Any) -> None:
        await anyio.sleep(0)
        seen.append(type(thing).__name__)

    with Harness("async", [BAD, GOOD], on_attempt=hook, on_result=hook) as h:
        h.create()
    assert seen == ["Attempt", "Attempt", "GuardResult"]


def test_the_outcome_is_logged(harness: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "steguard"):
        harness([BAD, GOOD]).create()
    assert any("passed_after_retry after 2 attempts" in r.getMessage() for r in caplog.records)


def test_settings_can_change_for_one_call(harness: Any) -> None:
    h = harness([BAD])
    answer = h.create(steguard={"settings": {"fallback": "noop", "retry": {"max_attempts": 1}}})
    assert answer.choices[0].message.content == BAD
    assert len(h.requests) == 1


def test_last_result_and_dict_form(harness: Any) -> None:
    h = harness([BAD, GOOD])
    answer = h.create()
    assert h.guard.last_result is answer.steguard
    told = answer.steguard.to_dict()
    assert told["outcome"] == "passed_after_retry"
    assert [a["draft"] for a in told["attempts"]] == [BAD, GOOD]


# --- what goes wrong upstream


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, openai.AuthenticationError),
        (429, openai.RateLimitError),
        (500, openai.InternalServerError),
    ],
)
def test_the_providers_exception_passes_with_the_attempts_so_far(
    harness: Any, status: int, kind: Any
) -> None:
    h = harness([BAD, Scripted(status=status)])
    with pytest.raises(kind) as caught:
        h.create()
    partial = caught.value.steguard
    assert partial.outcome == "error"
    assert [a.draft for a in partial.attempts] == [BAD]
    assert partial.attempts[0].findings


def test_an_unreachable_endpoint_raises_the_clients_error(harness: Any) -> None:
    h = harness([GOOD])
    h.model.__exit__()
    with pytest.raises(openai.APIConnectionError) as caught:
        h.create()
    assert caught.value.steguard.attempts == ()
    h.model = type(h.model)([GOOD]).__enter__()


def test_transport_retries_stay_the_clients(harness: Any) -> None:
    h = harness([Scripted(status=500), GOOD])
    answer = h.run(
        lambda g: g.with_options(max_retries=1).chat.completions.create(model="m", messages=ASK)
    )
    assert answer.steguard.outcome == "passed"
    assert len(answer.steguard.attempts) == 1
    assert len(h.requests) == 2


def test_messages_that_are_none_are_refused_before_anything_is_sent(harness: Any) -> None:
    h = harness([GOOD])
    for wrong in (None, "text", {"role": "user"}, 3):
        with pytest.raises(UsageError, match="'messages' must be a list"):
            h.create(messages=wrong)
    assert h.requests == []


def test_a_bad_profile_is_refused_at_construction(harness: Any) -> None:
    with pytest.raises(ProfileError, match="did you mean 'strict'"):
        harness([GOOD], "strickt")


@pytest.mark.parametrize(
    "text", ["Open \ud800 the file.", "Open\x00 the file.", "\ufffe", "a" * 5000]
)
def test_strange_characters_are_no_crash(text: str) -> None:
    for profile in ("strict", "loose", "zh", "html", "tool-call", "description", "judge"):
        assert isinstance(check(text, profile), list)


def test_a_surrogate_from_the_model_comes_through(harness: Any) -> None:
    h = harness([Scripted("Open the file \ud83d now.")], {**PROFILE, "fallback": "noop"})
    assert h.create().choices[0].message.content == "Open the file \ud83d now."
