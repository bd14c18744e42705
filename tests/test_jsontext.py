"""The scanner agrees with the standard library and knows where everything stands."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steguard.jsontext import MAX_DEPTH, JsonScanner, JsonTextError, scan

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


def at(data: Any, pointer: str) -> Any:
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        data = data[int(key)] if isinstance(data, list) else data[key]
    return data


@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_every_string_is_found_at_its_pointer_and_place(
    data: Any, ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(data, ensure_ascii=ascii_only, indent=indent)
    fields, spans = scan(text)
    for field in fields:
        assert at(data, field.pointer) == field.value
        assert json.loads(text[field.start : field.end]) == field.value
        for offset, char in enumerate(field.value):
            raw = text[field.raw(offset) : field.raw(offset + 1)]
            assert json.loads(f'"{raw}"') == char
    for pointer, (start, end) in spans.items():
        assert json.loads(text[start:end]) == at(data, pointer)


@given(st.text(alphabet='{}[]",:0123456789.-+eEtrufalsn \\/u\n', max_size=30))
def test_it_accepts_what_the_standard_library_accepts(text: str) -> None:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("duplicate")
        return dict(pairs)

    try:
        json.loads(text, object_pairs_hook=unique)
        valid = True
    except ValueError:
        valid = False
    try:
        scan(text)
        accepted = True
    except JsonTextError:
        accepted = False
    assert accepted == valid


@given(VALUES, st.data())
def test_pieces_give_what_the_whole_gives(data: Any, draw: st.DataObject) -> None:
    text = json.dumps(data, ensure_ascii=draw.draw(st.booleans()))
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    scanner = JsonScanner()
    fields = []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        fields += scanner.feed(text[start:end])
    scanner.close()
    assert (fields, scanner.spans) == scan(text)


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("{'a': 1}", 1),
        ('{"a" 1}', 5),
        ('{"a": 1,}', 8),
        ("[1 2]", 3),
        ("[1]]", 3),
        ("[01]", 2),
        ("nul!", 3),
        ('"a\nb"', 2),
        ('"\\x"', 2),
        ("NaN", 0),
        ("[1}", 2),
        ('{"a":1,"a":2}', 7),
        ("Sure! {}", 0),
        ("[1", 2),
        ('"abc', 4),
        ("", 0),
    ],
)
def test_the_first_impossible_character_is_named(text: str, offset: int) -> None:
    with pytest.raises(JsonTextError) as caught:
        scan(text)
    assert caught.value.offset == offset


def test_deep_nesting_is_refused_and_not_a_crash() -> None:
    with pytest.raises(JsonTextError, match="levels"):
        scan("[" * (MAX_DEPTH + 1))
