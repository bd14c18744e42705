"""The benchmark of pass rates runs and keeps its promises."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]
OUTCOMES = {"passed", "passed_after_retry", "stripped", "fixed", "rejected", "not_checked", "error"}


def run(script: str, *arguments: str) -> str:
    command = [sys.executable, str(REPOSITORY / "benchmarks" / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def figures() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("pass_rate.py", "--calls", "60", "--json"))
    return found


def test_no_faulty_text_passes(figures: dict[str, Any]) -> None:
    assert figures["noncompliant_passed"] == 0, figures["noncompliant"]


def test_every_call_ends_in_a_named_outcome(figures: dict[str, Any]) -> None:
    assert set(figures["outcomes"]) == OUTCOMES
    assert sum(figures["outcomes"].values()) == figures["n"] == 60
    assert figures["outcomes"]["error"] == 0


def test_the_rates_are_cumulative_and_by_part(figures: dict[str, Any]) -> None:
    parts = [figures, *(p for g in ("profiles", "kinds", "forms") for p in figures[g].values())]
    for part in parts:
        assert 0 <= part["passed_1"] <= part["passed_2"] <= part["passed_3"] <= 1
        assert part["passed_3"] + part["fallback"] <= 1.0001
        assert part["passed_3"] <= part["compliant"]
        assert part["tokens"] > 0
    assert 0.4 < figures["passed_1"] < 0.8
    for group in ("profiles", "kinds", "forms"):
        assert sum(part["calls"] for part in figures[group].values()) == figures["n"]


def test_the_object_has_its_fixed_keys(figures: dict[str, Any]) -> None:
    assert {"machine", "versions", "n", "model", "prompts", "reference", "rules"} <= set(figures)
    assert figures["prompts"] is None
    assert sum(rule["first_drafts"] for rule in figures["rules"].values()) > 0


def test_the_table_says_what_was_skipped_and_where_figures_come_from() -> None:
    shown = run("pass_rate.py", "--calls", "6", "--profile", "strict", "zh")
    assert "Prompt comparison: skipped" in shown
    assert "Published in an article" in shown
    assert "tool-call" not in shown.split("findings of")[0]


def test_the_overhead_is_measured_where_the_peers_are_missing() -> None:
    found = json.loads(run("overhead.py", "--calls", "4", "--imports", "1", "--json"))
    assert found["n"] == 4
    assert found["steguard_ms"] > 0
    assert found["raw_ms"] > 0
    assert 0 < found["import_ms"] < found["first_check_ms"]
    for peer in ("instructor", "guardrails"):
        assert (found[f"{peer}_ms"] is None) == (peer in found["skipped"])
