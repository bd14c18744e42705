"""Every example in the README runs and prints what the README says."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from steguard import load_profile
from steguard.testing import ScriptedModel

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
EXAMPLES = [
    (code, BLOCKS[i + 1][1] if i + 1 < len(BLOCKS) and BLOCKS[i + 1][0] == "text" else "")
    for i, (kind, code) in enumerate(BLOCKS)
    if kind == "python"
]
ANSWERS = {
    "How do I restart the service?": [
        "You should stop the service. The log can then be deleted by the operator.",
        "Stop the service. Delete the log.",
    ],
    "Get the settings.": [
        json.dumps(
            {"action": "read", "target": "/etc/app.json", "reason": "Read the settings file."}
        )
    ],
    "How do I start the pump?": ["Open the valve. Start the pump."],
}


@pytest.mark.parametrize(("code", "output"), EXAMPLES)
def test_example_prints_what_the_readme_says(
    code: str, output: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(request: dict) -> str:  # type: ignore[type-arg]
        asked = next(m["content"] for m in request["messages"] if m["role"] == "user")
        drafts = ANSWERS[asked]
        return drafts[
            min(sum(m["role"] == "assistant" for m in request["messages"]), len(drafts) - 1)
        ]

    assert output, "each example shows its output"
    with ScriptedModel(answer) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "test")
        printed = io.StringIO()
        with redirect_stdout(printed):
            module = ModuleType("readme_example")
            monkeypatch.setitem(sys.modules, module.__name__, module)
            exec(compile(code, "README.md", "exec", dont_inherit=True), module.__dict__)
    assert printed.getvalue() == output


def test_command_line_example_prints_what_the_readme_says() -> None:
    block = next(code for kind, code in BLOCKS if kind == "console")
    command, expected = block.split("\n", 1)
    text = re.search(r"echo '(.*?)'", command)
    assert text
    done = subprocess.run(
        [sys.executable, "-m", "steguard", "check", "-"],
        input=text[1] + "\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == expected


def test_the_profile_example_is_valid(tmp_path: Path) -> None:
    block = next(code for kind, code in BLOCKS if kind == "yaml")
    assert load_profile(yaml.safe_load(block)).name == "my-task"


def test_the_readme_has_exactly_two_setup_commands() -> None:
    assert [kind for kind, _ in BLOCKS].count("bash") == 2
