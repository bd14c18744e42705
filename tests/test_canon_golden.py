"""Every golden file: the same verdict, tree, positions and hints as are written down."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from lark.exceptions import LarkError
from lark.indenter import DedentError

from benchmarks import canon_lark
from steguard.canon import parse_condition, parse_document, parse_sentence
from tests.support.canon_golden import FOLDER, STAGES, files, golden, read

ALL = list(files(*STAGES))


def named(path: Path) -> str:
    return str(path.relative_to(FOLDER).with_suffix(""))


@pytest.mark.parametrize("path", ALL, ids=named)
def test_a_golden_file_is_read_as_it_says(path: Path) -> None:
    wanted = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert golden(path) == wanted
    errors = [one for one in wanted["findings"] if one["severity"] == "error"]
    assert bool(errors) is (path.parent.parent.name == "bad")


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_has_right_and_wrong_texts(stage: str) -> None:
    kinds = {path.parent.parent.name for path in ALL if path.parent.name == stage}
    assert kinds == {"good", "bad"}
    assert len(ALL) >= 150


@pytest.mark.parametrize(
    "path",
    [p for p in files("document", "message") if p.parent.parent.name == "good"],
    ids=named,
)
def test_a_plain_yaml_reader_reads_the_good_documents_alike(path: Path) -> None:
    wanted = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    if "data" in wanted:
        assert yaml.load(read(path), Loader=yaml.BaseLoader) == wanted["data"]
    else:
        assert (
            yaml.load(read(path), Loader=yaml.BaseLoader)["msg_id"] == wanted["message"]["msg_id"]
        )


BEYOND = {
    "CAN106": "a doubled key",
    "CAN119": "a comment without a blank",
    "CAN122": "the depth of a document",
    "CAN123": "letters of two alphabets",
    "CAN124": "the length of a plain value",
    "CAN305": "letters of two alphabets",
    "CAN307": "a doubled parameter",
    "CAN320": "a vague word",
    "CAN331": "the type of a name",
    "CAN332": "the depth of parentheses",
    "CAN333": "a day that does not exist",
    "CAN334": "double negation",
}
"""What the grammar cannot say: it may accept a text whose faults are all of these."""


@pytest.mark.parametrize(
    "path", list(files("document", "condition", "sentence", "message")), ids=named
)
def test_the_lark_grammar_and_the_hand_parser_agree(path: Path) -> None:
    stage = path.parent.name
    text = read(path)
    if stage in ("sentence", "condition"):
        text = text.removesuffix("\n")
    reader = {"sentence": canon_lark.sentence, "condition": canon_lark.condition}
    hand = {"sentence": parse_sentence, "condition": parse_condition}
    wanted = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    codes = {one["code"] for one in wanted["findings"] if one["severity"] == "error"}
    try:
        made = reader.get(stage, canon_lark.document)(
            text.strip(" ") if stage == "sentence" else text
        )
    except (LarkError, ValueError, DedentError, RecursionError):
        assert codes, "the grammar refuses a right text"
        return
    if stage in hand:
        assert codes <= set(BEYOND)
        if not codes:
            assert made == getattr(hand[stage](text), stage)
    else:
        document_codes = {code for code in codes if code < "CAN2"}
        assert document_codes <= set(BEYOND)
        if not document_codes:
            assert made == parse_document(text).data()
