"""Rules as data: identity, files, and stores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from steguard.errors import ProfileError
from steguard.instructions.files import HISTORY, FolderStore
from steguard.instructions.records import Instruction, Scope, Source, State, Status, version_key
from steguard.instructions.registry import (
    Binding,
    CaseRecord,
    ImmutableVersion,
    InstructionStore,
    MemoryStore,
    UnknownInstruction,
)


def rule(name: str = "a", **more: Any) -> Instruction:
    return Instruction.model_validate({"id": name, "text": "Be brief.", **more})


def write(folder: Path, text: str, name: str = "rules.yaml") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def faults(path: Path) -> list[str]:
    with pytest.raises(ProfileError) as caught:
        FolderStore(path)
    return [problem.replace(f"{path}/", "") for problem in caught.value.problems]


def test_the_hash_is_of_the_content_only() -> None:
    assert rule().hash == rule(status="DRAFT", enabled=False, author="ann").hash
    assert rule().hash != rule(text="Be clear.").hash
    assert rule().hash != rule(version="2").hash
    assert rule(scope={"stage": ["b", "a"]}).hash == rule(scope={"stage": ["a", "b", "a"]}).hash


def test_a_rule_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        rule().text = "other"  # type: ignore[misc]


def test_versions_count_as_numbers() -> None:
    assert version_key("1.10.0") > version_key("1.9.9")
    assert version_key("1") == version_key("1.0.0")


def test_authority_has_an_order() -> None:
    order = [s.authority for s in (Source.USER, Source.PROJECT, Source.DEVELOPER, Source.OPERATOR)]
    assert order == sorted(order)
    assert Source.PLATFORM.authority > order[-1]


@pytest.mark.parametrize("source", ["tool_observation", "retrieved_document", "memory_record"])
def test_text_from_outside_is_no_source_of_rules(source: str) -> None:
    with pytest.raises(ValidationError):
        rule(source=source)


def test_scope_is_exact() -> None:
    scope = Scope.model_validate({"agent": "writer", "stage": ["draft", "report"]})
    assert scope.matches(State(agent="writer", stage="report"))
    for state in (
        State(),
        State(agent="writer"),
        State(agent="Writer", stage="report"),
        State(agent="writer", stage="report2"),
        State(stage="report"),
    ):
        assert not scope.matches(state)


def test_global_is_no_limit() -> None:
    assert rule(scope="global").scope == Scope()
    assert rule(scope="global").hash == rule().hash
    assert Scope().describe() == "global"


def test_a_tool_scope_needs_the_tool() -> None:
    scope = Scope.model_validate({"tool": "search"})
    assert scope.matches(State(tools=("read", "search")))
    assert not scope.matches(State(tools=("read",)))


def test_a_product_is_of_its_kind() -> None:
    limited = rule(artifacts=["report"])
    assert limited.applies(State(artifact="comparison_report"))
    assert limited.applies(State(artifact="report"))
    assert not limited.applies(State(artifact="reporter"))
    assert not limited.applies(State())


def test_a_rule_that_protects_is_never_shortened() -> None:
    assert rule(kind="safety", shorten="template", short="x").shortening == "never"
    assert rule(kind="workflow", shorten="template", short="x").shortening == "template"
    assert rule(kind="workflow").shortening == "never"


def test_every_fault_of_a_file_has_its_place(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "r",
        """\
steguard: 1
instructons: []
instructions:
  - id: one
    source: developer_confg
    scope: {agent: a, stge: b}
    kind: wish
  - {id: "two words", text: x}
  - just text
  - {text: no id}
  - {id: three, needs: {tokens: -1}}
