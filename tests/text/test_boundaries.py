"""Where sentences end, by kinds; ``|`` stands where a sentence ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from steguard.text.segment import segment

DATA = Path(__file__).parent / "data"
KINDS = Path(__file__).parents[2] / "benchmarks" / "data" / "segment"


def ends(text: str, mark: str) -> tuple[str, list[int]]:
    """The text without its marks, and the offsets of the sentence ends."""
    plain, found = "", []
    for part in text.replace("\\n", "\n").split(mark):
        plain += part
        if part.strip(" |\n"):
            found.append(len(plain) - len(part) + len(part.rstrip(" \n")))
    return plain, found


def rows(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith(("# ", "## "))]


@pytest.mark.parametrize("row", rows(DATA / "boundaries.txt"))
@pytest.mark.parametrize("format", ["plain", "markdown", "html"])
def test_sentences_end_where_the_table_says(row: str, format: str) -> None:
    text, wanted = ends(row, "|")
    assert [s.end for s in segment(text, format=format)] == wanted


@pytest.mark.parametrize("row", rows(KINDS / "kinds.txt"))
def test_every_kind_of_boundary_is_right(row: str) -> None:
    text, wanted = ends(row, "‖")
    assert [s.end for s in segment(text)] == wanted


def technical() -> list[str]:
    lines = (KINDS / "technical.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines[3:] if line and not line.startswith("## ")]


@pytest.mark.parametrize("row", technical())
def test_technical_text_is_right(row: str) -> None:
    text, wanted = ends(row, "‖")
    assert [s.end for s in segment(text)] == wanted


def test_a_step_number_is_no_word() -> None:
    found = segment("Step 1. Open the valve. Step 2: Close it.", format="plain")
    assert [(s.text, s.words) for s in found] == [("Open the valve.", 3), ("Close it.", 2)]


def test_ended_says_whether_a_stop_closes_the_sentence() -> None:
    found = segment("# Title\n\nOpen it. Is it on? Wait...\n- item\n- mail a@b.co\n")
    assert [s.ended for s in found] == [False, True, True, True, False, False]
