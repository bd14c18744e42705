"""What the search for contradictions finds, against enumeration of all possible worlds."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations, product
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from steguard.instructions.records import Instruction
from steguard.instructions.survey import find_conflicts


def rules_of(pairs: list[tuple[str, Any]], **more: Any) -> list[Instruction]:
    return [
        Instruction.model_validate({"id": f"r{number}", "key": key, "value": value, **more})
        for number, (key, value) in enumerate(pairs)
    ]


def satisfiable(pairs: list[tuple[str, Any]]) -> bool:
    return not find_conflicts(rules_of(pairs))


# One number between 1 and 5: every relation.
NUMBER = st.integers(1, 5)
RELATION = st.one_of(
    NUMBER,
    st.builds(lambda a: {"min": a}, NUMBER),
    st.builds(lambda a: {"max": a}, NUMBER),
    st.builds(lambda a: {"above": a}, NUMBER),
    st.builds(lambda a: {"below": a}, NUMBER),
    st.builds(lambda a: {"not": a}, NUMBER),
    st.builds(lambda a: {"one_of": a}, st.lists(NUMBER, min_size=1, max_size=3)),
    st.builds(lambda a: {"none_of": a}, st.lists(NUMBER, min_size=1, max_size=3)),
    st.builds(lambda a, b: f"{min(a, b)}-{max(a, b)}", NUMBER, NUMBER),
)


def holds(value: Any, number: float) -> bool:
    if isinstance(value, int):
        return number == value
    if isinstance(value, str):
        low, high = value.split("-")
        return int(low) <= number <= int(high)
    ((relation, limit),) = value.items()
    tests = {
        "min": lambda: number >= limit,
        "max": lambda: number <= limit,
        "above": lambda: number > limit,
        "below": lambda: number < limit,
        "not": lambda: number != limit,
        "one_of": lambda: number in limit,
        "none_of": lambda: number not in limit,
    }
    return tests[relation]()


@settings(max_examples=150)
@given(st.lists(RELATION, min_size=1, max_size=5))
def test_whole_numbers(values: list[Any]) -> None:
    possible = any(all(holds(v, n) for v in values) for n in range(7))
    assert satisfiable([("report.sections", v) for v in values]) == possible


@settings(max_examples=100)
@given(st.lists(RELATION, min_size=1, max_size=5))
def test_fractions(values: list[Any]) -> None:
    possible = any(all(holds(v, n / 8) for v in values) for n in range(56))
    assert satisfiable([("temperature", v) for v in values]) == possible


@settings(max_examples=80)
@given(
    st.lists(
        st.tuples(RELATION, st.sampled_from(["user_request", "developer_config"])),
        min_size=1,
        max_size=4,
    )
)
def test_authority_changes_the_kind_only(drawn: list[tuple[Any, str]]) -> None:
    rules = [
        Instruction.model_validate(
            {"id": f"r{n}", "key": "report.sections", "value": v, "source": s}
        )
        for n, (v, s) in enumerate(drawn)
    ]
    found = find_conflicts(rules)
    assert bool(found) != any(all(holds(v, n) for v, _ in drawn) for n in range(7))
    for conflict in found:
        levels = {rule.source for rule in conflict.rules}
        assert conflict.kind.value == ("same_authority" if len(levels) == 1 else "across_authority")
        assert not conflict.settled


WORD = st.sampled_from("abcd")
CHOICE = st.one_of(
    WORD,
    st.builds(lambda a: {"not": a}, WORD),
    st.builds(lambda a: {"one_of": a}, st.lists(WORD, min_size=1, max_size=3)),
    st.builds(lambda a: {"none_of": a}, st.lists(WORD, min_size=1, max_size=3)),
)


def chosen(value: Any, word: str) -> bool:
    if isinstance(value, str):
        return word == value
    ((relation, limit),) = value.items()
    inside = word in (limit if isinstance(limit, list) else [limit])
    return inside is (relation == "one_of")


@settings(max_examples=100)
@given(st.lists(CHOICE, min_size=1, max_size=5))
def test_one_value(values: list[Any]) -> None:
    possible = any(all(chosen(v, w) for v in values) for w in "abcde")
    assert satisfiable([("tone", v) for v in values]) == possible


@settings(max_examples=100)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["sources.required", "sources.forbidden", "sources.allowed"]),
            st.lists(WORD, min_size=1, max_size=3, unique=True),
        ),
        min_size=1,
        max_size=5,
    ),
    st.integers(0, 3) | st.none(),
)
def test_sets_of_items(lists: list[tuple[str, list[str]]], most: int | None) -> None:
    def fits(items: set[str]) -> bool:
        for key, listed in lists:
            if key.endswith("required") and not set(listed) <= items:
                return False
            if key.endswith("forbidden") and set(listed) & items:
                return False
            if key.endswith("allowed") and not (items and items <= set(listed)):
                return False
        return most is None or len(items) <= most

    # A list of what is permitted says that one of it is there.
    lists = [pair for pair in lists if most is None or not pair[0].endswith("allowed")]
    worlds = (set(c) for size in range(6) for c in combinations("abcde", size))
    limit = [] if most is None else [("sources.max", most)]
    assert satisfiable([*lists, *limit]) == any(fits(world) for world in worlds)


Text = tuple[tuple[int, ...], ...]
"""Paragraphs of sentences; a number is the count of words."""


def compositions(total: int) -> Iterator[tuple[int, ...]]:
    if total == 0:
        yield ()
    for first in range(1, total + 1):
        for rest in compositions(total - first):
            yield (first, *rest)


@cache
def texts() -> frozenset[tuple[int, ...]]:
    """The counts of all texts of up to ten words: totals, and least and most of each part."""
    found = set()
    for words in range(1, 11):
        for sentences in compositions(words):
            for split in compositions(len(sentences)):
                at, paragraphs = 0, []
                for size in split:
                    paragraphs.append(sum(sentences[at : at + size]))
                    at += size
                found.add(
                    (words, words, len(sentences), len(sentences), len(split), len(split),
                     min(sentences), max(sentences), min(split), max(split),
                     min(paragraphs), max(paragraphs))
                )  # fmt: skip
    return frozenset(found)


MEASURE = {
    "words": (0, 8),
    "sentences": (2, 4),
    "paragraphs": (4, 2),
    "sentence.words": (6, 2),
    "paragraph.sentences": (8, 2),
    "paragraph.words": (10, 2),
}


@st.composite
def measure(draw: st.DrawFn, names: tuple[str, ...]) -> tuple[str, dict[str, int]]:
    name = draw(st.sampled_from(names))
    if draw(st.booleans()):
        return name, {"min": draw(st.integers(1, MEASURE[name][1]))}
    return name, {"max": draw(st.integers(1, 6))}


def text_exists(limits: list[tuple[str, dict[str, int]]]) -> bool:
    def obeys(counts: tuple[int, ...]) -> bool:
        return all(
            counts[MEASURE[name][0]] >= limit.get("min", 0)
            and counts[MEASURE[name][0] + 1] <= limit.get("max", 99)
            for name, limit in limits
        )

    return any(obeys(counts) for counts in texts())


@settings(max_examples=150)
@given(st.lists(measure(tuple(MEASURE)[:5]), min_size=1, max_size=6))
def test_counts_of_a_text(limits: list[tuple[str, dict[str, int]]]) -> None:
    assert satisfiable([(f"report.{name}", limit) for name, limit in limits]) == text_exists(limits)


@settings(max_examples=100)
@given(st.lists(measure(tuple(MEASURE)), min_size=1, max_size=7))
def test_no_false_alarm_for_texts(limits: list[tuple[str, dict[str, int]]]) -> None:
    if text_exists(limits):
        assert satisfiable([(f"report.{name}", limit) for name, limit in limits])


TOOL_RULE = st.one_of(
    st.tuples(
        st.sampled_from(["tools.a", "tools.b", "tools.*"]),
        st.sampled_from(["deny", "ask", "allow"]),
    ),
    st.tuples(st.just("tools.allowed"), st.lists(st.sampled_from("ab"), min_size=1, unique=True)),
    st.tuples(st.just("tools.required"), st.lists(st.sampled_from("ab"), min_size=1, max_size=1)),
)


@settings(max_examples=150)
@given(st.lists(TOOL_RULE, min_size=1, max_size=4))
def test_tools(pairs: list[tuple[str, Any]]) -> None:
    lists = [set(value) for key, value in pairs if key == "tools.allowed"]
    both = set.intersection(*lists) if lists else set("ab")

    def fits(world: dict[str, str]) -> bool:
        for tool, effect in world.items():
            if lists and (effect == "deny") is (tool in both):
                return False
            for key, value in pairs:
                if key == f"tools.{tool}" and effect != value:
                    return False
                if key == "tools.*" and effect != value:
                    return False
                if key == "tools.required" and tool in value and effect == "deny":
                    return False
        return True

    # 'other' stands for each tool that no rule names; a rule for every tool means it too.
    worlds = (
        dict(zip(("a", "b", "other"), e, strict=True))
        for e in product(["deny", "ask", "allow"], repeat=3)
    )
    assert satisfiable(pairs) == (bool(both) and any(fits(world) for world in worlds))


ANY_RULE = st.one_of(
    st.tuples(st.just("tone"), CHOICE),
    st.tuples(st.just("report.sections"), RELATION),
    st.tuples(st.sampled_from(["report.max_words", "report.min_words"]), NUMBER),
    TOOL_RULE,
)
PLACED = st.tuples(
    ANY_RULE,
    st.sampled_from(["user_request", "developer_config", "platform_policy"]),
    st.sampled_from([{}, {"stage": "s"}, {"stage": ["s", "t"]}, {"agent": "w"}]),
)


@st.composite
def placed_rules(draw: st.DrawFn) -> list[Instruction]:
    drawn = draw(st.lists(PLACED, min_size=1, max_size=6))
    return [
        Instruction.model_validate(
            {"id": f"r{n}", "key": key, "value": value, "source": source, "scope": scope}
        )
        for n, ((key, value), source, scope) in enumerate(drawn)
    ]


@settings(max_examples=60)
@given(placed_rules(), st.randoms(use_true_random=False))
def test_order_changes_nothing(rules: list[Instruction], random: Any) -> None:
    shuffled = list(rules)
    random.shuffle(shuffled)
    assert find_conflicts(rules) == find_conflicts(shuffled)


@settings(max_examples=60)
@given(placed_rules())
def test_the_listed_rules_are_to_blame(rules: list[Instruction]) -> None:
    found = find_conflicts(rules)
    for conflict in found:
        alone = find_conflicts(conflict.rules)
        assert any(c.kind is conflict.kind and c.settled == conflict.settled for c in alone)
    blamed = {ref for conflict in found for ref in conflict.refs}
    assert find_conflicts([rule for rule in rules if rule.ref not in blamed]) == []


@settings(max_examples=60)
@given(st.lists(RELATION, min_size=2, max_size=5))
def test_apart_in_scope_means_no_contradiction(values: list[Any]) -> None:
    rules = [
        Instruction.model_validate(
            {"id": f"r{n}", "key": "tone.level", "value": value, "scope": {"stage": f"s{n}"}}
        )
        for n, value in enumerate(values)
    ]
    assert find_conflicts(rules) == []
