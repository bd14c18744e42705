"""A quotation that names a text is no prose of the writer; other quotations are."""

from __future__ import annotations

import pytest

from steguard import check

FAULTS = ["the file was deleted", "carry out the test", "the agent has sent it", "it is running"]
NAMED = [
    'Press the button "{}".',
    "The screen shows the message “{}”.",
    "The log contains the words '{}'.",
    'The title: "{}" is correct.',
]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("form", NAMED)
def test_a_named_text_is_not_read(form: str, fault: str) -> None:
    assert check(form.format(fault)) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_text_around_a_named_text_is_read(fault: str) -> None:
    text = f'The message "No power" tells that {fault}.'
    assert check(text)


def test_direct_speech_is_read() -> None:
    (finding,) = check('The worker said, "The file was deleted."')
    assert finding.excerpt == "was deleted"
