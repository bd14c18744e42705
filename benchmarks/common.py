"""What the benchmarks share: the machine, the versions, tables, and one JSON object as output."""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Callable, Iterable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from steguard._version import __version__

REPOSITORY = Path(__file__).parent.parent


def machine() -> str:
    """The processor and the system, in one line."""
    model = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    except OSError:
        pass
    return f"{model}, {os.cpu_count()} cores, {platform.machine()} {platform.system()}"


def versions(*packages: str) -> dict[str, str]:
    """The versions of steguard, Python and these packages; what is not installed is left out."""
    found = {"steguard": __version__, "python": platform.python_version()}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def parser(doc: str | None) -> argparse.ArgumentParser:
    """A parser with ``--json`` whose help is the benchmark's docstring."""
    made = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--json", action="store_true", help="print one JSON object only")
    return made


def emit(report: dict[str, Any], as_json: bool, show: Callable[[dict[str, Any]], None]) -> None:
    """Print the report as one JSON object, or as what ``show`` prints, with the machine below."""
    if as_json:
        print(json.dumps(report, ensure_ascii=False))
        return
    show(report)
    named = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    print(f"\n{report['machine']}; {named}; n = {report['n']}")


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """An aligned text table; the first column stands left, the others right."""
    cells = [[_cell(value) for value in row] for row in (head, *rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]

    def line(row: Sequence[str]) -> str:
        first = row[0].ljust(widths[0])
        rest = (value.rjust(width) for value, width in zip(row[1:], widths[1:], strict=True))
        return "  ".join([first, *rest]).rstrip()

    return "\n".join([line(cells[0]), "  ".join("-" * w for w in widths), *map(line, cells[1:])])


def percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share of the values lies; 0 where there are none."""
    if not values:
        return 0.0
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if isinstance(value, float) else str(value)