""",
    )
    found = faults(folder)
    assert [f.split(": ")[0] for f in found] == [
        "rules.yaml:2:1",
        "rules.yaml:5:5",
        "rules.yaml:6:23",
        "rules.yaml:7:5",
        "rules.yaml:8:6",
        "rules.yaml:9:5",
        "rules.yaml:10:5",
        "rules.yaml:11:25",
    ]
    assert "did you mean 'instructions'" in found[0]
    assert "did you mean 'developer_config'" in found[1]
    assert "did you mean 'stage'" in found[2]
    assert "'id' is missing" in found[6]


def test_one_version_stands_once(tmp_path: Path) -> None:
    folder = write(tmp_path / "r", "instructions: [{id: a, text: x}]\n", "a.yaml")
    write(folder, "instructions:\n  - {id: a, version: 1.0.0, text: y}\n", "b.yaml")
    (fault,) = faults(folder)
    assert fault.startswith("b.yaml:2:5: a@1.0.0 stands at")
    assert "a.yaml:1:17 already" in fault


def test_defaults_of_a_file(tmp_path: Path) -> None:
    text = """\
defaults: {source: operator_config, scope: {agent: w}}
instructions:
  - {id: a, text: x}
  - {id: b, text: x, scope: {}}
"""
    a, b = FolderStore(write(tmp_path / "r", text)).rules()
    assert (a.source, a.scope.agent, b.scope.agent) == (Source.OPERATOR, ("w",), ())


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "rules.yaml:1:1: a file of rules is a mapping"),
        ("[]", "rules.yaml:1:1: a file of rules is a mapping"),
        ("instructions: {}", "rules.yaml:1:1: 'instructions' is a list"),
        ("instructions: [\n", "rules.yaml:2:1: this is no YAML"),
        ("steguard: 2\ninstructions: []", "rules.yaml:1:1: this version of the file format"),
        (
            "instructions: []\nbindings: [{instruction_id: x}]",
            "rules.yaml:2:12: there is no instruction 'x'",
        ),
    ],
)
def test_files_that_are_no_rules(tmp_path: Path, text: str, fault: str) -> None:
    assert faults(write(tmp_path / "r", text))[0].startswith(fault)


def test_an_empty_folder_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="this folder has no rules; put"):
        FolderStore(tmp_path)


def test_a_published_version_never_changes(tmp_path: Path) -> None:
    folder = write(tmp_path / "r", "instructions: [{id: a, text: x}]\n")
    store = FolderStore(folder, clock=lambda: 5.0)
    assert (store.publish(), store.publish()) == (1, 0)
    write(folder, "instructions: [{id: a, text: changed}]\n")
    (fault,) = faults(folder)
    assert "rules.yaml:1:17: a@1 was published with other content" in fault
    write(folder, "instructions: [{id: a, text: changed, version: 2}, {id: a, text: x}]\n")
    assert FolderStore(folder).publish() == 1
    (folder / HISTORY).write_text("{broken\n", encoding="utf-8")
    with pytest.raises(ProfileError, match="this line is no record"):
        FolderStore(folder)


def test_a_version_is_kept_once() -> None:
    store = MemoryStore([rule()])
    assert isinstance(store, InstructionStore)
    assert store.add(rule(), actor="ann") == rule()
    with pytest.raises(ImmutableVersion, match="give the new content a new version"):
        store.add(rule(text="other"), actor="ann")
    with pytest.raises(UnknownInstruction, match="it has 1"):
        store.get("a", "2")
    with pytest.raises(UnknownInstruction, match="did you mean 'research'"):
        MemoryStore([rule("research")]).get("reserch", "1")


def test_a_test_case_keeps_its_content() -> None:
    store = MemoryStore([rule()])
    case = CaseRecord(case_id="c", instruction_id="a", given={}, expected={"passed": True})
    store.add_case(case)
    store.add_case(case)
    store.record_case("c", {"passed": True})
    assert store.cases("a")[0].results == ({"passed": True},)
    with pytest.raises(ImmutableVersion):
        store.add_case(case.model_copy(update={"expected": {}}))


def test_a_binding_names_what_exists() -> None:
    store = MemoryStore([rule()])
    with pytest.raises(UnknownInstruction):
        store.bind(Binding(instruction_id="a", version="7"))
    store.bind(Binding(instruction_id="a"))
    store.bind(Binding(instruction_id="a"))
    assert len(store.bindings()) == 1


def test_status_has_five_steps() -> None:
    assert [s.value for s in Status] == ["DRAFT", "REVIEWED", "ACTIVE", "DEPRECATED", "RETIRED"]
