"""Which actions the user's own words ask for.

The request is read with general rules about verbs and things: a verb in the place of a command
("please send", "and cancel") and the things that it names. No model takes part, and nothing
that a tool gave back is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

import regex

from steguard.gate import kinds
from steguard.gate.model import SideEffect
from steguard.gate.policy import ToolSpec
from steguard.gate.request import Request
from steguard.gate.verbs import command_verbs, forbidden_verbs, negated_clauses, verb_classes
from steguard.gate.words import STOP, nouns_alike


class Licence(StrEnum):
    """How far the request covers a tool."""

    ASKED = "asked"
    MAYBE = "maybe"
    OPEN = "open"
    FORBIDDEN = "forbidden"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Intent:
    """The licence of every tool that has an effect."""

    licences: Mapping[str, Licence]


def read_intent(request: str, tools: Mapping[str, ToolSpec]) -> Intent:
    """What the request asks for, of these tools."""
    read = Request(request)
    acting = {n: t for n, t in tools.items() if t.side_effect is not SideEffect.READ}
    asked = _asked(read, command_verbs(read.text), acting)
    banned = _asked(read, forbidden_verbs(request), acting, " ".join(negated_clauses(request)))
    unclear = read.wishes or (not asked and not _is_question(read.text))
    licences: dict[str, Licence] = {}
    for name, tool in acting.items():
        if name in banned and name not in asked:
            licences[name] = Licence.FORBIDDEN
        elif name in asked:
            sure = asked[name] or tool.side_effect is not SideEffect.DESTRUCTIVE
            licences[name] = Licence.ASKED if sure else Licence.MAYBE
        elif read.delegates:
            licences[name] = Licence.OPEN
        elif (unclear or (asked and _is_mild(tool))) and _names_thing(name, tool, read.stems):
            licences[name] = Licence.MAYBE
        else:
            licences[name] = Licence.NONE
    return Intent(licences)


def _asked(
    request: Request, verbs: frozenset[str], tools: Mapping[str, ToolSpec], about: str | None = None
) -> dict[str, bool]:
    """The tools that these verbs ask for; True where the request names the tool's thing too."""
    stems = request.stems if about is None else Request(about, whole=True).stems
    found: dict[str, bool] = {}
    for verb in verbs:
        classes = verb_classes()[verb]
        fit = [name for name in tools if classes & _tool_classes(name)]
        full = [n for n in fit if _names_thing(n, tools[n], stems | _thing_of(verb))]
        held = [name for name in fit if _is_held(tools[name])]
        for name in {*full, *held} or fit:
            found[name] = found.get(name, False) or name in full
    return found


def _is_mild(tool: ToolSpec) -> bool:
    """Whether a person may be asked about a tool that the request does not clearly ask for."""
    properties = (tool.schema_ or {}).get("properties") or {}
    secret = any(kinds.kind_of(k, p) is kinds.Kind.SECRET for k, p in properties.items())
    return tool.side_effect is not SideEffect.DESTRUCTIVE and not secret


def _is_held(tool: ToolSpec) -> bool:
    """Whether an argument that must be given says whom or what the action reaches."""
    schema = tool.schema_ or {}
    properties = schema.get("properties") or {}
    given = (properties.get(key) or {} for key in schema.get("required") or ())
    kind = {kinds.kind_of(k, p) for k, p in zip(schema.get("required") or (), given, strict=True)}
    return bool(kind & {kinds.Kind.ADDRESS, kinds.Kind.ID, kinds.Kind.SECRET})


def _thing_of(verb: str) -> frozenset[str]:
    """The thing that a verb names by itself: to email, to pay."""
    return nouns_alike(verb) if verb in _OWN_THING else frozenset()


_OWN_THING = frozenset("email mail message dm text pay refund reimburse book invite call".split())


@lru_cache(maxsize=4096)
def _tool_classes(name: str) -> frozenset[str]:
    words = kinds.tokens(name)
    verbs = verb_classes()
    verb = next((w for w in words if w in verbs), None)
    return verbs[verb] if verb else frozenset({"other"})


def _names_thing(name: str, tool: ToolSpec, stems: frozenset[str]) -> bool:
    words = kinds.tokens(name)
    verbs = verb_classes()
    verb = next((w for w in words if w in verbs), words[0] if words else "")
    things = [w for w in words if w != verb and w not in STOP]
    if not things:
        things = [w for w in kinds.tokens(tool.description.split(".")[0]) if w not in STOP][1:6]
    return any(nouns_alike(thing) & stems for thing in things)


def _is_question(text: str) -> bool:
    sentences = [s for s in regex.split(r"(?<=[.!?])\s+", text.strip()) if s]
    return bool(sentences) and all(
        s.rstrip().endswith("?") or _TELL.match(s.strip()) for s in sentences
    )


_TELL = regex.compile(
    r"(?:please )?(?:give|tell|show|list|find|summari[sz]e|explain|what|who|where|when|how|which|"
    r"get|read|check|look)\b",
    regex.IGNORECASE,
)
