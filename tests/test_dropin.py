"""What a drop-in replacement must get right, over HTTP with the real client library.

Each test shows one situation in which some wrapper lost, changed or repeated something.
"""

from __future__ import annotations

import copy
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio
import openai
import pytest
from openai.types.chat import ChatCompletion
from pydantic import BaseModel

from steguard import AsyncGuard, Guard, GuardResult
from steguard.errors import UsageError
from steguard.testing import Scripted, ScriptedModel
from tests.conftest import ALSO_BAD, ASK, BAD, GOOD, PROFILE

CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "look", "arguments": '{"at": "x"}'},
}
TOOLS = [
    {
        "type": "function",
        "function": {"name": "look", "parameters": {"type": "object", "properties": {}}},
    }
]


# --- the same object, the same ways in


def test_the_result_is_a_real_completion_with_all_its_fields(harness: Any) -> None:
    answer = harness(
        [Scripted(GOOD, extra={"system_fingerprint": "fp", "vendor_field": 7})]
    ).create()
    assert type(answer) is ChatCompletion
    assert answer.id.startswith("chatcmpl-")
    assert (answer.created, answer.model, answer.system_fingerprint) == (1700000000, "m", "fp")
    assert answer.vendor_field == 7
    assert isinstance(answer.steguard, GuardResult)
    assert "steguard" not in answer.model_dump()


def test_a_retried_result_keeps_id_and_fields_of_the_accepted_answer(harness: Any) -> None:
    h = harness([Scripted(BAD, extra={"id": "first"}), Scripted(GOOD, extra={"id": "second"})])
    answer = h.create()
    assert (answer.id, answer.choices[0].message.content) == ("second", GOOD)
    assert answer.steguard.outcome == "passed_after_retry"


def test_raw_response_gives_headers_and_the_guarded_completion(harness: Any) -> None:
    h = harness([BAD, Scripted(GOOD)])
    raw = h.run(lambda g: g.chat.completions.with_raw_response.create(model="m", messages=ASK))
    assert raw.status_code == 200
    assert raw.headers["content-type"] == "application/json"
    answer = raw.parse()
    assert isinstance(answer, ChatCompletion)
    assert answer.choices[0].message.content == GOOD
    assert answer.steguard.outcome == "passed_after_retry"


def test_a_library_that_only_calls_through_raw_is_guarded_and_sees_the_usage(harness: Any) -> None:
    h = harness([BAD, GOOD])

    def library(guard: Any) -> Any:
        return guard.with_options(timeout=9).chat.completions.with_raw_response.create(
            model="m", messages=ASK
        )

    answer = h.run(library).parse()
    assert answer.choices[0].message.content == GOOD
    assert answer.usage.total_tokens == answer.steguard.usage.total_tokens > 0
    assert len(h.requests) == 2


def test_override_keys_are_never_sent(harness: Any) -> None:
    h = harness([BAD])
    answer = h.create(steguard={"profile": "base"}, temperature=0)
    assert answer.steguard.profile == "base"
    assert set(h.requests[0]) == {"model", "messages", "temperature"}


def test_an_unknown_override_is_named_and_nothing_is_sent(harness: Any) -> None:
    h = harness([GOOD])
    with pytest.raises(UsageError, match="did you mean 'profile'"):
        h.create(steguard={"profil": "base"})
    assert h.requests == []


def test_an_azure_client_works(mode: str) -> None:
    with ScriptedModel([BAD, GOOD]) as model:
        kind = openai.AzureOpenAI if mode == "sync" else openai.AsyncAzureOpenAI
        client = kind(
            azure_endpoint=model.base_url.removesuffix("/v1"),
            api_key="k",
            api_version="2024-10-21",
            azure_deployment="deploy",
        )
        if mode == "sync":
            answer = Guard(client, PROFILE).chat.completions.create(model="m", messages=ASK)
        else:
            answer = anyio.run(
                lambda: AsyncGuard(client, PROFILE).chat.completions.create(model="m", messages=ASK)
            )
        assert answer.choices[0].message.content == GOOD
        assert all("/deployments/deploy/" in path for path in model.paths)


def test_a_client_of_the_other_kind_is_refused_at_construction() -> None:
    with pytest.raises(UsageError, match="this client is async; use AsyncGuard"):
        Guard(openai.AsyncOpenAI(api_key="k"))
    with pytest.raises(UsageError, match="this client is sync; use Guard"):
        AsyncGuard(openai.OpenAI(api_key="k"))


def test_something_without_chat_completions_is_refused() -> None:
    with pytest.raises(UsageError, match=r"no 'chat\.completions\.create'"):
        Guard(object())
    with pytest.raises(UsageError, match="pass an instance"):
        Guard(openai.OpenAI)


