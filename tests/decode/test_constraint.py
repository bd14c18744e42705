"""What a constrained model can write, and that it passes the checks."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from steguard.contract import compile_contract
from steguard.decode import compile_constraint
from steguard.errors import ProfileError, UsageError

CONTRACT = compile_contract("strict")
CONSTRAINT = compile_constraint(CONTRACT)
CORPUS = Path(__file__).parent.parent / "data" / "corpus"

ACCEPTED = [
    "The pump moves the water.",
    "If the valve is closed, open the pump.",
    "When the pressure is high, close the valve.",
    "Make sure that the valve is closed.",
    "The test stops when the file is empty.",
    "A compiler reads the code, and it writes a program.",
    "1. Open the cover.\n2. Remove the filter.\n3. Close the cover.",
    "The server has 4 disks. Each disk holds 12.5 percent of the data.",
    "The pump is short.\n\nThe valve is not open.",
]
REFUSED = {
    "The valve is opened.": "passive-voice",
    "The valve is not yet opened.": "passive-voice",
    "The operator has closed the valve.": "perfect-tense",
    "The operator is closing the valve.": "progressive-tense",
    "Utilize the tool.": "banned-words",
    "You should open the valve.": "banned-words",
    "You have to open the valve.": "banned-words",
    "Open the valve; close the pump.": "semicolon",
    "The pump doesn't move.": "contraction",
    "Open the valve and close the pump.": "one-instruction",
    "Open the valve if the pressure is high.": "condition-first",
    "This stops the pump.": "dangling-pronoun",
    "Stop the pump before opening the valve.": "ing-form",
    "Carry out the test now.": "phrasal-verb",
    "Use a tool, e.g. a wrench.": "latin-abbreviation",
    "The colour of the lamp is red.": "american-spelling",
    "Sure, open the valve.": "filler-opening",
    "The pump " + "and the valve " * 8 + "stop.": "sentence-length",
}


@pytest.mark.parametrize("text", ACCEPTED)
def test_plain_english_is_accepted_and_passes(text: str) -> None:
    assert CONTRACT.check(text).passed
    assert CONSTRAINT.accepts(text), text[CONSTRAINT.grammar.reach(text) :]


@pytest.mark.parametrize(("text", "rule"), REFUSED.items(), ids=str)
def test_what_a_rule_forbids_cannot_be_written(text: str, rule: str) -> None:
    assert rule in {finding.rule for finding in CONTRACT.check(text).findings}
    assert rule in CONSTRAINT.enforced
    assert not CONSTRAINT.accepts(text)


@pytest.mark.parametrize(
    "text",
    [
        "performhuman is a thing.",
        "The pumpmoves the water.",
        "forget-it-the-last-5-days.",
        "the pump moves the water.",
        "The pump moves the water",
        "The pump moves the water . ",
        "The the.",
        "",
        "**The pump** moves the water.",
        "Here is a list: one, two.",
    ],
)
def test_the_grammar_is_of_good_english(text: str) -> None:
    assert not CONSTRAINT.accepts(text)


@settings(max_examples=250)
@given(st.integers(0, 2**32))
def test_every_text_of_the_grammar_passes_the_rules_that_it_enforces(seed: int) -> None:
    text = CONSTRAINT.grammar.sample(random.Random(seed))
    enforced = set(CONSTRAINT.enforced)
    broken = [f for f in CONTRACT.check(text).findings if f.rule in enforced]
    assert not broken, (text, broken[0].rule, broken[0].excerpt)


@settings(max_examples=60)
@given(st.integers(0, 2**32))
def test_a_sample_is_accepted(seed: int) -> None:
    text = CONSTRAINT.grammar.sample(random.Random(seed))
    assert CONSTRAINT.accepts(text)


TOO_STRICT = {
    "description/queue": "'in order for' costs the pair 'order of'",
    "description/fuel-gauge": "'a range of' costs the pair 'range of'",
    "procedure/disconnect-the-cable": "OFF is a name in capitals",
    "procedure/charge-the-battery": "'10 A.' ends like an abbreviation",
}
"""Compliant passages that the grammar refuses although it has their words, and why."""


def passages() -> list[tuple[str, str]]:
    """The compliant passages whose marks and words the grammar has."""
    found = []
    for file in sorted(CORPUS.glob("*.yaml")):
        for passage in yaml.safe_load(file.read_text(encoding="utf-8")):
            text = passage.get("text")
            if not isinstance(text, str) or re.search(r"[^\w\s.,]", text.strip()):
                continue
            found.append((f"{file.stem}/{passage['name']}", text.strip()))
    return found


@pytest.mark.parametrize(("name", "text"), passages(), ids=lambda value: str(value)[:40])
def test_compliant_passages_of_known_words_are_accepted(name: str, text: str) -> None:
    constraint = compile_constraint(CONTRACT, names=[text])
    known = constraint.lexis.words
    words = [w for w in re.findall(r"[A-Za-z][\w-]*", text) if not w[0].isdigit()]
    new = constraint.names
    unknown = [w for w in words if w.lower() not in known and w not in new and w.lower() not in new]
    if unknown:
        pytest.skip(f"not a word of the grammar: {', '.join(unknown)}")
    if name in TOO_STRICT:
        assert not constraint.accepts(text), "the grammar takes this now: remove the exception"
        return
    reached = constraint.grammar.reach(text)
    assert constraint.accepts(text), f"{text[:reached]} || {text[reached:]}"


def test_names_of_the_task_are_words() -> None:
    text = "The kettlebell holds PostgreSQL."
    assert not CONSTRAINT.accepts(text)
    named = compile_constraint(CONTRACT, names=["a kettlebell", "PostgreSQL"])
    assert named.accepts(text)
    assert not CONSTRAINT.accepts(text)


def test_a_name_does_not_bring_back_a_forbidden_word() -> None:
    named = compile_constraint(CONTRACT, names=["Should I utilize it?"])
    assert not named.accepts("You should utilize the tool.")


def test_the_report_says_what_is_enforced() -> None:
    every = {active.rule.name for active in CONTRACT.profile.rules.active}
    told = [*CONSTRAINT.enforced, *CONSTRAINT.reduced, *CONSTRAINT.unenforced]
    assert set(told) == every
    assert len(told) == len(every)
    assert "passive-voice" in CONSTRAINT.enforced
    assert "noun-cluster" in CONSTRAINT.unenforced


def test_the_limits_of_the_profile_are_the_limits_of_the_grammar() -> None:
    contract = compile_contract(
        {
            "extends": "strict",
            "rules": {"sentence-length": {"max": 5}},
            "constrain": {"sentences": 2},
        }
    )
    constraint = compile_constraint(contract)
    assert constraint.accepts("The pump moves the water.")
    assert not constraint.accepts("The pump moves the cold water.")
    assert constraint.accepts("The pump moves water. The valve stops it.")
    assert not constraint.accepts("The pump moves water. The valve stops it. The lamp is red.")


def test_banned_words_of_the_profile_are_banned_in_the_grammar() -> None:
    contract = compile_contract(
        {"extends": "strict", "rules": {"banned-words": {"add": {"pump": "motor"}}}}
    )
    constraint = compile_constraint(contract)
    assert not constraint.accepts("The pump moves the water.")
    assert constraint.accepts("The motor moves the water.")


def test_a_rule_that_is_off_is_not_claimed() -> None:
    contract = compile_contract({"extends": "strict", "rules": {"passive-voice": "off"}})
    assert "passive-voice" not in compile_constraint(contract).enforced


def test_the_shape_of_steps() -> None:
    contract = compile_contract({"extends": "strict", "constrain": {"shape": "steps"}})
    constraint = compile_constraint(contract)
    assert constraint.accepts("1. Open the cover.\n2. Remove the filter.")
    assert not constraint.accepts("1. Open the cover.")
    assert not constraint.accepts("1. The cover is red.\n2. Remove the filter.")
    assert not constraint.accepts("1. Open the cover.\n3. Remove the filter.")
    assert not constraint.accepts("The cover is red.")


def test_code_spans_where_the_profile_allows_them() -> None:
    text = "Open the file `config/main.toml`."
    assert not CONSTRAINT.accepts(text)
    contract = compile_contract({"extends": "strict", "constrain": {"code": True}})
    assert compile_constraint(contract).accepts(text)


def test_vocabulary_mode_has_the_approved_words_only(tmp_path: Path) -> None:
    words = tmp_path / "words.jsonl"
    words.write_text(
        '{"word": "open", "pos": "verb", "approved": true, "forms": ["opens"]}\n'
        '{"word": "the", "pos": "article", "approved": true}\n'
        '{"word": "valve", "pos": "noun", "approved": true}\n'
        '{"word": "commence", "pos": "verb", "approved": false, "use_instead": ["start"]}\n'
    )
    contract = compile_contract(
        {
            "extends": "strict",
            "rules": {"unapproved-word": {"vocabulary": str(words), "technical_names": ["pump"]}},
            "constrain": {"mode": "auto", "words": "vocabulary"},
        }
    )
    constraint = compile_constraint(contract)
    assert constraint.accepts("Open the valve.")
    assert constraint.accepts("The pump opens the valve.")
    assert not constraint.accepts("Close the valve.")
    assert not constraint.accepts("The water opens the valve.")
    assert "unapproved-word" in constraint.enforced


def test_vocabulary_mode_needs_a_vocabulary() -> None:
    contract = compile_contract({"extends": "strict", "constrain": {"words": "vocabulary"}})
    with pytest.raises(UsageError, match="unapproved-word"):
        compile_constraint(contract)


@pytest.mark.parametrize("profile", ["zh", "tool-call", "html"])
def test_a_contract_without_english_prose_has_no_grammar(profile: str) -> None:
    contract = compile_contract(profile)
    if contract.takes_grammar:
        pytest.skip("this profile is prose")
    with pytest.raises(UsageError, match="English prose"):
        compile_constraint(contract)


def test_the_short_form_of_the_key_and_a_wrong_mode() -> None:
    assert compile_contract({"constrain": "auto"}).profile.spec.constrain.mode == "auto"
    assert compile_contract({"constrain": False}).profile.spec.constrain.mode == "off"
    with pytest.raises(ProfileError, match="constrain"):
        compile_contract({"constrain": "always"})


def test_the_texts_that_an_answer_must_start_and_end_with() -> None:
    rules = {"must-start": {"text": "Answer:"}, "must-end": {"text": "End of answer."}}
    contract = compile_contract({"extends": "strict", "rules": rules})
    constraint = compile_constraint(contract)
    text = "Answer: The pump moves the water. End of answer."
    assert constraint.accepts(text)
    assert contract.check(text).passed
    assert not constraint.accepts("The pump moves the water. End of answer.")
    assert not constraint.accepts("Answer: The pump moves the water.")
    assert {"must-start", "must-end"} <= set(constraint.enforced)


def test_terms_that_must_not_be_in_the_answer() -> None:
    rules = {"must-not-include": {"terms": ["pump", "water tank"]}}
    constraint = compile_constraint(compile_contract({"extends": "strict", "rules": rules}))
    assert not constraint.accepts("The pump moves the water.")
    assert not constraint.accepts("The water tank is red.")
    assert constraint.accepts("The motor moves the water.")
    assert "must-not-include" in constraint.reduced
