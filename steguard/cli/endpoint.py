"""Which model the commands talk to: the one that is named, else the embedded one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from steguard.cli.inputs import InputError
from steguard.errors import MissingExtra


@contextmanager
def open_endpoint(base_url: str | None, model: str | None) -> Iterator[tuple[Any, str]]:
    """A client and a model name.

    An address given here or in ``OPENAI_BASE_URL``, or a key in ``OPENAI_API_KEY``, means that
    endpoint. Without either the embedded model starts. Raises :class:`MissingExtra` with the
    install line where it is not installed.
    """
    from openai import OpenAI

    base_url = base_url or os.environ.get("OPENAI_BASE_URL")
    key = os.environ.get("OPENAI_API_KEY")
    if base_url or key:
        named = model or os.environ.get("OPENAI_MODEL")
        with OpenAI(base_url=base_url, api_key=key or "none") as client:
            yield client, named or _first_model(client)
        return
    from steguard.local import LocalModel

    try:
        local = LocalModel()
    except MissingExtra as error:
        raise InputError(
            "there is no endpoint: set OPENAI_API_KEY or --base-url, or use the embedded model. "
            f"{error}"
        ) from None
    with local, OpenAI(base_url=local.base_url, api_key="local") as client:
        yield client, local.model


def _first_model(client: Any) -> str:
    from openai import OpenAIError

    try:
        found = next(iter(client.models.list()), None)
    except OpenAIError as error:
        raise InputError(f"the endpoint at {client.base_url} does not answer: {error}") from None
    if found is None:
        raise InputError("the endpoint names no model; give one with --model")
    return str(found.id)
