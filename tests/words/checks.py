"""Runs one rule over a text, for the tests of this folder."""

from __future__ import annotations

from typing import Any

from steguard.rules.base import Rule
from steguard.rules.phrases import CUSTOM_TYPES
from steguard.rules.registry import get_rule
from steguard.ruleset import ActiveRule, RuleSet
from steguard.text.model import Document
from steguard.text.segment import segment
from steguard.types import Hit, Safety


def hits(rule: Rule, text: str, options: dict[str, Any], language: str = "en") -> list[Hit]:
    run = RuleSet([ActiveRule(rule, rule.options.model_validate(options))]).start(language)
    sentences = segment(text, language=language)
    found = [hit for sentence in sentences for _, hit in run.sentence(sentence)]
    return found + [hit for _, hit in run.finish(Document(text, "markdown", language, sentences))]


def named(name: str, text: str, **options: Any) -> list[Hit]:
    """What a shipped rule finds."""
    return hits(get_rule(name), text, options)


def custom(kind: str, text: str, **options: Any) -> list[Hit]:
    """What a rule of a data type finds."""
    return hits(CUSTOM_TYPES[kind]("my-rule"), text, options)


def excerpts(text: str, found: list[Hit]) -> list[str]:
    return [text[hit.start : hit.end] for hit in found]


def mended(text: str, found: list[Hit], safety: Safety = Safety.UNSAFE) -> str:
    """The text after all edits up to this safety."""
    wanted = (Safety.SAFE,) if safety is Safety.SAFE else (Safety.SAFE, Safety.UNSAFE)
    edits = [e for hit in found if (hit.safety or Safety.UNSAFE) in wanted for e in hit.edits]
    for edit in sorted(edits, key=lambda e: e.start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text
