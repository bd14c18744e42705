"""Everything that steguard raises on its own account.

::

    SteguardError
    ├── ProfileError        a profile, schema or template cannot be used (file, line, column)
    ├── UsageError          the library is called in a way that cannot work (also a TypeError)
    ├── ConstraintUnavailable  the profile requires a grammar that the endpoint does not take
    ├── MissingExtra        an optional part is not installed (also an ImportError)
    └── GuardError          a guarded call ended without a usable answer
        └── OutputRejected  the answer broke the rules and the profile says ``fallback: raise``

What the client library raises (timeouts, 401, 429, 500, ...) passes through unchanged, with the
attempts so far at its attribute ``steguard``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steguard.result import GuardResult


class SteguardError(Exception):
    """Base of all errors that steguard raises."""


class ProfileError(SteguardError, ValueError):
    """A profile, a schema or a template cannot be used.

    ``file`` is a path or a name like ``<profile>``; ``line`` and ``column`` start at 1 and are
    None where the fault has no position. ``problems`` lists every fault of the file.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        problems: Sequence[str] = (),
    ) -> None:
        self.file, self.line, self.column = file, line, column
        self.message = message
        where = ":".join(str(part) for part in (file, line, column) if part is not None)
        first = f"{where}: {message}" if where else message
        self.problems: tuple[str, ...] = (first, *problems)
        super().__init__("\n".join(self.problems))


class UsageError(SteguardError, TypeError):
    """The library is called in a way that cannot work; the message says what to do."""


class ConstraintUnavailable(SteguardError):
    """The profile says ``constrain: require``, and the endpoint enforces no grammar."""


class MissingExtra(SteguardError, ImportError):
    """An optional part is not installed; the message holds the exact install line."""

    def __init__(self, what: str, extra: str, *, also: str = "") -> None:
        self.extra = extra
        line = f"pip install 'steguard[{extra}]'"
        super().__init__(f"{what} is not installed. Install it: {line}{also}")


class GuardError(SteguardError):
    """A guarded call ended without a usable answer; ``result`` holds every attempt."""

    def __init__(self, message: str, result: GuardResult) -> None:
        super().__init__(message)
        self.result = result


class OutputRejected(GuardError):
    """The answer broke the rules after the last attempt and the fallback is ``raise``."""
