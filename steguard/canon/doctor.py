"""What to look at when two sides do not understand each other.

>>> print(examine(text).show())

The exact text with its bytes and every invisible character by name; the versions that stand in it;
and the words of the two sides compared: versions, verbs, fields, types and enum values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from steguard.canon.chars import describe
from steguard.canon.compatibility import compare
from steguard.canon.lexicon import Lexicon, core
from steguard.canon.model import Version
from steguard.canon.problems import CanonFinding
from steguard.canon.raw import RawLine, invisible, raw_lines
from steguard.canon.registry import Registry
from steguard.canon.verdict import Kind, judge
from steguard.canon.versions import negotiate, offer


@dataclass(frozen=True)
class Odd:
    """A character that nobody sees, or that looks like another one."""

    line: int
    column: int
    name: str


@dataclass(frozen=True)
class Examination:
    """Everything about one text. ``differences`` compares the two sides, where both are known."""

    lines: tuple[RawLine, ...]
    odd: tuple[Odd, ...]
    kind: Kind
    valid: bool
    findings: tuple[CanonFinding, ...]
    version: str | None
    lexicons: tuple[tuple[str, Version], ...]
    size: int
    differences: tuple[str, ...] = field(default=())

    def show(self, *, raw: bool = True) -> str:
        """The examination as text."""
        parts = [f"{self.size} bytes, {len(self.lines)} lines, read as a {self.kind}"]
        for line in self.lines:
            parts.append(f"{line.number:4d} | {line.shown}")
            if raw:
                parts.append(f"     | {line.hex}")
        parts.append("")
        if self.odd:
            parts.append("Characters to look at:")
            parts += [f"  {odd.line}:{odd.column} {odd.name}" for odd in self.odd]
        else:
            parts.append("There are no invisible characters.")
        parts.append(f"Version in the text: {self.version or 'none'}")
        ours = ", ".join(f"{name} {version}" for name, version in self.lexicons)
        parts.append(f"Our lexicons: {ours}")
        parts += [f"Difference: {line}" for line in self.differences]
        count = sum(f.severity.value == "error" for f in self.findings)
        verdict = "valid" if self.valid else f"not valid, {count} errors:"
        parts.append(f"The text is {verdict}")
        parts += [
            f"  {f.line}:{f.column} {f.code} {f.rule}: {f.message} {f.suggestion or ''}".rstrip()
            for f in self.findings
        ]
        return "\n".join(parts)

    def to_dict(self) -> dict[str, object]:
        """Plain data."""
        return {
            "bytes": self.size,
            "lines": [
                {"number": one.number, "shown": one.shown, "hex": one.hex} for one in self.lines
            ],
            "odd": [{"line": o.line, "column": o.column, "name": o.name} for o in self.odd],
            "kind": self.kind,
            "version": self.version,
            "lexicons": {name: str(version) for name, version in self.lexicons},
            "differences": list(self.differences),
            "valid": self.valid,
            "findings": [f.to_dict() for f in self.findings],
        }


def examine(
    sent: str | bytes,
    *,
    kind: Kind | None = None,
    registry: Registry | None = None,
    lexicon: Lexicon | None = None,
    differences: Sequence[str] = (),
) -> Examination:
    """Look at a text, or at the bytes as they came. Never raises for what it holds."""
    data = sent.encode("utf-8", "surrogatepass") if isinstance(sent, str) else sent
    text = data.decode("utf-8", "surrogateescape")
    verdict = judge(text, kind, registry=registry, lexicon=lexicon, stream=True)
    return Examination(
        tuple(raw_lines(data)),
        tuple(_odd(text)),
        verdict.kind,
        verdict.ok,
        verdict.findings,
        _version(text),
        (lexicon or core()).parts,
        len(data),
        tuple(differences),
    )


def compare_sides(
    ours: tuple[Lexicon, Registry | None], theirs: tuple[Lexicon, Registry | None]
) -> list[str]:
    """How the words of two sides differ: versions, verbs, subjects, fields, types, enum values."""
    found = list(negotiate(offer(*ours), offer(*theirs)).differences)
    for name in sorted(ours[0].verbs.keys() & theirs[0].verbs.keys()):
        mine, other = ours[0].verbs[name], theirs[0].verbs[name]
        if mine.pattern != other.pattern:
            found.append(
                f"Verb '{name}': our pattern is {mine.pattern}, theirs is {other.pattern}."
            )
    for name in sorted(ours[0].fields.keys() & theirs[0].fields.keys()):
        one, two = ours[0].fields[name].type, theirs[0].fields[name].type
        if one != two:
            found.append(f"Field '{name}': our type is {one}, theirs is {two}.")
    if ours[1] is not None and theirs[1] is not None:
        found += _subject_differences(ours[1], theirs[1])
    return found


def _subject_differences(ours: Registry, theirs: Registry) -> Iterator[str]:
    for name in sorted(ours.subjects.keys() & theirs.subjects.keys()):
        mine, other = ours.versions(name)[0], theirs.versions(name)[0]
        both = compare(mine, other)
        for side, breaks in (("They", both.backward_breaks), ("We", both.forward_breaks)):
            for one in breaks:
                reader = "refuse what we send" if side == "They" else "refuse what they send"
                where = f"{name} {one.action}" + (f" '{one.field}'" if one.field else "")
                yield f"{side} {reader}: {where}: {one.message}"


def _odd(text: str) -> Iterator[Odd]:
    """Invisible characters, blanks of other widths, and letters that look like ASCII."""
    alike = [(at, describe(char)) for at, char in enumerate(text) if char in _ALIKE]
    for at, name in sorted([*invisible(text), *alike]):
        line = text.count("\n", 0, at) + 1
        yield Odd(line, at - text.rfind("\n", 0, at), name)


_ALIKE = frozenset(
    "аеорсухіјѕԁɡοανΑΒΕΖΗΙΚΜΝΟΡΤΥΧАВЕКМНОРСТХІЈ"
    "：，；（）＝＜＞＂＇［］｛｝－＿．０１２３４５６７８９“”‘’–—−"
)


def _version(text: str) -> str | None:
    for line in text.lstrip("\ufeff").splitlines():
        key, colon, value = line.partition(":")
        if colon and key.strip() in ("canon-message", "canon-prompt"):
            return value.strip()
    return None
