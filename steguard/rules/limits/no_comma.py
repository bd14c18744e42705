"""The text has no comma.

Finds: each comma, in numerals and code too: this is the published meaning of the instruction in
benchmarks. The commas of other scripts are permitted there; `any_script: true` finds them too.

Why: the text goes into a comma-separated file, or short sentences are necessary.

Example: (required: true) Open the valve, then wait.

Instead: Open the valve. Then wait.

Fix: none. A comma can need a full stop, a word or nothing in its place.

Source: steguard's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pydantic import Field

from steguard.rules.base import Options, Rule
from steguard.rules.limits._limits import whole_text
from steguard.text.model import Document
from steguard.types import Hit, Safety, Status

_ANY_COMMA = "[,\u060c\u3001\uff0c\u055d\u1363\ufe50\ufe51\uff64]"


class NoComma(Options):
    required: bool = Field(False, description="The text must have no comma.")
    any_script: bool = Field(False, description="The commas of all scripts count.")


def _find(document: Document, options: NoComma) -> Iterable[Hit]:
    if not options.required:
        return
    for comma in re.finditer(_ANY_COMMA if options.any_script else ",", document.text):
        yield Hit(*comma.span(), "A comma is not permitted.", "Write two sentences.")


def _prompt(options: NoComma) -> str | None:
    return "Do not use commas." if options.required else None


RULE = Rule(
    code="LIM125",
    name="no-comma",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="steguard",
    make=whole_text(_find),
    module=__name__,
    options=NoComma,
    languages=frozenset(),
    prompt=_prompt,
)
