"""The text has a postscript with a given marker.

Finds: a text in which `marker` (`P.S.`, `P.P.S`) does not occur. Case has no effect, and one
blank can stand after each full stop of the marker. The marker can stand at any place: this is
the published meaning of the postscript instruction in benchmarks. With `line_start: true` it
must open a line.

Why: a program that takes the postscript from a message finds it by its marker.

Example: (marker: "P.S.") Stop the pump.

Instead: Stop the pump. P.S. The report is in the folder.

Fix: none. The text of the postscript is not known.

Source: steguard's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pydantic import Field

from steguard.rules.base import Options, Rule
from steguard.rules.limits._limits import missing, whole_text
from steguard.text.model import Document
from steguard.types import Hit, Safety, Status


class Postscript(Options):
    marker: str | None = Field(None, min_length=1, description="The marker of the postscript.")
    line_start: bool = Field(False, description="Only a marker that opens a line counts.")


def _find(document: Document, options: Postscript) -> Iterable[Hit]:
    if options.marker is None:
        return
    marker = options.marker.strip()
    pattern = r"\.\s?".join(re.escape(part) for part in marker.rstrip(".").split("."))
    pattern += r"\." if marker.endswith(".") else ""
    head = r"^[*_ \t]*" if options.line_start else ""
    if not re.search(head + pattern, document.text, re.IGNORECASE | re.MULTILINE):
        yield missing(
            document, f"The text has no postscript '{marker}'.", f"Add a part with '{marker}'."
        )


def _prompt(options: Postscript) -> str | None:
    if options.marker is None:
        return None
    return f"Write a postscript with '{options.marker.strip()}' at the end of the text."


RULE = Rule(
    code="LIM134",
    name="postscript",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="steguard",
    make=whole_text(_find),
    module=__name__,
    options=Postscript,
    languages=frozenset(),
    prompt=_prompt,
)
