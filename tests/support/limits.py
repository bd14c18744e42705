"""Runs one text limit over one text."""

from __future__ import annotations

from typing import Any

from steguard.rules.registry import get_rule
from steguard.ruleset import ActiveRule, RuleSet
from steguard.text.model import Document
from steguard.text.segment import segment
from steguard.types import Hit


def hits(name: str, text: str, /, **options: Any) -> list[Hit]:
    rule = get_rule(name)
    active = ActiveRule(rule, rule.options.model_validate(options))
    sentences = segment(text, format="markdown", language="en")
    run = RuleSet([active]).start()
    found = [hit for sentence in sentences for _, hit in run.sentence(sentence)]
    return found + [hit for _, hit in run.finish(Document(text, "markdown", "en", sentences))]
