"""What each kind of endpoint takes as a constraint, and how to find out what an endpoint is."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any

from steguard.decode.constraint import Constraint

MARKER = "steguard"
_PROBE_TEXT = "Write one word."


@dataclass(frozen=True)
class Layer:
    """One way to send a grammar: its name, and the request fields for a grammar text."""

    name: str
    dialect: str
    fields: Callable[[str], dict[str, Any]]
    guard: Mapping[str, Any]
    """Sampler settings against repetition, where the endpoint has them."""

    def body(self, constraint: Constraint, *, repeat_guard: bool) -> dict[str, Any]:
        """The fields of ``extra_body`` that enforce the constraint."""
        text = str(getattr(constraint, self.dialect))
        return {**self.fields(text), **(self.guard if repeat_guard else {})}

    def probe(self) -> dict[str, Any]:
        """The fields for a grammar that has only one text, :data:`MARKER`."""
        return self.fields(_ONE_TEXT[self.dialect])


_ONE_TEXT = {
    "lark": f'start: "{MARKER}"\n',
    "gbnf": f'root ::= "{MARKER}"\n',
    "narrow_gbnf": f'root ::= "{MARKER}"\n',
    "regex": MARKER,
}
_DRY = {"dry_multiplier": 0.8, "dry_allowed_length": 3}
_REPETITION = {"repetition_penalty": 1.1}

LAYERS: dict[str, tuple[Layer, ...]] = {
    "llama.cpp": (
        Layer(
            "llama.cpp/llguidance", "lark", lambda g: {"grammar": f"%llguidance {{}}\n{g}"}, _DRY
        ),
        Layer("llama.cpp/gbnf", "narrow_gbnf", lambda g: {"grammar": g}, _DRY),
    ),
    "vllm": (
        Layer("vllm", "gbnf", lambda g: {"structured_outputs": {"grammar": g}}, _REPETITION),
        Layer("vllm/guided", "gbnf", lambda g: {"guided_grammar": g}, _REPETITION),
    ),
    "sglang": (Layer("sglang", "gbnf", lambda g: {"ebnf": g}, _REPETITION),),
    "openai": (),
    "none": (),
}
"""By kind of endpoint: its layers, the strongest first. OpenAI's chat endpoint takes a grammar
for custom tools only, so prose has no layer there."""

_BY_NAME = {layer.name: layer for layers in LAYERS.values() for layer in layers}


def layer_named(name: str) -> Layer:
    """The layer of this name."""
    return _BY_NAME[name]


def probe_layers(endpoint: str) -> tuple[Layer, ...]:
    """The layers to try, in order, for a kind of endpoint or for ``probe``."""
    if endpoint == "probe":
        return tuple(_BY_NAME.values())
    return LAYERS[endpoint]


def probing(endpoint: str, model: Any) -> Generator[dict[str, Any], Any, str | None]:
    """Ask an endpoint, once a layer, for a text that only the grammar can explain.

    Yields the arguments of a call and is sent the completion, or None where the call failed.
    Returns the name of the first layer that holds, else None. An endpoint that ignores fields it
    does not know answers with another word, so it is not taken for one that obeys.
    """
    for layer in probe_layers(endpoint):
        reply = yield {
            "model": model,
            "messages": [{"role": "user", "content": _PROBE_TEXT}],
            "max_tokens": 16,
            "temperature": 0,
            "extra_body": layer.probe(),
        }
        if reply is not None and _text(reply) == MARKER:
            return layer.name
    return None


def _text(reply: Any) -> str:
    choices = getattr(reply, "choices", None) or [None]
    message = getattr(choices[0], "message", None)
    return (getattr(message, "content", None) or "").strip()
