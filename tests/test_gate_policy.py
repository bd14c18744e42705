"""Policy files: what is wrong with them, and where; and the commands of the gate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from steguard.cli import main
from steguard.gate import PolicyError, SideEffect, load_policy, parse_policy
from steguard.gate.derive import tool_specs
from steguard.gate.kinds import Kind, kind_of

GOOD = """\
steguard_gate: 1
tools:
  send_mail:
    side_effect: external
    schema: {type: object, required: [to], properties: {to: {type: array}, body: {type: string}}}
rules:
  - id: mail
    effect: allow
    tools: [send_mail]
    arguments:
      to: {each: {pattern: '[^@]+@example\\.com'}, from: [user_request]}
"""


def error(text: str) -> PolicyError:
    with pytest.raises(PolicyError) as caught:
        parse_policy(text, "p.yaml")
    return caught.value


@pytest.mark.parametrize(
    ("text", "at", "says"),
    [
        ("rules: [", "p.yaml:1:9", "this is no YAML"),
        ("- a", "p.yaml:1:1", "a policy is a mapping"),
        ("", "p.yaml:1:1", "a policy is a mapping"),
        ("rule: []", "p.yaml:1:1", "unknown key 'rule'; did you mean 'rules'?"),
        ("steguard_gate: 2", "p.yaml:1:1", "Input should be 1"),
        ("rules:\n  - id: a\n    tools: [x]", "p.yaml:2:5", "the key 'effect' is missing"),
        ("rules:\n  - {id: a, effect: alow, tools: [x]}", "p.yaml:2:13", "'allow', 'ask' or 'deny'"),
        ("rules:\n  - {id: a, effect: allow}", "p.yaml:2:5", "a rule names 'tools' or 'side_effects'"),
        ("rules:\n  - {id: a, effect: allow, tools: [x], scope: {stag: s}}", "p.yaml:2:5", "unknown scope 'stag'; did you mean 'stage'?"),
        ("rules:\n  - {id: a, effect: allow, tools: [x], source: memory_record}", "p.yaml:2:5", "a rule never comes from 'memory_record'"),
        ("rules:\n  - {id: a, effect: allow, tools: [x]}\n  - {id: a, effect: deny, tools: [y]}", "p.yaml:1:1", "two rules have the id 'a'"),
        ("rules:\n  - {id: a, effect: allow, tools: [x], arguments: {to: {pattern: '('}}}", "p.yaml:2:57", "this is no pattern"),
        ("rules:\n  - {id: a, effect: allow, tools: [x], arguments: {to: {from: [user]}}}", "p.yaml:2:64", "unknown source 'user'; did you mean 'user_request'?"),
        ("rules:\n  - {id: a, effect: allow, tools: [x], arguments: {to: {from: ['content:x#y']}}}", "p.yaml:2:64", "write a field as 'SOURCE:TOOL#/POINTER'"),
        ("rules:\n  - {id: a, effect: allow, tools: [x], arguments: {n: {min: 3, max: 2}}}", "p.yaml:2:52", "'min' is more than 'max'"),
        ("rules:\n  - {id: a, effect: allow, tools: [x], arguments: {n: {min: '3'}}}", "p.yaml:2:56", "valid number"),
        ("tools:\n  pay: {cost: [{budget: mony}]}\nbudgets: {money: {limit: 3}}", "p.yaml:1:1", "tool 'pay': unknown budget 'mony'; did you mean 'money'?"),
        ("tools:\n  pay: {schema: {type: objekt}}", "p.yaml:2:9", "tool 'pay': this is no JSON Schema"),
        ("tools:\n  pay: {side_effct: read}", "p.yaml:2:9", "did you mean 'side_effect'?"),
        ("tools:\n  a: {}\n  a: {}", "p.yaml:3:3", "the key 'a' stands here twice"),
    ],
)  # fmt: skip
def test_a_fault_says_where_it_is_and_what_to_write(text: str, at: str, says: str) -> None:
    found = error(text)
    assert str(found).startswith(at)
    assert says in str(found)


def test_all_faults_come_at_once() -> None:
    found = error("rules:\n  - {id: a, effect: x, tools: [y]}\n  - {id: b, effect: y, tools: [z]}")
    assert len(found.problems) == 2


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"none\.yaml: the file cannot be read"):
        load_policy(tmp_path / "none.yaml")


def test_the_hash_is_of_the_content() -> None:
    policy = parse_policy(GOOD)
    assert parse_policy(GOOD + "# comment\n").hash == policy.hash
    assert parse_policy(GOOD.replace("allow", "ask")).hash != policy.hash
    assert load_policy(json.loads(json.dumps(yaml.safe_load(GOOD)))).hash == policy.hash


@pytest.mark.parametrize(
    ("name", "description", "expected"),
    [
        ("get_mails", "", "read"),
        ("searchDocs", "", "read"),
        ("is_open", "", "read"),
        ("account_balance", "Returns the balance of the account.", "read"),
        ("delete_file", "", "destructive"),
        ("cancelOrder", "", "destructive"),
        ("remove-member", "", "destructive"),
        ("send_mail", "", "external"),
        ("postMessage", "", "external"),
        ("transfer", "Transfer money.", "external"),
        ("create_event", "Creates an event and emails the guests.", "external"),
        ("create_note", "Create a note.", "write"),
        ("update_settings", "Update the settings.", "write"),
        ("exec_sql", "", "external"),
        ("get_and_delete", "", "destructive"),
        ("list_and_send", "", "external"),
        ("frobnicate", "", "write"),
    ],
)
def test_the_side_effect_is_told_from_name_and_description(
    name: str, description: str, expected: str
) -> None:
    spec = tool_specs({name: {"description": description}})[name]
    assert spec.side_effect is SideEffect(expected)


@pytest.mark.parametrize(
    ("name", "schema", "expected"),
    [
        ("recipient", {}, Kind.ADDRESS),
        ("to", {}, Kind.ADDRESS),
        ("userEmail", {}, Kind.ADDRESS),
        ("target", {"description": "The URL to call."}, Kind.ADDRESS),
        ("x", {"type": "string", "format": "uri"}, Kind.ADDRESS),
        ("new_password", {}, Kind.SECRET),
        ("api_key", {}, Kind.SECRET),
        ("eventId", {"type": "integer"}, Kind.ID),
        ("file_path", {}, Kind.PATH),
        ("amount", {"type": "number"}, Kind.NUMBER),
        ("amount", {"anyOf": [{"type": "number"}, {"type": "null"}]}, Kind.NUMBER),
        ("start_time", {"type": "string"}, Kind.WHEN),
        ("body", {}, Kind.TEXT),
        ("title", {}, Kind.TITLE),
        ("color", {"enum": ["red"]}, Kind.CHOICE),
        ("loud", {"type": "boolean"}, Kind.CHOICE),
        ("city", {}, Kind.NAME),
    ],
)
def test_the_kind_of_an_argument_is_told_from_name_and_schema(
    name: str, schema: Any, expected: Kind
) -> None:
    assert kind_of(name, schema) is expected


# Commands


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.yaml").write_text(GOOD, "utf-8")

    def command(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["gate", *words])
        out = capsys.readouterr()
        return int(ended.value.code or 0), out.out, out.err

    return command


def test_check_finds_nothing_in_a_good_policy(run: Any) -> None:
    assert run("check", "policy.yaml") == (0, "policies: 1, findings: 0\n", "")


def test_check_names_tools_and_arguments_that_do_not_exist(run: Any, tmp_path: Path) -> None:
    text = GOOD.replace("tools: [send_mail]", "tools: [send_mial]")
    (tmp_path / "a.yaml").write_text(text, "utf-8")
    (tmp_path / "b.yaml").write_text(GOOD.replace("      to: {each", "      too: {each"), "utf-8")
    code, out, _ = run("check", "a.yaml", "b.yaml")
    assert code == 1
    assert (
        "a.yaml:9:13: 'tools' does not declare the tool 'send_mial'; did you mean 'send_mail'?"
        in out
    )
    assert "b.yaml:11:7: the tool 'send_mail' has no argument 'too'" in out


def test_check_says_that_an_empty_policy_denies_all(run: Any, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("steguard_gate: 1\n", "utf-8")
    code, out, _ = run("check", "a.yaml", "--json")
    assert code == 1
    (found,) = json.loads(out)["findings"]
    assert (found["file"], found["line"]) == ("a.yaml", 1)
    assert "denies every call" in found["message"]


def test_check_of_a_file_that_is_not_there_is_bad_input(run: Any) -> None:
    code, _, err = run("check", "none.yaml")
    assert code == 2
    assert "there is no file 'none.yaml'" in err


def test_explain_shows_each_condition(run: Any) -> None:
    code, out, _ = run(
        "explain",
        "policy.yaml",
        "send_mail",
        '{"to": ["a@example.com"]}',
        "--request",
        "Mail a@example.com",
    )
    assert code == 0
    assert out.startswith("allow  send_mail: The rule 'mail' allows this.")
    code, out, _ = run("explain", "policy.yaml", "send_mail", '{"to": ["b@example.com"]}', "--json")
    assert code == 1
    record = json.loads(out)
    assert (record["effect"], record["step"], record["pointer"]) == ("deny", "provenance", "/to/0")
    assert next(one["step"] for one in record["checks"] if not one["passed"]) == "provenance"


def test_explain_takes_observations_and_scope_from_files(run: Any, tmp_path: Path) -> None:
    policy = GOOD.replace("from: [user_request]", "from: [tool_observation]").replace(
        "    effect: allow", "    effect: allow\n    scope: {project: p}"
    )
    (tmp_path / "policy.yaml").write_text(policy, "utf-8")
    (tmp_path / "seen.yaml").write_text("- {tool: people, data: [{mail: b@example.com}]}", "utf-8")
    (tmp_path / "call.json").write_text('{"to": ["b@example.com"]}', "utf-8")
    words = ("explain", "policy.yaml", "send_mail", "@call.json", "--observations", "seen.yaml")
    assert run(*words, "--scope", "project=p")[0] == 0
    assert run(*words)[0] == 1
    code, _, err = run(*words, "--scope", "project")
    assert (code, "KEY=VALUE" in err) == (2, True)


def test_cases_pass_or_say_what_is_different(run: Any, tmp_path: Path) -> None:
    (tmp_path / "cases.yaml").write_text(
        """\
