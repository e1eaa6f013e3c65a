"""Cohorts, limits and stopped queues, by the live server and by a snapshot (docs/domain/acceptance-cases.md, 9)."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import builders
import reviews
from builders import container, template
from builders.queues import cluster_queue, cohort, configuration, flavor, group, local_queue, quota
from e2e import accounts, api_server_alone, crds, quota_site
from e2e.cluster import Cluster, Object
from e2e.facts_site import CONFIG, NAMESPACE
from integration import command
from server_process import ServerProcess

GPUS = 8
"""The GPUs of each pod."""

DEFINITIONS = tuple(
    f"kueue.x-k8s.io/{plural}" for plural in ("clusterqueues", "cohorts", "localqueues", "resourceflavors")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """A ClusterQueue, alone or in a cohort with another one."""

    own: Object
    other: Object | None = None
    fits: int
    """Pods that it could admit at once; not one more."""
    most: str
    """The most that the flavor can give, by the message to the user."""
    stopped: bool = False


QUEUES = {
    "cohort-smaller-than-nominal-and-borrowed": Queue(
        own=quota(16, borrowing=32), other=quota(8), fits=3, most="24 of flavor h100 (16 own + 8 borrowed)"
    ),
    "lending-limit-of-others": Queue(
        own=quota(16), other=quota(64, lending=8), fits=3, most="24 of flavor h100 (16 own + 8 borrowed)"
    ),
    "no-borrowing-limit": Queue(own=quota(0), other=quota(64), fits=8, most="64 of flavor h100 (0 own + 64 borrowed)"),
    "held": Queue(own=quota(16), fits=2, most="16 of flavor h100 (16 own)", stopped=True),
}
"""By name, which is that of the LocalQueue and the cohort as well."""


@pytest.fixture(scope="module", params=["v1beta2", "v1beta1"])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster that has Kueue's kinds in one version and no other."""
    with api_server_alone.prepared(tmp_path_factory.mktemp("kueue")) as alone:
        alone.start()
        for name in (accounts.NAMESPACE, "kueue-system", NAMESPACE):
            alone.cluster.create(builders.custom("v1", "Namespace", {}, name=name, namespace=None))
        accounts.granted(alone.cluster, *accounts.OF_FACTS)
        crds.install(alone.cluster, DEFINITIONS, version=request.param)
        alone.cluster.create(configuration("integrations: {frameworks: [batch/job]}"))
        for each in of_kueue(request.param):
            alone.cluster.create(each, strict=True)
        yield alone.cluster


def of_kueue(version: str) -> Iterator[Object]:
    """The objects as they are written in a version."""
    made = [flavor("h100")]
    for name, queue in QUEUES.items():
        shared = name if queue.other is not None else None
        stopped: Object = {"stopPolicy": "Hold"} if queue.stopped else {}
        made += [local_queue(name), cluster_queue(name, of(queue.own), version=version, cohort=shared, **stopped)]
        if queue.other is not None:
            made += [cohort(name), cluster_queue(f"{name}-others", of(queue.other), version=version, cohort=name)]
    yield from (builders.replaced(each, "/apiVersion", f"kueue.x-k8s.io/{version}") for each in made)


def of(gpus: Object) -> Object:
    return group(("h100", [gpus]))


@pytest.fixture(scope="module")
def account(site: Cluster) -> Path:
    return accounts.kubeconfig(site)


@pytest.fixture(scope="module")
def server(account: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that watches the cluster."""
    with quota_site.replica(tmp_path_factory.mktemp("server"), 0, account, config=CONFIG) as running:
        yield running


@pytest.fixture(scope="module")
def checked(account: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The findings of `usher check` by a snapshot, by name of the Job."""
    directory = tmp_path_factory.mktemp("checked")
    taken = command.usher("snapshot", "-o", directory / "cluster.json.gz", "--kubeconfig", account)
    assert taken.code == 0, taken.err
    jobs = (job(name, pods) for name, queue in QUEUES.items() for pods in (queue.fits, queue.fits + 1))
    file = command.write(directory / "jobs.yaml", *jobs)
    done = command.usher(
        "check", file, "--facts", directory / "cluster.json.gz", "--config", CONFIG, "--format", "json"
    )
    return {
        each["name"]: [f"{found['outcome']} {found['code']} {found['message']}" for found in each["findings"]]
        for each in done.json["workloads"]
    }


def job(queue: str, pods: int) -> Object:
    return builders.job(
        template(container(gpus=GPUS)),
        parallelism=pods,
        completions=pods,
        name=f"{queue}-{pods}",
        namespace=NAMESPACE,
        labels={"kueue.x-k8s.io/queue-name": queue},
    )


@pytest.mark.parametrize("name", QUEUES)
def test_what_a_queue_could_give_and_not_one_pod_more(
    server: ServerProcess, checked: dict[str, list[str]], name: str
) -> None:
    """A queue on hold only makes wait what it could admit."""
    queue = QUEUES[name]
    never = (
        f"this Job asks for {GPUS * (queue.fits + 1)} nvidia.com/gpu ({queue.fits + 1} pods x {GPUS}); "
        f"ClusterQueue {name} can never give more than {queue.most}"
    )
    waits = f"ClusterQueue {name} is stopped (stopPolicy Hold), so Kueue does not start this Job until it is resumed"

    for pods in (queue.fits, queue.fits + 1):
        found = of_the_queue(checked[f"{name}-{pods}"])
        answer = server.review("validate", reviews.body(job(name, pods)))
        denial = answer.get("status", {}).get("message", "")

        assert found == [
            *([f"deny USH435 {never}"] if pods > queue.fits else []),
            *([f"warn USH432 {waits}"] if queue.stopped else []),
        ]
        assert (f"USH435 queue-never-admissible: {never}" in denial) == (pods > queue.fits)
        warned = any(each.startswith("USH432") for each in answer.get("warnings", []))
        assert warned == queue.stopped


def of_the_queue(findings: list[str]) -> list[str]:
    return [each for each in findings if each.split()[1].startswith("USH43")]
