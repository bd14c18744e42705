"""The faults of documents: their codes, and why a line is no ``key: value``."""

from __future__ import annotations

import re

from steguard.canon import chars
from steguard.canon.problems import Problem
from steguard.types import Severity

CODES = {
    "text-too-long": "CAN101",
    "refused-character": "CAN102",
    "no-key": "CAN103",
    "space-before-colon": "CAN104",
    "no-space-after-colon": "CAN105",
    "duplicate-key": "CAN106",
    "empty-value": "CAN107",
    "indentation": "CAN108",
    "multi-line-value": "CAN109",
    "colon-in-value": "CAN110",
    "yaml-indicator": "CAN111",
    "anchor": "CAN112",
    "tag": "CAN113",
    "flow-mapping": "CAN114",
    "bad-quotes": "CAN115",
    "bad-escape": "CAN116",
    "bad-list": "CAN117",
    "bad-block": "CAN118",
    "comment": "CAN119",
    "marker": "CAN120",
    "one-document": "CAN121",
    "too-deep": "CAN122",
    "bad-key": "CAN123",
    "value-too-long": "CAN124",
    "blank-at-edge": "CAN125",
    "empty-document": "CAN126",
}

KEY = re.compile(r'(\w[\w.-]*|"(?:[^"\\]|\\.)*")( *):(?: +(.*)|())$')
_WIDE = "\uff1a"
_LOOSE_KEY = re.compile(r"([^\s:\"'#\[\]{}][^\s:]*(?: [^\s:]+){0,3})( *):(?:\s|$)")
_TIGHT_KEY = re.compile(r"(\w[\w.-]*):(?=\S)")
_ANYTHING = ("key", "comment")


def problem(
    rule: str,
    message: str,
    suggestion: str | None = None,
    expected: tuple[str, ...] = (),
    severity: Severity = Severity.ERROR,
) -> Problem:
    """A document fault, with the code of its rule."""
    return Problem((), CODES[rule], rule, message, suggestion, expected, severity)


def is_item(content: str) -> bool:
    """Whether a line is an item of a list."""
    return content[0] == "-" and content[1:2] in ("", " ")


def key_fault(content: str, indent: int) -> tuple[int, int, Problem]:
    """Why a line does not start with a key, with the place in its content."""
    return _misspelled(content) or (0, len(content), _misused(content, indent))


def _misused(content: str, indent: int) -> Problem:
    """The fault of a line that means something in YAML or elsewhere, but not here."""
    if re.match(r"-{2,}|\.\.\.|%", content) and indent == 0:
        hint = "Write '---' alone on a line between two documents, or take the line out."
        return problem("marker", f"'{content}' is no document marker", hint)
    if content.startswith("<<:"):
        return problem("anchor", "merge keys do not exist", "Write the fields.")
    if content[0] in "&*!":
        return problem("anchor", "anchors, aliases and tags do not exist", "Write the text.")
    if content[0] == "?" and content[1:2] in ("", " "):
        return problem("no-key", "complex keys do not exist", "Write 'key: value'.", ("key",))
    if is_item(content):
        return problem("no-key", "a list stands below a key", "Write 'key:' above it.", ("key",))
    if content.startswith("```"):
        return problem("no-key", "a fence of Markdown is no Canon", "Take the line out.")
    if _WIDE in content:
        return problem("no-key", f"{chars.describe(_WIDE)} is no ':'", "Write ': '.", ("key",))
    if content[0] == "{":
        return problem("flow-mapping", "flow mappings are refused", "Write one key a line.")
    if content[0] == "'":
        return problem("bad-key", "a quoted key has double quotes", 'Write "key": value.')
    return problem("no-key", "this line is no 'key: value'", "Write 'key: value'.", _ANYTHING)


def _misspelled(content: str) -> tuple[int, int, Problem] | None:
    """The fault of a line that has a key, but not as it is written."""
    if content[0] in "&*!?-{'<%.`":
        return None
    if found := _TIGHT_KEY.match(content):
        fault = problem("no-space-after-colon", "a blank is missing", "Write a blank after ':'.")
        return found.end(), found.end() + 1, fault
    found = _LOOSE_KEY.match(content)
    if found is None:
        return None
    if found[2] and KEY.match(found[1] + ": x"):
        fault = problem("space-before-colon", "a blank stands before ':'", "Take it out.")
        return found.start(2), found.end(2), fault
    hint = "Write a name of letters, digits and '_', or quote the key."
    return 0, found.end(1), problem("bad-key", f"'{found[1]}' is no key", hint, ("key",))
