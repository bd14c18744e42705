"""``steguard explain``: what one rule finds, why, and what to write instead."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from steguard.cli.inputs import InputError
from steguard.forms import FAULTS
from steguard.rules.registry import get_rule


def command(
    code: Annotated[str, typer.Argument(help="A rule's code or name, such as STE306.")],
) -> None:
    """Explain a rule: what it finds, why it matters, an example and what to write instead."""
    console = Console(highlight=False)
    for fault in FAULTS.values():
        if code.lower() == fault.name or code.upper() == fault.code:
            console.print(f"{fault.code} {fault.name}\n\n{fault.doc}", markup=False)
            return
    try:
        rule = get_rule(code)
    except KeyError as error:
        raise InputError(str(error.args[0])) from None
    head = f"{rule.code} {rule.name} ({rule.status.value}, fix: {rule.fix.value})"
    console.print(f"{head}\n\n{rule.doc.strip()}", markup=False)
    options = rule.options.model_json_schema().get("properties", {})
    if options:
        console.print("\nOptions in a profile:")
        for name, schema in options.items():
            default = f" (default: {schema['default']!r})" if "default" in schema else ""
            console.print(f"  {name}{default}: {schema.get('description', '')}", markup=False)
