"""The gate against Cedar, on generated policies and calls: they never disagree."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steguard.errors import UsageError
from steguard.gate import Context, Effect, Gate, Policy, ToolCall, load_policy
from steguard.gate.cedar import ordered, to_cedar, to_request

cedarpy = pytest.importorskip("cedarpy")

TOOLS = ("read_file", "send_mail", "pay")
SCOPES: dict[str, tuple[str, ...]] = {"project": ("a", "b"), "stage": ("draft", "final")}
WORDS = ("a", "ab", "abc", "b", "a.b", "axb", "")

constraints: dict[str, Any] = {
    "path": st.one_of(
        st.fixed_dictionaries({"enum": st.lists(st.sampled_from(WORDS), min_size=1, max_size=3)}),
        st.fixed_dictionaries(
            {"pattern": st.sampled_from(["a", "a.*", ".*b", r"a\.b", "a.*b", ".*"])}
        ),
    ),
    "amount": st.fixed_dictionaries(
        {"min": st.integers(0, 5).map(float), "max": st.integers(5, 9).map(float)}
    ),
    "to": st.fixed_dictionaries(
        {
            "each": st.fixed_dictionaries(
                {"enum": st.lists(st.sampled_from(WORDS), min_size=1, max_size=3)}
            )
        }
    ),
}


@st.composite
def rules(draw: Any, number: int) -> dict[str, Any]:
    names = draw(st.sets(st.sampled_from(sorted(constraints)), max_size=2))
    arguments = {}
    for name in sorted(names):
        arguments[name] = {**draw(constraints[name]), "optional": draw(st.booleans())}
    keys = draw(st.sets(st.sampled_from(sorted(SCOPES)), max_size=2))
    scope = {
        key: draw(st.lists(st.sampled_from(SCOPES[key]), min_size=1, max_size=2))
        for key in sorted(keys)
    }
    tools = draw(st.sampled_from([*([t] for t in TOOLS), ["*"], list(TOOLS[:2])]))
    effect = draw(st.sampled_from(["allow", "allow", "ask", "deny"]))
    return {
        "id": f"r{number:02}",
        "effect": effect,
        "tools": tools,
        "arguments": arguments,
        "scope": scope,
    }


@st.composite
def policies(draw: Any) -> Policy:
    count = draw(st.integers(0, 8))
    tools = {name: {"side_effect": "write"} for name in TOOLS}
    return load_policy({"tools": tools, "rules": [draw(rules(number)) for number in range(count)]})


arguments = st.fixed_dictionaries(
    {},
    optional={
        "path": st.sampled_from(WORDS),
        "amount": st.integers(0, 10),
        "to": st.lists(st.sampled_from(WORDS), max_size=3),
    },
)
calls = st.builds(ToolCall, st.sampled_from([*TOOLS, "unknown"]), arguments)
contexts = st.builds(
    lambda scope: Context(task_id="T", scope=scope),
    st.fixed_dictionaries({}, optional={k: st.sampled_from(v) for k, v in SCOPES.items()}),
)


def oracle(policy: Policy, call: ToolCall, context: Context) -> Effect:
    """What Cedar says; a forbid that meets an error denies, and an ask that took part asks."""
    answer = cedarpy.is_authorized(to_request(call, context), to_cedar(policy), [])
    names = {f"policy{number}": rule for number, rule in enumerate(ordered(policy))}
    for error in answer.diagnostics.errors:
        failed = error.split("`")[1]
        if names[failed].effect is Effect.DENY:
            return Effect.DENY
    if answer.decision is not cedarpy.Decision.Allow:
        return Effect.DENY
    asked = any(names[reason].effect is Effect.ASK for reason in answer.diagnostics.reasons)
    return Effect.ASK if asked else Effect.ALLOW


@settings(max_examples=120)
@given(policies(), st.lists(st.tuples(calls, contexts), min_size=3, max_size=6))
def test_cedar_says_the_same(policy: Policy, pairs: list[tuple[ToolCall, Context]]) -> None:
    for call, context in pairs:
        assert Gate(policy).decide(call, context).effect is oracle(policy, call, context)


@settings(max_examples=40)
@given(
    st.sampled_from(sorted(constraints)),
    st.data(),
    st.sampled_from([True, "x", 3, ["a"], {"a": 1}]),
    st.booleans(),
)
def test_a_forbid_that_cannot_be_judged_denies_where_cedar_skips_it(
    name: str, data: Any, value: Any, optional: bool
) -> None:
    constraint = {**data.draw(constraints[name]), "optional": optional}
    policy = load_policy(
        {
            "rules": [
                {"id": "a", "effect": "allow", "tools": ["pay"]},
                {"id": "b", "effect": "deny", "tools": ["pay"], "arguments": {name: constraint}},
            ]
        }
    )
    call, context = ToolCall("pay", {name: value}), Context(task_id="T")
    answer = cedarpy.is_authorized(to_request(call, context), to_cedar(policy), [])
    said = Gate(policy).decide(call, context).effect
    if answer.diagnostics.errors:
        assert answer.decision is cedarpy.Decision.Allow
        assert said is Effect.DENY
    elif name != "to" and "enum" not in constraint:
        assert said is oracle(policy, call, context)


@given(policies(), calls, contexts, st.randoms(use_true_random=False))
def test_the_order_of_rules_has_no_meaning(
    policy: Policy, call: ToolCall, context: Context, random: Any
) -> None:
    data = policy.model_dump(by_alias=True, exclude_unset=True)
    random.shuffle(data["rules"])
    turned = load_policy(data)
    first, second = Gate(policy).decide(call, context), Gate(turned).decide(call, context)
    assert (first.effect, first.digest, first.rule) == (second.effect, second.digest, second.rule)


@given(policies(), calls, contexts)
def test_explaining_changes_no_decision(policy: Policy, call: ToolCall, context: Context) -> None:
    gate = Gate(policy)
    plain, told = gate.decide(call, context), gate.explain(call, context)
    assert (plain.effect, plain.rule, plain.reason) == (told.effect, told.rule, told.reason)
    assert not plain.checks
    holding = {check.rule for check in told.checks if check.passed and check.rule}
    assert told.effect is Effect.DENY or told.rule in holding


@pytest.mark.parametrize(
    "constraint",
    [{"pattern": "a|b"}, {"from": ["user_request"]}, {"host": ["a.com"]}, {"max_length": 3}],
)
def test_the_export_refuses_what_cedar_cannot_say(constraint: dict[str, Any]) -> None:
    rule = {"id": "a", "effect": "allow", "tools": ["pay"], "arguments": {"to": constraint}}
    with pytest.raises(UsageError, match="Cedar export"):
        to_cedar(load_policy({"rules": [rule]}))
