"""The current usage is part of an engine's input only where it decides, so that answers can be cached."""

import copy
import dataclasses
from pathlib import Path

import pytest
import record_findings
import yaml

from usher import paths
from usher.authorities.authority import Case
from usher.cluster.facts.store import Store
from usher.policy.evaluator import Evaluator
from usher.policy.input import document as input_document

CHECKS = Path(__file__).parents[2] / "policies" / "usher" / "checks"


def documents(evaluator: Evaluator, file: Path, *states: list[paths.Object]) -> set[bytes]:
    """The engine's input for a manifest, in several states of the cluster."""
    request = record_findings.request_of(file)
    workload = evaluator.workload(request)
    assert workload is not None
    case = Case(workload=workload)
    known = (dataclasses.replace(evaluator.knowledge, facts=Store.of(facts)) for facts in states)
    slices = (input_document.cluster_input(case, each) for each in known)
    return {evaluator.documents.build(workload, cluster=cluster) for cluster in slices}


def with_usage(facts: list[paths.Object], gpus: int) -> list[paths.Object]:
    """The same cluster, with so many GPUs in use wherever something counts them."""
    result = copy.deepcopy(facts)
    for value in result:
        status = value.setdefault("status", {})
        assert isinstance(status, dict)
        if value["kind"] == "ResourceQuota":
            status["used"] = {"requests.nvidia.com/gpu": gpus}
        if value["kind"] == "ClusterQueue":
            status["flavorsReservation"] = [{"name": "a100", "resources": [{"name": "nvidia.com/gpu", "total": gpus}]}]
        if value["kind"] == "GPUQuota":
            status |= {"used": {"gpus": str(gpus)}, "version": gpus}
    return result


@pytest.mark.parametrize(
    "name",
    [
        "tenancy/quota_full_now/examples/good_pytorchjob.yaml",
        "tenancy/gpu_quota_exceeded/examples/bad_deployment_of_instances.yaml",
        "queueing/queue_never_admissible/examples/good_pytorchjob.yaml",
        "queueing/queue_never_admissible/examples/bad_pytorchjob.yaml",
    ],
)
def test_of_two_clusters_that_differ_in_their_use_the_slices_are_equal(name: str) -> None:
    file = CHECKS / name
    facts = [value for value in yaml.load_all((file.parent / "cluster.yaml").read_bytes(), yaml.CSafeLoader) if value]

    assert len(documents(record_findings.evaluator_of(file.parent), file, *(with_usage(facts, n) for n in (0, 1)))) == 1


def test_where_the_use_decides_it_is_part_of_the_slice() -> None:
    file = CHECKS / "tenancy/quota_full_now/examples/bad_job.yaml"
    facts = [value for value in yaml.load_all((file.parent / "cluster.yaml").read_bytes(), yaml.CSafeLoader) if value]
    evaluator = record_findings.evaluator_of(file.parent)

    assert len(documents(evaluator, file, with_usage(facts, 0), with_usage(facts, 8))) == 2
