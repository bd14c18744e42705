"""Where a value comes from: the request, the configuration, or a field of an observation.

An observation is never trusted or distrusted as a whole. Each of its fields is the system's or
content (:mod:`steguard.gate.kinds`, or the policy's ``observations``). A value counts as the
system's only where it is equal to a whole field; text that a person wrote can hold any words and
imitate any form, and is still one field of content.

Labels of evidence, from the strongest to the weakest:

- ``trusted_config``, ``user_request``: the value stands there, whole.
- ``named_record``: a system field of a record that the request names (its title, its file name).
- ``tool_observation``: another system field.
- ``request_words``: the value shares a word of weight with the request.
- ``named_content``: content of a document to which the request points.
- ``content``, ``retrieved_document``, ``memory_record``: content that nobody pointed to.
- ``unknown``: found nowhere. The model made it, or decoded it from somewhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import regex

from steguard.gate import kinds
from steguard.gate.model import Context, Observation, SideEffect, Source, Trust, leaves
from steguard.gate.policy import ObservationSpec, Policy
from steguard.gate.request import Name, Request
from steguard.gate.words import fold


@dataclass(frozen=True, slots=True)
class Evidence:
    """One place where a value stands."""

    label: str
    tool: str = ""
    pointer: str = ""

    def says(self) -> str:
        """The place in words, for a reason."""
        field = f"the field {self.pointer}" if self.pointer else "the text"
        return _PLACES[self.label].format(field=field, tool=self.tool)


_PLACES = {
    "trusted_config": "the configuration",
    "user_request": "the request",
    "named_record": "{field} of '{tool}'",
    "tool_observation": "{field} of '{tool}'",
    "named_content": "{field} of '{tool}', which other people can write",
    "content": "{field} of '{tool}', which other people can write",
    "retrieved_document": "{field} of the document of '{tool}'",
    "memory_record": "{field} of the memory of '{tool}'",
    "unknown": "no known source",
    "request_words": "no known source",
}


UNKNOWN = Evidence("unknown")
REQUEST = Evidence("user_request")


@dataclass(slots=True)
class _Record:
    """The fields of one thing: an email, a file, a contact."""

    names: list[Name] = field(default_factory=list)
    named: bool = False


@dataclass(frozen=True, slots=True)
class _Field:
    data: Any
    tool: str
    pointer: str
    record: _Record
    party: bool
    echo: bool


@dataclass(slots=True)
class Seen:
    """All values that the model has seen in one context, ready to be looked up."""

    request: Request
    trusted: set[Any] = field(default_factory=set)
    fields: dict[Any, list[_Field]] = field(default_factory=lambda: defaultdict(list))
    content: list[tuple[Any, Evidence]] = field(default_factory=list)
    _folded: list[tuple[str, Evidence]] = field(default_factory=list)

    def sure(self, value: Any) -> list[Evidence]:
        """Where this scalar stands as a whole: configuration, request, system fields."""
        key = lookup_key(value)
        found = [Evidence("trusted_config")] if key in self.trusted else []
        if self.request.holds(value):
            found.append(REQUEST)
        return found + [self._of_field(one) for one in self.fields.get(key, ()) if not one.echo]

    def evidence(self, value: Any) -> list[Evidence]:
        """Every kind of place where this scalar stands; ``unknown`` where it stands nowhere."""
        found = [*self.sure(value), *self._of_content(value)] or [UNKNOWN]
        if isinstance(value, str) and self.request.shares_word(value):
            found.append(Evidence("request_words"))
        return found

    def _of_field(self, one: _Field) -> Evidence:
        named = one.record.named and not (one.party and self._ambiguous(one))
        return Evidence("named_record" if named else "tool_observation", one.tool, one.pointer)

    def _ambiguous(self, one: _Field) -> bool:
        """Whether the request does not surely mean the person in this field.

        Whoever writes a letter chooses its sender. The request means him where it has his name or
        turns back to the writer ("reply", "refund"), and no other record that it names has
        another person in the same field.
        """
        if not (self.request.turns_back or self.request.names_person(one.data)):
            return True
        last = one.pointer.rsplit("/", 1)[-1]
        others = {
            key
            for key, fields in self.fields.items()
            for other in fields
            if other.party
            and other.record.named
            and other.tool == one.tool
            and other.pointer.rsplit("/", 1)[-1] == last
        }
        named = {key for key in others if self.request.names_person(key)}
        mine = lookup_key(one.data)
        return others != {mine} and named != {mine}

    def _of_content(self, value: Any) -> Iterator[Evidence]:
        text = fold(value if isinstance(value, str) else _number_text(value))
        if not text:
            return
        pattern = None
        for content, evidence in self._contents():
            if text in content:
                pattern = pattern or _bounded(text)
                if pattern.search(content):
                    yield evidence

    def _contents(self) -> list[tuple[str, Evidence]]:
        """All content as it is compared, made when it is first needed."""
        if not self._folded:
            self._folded = [(fold(str(value)), evidence) for value, evidence in self.content]
        return self._folded


def lookup_key(value: Any) -> Any:
    """What two values must share to be the same: letter case counts not in plain words."""
    if isinstance(value, bool) or value is None:
        return ("constant", value)
    if isinstance(value, int | float):
        return float(value)
    text = str(value).strip()
    return text.casefold() if _CASELESS.fullmatch(text) else text


_CASELESS = regex.compile(r"[\p{L} .,'&-]+|[\w.+-]+@[\w.-]+")


def _bounded(text: str) -> regex.Pattern[str]:
    return regex.compile(rf"(?<![\w]){regex.escape(text)}(?![\w])")


def _number_text(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = str(value)
    return text if len(text.strip("0.-")) >= 3 else ""


def look(policy: Policy, context: Context) -> Seen:
    """Read a context once; the result is kept with the context."""
    kept = context.seen.get(policy.hash)
    if kept is None:
        kept = context.seen[policy.hash] = _read(policy, context)
    return kept


def _read(policy: Policy, context: Context) -> Seen:
    seen = Seen(Request(context.request))
    for _, value in leaves(dict(context.trusted)):
        seen.trusted.add(lookup_key(value))
    written: frozenset[Any] = frozenset()
    for observation in context.observations:
        how = _reading(observation, policy, seen.request, written)
        _take(seen, observation, how)
        if policy.spec(observation.tool).side_effect is not SideEffect.READ:
            written = how.echoes
    return seen


@dataclass(frozen=True, slots=True)
class _Reading:
    """How one observation is read."""

    spec: ObservationSpec | None
    document: bool
    source: Source
    label: str
    echoes: frozenset[Any]
    named: bool

    def trust(self, pointer: str, keys: tuple[str, ...], value: Any) -> Trust:
        if self.source is not Source.TOOL_OBSERVATION:
            return Trust.CONTENT
        return _trust(self.spec, pointer, keys, value, self.document)

    def lists(self, keys: tuple[str, ...]) -> bool:
        """Whether a text is a tool's own words and not those of a document."""
        return not keys and not self.document and self.source is Source.TOOL_OBSERVATION


