"""The golden files of Canon: ``NAME.canon`` is a text, ``NAME.json`` what a parser makes of it.

``python -m tests.support.canon_golden`` writes the JSON of files that have none yet. Read what it
wrote before you commit it: the file is the verdict.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from steguard.canon import (
    message_json,
    parse_condition,
    parse_document,
    parse_message,
    parse_sentence,
    render_condition,
    render_message,
    render_sentence,
)
from steguard.canon.ast import ast_json
from steguard.canon.condition import to_cel

FOLDER = Path(__file__).parent.parent / "data" / "canon"
STAGES = ("document", "condition", "sentence", "message")


def files(*stages: str) -> Iterator[Path]:
    """Every text of these stages, good and bad."""
    for verdict in ("good", "bad"):
        for stage in stages:
            yield from sorted((FOLDER / verdict / stage).glob("*.canon"))


def read(path: Path) -> str:
    """The text as it is: line ends and marks are part of it."""
    return path.read_bytes().decode("utf-8")


def golden(path: Path) -> dict[str, Any]:
    """What the parser of the file's stage makes of its text."""
    stage = path.parent.name
    text = read(path)
    if stage in ("sentence", "condition"):
        text = text.removesuffix("\n")
    made: dict[str, Any]
    if stage == "document":
        document = parse_document(text)
        made = {"data": document.data()} if document.ok else {}
        found = document.findings
    elif stage == "condition":
        condition = parse_condition(text)
        found, made = condition.findings, {}
        if condition.condition is not None:
            made = {
                "ast": ast_json(condition.condition),
                "canon": render_condition(condition.condition),
                "cel": to_cel(condition.condition),
            }
    elif stage == "sentence":
        sentence = parse_sentence(text)
        found, made = sentence.findings, {}
        if sentence.sentence is not None:
            made = {
                "ast": ast_json(sentence.sentence),
                "action": sentence.sentence.action,
                "canon": render_sentence(sentence.sentence),
            }
    else:
        message = parse_message(text)
        found, made = message.findings, {}
        if message.message is not None:
            made = {
                "message": message_json(message.message),
                "canon": render_message(message.message),
            }
    return {**made, "findings": [_finding(one) for one in found]}


def _finding(one: Any) -> dict[str, Any]:
    record = {
        "code": one.code,
        "rule": one.rule,
        "severity": one.severity.value,
        "line": one.line,
        "column": one.column,
        "excerpt": one.excerpt,
        "message": one.message,
        "suggestion": one.suggestion,
    }
    if one.expected:
        record["expected"] = list(one.expected)
    return record


def main() -> None:
    for path in files(*STAGES):
        target = path.with_suffix(".json")
        if not target.exists():
            text = json.dumps(golden(path), ensure_ascii=False, indent=1)
            target.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
