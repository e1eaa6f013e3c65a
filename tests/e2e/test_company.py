"""Other mutating webhooks before and after ours: the object that is stored does not depend on who is asked first."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

import builders
from e2e import company, crds
from e2e.cluster import Cluster, Object
from e2e.company import GATE, QUEUE_LABEL, SIDECAR, Company
from server_process import ServerProcess
from usher.install.manifests import webhooks

BEFORE, AFTER = "a-company", "z-company"
"""Names that sort before and after that of our configuration."""

ORDERS = [(name, policy) for name in (BEFORE, AFTER) for policy in ("IfNeeded", "Never")]
KUEUES_NAME = "kueue-mutating-webhook-configuration"

GPU_CONTAINER = builders.container("pytorch", gpus=2, env={"TEAM": "nlp"})
TRAINING = builders.template(GPU_CONTAINER, tolerations=[builders.toleration("team", operator="Exists")])
ONCE = builders.replaced(TRAINING, "/spec/restartPolicy", "Never")
SUSPENDED = {"Job": ("spec", "suspend"), "PyTorchJob": ("spec", "runPolicy", "suspend")}


def workloads(namespace: str, **metadata: Any) -> Mapping[str, Object]:
    place = {"namespace": namespace, **metadata}
    return {
        "Pod": builders.pod(GPU_CONTAINER, **place),
        "Pod without GPUs": builders.pod(builders.container(), **place),
        "Job": builders.job(ONCE, parallelism=2, completions=2, **place),
        "PyTorchJob": builders.pytorch_job(TRAINING, workers=2, master=TRAINING, **place),
    }


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The stored form of each workload, by when the other webhook is asked."""

    by_order: Mapping[tuple[str, str], Mapping[str, Object]]

    def of(self, workload: str) -> list[Object]:
        return [objects[workload] for objects in self.by_order.values()]


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Company]:
    with company.keeping(tmp_path_factory.mktemp("company")) as running:
        yield running


@pytest.fixture(scope="module")
def home(cluster: Cluster) -> Iterator[str]:
    crds.install(cluster, ["kubeflow.org/pytorchjobs"])
    name = cluster.create_namespace(prefix="company-")
    yield name
    cluster.delete_namespace(name, wait=False)


@pytest.fixture(scope="module")
def queued_home(cluster: Cluster, home: str) -> Iterator[str]:
    assert home
    name = cluster.create_namespace(prefix="queued-")
    yield name
    cluster.delete_namespace(name, wait=False)


@pytest.fixture(scope="module")
def with_sidecars(cluster: Cluster, mutating_webhooks: ServerProcess, others: Company, home: str) -> Outcomes:
    assert mutating_webhooks.url
    return outcomes(cluster, others, "sidecar", workloads(home))


@pytest.fixture(scope="module")
def in_queues(cluster: Cluster, mutating_webhooks: ServerProcess, others: Company, home: str) -> Outcomes:
    assert mutating_webhooks.url
    return outcomes(cluster, others, "kueue", workloads(home, labels={QUEUE_LABEL: "research"}))


@pytest.fixture(scope="module")
def put_into_queues(cluster: Cluster, mutating_webhooks: ServerProcess, others: Company, queued_home: str) -> Outcomes:
    """By us, whose usher.yaml has a queue for the namespace."""
    assert mutating_webhooks.url
    return outcomes(cluster, others, "kueue", workloads(queued_home))


every_workload = pytest.mark.parametrize("workload", workloads(""))


@every_workload
def test_a_sidecar_is_injected_before_or_after_with_the_same_end(with_sidecars: Outcomes, workload: str) -> None:
    first, *rest = map(canonical, with_sidecars.of(workload))
    assert rest == [first] * len(rest)


@every_workload
def test_an_injected_container_comes_first_and_ours_keep_what_they_were_given(
    with_sidecars: Outcomes, workload: str
) -> None:
    for value in with_sidecars.of(workload):
        for template in company.templates(value):
            sidecar, main = template["spec"]["containers"]
            assert sidecar["name"] == SIDECAR
            hidden = {"AMD_VISIBLE_DEVICES": "void", "NVIDIA_VISIBLE_DEVICES": "void"}
            assert variables(sidecar) == {"PROXY_LEVEL": "info", **(hidden if value["kind"] == "Pod" else {})}
            assert (variables(main).items() >= hidden.items()) == (workload == "Pod without GPUs")
            if workload == "PyTorchJob":
                assert {"NCCL_IB_HCA", "NCCL_SOCKET_IFNAME", "TEAM"} <= variables(main).keys()


@every_workload
def test_kueue_holds_back_queued_workloads_with_the_same_result_in_every_order(
    in_queues: Outcomes, workload: str
) -> None:
    first, *rest = map(canonical, in_queues.of(workload))

    assert rest == [first] * len(rest)
    assert all(map(is_held_back, in_queues.of(workload)))


@pytest.mark.parametrize("workload", ["Job", "PyTorchJob"])
def test_what_we_put_into_a_queue_is_held_back_by_kueue_too(put_into_queues: Outcomes, workload: str) -> None:
    """Unless Kueue's webhooks were asked before ours and never again: its own name sorts after ours."""
    missed = put_into_queues.by_order[BEFORE, "Never"][workload]
    first, *rest = (
        objects[workload] for order, objects in put_into_queues.by_order.items() if order != (BEFORE, "Never")
    )

    assert all(canonical(each) == canonical(first) for each in rest)
    assert is_held_back(first)
    assert not is_held_back(missed)
    assert missed["metadata"]["labels"] == first["metadata"]["labels"]
    assert webhooks.NAME < KUEUES_NAME


def outcomes(cluster: Cluster, others: Company, change: str, manifests: Mapping[str, Object]) -> Outcomes:
    by_order = {}
    for name, policy in ORDERS:
        with others.registered(cluster, change, name=name, reinvocation=policy):
            by_order[name, policy] = {
                workload: cluster.create(manifest, dry_run=True) for workload, manifest in manifests.items()
            }
    return Outcomes(by_order)


def canonical(value: Object) -> Object:
    """Without what the API server makes up anew each time. The order of every list is part of the comparison."""
    text = re.sub(r"kube-api-access-[a-z0-9]{5}", "kube-api-access", json.dumps(value))
    named: Object = json.loads(text.replace(value["metadata"]["uid"], "uid"))
    named.pop("status", None)
    for field in ("creationTimestamp", "managedFields"):
        named["metadata"].pop(field, None)
    return named


def variables(container: Object) -> dict[str, str]:
    return {entry["name"]: entry["value"] for entry in container.get("env", [])}


def is_held_back(value: Object) -> bool:
    if value["kind"] == "Pod":
        return GATE in value["spec"].get("schedulingGates", [])
    held: Any = value
    for field in SUSPENDED[value["kind"]]:
        held = held.get(field, {})
    return held is True
