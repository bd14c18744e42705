"""The drafts of the benchmark's scripted model are what they claim to be."""

from __future__ import annotations

import pytest

from benchmarks import oracle
from benchmarks.task_set import DisobedientModel, Kind, in_turn, load_kinds, schema_of
from steguard.contract import Contract, compile_contract
from steguard.rules.registry import all_rules

KINDS = load_kinds()


def contract_of(kind: Kind) -> Contract:
    return compile_contract(kind.profile, schema=schema_of(kind))


def test_there_are_enough_prompts_of_every_kind() -> None:
    assert sum(len(kind.prompts) for kind in KINDS) >= 120
    assert len({prompt for kind in KINDS for prompt in kind.prompts}) == sum(
        len(kind.prompts) for kind in KINDS
    )
    shipped = {"strict", "loose", "tool-call", "description", "html", "judge", "zh"}
    assert {kind.profile_name for kind in KINDS} == shipped
    assert {kind.form for kind in KINDS} == {"text", "json", "html"}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_good_drafts_are_compliant(kind: Kind) -> None:
    contract = contract_of(kind)
    for draft in kind.good:
        verdict = contract.check(draft)
        assert not verdict.errors, (draft, [(f.rule, f.excerpt) for f in verdict.errors])
        assert oracle.faults(verdict.text, kind) == []


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_bad_drafts_break_the_rule_that_they_name(kind: Kind) -> None:
    contract = contract_of(kind)
    for draft in kind.bad:
        found = {f.rule for f in contract.check(draft.text).errors}
        assert draft.rule in found, (draft, found)
    assert len({draft.rule for draft in kind.bad}) >= 3


def test_the_oracle_sees_faults_without_steguard() -> None:
    by_name = {kind.name: kind for kind in KINDS}
    cases = {
        "procedure": ["You should stop.", "The file is opened by the user.", "go " * 21, " "],
        "chat": ["It is probably so.", "word " * 41],
        "agent-step": ["no JSON", '{"action": "fly"}', '{"action": "read", "target": "x"}'],
        "html": ["<p>Stop.", "<p>Stop.</p>", "<b><i>Stop.</b></i>"],
        "chinese": ["可能停止服务。", "停" * 31],
    }
    for name, texts in cases.items():
        for text in texts:
            assert oracle.faults(text, by_name[name]), text


def test_the_oracle_leaves_code_and_names_alone() -> None:
    by_name = {kind.name: kind for kind in KINDS}
    assert oracle.faults('Read the file `should.txt`. Push "Maybe".', by_name["procedure"]) == []


def test_the_model_says_the_same_with_the_same_seed() -> None:
    def said(seed: int) -> list[object]:
        model = DisobedientModel(KINDS, seed=seed)
        tasks = in_turn(KINDS, 30)
        return [model({"messages": [{"role": "user", "content": t.prompt}]}).content for t in tasks]

    assert said(3) == said(3)
    assert said(3) != said(4)


def test_every_rule_that_a_draft_names_exists() -> None:
    from steguard.forms import FAULTS

    known = {rule.name for rule in all_rules().values()} | set(FAULTS)
    assert {draft.rule for kind in KINDS for draft in kind.bad} <= known
