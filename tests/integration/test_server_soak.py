"""A server under a steady load for an hour, with everything that a cluster does to it meanwhile."""

import itertools
import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest

from builders import container, pod
from e2e import processes
from integration.test_server_overload import large_review, resident
from reviews import body
from server_process import JSON, ServerProcess, ask, running
from usher.server.certs import issue

pytestmark = [pytest.mark.slow, pytest.mark.process]

MINUTES: Final = float(os.environ.get("USHER_TEST_SOAK_MINUTES", "60"))
RATE: Final = 100
"""Reviews in a second, over all connections."""
CONNECTIONS: Final = 4
LIMIT: Final = 256
"""Mebibytes of resident memory at any moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    memory: int
    """Mebibytes."""
    files: int
    threads: int
    series: int


def reading(server: ServerProcess) -> Reading:
    process = Path(f"/proc/{server.pid}")
    return Reading(
        memory=resident(server, "VmRSS:"),
        files=len(list((process / "fd").iterdir())),
        threads=len(list((process / "task").iterdir())),
        series=len(server.metrics()),
    )


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    with running(tmp_path, config={}, arguments=("--reload-interval=1",)) as server:
        yield server


class Traffic:
    """Reviews at a rate: most pods are like another one, one in ten is new, one in a thousand is not a review."""

    def __init__(self, server: ServerProcess) -> None:
        self.statuses: Counter[int] = Counter()
        self.ended = threading.Event()
        self._server = server
        self._numbers = itertools.count()
        self._lock = threading.Lock()

    def run(self) -> None:
        began = time.monotonic()
        while not self.ended.is_set():
            # A server that renews its certificate keeps connections open; API servers open new ones now and then.
            with self._server.connection() as connection:
                for _ in range(500):
                    with self._lock:
                        number = next(self._numbers)
                    if self.ended.wait(max(0.0, began + number / RATE - time.monotonic())):
                        return
                    status = ask(connection, "POST", self._path(number), body=self._body(number), headers=JSON).status
                    with self._lock:
                        self.statuses[status] += 1

    @staticmethod
    def _path(number: int) -> str:
        return "/validate?timeout=3s" if number % 2 else "/mutate?timeout=1s"

    @staticmethod
    def _body(number: int) -> bytes:
        if number % 1000 == 999:
            return b"{}"
        name = f"pytorch-{number}" if number % 10 == 0 else f"pytorch-{number % 7}"
        return body(pod(container(name, gpus=1), name=f"pod-{number}", namespace=f"team-{number % 50}"))


def disturb(server: ServerProcess, second: int) -> None:
    """Disturbs the server beside the load, once in a second: large bodies, another usher.yaml, another certificate."""
    if second % 10 == 0:
        server.ask("POST", "/validate?timeout=3s", body=large_review(second), headers=JSON)
    if second % 60 == 30:
        team = f"team-{second // 60 % 50}"
        (server.directory / "usher.yaml").write_text(
            f"apiVersion: gpu-usher.io/v1alpha1\nkind: Config\nexemptNamespaces: [{team}]\n"
        )
    if second % 600 == 300:
        (server.directory / "tls.crt").unlink()
        issue.ensure(server.directory, names=[processes.LOOPBACK, "localhost"], now=datetime.now(UTC))


def test_memory_files_threads_and_series_stay_flat_and_every_review_is_answered(server: ServerProcess) -> None:
    traffic = Traffic(server)
    senders = [threading.Thread(target=traffic.run) for _ in range(CONNECTIONS)]
    for sender in senders:
        sender.start()
    readings: list[Reading] = []
    try:
        for second in range(int(MINUTES * 60)):
            disturb(server, second)
            if second % 30 == 0:
                readings.append(reading(server))
            time.sleep(1)
    finally:
        traffic.ended.set()
        for sender in senders:
            sender.join()

    half = len(readings) // 2
    before, after = readings[half // 2 : half], readings[half:]
    show(f"{traffic.statuses}, most memory {resident(server, 'VmHWM:')} MB; {before[0]} became {after[-1]}")
    # Another process may take the processor for half a second; an API server tries again after 503.
    assert traffic.statuses.keys() <= {200, 400, 503}
    assert traffic.statuses[503] <= traffic.statuses.total() / 1000
    assert resident(server, "VmHWM:") <= LIMIT
    assert max(each.memory for each in after) <= 1.05 * max(each.memory for each in before)
    assert max(each.files for each in after) <= max(each.files for each in before) + CONNECTIONS
    assert max(each.threads for each in after) <= max(each.threads for each in before)
    assert max(each.series for each in after) <= max(each.series for each in before)


def show(text: str) -> None:
    """Prints a figure, for those who let pytest print (-s)."""
    print(f"\n{text}")  # noqa: T201 - printing is what it is for
