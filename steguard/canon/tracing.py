"""The ``msg_id`` in every log record that is written while a message is handled.

>>> logging.getLogger().addFilter(MessageFilter())   # or on a handler
>>> with handling(message):
...     log.info("checked the stock")                # the record has msg_id and reply_to

The id follows threads started with a copied context, and tasks of asyncio, by itself.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from steguard.canon.model import Message

_current: ContextVar[Message | None] = ContextVar("canon_message", default=None)


def current() -> Message | None:
    """The message that this thread or task handles."""
    return _current.get()


@contextmanager
def handling(message: Message) -> Iterator[Message]:
    """Handle a message: what is logged inside carries its id."""
    token = _current.set(message)
    try:
        yield message
    finally:
        _current.reset(token)


def trace_fields(message: Message | None) -> dict[str, str]:
    """What a log record says of a message; ``-`` where there is none."""
    return {
        "msg_id": message.msg_id if message else "-",
        "reply_to": (message.reply_to if message else None) or "-",
    }


class MessageFilter(logging.Filter):
    """Adds ``msg_id`` and ``reply_to`` to every record, so that a format can name them."""

    def filter(self, record: logging.LogRecord) -> bool:
        for name, value in trace_fields(current()).items():
            if not hasattr(record, name):
                setattr(record, name, value)
        return True


class MessageLogger(logging.LoggerAdapter[logging.Logger]):
    """A logger for one message, for code that does not run inside :func:`handling`."""

    def __init__(self, logger: logging.Logger, message: Message) -> None:
        super().__init__(logger, trace_fields(message))

    def process(
        self, msg: Any, kwargs: MutableMapping[str, Any]
    ) -> tuple[Any, MutableMapping[str, Any]]:
        kwargs["extra"] = {**(self.extra or {}), **(kwargs.get("extra") or {})}
        return msg, kwargs
