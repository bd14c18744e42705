"""The text has a minimum or a maximum number of highlighted parts.

Finds: fewer highlights than `min` or more highlights than `max`. A highlight is text between two
asterisks on one line (`*text*`) or between two pairs of them (`**text**`); blanks alone are none.
The asterisks of a line are paired from left to right, so an asterisk that marks a list item pairs
with the next one on its line, and an item that has bold text can count twice. This is the
published meaning of the highlight instruction in benchmarks.

Why: a reader looks at the highlighted parts first, and only a few of them are of use.

Example: (min: 1) Open the valve.

Instead: *Open* the valve.

Fix: none. The important part is not known.

Source: steguard's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from steguard.rules.base import Rule
from steguard.rules.limits._limits import (
    Places,
    Range,
    count_hits,
    range_prompt,
    whole_text,
)
from steguard.text.model import Document
from steguard.types import Hit, Safety, Status

_SINGLE = re.compile(r"\*([^*\n]*)\*")
_DOUBLE = re.compile(r"\*\*([^*\n]*)\*\*")


def _find(document: Document, options: Range) -> Iterable[Hit]:
    if options.bounds == (None, None):
        return ()
    return count_hits(options.bounds, _highlights(document.text), document, "highlight")


def _highlights(text: str) -> Places:
    found = (match for form in (_SINGLE, _DOUBLE) for match in form.finditer(text))
    return sorted(match.span() for match in found if match.group(1).strip())


RULE = Rule(
    code="LIM107",
    name="highlight-count",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="steguard",
    make=whole_text(_find),
    module=__name__,
    options=Range,
    languages=frozenset(),
    prompt=range_prompt("highlight", ", such as *text*.", "Do not highlight text with asterisks."),
)
