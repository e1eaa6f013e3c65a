"""A server with a tenth of a processor, as a limit of the kubelet would give it: slow, and never wrong."""

import contextlib
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator

import pytest

from builders import container, pod
from e2e.cluster import wait_until
from reviews import body
from server_process import BOUND, JSON, ServerProcess, ask

pytestmark = pytest.mark.process

PERIOD = 0.1
"""Seconds of the kernel's own period for limits of processors."""
SHARE = 0.1


@contextlib.contextmanager
def throttled(server: ServerProcess) -> Iterator[None]:
    """The process runs for a tenth of each period, as it would when its control group has used up its share."""
    ended = threading.Event()

    def throttle() -> None:
        while not ended.wait(PERIOD * SHARE):
            os.kill(server.pid, signal.SIGSTOP)
            ended.wait(PERIOD * (1 - SHARE))
            os.kill(server.pid, signal.SIGCONT)

    thread = threading.Thread(target=throttle)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def asked(server: ServerProcess, *, seconds: float) -> Counter[str]:
    """The answers to reviews from eight connections, half of them to be denied."""
    found: Counter[str] = Counter()
    end = time.monotonic() + seconds

    def send(client: int) -> None:
        number = 0
        with server.connection() as connection:
            while time.monotonic() < end:
                number += 1
                greedy = number % 2 == 1
                variables = {"NVIDIA_VISIBLE_DEVICES": "all" if greedy else "void"}
                value = pod(container(f"c-{client}-{number}", env=variables), name=f"pod-{number}")
                answer = ask(connection, "POST", "/validate?timeout=3s", body=body(value), headers=JSON)
                if answer.status == 200:
                    right = answer.response["allowed"] is not greedy
                    found["right" if right else "wrong"] += 1
                else:
                    found[f"HTTP {answer.status}, retry-after {answer.headers.get('retry-after')}"] += 1

    threads = [threading.Thread(target=send, args=(client,)) for client in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=BOUND + seconds)
    return found


@pytest.mark.parametrize("seconds", [5, pytest.param(300, marks=pytest.mark.slow)])
def test_with_a_tenth_of_a_processor_it_gives_no_wrong_answer_and_lets_no_client_hang(
    server: ServerProcess, seconds: float
) -> None:
    with throttled(server):
        found = asked(server, seconds=seconds)

    assert found.keys() <= {"right", "HTTP 503, retry-after 1"}
    assert found["right"] > 0
    wait_until(lambda: set(asked(server, seconds=0.5)) == {"right"}, description="it serves as before", timeout=BOUND)
