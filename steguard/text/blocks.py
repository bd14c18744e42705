"""What a line begins: a heading, an item, a fence, a table row, or just text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

MAX_LINE = 20_000
"""A structure that needs its whole line to be known is given up beyond this length."""


class Role(Enum):
    """What a line is for the blocks around it."""

    TEXT = "text"
    ITEM = "item"
    HEADING = "heading"
    ROW = "row"
    BLANK = "blank"
    RULE = "rule"
    UNDERLINE = "underline"
    FENCE = "fence"
    SKIP = "skip"
    CODE = "code"
    FRONT = "front"
    COMMENT = "comment"
    RAW = "raw"


@dataclass(slots=True)
class Line:
    """A line's role and where its visible text begins (an offset in the buffer)."""

    role: Role
    start: int
    quoted: bool = False
    indent: int = 0
    marker: str = ""
    level: int = 0


SIMPLE = re.compile(
    r"(?!(?:import|from|def|class|return|const|let|var|function|public|private|static|async|await"
    r"|if|for|while|elif|else|try|except|print|echo|export|SELECT|INSERT|UPDATE|CREATE|sudo|pip3?"
    r"|npm|yarn|brew|apt|git|cd|curl|docker|[Ss]tep|STEP)\b)[A-Za-z](?:[A-Za-z'’\-]+[.!?,;:]?)?[^\S\n]+[\"“(]?[A-Za-z]"
    r"|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7ff]"
)
"""A line that begins like this is text, whatever follows."""

PREFIX = 100
"""So many characters from the start of a line show its role, if no newline comes before."""

_INDENT = re.compile(r"[^\S\n]{0,40}")
_QUOTE = re.compile(r"(?:[^\S\n]{0,3}>[ \t]?){1,8}")
_TASK = r"(?:[^\S\n]{1,8}(?:\[[ xX]\][^\S\n]{1,8})?|(?=\n)|$)"
_BULLET = re.compile(rf"([-*+•◦▪‣⁃●○·–—])(?:{_TASK})")
_ORDERED = re.compile(
    r"(\d{1,3}(?:\.\d{1,3}){0,4}\.\)?|\d{1,3}(?:\.\d{1,3}){1,4}(?=[^\S\n]+[A-Z])|\d{1,9}\)|\(\d{1,3}\)"
    r"|\(?[a-zA-Z]\)|[a-z]\.|\((?:[ivx]{1,5})\)|(?:Step|STEP)[ ]\d{1,3}[:.)])" + _TASK
)
_HEADING = re.compile(r"(#{1,6})(?:[^\S\n]{1,8}|(?=\n)|$)")
_FENCE = re.compile(r"(`{3,}|~{3,})([^\n]*)$")
_RULE = re.compile(r"(?:(?:-[^\S\n]*){2,}|(?:\*[^\S\n]*){3,}|(?:_[^\S\n]*){3,}|(?:=[^\S\n]*){2,})$")
_TABLE_RULE = re.compile(r"(?=[^\n]*-)(?=[^\n]*\|)[|:\-+\s]+$")
_REFERENCE = re.compile(r"\[[^\]\n]{1,80}\]:[^\S\n]")
_RAW = re.compile(r"<(pre|script|style|textarea|svg|math)(?=[\s>/])", re.IGNORECASE)
_FRONT_KEY = re.compile(r"[\w\-.]{1,40}[ ]?:(?:\s|$)|#")

_CODE_START = re.compile(
    r"""(?:
      \#\w+[:(]|\#include\b|\#!|\$\s\S|>>>\s|[{}\]]|//|/\*|\*/|@\w+(?:\(|$)|<\?|%%|\(\w+\s
    | (?:import|from|def|class|return|const|let|var|function|public|private|static|async|await
        |if|for|while|elif|else|try|except|print|echo|export|SELECT|INSERT|UPDATE|CREATE|sudo|pip
        |npm|git|cd|curl|docker)\b
    | [A-Za-z_][\w.\[\]'"]*(?:\s*=[^=]|\()
    )""",
    re.VERBOSE,
)
_CODE_LINE = re.compile(
    r"""(?:
      \#\w+(?::\s*[\w.]+\(|\().*
    | \#include\s*[<"].*
    | \#!.*
    | \$\s+[a-z][\w.\-/]*(?:\s.*)?
    | >>>\s.*
    | [{}\]\[(),;]+
    | //.* | /\*.* | @[\w.]+(?:\(.*\))?
    | <\?.*
    | import\s+[\w.]+(?:\s+as\s+\w+)?(?:,\s*[\w.]+)*;?
    | import\s.*\sfrom\s+['"].*['"];?
    | from\s+[\w.]+\s+import\s+[\w.*,\s()]+
    | (?:async\s+)?def\s+\w+\(.*:?
    | class\s+\w+(?:\(.*\))?\s*[:{]
    | return(?:\s+.*)?;
    | return\s+[\w.]+\(.*\)
    | (?:const|let|var|public|private|static)\s+.*[=;({].*
    | function\s+\w*\(.*
    | (?:if|for|while|elif|else|try|except)\b.*(?:\)\s*\{|[=!<>()\[\]].*:|\{)
    | (?:else|try|finally):
    | print\(.*\);?
    | export\s+\w+=.*
    | (?:SELECT\s.*\sFROM|INSERT\s+INTO|UPDATE\s.*\sSET|CREATE\s+TABLE)\s.*
    | (?:pip3?|npm|yarn|brew|apt|apt-get)\s+(?:install|run|uninstall|add|ci|test|update)\b.*
    | git\s+(?:clone|add|commit|push|pull|checkout|status|diff|log|merge|rebase|reset|fetch|init)
        \b[^.]*(?:\.\S[^.]*)*
    | cd\s+[\w./~\-]+ | sudo\s+[a-z].* | curl\s+(?:-|https?:).* | echo\s+["$'].*
    | docker\s+(?:run|build|pull|push|exec|compose|ps)\b.*
    | [A-Za-z_][\w.\[\]'"]*\s*[-+*/|&]?=\s*[^=\s].*
    | [A-Za-z_][\w.]*\([^()]*(?:\([^()]*\)[^()]*)*\);?
    | .*[=)\]\"'}][ ]?[;{]\s*
    )$""",
    re.VERBOSE,
)


