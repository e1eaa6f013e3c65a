"""The server watches its cluster, with the role of manifests/base and no other rights, through all that befalls it."""

import asyncio
import gzip
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import builders
import reviews
import server_process
from e2e import accounts, api_server_alone, crds
from e2e.accounts import NAMESPACE
from e2e.api_server_alone import ApiServerAlone
from e2e.cluster import Cluster, Object, wait_until
from integration import command
from server_process import ServerProcess
from unit.server import asgi
from usher.cluster import connection
from usher.cluster import watching as cluster_watching
from usher.cluster.watching import LiveFacts
from usher.config.models import Config
from usher.policy import assembly
from usher.server.metrics import Metrics
from usher.server.reloading import Current
from usher.server.reviews import Reviews

CLASSES = 'kind="priorityclasses.scheduling.k8s.io"'
QUEUES = 'kind="localqueues.kueue.x-k8s.io"'

DOUBT = (
    "USH620 class-unknown: the pod names PriorityClass absent, which does not exist, so the API server refuses the "
    "pods. Name a class that `kubectl get priorityclasses` lists, or create this one. "
    "(cluster facts are 10 minutes old)"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServerAlone]:
    """A cluster without controllers, in which the server's account and its roles are."""
    with api_server_alone.prepared(tmp_path_factory.mktemp("facts")) as alone:
        alone.start()
        for name in (NAMESPACE, "kueue-system"):
            alone.cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        accounts.granted(alone.cluster, *accounts.OF_FACTS)
        yield alone


@pytest.fixture(scope="module")
def account(site: ApiServerAlone) -> Path:
    """The kubeconfig of the server's account."""
    return accounts.kubeconfig(site.cluster)


@pytest.fixture
def server(account: Path, tmp_path: Path) -> Iterator[ServerProcess]:
    """A server that watches the cluster and is ready."""
    with server_process.running(tmp_path, arguments=("--live", f"--kubeconfig={account}")) as running:
        try:
            yield running
        finally:
            running.running.process.send_signal(signal.SIGINT)


def priority_class(name: str) -> dict[str, object]:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": 1000,
    }


def delete_class(cluster: Cluster, name: str) -> None:
    cluster.delete("PriorityClass", name, api_version="scheduling.k8s.io/v1")


def misses_class(server: ServerProcess, name: str) -> bool:
    """Whether the server says of a pod of this class that there is no such class."""
    pod = builders.pod(builders.container(gpus=1), priorityClassName=name)
    warnings = server.review("validate", reviews.body(pod)).get("warnings", [])
    return any("USH620" in warning for warning in warnings)


def metric(server: ServerProcess, name: str, kind: str) -> float | None:
    return server.metrics().get(f"{name}{{{kind}}}")


def test_all_facts_arrive_with_the_rights_of_the_role(server: ServerProcess) -> None:
    current = {name: value for name, value in server.metrics().items() if name.startswith("usher_facts_current")}

    assert set(current.values()) == {1.0}
    assert metric(server, "usher_facts_objects", CLASSES) == 2
    assert server.log("facts_problem") == []


def test_a_decision_follows_the_cluster(site: ApiServerAlone, server: ServerProcess) -> None:
    """A class that is created is known a moment later, and so is its end."""
    assert misses_class(server, "research-high")

    site.cluster.create(priority_class("research-high"))
    wait_until(lambda: not misses_class(server, "research-high"), description="the class is known", timeout=20)

    delete_class(site.cluster, "research-high")
    wait_until(lambda: misses_class(server, "research-high"), description="the class is forgotten", timeout=20)


def test_the_content_of_config_maps_stays_in_the_cluster_but_for_that_of_kueue(
    site: ApiServerAlone, account: Path, tmp_path: Path
) -> None:
    """Seen from a snapshot, which reads as the server does."""
    for namespace, name in ((NAMESPACE, "ours"), ("kueue-system", "kueue-manager-config")):
        site.cluster.create(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": name, "namespace": namespace},
                "data": {"controller_manager_config.yaml": f"of {name}", "other": "secret-of-a-config-map"},
            }
        )
    file = tmp_path / "cluster.json.gz"

    done = command.usher("snapshot", "-o", file, "--kubeconfig", account)

    assert done.code == 0, done.err
    content = gzip.decompress(file.read_bytes()).decode()
    assert "of kueue-manager-config" in content
    assert "of ours" not in content
    assert "secret-of-a-config-map" not in content
    assert "priorityclasses.scheduling.k8s.io" in done.out
    again = tmp_path / "again.json.gz"
    assert command.usher("snapshot", "-o", again, "--kubeconfig", account).code == 0
    assert again.read_bytes() == file.read_bytes()


def test_a_kind_that_is_installed_later_is_picked_up(site: ApiServerAlone, server: ServerProcess) -> None:
    assert metric(server, "usher_facts_objects", QUEUES) == 0

    crds.install(site.cluster, ["kueue.x-k8s.io/localqueues"])
    site.cluster.create(
        {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "LocalQueue",
            "metadata": {"name": "research", "namespace": NAMESPACE},
            "spec": {"clusterQueue": "research"},
        }
    )

    wait_until(lambda: metric(server, "usher_facts_objects", QUEUES) == 1, description="the queue is known", timeout=30)


