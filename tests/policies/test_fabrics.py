"""Fabric profiles through the real evaluator: what a job is given on every fabric that is shipped."""

from typing import Any

import pytest

import builders
from acceptance import evaluator
from usher import model, paths
from usher.config import fabrics
from usher.config.fabrics import RESERVED_VARIABLES
from usher.kinds.reading.values import Absence, Objects, Reference
from usher.policy.decision import Operation, Request
from usher.policy.evaluator import Evaluator

PRODUCT = {"nvidia.com/gpu.product": "NVIDIA-H200"}
WORKER = "/spec/pytorchReplicaSpecs/Worker/template"
EVERYTHING: dict[str, Any] = {
    "base": "infiniband",
    "env": {"NCCL_IB_HCA": "=mlx5_0:1"},
    "topology": {"configMap": "nccl-topology"},
    "resources": {"rdma/ib": 1},
    "networks": ["rail-0", "fabric/shared", "rail-10", "rail-2"],
    "annotations": {"networking.gke.io/default-interface": "eth0"},
}


class Cluster(Objects):
    """Knows every object but those that are missing."""

    def __init__(self, *missing: str, labels: dict[str, str] | None = None) -> None:
        super().__init__(())
        self._missing = missing
        self._metadata: paths.Object = {"labels": dict(labels or {})}

    def find(self, reference: Reference) -> paths.Object | Absence:
        return Absence.MISSING if str(reference) in self._missing else {"metadata": self._metadata}


def site(fabric: str, profile: dict[str, Any] | None = None) -> Evaluator:
    """One pool with a fabric, in a cluster in which everybody may lock memory."""
    return evaluator(
        {
            "pools": [{"name": "h200", "nodeSelector": PRODUCT, "fabric": fabric}],
            "fabrics": {} if profile is None else {fabric: profile},
            "isolation": {"ipcLock": ["*"]},
        }
    )


def template(**fields: Any) -> paths.Object:
    worker = builders.container("pytorch", gpus=8, limits={"cpu": "64", "memory": "512Gi"}, **fields)
    return builders.template(worker, builders.container("logs"), nodeSelector=PRODUCT)


def job(**fields: Any) -> paths.Object:
    return builders.pytorch_job(template(**fields), workers=4)


def at(value: paths.Object, pointer: str) -> Any:
    return paths.resolve(value, WORKER + pointer)


def variables(value: paths.Object) -> dict[str, str]:
    container = at(value, "/spec/containers/0")
    return {entry["name"]: entry["value"] for entry in container.get("env", [])}


def said_of_the_fabric(judge: Evaluator, value: paths.Object) -> list[str]:
    judgements = judge.decide(Request(value=value)).judgements
    return [each.name for each in judgements if each.finding.check.startswith("fabric/")]


@pytest.mark.parametrize("name", fabrics.shipped_fabrics())
def test_a_job_is_given_the_variables_of_a_shipped_fabric_and_nothing_that_it_forbids(name: str) -> None:
    profile = fabrics.shipped_fabrics()[name].profile

    given = variables(site(name).mutate(Request(value=job())).value)

    assert given == profile.env
    assert not [variable for variable in given if profile.refusal(variable) or variable in RESERVED_VARIABLES]


@pytest.mark.parametrize("name", fabrics.shipped_fabrics())
def test_a_job_that_was_given_a_shipped_fabric_is_given_nothing_more(name: str) -> None:
    usher = site(name)
    once = usher.mutate(Request(value=job())).value

    assert usher.mutate(Request(value=once)).value == once


@pytest.mark.parametrize("name", fabrics.shipped_fabrics())
def test_no_check_of_the_fabric_objects_to_what_a_shipped_fabric_gives(name: str) -> None:
    usher = site(name)

    assert said_of_the_fabric(usher, usher.mutate(Request(value=job())).value) == []


