"""A server whose file descriptors run out: it says so, and it answers again when there are some."""

import contextlib
import resource
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

import server_process
from builders import pod
from e2e import processes
from e2e.cluster import wait_until
from reviews import body
from server_process import BOUND, ServerProcess

pytestmark = pytest.mark.process


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    with server_process.running(tmp_path) as running:
        yield running


def test_exhausted_descriptors_are_a_line_in_the_log_and_the_server_answers_afterwards(server: ServerProcess) -> None:
    _, hard = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (64, hard))
    with contextlib.ExitStack() as connections:
        for _ in range(100):
            # The event loop closes connections for which it has no descriptor.
            with contextlib.suppress(OSError):
                connections.enter_context(socket.create_connection((processes.LOOPBACK, server.port), timeout=BOUND))
        (line,) = wait_until(lambda: server.log("descriptors_exhausted"), description="the log says so", timeout=BOUND)

    assert (line["level"], line["limit"]) == ("error", 64)
    assert line["open"] >= 48
    wait_until(lambda: answers(server), description="the server answers again", timeout=BOUND)


def answers(server: ServerProcess) -> bool:
    with contextlib.suppress(OSError):
        return bool(server.review("validate", body(pod()))["allowed"])
    return False
