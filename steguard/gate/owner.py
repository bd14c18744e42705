"""Who runs an execution now, and whether that process is still there.

An owner is named by machine, process, start time and a number of its own. A dead process on this
machine is known at once; of another machine only the lease tells.
"""

from __future__ import annotations

import os
import secrets
import socket
import threading
from functools import cache
from pathlib import Path

LEASE = 900.0
"""Seconds after which a run on another machine counts as dead."""

_running: set[str] = set()
_guard = threading.Lock()


def start() -> str:
    """The name of a new owner, which counts as running until :func:`stop`."""
    owner = f"{_machine()}/{os.getpid()}/{_started(os.getpid())}/{secrets.token_hex(6)}"
    with _guard:
        _running.add(owner)
    return owner


def stop(owner: str) -> None:
    """It runs no more."""
    with _guard:
        _running.discard(owner)


def alive(owner: str, lease_until: float, now: float) -> bool:
    """Whether this owner may still be running."""
    machine, _, rest = owner.partition("/")
    parts = rest.split("/")
    if machine != _machine() or len(parts) != 3 or os.name != "posix":
        return now < lease_until
    pid, started = int(parts[0]), parts[1]
    if pid == os.getpid() and started == _started(pid):
        return owner in _running
    return _exists(pid) and started == _started(pid)


@cache
def _machine() -> str:
    """This machine and its space of process numbers: containers share a machine."""
    parts = [socket.gethostname().replace("/", "_")]
    for read in (_boot, _space):
        try:
            parts.append(read())
        except OSError:
            parts.append("-")
    return ":".join(parts)


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def _space() -> str:
    return os.readlink("/proc/self/ns/pid").replace("/", "_")


def _started(pid: int) -> str:
    """When a process began, in ticks of the system; empty where the system does not say."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    state, *fields = text.rpartition(")")[2].split()
    return "dead" if state in "ZX" else fields[18]


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
