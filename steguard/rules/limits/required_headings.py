"""The text has each required heading.

Finds: a heading of `headings` that has no line of its own. With `form: line` the marks `#`, `*`
and `_`, a number before the heading and a colon behind it are permitted (`## Result`,
`**Result**`, `1. Result:`). With `form: markdown` the line must start with `#`. Case has no effect.

Why: a program finds the parts of the answer by their headings.

Example: (headings: [Result, Tasks]) # Result

The pump is on.

Instead: # Result

The pump is on.

# Tasks

Stop the pump.

Fix: none. The content below the heading is not known.

Source: steguard's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from steguard.rules.base import Options, Rule
from steguard.rules.limits._limits import Terms, lines_of, missing, quoted, whole_text
from steguard.text.model import Document
from steguard.types import Hit, Safety, Status

_NUMBER = re.compile(r"(?:\d{1,3}[.)、]|[一二三四五六七八九十]{1,3}、)\s*")


class RequiredHeadings(Options):
    headings: Terms = Field((), description="The headings that must have a line of their own.")
    form: Literal["line", "markdown"] = Field(
        "line", description="`line`: a line of its own; `markdown`: a line that starts with `#`."
    )


def _find(document: Document, options: RequiredHeadings) -> Iterable[Hit]:
    if not options.headings:
        return
    lines = (line.strip() for _, line in lines_of(document.text))
    present = {_plain(line) for line in lines if options.form == "line" or line.startswith("#")}
    for heading in options.headings:
        if _plain(heading) not in present:
            yield missing(
                document,
                f"The text has no heading '{heading}'.",
                f"Add the heading '{heading}' on a line of its own.",
            )


def _plain(line: str) -> str:
    """A heading without marks, number and colon, in lower case."""
    bare = line.strip().strip("#*_ \t")
    bare = _NUMBER.sub("", bare, count=1).strip("*_ \t").rstrip(":：").strip("*_ \t")
    return " ".join(bare.split()).casefold()


def _prompt(options: RequiredHeadings) -> str | None:
    if not options.headings:
        return None
    noun = "heading" if len(options.headings) == 1 else "headings"
    return f"Write the {noun} {quoted(options.headings, 'and')}. Start each heading with `## `."


RULE = Rule(
    code="LIM139",
    name="required-headings",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="steguard",
    make=whole_text(_find),
    module=__name__,
    options=RequiredHeadings,
    languages=frozenset(),
    prompt=_prompt,
)
