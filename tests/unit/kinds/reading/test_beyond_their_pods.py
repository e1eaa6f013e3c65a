"""Trainings that wait for more nodes than pods, pods that want one port, and fields that exclude each other."""

from typing import Any

import pytest
import yaml

import builders
from unit.workloads.normalised import workload
from usher import paths
from usher.kinds.reading import pod_networks, value_forms
from usher.workloads.unread_keys import with_unread_keys

_HOST = {"kubernetes.io/hostname": "dgx-1"}


def _found(value: paths.Object) -> list[str]:
    return [
        each.remedy for each in pod_networks.beyond_their_pods(workload(value), value, value_forms.pod_specs(value))
    ]


def _torchrun(flags: str) -> paths.Object:
    return builders.template(builders.container(gpus=8, command=["bash", "-c", f"torchrun {flags} train.py"]))


@pytest.mark.parametrize(
    ("flags", "remedies"),
    [
        ("--nnodes=4 --rdzv_endpoint=a:29500", ["set --nnodes to 3, or make more pods"]),
        ("--nnodes 4 --node_rank=$RANK", ["set --nnodes to 3, or make more pods"]),
        ("--nnodes=3 --rdzv_endpoint=a:29500", []),
        ("--nnodes=2:4 --rdzv_endpoint=a:29500", []),
        ("--nnodes=2 --rdzv_endpoint=a:29500", ["set --nnodes to 3, or make fewer pods"]),
        ("--nnodes=1", []),
        ("t.py --tensor-model-parallel-size 8 --pipeline-model-parallel-size=3", []),
        (
            "t.py model.tensor_model_parallel_size=16",
            ["make the product of the parallel sizes a divisor of 24, or start more ranks"],
        ),
        ("--nproc_per_node=$G t.py --context-parallel-size 16", []),
        ("t.py trainer.num_nodes=4", ["set trainer.num_nodes to 3, or make more pods"]),
        ("--nnodes=3 t.py trainer.num_nodes=4", []),
        ("--nnodes=$NODES", []),
        ("--nnodes=4 --node_rank=0 --master_addr=10.0.0.1", []),
    ],
)
def test_a_training_has_a_pod_for_each_node_of_torchrun(flags: str, remedies: list[str]) -> None:
    assert _found(builders.pytorch_job(_torchrun(flags), workers=3)) == remedies


def test_a_pod_that_is_one_of_several_nodes_by_itself_is_not_compared() -> None:
    assert _found(builders.deployment(_torchrun("--nnodes=4 --rdzv_endpoint=a:29500"), replicas=1)) == []


def _serving(*, replicas: int, node: dict[str, str] = _HOST, **fields: Any) -> paths.Object:
    container = builders.container(gpus=1, ports=[{"containerPort": 8000, **fields.pop("port", {})}])
    return builders.deployment(builders.template(container, nodeSelector=node, **fields), replicas=replicas)


@pytest.mark.parametrize(
    ("value", "count"),
    [
        (_serving(replicas=3, hostNetwork=True), 1),
        (_serving(replicas=3, port={"hostPort": 80}), 1),
        (_serving(replicas=1, hostNetwork=True), 1),
        (_serving(replicas=3), 0),
        (_serving(replicas=3, node={"pool": "h100"}, hostNetwork=True), 0),
    ],
)
def test_pods_of_one_node_cannot_share_a_port_of_it(value: paths.Object, count: int) -> None:
    assert len(_found(value)) == count


def test_without_a_surge_the_old_pod_leaves_its_port_first() -> None:
    value = _serving(replicas=1, hostNetwork=True)
    spec: paths.Json = {**paths.mapping(value["spec"]), "strategy": {"type": "Recreate"}}

    assert _found({**value, "spec": spec}) == []


