"""Whole passages: correct ones give no finding, and a twin with one fault gives that fault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from steguard import check
from steguard.rules.registry import all_rules
from steguard.types import Finding, Status

FOLDER = Path(__file__).parent / "data" / "corpus"
PASSAGES: list[dict[str, Any]] = [
    passage
    for path in sorted(FOLDER.glob("*.yaml"))
    for passage in yaml.safe_load(path.read_text("utf-8"))
]
each = pytest.mark.parametrize("passage", PASSAGES, ids=lambda passage: passage["name"])


def findings(passage: dict[str, Any], text: str) -> list[Finding]:
    return check(text, profile=passage.get("profile", "strict"))


def twin_of(passage: dict[str, Any]) -> str:
    text, twin = passage["text"], passage["twin"]
    assert text.count(twin["old"]) == 1, "the fault must have exactly one place"
    return text.replace(twin["old"], twin["new"])


@each
def test_correct_passage_has_no_finding(passage: dict[str, Any]) -> None:
    assert [(f.rule, f.excerpt, f.message) for f in findings(passage, passage["text"])] == []


@each
def test_twin_has_its_fault_at_its_place(passage: dict[str, Any]) -> None:
    text, twin = twin_of(passage), passage["twin"]
    found = findings(passage, text)
    assert (twin["rule"], twin["finds"]) in [(f.rule, f.excerpt) for f in found]
    for finding in found:
        if finding.pointer is None:
            assert text[finding.start : finding.end] == finding.excerpt


@each
def test_twin_has_no_other_fault_at_another_place(passage: dict[str, Any]) -> None:
    text, twin = twin_of(passage), passage["twin"]
    first = text.index(twin["new"])
    last = first + len(twin["new"])
    for finding in findings(passage, text):
        if finding.rule == twin["rule"]:
            continue
        if finding.pointer is None:
            assert finding.end >= first, finding
            assert finding.start <= last, finding
        else:
            assert finding.excerpt in twin["new"]


def test_names_are_unique() -> None:
    names = [passage["name"] for passage in PASSAGES]
    assert len(names) == len(set(names))


def test_corpus_is_large_and_covers_every_stable_rule() -> None:
    assert len(PASSAGES) >= 70
    covered = {passage["twin"]["rule"] for passage in PASSAGES}
    missing = {
        rule.name
        for rule in all_rules().values()
        if rule.status is Status.STABLE and not rule.code.startswith("LIM")
    } - covered
    assert missing == set()
