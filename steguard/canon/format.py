"""The formatter: the same document or sentences in their usual spelling, comments kept.

Fields keep their order, values their meaning and their way of writing (plain, quoted, block,
one-line list). What changes: two blanks for each level, one blank after a colon, double quotes for
single ones, two blanks before a comment behind a value, at most one blank line, LF at the end of
lines, no byte order mark. Formatting twice is formatting once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steguard.canon import chars
from steguard.canon.document import parse_documents
from steguard.canon.lexicon import Lexicon
from steguard.canon.nodes import AnyNode, Entry, Fields, Items, Scalar
from steguard.canon.problems import CanonFinding
from steguard.canon.render import block_lines, render_sentence
from steguard.canon.sentence import parse_sentences
from steguard.types import Severity

_STEP = "  "


class FormatError(ValueError):
    """A text with an error is not formatted; ``findings`` has every fault."""

    def __init__(self, findings: Sequence[CanonFinding]) -> None:
        first = findings[0]
        super().__init__(f"{first.line}:{first.column}: {first.message}")
        self.findings = tuple(findings)


def format_document(text: str) -> str:
    """The messages or prompts of the text in their usual spelling. Raises :class:`FormatError`."""
    documents = parse_documents(text)
    faults = [
        one for document in documents for one in document.findings if one.severity is Severity.ERROR
    ]
    if faults:
        raise FormatError(faults)
    parts: list[str] = []
    for document in documents:
        lines = [*_fields(document.root, ""), *document.after]
        while lines and not lines[0]:
            del lines[0]
        while lines and not lines[-1]:
            lines.pop()
        parts.append("".join(f"{line}\n" for line in lines))
    return "---\n".join(parts)


def format_sentences(text: str, *, lexicon: Lexicon | None = None, language: str = "en") -> str:
    """The sentences of the text, one a line, in their usual spelling; comments stay.

    Raises :class:`FormatError`.
    """
    results = parse_sentences(text, lexicon=lexicon, language=language)
    faults = [
        one for result in results for one in result.findings if one.severity is Severity.ERROR
    ]
    if faults:
        raise FormatError(faults)
    sentences = iter(results)
    lines: list[str] = []
    for raw in text.split("\n"):
        line = raw.strip(" \r")
        if line and not line.startswith("#"):
            sentence = next(sentences).sentence
            assert sentence is not None
            line = render_sentence(sentence, language=language, lexicon=lexicon)
        if line or lines[-1:] not in ([], [""]):
            lines.append(line)
    while lines and not lines[-1]:
        lines.pop()
    return "".join(f"{line}\n" for line in lines)


def _fields(fields: Fields, indent: str) -> Iterator[str]:
    for entry in fields:
        yield from _entry(entry, indent)


def _entry(entry: Entry, indent: str) -> Iterator[str]:
    key, value = entry.key, entry.value
    yield from _above(key, indent)
    shown = chars.quote(key.text) if key.style == "double" else key.text
    head = f"{indent}{shown}:"
    if isinstance(value, Fields) and value.entries:
        yield head + _behind(value)
        yield from _fields(value, indent + _STEP)
    elif isinstance(value, Items) and not value.flow:
        yield head + _behind(value)
        for item in value.items:
            yield from _item(item, indent + _STEP)
    else:
        first, *rest = _inline(value, indent + _STEP)
        yield f"{head} {first}{_behind(value)}"
        yield from rest


def _item(item: AnyNode, indent: str) -> Iterator[str]:
    yield from _above(item, indent)
    if isinstance(item, Fields) and item.entries:
        lines = list(_fields(item, indent + _STEP))
        yield f"{indent}- {lines[0][len(indent) + len(_STEP) :]}"
        yield from lines[1:]
    else:
        first, *rest = _inline(item, indent + _STEP)
        yield f"{indent}- {first}{_behind(item)}"
        yield from rest


def _inline(node: AnyNode, indent: str) -> list[str]:
    if isinstance(node, Fields):
        return ["{}"]
    if isinstance(node, Items):
        return [f"[{', '.join(_inline(item, '')[0] for item in node.items)}]"]
    return _scalar(node, indent)


def _scalar(node: Scalar, indent: str) -> list[str]:
    if node.style == "plain":
        return [node.text]
    if node.style == "literal":
        return block_lines(node.text, indent)
    return [chars.quote(node.text)]


def _above(node: AnyNode, indent: str) -> Iterator[str]:
    for line in node.before:
        yield f"{indent}{line}" if line else ""


def _behind(node: AnyNode) -> str:
    return f"  {node.comment}" if node.comment else ""
