"""Reads the lines of a Canon document into nodes and reports every fault with its place."""

from __future__ import annotations

import re
from itertools import islice

from steguard.canon import chars, scalars
from steguard.canon.docfaults import KEY, is_item, key_fault, problem
from steguard.canon.model import MAX_NAME
from steguard.canon.nodes import BAD, AnyNode, Entry, Fields, Items, Scalar
from steguard.canon.problems import CanonFinding, Problem, finding

MAX_TEXT = 1_000_000
MAX_DEPTH = 16
MAX_REFUSED = 100
"""Characters that are reported in one text; a file that is no text has too many of them."""

_PLACEHOLDER = re.compile(r"\[ *[^\W\d][\w.-]* *\](?: |$)")
_MARKER = re.compile(r"--- *")


class Line:
    """A line with text in it: its place, its indentation and what follows the indentation."""

    __slots__ = ("before", "content", "indent", "number", "start")

    def __init__(self, number: int, start: int, indent: int, content: str) -> None:
        self.number, self.start, self.indent, self.content = number, start, indent, content
        self.before: list[str] = []

    @property
    def at(self) -> int:
        """The offset of the content in the text."""
        return self.start + self.indent


class Reader:
    """A cursor over the lines of a text. ``more`` says that another document follows."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.findings: list[CanonFinding] = []
        self.more = False
        self._lines: list[str] = []
        self._starts: list[int] = []
        self._next = 0
        self._pending: list[str] = []
        self._peeked: Line | None = None
        self._marked_at = -1
        if len(text) > MAX_TEXT:
            self.report(
                MAX_TEXT,
                MAX_TEXT,
                problem("text-too-long", f"the text has more than {MAX_TEXT} characters"),
            )
            return
        self._split()
        self._check_characters()

    # ---- findings

    def report(self, start: int, end: int, fault: Problem) -> None:
        number = self._number(start)
        column = start - self._starts[number] + 1 if self._starts else start + 1
        self.findings.append(
            finding(self.text, start, end, fault, line=number + 1, column=max(column, 1))
        )

    def sorted(self) -> list[CanonFinding]:
        return sorted(self.findings, key=lambda one: (one.start, one.code))

    def _number(self, offset: int) -> int:
        low, high = 0, len(self._starts) - 1
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._starts[middle] <= offset else (low, middle - 1)
        return max(low, 0)

    def _check_characters(self) -> None:
        start = 1 if self.text[:1] == "\ufeff" else 0
        for found in islice(chars.REFUSED.finditer(self.text, start), MAX_REFUSED):
            char = found[0]
            hint = "Indent with blanks." if char == "\t" else "Take it out."
            escape = chars.quote(char)[1:-1]
            if not chars.REFUSED_VALUE.match(char) and escape != char:
                hint = f"{hint[:-1]}, or write {escape} in double quotes."
            self.report(
                found.start(),
                found.end(),
                problem("refused-character", f"{chars.describe(char)} is refused here", hint),
            )

    # ---- lines

    def _split(self) -> None:
        at = 1 if self.text[:1] == "\ufeff" else 0
        for line in self.text[at:].split("\n"):
            self._starts.append(at)
            self._lines.append(line[:-1] if line.endswith("\r") else line)
            at += len(line) + 1

    def peek(self) -> Line | None:
        """The next line that is neither blank nor a comment; None at the end of the document."""
        while self._peeked is None and self._next < len(self._lines):
            raw = self._lines[self._next]
            content = raw.lstrip(" ")
            if not content:
                if self._pending[-1:] != [""]:
                    self._pending.append("")
            elif content[0] == "#":
                self._pending.append(content.rstrip(" "))
            elif raw[:3] == "---" and _MARKER.fullmatch(raw):
                self.more = True
                self._marked_at = self._next
                return None
            else:
                if content[0].isspace():
                    content = self._odd_indentation(content)
                if not content:
                    self._next += 1
                    continue
                indent = len(raw) - len(content)
                line = Line(self._next, self._starts[self._next], indent, content.rstrip(" "))
                line.before, self._pending = self._pending, []
                self._peeked = line
            self._next += 1
        return self._peeked

    def _odd_indentation(self, content: str) -> str:
        """The line without blanks that are none; they are reported, the structure is kept."""
        odd = content[0]
        if not chars.REFUSED.match(odd):
            start = self._starts[self._next] + len(self._lines[self._next]) - len(content)
            why = f"{chars.describe(odd)} stands in the indentation"
            self.report(start, start + 1, problem("indentation", why, "Indent with blanks."))
        return content.lstrip()

    def take(self) -> None:
        self._peeked = None

    def put_back(self, line: Line) -> None:
        """Read the rest of a line as a line of its own (a mapping that starts behind ``- ``)."""
        self._peeked = line

    def position(self) -> int:
        """The offset of the line that ends this document."""
        if self.more and self._marked_at < len(self._starts):
            return self._starts[self._marked_at]
        return len(self.text) + 1

    def marker(self) -> tuple[int, int]:
        start = self._starts[self._marked_at]
        return start, start + 3

    def next_document(self) -> None:
        self.more = False
        self._next = self._marked_at + 1

    # ---- blocks

    def document(self) -> tuple[Fields, list[str]]:
        """The next document. Its root is always a mapping; anything else is a finding."""
        line = self.peek()
        if line is None and self.more and not self._marked_before():
            self.next_document()
            line = self.peek()
        if line is None:
            at = min(self.position(), len(self.text))
            if self._lines:
                why = "the document is empty"
                self.report(at, at, problem("empty-document", why, None, ("key",)))
            return Fields(at, at, self._number(at) + 1, 1), self._after()
        root = self.fields(line.indent, 0)
        while (line := self.peek()) is not None:
            self._misplaced(line)
            self.take()
        return root, self._after()

    def _marked_before(self) -> bool:
        """Whether a document stood before the marker: then what follows is not the first one."""
        return any(
            line.strip(" ") and not line.lstrip(" ").startswith("#")
            for line in self._lines[: self._marked_at]
        )

    def _after(self) -> list[str]:
        after, self._pending = self._pending, []
        return after

    def _misplaced(self, line: Line) -> None:
        self.report(
            line.at,
            line.at + len(line.content),
            problem(
                "indentation",
                "the indentation fits no line above",
                "Put lines that belong together at one indentation.",
            ),
        )

    def fields(self, indent: int, depth: int) -> Fields:
        """The mapping whose keys stand at this indentation."""
        first = self.peek()
        assert first is not None
        made = Fields(first.at, first.at, first.number + 1, indent + 1)
        keys: dict[str, int] = {}
        while (line := self.peek()) is not None and line.indent >= indent:
            if line.indent > indent:
                self._deeper(line, made)
                continue
            entry = self._entry(line, depth)
            if entry is None:
                continue
            key = entry.key
            if key.text in keys:
                self.report(
                    key.start,
                    key.end,
                    problem(
                        "duplicate-key",
                        f"the key '{key.text}' stands here twice, first in line {keys[key.text]}",
                        "Take one out.",
                    ),
                )
                continue
            keys[key.text] = key.line
            made.entries.append(entry)
            made.end = max(entry.value.end, key.end)
        return made

    def _deeper(self, line: Line, made: Fields) -> None:
        """A line that is deeper than the keys of a mapping and belongs to no key."""
        last = made.entries[-1].value if made.entries else None
        if isinstance(last, Scalar) and last.style == BAD:
            self.take()
            return
        key_below = KEY.match(line.content) is not None
        if isinstance(last, Scalar) and last.style == "plain" and not key_below:
            fault = problem(
                "multi-line-value",
                "a plain value stands on one line",
                "Write the whole text in double quotes on one line, or as a block after '|'.",
            )
            self.report(line.at, line.at + len(line.content), fault)
        else:
            self._misplaced(line)
        self.take()

    def _entry(self, line: Line, depth: int) -> Entry | None:
        found = KEY.match(line.content)
        self.take()
        if found is None or found[2]:
            self._no_key(line)
            return None
        key = self._key(line, found)
        rest = found[3] or ""
        at = line.at + (found.start(3) if rest else len(line.content))
        value = self._value(line, rest, at, depth)
        return Entry(key, value) if key is not None else None

    def _key(self, line: Line, found: re.Match[str]) -> Scalar | None:
        text, style = found[1], "plain"
        start, end = line.at, line.at + len(text)
        if text[0] == '"':
            style = "double"
            scalar = scalars.double(self, text, start, line)
            text = scalar.text
            if scalar.style == BAD:
                return None
        if len(text) > MAX_NAME or not text:
            why = f"a key has 1 to {MAX_NAME} characters"
            self.report(start, end, problem("bad-key", why, "Write a shorter name."))
            return None
        scalars.check_key(self, text, start, end)
        return Scalar(
            start, end, line.number + 1, line.indent + 1, text=text, style=style, before=line.before
        )

    def _value(self, line: Line, rest: str, at: int, depth: int) -> AnyNode:
        if rest[:1] == "|":
            return scalars.literal(self, rest, at, line)
        if rest and rest[0] != "#":
            return scalars.inline(self, rest, at, line)
        comment = scalars.comment(self, rest, at)
        node = self._nested(line, depth)
        if node is None:
            self.report(
                at,
                at,
                problem(
                    "empty-value",
                    "the value is missing",
                    'Write the value, or "" for the empty text.',
                    ("value",),
                ),
            )
            return Scalar(at, at, line.number + 1, at - line.start + 1, style=BAD)
        node.comment = comment
        return node

    def _nested(self, line: Line, depth: int) -> AnyNode | None:
        """The mapping or list below this line; None where nothing stands there."""
        below = self.peek()
        if below is None or below.indent < line.indent:
            return None
        listed = is_item(below.content)
        if below.indent == line.indent and not listed:
            return None
        if depth + 1 > MAX_DEPTH:
            why = f"the document is more than {MAX_DEPTH} levels deep"
            self.report(below.at, below.at + len(below.content), problem("too-deep", why))
            while (deeper := self.peek()) is not None and deeper.indent > line.indent:
                self.take()
            return Scalar(below.at, below.at, below.number + 1, below.indent + 1, style=BAD)
        return (
            self.items(below.indent, depth + 1) if listed else self.fields(below.indent, depth + 1)
        )

    def items(self, indent: int, depth: int) -> Items:
        """The list whose dashes stand at this indentation."""
        first = self.peek()
        assert first is not None
        made = Items(first.at, first.at, first.number + 1, indent + 1)
        while (line := self.peek()) is not None and line.indent >= indent:
            if line.indent > indent:
                self._misplaced(line)
                self.take()
                continue
            if not is_item(line.content):
                break
            item = self._item(line, depth)
            made.items.append(item)
            made.end = item.end
        return made

    def _item(self, line: Line, depth: int) -> AnyNode:
        self.take()
        rest = line.content[1:].lstrip(" ")
        shift = len(line.content) - len(rest)
        at = line.at + shift
        node: AnyNode
        if not rest or rest[0] == "#":
            why = "the item is empty"
            self.report(at, at, problem("empty-value", why, "Write it behind '- '.", ("value",)))
            return Scalar(at, at, line.number + 1, line.indent + 1, style=BAD)
        if is_item(rest) or (rest[0] == "[" and not _PLACEHOLDER.match(rest)):
            why = "a list holds text, placeholders or mappings, not lists"
            self.report(at, at + len(rest), problem("bad-list", why, "Make it a mapping."))
            return Scalar(at, at + len(rest), line.number + 1, line.indent + 1, style=BAD)
        found = KEY.match(rest)
        if found is not None and depth < MAX_DEPTH:
            inner = Line(line.number, line.start, line.indent + shift, rest)
            self.put_back(inner)
            node = self.fields(inner.indent, depth + 1)
        elif rest[0] == "|":
            node = scalars.literal(self, rest, at, line)
        else:
            node = scalars.inline(self, rest, at, line)
        node.before = line.before
        return node

    def block_lines(self, line: Line) -> tuple[list[str], int, int]:
        """The raw lines of a literal block below this line, its indentation and its end."""
        lines: list[str] = []
        indent = 0
        end = self._starts[line.number] + len(self._lines[line.number])
        while self._next < len(self._lines):
            raw = self._lines[self._next]
            content = raw.lstrip(" ")
            deep = len(raw) - len(content)
            if content and (deep <= line.indent or deep < indent):
                break
            if content and not indent:
                indent = deep
            lines.append(raw)
            if content:
                end = self._starts[self._next] + len(raw)
            self._next += 1
        return lines, indent, end

    def _no_key(self, line: Line) -> None:
        start, end, fault = key_fault(line.content, line.indent)
        self.report(line.at + start, line.at + end, fault)
        self._skip_below(line)

    def _skip_below(self, line: Line) -> None:
        """Leave out what stands below a line that could not be read: it has no place."""
        while (below := self.peek()) is not None and below.indent > line.indent:
            self.take()
