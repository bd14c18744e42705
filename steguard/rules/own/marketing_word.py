"""Words that sell and do not inform.

Finds: Words and phrases from a table of our own (``seamless``, ``cutting-edge``,
``unlock the full potential``). Names and quoted words are not meant.

Why: A reader cannot measure ``world-class``. The sentence gives no property and no value.

Example: ``The tool gives a seamless, best-in-class export.``

Instead: ``The tool exports 500 files in one second.``

Fix: Unsafe where a plain word can stand instead (``harness the power of`` -> ``use``), else none:
only the writer knows the property.

Source: steguard's own.
"""

from __future__ import annotations

from steguard.rules._lists import list_index
from steguard.rules._substitute import SubstitutionChecker
from steguard.rules.base import Checker, Options, Rule
from steguard.types import Safety, Status

_ADVICE = "Give the property or its value."


def _make(options: Options) -> Checker:  # noqa: ARG001 - the rule has no options
    index = list_index("marketing.txt", _ADVICE)
    return SubstitutionChecker(index, f"'{{bad}}' sells and does not inform. {_ADVICE}")


RULE = Rule(
    code="SG102",
    name="marketing-word",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.UNSAFE,
    source="steguard",
    make=_make,
    module=__name__,
    prompt=lambda options: "Do not use marketing words.",  # noqa: ARG005 - no options
)
