"""What holds for the text limits on any text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steguard.rules.registry import get_rule
from steguard.text.model import Document
from tests.limits.test_options import SET
from tests.support.effort import grows_linearly
from tests.support.limits import hits

TEXT = st.text(alphabet="aAbZ é1[]<>*-\"'.,\n#_&", max_size=60)
COUNTS = [
    "word-count",
    "sentence-count",
    "paragraph-count",
    "bullet-count",
    "highlight-count",
    "placeholder-count",
    "capital-word-count",
]


def least_max(name: str, text: str) -> int:
    """The smallest maximum that the text keeps."""
    return next(limit for limit in range(200) if not hits(name, text, max=limit))


@settings(max_examples=60, deadline=None)
@given(text=TEXT)
@pytest.mark.parametrize("name", COUNTS)
def test_minimum_and_maximum_count_the_same_things(name: str, text: str) -> None:
    count = least_max(name, text)
    assert hits(name, text, min=count, max=count) == []
    assert [h.start for h in hits(name, text, min=count + 1)] == [len(text.rstrip())]
    if count:
        (excess,) = hits(name, text, max=count - 1)
        assert text[excess.start : excess.end].strip()


@settings(max_examples=60, deadline=None)
@given(text=TEXT)
@pytest.mark.parametrize("name", SET)
def test_findings_stay_in_the_text(name: str, text: str) -> None:
    for hit in hits(name, text, **SET[name]):
        assert 0 <= hit.start <= hit.end <= len(text)
        for edit in hit.edits:
            assert 0 <= edit.start <= edit.end <= len(text)


@settings(max_examples=60, deadline=None)
@given(text=TEXT)
@pytest.mark.parametrize("name", ["must-start", "must-end", "quotation", "repeat-prompt"])
def test_a_fix_removes_the_finding(name: str, text: str) -> None:
    for hit in hits(name, text, **SET[name]):
        fixed = text
        for edit in sorted(hit.edits, key=lambda e: e.start, reverse=True):
            fixed = fixed[: edit.start] + edit.text + fixed[edit.end :]
        assert hits(name, fixed, **SET[name]) == []


HOSTILE = ["[", "<<", "*", "P. P.", "a-'", "\n\n", "- ", "******", "`", '"', "SECTION ", "<a", "{["]


@pytest.mark.parametrize("name", SET)
def test_time_is_linear_in_length(name: str) -> None:
    rule = get_rule(name)
    checker = rule.checker(rule.options.model_validate(SET[name]))
    for part in HOSTILE:

        def judge(size: int, part: str = part) -> None:
            list(checker.finish(Document(part * size, "plain", "en", [])))

        assert grows_linearly(judge, 500), part
