"""Word forms, capitals and articles."""

from __future__ import annotations

import pytest

from steguard.text.inflect import match_case, plural, takes_an, verb_forms


@pytest.mark.parametrize(
    ("base", "forms"),
    [
        ("use", "use uses used used using"),
        ("stop", "stop stops stopped stopped stopping"),
        ("modify", "modify modifies modified modified modifying"),
        ("begin", "begin begins began begun beginning"),
        ("open", "open opens opened opened opening"),
        ("fix", "fix fixes fixed fixed fixing"),
        ("submit", "submit submits submitted submitted submitting"),
        ("have", "have has had had having"),
        ("be", "be is was been being"),
        ("tie", "tie ties tied tied tying"),
        ("see", "see sees saw seen seeing"),
    ],
)
def test_verb_forms(base: str, forms: str) -> None:
    assert " ".join(verb_forms(base).values()) == forms


def test_a_phrase_inflects_its_first_word() -> None:
    assert verb_forms("make sure")["s"] == "makes sure"
    assert verb_forms("carry out")["past"] == "carried out"


@pytest.mark.parametrize(
    ("noun", "many"),
    [("file", "files"), ("box", "boxes"), ("copy", "copies"), ("day", "days"),
     ("analysis", "analyses"), ("shut-off valve", "shut-off valves")],
)  # fmt: skip
def test_plural(noun: str, many: str) -> None:
    assert plural(noun) == many


@pytest.mark.parametrize(
    ("like", "word", "cased"),
    [("Utilize", "use", "Use"), ("UTILIZE", "use", "USE"), ("utilize", "use", "use"),
     ("Prior to", "before", "Before"), ("A", "one", "One"), ("In Order To", "to", "To")],
)  # fmt: skip
def test_match_case(like: str, word: str, cased: str) -> None:
    assert match_case(like, word) == cased


@pytest.mark.parametrize(
    "word", ["apple", "hour", "unimportant", "HTML", "8", "11", "error", "FTP"]
)
def test_words_that_take_an(word: str) -> None:
    assert takes_an(word)


@pytest.mark.parametrize("word", ["user", "unit", "one", "URL", "7", "pump", "European", ""])
def test_words_that_take_a(word: str) -> None:
    assert not takes_an(word)
