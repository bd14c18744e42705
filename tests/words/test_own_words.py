"""What the rules say themselves obeys the rules: messages and prompt lines are a mirror."""

from __future__ import annotations

import pytest

from steguard.rules.registry import all_rules, get_rule
from steguard.ruleset import ActiveRule, RuleSet
from steguard.text.segment import segment
from tests.support.rule_cases import Case, all_cases
from tests.words.checks import hits

CODES = frozenset(
    [f"SG10{n}" for n in (1, 2, 4, 5, 6, 7, 8, 9)]
    + ["SG110", "STE101", "STE102", "STE111", "STE114", "STE402", "STE403", "STE701", "STE702"]
    + ["STE703", "STE801", "STE802", "STE803", *(f"ZH10{n}" for n in range(1, 6))]
)
JUDGES = RuleSet(
    [
        ActiveRule(get_rule(name), get_rule(name).options())
        for name in (
            "banned-words", "contraction", "latin-abbreviation", "semicolon", "american-spelling",
            "marketing-word", "repeated-word", "decoration", "zh-vague-word", "zh-light-verb",
            "zh-passive",
        )
    ]
)  # fmt: skip


def judged(text: str, language: str) -> list[str]:
    run = JUDGES.start(language)
    return [
        f"{active.rule.name}: {text[hit.start : hit.end]}"
        for sentence in segment(text, language=language)
        for active, hit in run.sentence(sentence)
    ]


@pytest.mark.parametrize(
    "case", [c for c in all_cases() if c.bad and c.code in CODES], ids=lambda case: case.id
)
def test_messages_obey_the_rules(case: Case) -> None:
    language = "zh" if case.code.startswith("ZH") else "en"
    for hit in hits(get_rule(case.code), case.text, case.options, case.language):
        assert judged(hit.message, language) == [], hit.message


@pytest.mark.parametrize(
    "rule", [r for r in all_rules().values() if r.code in CODES], ids=lambda rule: rule.name
)
def test_prompt_lines_obey_the_rules(rule) -> None:  # type: ignore[no-untyped-def]
    line = rule.prompt(rule.options())
    if line is not None:
        language = "zh" if rule.code.startswith("ZH") else "en"
        assert judged(line, language) == [], line
        assert len(segment(line, language=language)) <= 3
        assert all(s.words <= 20 or language == "zh" for s in segment(line, language=language))
