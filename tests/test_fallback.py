"""What ``strip`` leaves: whole lists, no lead-in to nothing, tables with all their cells."""

from __future__ import annotations

import pytest

from steguard.contract import compile_contract
from steguard.fallback import strip_text
from tests.conftest import PROFILE

CONTRACT = compile_contract(PROFILE)
BAD = "You should go."


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"Open it. {BAD} Close it.", "Open it. Close it."),
        (f"Open it.\n\n{BAD}\n\nClose it.", "Open it.\n\nClose it."),
        (f"1. Open it.\n2. {BAD}\n3. Close it.", "1. Open it.\n2. Close it."),
        (f"Stop.\n\nDo this:\n\n- {BAD}\n- {BAD}\n\nClose it.", "Stop.\n\nClose it."),
        (f"Stop.\n\nHere is the answer:\n\n{BAD}\n\nClose it.", "Stop.\n\nClose it."),
        (f"| a | b |\n|---|---|\n| Open it. | {BAD} |", "| a | b |\n|---|---|\n| Open it. |  |"),
        (f"> {BAD}\n\nClose it.", "Close it."),
        (f"Open it.\n\n```\n{BAD}\n```\n\n{BAD}", f"Open it.\n\n```\n{BAD}\n```"),
    ],
)
def test_strip_leaves_a_whole_text(text: str, left: str) -> None:
    fallen = strip_text(CONTRACT, CONTRACT.check(text))
    assert fallen is not None
    assert fallen.verdict.text == left


@pytest.mark.parametrize("text", [BAD, f"- {BAD}\n- {BAD}", f"Do this:\n\n1. {BAD}"])
def test_strip_gives_up_where_nothing_is_left(text: str) -> None:
    assert strip_text(CONTRACT, CONTRACT.check(text)) is None
