"""Answers with a form: JSON with schema or model, HTML with a template."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, field_validator

from steguard import STE, ProfileError, check
from steguard.contract import compile_contract
from steguard.errors import UsageError
from steguard.testing import Scripted
from tests.conftest import PROFILE

JSON_PROFILE = {**PROFILE, "output": {"format": "json"}}


class AgentStep(BaseModel):
    action: Literal["read", "write"]
    target: str = Field(pattern="^/")
    reason: Annotated[str, STE("default")]


def step(reason: str = "Read the file.", **more: Any) -> str:
    return json.dumps({"action": "read", "target": "/etc/app", "reason": reason, **more})


def rules(findings: Any) -> list[str]:
    return [f.rule for f in findings]


# --- JSON


def test_a_model_shapes_the_request_and_the_check(harness: Any) -> None:
    h = harness([step("You should read the file."), step()], JSON_PROFILE, schema=AgentStep)
    report = h.create().steguard
    assert report.outcome == "passed_after_retry"
    assert report.data == json.loads(step())
    sent = h.requests[0]["response_format"]["json_schema"]
    assert sent["schema"]["properties"]["reason"]["x-ste"] == "default"
    finding = report.attempts[0].findings[0]
    assert (finding.rule, finding.pointer, finding.excerpt) == ("banned-words", "/reason", "should")


def test_schema_faults_have_a_pointer_and_a_place(harness: Any) -> None:
    bad = '{"action": "jump", "target": "/x",\n "reason": 7, "more": 1}'
    found = check(
        bad, JSON_PROFILE, schema={**AgentStep.model_json_schema(), "additionalProperties": False}
    )
    assert [(f.pointer, f.line, f.rule) for f in found] == [
        ("", 1, "schema-mismatch"),
        ("/action", 1, "schema-mismatch"),
        ("/reason", 2, "schema-mismatch"),
    ]
    by_pointer = {f.pointer: f for f in found}
    assert by_pointer["/action"].excerpt == '"jump"'
    assert '"read", "write"' in by_pointer["/action"].message
    assert by_pointer["/reason"].message == "The value is not of type string."


def test_a_missing_field_is_named() -> None:
    found = check('{"action": "read", "target": "/x"}', JSON_PROFILE, schema=AgentStep)
    assert [f.message for f in found] == ["The field 'reason' is missing."]


def test_positions_in_json_text_count_escapes() -> None:
    text = '{"a": "One\\n\\u0041 \\ud83d\\ude00 \\"x\\" you should go."}'
    (finding,) = check(text, JSON_PROFILE)
    assert text[finding.start : finding.end] == "should"


@pytest.mark.parametrize(
    "wrap", ["```json\n{}\n```", "Here is the step:\n{}\nI hope this helps.", "```\n{}\n```\n"]
)
def test_json_in_a_fence_or_in_prose_is_recovered_and_reported(harness: Any, wrap: str) -> None:
    h = harness([wrap.replace("{}", step())], JSON_PROFILE, schema=AgentStep)
    answer = h.create()
    assert answer.choices[0].message.content == step()
    assert answer.steguard.outcome == "passed"
    assert [(f.rule, f.severity) for f in answer.steguard.findings] == [("json-recovered", "info")]
    assert answer.steguard.attempts[0].recovery


def test_broken_json_is_asked_for_again_unless_repair_is_allowed(harness: Any) -> None:
    broken = "{'action': 'read', 'target': '/etc/app', 'reason': 'Read the file.',}"
    h = harness([broken, step()], JSON_PROFILE, schema=AgentStep)
    report = h.create().steguard
    assert rules(report.attempts[0].findings) == ["invalid-json"]
    assert report.attempts[0].findings[0].column == 2
    repair = {**PROFILE, "output": {"format": "json", "recover": "repair"}}
    h = harness([broken], repair, schema=AgentStep)
    assert h.create().steguard.data == json.loads(step())


def test_recover_off_takes_only_pure_json() -> None:
    strict = {**PROFILE, "output": {"format": "json", "recover": "off"}}
    assert rules(check("```json\n{}\n```", strict)) == ["invalid-json"]


@pytest.mark.parametrize(
    "text", ["", "No JSON here.", "[1, 2", '{"a": 1, "a": 2}', "NaN", "[" * 9999]
)
def test_what_is_no_json_is_one_finding(text: str) -> None:
    assert rules(check(text, JSON_PROFILE)) == ["invalid-json"]


def test_an_endpoint_that_refuses_response_format_is_asked_without_it_and_remembered(
    harness: Any,
) -> None:
    def server(request: dict[str, Any]) -> Any:
        kind = request.get("response_format", {}).get("type")
        if kind:
            message = f"response_format type {kind} is not supported"
            return Scripted(status=400, body={"error": {"message": message}})
        return step()

    h = harness(server, JSON_PROFILE, schema=AgentStep)

    async def twice(guard: Any) -> Any:
        await guard.chat.completions.create(model="m", messages=[])
        return await guard.chat.completions.create(model="m", messages=[])

    if h.mode == "sync":
        h.create()
        report = h.create().steguard
    else:
        report = h.run(twice).steguard
    kinds = [r.get("response_format", {}).get("type") for r in h.requests]
    assert kinds == ["json_schema", "json_object", None, None]
    assert report.outcome == "passed"
    first = h.guard.last_result
    assert first.passed


def test_the_callers_own_response_format_wins(harness: Any) -> None:
    h = harness([step()], JSON_PROFILE, schema=AgentStep)
    h.create(response_format={"type": "json_object"})
    assert h.requests[0]["response_format"] == {"type": "json_object"}


def test_send_none_adds_no_response_format(harness: Any) -> None:
    h = harness(
        [step()], {**PROFILE, "output": {"format": "json", "send": "none"}}, schema=AgentStep
    )
    h.create()
    assert "response_format" not in h.requests[0]


def test_a_validator_of_the_model_counts() -> None:
    class Odd(BaseModel):
        number: int

        @field_validator("number")
        @classmethod
        def odd(cls, value: int) -> int:
            if value % 2 == 0:
                raise ValueError("The number is even.")
            return value

    (finding,) = check('{"number": 2}', JSON_PROFILE, schema=Odd)
    assert (finding.rule, finding.pointer, finding.message) == (
        "model-mismatch",
        "/number",
        "The number is even.",
    )


def test_field_patterns_choose_sections() -> None:
    profile = {
        **PROFILE,
        "sections": {"note": {"rules": {"banned-words": "off"}}},
        "output": {
            "format": "json",
            "fields": {"/steps/*": "default", "/note": "note", "/raw/**": "off"},
        },
    }
    bad = "You should go."
    data = {"steps": [bad], "note": bad, "raw": {"a": {"b": bad}}, "other": bad}
    assert [f.pointer for f in check(json.dumps(data), profile)] == ["/steps/0"]


def test_without_marks_free_text_is_checked_and_pinned_strings_are_not() -> None:
    schema = {
        "type": "object",
        "properties": {
            "kind": {"enum": ["you should go"]},
            "when": {"type": "string", "format": "date"},
            "text": {"type": "string"},
        },
    }
    data = {
        "kind": "you should go",
        "when": "you should go",
        "text": "You should go.",
        "word": "should",
    }
    assert [f.pointer for f in check(json.dumps(data), JSON_PROFILE, schema=schema)] == ["/text"]


def test_strip_in_json_keeps_valid_json(harness: Any) -> None:
    h = harness([step('You should read it. Read the "file".')], JSON_PROFILE, schema=AgentStep)
    answer = h.create()
    assert answer.steguard.outcome == "stripped"
    assert json.loads(answer.choices[0].message.content)["reason"] == 'Read the "file".'
    assert answer.steguard.data["reason"] == 'Read the "file".'


def test_strip_never_empties_a_field(harness: Any) -> None:
    h = harness([step("You should read it.")], JSON_PROFILE, schema=AgentStep)
    assert h.create().steguard.outcome == "rejected"


def test_a_schema_that_is_none_is_refused_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="this is no JSON Schema, at /type"):
        compile_contract(JSON_PROFILE, schema={"type": "strin"})
    file = tmp_path / "s.json"
    file.write_text('{"type": "object",\n "properties": {]}')
    with pytest.raises(ProfileError, match=r"s\.json:2:17: the schema is no JSON"):
        compile_contract(JSON_PROFILE, schema=file)
    with pytest.raises(ProfileError, match="cannot be read"):
        compile_contract(JSON_PROFILE, schema=tmp_path / "none.json")
    with pytest.raises(UsageError, match="not int"):
        compile_contract(JSON_PROFILE, schema=3)  # type: ignore[arg-type]


def test_schema_and_model_that_disagree_are_refused(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(
        '{"type": "object", "properties": {"other": {"type": "string"}}}'
    )
    profile = tmp_path / "p.yaml"
    profile.write_text("extends: base\noutput: {format: json, schema: s.json}\n")
    with pytest.raises(
        ProfileError, match="disagree: only the schema has other; only the model has action"
    ):
        compile_contract(profile, schema=AgentStep)


# --- HTML

TEMPLATE = """<section class="answer">
  <h2><slot name="title"></slot></h2>
  <ol>
    <li sg-repeat="1..3"><slot name="step" inline="code b"></slot></li>
  </ol>
  <p class="note" sg-optional><slot name="note"></slot></p>
