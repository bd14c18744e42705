"""What is sent: the caller's own arguments, the prompt of the contract, and the feedback.

The caller's objects are never changed, and nothing is added to a request that neither the caller
nor the profile asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from steguard.contract import Contract
from steguard.errors import ConstraintUnavailable, UsageError
from steguard.jsonform import JsonForm
from steguard.profilespec import ConstrainSpec
from steguard.reply import Reply, get, read_content, replace_content
from steguard.result import ChoiceResult, Usage
from steguard.schema import is_strict

if TYPE_CHECKING:
    from steguard.decode import Constraint

_WEAKER = {"json_schema": "json_object", "json_object": "none"}
_REFUSED = (400, 404, 415, 422, 501)
_OWN_GRAMMAR = frozenset(
    ("grammar", "structured_outputs", "guided_grammar", "guided_regex", "guided_json", "ebnf")
)
"""Fields of ``extra_body`` by which a caller sends a grammar of their own."""

_NOT_RUN = "The system did not run this call. Write the answer again."


@dataclass
class Capabilities:
    """What a guard learned of its endpoint; shared by its calls."""

    response_format: str = "json_schema"
    grammar: str | None = None
    """The layer that enforces a grammar, ``none`` after a search in vain, None before one."""


@dataclass
class RequestPlan:
    """The requests of one guarded call."""

    contract: Contract
    kwargs: Mapping[str, Any]
    capabilities: Capabilities = field(default_factory=Capabilities)
    messages: tuple[Any, ...] = ()
    unenforced: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        given = self.kwargs.get("messages")
        if given is None or isinstance(given, str | Mapping) or not isinstance(given, Iterable):
            raise UsageError("'messages' must be a list of messages")
        self.messages = tuple(inject(list(given), self.contract.prompt))

    @property
    def _constrain(self) -> ConstrainSpec:
        return self.contract.profile.spec.constrain

    @property
    def must_probe(self) -> bool:
        """Whether nobody knows yet what grammar the endpoint takes.

        Raises :class:`ConstraintUnavailable` where it is known to take none and one is required.
        """
        spec = self._constrain
        if spec.mode == "off" or not self.contract.takes_grammar:
            return False
        if spec.endpoint != "probe" and self.capabilities.grammar is None:
            from steguard.decode.endpoint import LAYERS

            layers = LAYERS[spec.endpoint]
            self.capabilities.grammar = layers[0].name if layers else "none"
        self._require_grammar()
        return self.capabilities.grammar is None

    def found_grammar(self, layer: str | None) -> None:
        """Keep what a probe found. Raises :class:`ConstraintUnavailable` where one is required."""
        self.capabilities.grammar = layer or "none"
        self._require_grammar()

    def _require_grammar(self) -> None:
        if self.capabilities.grammar == "none" and self._constrain.mode == "require":
            raise ConstraintUnavailable(
                f"the profile '{self.contract.name}' requires a decoding constraint, and this "
                "endpoint takes none; use 'constrain: auto', or name the endpoint with "
                "'constrain: {mode: require, endpoint: llama.cpp}'"
            )

    @cached_property
    def constraint(self) -> Constraint | None:
        """The grammar for this call, or None where none is asked for or can be enforced."""
        spec = self._constrain
        layer = self.capabilities.grammar
        if spec.mode == "off" or layer in (None, "none") or not self.contract.takes_grammar:
            return None
        if set(self.kwargs.get("extra_body") or ()) & _OWN_GRAMMAR or self.kwargs.get("tools"):
            return None
        from steguard.decode import compile_constraint

        return compile_constraint(
            self.contract, names=self._prompt_names() if spec.prompt_names else ()
        )

    @property
    def enforcement(self) -> Mapping[str, tuple[str, ...]]:
        """By layer: the rules that it enforced while the model wrote."""
        if self.constraint is not None:
            return {str(self.capabilities.grammar): self.constraint.enforced}
        sent = self._constrain.mode != "off" and self._response_format()
        if not sent or sent["type"] != "json_schema":
            return {}
        from steguard.decode.schema import ENFORCED

        active = {a.rule.name for a in self.contract.profile.rules.active}
        return {"json_schema": tuple(rule for rule in ENFORCED if rule in active)}

    def _prompt_names(self) -> list[str]:
        """The text of the caller's messages; its words are names for the grammar."""
        texts = (read_content(get(message, "content")) for message in self.kwargs["messages"])
        return [text for text in texts if text]

    def _grammar_fields(self) -> dict[str, Any]:
        if self.constraint is None:
            return {}
        from steguard.decode.endpoint import layer_named

        layer = layer_named(str(self.capabilities.grammar))
        body = layer.body(self.constraint, repeat_guard=self._constrain.repeat_guard)
        return {**body, **(self.kwargs.get("extra_body") or {})}

    def first(self) -> dict[str, Any]:
        """The arguments of the first call."""
        kwargs = {**self.kwargs, "messages": list(self.messages)}
        body = self._grammar_fields()
        if body:
            kwargs["extra_body"] = body
        ours = self._response_format()
        if ours is not None and not is_given(kwargs.get("response_format")):
            kwargs["response_format"] = ours
        return kwargs

    def again(self, added: Sequence[Any]) -> dict[str, Any]:
        """The arguments of a further call for one choice, with drafts and feedback added."""
        kwargs = self.first()
        kwargs["messages"] = [*self.messages, *added]
        if "n" in kwargs:
            kwargs["n"] = 1
        return kwargs

    def weaken(self, kwargs: Mapping[str, Any], error: Exception) -> dict[str, Any] | None:
        """The same arguments for an endpoint that refuses what we added, else None."""
        if self.constraint is not None and "extra_body" in kwargs:
            weaker = self._without_grammar(kwargs, error)
            if weaker is not None:
                return weaker
        ours = self._response_format()
        if ours is None or kwargs.get("response_format") != ours:
            return None
        if self.contract.profile.spec.output.send != "auto":
            return None
        if getattr(error, "status_code", None) not in _REFUSED:
            return None
        text = f"{error} {getattr(error, 'body', '')}".lower()
        if not any(
            word in text for word in ("response_format", "json_schema", "json_object", "schema")
        ):
            return None
        self.capabilities.response_format = _WEAKER[str(ours["type"])]
        self.unenforced.append(f"response_format:{ours['type']}")
        weaker = {k: v for k, v in kwargs.items() if k != "response_format"}
        again = self._response_format()
        return {**weaker, "response_format": again} if again is not None else weaker

    def _without_grammar(
        self, kwargs: Mapping[str, Any], error: Exception
    ) -> dict[str, Any] | None:
        """The arguments without our grammar, where the endpoint's error is about it."""
        if getattr(error, "status_code", None) not in _REFUSED:
            return None
        text = f"{error} {getattr(error, 'body', '')}".lower()
        if not any(word in text for word in ("grammar", "structured", "ebnf", "dry_", "penalty")):
            return None
        self.unenforced.append(f"grammar:{self.capabilities.grammar}")
        self.found_grammar(None)
        self.__dict__["constraint"] = None
        plain = {k: v for k, v in kwargs.items() if k != "extra_body"}
        given = self.kwargs.get("extra_body")
        return {**plain, "extra_body": given} if given else plain

    def retry_messages(self, reply: Reply, feedback: str) -> list[Any]:
        """The model's draft, an answer to each tool call in it, and the feedback."""
        messages: list[Any] = []
        calls = [call for call in reply.tool_calls if get(call, "id")]
        if reply.text.strip() or calls:
            draft: dict[str, Any] = {"role": "assistant", "content": reply.text}
            if calls:
                draft["tool_calls"] = [_plain(call) for call in calls]
            messages.append(draft)
        messages += [
            {"role": "tool", "tool_call_id": get(call, "id"), "content": _NOT_RUN} for call in calls
        ]
        messages.append({"role": "user", "content": feedback})
        return messages

    def response(
        self, first: Any, choices: Sequence[ChoiceResult], responses: Sequence[Any], usage: Usage
    ) -> Any:
        """What the caller gets: the accepted answer, with the guard's text and the summed usage.

        The endpoint's own object is returned as it is where nothing in it has to change.
        """
        base = responses[0] if len(responses) == 1 else first
        if isinstance(base, Mapping) or not hasattr(base, "model_copy"):
            return base
        merged: list[Any] = []
        changed = False
        for index, (choice, response) in enumerate(zip(choices, responses, strict=False)):
            source = response.choices[index if response is first else 0]
            new = _with_text(source, choice.text, index)
            changed = changed or new is not base.choices[index]
            merged.append(new)
        update: dict[str, Any] = {"choices": merged} if changed else {}
        told = getattr(base, "usage", None)
        if told is not None and usage.total_tokens != told.total_tokens:
            update["usage"] = _summed(told, usage)
        return base.model_copy(update=update) if update else base

    @cached_property
    def _sent_schema(self) -> dict[str, Any]:
        """The schema of the contract, with patterns where the profile constrains."""
        if self._constrain.mode == "off":
            return cast(JsonForm, self.contract.form).schema or {}
        from steguard.decode.schema import constrain_schema

        return constrain_schema(self.contract)

    def _response_format(self) -> dict[str, Any] | None:
        form = self.contract.form
        send = self.contract.profile.spec.output.send
        if not isinstance(form, JsonForm) or send == "none":
            return None
        kind = self.capabilities.response_format if send == "auto" else send
        if kind == "json_schema" and form.schema is None:
            kind = "json_object"
        if kind == "none":
            return None
        if kind == "json_object" or form.schema is None:
            return {"type": "json_object"}
        schema = self._sent_schema
        name = form.model.__name__ if form.model else str(form.schema.get("title") or "answer")
        safe = "".join(c if c.isalnum() or c in "_-" else "_" for c in name)[:64]
        body = {"name": safe, "schema": schema, "strict": is_strict(schema)}
        return {"type": "json_schema", "json_schema": body}


