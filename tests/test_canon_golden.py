"""Every golden file: the same verdict, tree, positions and hints as are written down."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

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
        assert yaml.load(read(path), Loader=yaml.BaseLoader)["msg_id"] == wanted["message"]["msg_id"]
