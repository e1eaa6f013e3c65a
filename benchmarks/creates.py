"""Measures what our webhooks add to creations: 200 clients create Pods at the same time.

A real API server and etcd run on loopback, with three replicas of our server. The peer is the same API server in the
same run without webhooks. Creations are dry runs: admission runs as for others, and nothing is stored.
"""

import asyncio
import contextlib
import json
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import builders
import client
import sections
import server_process
from e2e import api_server_alone
from e2e.balancer import Endpoints, balancing
from e2e.cluster import Cluster
from e2e.processes import LOOPBACK
from integration import command
from server_process import ServerProcess

CLIENTS = 200
CREATIONS = 6_000
REPLICAS = 3
LIMIT = 10.0
"""Milliseconds of our own, for 99 of 100 reviews."""
NAMESPACE = "creations"


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        sections.publish("creates", lambda: "\n".join(report(Path(name))), description=__doc__)


def report(directory: Path) -> Iterator[str]:
    with api_server_alone.prepared(directory) as alone:
        alone.start()
        cluster = alone.cluster
        cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        service_account = {"name": "default", "namespace": NAMESPACE}
        cluster.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": service_account})
        bodies = {"pods that all differ": different(), "pods of one Job": alike()}
        peers = {name: created(cluster, each) for name, each in bodies.items()}
        yield (
            f"{CLIENTS} clients create {CREATIONS:,} Pods each way, as fast as the API server answers; {REPLICAS} "
            "replicas behind one address, with `/mutate` and `/validate`."
        )
        yield ""
        yield (
            "| pods | created in a second | of the API server alone | p50 ms | p99 ms | more than alone, p99 ms "
            "| decided: p50 ms | p99 ms | from arrival to answer: p50 ms | p99 ms |"
        )
        yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
        for name, each in bodies.items():
            with asked(cluster, directory) as replicas:
                found = created(cluster, each)
                time.sleep(1)  # the last answers are logged after they were sent
                yield row(name, found, peers[name], replicas)
        yield ""
        yield f"The limit for `decided` is {LIMIT:.0f} ms for 99 of 100 reviews."


class Creations:
    """The seconds of each creation, and of all together."""

    def __init__(self, latencies: Sequence[float], seconds: float) -> None:
        self.latencies, self.seconds = latencies, seconds

    @property
    def rate(self) -> float:
        return len(self.latencies) / self.seconds

    def percentile(self, share: float) -> float:
        """In milliseconds."""
        return client.percentile(self.latencies, share) * 1000


def row(name: str, found: Creations, peer: Creations, replicas: Sequence[ServerProcess]) -> str:
    reviews = [line for replica in replicas for line in replica.log("decision") if line["namespace"] == NAMESPACE]
    decided = [line["phases"]["decided"] for line in reviews]
    whole = [line["milliseconds"] for line in reviews]
    own = " | ".join(f"{client.percentile(each, share):.1f}" for each in (decided, whole) for share in (0.5, 0.99))
    return (
        f"| {name} | {found.rate:.0f} | {found.rate / peer.rate:.2f} | {found.percentile(0.5):.0f} "
        f"| {found.percentile(0.99):.0f} | {found.percentile(0.99) - peer.percentile(0.99):.0f} | {own} |"
    )


def created(cluster: Cluster, bodies: Sequence[bytes]) -> Creations:
    target = client.Target(
        port=int(urlsplit(cluster.server).port or 0),
        path=f"/api/v1/namespaces/{NAMESPACE}/pods?dryRun=All",
        bodies=bodies,
        context=cluster.tls,
        token=cluster.token,
    )
    began = time.perf_counter()
    latencies = asyncio.run(client.send(target, requests=CREATIONS, connections=CLIENTS))
    return Creations(latencies, time.perf_counter() - began)


def different() -> list[bytes]:
    """Pods that usher has not seen before."""
    return [_pod(number, container=f"c-{number}") for number in range(CREATIONS)]


def alike() -> list[bytes]:
    return [_pod(number, container="main") for number in range(CREATIONS)]


def _pod(number: int, *, container: str) -> bytes:
    pod = builders.pod(builders.container(container, gpus=1), name=f"pod-{number}", namespace=NAMESPACE)
    return json.dumps(pod).encode()


@contextlib.contextmanager
def asked(cluster: Cluster, directory: Path) -> Iterator[list[ServerProcess]]:
    """While the context lasts, the API server asks one of several new replicas about each creation."""
    config = directory / "usher.yaml"
    config.write_text(json.dumps({"apiVersion": "gpu-usher.io/v1alpha1", "kind": "Config"}))
    with contextlib.ExitStack() as stack:
        replicas: list[ServerProcess] = []
        for number in range(REPLICAS):
            own = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=directory)))
            for name in ("ca.crt", "ca.key", "tls.crt", "tls.key") if number else ():
                shutil.copy(replicas[0].directory / name, own / name)
            replicas.append(stack.enter_context(server_process.running(own, arguments=(f"--config={config}",))))
        port = stack.enter_context(balancing(Endpoints(*(replica.port for replica in replicas))))
        printed = command.usher(
            *("manifests", "webhooks", "--url", f"https://{LOOPBACK}:{port}", "--ca-bundle", replicas[0].ca_file),
            *("--mutate-failure-policy", "Fail", "--validate-failure-policy", "Fail"),
        )
        if printed.code:
            raise RuntimeError(printed.err)
        cluster.kubectl("apply", "--filename=-", stdin=printed.out)
        time.sleep(2)  # until the API server has heard of them
        yield replicas


if __name__ == "__main__":
    main()
