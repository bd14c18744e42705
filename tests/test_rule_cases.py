"""Each rule's own good and bad examples, and that no rule lacks them."""

from __future__ import annotations

import pytest

from steguard.rules.registry import all_rules, get_rule
from steguard.ruleset import ActiveRule, RuleSet
from steguard.text.model import Document
from steguard.text.segment import segment
from steguard.types import Hit, Safety
from tests.support.rule_cases import DATA, Case, all_cases

CASES = all_cases()


def hits(case: Case, text: str) -> list[Hit]:
    rule = get_rule(case.code)
    sentences = segment(text, format=case.format, language=case.language)
    options = rule.options.model_validate(case.options)
    run = RuleSet([ActiveRule(rule, options)]).start(case.language)
    found = [hit for sentence in sentences for _, hit in run.sentence(sentence)]
    document = Document(text, case.format, case.language, sentences)
    return found + [hit for _, hit in run.finish(document)]


def apply(text: str, found: list[Hit], wanted: Safety, default: Safety) -> str:
    edits = [e for hit in found if (hit.safety or default) is wanted for e in hit.edits]
    for edit in sorted(edits, key=lambda e: e.start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_rule_finds_what_its_examples_say(case: Case) -> None:
    found = hits(case, case.text)
    assert [case.text[hit.start : hit.end] for hit in found] == case.finds
    rule = get_rule(case.code)
    if case.fixed is not None:
        fixed = apply(case.text, found, Safety.SAFE, rule.fix)
        assert fixed == case.fixed
        assert not [
            h for h in hits(case, fixed) if (h.safety or rule.fix) is Safety.SAFE and h.edits
        ]
    if case.unsafe is not None:
        assert apply(case.text, found, Safety.UNSAFE, rule.fix) == case.unsafe


@pytest.mark.parametrize("rule", all_rules().values(), ids=lambda rule: rule.name)
def test_rule_has_good_and_bad_examples(rule) -> None:  # type: ignore[no-untyped-def]
    cases = [case for case in CASES if case.code == rule.code]
    assert [c for c in cases if c.bad and c.finds], f"{DATA / rule.code}.md has no bad example"
    assert [c for c in cases if not c.bad], f"{DATA / rule.code}.md has no good example"
    if rule.fix is Safety.SAFE:
        assert [c for c in cases if c.fixed is not None], f"{rule.code}: no fixed text"


@pytest.mark.parametrize("rule", all_rules().values(), ids=lambda rule: rule.name)
def test_rule_is_documented_in_five_parts(rule) -> None:  # type: ignore[no-untyped-def]
    for part in ("Finds:", "Why:", "Example:", "Instead:", "Fix:", "Source:"):
        assert f"\n{part}" in rule.doc, f"{rule.module} lacks '{part}'"
