"""A Canon message as the description of an HTTP request. Nothing is sent.

The scheme, the host and the shape of the path come from the mapping. A value of the message can
fill one segment of the path, a query parameter, a header or a field of the JSON body, always
encoded for its place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from steguard.canon.generate.values import GenerationError, pick, text_of, used_all, values_of
from steguard.canon.model import Message
from steguard.canon.payload import to_json
from steguard.canon.registry import Registry

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD")
ENVELOPE = ("msg_id", "from", "to", "reply_to")
_SLOT = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True)
class HttpMapping:
    """How one action of a subject becomes a request.

    ``url`` has ``{field}`` for whole segments of its path. ``query`` and ``json`` map a name to a
    field, ``headers`` a name to a text in which ``{field}`` or ``{msg_id}`` can stand. ``ignore``
    names fields that are left out on purpose; ``ignore_if`` says the same of the condition.
    """

    method: str
    url: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    json: Mapping[str, str] = field(default_factory=dict)
    ignore: tuple[str, ...] = ()
    ignore_if: bool = False

    def slots(self) -> list[str]:
        """The fields in the path and the headers."""
        texts = [self.url, *self.headers.values()]
        return [name for text in texts for name in _SLOT.findall(text)]


def check_url(url: str) -> str | None:
    """What is wrong with the url of a mapping, or None."""
    found = re.fullmatch(r"(https?)://([^/{}\s?#]+)(/[^\s?#]*)?", url)
    if found is None:
        return "write http:// or https://, a host without {...}, and a path without ? and #"
    for segment in (found[3] or "").split("/"):
        if "{" in segment + "}" and segment and not _SLOT.fullmatch(segment) and "{" in segment:
            return f"'{segment}' mixes text and a field; a field is a whole segment"
    return None


def to_http(message: Message, mapping: Any, registry: Registry | None = None) -> dict[str, Any]:
    """The request for a message: ``method url query headers json`` as plain data.

    ``mapping`` is a :class:`HttpMapping` or a :class:`~steguard.canon.generate.mapping.Mapping`.
    Raises :class:`GenerationError` where the message does not fit it.
    """
    plan: HttpMapping = mapping if isinstance(mapping, HttpMapping) else mapping.http_for(message)
    wrong = check_url(plan.url)
    if wrong:
        raise GenerationError(f"the url '{plan.url}' cannot be used: {wrong}")
    if message.condition is not None and not plan.ignore_if:
        raise GenerationError(
            "the message has a condition ('if') and a request cannot carry it; test it first, "
            "then write 'ignore_if: true' in the mapping"
        )
    values = values_of(message, registry)
    fields = [*plan.query.values(), *plan.json.values(), *plan.slots()]
    used_all(message, values, fields, plan.ignore)
    known = {**_envelope(message), **values}
    url = _SLOT.sub(lambda slot: _segment(pick(known, slot[1], message), slot[1]), plan.url)
    query = {
        name: _query(pick(known, source, message), source) for name, source in plan.query.items()
    }
    headers = {name: _header(text, known, message, name) for name, text in plan.headers.items()}
    body = {name: to_json(pick(known, source, message)) for name, source in plan.json.items()}
    return {
        "method": plan.method,
        "url": url + ("?" + urlencode(query, doseq=True) if query else ""),
        "path": url.split("://", 1)[1].partition("/")[1] + url.split("://", 1)[1].partition("/")[2],
        "query": query,
        "headers": headers,
        "json": body or None,
    }


def _envelope(message: Message) -> dict[str, Any]:
    given = {
        "msg_id": message.msg_id,
        "from": message.sender,
        "to": message.recipient,
        "reply_to": message.reply_to,
    }
    return {name: value for name, value in given.items() if value is not None}


def _segment(value: Any, name: str) -> str:
    text = text_of(value, name)
    if text in ("", ".", ".."):
        raise GenerationError(f"'{name}' is '{text}', which is no segment of a path")
    return quote(text, safe="")


def _query(value: Any, name: str) -> str | list[str]:
    if isinstance(value, list | tuple):
        return [text_of(item, name) for item in value]
    return text_of(value, name)


def _header(text: str, known: Mapping[str, Any], message: Message, name: str) -> str:
    filled = _SLOT.sub(lambda slot: text_of(pick(known, slot[1], message), slot[1]), text)
    if not filled.isascii() or not filled.isprintable():
        raise GenerationError(
            f"the header '{name}' would have characters that a header cannot have"
        )
    return filled