_GATED = (
    "{{apiVersion: v1, kind: Pod, metadata: {{name: a, labels: {{kueue.x-k8s.io/queue-name: b}}}}, "
    "spec: {{schedulingGates: [{{name: {}}}], containers: [{{name: a, image: b}}]}}}}"
)
_LWS = (
    "{{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {{name: a}}, "
    "spec: {{scheduling: {{}}, leaderWorkerTemplate: {{workerTemplate: {{spec: "
    "{{schedulerName: {}, containers: [{{name: a, image: b}}]}}}}}}}}}}"
)
_RUNTIME = (
    "{{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainingRuntime, metadata: {{name: a}}, "
    "spec: {{podGroupPolicy: {{{}}}}}}}"
)


@pytest.mark.parametrize(
    ("text", "remedies"),
    [
        (_GATED.format("example.com/data"), ["remove the gate, or queue the pods once its condition holds"]),
        (_GATED.format("kueue.x-k8s.io/topology"), []),
        (_LWS.format("volcano"), ["remove spec.scheduling, or schedulerName"]),
        (_LWS.format("default-scheduler"), []),
        (_RUNTIME.format("volcano: {}"), []),
        (_RUNTIME.format("volcano: {}, coscheduling: {}"), ["name one of them"]),
    ],
)
def test_fields_that_a_controller_cannot_use_beside_each_other_are_found(text: str, remedies: list[str]) -> None:
    found = with_unread_keys(None, yaml.safe_load(text))
    assert [each.remedy for each in (found.unread_keys if found else ()) if each.topic == "controller"] == remedies


def test_an_object_of_a_controller_has_the_gates_that_it_wants() -> None:
    value = yaml.safe_load(_GATED.format("example.com/data"))
    owner = {"apiVersion": "example.com/v1", "kind": "Set", "name": "a", "uid": "1", "controller": True}
    value["metadata"] |= {"namespace": "ns", "ownerReferences": [owner]}
    found = with_unread_keys(workload(value), value)
    assert found is not None
    assert [each.topic for each in found.unread_keys] == []


_RANKED = "spec: {containers: [{name: c, command: [sh, -c, 'torchrun --nnodes=%d --node_rank=%s t.py'], "
_RANKED += "resources: {limits: {nvidia.com/gpu: 8}}}]}"


def _job_set(nodes: int, rank: str, *jobs: tuple[int, int]) -> str:
    pods = _RANKED % (nodes, rank)
    listed = ", ".join(
        f"{{name: j{number}, replicas: {replicas}, template: {{spec: {{parallelism: {size}, completions: {size}, "
        f"template: {{{pods}}}}}}}}}"
        for number, (replicas, size) in enumerate(jobs)
    )
    head = "apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: a}"
    return f"{{{head}, spec: {{replicatedJobs: [{listed}]}}}}"


def _tasks(*ranks: str) -> str:
    listed = ", ".join(
        f"{{name: t{number}, replicas: 1, template: {{{_RANKED % (2, rank)}}}}}" for number, rank in enumerate(ranks)
    )
    return f"{{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {{name: a}}, spec: {{tasks: [{listed}]}}}}"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (_job_set(4, "$JOB_COMPLETION_INDEX", (1, 1), (1, 3)), ["jobs"]),
        (_job_set(4, "$JOB_COMPLETION_INDEX", (4, 1)), ["jobs"]),
        (_job_set(4, "$JOB_COMPLETION_INDEX", (2, 4)), []),
        (_job_set(4, "$RANK", (4, 1)), []),
        (_tasks("$VC_TASK_INDEX", "${VC_TASK_INDEX}"), ["tasks"]),
        (_tasks("0", "$VC_TASK_INDEX"), ["tasks"]),
        (_tasks("0", "$((VC_TASK_INDEX+1))"), []),
    ],
)
def test_a_rank_is_counted_across_all_jobs(text: str, parts: list[str]) -> None:
    assert [each.partition("count across the ")[2].split()[0] for each in _found(yaml.safe_load(text))] == parts
