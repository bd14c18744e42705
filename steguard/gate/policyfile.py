"""Policy files: YAML or JSON in, a checked :class:`Policy` out, all faults at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

import regex
from pydantic import BaseModel, ValidationError

from steguard import yamlfile
from steguard.errors import ProfileError
from steguard.gate.policy import Policy, Rule
from steguard.gate.schemas import compile_schema
from steguard.yamlfile import Marked

Place = tuple[str | int, ...]
M = TypeVar("M", bound=BaseModel)


class PolicyError(ProfileError):
    """A gate policy cannot be used (file, line, column)."""


def load_policy(source: str | Path | Mapping[str, Any] | Policy) -> Policy:
    """A policy from a file, a mapping or a policy. Raises :class:`PolicyError`."""
    if isinstance(source, Policy):
        return source
    if isinstance(source, Mapping):
        return build(Marked(dict(source), {(): yamlfile.Mark("<policy>", 1, 1)}))
    return build(read(Path(source).expanduser()))


def parse_policy(text: str, file: str = "<policy>") -> Policy:
    """A policy from YAML text. Raises :class:`PolicyError`."""
    return build(_parse(text, file))


def read(path: Path) -> Marked:
    """The data of a file and its marks. Raises :class:`PolicyError`."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PolicyError(f"the file cannot be read: {error}", file=str(path)) from None
    return _parse(text, str(path))


def _parse(text: str, file: str) -> Marked:
    try:
        marked = yamlfile.parse(text, file)
        marked.marks.setdefault((), yamlfile.Mark(file, 1, 1))
        return marked
    except ProfileError as error:
        raise PolicyError(
            error.message, file=error.file, line=error.line, column=error.column
        ) from None


def build(marked: Marked) -> Policy:
    """A policy from data with marks. Raises :class:`PolicyError` with all faults."""
    policy = validated(Policy, marked, "a policy")
    for name, tool in policy.tools.items():
        try:
            compile_schema(tool.schema_ or {})
        except (ValueError, regex.error) as error:
            raise fault(marked, f"tool '{name}': {error}", ("tools", name, "schema")) from None
    return policy


def validated(model: type[M], marked: Marked, what: str) -> M:
    """Data as a model, with the place of every fault."""
    if not isinstance(marked.data, dict):
        raise fault(marked, f"{what} is a mapping of keys to values", ())
    try:
        return model.model_validate(marked.data)
    except ValidationError as error:
        faults = [_explain(model, marked, item) for item in error.errors()]
    first = faults[0]
    raise PolicyError(
        first.message,
        file=first.file,
        line=first.line,
        column=first.column,
        problems=[str(one) for one in faults[1:]],
    )


def fault(marked: Marked, message: str, place: Place) -> PolicyError:
    """An error at the place of a value."""
    at = marked.mark(place)
    if at is None:
        return PolicyError(message)
    return PolicyError(message, file=at.file, line=at.line, column=at.column)


def _explain(model: type[BaseModel], marked: Marked, item: Any) -> PolicyError:
    place: Place = tuple(item["loc"])
    name = ".".join(map(str, place))
    if item["type"] == "extra_forbidden":
        hint = yamlfile.nearest(str(place[-1]), _keys_at(model, place[:-1]))
        return fault(marked, f"unknown key '{place[-1]}'{hint}", place)
    if item["type"] == "missing":
        return fault(marked, f"the key '{place[-1]}' is missing", place[:-1])
    message = str(item["msg"]).removeprefix("Value error, ")
    return fault(marked, f"'{name}': {message}" if name else message, place)


def _keys_at(model: type[BaseModel], place: Place) -> list[str]:
    current: Any = model
    for part in place:
        current = _inside(current, part)
    if isinstance(current, type) and issubclass(current, BaseModel):
        return [field.alias or name for name, field in current.model_fields.items()]
    return []


def _inside(kind: Any, part: str | int) -> Any:
    """The type of a part of a type: a field of a model, an item of a list or a mapping."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        fields = kind.model_fields.items()
        return next((_bare(f.annotation) for n, f in fields if part in (n, f.alias)), None)
    arguments = get_args(kind)
    return _bare(arguments[-1]) if arguments else None


def _bare(kind: Any) -> Any:
    """A type without ``None`` beside it."""
    if get_origin(kind) in (Union, UnionType):
        return next((one for one in get_args(kind) if one is not type(None)), None)
    return kind


def remarks(policy: Policy, marked: Marked) -> Iterator[PolicyError]:
    """What is surely a mistake in a policy that can be used."""
    if not policy.rules:
        yield fault(marked, "the policy has no rule, so it denies every call", ())
    for number, rule in enumerate(policy.rules):
        yield from _rule_remarks(policy, rule, marked, ("rules", number))
    for name in policy.observations:
        if policy.tools and name not in policy.tools:
            hint = yamlfile.nearest(name, list(policy.tools))
            message = f"'tools' does not declare the tool '{name}'{hint}"
            yield fault(marked, message, ("observations", name))


def _rule_remarks(policy: Policy, rule: Rule, marked: Marked, at: Place) -> Iterator[PolicyError]:
    named = [name for name in rule.tools if name != "*"]
    for index, name in enumerate(rule.tools):
        if policy.tools and name != "*" and name not in policy.tools:
            hint = yamlfile.nearest(name, list(policy.tools))
            message = f"'tools' does not declare the tool '{name}'{hint}"
            yield fault(marked, message, (*at, "tools", index))
    for key in rule.arguments:
        for name in named:
            properties = (policy.spec(name).schema_ or {}).get("properties")
            if key.startswith("/") or not isinstance(properties, dict) or key in properties:
                continue
            hint = yamlfile.nearest(key, list(properties))
            message = f"the tool '{name}' has no argument '{key}'{hint}"
            yield fault(marked, message, (*at, "arguments", key))
