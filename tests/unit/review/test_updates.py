"""Updates that Kueue or a scheduler takes in some of its versions, and that usher refuses or warns about in all."""

import copy
from typing import Any

import pytest

from builders import container, template
from unit.review.answering import validated
from usher.policy.evaluator import Evaluator

_QUEUE = "kueue.x-k8s.io/queue-name"
_GROUP = "kueue.x-k8s.io/pod-group-name"
_Json = dict[str, Any]


def _object(kind: str, spec: _Json, *, labels: _Json | None = None, status: _Json | None = None) -> _Json:
    version, _, name = kind.partition(" ")
    metadata = {"name": "train", "namespace": "team-nlp", "uid": "1", "labels": labels or {}}
    return {"apiVersion": version, "kind": name, "metadata": metadata, "spec": spec, "status": status or {}}


def _ray(kind: str) -> _Json:
    cluster = {
        "headGroupSpec": {"rayStartParams": {}, "template": template(container())},
        "workerGroupSpecs": [
            {"groupName": "gpus", "replicas": 2, "rayStartParams": {}, "template": template(container(gpus=8))}
        ],
    }
    inner = {"RayJob": "rayClusterSpec", "RayService": "rayClusterConfig"}.get(kind)
    spec: _Json = {inner: cluster, "entrypoint": "python train.py"} if inner else cluster
    return _object(f"ray.io/v1 {kind}", spec, labels={_QUEUE: "research"})


_SPARK = _object(
    "sparkoperator.k8s.io/v1beta2 SparkApplication",
    {"type": "Python", "mode": "cluster", "driver": {}, "executor": {"gpu": {"name": "nvidia.com/gpu", "quantity": 1}}},
    labels={_QUEUE: "research"},
)


def _update(evaluator: Evaluator, before: _Json, after: _Json, code: str) -> tuple[bool, bool]:
    """Whether an update is allowed, and whether its answer names a check."""
    found = validated(evaluator, after, operation="UPDATE", old_value=before)
    texts = [found.get("status", {}).get("message", ""), *found.get("warnings", [])]
    return found["allowed"], any(code in text for text in texts)


@pytest.mark.parametrize(
    "value", [_ray("RayCluster"), _ray("RayJob"), _ray("RayService"), _SPARK], ids=lambda it: it["kind"]
)
@pytest.mark.parametrize("labels", [{}, {_QUEUE: ""}, {"other": "label"}], ids=["removed", "empty", "replaced"])
def test_a_running_ray_or_spark_job_does_not_leave_its_queue(evaluator: Evaluator, value: _Json, labels: _Json) -> None:
    before = copy.deepcopy(value)
    after = copy.deepcopy(value)
    after["metadata"]["labels"] = labels

    assert _update(evaluator, before, after, "USH451") == (False, True)
    assert _update(evaluator, before, before, "USH451")[1] is False


@pytest.mark.parametrize("labels", [{_QUEUE: "research"}, {}], ids=["queued", "label removed too"])
@pytest.mark.parametrize(("size", "refused"), [(2, True), (4, True), (1, False)])
def test_groups_in_a_queue_do_not_grow(evaluator: Evaluator, labels: _Json, size: int, *, refused: bool) -> None:
    workers = {"size": 1, "workerTemplate": template(container(gpus=8))}
    kind = "leaderworkerset.x-k8s.io/v1 LeaderWorkerSet"
    before = _object(kind, {"replicas": 2, "leaderWorkerTemplate": workers}, labels={_QUEUE: "research"})
    after = _object(kind, {"replicas": 2, "leaderWorkerTemplate": {**workers, "size": size}}, labels=labels)

    allowed, named = _update(evaluator, before, after, "USH450")

    assert named == refused
    assert not (allowed and refused)


@pytest.mark.parametrize("operation", ["CREATE", "UPDATE"])
@pytest.mark.parametrize("part", ["labels", "annotations"])
def test_pods_do_not_take_the_group_of_another_workload(evaluator: Evaluator, operation: str, part: str) -> None:
    pod: _Json = {**template(container(gpus=1)), "apiVersion": "v1", "kind": "Pod"}
    metadata: _Json = {"name": "p", "namespace": "team-nlp", "labels": {_QUEUE: "research"}}
    metadata[part] = {**metadata.get(part, {}), _GROUP: "job-train-1a2bc"}
    old = {**pod, "metadata": {"name": "p", "namespace": "team-nlp"}} if operation == "UPDATE" else None

    found = validated(evaluator, {**pod, "metadata": metadata}, operation=operation, old_value=old)

    assert not found["allowed"]
    assert "USH452" in found["status"]["message"]


_QUOTA = ("v1 ResourceQuota", {"hard": {"requests.nvidia.com/gpu": "%"}}, {"used": {"requests.nvidia.com/gpu": "12"}})
_VOLCANO = (
    "scheduling.volcano.sh/v1beta1 Queue",
    {"capability": {"nvidia.com/gpu": "%"}},
    {"allocated": {"nvidia.com/gpu": "12"}},
)
_KUEUE = (
    "kueue.x-k8s.io/v1beta1 ClusterQueue",
    {
        "namespaceSelector": {},
        "resourceGroups": [
            {
                "coveredResources": ["nvidia.com/gpu"],
                "flavors": [{"name": "h100", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": "%"}]}],
            }
        ],
    },
    {"flavorsReservation": [{"name": "h100", "resources": [{"name": "nvidia.com/gpu", "total": "12"}]}]},
)


def _with(spec: Any, amount: str) -> Any:
    if isinstance(spec, dict):
        return {key: _with(each, amount) for key, each in spec.items()}
    if isinstance(spec, list):
        return [_with(each, amount) for each in spec]
    return amount if spec == "%" else spec


@pytest.mark.parametrize("kind", [_QUOTA, _VOLCANO, _KUEUE], ids=lambda it: it[0])
@pytest.mark.parametrize(("before", "after", "warned"), [("16", "8", True), ("16", "12", False), ("8", "10", False)])
def test_a_quota_below_its_use_is_a_warning(
    evaluator: Evaluator, kind: tuple[str, _Json, _Json], before: str, after: str, *, warned: bool
) -> None:
    name, spec, status = kind
    old, new = (_object(name, _with(spec, amount), status=status) for amount in (before, after))

    assert _update(evaluator, old, new, "USH455") == (True, warned)