def _reading(
    observation: Observation, policy: Policy, request: Request, written: frozenset[Any]
) -> _Reading:
    """``written`` is what calls of this task have put into the world: it comes back as an echo."""
    spec = policy.observations.get(observation.tool)
    source = observation.source
    if spec is not None and source is Source.TOOL_OBSERVATION:
        source = spec.source
    told = policy.tools.get(observation.tool)
    asked = [value for _, value in leaves(dict(observation.arguments)) if value not in ("", None)]
    label = "content" if source is Source.TOOL_OBSERVATION else source.value
    if label == "content" and request.points_to(observation.tool, observation.arguments):
        label = "named_content"
    return _Reading(
        spec=spec,
        document=kinds.is_document(observation.tool, told.description if told else ""),
        source=source,
        label=label,
        echoes=written | {lookup_key(value) for value in asked},
        named=any(request.holds(value) for value in asked if not isinstance(value, bool)),
    )


def _take(seen: Seen, observation: Observation, how: _Reading) -> None:
    records: dict[str, _Record] = defaultdict(_Record)
    found: list[_Field] = []

    def add(value: Any, pointer: str, record: _Record, party: bool) -> None:
        echo = lookup_key(value) in how.echoes
        found.append(_Field(value, observation.tool, pointer, record, party, echo))

    for pointer, keys, value, is_key in _walk(observation.data):
        record = records[_root(observation.data, pointer)]
        name = _name(value, keys, is_key)
        if name is not None:
            record.names.append(name)
        if how.trust(pointer, keys, value) is Trust.SYSTEM:
            add(value, pointer, record, kinds.is_party(keys))
            continue
        label = "named_content" if how.lists(keys) else how.label
        seen.content.append((value, Evidence(label, observation.tool, pointer)))
        for number, line in _listed(value) if how.lists(keys) else ():
            add(line, f"{pointer}/{number}", record, False)
    for record in records.values():
        record.named = (how.named and len(records) == 1) or seen.request.names(record.names)
    for one in found:
        seen.fields[lookup_key(one.data)].append(one)


