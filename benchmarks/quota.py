"""Measures charges of one GPUQuota in a burst: workloads created in a second, charges lost, moments over the limit.

A real API server and etcd run on loopback, with three replicas of our server. The peer is the same API server in the
same run without our webhook.
"""

import contextlib
import http.client
import json
import shutil
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import yaml

import builders
import client
import processes
import sections
import server_process
from e2e import accounts, api_server_alone
from e2e.balancer import Endpoints, balancing
from e2e.cluster import Cluster, Object, wait_until
from e2e.processes import LOOPBACK
from integration import command
from server_process import ServerProcess
from usher.authorities.gpu_quota import ledger
from usher.authorities.gpu_quota.entries import Entry
from usher.authorities.gpu_quota.live.account_store import Account, StatusStore
from usher.authorities.gpu_quota.live.accounts import AccountWriter
from usher.cluster import connection
from usher.cluster.connection import Api
from usher.quantities import NANO

ENTRIES = 10_000
RATE = 200
SECONDS = 20
REPLICAS = 3
CLIENTS = 64
ROOM = RATE * SECONDS * 3 // 4
"""So many of the workloads fit; the others must be refused."""
QUOTA = "burst"
CONFIG: Object = {
    "apiVersion": "gpu-usher.io/v1alpha1",
    "kind": "Config",
    "enforcement": {
        "rules": [{"check": "*", "action": "off"}, {"check": "gpu-quota-exceeded", "action": "deny"}],
    },
}


@dataclass(slots=True)
class Burst:
    """The answers to clients that created workloads at a steady rate."""

    seconds: float = 0.0
    created: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)
    lost: Counter[str] = field(default_factory=Counter)

    @property
    def rate(self) -> float:
        """Decided workloads in a second."""
        return (len(self.created) + len(self.refused)) / self.seconds


