"""Writes messages, sentences and conditions as Canon text that always reads back to the same.

Payload text that cannot stand as a plain value is quoted, or written as a literal block where that
is easier to read. Text with marks of writing direction cannot be written: ValueError.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from steguard.canon import chars
from steguard.canon.model import (
    FIELDS,
    MAX_NAME,
    Ack,
    And,
    Compare,
    Condition,
    Conditional,
    Decision,
    Duty,
    Failure,
    Literals,
    Member,
    Message,
    Not,
    Notice,
    Or,
    Placeholder,
    Query,
    Report,
    Request,
    Sentence,
    TypeRef,
    Value,
    Within,
)
from steguard.canon.scalars import needs_quotes
from steguard.canon.sentenceslots import is_bare
from steguard.canon.surfaces import Slot, Surface, Template, Word
from steguard.canon.surfaces import surface as load_surface

_SAFE = re.compile(r"\w(?:[\w ./@+-]{0,200}\w)?", re.A)
_KEY = re.compile(r"\w[\w.-]*")
_SLOT = re.compile(r"<[^<>]*>")
_STEP = "  "


def render_message(message: Message, *, language: str = "en", lexicon: Any = None) -> str:
    """The text of the message, fields in their fixed order, ending with a line end.

    ``lexicon`` gives the names of verbs in another language; the core lexicon does where it is
    left out.
    """
    surface = load_surface(language)
    values: dict[str, Any] = {
        "canon-message": str(message.version),
        "from": message.sender,
        "to": message.recipient,
        "msg_id": message.msg_id,
        "action": _verb_name(message.action, surface, lexicon),
        "subject": message.subject,
        "payload": message.payload or None,
        "within": None if message.within is None else render_within(message.within, surface),
        "reply_to": message.reply_to,
        "if": None if message.condition is None else _condition(message.condition, surface),
    }
    lines: list[str] = []
    for key in FIELDS:
        if values[key] is not None:
            lines.extend(_entry(surface.keys.get(key, key), values[key], ""))
    return "\n".join(lines) + "\n"


def render_sentence(sentence: Sentence, *, language: str = "en", lexicon: Any = None) -> str:
    """The sentence in its usual form, on one line without a line end."""
    surface = load_surface(language)
    kind, slots = _slots(sentence, surface, lexicon)
    text = " ".join(_written(surface.sentences[kind], slots))
    head, colon, rest = text.partition("： ")
    return f"{head}：{rest}" if colon and head in surface.heads else text


def render_condition(condition: Condition, *, language: str = "en") -> str:
    """The condition, with parentheses only where it needs them."""
    return _condition(condition, load_surface(language))


def render_within(within: Within, surface: Surface | None = None) -> str:
    """The time limit: ``30 seconds``, or the instant as it was written."""
    if surface is None or surface.language == "en" or within.instant:
        return str(within)
    return f"{within.amount} {surface.units[within.unit]}"


def message_json(message: Message) -> dict[str, Any]:
    """The JSON form: the names of the text, fields that are not there left out."""
    data: dict[str, Any] = message.model_dump(mode="json", by_alias=True)
    kept = {key: data[key] for key in FIELDS if data[key] is not None}
    if not kept["payload"]:
        del kept["payload"]
    return kept


def message_from_json(data: Mapping[str, Any] | str) -> Message:
    """The message in a JSON form (data, or its text). Raises ValueError with every fault.

    Text stays text, also where it looks like a placeholder or a number.
    """
    record = json.loads(data) if isinstance(data, str) else dict(data)
    return Message.model_validate(record)


# ---- documents


def _entry(key: str, value: Any, indent: str) -> Iterator[str]:
    shown = key if _KEY.fullmatch(key) and len(key) <= MAX_NAME else chars.quote(key)
    head = f"{indent}{shown}:"
    if isinstance(value, Mapping) and value:
        yield head
        for inner, one in value.items():
            yield from _entry(str(inner), one, indent + _STEP)
    elif isinstance(value, list | tuple) and value:
        yield head
        for item in value:
            yield from _item(item, indent + _STEP)
    else:
        first, *rest = scalar_lines(value, indent + _STEP)
        yield f"{head} {first}"
        yield from rest


def _item(item: Any, indent: str) -> Iterator[str]:
    if isinstance(item, list | tuple):
        raise ValueError("a list holds text or mappings, not lists")
    if isinstance(item, Mapping) and item:
        lines = [
            line for key, one in item.items() for line in _entry(str(key), one, indent + _STEP)
        ]
        yield f"{indent}- {lines[0][len(indent) + len(_STEP) :]}"
        yield from lines[1:]
    else:
        yield f"{indent}- {scalar_lines(item, None)[0]}"


def scalar_lines(value: Any, indent: str | None) -> list[str]:
    """The lines of a value; with an indentation, text of many lines may be a literal block."""
    if isinstance(value, Mapping):
        return ["{}"]
    if isinstance(value, list | tuple):
        return ["[]"]
    if not isinstance(value, str):
        return [_literal_text(value)]
    if _SAFE.fullmatch(value):
        return [value]
    refused = chars.REFUSED_VALUE.search(value)
    if refused is not None:
        raise ValueError(f"{chars.describe(refused[0])} is refused in Canon text")
    if indent is not None and "\n" in value and _fits_block(value):
        return block_lines(value, indent)
    if (
        needs_quotes(value)
        or _SLOT.fullmatch(value)
        or chars.REFUSED.search(value)
        or "\n" in value
    ):
        return [chars.quote(value)]
    return [value]


def block_lines(text: str, indent: str) -> list[str]:
    """The lines of a literal block."""
    lines = text.rstrip("\n").split("\n")
    mark = "|" if text[-1] == "\n" else "|-"
    return [mark, *(f"{indent}{line}" if line else "" for line in lines)]


def _fits_block(text: str) -> bool:
    """Whether a literal block holds exactly this text and shows all of it.

    A text that ends with a line end is quoted: in a block it would depend on the line end at the
    end of the document, which is easily lost on the way.
    """
    lines = text.split("\n")
    return (
        not chars.REFUSED.search(text)
        and "\r" not in text
        and bool(lines[0])
        and lines[0][0] != " "
        and bool(lines[-1])
        and not any(line and not line.strip(" ") for line in lines)
    )


def _literal_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _decimal(value)
    if isinstance(value, int | Placeholder | TypeRef):
        return str(value)
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        return value.isoformat()
    raise ValueError(f"{type(value).__name__} cannot be written; write text")


def _decimal(value: float) -> str:
    text = format(Decimal(repr(value)), "f")
    return text if "." in text else f"{text}.0"


# ---- sentences


def _verb_name(verb: str, surface: Surface, lexicon: Any) -> str:
    if surface.language == "en":
        return verb
    from steguard.canon.lexicon import core

    known = (lexicon or core()).verbs.get(verb)
    return str(known.names.get(surface.language, verb)) if known else verb


def _slots(sentence: Sentence, surface: Surface, lexicon: Any) -> tuple[str, dict[str, str]]:
    if isinstance(sentence, Request):
        return "request", _request_slots(sentence, surface, lexicon)
    if isinstance(sentence, Duty):
        slots = _request_slots(sentence.request, surface, lexicon)
        slots["modal"] = surface.modals[sentence.modal]
        if sentence.actor is not None:
            slots["actor"] = sentence.actor
        return "duty", slots
    if isinstance(sentence, Conditional):
        then = render_sentence(sentence.then, language=surface.language, lexicon=lexicon)
        return "conditional", {
            "condition": _condition(sentence.condition, surface),
            "sentence": then,
        }
    return _plain_slots(sentence)


def _plain_slots(sentence: Sentence) -> tuple[str, dict[str, str]]:
    if isinstance(sentence, Report):
        return "report", {"subject": sentence.subject, "value": render_value(sentence.value)}
    if isinstance(sentence, Query):
        return "query", {"attribute": sentence.attribute, "subject": sentence.subject}
    if isinstance(sentence, Decision):
        return "decision", {"option": render_value(sentence.option)}
    if isinstance(sentence, Notice):
        return "notice", {"event": sentence.event}
    if isinstance(sentence, Ack):
        return "ack", {"message_id": sentence.message_id}
    if isinstance(sentence, Failure):
        return "error", {"task": sentence.task, "reason": render_value(sentence.reason)}
    raise TypeError(f"{type(sentence).__name__} is no sentence")


def _request_slots(request: Request, surface: Surface, lexicon: Any) -> dict[str, str]:
    slots = {"verb": _verb_name(request.verb, surface, lexicon), "target": request.target}
    if request.params:
        pairs = (f"{key}={render_value(value)}" for key, value in request.params)
        slots["params"] = " ".join(pairs)
    if request.within is not None:
        slots["time"] = render_within(request.within, surface)
    return slots


def _written(template: Template | tuple[Word | Slot, ...], slots: dict[str, str]) -> Iterator[str]:
    for element in template:
        if isinstance(element, Word):
            yield element.text
        elif isinstance(element, Slot):
            yield slots[element.name]
        elif all(one.name in slots for one in element.parts if isinstance(one, Slot)):
            yield from _written(element.parts, slots)


def render_value(value: Value) -> str:
    """A value of a sentence: one word, or text in double quotes."""
    if not isinstance(value, str):
        return str(value)
    refused = chars.REFUSED_VALUE.search(value)
    if refused is not None:
        raise ValueError(f"{chars.describe(refused[0])} is refused in Canon text")
    from steguard.canon.lexicon import core

    vague = core().forbidden_in(value) is not None
    if is_bare(value) and not vague and not chars.REFUSED.search(value):
        return value
    return chars.quote(value)


# ---- conditions


def _condition(condition: Condition, surface: Surface) -> str:
    words = surface.words
    if isinstance(condition, Compare):
        return f"{condition.name} {condition.op} {_literal(condition.value, words)}"
    if isinstance(condition, Member):
        inside = ", ".join(_literal(value, words) for value in condition.values)
        verb = words.get("in", "in")
        if condition.negated:
            verb = f"{words.get('not', 'not')} {verb}"
        return f"{condition.name} {verb} [{inside}]"
    if isinstance(condition, Not):
        inner = _condition(condition.term, surface)
        if isinstance(condition.term, And | Or):
            inner = f"({inner})"
        return f"{words.get('not', 'not')} {inner}"
    glue = words.get("and", "and") if isinstance(condition, And) else words.get("or", "or")
    terms = (
        f"({_condition(term, surface)})" if _wraps(condition, term) else _condition(term, surface)
        for term in condition.terms
    )
    return f" {glue} ".join(terms)


def _wraps(outer: And | Or, term: Condition) -> bool:
    return isinstance(term, Or) and isinstance(outer, And)


def _literal(value: Literals, words: Mapping[str, str]) -> str:
    if isinstance(value, bool):
        word = "true" if value else "false"
        return words.get(word, word)
    if isinstance(value, str):
        return chars.quote(value)
    return _decimal(value) if isinstance(value, float) else str(value)
