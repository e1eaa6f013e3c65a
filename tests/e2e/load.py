"""Creations at a rate, as many clients of an API server would send them, and what became of each."""

import contextlib
import http.client
import itertools
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import builders
from e2e.cluster import Cluster, Object

CONNECTIONS = 8
_TIMEOUT = 30.0
"""Seconds that a client waits, as kubectl and controllers do."""


@dataclass(slots=True)
class Outcomes:
    """Counts of how creations ended."""

    sent: int = 0
    created: int = 0
    unchanged: int = 0
    """Created without what a mutation adds."""
    refused: Counter[str] = field(default_factory=Counter)
    """By the API server's message."""
    seconds: list[float] = field(default_factory=list)

    @property
    def failed(self) -> int:
        return self.sent - self.created

    def slowest(self, part: float) -> float:
        """The seconds within which this part of the creations were answered."""
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


class Load:
    """Dry-run creations: admission runs as for others, and the nodes and the store stay as they are."""

    def __init__(self, cluster: Cluster, *, namespace: str, rate: float, make: Callable[[str, str], Object]) -> None:
        self.outcomes = Outcomes()
        self._cluster = cluster
        self._namespace = namespace
        self._rate = rate
        self._make = make
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._began = time.monotonic()

    @contextlib.contextmanager
    def running(self) -> Iterator[Outcomes]:
        """Sends while the context lasts."""
        self._began = time.monotonic()
        threads = [threading.Thread(target=self._send) for _ in range(CONNECTIONS)]
        for thread in threads:
            thread.start()
        try:
            yield self.outcomes
        finally:
            self._ended.set()
            for thread in threads:
                thread.join()

    def _send(self) -> None:
        parts = urlsplit(self._cluster.server)
        connection = http.client.HTTPSConnection(
            str(parts.hostname), parts.port, timeout=_TIMEOUT, context=self._cluster.tls
        )
        with contextlib.closing(connection):
            while not self._ended.is_set():
                with self._lock:
                    number = next(self._numbers)
                # Never faster than the rate; a client that waits for an answer lets others send in its place.
                if self._ended.wait(max(0.0, self._began + number / self._rate - time.monotonic())):
                    return
                self._create(connection, self._make(f"load-{number}", self._namespace))

    def _create(self, connection: http.client.HTTPSConnection, value: Object) -> None:
        began = time.monotonic()
        for _ in range(3):
            connection.request(
                "POST",
                f"/api/v1/namespaces/{self._namespace}/pods?dryRun=All",
                body=json.dumps(value),
                headers={"Authorization": f"Bearer {self._cluster.token}", "Content-Type": "application/json"},
            )
            response = connection.getresponse()
            answer = json.loads(response.read())
            # Clients of Kubernetes try again by themselves where an answer says when.
            if not response.headers.get("Retry-After"):
                break
            time.sleep(1)
        took = time.monotonic() - began
        with self._lock:
            self.outcomes.sent += 1
            self.outcomes.seconds.append(took)
            if response.status == http.client.CREATED:
                self.outcomes.created += 1
                self.outcomes.unchanged += "gpu-usher.io/mutations" not in answer["metadata"].get("annotations", {})
            else:
                self.outcomes.refused[answer["message"]] += 1


def gpu_pod(name: str, namespace: str) -> Object:
    """A pod that usher has not seen before, and that a mutation changes."""
    return builders.pod(builders.container(name, gpus=1), name=name, namespace=namespace)
