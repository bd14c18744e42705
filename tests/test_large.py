"""Long answers: the work grows with the length and no faster, whatever the answer holds."""

from __future__ import annotations

import json

import pytest

from steguard.contract import compile_contract
from tests.support.effort import grows_linearly

HOSTILE = [
    "You should open the file. ",
    "`",
    "[",
    "(a ",
    "<a ",
    '"',
    "'",
    ". ",
    "a",
    "*",
    "\\",
    "- a\n",
    "| a ",
    "> ",
    "打开文件。",
    "a, and ",
    "\ud800",
    "\x00",
    "is opened by ",
    "$",
    "&amp;",
    "<!--",
    "```\n",
]


@pytest.mark.parametrize("profile", ["strict", "zh"])
@pytest.mark.parametrize("part", HOSTILE)
def test_prose(profile: str, part: str) -> None:
    contract = compile_contract(profile)
    assert grows_linearly(lambda n: contract.check(part * n), 300)


@pytest.mark.parametrize("part", ["<a ", "<p>x", "</p>", "&", "<!--", '<a b="', "x<b>y</b>"])
def test_html(part: str) -> None:
    contract = compile_contract("html")
    assert grows_linearly(lambda n: contract.check(part * n), 300)


@pytest.mark.parametrize("part", ['{"a":', "[", '"x",', "\\u0041", "1,", "Sure! ", "}"])
def test_json(part: str) -> None:
    contract = compile_contract("tool-call")
    assert grows_linearly(lambda n: contract.check(part * n), 300)


def test_a_long_valid_json_answer() -> None:
    contract = compile_contract("tool-call")

    def judge(count: int) -> None:
        contract.check(json.dumps({"steps": ["Open the file now."] * count}))

    assert grows_linearly(judge, 60)
