"""The text has a minimum or a maximum number of bullet points.

Finds: fewer bullets than `min` or more bullets than `max`. With `markers: loose` a bullet is a
line that starts with `-`, or with one `*` (a line that starts with `**` is bold text, no bullet).
This is the published meaning of the bullet instruction in benchmarks; a divider `---` and a line
that starts with `*emphasis*` are bullets there too. With `markers: markdown` the marker `-`, `*`
or `+` must stand before a space and some text, as in Markdown.

Why: a program that makes one entry of each bullet expects a fixed number of them.

Example: (max: 1)
- Open the valve.
- Close the valve.

Instead:
- Open the valve.

Fix: none. A person or a model decides which bullets are necessary.

Source: steguard's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Literal

from pydantic import Field

from steguard.rules.base import Rule
from steguard.rules.limits._limits import (
    Places,
    Range,
    count_hits,
    lines_of,
    wanted,
    whole_text,
)
from steguard.text.model import Document
from steguard.types import Hit, Safety, Status

_DIVIDER = re.compile(r"([-*])[ \t]*(?:\1[ \t]*){2,}")


class BulletCount(Range):
    markers: Literal["loose", "markdown"] = Field(
        "loose", description="`loose`: a line that starts with `-` or `*`; `markdown`: a list item."
    )


def _find(document: Document, options: BulletCount) -> Iterable[Hit]:
    if options.bounds == (None, None):
        return ()
    is_bullet = _is_item if options.markers == "markdown" else _is_loose
    return count_hits(options.bounds, _bullets(document.text, is_bullet), document, "bullet")


def _bullets(text: str, is_bullet: Callable[[str], bool]) -> Places:
    for at, line in lines_of(text):
        body = line.strip()
        if body and is_bullet(body):
            start = at + line.index(body[0])
            yield start, start + len(body)


def _is_loose(body: str) -> bool:
    return body[0] == "-" or (body[0] == "*" and body[1:2] != "*")


def _is_item(body: str) -> bool:
    return body[0] in "-*+" and body[1:2].isspace() and not _DIVIDER.fullmatch(body)


def _prompt(options: BulletCount) -> str | None:
    if options.bounds == (None, None):
        return None
    if options.max == 0:
        return "Do not use bullets."
    return f"Write {wanted(options.bounds, 'bullet')}."


RULE = Rule(
    code="LIM105",
    name="bullet-count",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="steguard",
    make=whole_text(_find),
    module=__name__,
    options=BulletCount,
    languages=frozenset(),
    prompt=_prompt,
)