def inject(messages: Sequence[Any], prompt: str) -> list[Any]:
    """The messages with the prompt in them, as new objects where something changes.

    The prompt goes to the end of the leading system (or developer) message, since constraints
    stand best last and many chat templates take one system message only.
    """
    if not prompt:
        return list(messages)
    first = messages[0] if messages else None
    if first is not None and get(first, "role") in ("system", "developer"):
        content = get(first, "content")
        joined: Any
        if isinstance(content, str) or content is None:
            joined = f"{content}\n\n{prompt}" if content else prompt
        else:
            joined = [*content, {"type": "text", "text": prompt}]
        if isinstance(first, Mapping):
            return [{**first, "content": joined}, *messages[1:]]
        return [{"role": get(first, "role"), "content": joined}, *messages[1:]]
    return [{"role": "system", "content": prompt}, *messages]


def is_given(value: object) -> bool:
    """Whether an argument was given; client libraries have markers for one that was not."""
    return value is not None and type(value).__name__ not in ("NotGiven", "Omit")


def _plain(call: Any) -> Any:
    return call.model_dump(exclude_none=True) if hasattr(call, "model_dump") else call


def _with_text(choice: Any, text: str, index: int) -> Any:
    """The choice with this text and place, or the same object where both are right already."""
    message = choice.message
    same = read_content(message.content) == text
    if same and choice.index == index:
        return choice
    update: dict[str, Any] = {"index": index}
    if not same:
        content = replace_content(message.content, text)
        update["message"] = message.model_copy(update={"content": content})
    return choice.model_copy(update=update)


def summed_usage(chunk: Any, usage: Usage) -> Any:
    """The usage of a chunk with the numbers of all attempts."""
    return _summed(get(chunk, "usage"), usage)


def _summed(told: Any, usage: Usage) -> Any:
    update: dict[str, Any] = {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.total_tokens,
    }
    if isinstance(told, Mapping):
        return {**told, **update}
    prompt = getattr(told, "prompt_tokens_details", None)
    if prompt is not None:
        update["prompt_tokens_details"] = prompt.model_copy(
            update={"cached_tokens": usage.cached_tokens}
        )
    completion = getattr(told, "completion_tokens_details", None)
    if completion is not None:
        update["completion_tokens_details"] = completion.model_copy(
            update={"reasoning_tokens": usage.reasoning_tokens}
        )
    return told.model_copy(update=update)
