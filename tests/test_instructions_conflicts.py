"""Contradictions between rules: a table of sets, and a law against enumeration."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

import pytest
import yaml

from steguard.instructions.records import Instruction
from steguard.instructions.survey import find_conflicts

TABLE = yaml.safe_load((Path(__file__).parent / "data/instructions/conflicts.yaml").read_text())
CASES = [
    pytest.param(case, id=f"{group}: {case['name']}")
    for group, cases in TABLE.items()
    for case in cases
]


def rules_of(case: dict[str, Any]) -> list[Instruction]:
    return [
        Instruction.model_validate({"id": string.ascii_lowercase[index], **raw})
        for index, raw in enumerate(case["rules"])
    ]


def test_the_table_is_large() -> None:
    assert len(CASES) >= 100


@pytest.mark.parametrize("case", CASES)
def test_table(case: dict[str, Any]) -> None:
    rules = rules_of(case)
    found = find_conflicts(rules)
    if case["conflict"] == "none":
        assert found == []
        return
    wanted = [c for c in found if c.kind.value == case["conflict"]]
    assert wanted, [c.describe() for c in found]
    involved = set(case.get("involved") or (rule.instruction_id for rule in rules))
    listed = {rule.instruction_id for c in wanted for rule in c.rules}
    assert listed == involved
    assert all(c.settled == case.get("settled", False) for c in wanted)
    if case.get("settled"):
        assert len(found) == len(wanted)
