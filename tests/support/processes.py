"""Processes for tests: forked from this one, so that they start in no time."""

from __future__ import annotations

import gc
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable

import pytest

NEEDS_FORK = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")


def fork(work: Callable[[], object]) -> int:
    """Run the function in a process of its own. It exits with 0, or with the number it gives."""
    with warnings.catch_warnings():
        # Newer Pythons warn where threads exist; those of these tests are idle.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid:
        return pid
    status = 99
    gc.disable()  # a collection would copy the memory of the parent
    try:
        result = work()
        status = result if isinstance(result, int) else 0
    except BaseException:
        traceback.print_exc(file=sys.__stderr__)
    finally:
        os._exit(status)


def wait(pid: int) -> int:
    """The exit status of a process; the negative number of the signal that killed it."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def die() -> None:
    """What a power failure does."""
    os.kill(os.getpid(), signal.SIGKILL)


class Barrier:
    """Lets forked processes begin at the same moment."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()

    def wait(self) -> None:
        os.close(self._write)
        os.read(self._read, 1)

    def open(self) -> None:
        os.close(self._write)
        os.close(self._read)