_NAMING = {kinds.Kind.NAME, kinds.Kind.TITLE, kinds.Kind.PATH, kinds.Kind.ADDRESS}


def _name(value: Any, keys: tuple[str, ...], is_key: bool) -> Name | None:
    """A field as a name of its record, where it can be one."""
    if isinstance(value, bool):
        return None
    kind = kinds.kind_of(keys[-1]) if keys else kinds.Kind.NAME
    if isinstance(value, int | float):
        plain = kind is not kinds.Kind.ID
        return Name(value, kinds.Kind.NUMBER, True) if plain else None
    if kind not in _NAMING or (isinstance(value, str) and len(value) > 2000):
        return None
    explicit = (
        kind is not kinds.Kind.NAME
        or is_key
        or "name" in kinds.tokens(keys[-1] if keys else "name")
    )
    return Name(str(value), kind, explicit)


def _listed(text: Any) -> Iterator[tuple[int, str]]:
    """The names in a list that a tool gives as text; nothing where a line is no plain name."""
    names = []
    for number, line in enumerate(str(text).splitlines()):
        parts = [part.strip(" \t-*•,;") for part in (line, line.partition(":")[2])]
        plain = [part for part in parts if _PLAIN_NAME.fullmatch(part)]
        if parts[0] and not plain:
            return
        names += [(number, name) for name in plain]
    yield from names


_PLAIN_NAME = regex.compile(r"\p{Lu}[\p{L}\p{N}'&. -]{1,60}")


def _trust(
    spec: ObservationSpec | None,
    pointer: str,
    keys: tuple[str, ...],
    value: Any,
    document: bool,
) -> Trust:
    if spec is not None:
        for pattern, trust in spec.fields.items():
            if pointer_matches(pattern, pointer):
                return trust
        if spec.default is not None:
            return spec.default
    return kinds.trust_of(keys, value, document)


def pointer_matches(pattern: str, pointer: str) -> bool:
    """Whether a pointer is the pattern's, or stands below it; ``*`` is any one part."""
    want, have = pattern.split("/"), pointer.split("/")
    return len(have) >= len(want) and all(a in ("*", b) for a, b in zip(want, have, strict=False))


_FIELD_NAME = regex.compile(r"[A-Za-z_]\w*")


def _walk(
    data: Any, pointer: str = "", keys: tuple[str, ...] = ()
) -> Iterator[tuple[str, tuple[str, ...], Any, bool]]:
    """Each leaf with its pointer and the names of its fields; keys that are data count too."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            name = str(key)
            here = f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"
            if not _FIELD_NAME.fullmatch(name):
                yield here, keys, name, True
                yield from _walk(value, here, keys)
            else:
                yield from _walk(value, here, (*keys, name))
    elif isinstance(data, list | tuple):
        for index, value in enumerate(data):
            yield from _walk(value, f"{pointer}/{index}", keys)
    elif data is not None and data != "":
        yield pointer, keys, data, False


def _root(data: Any, pointer: str) -> str:
    """The pointer of the record around a leaf: the innermost mapping that is an item of a list."""
    root, at = "", ""
    for part in pointer.split("/")[1:]:
        inside_list = isinstance(data, list | tuple)
        at += f"/{part}"
        if inside_list:
            data = data[int(part)]
        else:
            name = part.replace("~1", "/").replace("~0", "~")
            data = next((v for k, v in data.items() if str(k) == name), None)
        if inside_list and isinstance(data, Mapping):
            root = at
    return root


def fields(policy: Policy, observation: Observation) -> Iterator[tuple[str, Source, Trust]]:
    """The source and the trust of each leaf of an observation, for the record of it."""
    how = _reading(observation, policy, Request(""), frozenset())
    for pointer, keys, value, _ in _walk(observation.data):
        yield pointer, how.source, how.trust(pointer, keys, value)
