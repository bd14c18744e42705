"""Answers beyond their form: sources exist, states may follow, and what is said was done."""

from __future__ import annotations

import json
from typing import Any

import pytest

from steguard.gate.executions import Executions
from steguard.gate.gate import Gate
from steguard.gate.model import Context, ToolCall
from steguard.gate.state import MemoryStore as GateMemory
from steguard.instructions.compiler import Compiler
from steguard.instructions.outputs import Facts, InstructionContract
from steguard.instructions.records import Instruction, State
from steguard.instructions.registry import MemoryStore

EVIDENCE = {"d1": "t", "d2": "t", "x1": "other"}


def contract(validator: str, **facts: Any) -> InstructionContract:
    rule = Instruction.model_validate({"id": "r", "text": "x", "validator": validator})
    known = Facts(**{"task_id": "t", "evidence": EVIDENCE, **facts})
    return Compiler(MemoryStore([rule])).compile(State(task_id="t"), "x", facts=known).contract


def found(made: InstructionContract, answer: Any) -> list[tuple[str | None, str]]:
    if isinstance(answer, str):
        verdict = made.check(answer)
    else:
        verdict = as_json_contract(made).check(json.dumps(answer, ensure_ascii=False))
    return [(f.pointer, f.message) for f in verdict.errors if f.code == "INS200"]


def as_json_contract(made: InstructionContract) -> InstructionContract:
    from steguard.contract import compile_contract

    base = compile_contract({"extends": "base", "output": {"format": "json"}})
    return InstructionContract(base.profile, base.form, made.checks, made.facts)


def test_a_source_exists_and_belongs_to_the_task() -> None:
    made = contract("citations_exist")
    assert found(made, {"claims": [{"text": "a", "evidence_ids": ["d1", "d2"]}]}) == []
    answer = {"claims": [{"text": "a", "evidence_ids": ["d1", "d9"]}, {"source_id": "x1"}]}
    assert found(made, answer) == [
        ("/claims/0/evidence_ids/1", "The source 'd9' does not exist."),
        ("/claims/1/source_id", "The source 'x1' belongs to the task 'other'."),
    ]


def test_a_finding_stands_at_its_value() -> None:
    made = as_json_contract(contract("citations_exist"))
    text = '{"note": "d9 é",\n "evidence_ids": ["d1",\n  "d9"]}'
    (finding,) = made.check(text).errors
    assert (finding.line, finding.column, finding.excerpt) == (3, 3, '"d9"')


def test_sources_in_prose() -> None:
    made = contract("citations_exist")
    assert found(made, "A is fast [d1]. B is slow [d2][d1]. See [note].") == []
    assert found(made, "A is fast [d9]. B is [x1].") == [
        (None, "The source 'd9' does not exist."),
        (None, "The source 'x1' belongs to the task 'other'."),
    ]


@pytest.mark.parametrize(
    ("claims", "faults"),
    [
        ([{"text": "a", "evidence_ids": ["d1"]}], []),
        ([{"text": "a", "status": "unverified"}], []),
        ([{"text": "a", "evidence_ids": []}], ["/claims/0"]),
        ([{"text": "a"}, {"text": "b", "evidence_ids": ["d1"]}], ["/claims/0"]),
        (["a plain text"], ["/claims/0"]),
    ],
)
def test_every_fact_has_a_source(claims: list[Any], faults: list[str]) -> None:
    assert [
        pointer for pointer, _ in found(contract("citation_coverage"), {"claims": claims})
    ] == faults


def test_an_answer_without_any_source() -> None:
    made = contract("citation_coverage")
    assert found(made, "A is fast.") == [(None, "The text cites no source.")]
    assert found(made, "A is fast [d1].") == []
    assert found(made, {"title": "T"}) == [(None, "The answer cites no source.")]


STATES = {"draft": ["awaiting_review"], "awaiting_review": ["draft", "sent"]}


@pytest.mark.parametrize(
    ("now", "then", "good"),
    [
        ("draft", "draft", True),
        ("draft", "awaiting_review", True),
        ("draft", "sent", False),
        ("awaiting_review", "sent", True),
        ("awaiting_review", "approved", False),
        ("sent", "draft", False),
    ],
)
def test_a_state_may_follow(now: str, then: str, good: bool) -> None:
    made = contract("state_transition", state=now, transitions=STATES)
    assert (found(made, {"state": then}) == []) is good
    assert (found(made, {"report": {"next_state": then}}) == []) is good


def test_a_state_is_text() -> None:
    made = contract("state_transition", state="draft", transitions=STATES)
    assert found(made, {"state": ["sent"]}) != []
    assert found(made, {"state": None}) != []


@pytest.mark.parametrize(
    "answer",
    [
        "The report was sent to the client.",
        "Sent.",
        "I sent it. Nothing else is open.",
        {"state": "sent"},
        {"delivery": {"status": "Sent to client@example.com"}},
        {"sent": True},
        "报告已发送给客户。",
    ],
)
def test_nothing_was_sent_without_a_record(answer: Any) -> None:
    claims = {"sent": "send_email", "已发送": "send_email"}
    (problem,) = found(contract("executed", claims=claims), answer)
    assert "no execution record" in problem[1]


@pytest.mark.parametrize(
    "answer",
    [
        "The report was not sent.",
        "It will be sent after your approval.",
        "The report waits until it can be sent.",
        "I presented the report.",
        "The sentence is short.",
        "The report hasn't been sent.",
        {"state": "awaiting_review", "note": "Not sent."},
        {"sent": False},
        "报告未已发送。",
    ],
)
def test_what_claims_no_deed(answer: Any) -> None:
    claims = {"sent": "send_email", "已发送": "send_email"}
    assert found(contract("executed", claims=claims), answer) == []


def test_a_record_proves_it() -> None:
    memory = GateMemory()
    policy = {
        "tools": {"send_email": {"side_effect": "external"}},
        "rules": [{"id": "m", "effect": "allow", "tools": ["send_email"]}],
    }
    made = contract("executed", records=Executions(memory))
    assert found(made, "The report was sent.") != []
    call = ToolCall("send_email", {"to": "a@b.example"}, "c1")
    Gate(policy, memory).execute(call, Context(task_id="other"), lambda to: {"to": to})
    assert found(made, "The report was sent.") != []
    Gate(policy, memory).execute(call, Context(task_id="t"), lambda to: {"to": to})
    assert found(made, "The report was sent.") == []


def test_a_run_that_failed_proves_nothing() -> None:
    memory = GateMemory()
    policy = {
        "tools": {"send_email": {"side_effect": "external"}},
        "rules": [{"id": "m", "effect": "allow", "tools": ["send_email"]}],
    }

    def broken(to: str) -> None:
        raise OSError("no network")

    with pytest.raises(OSError, match="no network"):
        Gate(policy, memory).execute(
            ToolCall("send_email", {"to": "a"}, "c"), Context(task_id="t"), broken
        )
    assert found(contract("executed", records=Executions(memory)), "The report was sent.") != []
