"""The words of Canon: verbs with their pattern, fields with their type, forbidden expressions.

A lexicon is a YAML file. The core lexicon ships with the package; a domain lexicon adds verbs and
fields under a name and a version of its own::

    canon-lexicon: v1.0
    name: logistics
    version: v1.0
    extends: core
    verbs:
      ship: {pattern: request, meaning: Send goods to an address.}
    fields:
      carrier: {type: <enum:dhl|ups>, meaning: Who carries the goods.}

>>> lexicon = load_lexicon("core", "logistics")
>>> lexicon.verbs["ship"].pattern
'request'
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from steguard import resources, yamlfile
from steguard.canon.model import TypeRef, Version, is_name
from steguard.canon.types import parse_type
from steguard.errors import ProfileError
from steguard.yamlfile import Marked, nearest

PATTERNS = ("request", "report", "query", "decision", "notice", "ack", "error")
"""The seven sentence patterns."""

KEYWORDS = frozenset(
    "with within is of selected occurred received failed because if then must not cannot and or in"
    " true false".split()
)
"""Words that no name may be."""

FEWEST_VERBS, MOST_VERBS = 10, 20

_TOP = ("canon-lexicon", "name", "version", "extends", "accepts", "verbs", "fields", "forbidden")
_FORMAT = "v1.0"


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb, its one sentence pattern, whether it answers a message, its names elsewhere."""

    name: str
    pattern: str
    meaning: str = ""
    answers: bool = False
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """A field name that a domain agrees on, with its type."""

    name: str
    type: TypeRef
    meaning: str = ""


@dataclass(frozen=True)
class Lexicon:
    """Verbs, fields and forbidden expressions, with the versions that they come from.

    ``version`` is the version of Canon that it writes, ``accepts`` those that it reads. ``parts``
    names every lexicon in it with its version, as two sides compare them. ``forbidden`` maps a
    lower-case expression to its kind (``time vague polite emotional negation``) and what to write.
    """

    name: str
    version: Version
    verbs: Mapping[str, Verb]
    fields: Mapping[str, FieldSpec] = field(default_factory=dict)
    forbidden: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    parts: tuple[tuple[str, Version], ...] = ()
    accepts: tuple[Version, ...] = (Version(1, 0),)

    def extended(self, other: Lexicon) -> Lexicon:
        """Both together. A verb of two patterns or a field of two types is a ProfileError."""
        differs = [
            *(n for n, v in other.verbs.items() if self.verbs.get(n, v).pattern != v.pattern),
            *(n for n, f in other.fields.items() if self.fields.get(n, f).type != f.type),
        ]
        if differs:
            names = ", ".join(f"'{name}'" for name in differs)
            raise ProfileError(
                f"the lexicons '{self.name}' and '{other.name}' define {names} differently"
            )
        parts = dict(self.parts)
        for name, version in other.parts:
            if parts.setdefault(name, version) != version:
                raise ProfileError(f"the lexicon '{name}' stands here in two versions")
        return Lexicon(
            name=f"{self.name}+{other.name}",
            version=self.version,
            verbs={**other.verbs, **self.verbs},
            fields={**other.fields, **self.fields},
            forbidden={**self.forbidden, **other.forbidden},
            parts=tuple(parts.items()),
            accepts=self.accepts,
        )

    def warnings(self) -> list[str]:
        """What makes the lexicon hard to learn: too few or too many verbs, patterns without one."""
        found: list[str] = []
        count = len(self.verbs)
        if not FEWEST_VERBS <= count <= MOST_VERBS:
            found.append(
                f"the lexicon '{self.name}' has {count} verbs; {FEWEST_VERBS} to {MOST_VERBS} "
                "can be learned"
            )
        used = {verb.pattern for verb in self.verbs.values()}
        missing = [name for name in PATTERNS if name not in used and name != "decision"]
        if missing:
            found.append(f"no verb has the pattern {', '.join(missing)}")
        return found

    def forbidden_in(self, text: str) -> re.Match[str] | None:
        """The first forbidden expression in the text, as a match on its lower-case form."""
        pattern = self.forbidden_pattern
        return pattern.search(text.lower()) if pattern is not None else None

    @cached_property
    def versions(self) -> dict[str, Version]:
        """The versions that it reads, by their text."""
        return {str(version): version for version in self.accepts}

    @cached_property
    def imperatives(self) -> frozenset[str]:
        """The verbs that start a sentence of their own."""
        return frozenset(v.name for v in self.verbs.values() if v.pattern == "request")

    def verbs_in(self, language: str) -> dict[str, str]:
        """The verbs by their name in a language; a verb without one keeps its own."""
        return {verb.names.get(language, name): name for name, verb in self.verbs.items()}

    def advice(self, expression: str) -> tuple[str, str]:
        """The kind of a forbidden expression and what to write for it."""
        return self.forbidden[" ".join(expression.lower().split())]

    @cached_property
    def avoided(self) -> frozenset[str]:
        """Keywords and forbidden expressions: what no bare word of a sentence is."""
        return KEYWORDS.union(self.forbidden)

    @cached_property
    def forbidden_pattern(self) -> re.Pattern[str] | None:
        """All forbidden expressions as one pattern on lower-case text."""
        if not self.forbidden:
            return None
        longest_first = sorted(self.forbidden, key=len, reverse=True)
        words = [re.escape(w).replace(r"\ ", " +") for w in longest_first if w.isascii()]
        others = [re.escape(w) for w in longest_first if not w.isascii()]
        parts = ([rf"(?<![\w'-])(?:{'|'.join(words)})(?![\w'-])"] if words else []) + others
        return re.compile("|".join(parts))


