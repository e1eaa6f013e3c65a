"""Connections that were idle for a while: the API server never calls over one that is being closed."""

import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from e2e import certificate_site
from e2e.certificate_site import Site, registered, replica
from e2e.cluster import Cluster, wait_until

pytestmark = pytest.mark.slow

KEPT = 20
"""Connections at a time. The API server keeps up to 25 of them; it closes them after 90 idle seconds."""


@pytest.fixture(scope="module")
def site(cluster: Cluster) -> Iterator[Site]:
    with certificate_site.site(cluster) as made:
        yield made


def failures(site: Site, pause: float, *, rounds: int, jitter: float) -> list[str]:
    """The failures among bursts of calls, with `pause` seconds between them."""
    found: list[str] = []
    for number in range(rounds):
        time.sleep(max(0.0, pause + random.Random(number).uniform(-jitter, jitter)))
        with ThreadPoolExecutor(KEPT) as pool:
            found += [each for calls in pool.map(site.failures, KEPT * [1]) for each in calls]
    return found


def test_no_call_fails_whenever_a_connection_was_used_last(site: Site, tmp_path: Path) -> None:
    """The pauses are around those at which servers and clients close connections: 5, 60 and 90 seconds."""
    with replica(site, tmp_path / "0") as server, registered(site, [server]):
        wait_until(site.trusted, description="the server filled caBundle in")
        wait_until(lambda: not site.failures(1), description="the API server asks it")

        assert failures(site, 5, rounds=24, jitter=0.5) == []
        assert failures(site, 60, rounds=4, jitter=1) == []
        assert failures(site, 90, rounds=4, jitter=1) == []


def test_a_server_that_closes_idle_connections_first_would_lose_calls(site: Site, tmp_path: Path) -> None:
    """So the test above can find what it looks for: this address closes connections after five idle seconds."""
    with replica(site, tmp_path / "0") as server, registered(site, [server], idle=5.0):
        wait_until(site.trusted, description="the server filled caBundle in")
        wait_until(lambda: not site.failures(1), description="the API server asks it")

        found: list[str] = []
        for _ in range(20):
            found += failures(site, 5, rounds=5, jitter=0.02)
            if found:
                break
    assert found
