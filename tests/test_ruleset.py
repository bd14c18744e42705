"""A rule set at work: what it shares between texts, and what it must not share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from steguard.contract import compile_contract
from steguard.rules.base import Options, PerSentence, Rule
from steguard.ruleset import ActiveRule, RuleSet
from steguard.text.model import Document, Sentence
from steguard.text.segment import segment
from steguard.types import Hit, Safety, Status

MADE: list[str] = []


class Counts:
    """Finds the second sentence with the trigger in one text."""

    triggers = frozenset({"stop"})

    def __init__(self) -> None:
        MADE.append("counts")
        self.seen = 0

    def sentence(self, sentence: Sentence) -> Iterator[Hit]:
        self.seen += 1
        if self.seen == 2:
            yield Hit(sentence.start, sentence.end, "The second one.")

    def finish(self, document: Document) -> Iterator[Hit]:
        if self.seen == 0:
            yield Hit(0, len(document.text), "There is none.")


def _plain(options: Options) -> PerSentence:
    MADE.append("plain")
    return PerSentence(lambda s: [Hit(s.start, s.end, "A sentence.")], frozenset({"read"}))


def _rule(name: str, make: object) -> ActiveRule:
    return ActiveRule(
        Rule(f"T{len(name)}", name, "0.1", Status.STABLE, Safety.NONE, "test", make, __name__),  # type: ignore[arg-type]
        Options(),
    )


@pytest.fixture
def rules() -> RuleSet:
    MADE.clear()
    return RuleSet([_rule("counts", lambda _: Counts()), _rule("plain", _plain)])


def found(rules: RuleSet, text: str) -> list[str]:
    sentences = segment(text)
    run = rules.start("en")
    hits = [hit for sentence in sentences for hit in run.sentence(sentence)]
    hits += run.finish(Document(text, "markdown", "en", sentences))
    return [hit.message for _, hit in hits]


def test_a_rule_with_memory_starts_anew_for_every_text(rules: RuleSet) -> None:
    for _ in range(3):
        assert found(rules, "Stop. Read this. Stop.") == ["A sentence.", "The second one."]
        assert found(rules, "Stop.") == []
        assert found(rules, "Wait.") == ["There is none."]


def test_two_texts_at_once_do_not_mix(rules: RuleSet) -> None:
    one, other = rules.start("en"), rules.start("en")
    stop = segment("Stop.")[0]
    assert one.sentence(stop) == []
    assert other.sentence(stop) == []
    assert [hit.message for _, hit in one.sentence(stop)] == ["The second one."]


def test_a_rule_without_memory_is_made_once(rules: RuleSet) -> None:
    for _ in range(5):
        found(rules, "Read this.")
    assert MADE.count("plain") == 1


@pytest.mark.parametrize("profile", ["strict", "zh"])
def test_the_same_text_gets_the_same_verdict_every_time(profile: str) -> None:
    contract = compile_contract(profile)
    texts = ["Sure! You should open the valve.", "可能需要对文件进行备份。", "Stop the pump."]
    first = [contract.check(text).findings for text in texts]
    assert [contract.check(text).findings for text in texts] == first


def test_one_fault_gets_one_finding() -> None:
    rules = [
        f.rule for f in compile_contract("strict").check("It moves approximately 5 mm.").findings
    ]
    assert "unbounded-quantity" in rules
    assert "banned-words" not in rules


def test_the_general_rule_speaks_where_the_better_one_is_off_or_lighter() -> None:
    text = "The pump moves approximately 5 mm."
    profile = {"steguard": 1, "name": "mine", "select": ["banned-words"]}
    assert [f.rule for f in compile_contract(profile).check(text).findings] == ["banned-words"]
    profile = {
        "steguard": 1,
        "name": "mine",
        "select": ["banned-words", "unbounded-quantity"],
        "rules": {"unbounded-quantity": {"severity": "warning"}},
    }
    rules = [f.rule for f in compile_contract(profile).check(text).findings]
    assert rules == ["banned-words", "unbounded-quantity"]