class _Duck:
    """A client of another library with the same methods."""

    def __init__(self, create: Any) -> None:
        self.chat = type(
            "Chat", (), {"completions": type("C", (), {"create": staticmethod(create)})}
        )


def test_a_duck_typed_client_with_plain_mappings_works() -> None:
    texts = iter([BAD, GOOD])

    def create(**kwargs: Any) -> dict[str, Any]:
        return {"choices": [{"finish_reason": "stop", "message": {"content": next(texts)}}]}

    guard = Guard(_Duck(create), PROFILE)
    answer = guard.chat.completions.create(model="m", messages=ASK)
    assert answer["choices"][0]["message"]["content"] == GOOD
    assert guard.last_result.outcome == "passed_after_retry"


def test_a_duck_typed_client_of_the_wrong_kind_is_named_when_it_is_called() -> None:
    async def later() -> None: ...

    with pytest.raises(UsageError, match="use AsyncGuard"):
        Guard(_Duck(lambda **kw: later()), PROFILE).chat.completions.create(messages=ASK)
    with pytest.raises(UsageError, match="use Guard"):
        anyio.run(
            lambda: AsyncGuard(_Duck(lambda **kw: {}), PROFILE).chat.completions.create(
                messages=ASK
            )
        )


def test_sync_calls_in_a_thread_pool_need_no_event_loop() -> None:
    with ScriptedModel(lambda request: GOOD) as model:
        guard = Guard(openai.OpenAI(base_url=model.base_url, api_key="k"), PROFILE)
        with ThreadPoolExecutor(4) as pool:
            answers = list(
                pool.map(lambda _: guard.chat.completions.create(model="m", messages=ASK), range(8))
            )
        assert [a.choices[0].message.content for a in answers] == [GOOD] * 8


def _echo(request: dict[str, Any]) -> str:
    """Says the caller's own word: badly the first time, rightly after feedback."""
    word = next(m["content"] for m in request["messages"] if m["role"] == "user")
    retried = any(m["role"] == "assistant" for m in request["messages"])
    return f"Open the {word}." if retried else f"You should open the {word}."


def test_parallel_calls_on_one_guard_share_no_history_and_no_report() -> None:
    words = [f"file{n}" for n in range(16)]
    with ScriptedModel(_echo) as model:
        guard = Guard(openai.OpenAI(base_url=model.base_url, api_key="k"), PROFILE)

        def one(word: str) -> tuple[str, str]:
            answer = guard.chat.completions.create(
                model="m", messages=[{"role": "user", "content": word}]
            )
            return answer.choices[0].message.content, guard.last_result.text

        with ThreadPoolExecutor(8) as pool:
            told = list(pool.map(one, words))
        assert told == [(f"Open the {w}.", f"Open the {w}.") for w in words]
        for request in model.requests:
            assert sum(w in json.dumps(request["messages"]) for w in [f'"{w}"' for w in words]) == 1


def test_parallel_async_calls_share_no_history_and_no_report() -> None:
    words = [f"file{n}" for n in range(16)]

    async def main(base_url: str) -> list[tuple[str, str]]:
        told: dict[str, tuple[str, str]] = {}
        async with openai.AsyncOpenAI(base_url=base_url, api_key="k") as client:
            guard = AsyncGuard(client, PROFILE)

            async def one(word: str) -> None:
                answer = await guard.chat.completions.create(
                    model="m", messages=[{"role": "user", "content": word}]
                )
                told[word] = (answer.choices[0].message.content, guard.last_result.text)

            async with anyio.create_task_group() as group:
                for word in words:
                    group.start_soon(one, word)
        return [told[w] for w in words]

    with ScriptedModel(_echo) as model:
        assert anyio.run(main, model.base_url) == [
            (f"Open the {w}.", f"Open the {w}.") for w in words
        ]


def test_many_sync_calls_after_each_other_do_not_hang() -> None:
    with ScriptedModel(lambda request: GOOD) as model:
        guard = Guard(openai.OpenAI(base_url=model.base_url, api_key="k", timeout=10), PROFILE)
        for _ in range(5):
            assert guard.chat.completions.create(model="m", messages=ASK).steguard.passed


def _picky(request: dict[str, Any]) -> str | Scripted:
    unknown = set(request) - {"model", "messages", "temperature"}
    if unknown:
        return Scripted(status=400, body={"error": {"message": f"unknown keys {sorted(unknown)}"}})
    return GOOD if len(request["messages"]) > 2 else BAD


def test_only_what_caller_or_profile_asked_for_is_sent(harness: Any) -> None:
    h = harness(_picky)
    assert h.create(temperature=0).steguard.outcome == "passed_after_retry"
    assert all(set(r) == {"model", "messages", "temperature"} for r in h.requests)


