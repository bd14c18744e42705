"""Laws of repairs: they converge, add no finding, and leave code, numbers, names and "not" alone."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steguard import fix
from steguard.contract import Contract, compile_contract
from steguard.text.model import Kind
from steguard.text.segment import segment

STRICT = compile_contract("strict")
UNITS = st.sampled_from(
    [
        "Utilize the `utilize_it` tool prior to 5.5 mm.",
        "Don't open the valve in order to drain 3 tanks.",
        "It isn't necessary; close the door.",
        "The crew can't initiate the test; it won't start.",
        "Stop the pump if the pressure is more than 7 bar.",
        "The the colour is grey, i.e. not red.",
        "Open the valve and close the door.",
        "You should probably commence the procedure.",
        "Terminate /usr/bin/commence --utilize now.",
        "Ask D. Novak not to utilise https://example.org/utilize.",
        "We've not got a number of parts, e.g. O-rings.",
        "In the event of fire, do not utilize the lift.",
        "- Facilitate the check\n- Don't utilize it\n",
        "\n\n```sh\nutilize prior to 5\n```\n\n",
        "| utilize | 5 |\n|---|---|\n| don't | 6 |\n",
        "“Don't commence,” she said; he did not.",
        "IT'S NOT POSSIBLE TO UTILIZE IT PRIOR TO THE TEST.",
        "Nobody should never say no.",
    ]
)
TEXTS = st.lists(UNITS, max_size=6).map(" ".join) | st.text(
    alphabet="aeiou trslnd.,;'`|-\n15DT", max_size=80
)


def counts(contract: Contract, text: str) -> Counter[str]:
    return Counter(f.rule for f in contract.check(text).findings)


def kinds(text: str, kind: Kind) -> list[str]:
    return [t.text for s in segment(text) for t in s.tokens if t.kind is kind]


def negations(text: str) -> int:
    return len(
        re.findall(r"\bnot\b|n['’]t\b|\bcannot\b|\bno\b|\bnever\b|\bnobody\b", text, re.IGNORECASE)
    )


@given(TEXTS)
@settings(max_examples=100)
def test_repairs_converge_and_add_no_finding(text: str) -> None:
    fixed = fix(text, STRICT)
    assert fix(fixed.text, STRICT).text == fixed.text
    before, after = counts(STRICT, text), counts(STRICT, fixed.text)
    assert not after - before
    if fixed.text != text:
        assert after.total() < before.total()
        assert fixed.applied > 0


@given(TEXTS)
@settings(max_examples=100)
def test_repairs_keep_code_numbers_and_negations(text: str) -> None:
    fixed = fix(text, STRICT).text
    assert Counter(kinds(fixed, Kind.CODE)) == Counter(kinds(text, Kind.CODE))
    assert Counter(kinds(fixed, Kind.NUMBER)) == Counter(kinds(text, Kind.NUMBER))
    assert negations(fixed) == negations(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Utilize the tool.", "Use the tool."),
        ("UTILIZE the tool.", "USE the tool."),
        ("The crew utilizes it.", "The crew uses it."),
        ("Don't open it.", "Do not open it."),
        ("Close the the door.", "Close the door."),
        ("Open the valve. It's the left one.", "Open the valve. It is the left one."),
        ("The pump's cover is red.", "The pump's cover is red."),
        ("Use `utilize` here.", "Use `utilize` here."),
    ],
)
def test_repairs_of_each_kind(text: str, expected: str) -> None:
    assert fix(text, STRICT).text == expected


def test_unsafe_repairs_are_made_on_request_only() -> None:
    text = "You should open the file."
    assert fix(text, STRICT).text == text
    assert fix(text, STRICT, unsafe=True).text == "You must open the file."


def test_json_fields_are_repaired_and_the_rest_is_kept() -> None:
    text = '{ "a": "Utilize the \\"x\\" tool.",\n  "b": [1, "utilize"] }'
    fixed = fix(text, {"extends": "strict", "output": {"format": "json"}})
    assert fixed.text == '{ "a": "Use the \\"x\\" tool.",\n  "b": [1, "utilize"] }'
