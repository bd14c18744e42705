"""What both examples share: printing a step and keeping count of what did not hold."""

from __future__ import annotations

import sys


class Story:
    """Tells the steps; :meth:`end` leaves with status 1 where one of them did not hold."""

    def __init__(self) -> None:
        self.failed: list[str] = []

    def head(self, text: str) -> None:
        self.say(f"\n== {text}")

    def say(self, text: str) -> None:
        print(text)  # noqa: T201 - the terminal is the surface of an example

    def check(self, claim: str, holds: bool) -> None:
        """Print whether the claim holds."""
        self.say(f"[{'ok' if holds else 'FAILED'}] {claim}")
        if not holds:
            self.failed.append(claim)

    def end(self) -> None:
        self.say("")
        if self.failed:
            self.say(f"{len(self.failed)} claims did not hold.")
            sys.exit(1)
        self.say("All claims hold.")
