"""Canon as a decoding grammar: a model behind it can only write text that is valid Canon.

>>> sentence_grammar("gbnf")            # llama.cpp
>>> sentence_grammar("lark")            # llguidance
>>> message_grammar("regex", subjects={"stock": {"sku": Shape(TypeRef("text"), required=True)}})

All three forms come from one description: the templates of the surface, the verbs of the lexicon
and the types of the fields. The language of a grammar is a part of Canon, chosen so that no rule
beyond a grammar can be broken: what it accepts is valid, what is valid need not be accepted.

- A free name has a digit or ``_`` behind a letter, so it is no keyword and no vague word. Give
  ``names`` for the targets that exist.
- Fields and parameters stand once, in the order in which they are given. Without fields there is
  one free parameter.
- Conditions compare known fields with values of their type, or one free name with a number.
- ``reply_to`` is written where it is given, because no grammar can keep it off the ``msg_id``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from steguard.canon.grammarforms import Chars, Many, Part, Rule, Seq, Text, alt, maybe, seq, write
from steguard.canon.lexicon import KEYWORDS, Lexicon, core
from steguard.canon.model import TypeRef, is_address, is_name
from steguard.canon.render import scalar_lines
from steguard.canon.surfaces import Element, Optional, Slot, Surface, Template, Word
from steguard.canon.surfaces import surface as load_surface
from steguard.errors import UsageError

FORMS = ("gbnf", "lark", "regex")


@dataclass(frozen=True, slots=True)
class Shape:
    """What a field of a payload may hold: a type, a list of it, and whether it must be there."""

    type: TypeRef
    required: bool = False
    many: bool = False


Shapes = Mapping[str, Shape]


def sentence_grammar(
    form: str,
    *,
    lexicon: Lexicon | None = None,
    names: Sequence[str] = (),
    fields: Shapes | None = None,
    kinds: Sequence[str] = (),
    language: str = "en",
) -> str:
    """The grammar of one sentence as ``gbnf``, ``lark`` or ``regex``.

    ``names`` are the targets and subjects to choose from, ``fields`` the parameters (those of the
    lexicon where it is left out), ``kinds`` the patterns to allow (all where it is empty):
    ``request report query decision notice ack error duty conditional``.
    """
    words = lexicon or core()
    surface = load_surface(language)
    known = _shapes(words) if fields is None else fields
    for kind in kinds:
        if kind not in surface.sentences:
            raise UsageError(f"unknown pattern '{kind}'; write {', '.join(surface.sentences)}")
    rules = dict(_lexical(names))
    rules.update(_sentences(words, surface, known, kinds))
    return write(rules, "sentence", form)


def message_grammar(
    form: str,
    *,
    lexicon: Lexicon | None = None,
    subjects: Mapping[str, Shapes] | Sequence[str] = (),
    actions: Sequence[str] = (),
    sender: str | None = None,
    recipient: str | None = None,
    msg_id: str | None = None,
    reply_to: str | None = None,
) -> str:
    """The grammar of one message as ``gbnf``, ``lark`` or ``regex``.

    ``subjects`` maps a subject to the fields of its payload, or lists names whose payload takes the
    fields of the lexicon. What is known of the envelope is written as it is.
    """
    words = lexicon or core()
    for action in actions:
        if action not in words.verbs:
            raise UsageError(f"'{action}' is no verb of the lexicon '{words.name}'")
    _check_envelope(sender, recipient, msg_id, reply_to)
    rules = dict(_lexical(()))
    rules.update(_message(words, subjects, actions or tuple(words.verbs)))
    fixed = {"from": sender, "to": recipient, "msg_id": msg_id}
    parts: list[Part | str] = [f"canon-message: {words.version}\n"]
    for key, value in fixed.items():
        free = "MSG_ID" if key == "msg_id" else "AGENT"
        parts.extend([f"{key}: ", Rule(free) if value is None else value, "\n"])
    parts.extend([Rule("action"), Rule("subject"), maybe("within: ", Rule("TIME"), "\n")])
    if reply_to is not None:
        parts.append(f"reply_to: {reply_to}\n")
    parts.append(maybe("if: ", Rule("condition"), "\n"))
    rules["message"] = seq(*parts)
    known = {n: s for one in _subject_shapes(words, subjects).values() for n, s in one.items()}
    rules["condition"] = _condition(known)
    return write(rules, "message", form)


# ---- tokens

_LETTER = "A-Za-z"
_WORD = "A-Za-z0-9_"
_TEXT = (
    " !#-\\[\\]-~\u00a1-\u00ac\u00ae-\u02ff\u3001-\u3029\u3041-\u3096\u30a1-\u30fa"
    "\u4e00-\u9fff\uff01-\uff5e"
)
"""Characters that stand in double quotes as they are: all of them can be seen."""


def _digits(low: int, high: int | None) -> Part:
    return Many(Chars("0-9"), low, high)


def _lexical(names: Sequence[str]) -> Iterator[tuple[str, Part]]:
    for name in names:
        if not is_name(name) or name in KEYWORDS:
            raise UsageError(f"'{name}' cannot be a name: write letters, digits and '_'")
    word = seq(Many(Chars(_LETTER), 1, 20), Chars("0-9_"), Many(Chars(_WORD), 0, 40))
    yield "WORD", word
    yield "NAME", alt(*names) if names else word
    yield "AGENT", seq(Chars(_LETTER), Many(Chars(_WORD), 0, 40))
    yield "MSG_ID", seq("msg-", Many(Chars("A-Za-z0-9"), 1, 40))
    yield "INT", alt("0", seq(maybe("-"), Chars("1-9"), _digits(0, 15)))
    whole = seq(maybe("-"), alt("0", seq(Chars("1-9"), _digits(0, 12))))
    yield "FLOAT", seq(whole, ".", _digits(1, 6))
    yield "BOOL", alt("true", "false")
    yield "DATE", _date()
    yield (
        "PATH",
        seq(
            alt("/", "./", "../", ""),
            Many(seq(Many(Chars(_WORD), 1, 40), "/"), 0, 12),
            Many(Chars(_WORD), 1, 60),
            maybe(".", Many(Chars("A-Za-z0-9"), 1, 8)),
        ),
    )
    escape = seq("\\", Chars('"\\\\nt'))
    yield "QUOTED", seq('"', Many(alt(Chars(_TEXT), escape), 0, None), '"')
    yield "TIME", _time()


def _date() -> Part:
    day = alt(seq("0", Chars("1-9")), seq("1", Chars("0-9")), seq("2", Chars("0-8")))
    month = alt(seq("0", Chars("1-9")), seq("1", Chars("0-2")))
    return seq("2", _digits(3, 3), "-", month, "-", day)


def _time(units: Mapping[str, str] | None = None) -> Part:
    many = alt(Chars("2-9"), seq(Chars("1-9"), _digits(1, 4)))
    if units:
        return seq(Chars("1-9"), _digits(0, 4), " ", alt(*units.values()))
    clock = seq(
        alt(seq(Chars("01"), Chars("0-9")), seq("2", Chars("0-3"))), ":", Chars("0-5"), Chars("0-9")
    )
    instant = seq(
        _date(),
        "T",
        clock,
        ":",
        Chars("0-5"),
        Chars("0-9"),
        alt("Z", seq("+", alt(seq("0", Chars("0-9")), seq("1", Chars("0-3"))), ":00")),
    )
    return alt(
        seq("1 ", alt("second", "minute", "hour")),
        seq(many, " ", alt("seconds", "minutes", "hours")),
        instant,
    )


# ---- sentences


def _sentences(
    lexicon: Lexicon, surface: Surface, fields: Shapes, kinds: Sequence[str]
) -> Iterator[tuple[str, Part]]:
    templates = {k: t for k, t in surface.sentences.items() if not kinds or k in kinds}
    own = {name: word for word, name in lexicon.verbs_in(surface.language).items()}
    simple = [kind for kind in templates if kind != "conditional"]
    yield "verb", alt(*(own[name] for name in sorted(lexicon.imperatives)))
    yield "anyverb", alt(*(own[name] for name in lexicon.verbs))
    if surface.language != "en":
        yield "TIME", _time(surface.units)
    yield "value", alt(Rule("INT"), Rule("BOOL"), Rule("WORD"), Rule("QUOTED"))
    yield "modal", alt(*surface.modals.values())
    yield from _parameters(fields)
    yield "condition", _condition(fields, surface)
    for kind in surface.sentences:
        yield kind.replace("_", ""), _template(surface.sentences[kind], kind)
    order = surface.sentences["request"]
    yield "instruction", _template(order, "duty")
    yield "then", alt(*(Rule(k) for k in simple if k != "request"), Rule("instruction"))
    yield "sentence", alt(*(Rule(kind) for kind in templates))


_SLOTS = {
    "target": "NAME",
    "subject": "NAME",
    "attribute": "NAME",
    "event": "NAME",
    "task": "NAME",
    "actor": "NAME",
    "message_id": "MSG_ID",
    "value": "value",
    "option": "value",
    "reason": "value",
    "params": "params",
    "time": "TIME",
    "modal": "modal",
    "condition": "condition",
    "sentence": "then",
}


def _template(template: Template, kind: str) -> Part:
    """A template with one blank between its elements."""
    parts: list[Part] = []
    for index, element in enumerate(template):
        inner = _element(element, kind)
        if isinstance(element, Optional):
            leads = index == 0
            parts.append(Many(Seq((inner, Text(" "))) if leads else Seq((Text(" "), inner)), 0, 1))
            continue
        after_lead = index == 1 and isinstance(template[0], Optional)
        if index and not after_lead and not _ends_wide(template[index - 1]):
            parts.append(Text(" "))
        parts.append(inner)
    return Seq(tuple(parts))


def _ends_wide(element: Element) -> bool:
    return isinstance(element, Word) and element.text.endswith("：")


def _element(element: Element, kind: str) -> Part:
    if isinstance(element, Word):
        return Text(element.text)
    if isinstance(element, Slot):
        if element.name == "verb":
            return Rule("anyverb" if kind == "duty" else "verb")
        return Rule(_SLOTS[element.name])
    inner: list[Part] = []
    for index, one in enumerate(element.parts):
        inner.extend([Text(" ")] * bool(index))
        inner.append(_element(one, kind))
    return Seq(tuple(inner)) if len(inner) > 1 else inner[0]


def _parameters(fields: Shapes) -> Iterator[tuple[str, Part]]:
    single = [
        seq(f"{name}=", _typed(shape.type)) for name, shape in fields.items() if not shape.many
    ]
    if not single:
        yield "params", seq(Rule("WORD"), "=", Rule("value"))
        return
    yield from _subset([(one, False) for one in single], "params", " ")


def _subset(parts: Sequence[tuple[Part, bool]], rule: str, glue: str) -> Iterator[tuple[str, Part]]:
    """Each part at most once, in order, at least one; what is marked must be there.

    A rule for the parts from ``i`` on keeps the grammar in proportion to their number.
    """
    for index in range(1, len(parts)):
        part, needed = parts[index]
        here = seq(glue, part) if glue else part
        rest = [Rule(f"{rule}-{index + 1}")] if index + 1 < len(parts) else []
        yield f"{rule}-{index}", seq(here if needed else maybe(here), *rest)
    choices: list[Part] = []
    for index, (part, needed) in enumerate(parts):
        rest = [Rule(f"{rule}-{index + 1}")] if index + 1 < len(parts) else []
        choices.append(seq(part, *rest))
        if needed:
            break
    yield rule, alt(*choices)


def _typed(kind: TypeRef) -> Part:
    """A value of the type in a sentence."""
    if kind.kind == "enum":
        return alt(*kind.members)
    return Rule({"text": "value", "path": "PATH"}.get(kind.kind, kind.kind.upper()))


# ---- conditions

_ORDER = ("<", "<=", ">", ">=", "==", "!=")
_EQUAL = ("==", "!=")


def _condition(fields: Shapes, surface: Surface | None = None) -> Part:
    words = surface.words if surface is not None else {}
    known = [_comparison(n, s.type, words) for n, s in fields.items() if not s.many and _plain(n)]
    if not known:
        return seq(Rule("WORD"), " ", alt(*_ORDER), " ", Rule("INT"))
    one = alt(*known)
    both, either = f" {words.get('and', 'and')} ", f" {words.get('or', 'or')} "
    return seq(one, Many(seq(alt(both, either), one), 0, 3))


def _plain(name: str) -> bool:
    return name.isidentifier() and name not in KEYWORDS


def _comparison(name: str, kind: TypeRef, words: Mapping[str, str]) -> Part:
    if kind.kind in ("int", "float"):
        return seq(f"{name} ", alt(*_ORDER), " ", Rule("INT" if kind.kind == "int" else "FLOAT"))
    if kind.kind == "bool":
        values = alt(words.get("true", "true"), words.get("false", "false"))
        return seq(f"{name} ", alt(*_EQUAL), " ", values)
    if kind.kind == "date":
        return seq(f"{name} ", alt(*_ORDER), " ", Rule("DATE"))
    text = alt(*(f'"{one}"' for one in kind.members)) if kind.members else Rule("QUOTED")
    return seq(f"{name} ", alt(*_EQUAL), " ", text)


# ---- messages


def _message(
    lexicon: Lexicon, subjects: Mapping[str, Shapes] | Sequence[str], actions: Iterable[str]
) -> Iterator[tuple[str, Part]]:
    yield "action", seq("action: ", alt(*actions), "\n")
    shapes = _subject_shapes(lexicon, subjects)
    choices: list[Part] = []
    for index, (subject, fields) in enumerate(shapes.items()):
        name = Text(subject) if subjects else Rule("WORD")
        parts: list[Part | str] = ["subject: ", name, "\n"]
        if fields:
            needed = any(shape.required for shape in fields.values())
            yield from _payload(fields, f"payload{index}")
            body = seq("payload:\n", Rule(f"payload{index}"))
            parts.append(body if needed else maybe(body))
        elif not subjects:
            parts.append(maybe("payload:\n  ", Rule("WORD"), ": ", Rule("plain"), "\n"))
        choices.append(seq(*parts))
    yield "plain", alt(Rule("INT"), Rule("WORD"), Rule("QUOTED"))
    yield "subject", alt(*choices)


def _subject_shapes(
    lexicon: Lexicon, subjects: Mapping[str, Shapes] | Sequence[str]
) -> dict[str, Shapes]:
    for name in subjects:
        if not is_name(name) or name in KEYWORDS:
            raise UsageError(f"'{name}' cannot be a subject: write letters, digits and '_'")
    if isinstance(subjects, Mapping):
        return dict(subjects)
    return {name: _shapes(lexicon) for name in subjects or ("",)}


def _payload(fields: Shapes, rule: str) -> Iterator[tuple[str, Part]]:
    lines = [(_line(name, shape), shape.required) for name, shape in fields.items()]
    yield from _subset(lines, rule, "")


def _line(name: str, shape: Shape) -> Part:
    value = _payload_value(shape.type)
    if shape.many:
        return seq(f"  {name}:\n", Many(seq("    - ", value, "\n"), 1, 20))
    return seq(f"  {name}: ", value, "\n")


def _payload_value(kind: TypeRef) -> Part:
    if kind.kind == "enum":
        return alt(*(scalar_lines(member, None)[0] for member in kind.members))
    return Rule({"text": "plain", "path": "PATH"}.get(kind.kind, kind.kind.upper()))


def _shapes(lexicon: Lexicon) -> dict[str, Shape]:
    return {name: Shape(spec.type) for name, spec in lexicon.fields.items()}


def _check_envelope(*values: str | None) -> None:
    for value in values:
        if value is not None and not is_address(value):
            raise UsageError(f"'{value}' is no agent and no message id")
    if values[2] is not None and values[2] == values[3]:
        raise UsageError("a message never replies to itself")


__all__ = ["FORMS", "Shape", "message_grammar", "sentence_grammar"]
