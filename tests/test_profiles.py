"""Profiles: the shipped ones, inheritance, and errors that say where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import steguard
from steguard import ProfileError, check, load_profile, resources
from steguard.contract import Contract, compile_contract
from steguard.forms import TextForm
from steguard.profile import profile_names, profile_schema
from steguard.prompt import prompt_names

SHIPPED = ["base", "description", "html", "judge", "loose", "strict", "tool-call", "zh"]


def test_the_shipped_profiles_are_these() -> None:
    assert profile_names() == SHIPPED


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_prompt_passes_the_profile_that_it_announces(name: str) -> None:
    contract = compile_contract(name)
    prose = Contract(contract.profile, TextForm("markdown"))
    assert contract.prompt
    assert [f.to_dict() for f in prose.check(contract.prompt).findings] == []


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("form", ["json", "html"])
def test_prompts_for_other_forms_pass_too(name: str, form: str, tmp_path: Path) -> None:
    if name == "judge" and form == "html":
        pytest.skip("the judge answers in JSON")
    (tmp_path / "t.html").write_text("<ul><li sg-repeat='1..'><slot name='step'></slot></li></ul>")
    output: dict[str, Any] = {"format": form}
    if form == "html":
        output["template"] = str(tmp_path / "t.html")
    contract = compile_contract({"extends": name, "output": output})
    prose = Contract(contract.profile, TextForm("markdown"))
    assert [f.to_dict() for f in prose.check(contract.prompt).findings] == []


def test_the_prompt_names_ten_rules_and_twenty_words_at_the_most() -> None:
    contract = compile_contract("strict")
    assert 8 <= len(contract.named_rules) <= 10
    assert contract.prompt.count("\n- `") == 20
    assert len(contract.profile.active) > 20


def test_the_examples_in_prompts_obey_the_profile() -> None:
    judge = compile_contract("judge")
    assert '"verdict": "fail"' in judge.prompt
    assert "Example" in compile_contract("strict").prompt


def test_word_limits_of_the_shipped_profiles() -> None:
    sentence = "Open " + "the file and " * 20 + "go."
    words = {"strict": 20, "tool-call": 15, "description": 25, "loose": 40}
    for name, limit in words.items():
        found = load_profile(name).active["sentence-length"].options
        assert found.max == limit, name  # type: ignore[attr-defined]
    contract = Contract(load_profile("strict"), TextForm())
    assert "sentence-length" in [f.rule for f in contract.check(sentence).findings]


def test_the_judge_profile_takes_a_verdict_and_nothing_else() -> None:
    good = '{"verdict": "fail", "violations": ["factual_error"], "evidence": "The answer states X. The source says Y."}'
    assert check(good, "judge") == []
    vague = '{"verdict": "pass", "violations": [], "evidence": "The answer is probably of high quality."}'
    assert [f.rule for f in check(vague, "judge")] == ["banned-words"]
    assert check(
        '{"verdict": "pass", "violations": ["x"], "evidence": "The answer is right."}', "judge"
    )
    assert check("The quality is high.", "judge")


def test_public_names_are_pinned() -> None:
    assert sorted(steguard.__all__) == [
        "AsyncGuard", "Contract", "Finding", "Fix", "Guard", "GuardError", "GuardResult",
        "OutputRejected", "Profile", "ProfileError", "STE", "Span", "__version__", "check", "fix",
        "guarded", "load_profile",
    ]  # fmt: skip
    for name in steguard.__all__:
        assert getattr(steguard, name) is not None


# --- inheritance


def test_a_child_changes_one_option_and_keeps_the_rest(tmp_path: Path) -> None:
    parent = tmp_path / "parent.yaml"
    parent.write_text(
        "extends: base\nrules:\n  sentence-length: {max: 9, severity: warning}\n  passive-voice: error\n"
    )
    child = tmp_path / "child.yaml"
    child.write_text(
        "extends: parent.yaml\nname: child\nrules: {sentence-length: {max: 7}, passive-voice: off}\n"
    )
    profile = load_profile(child)
    active = profile.active["sentence-length"]
    assert (active.options.max, active.severity) == (7, "warning")  # type: ignore[attr-defined]
    assert "passive-voice" not in profile.active
    assert "missing-text" in profile.active


def test_severity_words_and_switches() -> None:
    profile = load_profile(
        {"select": ["passive-voice"], "rules": {"passive-voice": "warning", "banned-words": True}}
    )
    assert profile.active["passive-voice"].severity == "warning"
    assert profile.active["banned-words"].severity == "error"


def test_sections_start_from_the_profiles_rules() -> None:
    profile = load_profile(
        {
            "select": ["passive-voice", "banned-words"],
            "sections": {"note": {"rules": {"passive-voice": False}}},
        }
    )
    assert [a.rule.name for a in profile.sections["note"].active] == ["banned-words"]


# --- errors


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rulez: {}", "1:1: unknown key 'rulez'; did you mean 'rules'?"),
        (
            "retry:\n  max_atempts: 3",
            "2:3: unknown key 'max_atempts'; did you mean 'max_attempts'?",
        ),
        (
            "retry: {max_attempts: many}",
            "1:9: 'retry.max_attempts': Input should be a valid integer",
        ),
        (
            "retry: {max_attempts: 0}",
            "1:9: 'retry.max_attempts': Input should be greater than or equal to 1",
        ),
        (
            "rules:\n  pasive-voice: error",
            "2:3: there is no rule 'pasive-voice'; did you mean 'passive-voice'?",
        ),
        ("rules:\n  passive-voice: eror", "2:3: unknown severity 'eror'; did you mean 'error'?"),
        ("rules: {sentence-length: {maks: 3}}", "1:27: unknown key 'maks'; did you mean 'max'?"),
        (
            "rules: {sentence-length: {max: -3}}",
            "1:27: 'rules.sentence-length.max': Input should be",
        ),
        ("rules: {word-count: {min: 9, max: 3}}", "1:9: 'rules.word-count'"),
        ("select: [STE3, nothing]", "1:16: there is no rule 'nothing'"),
        ("extends: strickt", "1:1: there is no profile 'strickt'; did you mean 'strict'?"),
        ("fallback: stripp", "1:1: 'fallback': Input should be 'strip'"),
        ("language: fr", "1:1: 'language': Input should be 'en' or 'zh'"),
        ("a: [", "1:5: this is no YAML"),
        ("name: x\nname: y", "2:1: the key 'name' stands here twice"),
        ("- a", "1:1: a profile is a mapping of keys to values"),
        ("output: {fields: {/a: nowhere}}", "1:19: unknown section 'nowhere'; valid: default, off"),
        ("a: &x [*x]", "1:4: an alias contains itself"),
    ],
)
def test_errors_say_file_line_column_and_the_nearest_name(
    tmp_path: Path, text: str, expected: str
) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(text)
    with pytest.raises(ProfileError) as caught:
        load_profile(file)
    assert str(caught.value).startswith(f"{file}:"), str(caught.value)
    assert expected in str(caught.value).splitlines()[0]


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text("rulez: 1\nretry: {max_attempts: x}\nfallback: 3\n")
    with pytest.raises(ProfileError) as caught:
        load_profile(file)
    assert len(caught.value.problems) == 3


def test_a_file_that_explodes_by_aliases_is_refused(tmp_path: Path) -> None:
    levels = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12))
    file = tmp_path / "bomb.yaml"
    file.write_text(f"a0: &a0 [x]\n{levels}\n")
    with pytest.raises(ProfileError, match="too many values"):
        load_profile(file)


def test_a_fault_in_a_parent_names_the_parents_file(tmp_path: Path) -> None:
    (tmp_path / "parent.yaml").write_text("name: p\nfallback: nothing\n")
    child = tmp_path / "child.yaml"
    child.write_text("extends: parent.yaml\n")
    with pytest.raises(ProfileError, match=r"parent\.yaml:2:1"):
        load_profile(child)


def test_a_circle_of_extends_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("extends: b.yaml\n")
    (tmp_path / "b.yaml").write_text("extends: a.yaml\n")
    with pytest.raises(ProfileError, match="goes in a circle: a -> b -> a"):
        load_profile(tmp_path / "a.yaml")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="there is no profile file"):
        load_profile(tmp_path / "none.yaml")
    bad = tmp_path / "bad.yaml"
    bad.write_bytes(b"name: \xff\n")
    with pytest.raises(ProfileError, match="cannot be read"):
        load_profile(bad)


def test_a_prompt_template_that_does_not_exist_or_breaks(tmp_path: Path) -> None:
    with pytest.raises(
        ProfileError, match="no prompt template 'ste-sistem'; did you mean 'ste-system'"
    ):
        compile_contract({"prompt": {"template": "ste-sistem"}}).prompt  # noqa: B018
    template = tmp_path / "t.j2"
    template.write_text("{{ nothing_like_this }}")
    with pytest.raises(ProfileError, match="cannot be rendered"):
        compile_contract({"prompt": {"template": str(template)}}).prompt  # noqa: B018
    template.write_text("{{ ''.__class__.__mro__ }}")
    with pytest.raises(ProfileError):
        compile_contract({"prompt": {"template": str(template)}}).prompt  # noqa: B018


def test_prompt_templates_are_found() -> None:
    assert prompt_names() == ["judge-system", "ste-system", "zh-system"]


def test_a_vocabulary_is_found_beside_the_profile_and_its_faults_are_told(tmp_path: Path) -> None:
    words = tmp_path / "words.jsonl"
    words.write_text(
        '{"word": "start", "pos": "verb", "approved": true}\n'
        '{"word": "commence", "pos": "verb", "approved": false, "use_instead": ["start"]}\n'
    )
    profile = tmp_path / "p.yaml"
    profile.write_text("rules:\n  unapproved-word: {vocabulary: words.jsonl, unknown: false}\n")
    assert [f.rule for f in check("Commence the test.", profile)] == ["unapproved-word"]
    words.write_text('{"word": "start"}\n')
    with pytest.raises(ProfileError, match=r"words\.jsonl:1"):
        load_profile(profile)
    words.unlink()
    with pytest.raises(ProfileError, match=r"p\.yaml:2:21: there is no file 'words\.jsonl'"):
        load_profile(profile)


# --- the schema for editors


@pytest.mark.parametrize("name", SHIPPED)
def test_the_generated_schema_takes_the_shipped_profiles(name: str) -> None:
    schema = profile_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    data = yaml.safe_load((resources.folder("profiles") / f"{name}.yaml").read_text())
    jsonschema.validate(data, schema)


@pytest.mark.parametrize(
    "bad",
    [
        {"rulez": {}},
        {"rules": {"passive-voice": "eror"}},
        {"rules": {"sentence-length": {"maks": 3}}},
    ],
)
def test_the_generated_schema_refuses_faults(bad: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(bad, profile_schema())
