"""Which versions two sides have in common, and what each side alone has.

>>> agreement = negotiate(offer(mine, registry), Offer.from_dict(theirs))
>>> agreement.canon, agreement.subjects["inventory_check"]
(Version(major=1, minor=0), Version(major=1, minor=1))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from steguard.canon.lexicon import Lexicon
from steguard.canon.model import Version
from steguard.canon.registry import Registry
from steguard.canon.subjects import read_version
from steguard.errors import ProfileError


@dataclass(frozen=True)
class Offer:
    """What one side reads: versions of Canon, lexicons, verbs, and versions of subjects."""

    canon: tuple[Version, ...]
    lexicons: Mapping[str, Version] = field(default_factory=dict)
    verbs: frozenset[str] = frozenset()
    subjects: Mapping[str, tuple[Version, ...]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The offer as JSON data, to send to the other side."""
        return {
            "canon": [str(v) for v in self.canon],
            "lexicons": {name: str(v) for name, v in self.lexicons.items()},
            "verbs": sorted(self.verbs),
            "subjects": {name: [str(v) for v in vs] for name, vs in self.subjects.items()},
        }

    @classmethod
    def from_dict(cls, data: Any, file: str = "<offer>") -> Offer:
        """Read an offer. Raises :class:`ProfileError` where the data is none."""
        try:
            return cls(
                tuple(map(read_version, _texts(data["canon"]))),
                {name: read_version(str(v)) for name, v in data.get("lexicons", {}).items()},
                frozenset(_texts(data.get("verbs", []))),
                {
                    name: tuple(map(read_version, _texts(vs)))
                    for name, vs in data.get("subjects", {}).items()
                },
            )
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ProfileError(
                f"this is no offer ({type(error).__name__}: {error}); "
                "make one with: steguard canon negotiate --offer",
                file=file,
            ) from None


def offer(lexicon: Lexicon, registry: Registry | None = None) -> Offer:
    """What a program with this lexicon and registry reads."""
    subjects = registry.subjects if registry else {}
    return Offer(
        tuple(sorted(lexicon.accepts, reverse=True)),
        dict(lexicon.parts),
        frozenset(lexicon.verbs),
        {name: tuple(s.version for s in versions) for name, versions in subjects.items()},
    )


@dataclass(frozen=True)
class Agreement:
    """What both sides read, and the differences in words.

    ``canon`` is the highest version of Canon that both read, None where there is none. For a
    lexicon it is the lower of two versions with the same major number.
    """

    canon: Version | None
    lexicons: Mapping[str, Version]
    verbs: tuple[str, ...]
    subjects: Mapping[str, Version]
    differences: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether the two sides can talk at all."""
        return self.canon is not None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for a report."""
        return {
            "canon": str(self.canon) if self.canon else None,
            "lexicons": {name: str(v) for name, v in self.lexicons.items()},
            "verbs": list(self.verbs),
            "subjects": {name: str(v) for name, v in self.subjects.items()},
            "differences": list(self.differences),
        }


def negotiate(mine: Offer, theirs: Offer) -> Agreement:
    """The highest versions that both sides read."""
    canon = max(set(mine.canon) & set(theirs.canon), default=None)
    lexicons = {
        name: min(version, theirs.lexicons[name])
        for name, version in mine.lexicons.items()
        if name in theirs.lexicons and theirs.lexicons[name].major == version.major
    }
    subjects = {
        name: max(common)
        for name, versions in mine.subjects.items()
        if (common := set(versions) & set(theirs.subjects.get(name, ())))
    }
    return Agreement(
        canon,
        lexicons,
        tuple(sorted(mine.verbs & theirs.verbs)),
        subjects,
        tuple(_differences(mine, theirs)),
    )


def _differences(mine: Offer, theirs: Offer) -> Iterator[str]:
    if not set(mine.canon) & set(theirs.canon):
        yield f"Canon: we read {_list(mine.canon)} and they read {_list(theirs.canon)}."
    for name in sorted({*mine.lexicons, *theirs.lexicons}):
        ours, others = mine.lexicons.get(name), theirs.lexicons.get(name)
        if ours != others:
            yield f"Lexicon '{name}': we have {ours or 'none'} and they have {others or 'none'}."
    for verb in sorted(mine.verbs ^ theirs.verbs):
        yield f"Verb '{verb}': only {'we' if verb in mine.verbs else 'they'} have it."
    for name in sorted({*mine.subjects, *theirs.subjects}):
        ours_, others_ = mine.subjects.get(name, ()), theirs.subjects.get(name, ())
        if set(ours_) != set(others_):
            yield f"Subject '{name}': we have {_list(ours_)} and they have {_list(others_)}."


def _list(versions: Sequence[Version]) -> str:
    return ", ".join(map(str, sorted(versions, reverse=True))) or "none"


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list):
        raise TypeError("a list is expected")
    return [str(item) for item in value]
