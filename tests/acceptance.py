"""Shared parts of the acceptance tests: manifests, sites, and the findings of a decision, one line each."""

from pathlib import Path
from typing import Any

import record_findings
import yaml

import builders
from usher import model, paths
from usher.config import models
from usher.kinds.reading.values import Objects
from usher.policy.decision import Operation, Request
from usher.policy.evaluator import Evaluator
from usher.policy.mutation import merge

DATA = Path(__file__).parent / "data" / "acceptance"
GPU = builders.GPU
PRESENT = "nvidia.com/gpu.present"
PRODUCT = "nvidia.com/gpu.product"
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"

AFFINITY_UNKNOWN = "placement/gpu_node_affinity_present"

POOL: dict[str, Any] = {"name": "h100", "nodeSelector": {PRESENT: "true"}, "taints": [{"key": GPU, "value": "present"}]}
POOLS: dict[str, Any] = {"pools": [POOL]}
WITH_FABRIC: dict[str, Any] = {
    "fabrics": {"rails": {"env": {"NCCL_IB_HCA": "=mlx5_0"}}},
    "pools": [{**POOL, "fabric": "rails"}],
}

ALL_DEVICES = {"NVIDIA_VISIBLE_DEVICES": "all"}

ABOVE_CEILING = "deny USH1301 gpus-per-workload"
NOT_TOLERATED = "deny USH301 gpu-toleration-present"
MAY_NOT_BE_TOLERATED = "warn USH301 gpu-toleration-present"
NOT_SELECTED = "warn USH302 gpu-node-affinity-present"
TAKES_DEVICES = "deny USH201 visible-devices-set-by-hand"
WITHOUT_CPU = "warn USH105 cpu-and-memory-requested"
WITHOUT_CLASS = "audit USH602 class-missing"


def manifest(name: str) -> paths.Object:
    value: paths.Object = yaml.load((DATA / f"{name}.yaml").read_bytes(), yaml.CSafeLoader)
    return value


def parameter(check: str, name: str, value: Any) -> dict[str, Any]:
    """A site that sets one parameter of one check."""
    return {"parameters": [{"check": check, "values": {name: value}}]}


def ceiling(gpus: int) -> dict[str, Any]:
    return parameter("gpus-per-workload", "maximum", gpus)


def evaluator(site: dict[str, Any] | None = None) -> Evaluator:
    """An evaluator with this usher.yaml; all share one engine."""
    return record_findings.evaluator_with(models.Config.model_validate(site or {}))


def decided(value: paths.Object, site: dict[str, Any] | None = None, *known: paths.Object) -> model.Decision:
    """The decision about an object that is created, beside objects that are known."""
    return evaluator(site).decide(Request(value=value, objects=Objects(known)))


def updated(value: paths.Object, old_value: paths.Object, site: dict[str, Any] | None = None) -> model.Decision:
    return evaluator(site).decide(Request(value=value, old_value=old_value, operation=Operation.UPDATE))


def mutated(value: paths.Object, site: dict[str, Any] | None = None, *known: paths.Object) -> merge.Merged:
    return evaluator(site).mutate(Request(value=value, objects=Objects(known)))


def found(decision: model.Decision) -> set[str]:
    """The findings of a decision, for example `deny USH301 gpu-toleration-present`."""
    return {f"{judgement.outcome.value} {judgement.code} {judgement.name}" for judgement in decision.judgements}


def unknown(decision: model.Decision) -> set[str]:
    """Checks that could not be evaluated; an empty name where the object itself could not be read."""
    return {entry.check for entry in decision.unknowns}


def message(decision: model.Decision, name: str) -> str:
    """The message of the first finding of a check."""
    return next(judgement.finding.message for judgement in decision.judgements if judgement.name == name)


def totals(decision: model.Decision) -> dict[str, tuple[str, str]]:
    """The least and the most of every accelerator that all pods together ask for."""
    assert decision.workload is not None
    return {
        total.name: (str(total.minimum), "unbounded" if total.maximum is None else str(total.maximum))
        for total in decision.workload.totals
    }


def full_container(name: str = "main", **fields: Any) -> paths.Object:
    """A container that asks for cpu and memory."""
    return builders.container(name, requests={"cpu": "8", "memory": "64Gi"}, **fields)


def full_pod(*containers: paths.Object, **spec: Any) -> paths.Object:
    """A pod with which nothing is wrong but what a test puts into it."""
    usual = {
        "priorityClassName": "research",
        "nodeSelector": {PRESENT: "true"},
        "tolerations": [builders.toleration(GPU, operator="Exists")],
    }
    return builders.pod(*containers, **(usual | spec))


def with_queue(value: paths.Object, queue: str) -> paths.Object:
    return builders.replaced(value, "/metadata/labels", {QUEUE_LABEL: queue})


def gpus_of_one_pod(gpus: int) -> paths.Object:
    return builders.template(builders.container(gpus=gpus))
