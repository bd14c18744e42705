"""The language of a text is known from its script and its frequent words."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from steguard.rules.limits._language import LANGUAGES, code_of, detect
from tests.support.limits import hits

TEXTS: dict[str, str] = yaml.safe_load(
    (Path(__file__).parent.parent / "data" / "languages.yaml").read_text("utf-8")
)


@pytest.mark.parametrize("code", TEXTS)
def test_language_of_a_text(code: str) -> None:
    assert detect(TEXTS[code]) == (code,)
    assert hits("language", TEXTS[code], language=code) == []


@pytest.mark.parametrize("code", TEXTS)
def test_half_a_text_and_capitals_are_enough(code: str) -> None:
    assert code in detect(TEXTS[code][: len(TEXTS[code]) // 2])
    assert detect(TEXTS[code].upper()) == (code,)


@pytest.mark.parametrize("code", TEXTS)
def test_other_languages_are_found(code: str) -> None:
    for other in TEXTS:
        if other != code:
            (hit,) = hits("language", TEXTS[code], language=other)
            assert f"'{code}'" in hit.message
            assert f"'{other}'" in hit.message


def test_code_links_and_tags_do_not_count() -> None:
    text = (
        "La pompe est ici.\n\n```python\nwhile the_pump is on and the_valve is not open:\n"
        "    print('the pump is on')\n```\n<div class='this is the name of that'> https://the.and.of/is"
    )
    assert detect(text) == ("fr",)


@pytest.mark.parametrize("text", ["", "  ", "12 + 30 = 42", "🙂", "Xyzzy"])
def test_a_text_that_tells_nothing_passes(text: str) -> None:
    assert hits("language", text, language="en") == []


def test_a_foreign_sentence_does_not_change_the_language_of_the_whole() -> None:
    assert detect(f"{TEXTS['de']} {TEXTS['en'][:40]} {TEXTS['de']}") == ("de",)


def test_codes() -> None:
    assert code_of("PT-br") == "pt"
    assert code_of("nb_NO") == "no"
    assert code_of("xx") is None
    assert set(TEXTS) <= LANGUAGES
