"""Reads ``tests/data/rules/<CODE>.md``: good and bad examples of one rule.

The form of a file::

    # STE306 passive-voice

    ## Bad

    ```text
    The valve is opened.
    ```
    - finds: `is opened`
    - options: {unknown_agent: forbid}

    ## Good

    ```text
    Open the valve.
    ```

A bad case has one ``finds`` line for each expected finding, in order. ``- fixed: `text``` (or a
second fenced block after ``- fixed:``) gives the text after the safe fixes. ``- unsafe: `text```
does the same for unsafe ones. ``- format: plain|markdown|html`` and ``- language: zh`` set how
the text is read (markdown, en).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

DATA = Path(__file__).parent.parent / "data" / "rules"


@dataclass
class Case:
    code: str
    bad: bool
    text: str
    line: int
    finds: list[str] = field(default_factory=list)
    fixed: str | None = None
    unsafe: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    format: str = "markdown"
    language: str = "en"

    @property
    def id(self) -> str:
        return f"{self.code}:{self.line}"


def load(path: Path) -> list[Case]:
    cases: list[Case] = []
    code = path.stem
    bad: bool | None = None
    target = "text"
    lines = path.read_text(encoding="utf-8").splitlines()
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if line.startswith("## "):
            bad = {"bad": True, "good": False}[line[3:].strip().lower()]
            target = "text"
        elif line.startswith("```"):
            fence = re.match(r"`+", line)
            assert fence
            body: list[str] = []
            first = number
            while lines[number].rstrip() != fence[0]:
                body.append(lines[number])
                number += 1
            number += 1
            text = "\n".join(body)
            if target == "text":
                assert bad is not None, f"{path}:{first}: a case before '## Bad' or '## Good'"
                cases.append(Case(code, bad, text, first))
            else:
                setattr(cases[-1], target, text)
                target = "text"
        elif line.startswith("- "):
            key, _, value = line[2:].partition(":")
            value = value.strip()
            plain = value[1:-1] if len(value) > 1 and value[0] == value[-1] == "`" else value
            if key == "finds":
                cases[-1].finds.append(plain)
            elif key in ("fixed", "unsafe"):
                if value:
                    setattr(cases[-1], key, plain)
                else:
                    target = key
            elif key == "options":
                cases[-1].options = yaml.safe_load(value)
            elif key in ("format", "language"):
                setattr(cases[-1], key, plain)
            else:
                raise AssertionError(f"{path}:{number}: unknown key {key!r}")
    return cases


def all_cases() -> list[Case]:
    return [case for path in sorted(DATA.glob("*.md")) for case in load(path)]
