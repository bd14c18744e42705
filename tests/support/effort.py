"""How much work a call is, counted and not timed, so that a law about growth cannot flicker."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def effort(function: Callable[[], Any]) -> int:
    """The number of Python lines that the call runs."""
    lines = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal lines
        if event == "line":
            lines += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(before)
    return lines


def grows_linearly(function: Callable[[int], Any], small: int, factor: int = 8) -> bool:
    """Whether ``factor`` times the size is at most twice ``factor`` times the work."""
    function(small)
    return effort(lambda: function(small * factor)) <= 2 * factor * effort(lambda: function(small))
