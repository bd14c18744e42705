"""How findings are shown: for a person, a program, a code host, a coding agent."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from steguard import __version__
from steguard.cli.inputs import Checked
from steguard.types import Finding, Severity

_STYLE = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "bold blue"}


def summary(checked: Sequence[Checked]) -> dict[str, Any]:
    """Counts by rule and findings per 100 words."""
    words = sum(item.words for item in checked)
    rules = Counter(f.rule for item in checked for f in item.verdict.findings)
    per = 100 / words if words else 0.0
    return {
        "files": len(checked),
        "words": words,
        "findings": sum(rules.values()),
        "findings_per_100_words": round(sum(rules.values()) * per, 3),
        "by_rule": {
            name: {"findings": count, "per_100_words": round(count * per, 3)}
            for name, count in rules.most_common()
        },
    }


def as_json(checked: Sequence[Checked], console: Console) -> None:
    findings = [
        {"file": item.source.name, **finding.to_dict()}
        for item in checked
        for finding in item.verdict.findings
    ]
    _plain(
        console, json.dumps({"findings": findings, "summary": summary(checked)}, ensure_ascii=False)
    )


def as_text(checked: Sequence[Checked], console: Console) -> None:
    for item in checked:
        lines = item.verdict.text.split("\n")
        for finding in item.verdict.findings:
            show_finding(finding, item.source.name, lines, console)
    total = summary(checked)
    if not total["findings"]:
        console.print(Text(f"No findings in {total['words']} words.", style="green"))
        return
    console.print(
        Text(
            f"{total['findings']} findings in {total['words']} words, "
            f"{total['findings_per_100_words']:.2f} per 100 words"
        )
    )
    for name, numbers in total["by_rule"].items():
        console.print(Text(f"  {numbers['findings']:5d}  {numbers['per_100_words']:7.2f}  {name}"))


def show_finding(finding: Finding, name: str, lines: Sequence[str], console: Console) -> None:
    """A finding with its place, its source line and a caret below the fault."""
    head = Text(f"{name}:{finding.line}:{finding.column}: ")
    head.append(finding.severity.value, style=_STYLE[finding.severity])
    head.append(f" {finding.code} {finding.rule}", style="bold")
    head.append(f": {finding.message}")
    if finding.pointer:
        head.append(f" (at {finding.pointer})", style="dim")
    console.print(head, soft_wrap=True)
    source = lines[finding.line - 1].rstrip("\r") if finding.line <= len(lines) else ""
    shown, shift = _window(source, finding.column - 1)
    length = max(1, min(finding.end - finding.start, len(shown) - (finding.column - 1 - shift)))
    console.print(Text(f"    {shown}"), soft_wrap=True)
    pad = _blank(shown[: finding.column - 1 - shift])
    caret = Text("    " + pad)
    caret.append("^" * length, style=_STYLE[finding.severity])
    if finding.suggestion:
        caret.append(f" {finding.suggestion}", style="cyan")
    console.print(caret, soft_wrap=True)


def _window(line: str, at: int) -> tuple[str, int]:
    """At most 160 characters of a line around a place, and how many were cut before."""
    if len(line) <= 160:
        return line, 0
    start = max(0, min(at - 60, len(line) - 160))
    return line[start : start + 160], start


def _blank(text: str) -> str:
    """Spaces as wide as the text on a terminal: wide characters take two columns."""
    return "".join(
        "\t" if c == "\t" else "  " if ord(c) >= 0x1100 and _wide(c) else " " for c in text
    )


def _wide(char: str) -> bool:
    import unicodedata

    return unicodedata.east_asian_width(char) in ("W", "F")


def as_agent(checked: Sequence[Checked], console: Console) -> None:
    """One line a finding: place, rule, the words, what to write instead."""
    for item in checked:
        for f in item.verdict.findings:
            words = " ".join(f.excerpt.split())[:80]
            instead = f.suggestion or f.message
            place = f"{item.source.name}:{f.line}" + (f" {f.pointer}" if f.pointer else "")
            _plain(
                console, f"{place} {f.rule} {json.dumps(words, ensure_ascii=False)} -> {instead}"
            )


def as_github(checked: Sequence[Checked], console: Console) -> None:
    """Workflow commands that a code host shows beside the lines."""
    levels = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
    for item in checked:
        for f in item.verdict.findings:
            message = f.message + (f" {f.suggestion}" if f.suggestion else "")
            for old, new in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A")):
                message = message.replace(old, new)
            place = f"file={item.source.name},line={f.line},col={f.column}"
            _plain(console, f"::{levels[f.severity]} {place},title={f.code} {f.rule}::{message}")


def as_sarif(checked: Sequence[Checked], console: Console) -> None:
    """SARIF 2.1.0, which code hosts and editors read."""
    levels = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
    found = [(item, f) for item in checked for f in item.verdict.findings]
    names = {f.code: f.rule for _, f in found}
    results = [
        {
            "ruleId": f.code,
            "level": levels[f.severity],
            "message": {"text": f.message + (f" {f.suggestion}" if f.suggestion else "")},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": item.source.name.replace("\\", "/")},
                        "region": {
                            "startLine": f.line,
                            "startColumn": f.column,
                            "charOffset": f.start,
                            "charLength": f.end - f.start,
                        },
                    }
                }
            ],
        }
        for item, f in found
    ]
    driver = {
        "name": "steguard",
        "version": __version__,
        "rules": [{"id": code, "name": name} for code, name in sorted(names.items())],
    }
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
        ],
    }
    _plain(console, json.dumps(log, ensure_ascii=False))


def _plain(console: Console, line: str) -> None:
    console.file.write(line + "\n")


FORMATS: dict[str, Callable[[Sequence[Checked], Console], None]] = {
    "text": as_text,
    "json": as_json,
    "agent": as_agent,
    "github": as_github,
    "sarif": as_sarif,
}


def marked(text: str, findings: Sequence[Finding]) -> Text:
    """A text with its findings highlighted in place."""
    result = Text(text)
    for finding in findings:
        style = "bold white on red" if finding.severity is Severity.ERROR else "black on yellow"
        result.stylize(style, finding.start, max(finding.end, finding.start + 1))
    return result


def labels(findings: Sequence[Finding]) -> Iterator[str]:
    """One line a finding, without colour."""
    for f in findings:
        words = " ".join(f.excerpt.split())[:60]
        yield f"{f.code} {f.rule}: {words!r}: {f.message}"