class Clock:
    """Monotonic, in seconds; a test may put it forward."""

    ahead = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.ahead


class Watching:
    """The parts of a server that watches its cluster, with a clock of the test's."""

    def __init__(self, account: Path) -> None:
        self.clock = Clock()
        self.facts = LiveFacts(connection.connect(kubeconfig=account), clock=self.clock)
        config = Config.model_validate({"enforcement": {"rules": [{"check": "class-unknown", "action": "deny"}]}})
        evaluator = assembly.embedded(config, facts=self.facts.store)
        self._metrics = Metrics(engine="wasm", revision="test")
        self._metrics.watch_facts(self.facts)
        current = Current(evaluator, file=None, make=lambda _: evaluator)
        self._app = Reviews(current=current, metrics=self._metrics, stopping=lambda: False)

    def review(self, priority_class: str, *, container: Object | None = None) -> Any:
        """The response about a pod of a class."""
        pod = builders.pod(container or builders.container(gpus=1), priorityClassName=priority_class)
        answer = asyncio.run(asgi.call(self._app, "/validate", asgi.chunks(reviews.body(pod))))
        assert answer.status == 200
        return answer.response

    def metric(self, name: str) -> float:
        """The metric of PriorityClasses."""
        line = next(
            line for line in self._metrics.exposition().decode().splitlines() if line.startswith(f"{name}{{{CLASSES}}}")
        )
        return float(line.rpartition(" ")[2])


@pytest.fixture
def watching(account: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watching]:
    """It knows all that there is, and tries again every second when the API server is away."""
    monkeypatch.setattr(cluster_watching, "LONGEST_WAIT", 1.0)
    made = Watching(account)
    made.facts.start()
    try:
        wait_until(lambda: made.facts.ready, description="all facts have come")
        yield made
    finally:
        made.facts.stop()


def test_ten_minutes_without_the_api_server(site: ApiServerAlone, watching: Watching) -> None:
    """It goes on deciding by what it knows, denies nothing by it once it is old, says so, and recovers by itself."""
    unequal = builders.container(requests={builders.GPU: 2}, limits={builders.GPU: 1})
    assert watching.review("absent")["auditAnnotations"]["deny"] == "USH620"

    site.stop()
    try:
        wait_until(lambda: watching.metric("usher_facts_current") == 0, description="the watch is known to be lost")
        assert watching.review("absent")["auditAnnotations"]["deny"] == "USH620"
        assert "USH620" not in str(watching.review("system-cluster-critical"))

        watching.clock.ahead = 600.0
        assert 600 <= watching.metric("usher_facts_age_seconds") < 660
        doubted = watching.review("absent")
        assert doubted["allowed"]
        assert [warning for warning in doubted["warnings"] if "USH620" in warning] == [DOUBT]
        assert watching.review("absent", container=unequal)["auditAnnotations"]["deny"] == "USH103"
        assert watching.facts.ready
    finally:
        site.start()
    site.cluster.create(priority_class("research-high"))

    wait_until(lambda: not watching.review("absent")["allowed"], description="the facts are new", timeout=60)
    wait_until(lambda: "USH620" not in str(watching.review("research-high")), description="the class is known")
    assert watching.metric("usher_facts_age_seconds") < 60
    assert watching.metric("usher_facts_current") == 1
    assert watching.facts.problems == {}
    delete_class(site.cluster, "research-high")


def test_without_an_api_server_at_its_start_it_waits_for_one_and_later_does_without(
    site: ApiServerAlone, account: Path, tmp_path: Path
) -> None:
    site.stop()
    try:
        with server_process.running(tmp_path, arguments=("--live", f"--kubeconfig={account}"), awaited=False) as server:
            answer = server.admin("/readyz")
            assert answer.status == 503
            assert answer.body.startswith(b"waiting for facts: namespaces")
            site.start()

            wait_until(lambda: server.admin("/readyz").status == 200, description="the server is ready", timeout=60)
            assert metric(server, "usher_facts_objects", CLASSES) == 2
            # What is wrong is told once of each kind, and in our words.
            told = [line["kind"] for line in server.log("facts_problem")]
            assert len(told) == len(set(told))
            assert {line["event"] for line in server.log()} <= {
                "started",
                "facts_problem",
                "facts_recovered",
                "facts_ready",
                "quota_parts_not_deleted",  # the API server was away when the first round was due
            }

            site.stop()
            wait_until(
                lambda: metric(server, "usher_facts_current", CLASSES) == 0, description="the watch is known to be lost"
            )
            assert server.admin("/readyz").status == 200
            assert misses_class(server, "research-high")
            assert not misses_class(server, "system-cluster-critical")
            server.running.process.send_signal(signal.SIGINT)
    finally:
        site.stop()
        site.start()
