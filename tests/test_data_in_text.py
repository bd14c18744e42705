"""What a program wrote (logs, traces, dumps) is no prose; the prose around it is."""

from __future__ import annotations

import pytest

from steguard.contract import compile_contract

STRICT = compile_contract("strict")


def found(text: str) -> list[tuple[str, str]]:
    return [(f.rule, f.excerpt) for f in STRICT.check(text).findings]


@pytest.mark.parametrize(
    "data",
    [
        "E0000 00:00:17.457220 1386 dnn.cc:8310] The factory has already been registered.",
        "2024-12-19 16:24:17.220166: The binary is optimized for several processors.",
        "[2024-12-19T16:24:17Z] The job was started; the queue was cleared.",
        'File "/home/envs/lib/adapters.py", line 700, in send raise Fault(request was sent)',
        "{'state': 'was deleted', 'code': 404, 'info': 'file was removed', 'next': None}",
        "host=example; user=guest; mode=basic; path=/",
    ],
)
def test_records_of_a_program_are_no_prose(data: str) -> None:
    assert found(f"The log has one line.\n\n{data}") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            'The server sent {"a": 1, "b": 2} because the file was deleted.',
            ("passive-voice", "was deleted"),
        ),
        ("Set a=1 and b=2 because the file was deleted.", ("passive-voice", "was deleted")),
        ('The label has the text "Stop": it was changed.', ("passive-voice", "was changed")),
        ("On 2024-12-19 the job was started.", ("passive-voice", "was started")),
    ],
)
def test_prose_around_data_stays_prose(text: str, expected: tuple[str, str]) -> None:
    assert expected in found(text)


def test_a_key_and_a_value_hide_no_long_sentence() -> None:
    words = "the pump moves the oil to the tank and " * 4
    text = f'The server sent {{"a": 1, "b": 2}} and {words}the valve opens.'
    assert "sentence-length" in [rule for rule, _ in found(text)]


def test_missing_text_is_found_in_data() -> None:
    assert ("missing-text", "[insert name]") in found(
        "2024-12-19 16:24:17: The name is [insert name]."
    )


def test_a_url_with_settings_is_one_word_of_a_long_sentence() -> None:
    words = "the pump moves the oil to the tank and " * 3
    text = f"The page is https://example.com/find?a=1&b=2&c=3&d=4&e={'x' * 200} and {words}stops."
    assert "sentence-length" in [rule for rule, _ in found(text)]
