"""One GPUQuota, three replicas, fifty clients at once: never a GPU too many, and in the end not one too few."""

import contextlib
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import builders
from e2e import accounts, crds, quota_site
from e2e.cluster import ApiError, Cluster, Object, wait_until
from e2e.quota_site import settled, status, used
from server_process import ServerProcess

HARD = 50
CLIENTS = 50
REPLICAS = 3
ATTEMPTS = 30
API_VERSIONS = {
    "Job": "batch/v1",
    "PyTorchJob": "kubeflow.org/v1",
    "JobSet": "jobset.x-k8s.io/v1alpha2",
}


@pytest.fixture(scope="module")
def account(cluster: Cluster) -> Iterator[Path]:
    crds.install(cluster, ["kubeflow.org/pytorchjobs", "jobset.x-k8s.io/jobsets"])
    with quota_site.account(cluster) as kubeconfig:
        yield kubeconfig


@pytest.fixture
def replicas(cluster: Cluster, account: Path, tmp_path: Path) -> Iterator[list[ServerProcess]]:
    """Three servers that watch the cluster, and are asked about everything in it."""
    with contextlib.ExitStack() as stack:
        running = [stack.enter_context(quota_site.replica(tmp_path, number, account)) for number in range(REPLICAS)]
        stack.enter_context(quota_site.asked(cluster, running))
        yield running


@pytest.fixture
def quota(cluster: Cluster, namespace: str, replicas: list[ServerProcess]) -> Iterator[str]:
    """A GPUQuota for the namespace of the test, of which all servers know."""
    with quota_site.quota(cluster, namespace, {"hard": {"gpus": HARD}}) as name:
        quota_site.wait_until_known(replicas)
        yield name


def workload(number: int, namespace: str, chance: random.Random) -> Object:
    """A workload of one of several kinds, of 1 to 12 GPUs."""
    name, pods, gpus = f"job-{number}", chance.randint(1, 2), chance.randint(1, 4)
    template = builders.template(builders.container(gpus=gpus), restartPolicy="Never")
    match chance.randrange(4):
        case 0:
            return builders.pytorch_job(template, workers=pods, name=name, namespace=namespace)
        case 1:
            replicated = builders.replicated_job("workers", template, replicas=pods)
            return builders.job_set(replicated, name=name, namespace=namespace)
        case _:
            return builders.job(template, parallelism=pods, completions=pods, name=name, namespace=namespace)


def gpus_of(value: Object) -> int:
    """Counted by hand, so that it does not rest on what is tested."""
    spec = value["spec"]
    match value["kind"]:
        case "Job":
            return int(spec["parallelism"]) * _gpus(spec["template"])
        case "PyTorchJob":
            return sum(int(each["replicas"]) * _gpus(each["template"]) for each in spec["pytorchReplicaSpecs"].values())
        case _:
            jobs = ((each["replicas"], each["template"]["spec"]) for each in spec["replicatedJobs"])
            return sum(
                int(replicas) * int(job.get("parallelism", 1)) * _gpus(job["template"]) for replicas, job in jobs
            )


def _gpus(template: Object) -> int:
    return sum(
        int(container["resources"]["limits"].get("nvidia.com/gpu", 0)) for container in template["spec"]["containers"]
    )


@dataclass(slots=True)
class Clients:
    """Creations by many clients of one namespace at once, and their answers."""

    cluster: Cluster
    namespace: str
    outcomes: Counter[str] = field(default_factory=Counter)

    def create(self, values: Sequence[Object]) -> None:
        with ThreadPoolExecutor(CLIENTS) as pool:
            list(pool.map(self._create, values))

    def delete(self, values: Sequence[Object]) -> None:
        with ThreadPoolExecutor(CLIENTS) as pool:
            list(pool.map(self._delete, values))

    def there(self) -> list[Object]:
        """All workloads of the namespace."""
        found = []
        for kind, api_version in API_VERSIONS.items():
            listed = self.cluster.objects(kind, namespace=self.namespace, api_version=api_version)
            found += [{**each, "kind": kind, "apiVersion": api_version} for each in listed]
        return found

    def held(self) -> int:
        return sum(map(gpus_of, self.there()))

    def _create(self, value: Object) -> None:
        """Tries again, as a controller does, while nobody can say whether it may."""
        for attempt in range(ATTEMPTS):
            try:
                self.cluster.create(value)
            except ApiError as error:
                if "USH1230" in error.message:
                    self.outcomes["refused"] += 1
                    return
                if error.reason == "AlreadyExists":
                    return
                if error.status < 500:
                    raise
                self.outcomes["tried again"] += 1
                self.last = error.message
                time.sleep(0.05 * (attempt + 1))
            else:
                self.outcomes["created"] += 1
                return
        raise AssertionError(f"nobody could say whether {value['metadata']['name']} may be created: {self.last}")

    def _delete(self, value: Object) -> None:
        self.cluster.delete(
            value["kind"], value["metadata"]["name"], namespace=self.namespace, api_version=value["apiVersion"]
        )

    last: str = ""


@contextlib.contextmanager
def watching(clients: Clients) -> Iterator[list[int]]:
    """Reads the used amounts of the ledger again and again while the context lasts."""
    seen: list[int] = []
    done = threading.Event()

    def look() -> None:
        while not done.wait(0.1):
            seen.append(used(clients.cluster, clients.namespace))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        done.set()
        thread.join()


def kill_after(answers: int, replica: ServerProcess, clients: Clients) -> None:
    wait_until(lambda: clients.outcomes.total() >= answers, description=f"{answers} are answered", timeout=120)
    replica.running.process.kill()


@pytest.mark.parametrize("count", [60, pytest.param(300, marks=pytest.mark.thorough)])
def test_many_jobs_of_fifty_clients_never_get_a_gpu_too_many_and_in_the_end_not_one_too_few(
    cluster: Cluster, replicas: list[ServerProcess], quota: str, count: int
) -> None:
    """One of three replicas is killed half-way; what it reserved and could not tell anybody of comes back."""
    chance = random.Random(7)
    jobs = [workload(number, quota, chance) for number in range(count)]
    # An administrator would be let in while a replica does not answer.
    clients = Clients(cluster=accounts.tenant(cluster, quota), namespace=quota)

    with watching(clients) as seen:
        with ThreadPoolExecutor(1) as other:
            killed = other.submit(kill_after, count // 3, replicas[0], clients)
            clients.create(jobs)
            killed.result()
        assert clients.held() <= HARD
        # One whose answer was lost was created all the same, and is there when it is tried again.
        assert count - CLIENTS <= clients.outcomes["created"] + clients.outcomes["refused"] <= count

        half = clients.there()[::2]
        clients.delete(half)
        clients.create([workload(number, quota, chance) for number in range(count, count + count // 3)])
        wait_until(
            lambda: settled(cluster, quota) and used(cluster, quota) == clients.held(),
            description="what is charged is what is there",
            timeout=120,
        )
        assert clients.held() <= HARD

        one = builders.template(builders.container(gpus=1), restartPolicy="Never")
        clients.create(
            [builders.job(one, parallelism=1, completions=1, name=f"one-{n}", namespace=quota) for n in range(HARD)]
        )
        wait_until(lambda: settled(cluster, quota), description="all is settled", timeout=120)
        assert clients.held() == HARD
        assert used(cluster, quota) == HARD
    assert max(seen) <= HARD

    clients.delete(clients.there())
    wait_until(lambda: used(cluster, quota) == 0, description="all has been given back", timeout=120)
    assert status(cluster, quota)["charges"] == []
    for replica in replicas[1:]:
        assert replica.running.process.poll() is None
