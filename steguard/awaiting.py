"""For callers that take sync and async functions alike."""

from __future__ import annotations

import inspect
from typing import Any


async def awaited(value: Any) -> Any:
    """The value, or what it gives when it is awaited."""
    return await value if inspect.isawaitable(value) else value
