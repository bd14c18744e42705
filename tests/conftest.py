"""Shared fixtures: a guarded client over a real local server, sync and async alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anyio
import openai
import pytest
from hypothesis import Phase, settings

from steguard import AsyncGuard, Guard
from steguard.testing import Script, ScriptedModel

# Explaining a failure traces every line, which makes a long law many times slower.
settings.register_profile(
    "steguard",
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
    deadline=None,
    max_examples=80,
)
settings.load_profile("steguard")

PROFILE = {
    "steguard": 1,
    "name": "test",
    "select": ["banned-words", "passive-voice", "sentence-length", "missing-text"],
    "rules": {"sentence-length": {"max": 20}},
}
BAD = "You should open the file. Close the door."
ALSO_BAD = "The file is opened by the program. Close the door."
GOOD = "Open the file. Close the door."
ASK = [{"role": "user", "content": "What do I do?"}]


class Harness:
    """One guard over one scripted model, called the same way whether sync or async."""

    def __init__(self, mode: str, script: Script, profile: Any = None, **options: Any) -> None:
        self.mode = mode
        self.model = ScriptedModel(script)
        self.options = {"profile": profile or PROFILE, **options}
        self.client_options: dict[str, Any] = {}
        self.guard: Any = None

    def __enter__(self) -> Harness:
        self.model.__enter__()
        kind = openai.OpenAI if self.mode == "sync" else openai.AsyncOpenAI
        self.client = kind(
            base_url=self.model.base_url,
            api_key="test",
            max_retries=0,
            timeout=20,
            **self.client_options,
        )
        self.guard = (Guard if self.mode == "sync" else AsyncGuard)(self.client, **self.options)
        return self

    def __exit__(self, *details: object) -> None:
        if self.mode == "sync":
            self.client.close()
        self.model.__exit__(*details)

    def run(self, function: Any) -> Any:
        """Call a function of the guard; what it gives is awaited where it is async."""
        if self.mode == "sync":
            return function(self.guard)

        async def inside() -> Any:
            async with self.client:
                return await function(self.guard)

        return anyio.run(inside)

    def create(self, **kwargs: Any) -> Any:
        request = {"model": "m", "messages": ASK, **kwargs}
        return self.run(lambda guard: guard.chat.completions.create(**request))

    @property
    def requests(self) -> list[dict[str, Any]]:
        return self.model.requests


@pytest.fixture(params=["sync", "async"])
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def harness(mode: str) -> Iterator[Any]:
    """A maker of harnesses that are closed after the test."""
    opened: list[Harness] = []

    def make(script: Script, profile: Any = None, **options: Any) -> Harness:
        opened.append(Harness(mode, script, profile, **options).__enter__())
        return opened[-1]

    yield make
    for one in opened:
        one.__exit__(None, None, None)
