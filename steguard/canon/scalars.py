"""Reads the value on one line of a Canon document: plain, quoted, a list, or a literal block."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from steguard.canon import chars
from steguard.canon.docfaults import problem
from steguard.canon.nodes import BAD, AnyNode, Fields, Items, Scalar

if TYPE_CHECKING:
    from steguard.canon.docreader import Line, Reader

MAX_PLAIN = 1024

_DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*)"')
_SINGLE = re.compile(r"'((?:[^']|'')*)'")
_COMMENT = re.compile(r"(?<! ) +#")
_COLON = re.compile(r": |:$")
_ITEM = re.compile(
    r""" *(?:(?P<double>"(?:[^"\\]|\\.)*")|(?P<single>'(?:[^']|'')*')"""
    r"""|(?P<plain>[^\s,\[\]{}"'#&*!|>%@`:?](?:[^,\[\]{}?"]*[^,\[\]{}?" ])?)) *(?P<end>[,\]])"""
)
_STARTS = {
    "&": ("anchor", "an anchor is refused"),
    "*": ("anchor", "an alias is refused"),
    "!": ("tag", "a tag is refused"),
    ">": ("bad-block", "a folded block is refused"),
    "{": ("flow-mapping", "flow mappings are refused"),
    "}": ("flow-mapping", "'}' has no '{'"),
    "]": ("bad-list", "']' has no '['"),
}
_QUOTE = "Write the text in double quotes."
_HINTS = {
    ">": "Write '|' and the lines below it.",
    "{": "Write one key a line below, deeper.",
}


def inline(reader: Reader, rest: str, at: int, line: Line) -> AnyNode:
    """The value that starts at the offset ``at`` and ends with the line, comment included."""
    first = rest[0]
    if first == '"':
        return _quoted(reader, rest, at, line, _DOUBLE)
    if first == "'":
        return _quoted(reader, rest, at, line, _SINGLE)
    text, note = _cut_comment(reader, rest, at)
    node: AnyNode
    if first == "[":
        node = _items(reader, text, at, line)
    elif text == "{}":
        node = Fields(at, at + 2, line.number + 1, at - line.start + 1)
    else:
        node = _plain(reader, text, at, line)
    node.comment = note
    return node


def double(reader: Reader, raw: str, at: int, line: Line) -> Scalar:
    """The text in these double quotes."""
    style = "double"
    try:
        text = chars.unescape(raw[1:-1])
    except chars.BadEscape as error:
        _report(
            reader,
            at + 1 + error.start,
            at + 1 + error.end,
            "bad-escape",
            error.message,
            error.suggestion,
        )
        text, style = raw, BAD
    return _scalar(line, at, len(raw), text, style)


def comment(reader: Reader, rest: str, at: int) -> str | None:
    """The comment that is the whole rest of a line."""
    if not rest:
        return None
    if rest[1:2] not in ("", " "):
        _bad_comment(reader, at)
    return rest


def check_key(reader: Reader, text: str, start: int, end: int) -> None:
    """A key looks like one key only: composed characters, no letters of two alphabets in a word."""
    if text.isascii():
        return
    if unicodedata.normalize("NFC", text) != text:
        why = "the key holds a letter and its accent as two characters"
        _report(reader, start, end, "bad-key", why, "Write it as one character (NFC).")
    elif mixed_alphabets(text):
        why = f"'{text}' mixes letters of two alphabets that look alike"
        _report(reader, start, end, "bad-key", why, "Write it in one alphabet.")


_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
_LOOKALIKE = re.compile(r"[\u0370-\u052f]")


def mixed_alphabets(text: str) -> bool:
    """Whether Latin letters and Greek or Cyrillic ones, which look the same, stand in one word."""
    return _LATIN.search(text) is not None and _LOOKALIKE.search(text) is not None


def literal(reader: Reader, rest: str, at: int, line: Line) -> Scalar:
    """The literal block after ``|`` or ``|-``."""
    lines, indent, end = reader.block_lines(line)
    while lines and len(lines[-1]) <= max(indent, 0):
        lines.pop()
    fault = None
    if rest not in ("|", "|-"):
        fault = (f"'{rest}' starts no block", "Write '|' or '|-' alone.")
    elif not indent:
        fault = ("the block has no line", "Write its lines below, deeper than the key.")
    elif not lines[0].strip(" "):
        fault = ("the first line of a block is blank", "Write the text in double quotes.")
    if fault:
        _report(reader, at, at + len(rest), "bad-block", *fault)
        return _scalar(line, at, max(end - at, len(rest)), rest, BAD)
    text = "\n".join(one[indent:] for one in lines)
    if rest == "|" and end < len(reader.text):
        text += "\n"
    return _scalar(line, at, end - at, text, "literal")


