"""Key and value become claims.

A value is a scalar (equality), a list (one of; for a count of text, two growing numbers are a
range), or a mapping of relations::

    {min: 1500, max: 2500}      {above: 0, below: 1}       {between: [5, 9]}
    {one_of: [en, zh]}          {not: html}                {none_of: [html, pdf]}
    {requires: [Risks]}         {forbids: [maybe]}         {starts_with: "Dear"}

Text like ``1500-2500``, ``<= 500 words`` or ``at least 3`` is read as a range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from steguard.instructions.claims import (
    Affix,
    BadValue,
    Bound,
    Claim,
    Has,
    NeedsTool,
    NoneOf,
    OneOf,
    Scalar,
    Setting,
    scalar,
    scalars,
)
from steguard.instructions.keys import (
    MEASURES,
    OUTPUT,
    TERM,
    Key,
    Role,
    Subject,
    read_key,
)
from steguard.instructions.ranges import (
    read_instant,
    read_number,
    read_quantity,
    read_range,
    read_unit,
)
from steguard.instructions.records import Instruction
from steguard.instructions.toolvalues import tool_claims
from steguard.rules.limits._language import code_of
from steguard.yamlfile import nearest


def claims_of(rule: Instruction, products: frozenset[str] = frozenset()) -> list[Claim]:
    """The claims of a rule. Raises :class:`BadValue`."""
    claims: list[Claim] = [NeedsTool(tool) for tool in rule.needs.tools]
    if rule.key is None:
        if rule.value is not None:
            raise BadValue("a value needs a 'key' that says what it is the value of")
        return claims
    key = read_key(rule.key)
    if rule.value is None:
        raise BadValue(f"the key '{rule.key}' needs a value")
    if key.path[0] == "tools" and not _is_tool_number(key):
        return [*claims, *tool_claims(key, rule.value)]
    return [*claims, *_claims(key, rule.value, products)]


def _is_tool_number(key: Key) -> bool:
    inner = any(part in ("args", "arguments") for part in key.path[1:])
    return key.role in (Role.MAX, Role.MIN) or inner


def _claims(key: Key, value: Any, products: frozenset[str]) -> list[Claim]:
    if key.path[0] == "budget" and key.role is Role.PLAIN and scalar(value)[0] == "number":
        key = replace(key, role=Role.MAX)
    if key.path[-1] == "word" and key.role in (Role.REQUIRED, Role.FORBIDDEN, Role.ALLOWED):
        listed = value if isinstance(value, list) else [value]
        if all(scalar(item)[0] == "text" for item in listed):
            key = replace(key, path=(*key.path[:-1], TERM))
    subject = key.subject(products)
    made = [*_BY_ROLE[key.role](subject, value), *_implied(subject, value)]
    return [_one_name(claim) for claim in made]


_ALIASES = {
    "format": {"md": "markdown", "txt": "text", "plain text": "plain", "plaintext": "plain"},
    "case": {"uppercase": "upper", "lowercase": "lower", "capitals": "upper"},
}


_LANGUAGES = {
    "english": "en", "chinese": "zh", "german": "de", "french": "fr", "spanish": "es",
    "italian": "it", "portuguese": "pt", "dutch": "nl", "russian": "ru", "japanese": "ja",
    "korean": "ko", "arabic": "ar", "hindi": "hi", "turkish": "tr", "polish": "pl",
    "swedish": "sv", "american english": "en-us", "british english": "en-gb", "中文": "zh",
    "mandarin": "zh", "deutsch": "de", "français": "fr", "español": "es",
}  # fmt: skip


def _one_name(claim: Claim) -> Claim:
    """The claim with each value under its one name: ``English`` is ``en``."""
    if not isinstance(claim, OneOf | NoneOf | Has):
        return claim
    if ("text", "") in claim.values:
        raise BadValue("a value is empty text; write a word or remove it")
    last = claim.subject.name.rpartition(".")[2]
    if last == "language":
        return replace(claim, values=frozenset(_language(item) for item in claim.values))
    names = _ALIASES.get(last)
    if names is None:
        return claim
    return replace(claim, values=frozenset((k, names.get(v, v)) for k, v in claim.values))


def _language(item: Scalar) -> Scalar:
    kind, name = item
    if kind != "text":
        return item
    tag = str(name).replace("_", "-")
    named = _LANGUAGES.get(tag, tag)
    return (kind, named if "-" in named else code_of(named) or named)


def _implied(subject: Subject, value: Any) -> list[Claim]:
    """A schema makes the output JSON, a template makes it HTML."""
    head, _, last = subject.name.rpartition(".")
    form = {"schema": "json", "template": "html"}.get(last)
    if form is None or value is False:
        return []
    named = Subject(subject.space, f"{head}.format" if head else "format")
    return [OneOf(named, frozenset({("text", form)}))]


def _max(subject: Subject, value: Any) -> list[Claim]:
    if isinstance(value, Mapping) and "value" not in value:
        return _relations(subject, value)
    number, subject = read_quantity(subject, value)
    limit = Setting(subject, Role.MAX, ("number", number), -number)
    return [limit, Bound(subject, high=number)]


def _min(subject: Subject, value: Any) -> list[Claim]:
    if isinstance(value, Mapping) and "value" not in value:
        return _relations(subject, value)
    number, subject = read_quantity(subject, value)
    limit = Setting(subject, Role.MIN, ("number", number), number)
    return [limit, Bound(subject, low=number)]


def _required(subject: Subject, value: Any) -> list[Claim]:
    kind, plain = scalar(value)
    if kind == "bool":
        switch = Setting(subject, Role.REQUIRED, (kind, plain), float(plain))
        return [switch, Bound(subject, low=1)] if plain else [switch]
    if kind == "number":
        return _min(subject, value)
    if isinstance(value, Mapping):
        return _relations(subject, value)
    return [Has(subject, scalars(value))]


def _forbidden(subject: Subject, value: Any) -> list[Claim]:
    kind, plain = scalar(value)
    if kind == "bool":
        switch = Setting(subject, Role.FORBIDDEN, (kind, plain), float(plain))
        return [switch, Bound(subject, high=0)] if plain else [switch]
    if isinstance(value, Mapping):
        raise BadValue("write the forbidden values as a list")
    return [NoneOf(subject, scalars(value))]


def _allowed(subject: Subject, value: Any) -> list[Claim]:
    kind, plain = scalar(value)
    if kind == "bool":
        switch = Setting(subject, Role.ALLOWED, (kind, plain), float(not plain))
        return [switch] if plain else [switch, Bound(subject, high=0)]
    if isinstance(value, Mapping):
        return _relations(subject, value)
    return [OneOf(subject, scalars(value))]


def _affix(subject: Subject, value: Any) -> list[Claim]:
    if not isinstance(value, str) or not value.strip():
        raise BadValue("write the phrase as text")
    name = "start" if subject.name.endswith("start") else "end"
    head = subject.name.rpartition(".")[0]
    return [Affix(Subject(subject.space, f"{head}.{name}" if head else name), _phrase(value))]


def _enabled(subject: Subject, value: Any, *, on: bool = True) -> list[Claim]:
    kind, plain = scalar(value)
    if kind != "bool":
        raise BadValue("write true or false")
    named = Subject(subject.space, f"{subject.name}.enabled")
    return [OneOf(named, frozenset({("bool", plain is on)}))]


def _plain(subject: Subject, value: Any) -> list[Claim]:
    if isinstance(value, Mapping):
        return _relations(subject, value)
    if isinstance(value, list):
        if subject.name in MEASURES and _is_pair(value):
            return [Bound(subject, float(value[0]), float(value[1]))]
        return [OneOf(subject, scalars(value))]
    if isinstance(value, str):
        word = value.strip().lower()
        if word in ("required", "mandatory"):
            return _required(subject, True)
        if word in ("forbidden", "prohibited"):
            return _forbidden(subject, True)
        if word == "optional":
            return _required(subject, False)
        read = read_range(subject, value)
        if read is not None:
            return [read]
    kind, plain = scalar(value)
    if kind == "number":
        return [Bound(subject, plain, plain)]
    return [OneOf(subject, frozenset({(kind, plain)}))]


def _is_pair(value: list[Any]) -> bool:
    """Whether a list is two growing numbers: of a count of text, that is a range."""
    kinds = [scalar(item) for item in value]
    numbers = len(kinds) == 2 and all(kind == "number" for kind, _ in kinds)
    return numbers and bool(kinds[0][1] < kinds[1][1])


_BY_ROLE: dict[Role, Callable[[Subject, Any], list[Claim]]] = {
    Role.PLAIN: _plain,
    Role.MAX: _max,
    Role.MIN: _min,
    Role.REQUIRED: _required,
    Role.FORBIDDEN: _forbidden,
    Role.ALLOWED: _allowed,
    Role.STARTS: _affix,
    Role.ENDS: _affix,
    Role.ENABLED: _enabled,
    Role.DISABLED: lambda subject, value: _enabled(subject, value, on=False),
}

_RELATIONS = {
    "min": "low", "gte": "low", "ge": "low", "at_least": "low", "minimum": "low", "from": "low",
    "max": "high", "lte": "high", "le": "high", "at_most": "high", "maximum": "high", "to": "high",
    "above": "above", "gt": "above", "more_than": "above", "greater_than": "above",
    "exclusive_min": "above", "exclusive_minimum": "above",
    "below": "below", "lt": "below", "less_than": "below", "fewer_than": "below",
    "exclusive_max": "below", "exclusive_maximum": "below",
    "exactly": "equal", "equals": "equal", "eq": "equal", "is": "equal", "value": "equal",
    "between": "between", "range": "between",
    "one_of": "in", "in": "in", "enum": "in", "any_of": "in", "allowed": "in", "only": "in",
    "not": "out", "not_in": "out", "none_of": "out", "ne": "out", "not_equal": "out",
    "requires": "has", "required": "has", "require": "has", "includes": "has", "include": "has",
    "contains": "has", "all_of": "has", "must_include": "has",
    "forbids": "out", "forbidden": "out", "forbid": "out", "excludes": "out", "exclude": "out",
    "must_not_include": "out", "starts_with": "start", "ends_with": "end",
    "before": "below", "after": "above", "not_before": "low", "not_after": "high",
    "unit": "unit", "type": "type",
}  # fmt: skip


def _relations(subject: Subject, value: Mapping[str, Any]) -> list[Claim]:
    known = {name: _RELATIONS[name] for name in value if name in _RELATIONS}
    whole = subject.name.rpartition(".")[2] in ("schema", "template")
    if whole or set(known.values()) <= {"unit", "type"}:
        return [OneOf(subject, frozenset({scalar(dict(value))}))]
    for name in value:
        if name not in _RELATIONS:
            raise BadValue(f"unknown relation '{name}'{nearest(name, sorted(_RELATIONS))}")
    factor, subject = read_unit(subject, value.get("unit"))
    claims: list[Claim] = []
    for name, relation in sorted(known.items()):
        claims += _relation(subject, name, relation, value[name], factor)
    if not claims:
        raise BadValue("the value has no relation; write one such as 'max'")
    return claims


def _relation(subject: Subject, name: str, relation: str, given: Any, factor: float) -> list[Claim]:
    if relation in ("low", "high", "above", "below"):
        instant = read_instant(given)
        plain, subject = (
            read_quantity(subject, given, name) if instant is None else (instant, subject)
        )
        number = plain * factor
        is_low, opened = relation in ("low", "above"), relation in ("above", "below")
        if is_low:
            return [Bound(subject, low=number, low_open=opened)]
        return [Bound(subject, high=number, high_open=opened)]
    if relation == "between":
        if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != 2:
            raise BadValue(f"'{name}' takes a list of two numbers")
        low, high = (read_number(item, name) * factor for item in given)
        return [Bound(subject, low, high)]
    if relation == "equal":
        kind, plain = scalar(given)
        if kind == "number":
            return [Bound(subject, plain * factor, plain * factor)]
        return [OneOf(subject, scalars(given))]
    if relation in ("start", "end"):
        if not isinstance(given, str) or not given.strip():
            raise BadValue(f"'{name}' takes text")
        return [Affix(Subject(subject.space, relation), _phrase(given))]
    if relation in ("unit", "type"):
        return []
    if isinstance(given, bool) and name in ("required", "forbidden", "allowed"):
        return _BY_ROLE[Role(name)](subject, given)
    makers: dict[str, type[Has | OneOf | NoneOf]] = {"has": Has, "in": OneOf, "out": NoneOf}
    values = frozenset(
        (kind, plain * factor) if kind == "number" else (kind, plain)
        for kind, plain in scalars(given)
    )
    return [makers[relation](subject, values)]


def _phrase(text: str) -> str:
    return " ".join(text.split()).casefold()


def products_of(rules: Iterable[Instruction], artifact: str | None = None) -> frozenset[str]:
    """The names of products that rules speak of."""
    names = {name for rule in rules for name in rule.artifacts}
    keys = (read_key(rule.key).product() for rule in rules if rule.key)
    names |= {name for name in keys if name is not None}
    if artifact:
        parts = artifact.lower().replace("-", "_").split("_")
        names |= {artifact, *("_".join(parts[at:]) for at in range(len(parts)))}
    return frozenset(names - {OUTPUT})
