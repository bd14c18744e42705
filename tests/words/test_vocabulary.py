"""The user's vocabulary: reading a file, reading dictionary pages, and the rule that uses it."""

from __future__ import annotations

import builtins
import json
from pathlib import Path

import pytest

from steguard.errors import MissingExtra, ProfileError
from steguard.vocabulary import assemble, build, dump, load, parse
from steguard.vocabulary_pages import Page, PageWord
from tests.words.checks import excerpts, named

# Invented entries in the layout of a printed dictionary: (column, row, text).
ROWS = [
    ("Word (part of speech)", "Meaning/ALTERNATIVES", "Example", "Other example"),
    ("BLINK (v),", "To go on and off", "THE LIGHT BLINKS.", ""),
    ("BLINKS,", "", "", ""),
    ("BLINKED,", "", "", ""),
    ("BLINKED", "", "", ""),
    ("blaze (n)", "FIRE (n)", "STOP THE FIRE.", "Stop the blaze."),
    ("bolster (v)", "HOLD (v),", "HOLD THE TUBE.", "Bolster the tube."),
    ("", "MAKE STRONG (v)", "", ""),
    ("BLUE (adj)", "Of the color blue", "THE BLUE TUBE.", ""),
]
LEFTS = (40.0, 180.0, 320.0, 460.0)
FONT = 9.0


def page(number: int = 1, rows: list[tuple[str, ...]] | None = None) -> Page:
    words = []
    for line, row in enumerate(ROWS if rows is None else rows):
        for left, text in zip(LEFTS, row, strict=True):
            at = left
            for word in text.split():
                width = FONT * 0.5 * len(word)
                words.append(PageWord(word, at, at + width, 50.0 + 14 * line))
                at += width + 3
    return Page(number, 600.0, words)


def test_a_file_gives_approved_and_rejected_forms(tmp_path: Path) -> None:
    file = tmp_path / "words.jsonl"
    file.write_text(
        '{"word": "open", "pos": "verb", "approved": true, "forms": ["opens", "opened"]}\n\n'
        '{"word": "commence", "pos": "verb", "approved": false, "use_instead": ["start"]}\n'
    )
    vocabulary = load(file)
    assert vocabulary.approved == {"open", "opens", "opened"}
    assert set(vocabulary.rejected) == {"commence", "commences", "commenced", "commencing"}


def test_a_word_that_is_approved_as_one_part_of_speech_is_not_rejected(tmp_path: Path) -> None:
    file = tmp_path / "words.jsonl"
    file.write_text(
        '{"word": "check", "pos": "noun", "approved": true}\n'
        '{"word": "check", "pos": "verb", "approved": false, "use_instead": ["make sure"]}\n'
    )
    vocabulary = load(file)
    assert "check" not in vocabulary.rejected
    assert "checked" in vocabulary.rejected


def test_every_bad_line_is_named() -> None:
    text = '{"word": "a"}\n{"word": "b", "pos": "verb", "approved": true}\nnot json\n'
    with pytest.raises(ProfileError) as caught:
        parse(text, "words.jsonl")
    assert (caught.value.file, caught.value.line) == ("words.jsonl", 1)
    assert len(caught.value.problems) == 2
    assert "words.jsonl:3: this is no JSON" in caught.value.problems[1]


def test_a_missing_file_is_named() -> None:
    with pytest.raises(ProfileError, match=r"no\.jsonl: the vocabulary cannot be read"):
        load("no.jsonl")


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "words.jsonl"
    file.write_text('{"word": "open", "pos": "verb", "approved": true}\n')
    assert "open" in load(file).approved
    file.write_text('{"word": "closes", "pos": "verb", "approved": true}\n')
    assert "closes" in load(file).approved


def test_pages_give_words_with_forms_and_alternatives() -> None:
    report = assemble([page()])
    words = {word.word: word for word in report.words}
    assert list(words) == ["blink", "blaze", "bolster", "blue"]
    assert words["blink"].approved
    assert words["blink"].forms == ("blinks", "blinked")
    assert not words["blaze"].approved
    assert words["blaze"].use_instead == ("fire",)
    assert words["bolster"].use_instead == ("hold", "make strong")
    assert words["blue"].pos == "adjective"


def test_the_report_counts_what_tells_a_bad_parse() -> None:
    text = [("This page is text.", "", "", ""), ("It has no entries.", "", "", "")]
    report = assemble([page(1), page(2, text), page(3)])
    assert (report.approved, report.not_approved) == (2, 2)
    assert report.by_pos == {"adjective": 1, "noun": 1, "verb": 2}
    assert report.pages_without_entries == (2,)
    assert report.duplicates == (
        "blink (verb)", "blaze (noun)", "bolster (verb)", "blue (adjective)",
    )  # fmt: skip
    assert any("2 words are approved" in warning for warning in report.warnings)
    assert json.loads(json.dumps(report.to_dict()))["pages"] == 3


def test_pages_without_a_heading_are_read_by_their_columns() -> None:
    report = assemble([page(1, ROWS[1:])])
    assert [word.word for word in report.words] == ["blink", "blaze", "bolster", "blue"]
    assert {w.word: w for w in report.words}["bolster"].use_instead == ("hold", "make strong")


def test_a_dump_can_be_read_again() -> None:
    words = assemble([page()]).words
    assert tuple(parse(dump(words), "x")) == words


def test_without_the_extra_the_error_holds_the_install_line(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    real = builtins.__import__

    def blocked(name: str, *args: object, **kwargs: object) -> object:
        if name == "pdfplumber":
            raise ImportError(name)
        return real(name, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", blocked)
    with pytest.raises(MissingExtra, match=r"steguard\[vocabulary\]"):
        build("any.pdf")


def test_a_pdf_is_read(tmp_path: Path) -> None:
    pytest.importorskip("pdfplumber")
    file = tmp_path / "dictionary.pdf"
    file.write_bytes(pdf([ROWS, [("A page of text.", "", "", "")]]))
    report = build(file)
    words = {word.word: word for word in report.words}
    assert words["blink"].forms == ("blinks", "blinked")
    assert words["bolster"].use_instead == ("hold", "make strong")
    assert report.pages_without_entries == (2,)
    assert build(file, first=2).words == ()


def pdf(pages: list[list[tuple[str, ...]]]) -> bytes:
    """A small PDF with one table a page, written by hand."""
    objects: list[bytes] = []
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(len(pages)))
    objects.append(b"<< /Type /Catalog /Pages 2 0 R >>")
    objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode())
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    for number, rows in enumerate(pages):
        parts = []
        for line, row in enumerate(rows):
            for left, text in zip(LEFTS, row, strict=True):
                safe = text.replace("(", r"\(").replace(")", r"\)")
                parts.append(f"BT /F1 {FONT} Tf {left} {750 - 14 * line} Td ({safe}) Tj ET")
        stream = "\n".join(parts).encode()
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {5 + 2 * number} 0 R"
            " /Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    out = b"%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        table,
    )
    return out


def test_the_rule_reads_the_vocabulary_of_the_profile(tmp_path: Path) -> None:
    file = tmp_path / "words.jsonl"
    file.write_text(dump(assemble([page()]).words))
    text = "Bolster the blue tube. The light blinks."
    found = named("unapproved-word", text, vocabulary=str(file), unknown=False)
    assert excerpts(text, found) == ["Bolster"]
    assert found[0].suggestion == "Hold"
