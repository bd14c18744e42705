"""A second opinion on compliant texts, which shares no code with steguard.

It is naive, and it counts only what is beyond doubt: a word from a short list, a sentence that is
too long however one counts, a passive with its agent, JSON that ``jsonschema`` refuses, HTML that
the standard parser cannot close. What it misses, ``steguard.check`` must find; what it finds,
nobody may call compliant.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema

from benchmarks.task_set import Kind

_HEDGES = "probably|perhaps|maybe|usually|generally|typically|several|various"
_WORDS = {
    "loose": re.compile(rf"\b({_HEDGES})\b", re.IGNORECASE),
    "zh": re.compile("可能|大概|建议|一些"),
    None: re.compile(
        rf"\b({_HEDGES}|should|might|utili[sz]es?|leverages?|basically|in order to)\b",
        re.IGNORECASE,
    ),
}
_LIMITS = {"loose": 40, "tool-call": 15, "description": 25, "judge": 25, "strict": 20, "html": 20}
_AGENT = re.compile(r"\b(is|are|was|were|been) [a-z]+ed by (the|a|an)\b", re.IGNORECASE)
_NO_PROSE = re.compile(r"```.*?```|`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|\([^()\n]*\)", re.DOTALL)
_STOPS = re.compile(r"[.!?:;\n]")
_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*")
_HAN = re.compile(r"[\u4e00-\u9fff]")

_JUDGE = Path(__file__).parent.parent / "profiles" / "judge.schema.json"


def faults(text: str, kind: Kind) -> list[str]:
    """What is beyond doubt wrong with a text that claims to be compliant."""
    if not text.strip():
        return ["the text is empty"]
    if kind.form == "json":
        return list(_json(text, kind))
    if kind.form == "html":
        return list(_html(text, kind))
    return list(_prose(text, kind))


def _prose(text: str, kind: Kind) -> Iterator[str]:
    bare = _NO_PROSE.sub(" X ", text)
    words = _WORDS.get(kind.profile_name, _WORDS[None])
    for found in words.finditer(bare):
        yield f"the word '{found[0]}'"
    if kind.profile_name == "zh":
        for sentence in re.split(r"[。！？\n]", bare):
            if len(_HAN.findall(sentence)) > 30:
                yield f"{len(_HAN.findall(sentence))} characters in a sentence"
        return
    for sentence in _STOPS.split(bare):
        count = len(_WORD.findall(sentence))
        if count > _LIMITS[kind.profile_name]:
            yield f"{count} words in a sentence"
    if kind.profile_name != "loose" and (passive := _AGENT.search(bare)):
        yield f"the passive '{passive[0]}'"


def _json(text: str, kind: Kind) -> Iterator[str]:
    try:
        value = json.loads(text)
    except ValueError as error:
        yield f"no JSON: {error}"
        return
    schema = kind.schema or json.loads(_JUDGE.read_text(encoding="utf-8"))
    for error in jsonschema.Draft202012Validator(schema).iter_errors(value):
        yield f"the schema: {error.message}"
    for field in _fields(value, schema):
        yield from _prose(field, kind)


def _fields(value: Any, schema: dict[str, Any]) -> Iterator[str]:
    """The strings that the schema calls prose."""
    if isinstance(value, dict):
        for key, inner in schema.get("properties", {}).items():
            if key in value:
                yield from _fields(value[key], inner)
    elif isinstance(value, str) and schema.get("x-ste", "off") != "off":
        yield value


class _Outline(HTMLParser):
    """The order of the tags, and the visible text by element."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.texts: list[str] = [""]
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("b", "code"):
            self.texts.append("")
            attributes = "".join(f" {name}={value}" for name, value in attrs)
            self.tags.append(tag + attributes)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> closes nothing")
        if tag not in ("b", "code"):
            self.texts.append("")

    def handle_data(self, data: str) -> None:
        self.texts[-1] += "X" if self.open[-1:] == ["code"] else data


_PAGE = re.compile(r"section class=answer h2 ol( li){1,9}( p class=note)?")


def _html(text: str, kind: Kind) -> Iterator[str]:
    outline = _Outline()
    outline.feed(text)
    outline.close()
    yield from outline.wrong
    if outline.open:
        yield f"<{outline.open[-1]}> is not closed"
    if not _PAGE.fullmatch(" ".join(outline.tags)):
        yield "the tags do not agree with the template"
    for visible in outline.texts:
        if visible.strip():
            yield from _prose(visible, kind)