def _quoted(reader: Reader, rest: str, at: int, line: Line, pattern: re.Pattern[str]) -> Scalar:
    found = pattern.match(rest)
    if found is None:
        hint = f"Close it with {rest[0]} on this line; write a line end as \\n in double quotes."
        _report(reader, at, at + len(rest), "bad-quotes", "the quote is not closed", hint)
        return _scalar(line, at, len(rest), rest, BAD)
    tail = rest[found.end() :]
    note = None
    if tail:
        behind = tail.lstrip(" ")
        where = at + len(rest) - len(behind)
        if behind[0] == "#" and behind != tail:
            note = comment(reader, behind, where)
        else:
            why = "text stands behind the closing quote"
            hint = 'Write \\" for a quote in double quotes, or quote the whole value.'
            _report(reader, where, at + len(rest), "bad-quotes", why, hint)
            return _scalar(line, at, len(rest), rest, BAD)
    if pattern is _DOUBLE:
        made = double(reader, found[0], at, line)
    else:
        made = _scalar(line, at, found.end(), found[1].replace("''", "'"), "single")
    made.comment = note
    return made


def _plain(reader: Reader, text: str, at: int, line: Line) -> Scalar:
    fault = _plain_fault(text)
    if fault is None:
        return _scalar(line, at, len(text), text, "plain")
    start, end, rule, message, hint = fault
    _report(reader, at + start, at + end, rule, message, hint)
    return _scalar(line, at, len(text), text, BAD)


def _plain_fault(text: str) -> tuple[int, int, str, str, str] | None:
    """Why the text cannot stand without quotes; None where it can."""
    first = text[0]
    if first in _STARTS:
        rule, message = _STARTS[first]
        hint = _HINTS.get(first, _QUOTE)
        return 0, 1 if first in "}]" else len(text), rule, message, hint
    if first in ",|%@`" or (first in "-?:" and text[1:2] in ("", " ")):
        return 0, 1, "yaml-indicator", f"a plain value cannot start with '{first}'", _QUOTE
    if found := _COLON.search(text):
        why = "a plain value holds no ': ' and no ':' at its end"
        return found.start(), found.start() + 1, "colon-in-value", why, _QUOTE
    if len(text) > MAX_PLAIN:
        why = f"the plain value has {len(text)} characters; the limit is {MAX_PLAIN}"
        hint = "Write a long text in double quotes or as a block after '|'."
        return 0, len(text), "value-too-long", why, hint
    if text != text.strip():
        why = "the value starts or ends with a blank that is not U+0020"
        return 0, len(text), "blank-at-edge", why, "Take it out, or quote the text."
    return None


def needs_quotes(text: str) -> bool:
    """Whether this text cannot be written as a plain value."""
    return (
        not text
        or text[0] in "\"'[#"
        or text == "{}"
        or text != text.strip()
        or " #" in text
        or _plain_fault(text) is not None
    )


def _items(reader: Reader, text: str, at: int, line: Line) -> AnyNode:
    made = Items(at, at + len(text), line.number + 1, at - line.start + 1, flow=True)
    if re.fullmatch(r"\[ *\]", text):
        return made
    position = 1
    while position < len(text):
        found = _ITEM.match(text, position)
        item = _flow_item(reader, found, at, line) if found else None
        if found is None or item is None:
            break
        made.items.append(item)
        position = found.end()
        if found["end"] == "]":
            if position == len(text):
                return made
            break
    why, hint = _list_fault(text, position)
    _report(reader, at + position, at + len(text), "bad-list", why, hint)
    return _scalar(line, at, len(text), text, BAD)


def _flow_item(reader: Reader, found: re.Match[str], at: int, line: Line) -> Scalar | None:
    kind = next(one for one in ("double", "single", "plain") if found[one] is not None)
    raw, start = found[kind], at + found.start(kind)
    if kind == "double":
        return double(reader, raw, start, line)
    if kind == "single":
        return _scalar(line, start, len(raw), raw[1:-1].replace("''", "'"), "single")
    if _plain_fault(raw) or re.search(r" #|:(?!\w|/)", raw):
        return None
    return _scalar(line, start, len(raw), raw, "plain")


def _list_fault(text: str, position: int) -> tuple[str, str]:
    rest = text[position:].lstrip(" ")
    if not rest:
        return "the list is not closed", "Write ']' on this line."
    if rest[0] == "[":
        return "a list in a list is refused", 'Write one list, or "[[name]]" in quotes for text.'
    if rest[0] == "{" or ": " in rest:
        return "a list on one line holds text only", "Write '- key: value' lines below the key."
    if rest[0] in ",]":
        return "an item of the list is empty", 'Take the comma out, or write "".'
    if text.find("]", position) < 0:
        return "the list is not closed", "Write ']' on this line."
    if position and text[position - 1] == "]":
        return "text stands behind the list", "Take it out, or write the value in double quotes."
    return "this is no item of a list", "Write the item in double quotes."


def _cut_comment(reader: Reader, rest: str, at: int) -> tuple[str, str | None]:
    found = _COMMENT.search(rest)
    if found is None:
        return rest, None
    note = rest[found.end() - 1 :]
    return rest[: found.start()], comment(reader, note, at + found.end() - 1)


def _bad_comment(reader: Reader, at: int) -> None:
    why = "' #' starts a comment, and a comment behind a value has a blank after '#'"
    _report(reader, at, at + 1, "comment", why, "Quote the text, or write '# comment'.")


def _scalar(line: Line, at: int, length: int, text: str, style: str) -> Scalar:
    return Scalar(at, at + length, line.number + 1, at - line.start + 1, text=text, style=style)


def _report(reader: Reader, start: int, end: int, rule: str, message: str, hint: str) -> None:
    reader.report(start, end, problem(rule, message, hint))
