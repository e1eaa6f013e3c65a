"""Three replicas that come and go under load, while the API server needs an answer for every pod with accelerators.

docs/domain/webhooks.md#connections: the API server sends a review again only after 429 or 5xx with Retry-After, so a
connection that ends under a review is a failed creation.
"""

import contextlib
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

import server_process
from e2e import load
from e2e.balancer import Endpoints, balancing
from e2e.cluster import Cluster, wait_until
from e2e.processes import LOOPBACK
from e2e.registration import CONFIG, remove
from integration import command
from server_process import ServerProcess

REPLICAS = 3
SECONDS = float(os.environ.get("USHER_TEST_RESTARTS_SECONDS", "600"))
PROPAGATION = 0.5
"""Seconds until all nodes know of an endpoint that came or went; the Deployment's preStop waits ten for it."""


class Replicas:
    """Servers behind a Service, which a test replaces."""

    def __init__(self, directory: Path, stack: contextlib.ExitStack) -> None:
        self.endpoints = Endpoints()
        self.running: list[ServerProcess] = []
        self._directory = directory
        self._stack = stack
        self._started = 0

    def add(self) -> None:
        """One more, which gets reviews once it is ready."""
        own = self._directory / str(self._started)
        server = self._stack.enter_context(self.started(own))
        self._started += 1
        self.running.append(server)
        self.endpoints.add(server.port)

    @contextlib.contextmanager
    def started(self, own: Path) -> Iterator[ServerProcess]:
        """A server with its files in a folder that is yet to be made; all have the certificate of the first."""
        own.mkdir()
        for name in ("ca.crt", "ca.key", "tls.crt", "tls.key") if self._started else ():
            shutil.copy(self._directory / "0" / name, own / name)
        with server_process.running(own, arguments=(f"--config={CONFIG}",)) as server:
            yield server

    def end_in_order(self) -> None:
        """Ends the oldest as Kubernetes does: no new connections, then SIGTERM, and it ends by itself."""
        server = self.running.pop(0)
        self.endpoints.remove(server.port)
        time.sleep(PROPAGATION)
        server.running.process.send_signal(signal.SIGTERM)
        assert server.running.process.wait(timeout=60) == 0

    def end_at_once(self) -> None:
        """Ends the oldest by SIGTERM while the Service still sends it connections."""
        server = self.running.pop(0)
        server.running.process.send_signal(signal.SIGTERM)
        assert server.running.process.wait(timeout=60) == 0
        self.endpoints.remove(server.port)

    def kill(self) -> None:
        """Ends the oldest as a node that loses its power does."""
        server = self.running.pop(0)
        server.running.process.kill()
        server.running.process.wait(timeout=60)
        time.sleep(PROPAGATION)
        self.endpoints.remove(server.port)


@pytest.fixture
def alone(cluster: Cluster, namespace: str) -> float:
    """The creations in a second that the API server and these clients reach without a webhook, of 100."""
    with load.Load(cluster, namespace=namespace, rate=100, make=load.gpu_pod).running() as outcomes:
        time.sleep(10)
    return outcomes.sent / 10


@pytest.fixture(scope="module")
def replicas(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replicas]:
    with contextlib.ExitStack() as stack:
        replicas = Replicas(tmp_path_factory.mktemp("replicas"), stack)
        for _ in range(REPLICAS):
            replicas.add()
        port = stack.enter_context(balancing(replicas.endpoints))
        printed = command.usher(
            *("manifests", "webhooks", "--url", f"https://{LOOPBACK}:{port}"),
            *("--ca-bundle", replicas.running[0].ca_file),
            *("--validate-failure-policy=Fail", "--mutate-failure-policy=Fail"),
            # How long a busy machine takes is not what is tested.
            *("--validate-timeout=5", "--mutate-timeout=5"),
        )
        assert printed.code == 0, printed.err
        configurations = list(yaml.safe_load_all(printed.out))
        for each in configurations:
            cluster.apply(each)
        stack.callback(remove, cluster, kinds=[each["kind"] for each in configurations])
        wait_until(lambda: is_changed(cluster), description="the API server asks the webhooks")
        yield replicas


def is_changed(cluster: Cluster) -> bool:
    probe = cluster.create(load.gpu_pod("probe", "default"), dry_run=True)
    return "gpu-usher.io/mutations" in probe["metadata"].get("annotations", {})


def show(text: str) -> None:
    """Prints a figure, for those who let pytest print (-s)."""
    print(f"\n{text}")  # noqa: T201 - printing is what it is for


def replaced_one_by_one(replicas: Replicas) -> None:
    for _ in range(REPLICAS):
        replicas.add()
        replicas.end_in_order()


def scaled_down_and_up(replicas: Replicas) -> None:
    replicas.end_in_order()
    replicas.end_in_order()
    replicas.add()
    replicas.add()


def ended_before_the_service_knows(replicas: Replicas) -> None:
    replicas.end_at_once()
    replicas.add()


@pytest.mark.process
@pytest.mark.parametrize("happens", [replaced_one_by_one, ended_before_the_service_knows])
def test_no_creation_is_lost_or_unchanged(
    cluster: Cluster, namespace: str, replicas: Replicas, happens: Callable[[Replicas], None]
) -> None:
    with load.Load(cluster, namespace=namespace, rate=25, make=load.gpu_pod).running() as outcomes:
        time.sleep(1)
        happens(replicas)
        time.sleep(1)

    assert outcomes.refused == {}
    assert outcomes.failed == outcomes.unchanged == 0
    assert outcomes.created > 50


@pytest.mark.process
def test_a_replica_that_is_killed_loses_no_more_than_it_was_answering(
    cluster: Cluster, namespace: str, replicas: Replicas
) -> None:
    with load.Load(cluster, namespace=namespace, rate=25, make=load.gpu_pod).running() as outcomes:
        time.sleep(1)
        replicas.kill()
        time.sleep(2)
    replicas.add()

    assert outcomes.failed <= load.CONNECTIONS, outcomes.refused
    assert outcomes.created > 25


@pytest.mark.slow
@pytest.mark.process
def test_ten_minutes_of_restarts_lose_no_creation(
    cluster: Cluster, namespace: str, alone: float, replicas: Replicas
) -> None:
    """Promise P1, at the rate of 100 creations in a second or what this machine can do."""
    with load.Load(cluster, namespace=namespace, rate=100, make=load.gpu_pod).running() as outcomes:
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            replaced_one_by_one(replicas)
            ended_before_the_service_knows(replicas)
            scaled_down_and_up(replicas)

    rate, slow = outcomes.sent / SECONDS, outcomes.slowest(0.99)
    show(f"{outcomes.sent} creations, {rate:.0f} in a second (without webhooks {alone:.0f}), p99 {slow:.3f} s")
    assert outcomes.refused == {}
    assert outcomes.failed == outcomes.unchanged == 0