</section>
"""
GOOD_HTML = """<section class="answer">
  <h2>Restart of the server</h2>
  <ol>
    <li>Stop the <b>server</b>.</li>
    <li>Start the server with <code>should --be fine</code>.</li>
  </ol>
</section>"""


@pytest.fixture
def html_profile(tmp_path: Path) -> Path:
    (tmp_path / "t.html").write_text(TEMPLATE)
    file = tmp_path / "p.yaml"
    file.write_text(
        "extends: base\nselect: [banned-words, passive-voice]\noutput: {format: html, template: t.html}\n"
    )
    return file


def test_html_that_fills_the_slots_passes(html_profile: Path) -> None:
    assert check(GOOD_HTML, html_profile) == []
    assert check(f"```html\n{GOOD_HTML}\n```", html_profile) == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('class="answer"', 'class="box"', "The attribute class of <section> must be 'answer'."),
        ('class="answer"', "", "The attribute class is missing in <section>."),
        ("<h2>", '<h2 id="x">', "The template does not have the attribute id in <h2>."),
        ("<h2>Restart of the server</h2>", "", "The tag <h2> is missing here."),
        ("<ol>", "<p>Now.</p><ol>", "The template does not have the tag <p> here."),
        ("Restart of the server", "", "The text for 'title' is missing."),
        (
            "</section>",
            "</section>Done.",
            "The template does not have text outside the slots here.",
        ),
        ("<b>server</b>", "<i>server</i>", "The template does not have the tag <i> here."),
        ("</ol>", "<li>a b</li><li>c d</li></ol>", "The template does not have the tag <li> here."),
        ("</li>\n  </ol>", "</ol>", "The tag <li> is not closed."),
        ("</section>", "", "The tag <section> is not closed."),
        ("</h2>", "</h3></h2>", "The tag </h3> closes nothing."),
    ],
)
def test_what_the_template_pins_is_named(
    html_profile: Path, old: str, new: str, message: str
) -> None:
    changed = GOOD_HTML.replace(old, new, 1)
    assert message in [f.message for f in check(changed, html_profile)]


def test_rules_touch_visible_text_only(html_profile: Path) -> None:
    bad = GOOD_HTML.replace("Stop the", "You should stop the")
    (finding,) = check(bad, html_profile)
    assert (finding.rule, finding.pointer) == ("banned-words", "step")
    assert bad[finding.start : finding.end] == "should"
    free = '<div class="should" id="utilize" title="should"><!-- should --><style>should{}</style>Open the file.</div>'
    assert check(free, {**PROFILE, "output": {"format": "html"}}) == []


def test_strip_in_html_keeps_the_template(harness: Any, html_profile: Path) -> None:
    bad = GOOD_HTML.replace("<li>Stop", "<li>You should stop it.</li><li>Stop")
    answer = harness([bad], html_profile).create()
    assert answer.steguard.outcome == "stripped"
    assert check(answer.choices[0].message.content, html_profile) == []
    assert answer.choices[0].message.content.count("<li>") == 2


def test_the_prompt_shows_the_template(html_profile: Path) -> None:
    prompt = compile_contract(html_profile).prompt
    assert '<section class="answer">' in prompt
    assert "[step]" in prompt
    assert "sg-repeat" not in prompt


def test_a_broken_template_is_refused_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "t.html").write_text("<p>\n<slot></slot></b></p>")
    with pytest.raises(ProfileError, match=r"t\.html:2:14: The tag </b> closes nothing") as caught:
        compile_contract({"extends": "base", "output": {"template": str(tmp_path / "t.html")}})
    assert any("a slot has no name" in p for p in caught.value.problems)
    with pytest.raises(ProfileError, match=r"there is no file 'none\.html'"):
        compile_contract({"extends": "base", "output": {"template": "none.html"}})


def test_strip_drops_list_items_and_optional_fields_but_never_required_ones() -> None:
    from steguard.fallback import strip_text

    schema = {
        "type": "object",
        "properties": {
            "steps": {"type": "array", "items": {"type": "string"}},
            "note": {"type": "string"},
            "goal": {"type": "string"},
        },
        "required": ["steps", "goal"],
    }
    contract = compile_contract(JSON_PROFILE, schema=schema)
    bad, good = "You should go there.", "Open the file."
    data = {"steps": [bad, good, bad], "note": bad, "goal": good}
    fallen = strip_text(contract, contract.check(json.dumps(data)))
    assert fallen is not None
    assert fallen.verdict.data == {"steps": [good], "goal": good}
    assert strip_text(contract, contract.check(json.dumps({**data, "goal": bad}))) is None