@cache
def core() -> Lexicon:
    """The core lexicon: ten verbs."""
    return read_lexicon(resources.data("canon/core.yaml"))


def lexicon_names() -> list[str]:
    """The names of the shipped lexicons."""
    files = resources.data("canon").glob("*.yaml")
    return sorted(
        path.stem for path in files if path.read_text("utf-8").find("\ncanon-lexicon:") >= 0
    )


def load_lexicon(*sources: str | Path | Lexicon) -> Lexicon:
    """One lexicon of all of these: shipped names, files or lexicons. The core is always in it.

    Raises :class:`~steguard.errors.ProfileError` with file, line and column.
    """
    made = core()
    for source in sources:
        one = source if isinstance(source, Lexicon) else read_lexicon(_find(source))
        if one.name != "core":
            made = made.extended(one)
    return made


def read_lexicon(path: Path) -> Lexicon:
    """The lexicon in one file, without the lexicons that it extends."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ProfileError(f"cannot read the lexicon: {error.strerror}", file=str(path)) from None
    except UnicodeDecodeError:
        raise ProfileError("the file is not UTF-8", file=str(path)) from None
    return parse_lexicon(text, str(path))


def parse_lexicon(text: str, file: str = "<lexicon>") -> Lexicon:
    """The lexicon in this YAML text. Raises ProfileError with every fault and its position."""
    return _Reader(yamlfile.parse(text, file)).lexicon()


class _Reader:
    """Reads one marked YAML document and collects every fault."""

    def __init__(self, marked: Marked) -> None:
        self._marked = marked
        self._faults: list[ProfileError] = []

    def lexicon(self) -> Lexicon:
        data = self._marked.data
        if not isinstance(data, dict):
            raise self._marked.error("a lexicon is a mapping with the key 'canon-lexicon'")
        for key in data:
            if key not in _TOP:
                self._fault(f"unknown key '{key}'{nearest(key, _TOP)}", key)
        if data.get("canon-lexicon") != _FORMAT:
            self._fault(f"write 'canon-lexicon: {_FORMAT}' first", "canon-lexicon")
        name = data.get("name")
        if not isinstance(name, str) or not is_name(name):
            self._fault("the lexicon needs a 'name' of letters, digits and '_'", "name")
        version = self._version(data.get("version"), "version")
        verbs = {key: self._verb(key, value) for key, value in self._mapping("verbs")}
        fields = {key: self._field(key, value) for key, value in self._mapping("fields")}
        forbidden = self._forbidden()
        accepts = self._accepts(data.get("accepts", ["v1.0"]))
        if data.get("extends", "core") != "core":
            self._fault("a lexicon extends 'core' only; name others when you load it", "extends")
        self._raise()
        return Lexicon(
            name=str(name),
            version=max(accepts),
            verbs=verbs,
            fields=fields,
            forbidden=forbidden,
            parts=((str(name), version),),
            accepts=accepts,
        )

    def _fault(self, message: str, *path: str) -> None:
        self._faults.append(self._marked.error(message, path))

    def _raise(self) -> None:
        if self._faults:
            first, *others = sorted(self._faults, key=lambda e: (e.line or 0, e.column or 0))
            raise ProfileError(
                first.message,
                file=first.file,
                line=first.line,
                column=first.column,
                problems=[other.problems[0] for other in others],
            )

    def _mapping(self, key: str) -> list[tuple[str, Any]]:
        value = self._marked.data.get(key)
        if value is None:
            return []
        if not isinstance(value, dict):
            self._fault(f"'{key}' is a mapping of names", key)
            return []
        return list(value.items())

    def _version(self, value: Any, *path: str) -> Version:
        found = Version.parse(value) if isinstance(value, str) else None
        if found is None:
            self._fault("a version is written as 'v1.0'", *path)
        return found or Version(0, 0)

    def _accepts(self, value: Any) -> tuple[Version, ...]:
        if not isinstance(value, list) or not value:
            self._fault("'accepts' is a list of versions such as [v1.0]", "accepts")
            return (Version(1, 0),)
        return tuple(self._version(item, "accepts") for item in value)

    def _verb(self, name: str, value: Any) -> Verb:
        path = ("verbs", name)
        self._name(name, "verb", path)
        if not isinstance(value, dict):
            self._fault("a verb is written as {pattern: request, meaning: ...}", *path)
            return Verb(name, "request")
        self._keys(value, ("pattern", "meaning", "answers", "names"), path)
        pattern = value.get("pattern")
        if pattern not in PATTERNS:
            hint = nearest(str(pattern), PATTERNS)
            self._fault(f"a verb has one pattern; '{pattern}' is none{hint}", *path, "pattern")
        answers = value.get("answers", False)
        if not isinstance(answers, bool):
            self._fault("'answers' is true or false", *path, "answers")
        names = value.get("names", {})
        if not isinstance(names, dict) or not all(is_name(str(one)) for one in names.values()):
            self._fault("'names' maps a language to the verb's name in it", *path, "names")
            names = {}
        return Verb(name, str(pattern), str(value.get("meaning", "")), bool(answers), names)

    def _field(self, name: str, value: Any) -> FieldSpec:
        path = ("fields", name)
        self._name(name, "field", path)
        spec = {"type": value} if isinstance(value, str) else value
        if not isinstance(spec, dict):
            self._fault("a field is written as '<int>' or {type: <int>, meaning: ...}", *path)
            return FieldSpec(name, TypeRef("text"))
        self._keys(spec, ("type", "meaning"), path)
        made = parse_type(str(spec.get("type", "")))
        if isinstance(made, str):
            self._fault(made, *path, *(["type"] if isinstance(value, dict) else []))
            made = TypeRef("text")
        return FieldSpec(name, made, str(spec.get("meaning", "")))

    def _name(self, name: str, what: str, path: Sequence[str]) -> None:
        if not is_name(name) or name in KEYWORDS:
            self._fault(f"'{name}' cannot be a {what}: write a name that is no keyword", *path)

    def _keys(self, value: dict[str, Any], known: Sequence[str], path: Sequence[str]) -> None:
        for key in value:
            if key not in known:
                self._fault(f"unknown key '{key}'{nearest(key, known)}", *path, key)

    def _forbidden(self) -> dict[str, tuple[str, str]]:
        made: dict[str, tuple[str, str]] = {}
        for kind, entries in self._mapping("forbidden"):
            if not isinstance(entries, dict):
                self._fault("write 'expression: what to write'", "forbidden", kind)
                continue
            for expression, advice in entries.items():
                made[" ".join(expression.lower().split())] = (kind, str(advice))
        return made


def _find(source: str | Path) -> Path:
    path = Path(source)
    if path.suffix in (".yaml", ".yml"):
        return path
    names = lexicon_names()
    if str(source) in names:
        return resources.data(f"canon/{source}.yaml")
    raise ProfileError(f"unknown lexicon '{source}'{nearest(str(source), names)}")