def test_a_clean_first_answer_costs_exactly_one_request(harness: Any) -> None:
    h = harness([GOOD])
    answer = h.create()
    assert len(h.requests) == 1
    assert answer.steguard.outcome == "passed"
    assert len(answer.steguard.attempts) == 1


# --- retry and result


def test_the_callers_messages_are_never_changed(harness: Any) -> None:
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Go."}]},
    ]
    before = copy.deepcopy(messages)
    h = harness([BAD, GOOD])
    h.create(messages=messages)
    assert messages == before
    first, second = (r["messages"] for r in h.requests)
    assert first[0]["content"].startswith("Be brief.\n\n")
    assert second[: len(first)] == first
    assert [m["role"] for m in second[len(first) :]] == ["assistant", "user"]


def test_messages_may_be_any_iterable(harness: Any) -> None:
    h = harness([BAD, GOOD])
    assert h.create(messages=(m for m in ASK)).steguard.outcome == "passed_after_retry"


def test_usage_is_summed_over_all_attempts(harness: Any) -> None:
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    h = harness(
        [Scripted(BAD, usage=usage), Scripted(ALSO_BAD, usage=usage), Scripted(GOOD, usage=usage)]
    )
    answer = h.create()
    report = answer.steguard
    assert (
        report.usage.prompt_tokens,
        report.usage.completion_tokens,
        report.usage.total_tokens,
    ) == (30, 15, 45)
    assert (report.usage.cached_tokens, report.usage.reasoning_tokens) == (12, 6)
    assert [a.usage.total_tokens for a in report.attempts] == [15, 15, 15]
    assert answer.usage.total_tokens == 45
    assert answer.usage.prompt_tokens_details.cached_tokens == 12
    assert answer.usage.completion_tokens_details.reasoning_tokens == 6


def test_usage_that_the_endpoint_does_not_tell_is_marked_unknown(harness: Any) -> None:
    report = harness([Scripted(BAD, usage=None), Scripted(GOOD, usage=None)]).create().steguard
    assert (report.usage.unknown, report.usage.total_tokens) == (2, 0)


def test_a_message_without_tool_calls_is_retried_without_that_key(harness: Any) -> None:
    h = harness([Scripted(BAD, message={"tool_calls": None}), GOOD])
    h.create()
    draft = h.requests[1]["messages"][-2]
    assert draft == {"role": "assistant", "content": BAD}


def test_every_tool_call_of_a_retried_draft_is_answered(harness: Any) -> None:
    calls = [CALL, {**CALL, "id": "call_2"}]
    h = harness([Scripted(BAD, tool_calls=calls), GOOD])
    h.create(tools=TOOLS)
    sent = h.requests[1]["messages"]
    asked = [c["id"] for m in sent for c in m.get("tool_calls", ())]
    answered = [m["tool_call_id"] for m in sent if m["role"] == "tool"]
    assert asked == answered == ["call_1", "call_2"]
    assert h.requests[1]["tools"] == TOOLS


def test_each_retry_differs_from_every_request_before(harness: Any) -> None:
    h = harness([BAD, BAD, BAD])
    h.create()
    assert len({json.dumps(r["messages"]) for r in h.requests}) == len(h.requests) == 3


def test_a_cache_between_guard_and_model_cannot_serve_the_retry(harness: Any) -> None:
    cache: dict[str, str] = {}

    def cached(request: dict[str, Any]) -> str:
        key = json.dumps(request, sort_keys=True)
        return cache.setdefault(key, BAD if not cache else GOOD)

    assert harness(cached).create(seed=1).choices[0].message.content == GOOD


def test_an_answer_cut_by_the_token_limit_has_its_own_outcome(harness: Any) -> None:
    h = harness([Scripted("You should open the", finish_reason="length"), GOOD])
    answer = h.create()
    assert len(h.requests) == 1
    assert (answer.steguard.outcome, answer.steguard.reason) == ("not_checked", "length")
    assert answer.choices[0].message.content == "You should open the"
    assert not answer.steguard.passed


def test_a_refusal_is_delivered_and_not_retried(harness: Any) -> None:
    h = harness([Scripted(None, refusal="I cannot do that."), GOOD])
    answer = h.create()
    assert len(h.requests) == 1
    assert (answer.steguard.outcome, answer.steguard.reason) == ("not_checked", "refusal")
    assert answer.choices[0].message.refusal == "I cannot do that."


def test_empty_content_with_a_refusal_is_a_refusal(harness: Any) -> None:
    h = harness([Scripted("", refusal="No.")])
    assert h.create().steguard.reason == "refusal"
    assert len(h.requests) == 1