policy: policy.yaml
defaults: {request: Mail a@example.com}
cases:
  - {tool: send_mail, arguments: {to: [a@example.com]}, expect: allow, rule: mail}
  - {tool: send_mail, arguments: '{"to": 1, "to": 2}', expect: deny, step: arguments}
  - {tool: send_mail, arguments: {to: [a@example.com]}, request: Nothing., expect: deny}
""",
        "utf-8",
    )
    assert run("test", "cases.yaml") == (0, "3 cases, 0 failed\n", "")
    text = (
        (tmp_path / "cases.yaml")
        .read_text("utf-8")
        .replace("expect: allow", "name: first, expect: ask")
    )
    (tmp_path / "cases.yaml").write_text(text, "utf-8")
    code, out, _ = run("test", "cases.yaml")
    assert code == 1
    assert "cases.yaml:4:70: first: the gate says allow, not ask." in out


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("cases: []", "at least 1 item"),
        ("cases: [{tool: t}]", "the key 'expect' is missing"),
        ("cases: [{tool: t, expect: deny}]", "say which policy"),
        ("cases: [{tool: t, expect: deny, argments: {}}]", "did you mean 'arguments'?"),
    ],
)
def test_a_bad_file_of_cases_is_bad_input(run: Any, tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "cases.yaml").write_text(text, "utf-8")
    code, _, err = run("test", "cases.yaml")
    assert code == 2
    assert says in err


def test_derive_writes_a_policy_that_check_takes(run: Any, tmp_path: Path) -> None:
    tools = [
        {
            "type": "function",
            "function": {
                "name": "send_mail",
                "parameters": {"type": "object", "properties": {"to": {"type": "string"}}},
            },
        }
    ]
    (tmp_path / "tools.json").write_text(json.dumps(tools), "utf-8")
    code, out, _ = run("derive", "Mail the plan to a@example.com.", "--tools", "tools.json")
    assert code == 0
    (tmp_path / "derived.yaml").write_text(out, "utf-8")
    assert run("check", "derived.yaml")[0] == 0
    words = ("explain", "derived.yaml", "send_mail", '{"to": "a@example.com"}', "--request")
    assert run(*words, "Mail the plan to a@example.com.")[0] == 0
    (tmp_path / "tools.json").write_text("[1]", "utf-8")
    code, _, err = run("derive", "x", "--tools", "tools.json")
    assert (code, "a tool has a 'name'" in err) == (2, True)