class Clients:
    """Threads that create Jobs of one GPU, each over a connection of its own."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._own = threading.local()

    def create(self, namespace: str, name: str, into: Burst) -> None:
        template = builders.template(builders.container(gpus=1), restartPolicy="Never")
        job = builders.job(template, parallelism=1, completions=1, name=name, namespace=namespace)
        began = time.perf_counter()
        try:
            status, message = self._post(f"/apis/batch/v1/namespaces/{namespace}/jobs", job)
        except (OSError, http.client.HTTPException) as error:
            self._own.connection = None
            status, message = 0, type(error).__name__
        seconds = time.perf_counter() - began
        if status == 201:
            into.created.append(seconds)
        elif status == 403 and "USH1230" in message:
            into.refused.append(seconds)
        else:
            into.lost[f"{status}: {message[:200]}"] += 1

    def burst(self, namespace: str, number: int, *, rate: float) -> Burst:
        """Creates Jobs at a rate that does not wait for answers, as long as a client is free."""
        found = Burst()
        began = time.perf_counter()
        with ThreadPoolExecutor(CLIENTS) as pool:
            for each in range(number):
                time.sleep(max(0.0, began + each / rate - time.perf_counter()))
                pool.submit(self.create, namespace, f"job-{each}", found)
        found.seconds = time.perf_counter() - began
        return found

    def _post(self, path: str, value: Object) -> tuple[int, str]:
        if getattr(self._own, "connection", None) is None:
            at = urlsplit(self._cluster.server)
            self._own.connection = http.client.HTTPSConnection(
                str(at.hostname), at.port, context=self._cluster.tls, timeout=40
            )
        headers = {"Authorization": f"Bearer {self._cluster.token}", "Content-Type": "application/json"}
        self._own.connection.request("POST", path, body=json.dumps(value), headers=headers)
        response = self._own.connection.getresponse()
        body = json.loads(response.read())
        return response.status, str(body.get("message", ""))


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        sections.publish("quota", lambda: "\n".join(report(Path(name))), description=__doc__)


def report(directory: Path) -> Iterator[str]:
    with api_server_alone.prepared(directory) as alone:
        alone.start()
        cluster = alone.cluster
        file = prepared(cluster)
        # An administrator would be let in while a replica does not answer.
        clients = Clients(accounts.tenant(cluster, "filled"))
        most = clients.burst("filled", ENTRIES, rate=100_000)
        peer = clients.burst("alone", RATE * SECONDS, rate=RATE)
        if most.lost or peer.lost:
            raise RuntimeError(f"the API server refuses Jobs: {(most.lost + peer.lost).most_common(3)}")
        fill(connection.connect(kubeconfig=file))
        with asked(cluster, directory, file) as replicas:
            unlimited = clients.burst("unlimited", RATE * SECONDS, rate=RATE)
            before = seconds_of(replicas)
            with watched(cluster) as samples:
                charged = clients.burst("filled-more", RATE * SECONDS, rate=RATE)
            processor = (seconds_of(replicas) - before) / RATE / SECONDS * 1000
            conflicts = sum(replica.metrics()["usher_quota_conflicts_total{}"] for replica in replicas)
        status = cluster.get("GPUQuota", QUOTA, api_version="gpu-usher.io/v1alpha1")["status"]
    over = sum(each > ENTRIES + ROOM for each in samples)
    yield (
        f"{ENTRIES:,} entries in one GPUQuota, {REPLICAS} replicas, {RATE} Jobs in a second for {SECONDS} s; "
        f"{ROOM:,} fit. Without a webhook and a pace, the API server creates {most.rate:.0f} in a second."
    )
    yield ""
    yield "| Jobs | decided in a second | of the API server alone | created | refused | lost | p50 ms | p99 ms |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    yield row("the API server alone", peer, peer)
    yield row("with our webhook, without a quota", unlimited, peer)
    yield row(f"with a quota of {ENTRIES:,} entries", charged, peer)
    yield ""
    yield (
        f"Moments over the limit: {over} of {len(samples)}. Used in the end: {status['used'][0]['gpus']:,} of "
        f"{ENTRIES + ROOM:,} GPUs; the status has {len(json.dumps(status)):,} bytes and {len(status['parts'])} parts. "
        f"Each Job took the replicas {processor:.1f} ms of processor time; {conflicts:.0f} writes met a conflict."
    )
    yield from (f"* {number} lost: {message}" for message, number in charged.lost.most_common(5))


def seconds_of(replicas: Sequence[ServerProcess]) -> float:
    """Processor time of all replicas so far."""
    return sum(processes.Server(pid=replica.pid, seconds_to_ready=0).cpu_seconds() for replica in replicas)


def row(name: str, found: Burst, peer: Burst) -> str:
    answered = found.created + found.refused
    p50, p99 = (client.percentile(answered, share) * 1000 for share in (0.5, 0.99))
    return (
        f"| {name} | {found.rate:.0f} | {found.rate / peer.rate:.2f} | {len(found.created)} | {len(found.refused)} "
        f"| {found.lost.total()} | {p50:.0f} | {p99:.0f} |"
    )


def prepared(cluster: Cluster) -> Path:
    """Namespaces, a GPUQuota, and the account of our server, with the rights that manifests/ give."""
    for name in (*accounts.NAMESPACES, "filled", "filled-more", "unlimited", "alone"):
        cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    accounts.granted(
        cluster, *("base/rbac.yaml", "base/facts-role.yaml", "base/quota-role.yaml", "crds/gpu-quota-crd.yaml")
    )
    hard = {"hard": {"gpus": ENTRIES + ROOM}}
    quota = builders.gpu_quota(QUOTA, namespaces=["filled*"], limits=[hard])
    wait_until(lambda: created(cluster, quota), description="GPUQuotas are served")
    return accounts.kubeconfig(cluster, "benchmark")


def created(cluster: Cluster, value: Object) -> bool:
    with contextlib.suppress(Exception):
        cluster.create(value)
        return True
    return False


def fill(api: Api) -> None:
    """Charges the Jobs that exist, and settles each charge."""
    writer = AccountWriter(StatusStore(api, QUOTA, namespace=accounts.OF_QUOTAS))

    def with_charge(number: int) -> Callable[[Account], tuple[Account, None]]:
        entry = Entry(
            group="batch", kind="Job", namespace="filled", name=f"job-{number}", amounts={("",): {"gpus": NANO}},
            reserved_until=None,
        )  # fmt: skip

        def change(account: Account) -> tuple[Account, None]:
            outcome = ledger.charge(account.ledger, entry, account.quota.limits)
            assert isinstance(outcome, ledger.Granted), outcome
            return account.charged(outcome.ledger), None

        return change

    for future in [writer.change(with_charge(number), within=300) for number in range(ENTRIES)]:
        future.result()


@contextlib.contextmanager
def asked(cluster: Cluster, directory: Path, file: Path) -> Iterator[list[ServerProcess]]:
    """While the context lasts, the API server needs the answer of one of several replicas."""
    config = directory / "usher.yaml"
    config.write_text(json.dumps(CONFIG))
    with contextlib.ExitStack() as stack:
        replicas: list[ServerProcess] = []
        for number in range(REPLICAS):
            own = directory / str(number)
            own.mkdir()
            for name in ("ca.crt", "ca.key", "tls.crt", "tls.key") if number else ():
                shutil.copy(directory / "0" / name, own / name)
            arguments = (f"--config={config}", "--live", f"--kubeconfig={file}")
            replicas.append(stack.enter_context(server_process.running(own, arguments=arguments)))
        wait_until(
            lambda: all(replica.log("workloads_observed") for replica in replicas),
            description="all replicas know the workloads",
            timeout=120,
        )
        port = stack.enter_context(balancing(Endpoints(*(replica.port for replica in replicas))))
        printed = command.usher(
            *("manifests", "webhooks", "--url", f"https://{LOOPBACK}:{port}"),
            *("--ca-bundle", replicas[0].ca_file, "--validate-failure-policy", "Fail"),
        )
        for each in yaml.safe_load_all(printed.out):
            if each["kind"].startswith("Validating"):
                cluster.apply(each)
        time.sleep(2)  # until the API server has heard of them
        yield replicas


@contextlib.contextmanager
def watched(cluster: Cluster) -> Iterator[list[int]]:
    """The used GPUs, looked at ten times a second."""
    samples: list[int] = []
    done = threading.Event()

    def look() -> None:
        while not done.wait(0.1):
            value = cluster.get("GPUQuota", QUOTA, api_version="gpu-usher.io/v1alpha1")
            samples.append(int(value["status"]["used"][0]["gpus"]))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield samples
    finally:
        done.set()
        thread.join()


if __name__ == "__main__":
    main()