def test_a_content_filter_stop_has_its_own_outcome(harness: Any) -> None:
    h = harness([Scripted("", finish_reason="content_filter")])
    assert h.create().steguard.reason == "content_filter"
    assert len(h.requests) == 1


def test_a_turn_of_tool_calls_only_passes_through(harness: Any) -> None:
    h = harness([Scripted(None, tool_calls=[CALL])])
    answer = h.create(tools=TOOLS)
    assert answer.choices[0].message.tool_calls[0].function.name == "look"
    assert (answer.steguard.outcome, answer.steguard.reason) == ("not_checked", "tool_calls")
    assert len(h.requests) == 1


def test_each_of_several_choices_is_checked_and_repaired_alone(harness: Any) -> None:
    first = Scripted(
        choices=[{"content": GOOD}, {"content": BAD}, {"content": "", "refusal": "No."}]
    )
    h = harness([first, Scripted("Open the other file.")])
    answer = h.create(n=3)
    texts = [c.message.content for c in answer.choices]
    assert texts == [GOOD, "Open the other file.", ""]
    assert [c.index for c in answer.choices] == [0, 1, 2]
    assert [c.outcome for c in answer.steguard.choices] == [
        "passed",
        "passed_after_retry",
        "not_checked",
    ]
    assert h.requests[1]["n"] == 1
    assert h.requests[1]["messages"][-2]["content"] == BAD


def test_which_check_failed_is_kept_for_each_attempt(harness: Any) -> None:
    report = harness([BAD, ALSO_BAD, GOOD]).create().steguard
    assert [[f.rule for f in a.findings] for a in report.attempts] == [
        ["banned-words"],
        ["passive-voice"],
        [],
    ]
    assert "should" in report.attempts[0].feedback
    assert report.attempts[2].feedback is None


def test_the_loose_profile_never_raises(harness: Any) -> None:
    text = "It could probably be several things. " * 3
    h = harness([text], "loose")
    answer = h.create()
    assert answer.choices[0].message.content == text
    assert answer.steguard.outcome == "rejected"


def test_two_guards_around_one_client_both_check(harness: Any) -> None:
    inner_rule = {**PROFILE, "name": "inner", "select": ["passive-voice"]}
    outer_rule = {**PROFILE, "name": "outer", "select": ["banned-words"]}
    h = harness([ALSO_BAD, BAD, GOOD], inner_rule)
    kind = type(h.guard)
    outer = kind(h.guard, outer_rule)
    if h.mode == "sync":
        answer = outer.chat.completions.create(model="m", messages=ASK)
    else:
        answer = anyio.run(lambda: outer.chat.completions.create(model="m", messages=ASK))
    assert answer.choices[0].message.content == GOOD
    assert len(h.requests) == 3
    assert outer.last_result.profile == "outer"
    assert outer.last_result.attempts[0].draft == BAD


def test_provider_fields_of_the_message_are_kept(harness: Any) -> None:
    message = {"reasoning_content": "I thought.", "vendor": {"a": 1}}
    h = harness([Scripted(BAD, message=message)], {**PROFILE, "fallback": "strip"})
    answer = h.create()
    assert answer.choices[0].message.content == "Close the door."
    assert answer.choices[0].message.reasoning_content == "I thought."
    assert answer.choices[0].message.vendor == {"a": 1}


def test_text_parts_are_checked_and_other_parts_kept(harness: Any) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:x"}}
    h = harness(
        [Scripted([{"type": "text", "text": BAD}, image])], {**PROFILE, "fallback": "strip"}
    )
    answer = h.create()
    assert answer.steguard.outcome == "stripped"
    assert answer.choices[0].message.content == [{"type": "text", "text": "Close the door."}, image]


# --- the parse helper and per-call schema


class Step(BaseModel):
    action: str
    reason: str


def test_parse_gives_the_object_and_the_report(harness: Any) -> None:
    good = json.dumps({"action": "read", "reason": "Read the file."})
    bad = json.dumps({"action": "read", "reason": "You should read the file."})
    h = harness([bad, good])
    answer = h.run(
        lambda g: g.chat.completions.parse(model="m", messages=ASK, response_format=Step)
    )
    assert answer.choices[0].message.parsed == Step(action="read", reason="Read the file.")
    assert answer.steguard.outcome == "passed_after_retry"
    sent = h.requests[0]["response_format"]
    assert sent["type"] == "json_schema"
    assert sent["json_schema"]["name"] == "Step"


def test_what_the_guard_does_not_know_passes_through(harness: Any) -> None:
    h = harness([GOOD])
    assert h.guard.base_url == h.client.base_url
    assert h.guard.embeddings is h.client.embeddings
    assert h.guard.chat.completions.list == h.client.chat.completions.list
