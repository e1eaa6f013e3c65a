"""Ports for servers under test, which no other test process of this machine is given while this one runs."""

import contextlib
import fcntl
import functools
import itertools
import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from e2e.processes import LOOPBACK

# Below the range that Linux gives to outgoing connections, so that no connection takes a port between choice and use.
PORTS: Final = range(20_000, 32_000)
BLOCK: Final = 200
LOCKS: Final = Path(tempfile.gettempdir()) / f"gpu-usher-test-ports-{os.getuid()}"


class NoPortError(Exception):
    """All ports that tests may use are taken."""


def free(count: int) -> list[int]:
    """Ports of this process's own block that nothing listens on, the longest unused first.

    A server binds its port long after it was chosen, and may be stopped and started again: other processes must
    leave the port alone for all that time, not only while it is free.

    Raises:
        NoPortError: other test processes hold all blocks, or servers of this one all ports of its block.
    """
    with contextlib.ExitStack() as held:
        # All are held until the last is found, so that no two are the same.
        return [_bind(held.enter_context(socket.socket())) for _ in range(count)]


@contextlib.contextmanager
def block(locks: Path) -> Iterator[range]:
    """A block of ports which no other process is given until the context is left, or this process ends.

    Raises:
        NoPortError: other processes hold all of them.
    """
    locks.mkdir(exist_ok=True)
    for start in range(PORTS.start, PORTS.stop, BLOCK):
        with (locks / str(start)).open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield range(start, start + BLOCK)
            return
    raise NoPortError(f"other test processes hold all ports from {PORTS.start} to {PORTS.stop - 1}: see {locks}")


_for_this_process = contextlib.ExitStack()


@functools.cache
def _own(process: int) -> tuple[range, Iterator[int]]:  # noqa: ARG001 - a forked process takes a block of its own
    ports = _for_this_process.enter_context(block(LOCKS))
    return ports, itertools.cycle(ports)


def _bind(unbound: socket.socket) -> int:
    ports, following = _own(os.getpid())
    for port in itertools.islice(following, len(ports)):
        with contextlib.suppress(OSError):
            unbound.bind((LOOPBACK, port))
            return port
    raise NoPortError(f"no free port on {LOOPBACK} from {ports.start} to {ports.stop - 1}")
