"""A Canon message as a Jinja2 template: the same message with other values.

The template is rendered in Jinja's sandbox, each value is written as one Canon value (quoted where
that is needed), and the result is parsed again before anybody gets it. So a value can never add a
field or end a line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import StrictUndefined, TemplateError, Undefined, meta
from jinja2.sandbox import ImmutableSandboxedEnvironment

from steguard.canon import chars
from steguard.canon.generate.values import GenerationError
from steguard.canon.lexicon import Lexicon
from steguard.canon.message import parse_message
from steguard.canon.model import Message
from steguard.canon.payload import to_text
from steguard.canon.registry import Registry
from steguard.canon.render import render_message
from steguard.yamlfile import nearest

_BARE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


def to_template(message: Message) -> str:
    """The template of messages like this one.

    The payload is filled from ``payload``, the envelope from ``sender``, ``recipient``, ``msg_id``
    and ``reply_to``; subject, action, condition and time limit stay as they are.
    """
    lines = [
        f"canon-message: {message.version}",
        "from: {{ sender | canon }}",
        "to: {{ recipient | canon }}",
        "msg_id: {{ msg_id | canon }}",
        f"action: {message.action}",
        f"subject: {message.subject}",
    ]
    if message.payload:
        lines += ["payload:", *_fields(message.payload, "payload", "  ")]
    rest = render_message(message).splitlines()
    lines += [_literal(line) for line in rest if line.startswith(("within:", "if:"))]
    if message.reply_to is not None:
        lines.append("reply_to: {{ reply_to | canon }}")
    return "\n".join(lines) + "\n"


def render_template(
    template: str,
    values: Mapping[str, Any] | None = None,
    *,
    registry: Registry | None = None,
    lexicon: Lexicon | None = None,
    **more: Any,
) -> str:
    """The message that the template makes of these values, checked.

    Raises :class:`GenerationError` for a missing value, a fault in the template, and where the
    result is no valid message.
    """
    given = {**(values or {}), **more}
    try:
        wanted = meta.find_undeclared_variables(_environment().parse(template))
        missing = sorted(wanted - given.keys())
        if missing:
            hint = nearest(missing[0], list(given))
            raise GenerationError(f"the template needs a value for '{missing[0]}'{hint}")
        text = _environment().from_string(template).render(given)
    except TemplateError as error:
        line = getattr(error, "lineno", None)
        where = f" in line {line}" if line else ""
        raise GenerationError(f"the template is wrong{where}: {error.message or error}") from None
    result = parse_message(text, lexicon=lexicon, registry=registry)
    if result.message is None:
        shown = "; ".join(f"line {f.line}: {f.message}" for f in result.findings[:3])
        raise GenerationError(f"the template does not make a valid message: {shown}")
    return text


def _fields(fields: Mapping[str, Any], source: str, indent: str) -> list[str]:
    lines = []
    for key, value in fields.items():
        place = f"{source}[{json.dumps(key, ensure_ascii=False)}]"
        name = _literal(key if _KEY.fullmatch(key) else chars.quote(key))
        if isinstance(value, Mapping) and value:
            lines += [f"{indent}{name}:", *_fields(value, place, indent + "  ")]
        else:
            lines.append(f"{indent}{name}: {{{{ {place} | canon }}}}")
    return lines


def _literal(text: str) -> str:
    """Text of the message that Jinja must not read."""
    if not any(mark in text for mark in ("{{", "{%", "{#")):
        return text
    return "{{ " + json.dumps(text, ensure_ascii=False) + " }}"


def _canon(value: Any) -> str:
    """One Canon value on one line."""
    if isinstance(value, Undefined):
        raise GenerationError(f"the template needs a value for '{value._undefined_name}'")
    try:
        text = to_text(value)
    except ValueError as error:
        raise GenerationError(str(error)) from None
    if isinstance(text, Mapping):
        raise GenerationError("a group of fields cannot stand in the place of one value")
    if isinstance(text, list):
        return f"[{', '.join(_canon(item) for item in text)}]"
    return chars.quote(str(text)) if not _BARE.fullmatch(str(text)) else str(text)


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False
    )
    environment.filters["canon"] = _canon
    return environment