def may_be_code(text: str) -> bool:
    """Whether the start of a line looks like code, so that the whole line is needed."""
    return _CODE_START.match(text) is not None


def is_code(line: str) -> bool:
    """Whether a whole line is plainly program code or a command, not prose."""
    line = line.strip()
    return may_be_code(line) and len(line) <= 500 and _CODE_LINE.match(line) is not None


def read_line(
    buffer: str, start: int, end: int, *, whole: bool, markup: bool, first: bool
) -> Line | None:
    """The role of the line that begins at ``start``, or None while that cannot be known.

    ``end`` is where the line ends (``whole``) or where the text that came so far ends. The answer
    never depends on how much more than needed has come. ``markup`` switches on what only Markdown
    has; ``first`` is the first line of the text.
    """
    if SIMPLE.match(buffer, start, end):
        return Line(Role.TEXT, start)
    if not whole and end - start < PREFIX:
        return None
    at = _INDENT.match(buffer, start, end).end()  # type: ignore[union-attr]
    indent = len(buffer[start:at].expandtabs(4))
    quoted = False
    if buffer.startswith(">", at):
        at = _QUOTE.match(buffer, at, end).end()  # type: ignore[union-attr]
        quoted = True
        inner = _INDENT.match(buffer, at, end)
        at = inner.end() if inner else at
    if at >= end or buffer[at] == "\n":
        return Line(Role.BLANK, at, quoted, indent) if whole else None
    line = _by_first_character(buffer, at, end, whole=whole, markup=markup, first=first)
    if line is not None:
        line.quoted, line.indent = quoted, indent
    return line


def _by_first_character(
    buffer: str, at: int, end: int, *, whole: bool, markup: bool, first: bool
) -> Line | None:
    sign = buffer[at]
    reach = min(end, at + PREFIX)
    long = end - at > MAX_LINE
    ready, whole = whole or long, whole and not long
    if sign in "-*_=+`~|" or (sign == "<" and markup):
        line = _structure(buffer, at, end, first=first, ready=ready, whole=whole)
        if line is None or line.role is not Role.TEXT:
            return line
    if sign == "#":
        heading = _HEADING.match(buffer, at, reach)
        if heading:
            return Line(Role.HEADING, heading.end(), level=len(heading[1]))
    bullet = _BULLET.match(buffer, at, reach)
    if bullet:
        return Line(Role.ITEM, bullet.end(), marker=bullet[1])
    ordered = _ORDERED.match(buffer, at, reach)
    if ordered:
        return Line(Role.ITEM, ordered.end(), marker=ordered[1])
    if sign == "[" and markup and _REFERENCE.match(buffer, at, reach):
        if not ready:
            return None
        if whole:
            return Line(Role.SKIP, end)
    if _CODE_START.match(buffer, at, reach):
        if not ready:
            return None
        if whole and is_code(buffer[at:end]):
            return Line(Role.CODE, at)
    return Line(Role.TEXT, at)


def _structure(
    buffer: str, at: int, end: int, *, first: bool, ready: bool, whole: bool
) -> Line | None:
    """Fences, rules, table rows, comments: what the start of the line alone does not show."""
    text = Line(Role.TEXT, at)
    sign = buffer[at]
    if buffer.startswith(("```", "~~~"), at):
        if not ready:
            return None
        fence = _FENCE.match(buffer, at, end) if whole else None
        if fence and not (sign == "`" and "`" in fence[2]):
            return Line(Role.FENCE, end, marker=fence[1])
        return text
    if sign == "<":
        if buffer.startswith("<!--", at):
            return Line(Role.COMMENT, at)
        raw = _RAW.match(buffer, at, min(end, at + PREFIX))
        return Line(Role.RAW, at, marker=raw[1].lower()) if raw else text
    if sign == "|":
        if not ready:
            return None
        if not whole:
            return text
        rule = _TABLE_RULE.match(buffer, at, end)
        return Line(Role.SKIP, end) if rule else Line(Role.ROW, at)
    if sign in "-*_=" and not buffer[at : at + PREFIX].split("\n", 1)[0].strip("-*_=|: \t\r"):
        if not ready:
            return None
        if not whole or end - at > PREFIX * 10:
            return text
        content = buffer[at:end].strip()
        if first and content == "---":
            return Line(Role.FRONT, end)
        if _RULE.match(content):
            return Line(Role.UNDERLINE if sign in "=-" else Role.RULE, end, level=1 + (sign == "-"))
        if _TABLE_RULE.match(content):
            return Line(Role.SKIP, end)
    return text


def opens_front_matter(line: str) -> bool:
    """Whether the line after a first ``---`` shows that data and no text begins."""
    return _FRONT_KEY.match(line) is not None
