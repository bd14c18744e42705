"""HTML answers: tags that close, and a template that pins what may not change.

A template is HTML itself. Whatever stands in it is pinned: tags, their order, attributes and
literal text. What the model writes goes into slots::

    <section class="answer">
      <h2><slot name="title" section="description"></slot></h2>
      <ol>
        <li sg-repeat="1..9"><slot name="step" inline="code b"></slot></li>
      </ol>
      <p class="note" sg-optional><slot name="note"></slot></p>
    </section>

``section`` names the rules for a slot (``off`` for none), ``inline`` the tags that may stand in
it, ``sg-repeat`` how often an element may come, ``sg-optional`` that it may be missing. An
attribute value of ``*`` stands for any value.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from steguard.edits import apply_edits
from steguard.errors import ProfileError
from steguard.forms import Extract, Part, fault, shifted
from steguard.htmltree import VOID, HtmlTree, Node, Wrong
from steguard.ruleset import Lines
from steguard.types import Edit, Finding


class HtmlForm:
    """The answer is HTML, with a template or only well formed."""

    name = "html"

    def __init__(
        self, template: Template | None = None, *, fields: Mapping[str, str] | None = None
    ) -> None:
        self.template = template
        self._fields = dict(fields or {})

    def extract(self, text: str) -> Extract:
        body, recovery = _unfenced(text)
        tree = HtmlTree(body)
        wrong = [("invalid-html", item) for item in tree.wrong]
        parts = [Part(body, shifted(0), "html")]
        if self.template is not None:
            match = _Match(body, self._fields)
            match.children(self.template.root, tree.root, None)
            parts = match.parts
            if not wrong:
                wrong = [("template-mismatch", item) for item in match.wrong]
        lines = Lines(body)
        findings: list[Finding] = [
            fault(
                name,
                item.message,
                (item.start, item.end),
                text=body,
                lines=lines,
                suggestion=item.suggestion,
            )
            for name, item in wrong
        ]
        return Extract(body, parts, findings, None, recovery)

    def join(self, extract: Extract, replacements: dict[int, str]) -> str | None:
        edits: list[Edit] = []
        for index, new in replacements.items():
            part = extract.parts[index]
            start = part.place(0)
            if new.strip() or part.pointer is None:
                edits.append(Edit(start, start + len(part.text), new))
            elif part.removable is None:
                return None
            else:
                edits.append(Edit(*part.removable, ""))
        text = apply_edits(extract.text, edits)
        return text if text.strip() else None

    def describe(self) -> dict[str, Any]:
        return {"format": "html", "template": self.template.skeleton() if self.template else ""}


class Template:
    """A parsed HTML template."""

    def __init__(self, source: str, file: str = "<template>") -> None:
        tree = HtmlTree(source)
        self.root = tree.root
        self._source = source
        problems = list(tree.wrong)
        slots = 0
        for node in _walk(tree.root):
            if node.tag == "slot":
                slots += 1
                if not node.attributes.get("name"):
                    problems.append(Wrong("a slot has no name", node.start, node.open_end))
            if "sg-repeat" in node.attributes and not _REPEAT.fullmatch(
                node.attributes["sg-repeat"]
            ):
                problems.append(
                    Wrong("'sg-repeat' is written like 1..9 or 0..", node.start, node.open_end)
                )
        if not slots and not problems:
            problems.append(Wrong("the template has no <slot>", 0, 0))
        if problems:
            lines = Lines(source)
            first, *rest = problems
            line, column = lines.position(first.start)
            raise ProfileError(
                first.message,
                file=file,
                line=line,
                column=column,
                problems=[
                    ":".join(map(str, (file, *lines.position(p.start)))) + f": {p.message}"
                    for p in rest
                ],
            )

    @classmethod
    def load(cls, path: Path) -> Template:
        """Read a template file. Raises :class:`ProfileError`."""
        try:
            return cls(path.read_text(encoding="utf-8"), str(path))
        except (OSError, UnicodeDecodeError) as error:
            raise ProfileError(f"the template cannot be read: {error}", file=str(path)) from None

    def skeleton(self) -> str:
        """The template as a prompt shows it: each slot is its name in brackets."""
        return _show(self.root).strip()


_REPEAT = re.compile(r"(\d+)\.\.(\d*)")
_OWN = ("sg-repeat", "sg-optional")


def _walk(node: Node) -> Iterator[Node]:
    for child in node.children:
        yield child
        yield from _walk(child)


def _show(node: Node) -> str:
    if not node.tag:
        return node.text
    if node.tag == "slot":
        return f"[{node.attributes.get('name', '')}]"
    inner = "".join(_show(child) for child in node.children)
    if node.tag == "#root":
        return inner
    attributes = "".join(
        f' {name}="{value}"' for name, value in node.attributes.items() if name not in _OWN
    )
    close = "" if node.tag in VOID else f"</{node.tag}>"
    return f"<{node.tag}{attributes}>{inner}{close}"


def _bounds(node: Node) -> tuple[int, int]:
    if "sg-repeat" in node.attributes:
        found = _REPEAT.fullmatch(node.attributes["sg-repeat"])
        assert found
        return int(found[1]), int(found[2]) if found[2] else 1_000_000
    return (0 if "sg-optional" in node.attributes else 1), 1


class _Match:
    """Lays an answer over a template and takes the slots' contents out."""

    def __init__(self, text: str, fields: Mapping[str, str]) -> None:
        self.parts: list[Part] = []
        self.wrong: list[Wrong] = []
        self._text = text
        self._fields = fields

    def children(self, pattern: Node, actual: Node, removable: tuple[int, int] | None) -> None:
        """Match the children of an element of the template with those of the answer.

        ``removable`` is the place of the nearest element around them that may be left out.
        """
        nodes = [n for n in actual.children if n.tag or n.text.strip()]
        at = 0
        end = actual.end if actual.tag == "#root" else max(actual.open_end, actual.end - 1)
        for wanted in pattern.children:
            if not wanted.tag:
                at = self._literal(wanted, nodes, at, end)
            elif wanted.tag == "slot":
                at = self._slot(wanted, nodes, at, actual, removable)
            else:
                at = self._elements(wanted, nodes, at, end, removable)
        self._extra(nodes[at:])

    def _extra(self, nodes: list[Node]) -> None:
        for extra in nodes:
            what = f"the tag <{extra.tag}>" if extra.tag else "text outside the slots"
            self.wrong.append(
                Wrong(
                    f"The template does not have {what} here.", extra.start, extra.end, "Remove it."
                )
            )

    def _literal(self, wanted: Node, nodes: list[Node], at: int, end: int) -> int:
        text = " ".join(wanted.text.split())
        if not text:
            return at
        if at < len(nodes) and not nodes[at].tag and " ".join(nodes[at].text.split()) == text:
            return at + 1
        place = nodes[at] if at < len(nodes) else None
        span = (place.start, place.end) if place else (end, end)
        self.wrong.append(Wrong(f"The text '{text}' is missing.", *span, f"Write '{text}'."))
        return at

    def _slot(
        self,
        slot: Node,
        nodes: list[Node],
        at: int,
        parent: Node,
        removable: tuple[int, int] | None,
    ) -> int:
        inline = set(slot.attributes.get("inline", "").split())
        first = at
        while at < len(nodes) and (not nodes[at].tag or nodes[at].tag in inline):
            at += 1
        name = slot.attributes.get("name", "")
        if at == first:
            if "sg-optional" not in slot.attributes:
                place = nodes[at].start if at < len(nodes) else parent.open_end
                self.wrong.append(
                    Wrong(f"The text for '{name}' is missing.", place, place, f"Write the {name}.")
                )
            return at
        start, end = nodes[first].start, nodes[at - 1].end
        section = self._fields.get(name) or slot.attributes.get("section", "default")
        if section != "off":
            self.parts.append(
                Part(
                    self._text[start:end],
                    shifted(start),
                    "html",
                    name,
                    section,
                    html.escape,
                    removable,
                )
            )
        return at

    def _elements(
        self,
        wanted: Node,
        nodes: list[Node],
        at: int,
        end: int,
        removable: tuple[int, int] | None,
    ) -> int:
        least, most = _bounds(wanted)
        if least and not (at < len(nodes) and nodes[at].tag == wanted.tag):
            later = next((i for i in range(at, len(nodes)) if nodes[i].tag == wanted.tag), at)
            self._extra(nodes[at:later])
            at = later
        own = "sg-repeat" in wanted.attributes or "sg-optional" in wanted.attributes
        count = 0
        while at < len(nodes) and nodes[at].tag == wanted.tag and count < most:
            self._attributes(wanted, nodes[at])
            around = (nodes[at].start, nodes[at].end) if own else removable
            self.children(wanted, nodes[at], around)
            at += 1
            count += 1
        if count < least:
            place = nodes[at] if at < len(nodes) else None
            span = (place.start, place.open_end) if place else (end, end)
            self.wrong.append(
                Wrong(f"The tag <{wanted.tag}> is missing here.", *span, f"Write <{wanted.tag}>.")
            )
        return at

    def _attributes(self, wanted: Node, node: Node) -> None:
        pinned = {k: v for k, v in wanted.attributes.items() if k not in _OWN}
        span = (node.start, node.open_end)
        for name, value in pinned.items():
            if name not in node.attributes:
                self.wrong.append(
                    Wrong(
                        f"The attribute {name} is missing in <{node.tag}>.",
                        *span,
                        f'Write {name}="{value}".',
                    )
                )
            elif value != "*" and node.attributes[name] != value:
                self.wrong.append(
                    Wrong(
                        f"The attribute {name} of <{node.tag}> must be '{value}'.",
                        *span,
                        f'Write {name}="{value}".',
                    )
                )
        for name in node.attributes.keys() - pinned.keys():
            self.wrong.append(
                Wrong(
                    f"The template does not have the attribute {name} in <{node.tag}>.",
                    *span,
                    "Remove it.",
                )
            )


_FENCE = re.compile(r"\s*```(?:html)?[ \t]*\n(?P<body>.*?)\n?```\s*", re.DOTALL)


def _unfenced(text: str) -> tuple[str, str | None]:
    """HTML that a model put into one code fence, without the fence."""
    found = _FENCE.fullmatch(text) if text.lstrip()[:3] == "```" else None
    return (found["body"], "The HTML stood in a code fence.") if found else (text, None)