def test_a_job_with_everything_of_a_fabric_gets_no_finding_about_it() -> None:
    usher = site("rails", EVERYTHING)

    value = usher.mutate(Request(value=job())).value

    worker = at(value, "/spec/containers/0")
    assert [mount["mountPath"] for mount in worker["volumeMounts"]] == ["/etc/nccl-topo.xml", "/dev/shm"]
    assert [volume["name"] for volume in at(value, "/spec/volumes")] == ["usher-nccl-topology", "usher-shared-memory"]
    assert worker["resources"]["limits"]["rdma/ib"] == "1"
    assert worker["securityContext"] == {"capabilities": {"add": ["IPC_LOCK"]}}
    assert variables(value)["NCCL_TOPO_FILE"] == "/etc/nccl-topo.xml"
    assert "volumeMounts" not in at(value, "/spec/containers/1")
    assert said_of_the_fabric(usher, value) == []
    assert usher.mutate(Request(value=value)).value == value


def test_networks_are_attached_in_the_order_of_the_profile() -> None:
    value = site("rails", EVERYTHING).mutate(Request(value=job())).value

    networks = at(value, "/metadata/annotations")["k8s.v1.cni.cncf.io/networks"]
    assert networks == "rail-0, fabric/shared, rail-10, rail-2"


@pytest.mark.parametrize(
    ("missing", "mutation"),
    [
        ("ConfigMap ml-research/nccl-topology", "fabric/topology_file"),
        ("NetworkAttachmentDefinition ml-research/rail-0", "fabric/network_attachments"),
        ("NetworkAttachmentDefinition fabric/shared", "fabric/network_attachments"),
    ],
)
def test_a_mutation_that_needs_a_missing_object_is_skipped_with_a_reason(missing: str, mutation: str) -> None:
    merged = site("rails", EVERYTHING).mutate(Request(value=job(), objects=Cluster(missing)), only=mutation)

    (skipped,) = merged.skipped
    assert skipped.reason == f"{missing} does not exist"
    assert skipped.warned
    assert missing.rpartition("/")[2] not in str(merged.value)


def test_no_capability_is_given_that_the_namespace_would_not_admit() -> None:
    usher = site("rails", EVERYTHING)

    def of(level: str) -> list[model.Intent]:
        cluster = Cluster(labels={"pod-security.kubernetes.io/enforce": level} if level else {})
        return list(usher.mutate(Request(value=job(), objects=cluster), only="fabric/ipc_lock").applied)

    assert of("baseline") == of("restricted") == []
    assert len(of("privileged")) == len(of("")) == 1


def test_an_update_gets_its_files_and_its_shared_memory_back() -> None:
    usher = site("rails", EVERYTHING)
    stored = usher.mutate(Request(value=job())).value
    applied = builders.replaced(job(), "/metadata", stored["metadata"])

    assert usher.mutate(Request(value=applied, old_value=stored, operation=Operation.UPDATE)).value == stored


def test_a_variable_that_the_user_takes_from_elsewhere_keeps_the_file_away_too() -> None:
    value = job(envFrom=[{"configMapRef": {"name": "settings"}}])

    merged = site("rails", EVERYTHING).mutate(Request(value=value), only="fabric/topology_file")

    assert merged.value == value
    assert [skipped.warned for skipped in merged.skipped] == [True]


def test_a_fabric_of_files_serves_ranks_that_see_no_variables() -> None:
    files = {"topology": {"configMap": "nccl-topology"}, "ncclConf": {"configMap": "nccl"}}
    usher = site("rails", {"base": "infiniband", **files})

    value = usher.mutate(Request(value=builders.mpi_job(template(), workers=2))).value

    worker: Any = paths.resolve(value, "/spec/mpiReplicaSpecs/Worker/template/spec/containers/0")
    mounted = [mount["mountPath"] for mount in worker["volumeMounts"]]
    assert mounted == ["/etc/nccl-topo.xml", "/etc/nccl.conf", "/dev/shm"]
    assert "env" not in worker
    assert said_of_the_fabric(usher, value) == []
