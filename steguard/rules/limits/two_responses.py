"""The text has two different answers with a separator between them.

Finds: a text that does not have exactly `count` answers, two answers that are the same, and two
separators with nothing between them. A separator at the start or at the end makes no answer.
With the separator `******` this is the published meaning of the two response instruction in
benchmarks.

Why: a program cuts the text at the separator and shows the answers side by side.

Example: (separator: "******") Use pump 1.

Instead: Use pump 1. ****** Use pump 2.

Fix: none. The other answer is not known.

Source: steguard's own.
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from steguard.rules.base import Options, Rule
from steguard.rules.limits._limits import missing, parts_of, visible, whole_text
from steguard.text.model import Document
from steguard.types import Hit, Safety, Status


class TwoResponses(Options):
    separator: str | None = Field(None, min_length=1, description="What stands between answers.")
    count: int = Field(2, ge=1, description="The number of answers.")


def _find(document: Document, options: TwoResponses) -> Iterable[Hit]:
    if options.separator is None:
        return
    text = document.text
    parts = list(parts_of(text, options.separator))
    for start, end in parts[1:-1]:
        if not text[start:end].strip():
            yield Hit(
                start - len(options.separator),
                end + len(options.separator),
                "There is no answer between two separators.",
                "Write an answer or remove one separator.",
            )
    full = [part for part in parts if text[slice(*part)].strip()]
    if len(full) < options.count:
        yield missing(
            document,
            f"The number of answers is {len(full)}. The correct number is {options.count}.",
            f"Write '{options.separator}' and then the other answer.",
        )
    seen: set[str] = set()
    for place, (start, end) in enumerate(full):
        first, last = visible(text[start:end])
        answer = text[start + first : start + last]
        if place >= options.count:
            message = f"There are more than {options.count} answers."
        elif answer in seen:
            message = "Two answers are the same."
        else:
            seen.add(answer)
            continue
        yield Hit(start + first, start + last, message, "Remove this answer or change it.")


def _prompt(options: TwoResponses) -> str | None:
    if options.separator is None:
        return None
    return f"Write {options.count} different answers with '{options.separator}' between them."


RULE = Rule(
    code="LIM136",
    name="two-responses",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="steguard",
    make=whole_text(_find),
    module=__name__,
    options=TwoResponses,
    languages=frozenset(),
    prompt=_prompt,
)
