"""The whole text is valid JSON.

Finds: the first character where the text stops to be JSON (RFC 8259). A code fence around the
whole text is permitted: this is the published meaning of the JSON instruction in benchmarks.
With `fence: false` it is not. `NaN` and `Infinity` are no JSON. A single string or number is.

Why: the program that reads the text has a JSON parser and no reader of prose.

Example: (required: true) Here is the result: {"pump": "on"}

Instead: {"pump": "on"}

Fix: none. A repair of the text is the work of the output format, which knows the schema.

Source: steguard's own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from pydantic import Field

from steguard.rules.base import Options, Rule
from steguard.rules.limits._limits import visible, whole_text
from steguard.text.model import Document
from steguard.types import Hit, Safety, Status

_FENCE = re.compile(r"```(?:json|Json|JSON)?")


class ValidJson(Options):
    required: bool = Field(False, description="The text must be JSON.")
    fence: bool = Field(True, description="A code fence around the text is permitted.")


def _find(document: Document, options: ValidJson) -> Iterable[Hit]:
    if not options.required:
        return
    start, end = visible(document.text)
    if options.fence:
        start, end = _inside(document.text, start, end)
    fault = _fault(document.text[start:end])
    if fault is not None:
        at, why = fault
        place = min(start + at, end)
        yield Hit(place, end, f"The text is not valid JSON: {why}.", "Write only valid JSON.")


def _inside(text: str, start: int, end: int) -> tuple[int, int]:
    fence = _FENCE.match(text, start, end)
    first = fence.end() if fence else start
    last = end - 3 if end - 3 >= first and text.endswith("```", first, end) else end
    inner = visible(text[first:last])
    return first + inner[0], first + inner[1]


def _fault(text: str) -> tuple[int, str] | None:
    try:
        json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        return error.pos, error.msg[0].lower() + error.msg[1:]
    except RecursionError:
        return 0, "it is nested too deep"
    except ValueError as error:
        return 0, str(error)
    return None


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


def _prompt(options: ValidJson) -> str | None:
    return "Write only valid JSON." if options.required else None


RULE = Rule(
    code="LIM138",
    name="valid-json",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="steguard",
    make=whole_text(_find),
    module=__name__,
    options=ValidJson,
    languages=frozenset(),
    prompt=_prompt,
)
