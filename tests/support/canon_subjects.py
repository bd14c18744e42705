"""Subjects and messages that the tests of Canon share."""

from __future__ import annotations

from typing import Any

from steguard.canon.message import parse_message
from steguard.canon.model import Message
from steguard.canon.registry import Registry
from steguard.canon.subjectfile import load_subject
from steguard.canon.subjects import Subject

STOCK = """\
canon-subject: v1.0
subject: inventory_check
version: v1.0
description: Whether a shop has goods in stock.
actions:
  request:
    sku: <text>
    quantity: {type: <int>, min: 1, max: 999, unit: pieces}
    express: {type: <bool>, required: false}
    tags: {type: [<enum:cold|fragile>], required: false, max_items: 2}
    day: {type: <date>, required: false}
    price: {type: <float>, required: false, min: 0}
    note: {type: <text>, required: false, max_length: 20}
    file: {type: <path>, required: false}
  report:
    sku: <text>
    available: <int>
    fulfilled: <bool>
  query:
    sku: <text>
"""


def subject(text: str = STOCK, **changes: str) -> Subject:
    """The stock subject, with parts of its text changed."""
    for old, new in changes.items():
        text = text.replace(old, new)
    return load_subject(text, "stock.yaml")


def registry() -> Registry:
    return Registry.of([subject()])


ENVELOPE = """\
canon-message: v1.0
from: agent_a
to: agent_b
msg_id: {msg_id}
action: {action}
subject: {subject}
"""


def text(
    payload: str = "  sku: A1001\n  quantity: 2\n",
    *,
    msg_id: str = "m-1",
    action: str = "request",
    about: str = "inventory_check",
    rest: str = "",
) -> str:
    """A message about the stock."""
    head = ENVELOPE.format(msg_id=msg_id, action=action, subject=about)
    return head + (f"payload:\n{payload}" if payload else "") + rest


def message(*args: Any, **kwargs: Any) -> Message:
    read = parse_message(text(*args, **kwargs))
    assert read.message is not None, read.findings
    return read.message
