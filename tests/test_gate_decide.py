"""The chain of a decision: what passes, what is denied, and what the reason says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steguard.gate import Context, Effect, Gate, SideEffect, Step, ToolCall, load_policy
from steguard.gate.model import canonical

MAIL = {
    "type": "object",
    "required": ["to"],
    "properties": {
        "to": {"type": "array", "items": {"type": "string"}},
        "subject": {"type": "string"},
        "count": {"type": "integer"},
        "options": {"type": "object", "properties": {"urgent": {"type": "boolean"}}},
    },
}


def gate(*rules: dict[str, Any], schema: Any = None, **tools: Any) -> Gate:
    spec = {"send_mail": {"side_effect": "external", **({"schema": schema} if schema else {})}}
    return Gate(load_policy({"tools": {**spec, **tools}, "rules": list(rules)}))


def allow(name: str = "allow", effect: str = "allow", /, **arguments: Any) -> dict[str, Any]:
    return {"id": name, "effect": effect, "tools": ["send_mail"], "arguments": arguments}


def effect(gate: Gate, name: str = "send_mail", /, **arguments: Any) -> Effect:
    return gate.decide(ToolCall(name, arguments), Context(task_id="T-1")).effect


# Precedence


def test_what_no_rule_allows_is_denied() -> None:
    decision = gate().decide(ToolCall("send_mail", {}), Context())
    assert (decision.effect, decision.step) == (Effect.DENY, Step.RULE)
    assert decision.reason == "No rule allows the tool 'send_mail'."


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (0, 2, 1)])
def test_the_order_in_the_file_decides_nothing(order: tuple[int, ...]) -> None:
    rules = [allow("a"), allow("b", "ask"), allow("c", "deny")]
    assert effect(gate(*(rules[i] for i in order))) is Effect.DENY
    assert effect(gate(*(rules[i] for i in order if i != 2))) is Effect.ASK


def test_a_denial_names_its_rule_and_what_to_do_instead() -> None:
    rule = {
        **allow("no-mail", "deny"),
        "reason": "Nobody sends mail.",
        "alternatives": ["Write a draft."],
    }
    decision = gate(allow("yes"), rule).decide(ToolCall("send_mail", {}, "call-1"), Context())
    assert (decision.rule, decision.reason) == ("no-mail", "Nobody sends mail.")
    assert decision.alternatives == ("Write a draft.",)
    assert decision.call_id == "call-1"
    assert decision.side_effect is SideEffect.EXTERNAL
    assert not decision.allowed


def test_a_rule_for_a_class_of_side_effects_reaches_every_tool_of_it() -> None:
    rule = {"id": "quiet", "effect": "deny", "side_effects": ["external", "destructive"]}
    everything = {"id": "all", "effect": "allow", "tools": ["*"]}
    made = gate(rule, everything, look={"side_effect": "read"}, wipe={"side_effect": "destructive"})
    assert effect(made, "look") is Effect.ALLOW
    assert effect(made, "wipe") is Effect.DENY
    assert effect(made) is Effect.DENY


def test_a_tool_that_nobody_declared_counts_as_external() -> None:
    rules = [
        {"id": "a", "effect": "allow", "tools": ["other"]},
        {"id": "d", "effect": "deny", "side_effects": ["external"]},
    ]
    assert effect(gate(*rules), "other") is Effect.DENY


# Names


@pytest.mark.parametrize(
    "name",
    [
        "send_mаil",
        "Send_Mail",
        "send-mail",
        "send_mail ",
        "ｓend_mail",
        "send\u200b_mail",
        "sendmail",
        "",
    ],
)
def test_a_name_that_only_looks_like_a_tool_is_no_tool(name: str) -> None:
    decision = gate(allow()).decide(ToolCall(name, {}), Context())
    assert (decision.effect, decision.step) == (Effect.DENY, Step.TOOL)
    if name:
        assert "only looks like 'send_mail'" in decision.reason


def test_a_misspelt_tool_gets_the_name_that_exists() -> None:
    decision = gate(allow()).decide(ToolCall("send_mial", {}), Context())
    assert decision.alternatives == ("Use the name 'send_mail'.",)


def test_a_star_rule_adds_no_tools() -> None:
    made = gate({"id": "all", "effect": "allow", "tools": ["*"]})
    assert effect(made, "anything") is Effect.DENY


# The form of arguments


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "'to' is missing"),
        ({"to": "a@x.com"}, "'to' must be of type array"),
        ({"to": [1]}, "'to/0' must be of type string"),
        ({"to": [], "bcc": []}, "'bcc' is not expected"),
        ({"to": [], "count": "3"}, "'count' must be of type integer"),
        ({"to": [], "count": True}, "'count' must be of type integer"),
        ({"to": [], "count": 1.5}, "'count' must be of type integer"),
        ({"to": [], "options": {"urgent": "yes"}}, "'options/urgent' must be of type boolean"),
    ],
)
def test_arguments_must_have_the_form_of_the_schema(arguments: dict[str, Any], says: str) -> None:
    decision = gate(allow(), schema=MAIL).decide(ToolCall("send_mail", arguments), Context())
    assert (decision.effect, decision.step) == (Effect.DENY, Step.ARGUMENTS)
    assert says in decision.reason


def test_arguments_of_the_right_form_pass() -> None:
    made = gate(allow(), schema=MAIL)
    assert (
        effect(made, to=["a"], subject="s", count=3, options={"urgent": True, "more": 1})
        is Effect.ALLOW
    )


@pytest.mark.parametrize("keyword", [{"pattern": "ab"}, {"pattern": "ab", "not": {"const": "zz"}}])
@pytest.mark.parametrize("value", ["abc", "xab", "ab\n", "AB"])
def test_a_pattern_of_a_schema_is_for_the_whole_text(keyword: Any, value: str) -> None:
    schema = {"type": "object", "properties": {"to": {"type": "string", **keyword}}}
    made = gate(allow(), schema=schema)
    assert effect(made, to="ab") is Effect.ALLOW
    assert effect(made, to=value) is Effect.DENY


@pytest.mark.parametrize(
    "arguments",
    [
        {"to": float("nan")},
        {"to": float("inf")},
        {"to": "\ud800"},
        {"to": {1: 2}},
        {"to": object()},
    ],
)
def test_arguments_that_are_no_json_are_denied(arguments: dict[str, Any]) -> None:
    decision = gate(allow()).decide(ToolCall("send_mail", arguments), Context())
    assert (decision.effect, decision.step) == (Effect.DENY, Step.ARGUMENTS)


def test_arguments_that_are_nested_too_deep_are_denied() -> None:
    deep: Any = "x"
    for _ in range(5000):
        deep = [deep]
    assert effect(gate(allow()), to=deep) is Effect.DENY


# Constraints


def test_an_omitted_argument_passes_no_constraint() -> None:
    made = gate(allow(to={"enum": ["a"]}))
    assert effect(made, to="a") is Effect.ALLOW
    assert effect(made) is Effect.DENY
    assert effect(made, to=None) is Effect.DENY


def test_an_omitted_argument_does_not_pass_by_a_denial_either() -> None:
    made = gate(allow("yes"), allow("no", "deny", path={"pattern": "/etc/.*"}))
    assert effect(made, path="/home/a") is Effect.ALLOW
    assert effect(made) is Effect.DENY
    assert effect(made, path=7) is Effect.DENY


def test_optional_says_that_an_argument_may_be_left_out() -> None:
    made = gate(allow("yes", to={"enum": ["a"], "optional": True}))
    assert effect(made) is Effect.ALLOW
    assert effect(made, to="b") is Effect.DENY
    lenient = gate(allow("yes"), allow("no", "deny", to={"enum": ["b"], "optional": True}))
    assert effect(lenient) is Effect.ALLOW
    assert effect(lenient, to="b") is Effect.DENY


def test_the_default_of_the_tool_is_what_an_omitted_argument_is() -> None:
    schema = {"type": "object", "properties": {"to": {"type": "string", "default": "everyone"}}}
    assert effect(gate(allow(to={"enum": ["bob"]}), schema=schema)) is Effect.DENY
    assert effect(gate(allow(to={"enum": ["everyone"]}), schema=schema)) is Effect.ALLOW
    denied = gate(allow("yes"), allow("no", "deny", to={"enum": ["everyone"]}), schema=schema)
    assert effect(denied) is Effect.DENY


@pytest.mark.parametrize(
    "value", ["report-1.txt.exe", "xreport-1.txt", "report-1.txt\n", "REPORT-1.txt", ""]
)
def test_a_pattern_is_for_the_whole_text(value: str) -> None:
    made = gate(allow(name={"pattern": r"report-\d\.txt"}))
    assert effect(made, name="report-1.txt") is Effect.ALLOW
    assert effect(made, name=value) is Effect.DENY


@pytest.mark.parametrize("value", ["5", True, None, [5], {"a": 5}])
def test_a_limit_is_for_numbers_only(value: Any) -> None:
    made = gate(allow(amount={"max": 10.0}))
    assert effect(made, amount=5) is Effect.ALLOW
    assert effect(made, amount=value) is Effect.DENY
    forbidding = gate(allow("yes"), allow("no", "deny", amount={"min": 3.0}))
    assert effect(forbidding, amount=2) is Effect.ALLOW
    assert effect(forbidding, amount=value) is Effect.DENY


@pytest.mark.parametrize(("value", "enum"), [(1, [True]), (True, [1]), ("1", [1]), (0, [False])])
def test_a_value_of_another_type_is_another_value(value: Any, enum: list[Any]) -> None:
    assert effect(gate(allow(x={"enum": enum})), x=value) is Effect.DENY


def test_a_list_needs_every_item_to_allow_and_one_to_forbid() -> None:
    inside = {"each": {"pattern": r"[^@]+@example\.com"}}
    made = gate(allow(to=inside))
    assert effect(made, to=["a@example.com", "b@example.com"]) is Effect.ALLOW
    assert effect(made, to=["a@example.com", "b@example.com.evil.com"]) is Effect.DENY
    assert effect(made, to="a@example.com") is Effect.DENY
    banned = gate(allow("yes"), allow("no", "deny", to={"each": {"pattern": ".*@evil.com"}}))
    assert effect(banned, to=["a@x.com"]) is Effect.ALLOW
    assert effect(banned, to=["a@x.com", "b@evil.com"]) is Effect.DENY
    assert effect(banned, to="b@evil.com") is Effect.DENY


def test_a_pointer_reaches_into_nested_arguments() -> None:
    made = gate(allow(**{"/files/*/id": {"enum": ["1", "2"]}}))
    assert effect(made, files=[{"id": "1"}, {"id": "2"}]) is Effect.ALLOW
    assert effect(made, files=[{"id": "1"}, {"id": "3"}]) is Effect.DENY
    assert effect(made, files=[]) is Effect.DENY
    assert effect(made, files=[{"name": "1"}]) is Effect.DENY


@pytest.mark.parametrize(
    "url",
    [
        "https://good.com.evil.com/a",
        "https://evil.com/good.com",
        "https://good.com@evil.com/",
        "https://good.com:80@evil.com/",
        "https://evil.com#good.com",
        "https://evil.com?good.com",
        "https://evil.com\\@good.com",
        "https://good.com\\.evil.com",
        "https://xgood.com",
        "https://good.com%2eevil.com",
        "https://gооd.com",
        "ftp://good.com",
        "javascript:good.com",
        "https://good.com\t.evil.com",
        " https://good.com",
        "https:// good.com",
        "//",
        "",
        7,
    ],
)
def test_a_url_that_leads_elsewhere_is_not_of_the_host(url: Any) -> None:
    made = gate(allow(url={"host": ["good.com", "*.good.org"]}))
    assert effect(made, url=url) is Effect.DENY


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.com/good.com",
        "https://a.evil.com.",
        "EVIL.com",
        "https://good.com@evil.com",
        "http://x y",
    ],
)
def test_a_denial_of_a_host_holds_where_the_host_is_hidden(url: str) -> None:
    banned = {"host": ["evil.com", "*.evil.com"]}
    made = gate(allow("yes"), allow("no", "deny", url=banned))
    assert effect(made, url="https://good.com/evil.com") is Effect.ALLOW
    assert effect(made, url=url) is Effect.DENY


@pytest.mark.parametrize(
    "url",
    [
        "https://good.com",
        "http://GOOD.com:8080/x?y#z",
        "good.com/a",
        "https://good.com./",
        "https://a.b.good.org/",
    ],
)
def test_a_url_of_the_host_passes(url: str) -> None:
    assert effect(gate(allow(url={"host": ["good.com", "*.good.org"]})), url=url) is Effect.ALLOW


def test_a_subdomain_pattern_is_not_the_domain_itself() -> None:
    made = gate(allow(url={"host": ["*.good.org"]}))
    assert effect(made, url="https://good.org") is Effect.DENY
    assert effect(made, url="https://notgood.org") is Effect.DENY


@pytest.mark.parametrize(
    "path",
    [
        "/data/../etc/passwd",
        "/data/%2e%2e/etc/passwd",
        "/data/%252e%252e/etc/passwd",
        "/data/..%2fetc",
        "/data/a/../../etc",
        "/database/x",
        "/data\\..\\etc",
        "~/data",
        "/data/x\x00.txt",
        "C:/data/x",
        "/DATA/x",
        "data/x",
        "",
        3,
    ],
)
def test_a_path_that_leaves_the_folder_is_denied(path: Any) -> None:
    assert effect(gate(allow(path={"path": ["/data"]})), path=path) is Effect.DENY


@pytest.mark.parametrize(
    "path", ["/data", "/data/a/b.txt", "/data/./a", "/data/a/../b", "/data/a%20b", "//data/a"]
)
def test_a_path_in_the_folder_passes(path: str) -> None:
    assert effect(gate(allow(path={"path": ["/data/"]})), path=path) is Effect.ALLOW


def test_a_relative_folder_holds_relative_paths() -> None:
    made = gate(allow(path={"path": ["."]}))
    assert effect(made, path="notes/a.md") is Effect.ALLOW
    assert effect(made, path="../a.md") is Effect.DENY
    assert effect(made, path="/etc/passwd") is Effect.DENY


@pytest.mark.parametrize("first", ["deny", "allow", "ask"])
def test_a_check_that_raises_denies_whatever_its_rule_says(first: str) -> None:
    slow = {"pattern": "(a|aa)+$"}
    made = gate(allow("yes"), allow("raises", first, text=slow))
    decision = made.decide(ToolCall("send_mail", {"text": "a" * 5000 + "b"}), Context())
    assert (decision.effect, decision.step, decision.rule) == (Effect.DENY, Step.ERROR, "raises")
    assert "The gate denies on any error." in decision.reason


# Scope


def test_a_rule_holds_in_its_scope_only() -> None:
    rule = {**allow(), "scope": {"project": ["a", "b"], "stage": "final"}}
    made = gate(rule)

    def at(**scope: str) -> Effect:
        return made.decide(ToolCall("send_mail", {}), Context(scope=scope)).effect

    assert at(project="a", stage="final") is Effect.ALLOW
    assert at(project="a") is Effect.DENY
    assert at(stage="final") is Effect.DENY
    assert at(project="A", stage="final") is Effect.DENY
    decision = made.decide(ToolCall("send_mail", {}), Context(scope={"project": "z"}))
    assert decision.step is Step.SCOPE


def test_a_narrow_permission_does_not_lift_a_wide_denial() -> None:
    narrow = {**allow("narrow"), "scope": {"step": "s"}}
    made = gate(narrow, allow("wide", "deny"))
    assert (
        made.decide(ToolCall("send_mail", {}), Context(scope={"step": "s"})).effect is Effect.DENY
    )


# The digest


def test_the_digest_names_exactly_what_would_run() -> None:
    made = gate(allow())
    base = made.decide(ToolCall("send_mail", {"a": 1, "b": 2}), Context(task_id="T-1")).digest
    same = made.decide(ToolCall("send_mail", {"b": 2, "a": 1}), Context(task_id="T-1")).digest
    assert base == same
    assert len(base) == 64
    others = {
        made.decide(ToolCall("send_mail", {"a": 1, "b": "2"}), Context(task_id="T-1")).digest,
        made.decide(ToolCall("send_mail", {"a": 1}), Context(task_id="T-1")).digest,
        made.decide(ToolCall("send_mail", {"a": 1, "b": 2}), Context(task_id="T-2")).digest,
        gate(allow("x"))
        .decide(ToolCall("send_mail", {"a": 1, "b": 2}), Context(task_id="T-1"))
        .digest,
    }
    assert len(others) == 4
    assert base not in others


json_data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(st.dictionaries(st.text("abc", max_size=3), json_data, max_size=4))
def test_equal_arguments_have_one_canonical_form(data: dict[str, Any]) -> None:
    turned = dict(reversed(data.items()))
    assert canonical(data) == canonical(turned)


@given(
    st.dictionaries(st.sampled_from(["to", "subject", "count", "x"]), json_data, max_size=4),
    st.text(max_size=20),
)
def test_any_call_gets_a_decision_and_no_exception(arguments: dict[str, Any], name: str) -> None:
    made = gate(
        allow("a", to={"each": {"pattern": "a+"}, "from": ["user_request"]}, count={"max": 3.0}),
        allow("b", "deny", subject={"path": ["/x"], "min_length": 2}),
        schema=MAIL,
    )
    for tool in ("send_mail", name):
        decision = made.decide(ToolCall(tool, arguments), Context(request="aa a"))
        assert decision.effect in Effect
        assert decision.reason
        assert decision.step is not Step.ERROR


# Explaining


def test_an_explanation_says_which_condition_failed() -> None:
    made = gate(allow("a", to={"each": {"enum": ["a"]}}, count={"max": 3.0}), schema=MAIL)
    told = made.explain(ToolCall("send_mail", {"to": ["a"], "count": 9}), Context())
    assert [(c.step, c.passed) for c in told.checks[:3]] == [
        (Step.TOOL, True), (Step.ARGUMENTS, True), (Step.SCOPE, True)
    ]  # fmt: skip
    assert (told.step, told.pointer, told.rule) == (Step.CONSTRAINT, "/count", "a")
    assert told.to_dict()["step"] == "constraint"
