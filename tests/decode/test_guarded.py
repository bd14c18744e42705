"""A guard that constrains: what is sent, what is probed, what is reported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from steguard.errors import ConstraintUnavailable
from steguard.testing import Scripted
from tests.conftest import GOOD

TEXT = "The pump moves the water."
AUTO = {"extends": "strict", "constrain": "auto"}
REQUIRE = {"extends": "strict", "constrain": "require"}


def endpoint(field: str | None, answer: str = TEXT, status: int = 200) -> Callable[[Any], Scripted]:
    """An endpoint that obeys a grammar in this field only, and ignores or refuses the others."""

    def reply(request: dict[str, Any]) -> Scripted:
        sent = {"grammar", "structured_outputs", "guided_grammar", "ebnf"} & set(request)
        if not sent:
            return Scripted(answer)
        if sent != {field}:
            return (
                Scripted("word") if status == 200 else Scripted(status=status, body={"error": {}})
            )
        probing = request.get("max_tokens") == 16
        return Scripted("steguard" if probing else answer)

    return reply


@pytest.mark.parametrize(
    ("field", "layer"),
    [
        ("grammar", "llama.cpp/llguidance"),
        ("structured_outputs", "vllm"),
        ("guided_grammar", "vllm/guided"),
        ("ebnf", "sglang"),
    ],
)
@pytest.mark.parametrize("status", [200, 400])
def test_a_probe_finds_what_the_endpoint_obeys(
    harness: Any, field: str, layer: str, status: int
) -> None:
    one = harness(endpoint(field, status=status), AUTO)
    result = one.create().steguard
    assert result.passed
    assert list(result.enforced) == [layer]
    assert "passive-voice" in result.enforced[layer]
    assert field in one.requests[-1]
    assert result.to_dict()["enforced"][layer]


def test_an_endpoint_is_probed_once(harness: Any) -> None:
    one = harness(endpoint("grammar"), AUTO)
    if one.mode == "async":
        pytest.skip("one client cannot be opened twice here")
    one.create()
    before = len(one.requests)
    one.create()
    assert len(one.requests) == before + 1


def test_an_endpoint_that_ignores_grammars_is_not_believed(harness: Any) -> None:
    one = harness(lambda request: TEXT, AUTO)
    result = one.create().steguard
    assert result.passed
    assert result.enforced == {}
    assert not {"grammar", "structured_outputs", "ebnf"} & set(one.requests[-1])


def test_require_raises_where_nothing_can(harness: Any) -> None:
    one = harness(lambda request: TEXT, REQUIRE)
    with pytest.raises(ConstraintUnavailable, match="requires a decoding constraint"):
        one.create()
    asked = len(one.requests)
    if one.mode == "sync":
        with pytest.raises(ConstraintUnavailable, match="requires a decoding constraint"):
            one.create()
        assert len(one.requests) == asked


def test_a_named_endpoint_is_not_probed(harness: Any) -> None:
    profile = {"extends": "strict", "constrain": {"mode": "auto", "endpoint": "vllm"}}
    one = harness(endpoint("structured_outputs"), profile)
    assert one.create().steguard.enforced.keys() == {"vllm"}
    assert len(one.requests) == 1
    assert "root ::=" in one.requests[0]["structured_outputs"]["grammar"]


def test_a_refused_grammar_is_left_out_and_told(harness: Any) -> None:
    def reply(request: dict[str, Any]) -> Scripted:
        if "grammar" in request:
            body = {"error": {"message": "failed to parse grammar"}}
            return Scripted(status=400, body=body)
        return Scripted(TEXT)

    profile = {"extends": "strict", "constrain": {"mode": "auto", "endpoint": "llama.cpp"}}
    result = harness(reply, profile).create().steguard
    assert result.passed
    assert result.unenforced == ("grammar:llama.cpp/llguidance",)
    assert result.enforced == {}


def test_off_adds_nothing(harness: Any) -> None:
    one = harness([GOOD], {"extends": "strict"})
    one.create()
    assert set(one.requests[0]) == {"model", "messages"}


def test_the_words_of_the_prompt_are_in_the_grammar(harness: Any) -> None:
    profile = {"extends": "strict", "constrain": {"mode": "auto", "endpoint": "sglang"}}
    one = harness([TEXT], profile)
    one.create(messages=[{"role": "user", "content": "Describe a zymurgy kettlebell."}])
    grammar = one.requests[0]["ebnf"]
    assert "kettlebell"[1:] in grammar or "ettlebell" in grammar


def test_the_callers_own_extra_body_wins(harness: Any) -> None:
    profile = {"extends": "strict", "constrain": {"mode": "auto", "endpoint": "llama.cpp"}}
    one = harness([TEXT], profile)
    one.create(extra_body={"dry_multiplier": 0.1, "cache_prompt": True})
    sent = one.requests[0]
    assert sent["dry_multiplier"] == 0.1
    assert sent["cache_prompt"] is True
    assert sent["grammar"].startswith("%llguidance")


def test_the_callers_own_grammar_stays(harness: Any) -> None:
    profile = {"extends": "strict", "constrain": {"mode": "auto", "endpoint": "llama.cpp"}}
    one = harness([TEXT], profile)
    result = one.create(extra_body={"grammar": 'root ::= "x"'}).steguard
    assert one.requests[0]["grammar"] == 'root ::= "x"'
    assert result.enforced == {}


def test_retry_and_stream_send_the_grammar_too(harness: Any) -> None:
    profile = {"extends": "strict", "constrain": {"mode": "auto", "endpoint": "llama.cpp"}}
    one = harness(["The valve is opened.", TEXT], profile)
    assert one.create().steguard.passed
    assert [("grammar" in request) for request in one.requests] == [True, True]


def test_a_stream_is_probed_and_constrained(harness: Any) -> None:
    one = harness(endpoint("grammar"), AUTO)

    def read(guard: Any) -> Any:
        if one.mode == "sync":
            chunks = guard.chat.completions.create(
                model="m", messages=[{"role": "user", "content": "x"}], stream=True
            )
            return "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)

        async def inside() -> str:
            chunks = await guard.chat.completions.create(
                model="m", messages=[{"role": "user", "content": "x"}], stream=True
            )
            text = ""
            async for chunk in chunks:
                text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
            return text

        return inside()

    assert one.run(read) == TEXT
    assert "grammar" in one.requests[-1]
    assert one.guard.last_result.enforced.keys() == {"llama.cpp/llguidance"}


class Step(BaseModel):
    reason: str
    code: str


def test_json_fields_carry_the_shape_as_a_pattern(harness: Any) -> None:
    one = harness(
        ['{"reason": "Open the file.", "code": "a"}'],
        {"extends": "strict", "constrain": "auto"},
        schema=Step,
    )
    result = one.create().steguard
    assert result.passed
    sent = one.requests[0]["response_format"]["json_schema"]["schema"]
    assert sent["properties"]["reason"]["pattern"].startswith("^[A-Z]")
    assert "json_schema" in result.enforced
    assert len(one.requests) == 1
