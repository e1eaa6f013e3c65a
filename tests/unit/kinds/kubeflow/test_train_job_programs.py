"""The image, the command and the arguments that a TrainJob gives its runtime (kubeflow/trainer, plugins/jobset)."""

from typing import Any

import pytest

import builders
from unit.kinds.kubeflow.train_jobs import PATCH, runtime, runtime_patch, step, train_job
from unit.workloads.normalised import pod_set, workload
from usher import paths
from usher.kinds import registry
from usher.kinds.reading.values import Objects

_KEY = ("trainer.kubeflow.org", "TrainJob")
_THEIRS = builders.container("node", image="pytorch/pytorch:2.7.1", command=["python"], args=["theirs.py"])
_RUNTIME = runtime(step("node", "trainer", _THEIRS))
_GLOO: Any = [{"name": "GLOO_SOCKET_IFNAME", "value": "^lo"}]


def _unmet(job: paths.Object, *others: paths.Object) -> list[tuple[str, str]]:
    return [(each.path, each.remedy) for each in registry.unmet(job, _KEY, Objects([job, *others]))]


def test_the_program_of_a_train_job_replaces_that_of_its_runtime() -> None:
    job = train_job({"image": "vllm/vllm-openai:v0.11.0", "command": ["torchrun"], "args": ["ours.py"]})
    (node,) = pod_set(job, objects=Objects([_RUNTIME])).containers

    assert (node.image, node.command) == ("vllm/vllm-openai:v0.11.0", ("torchrun", "ours.py"))


def test_a_train_job_without_a_program_keeps_that_of_its_runtime() -> None:
    (node,) = pod_set(train_job({"numNodes": 2}), objects=Objects([_RUNTIME])).containers

    assert (node.image, node.command) == ("pytorch/pytorch:2.7.1", ("python", "theirs.py"))


def test_the_number_of_processes_stands_in_the_train_job() -> None:
    job = train_job(
        {"command": ["torchrun", "--nproc-per-node=8"], "resourcesPerNode": {"limits": {"nvidia.com/gpu": 2}}}
    )

    for known in ([_RUNTIME], []):
        ((node,),) = (each.containers for each in workload(job, objects=Objects(known)).pod_sets)
        assert node.processes is not None
        assert (node.processes["number"], node.processes["path"]) == (8, "/spec/trainer/command/1")


@pytest.mark.parametrize("known", [[_RUNTIME], []], ids=["known runtime", "unknown runtime"])
@pytest.mark.parametrize(
    ("trainer", "path", "remedy"),
    [
        ({"env": [{"name": "NCCL_DEBUGG", "value": "INFO"}]}, "/spec/trainer/env/0/name", "did you mean NCCL_DEBUG?"),
        ({"env": _GLOO}, "/spec/trainer/env/0/name", "write the name of an interface"),
        ({"command": ["torchrun", "--nnoodes=2", "t.py"]}, "/spec/trainer/command/1", "did you mean --nnodes?"),
        ({"image": "vllm/vllm-openai:v0.11.0", "command": ["vllm", "serve", "a/b"], "args": ["--max-modle-len=8"]},
         "/spec/trainer/args/0", "did you mean --max-model-len?"),
    ],
)  # fmt: skip
def test_what_a_program_does_not_read_is_found_in_the_train_job(
    trainer: dict[str, builders.JsonValue], path: str, remedy: str, known: list[paths.Object]
) -> None:
    ((where, said),) = _unmet(train_job(trainer), *known)

    assert where == path
    assert said.startswith(remedy)


def test_what_only_the_runtime_says_is_not_found_in_the_train_job() -> None:
    theirs = runtime(
        step("node", "trainer", builders.container("node", image="torchrun", env={"GLOO_SOCKET_IFNAME": "^lo"}))
    )

    assert _unmet(train_job({"numNodes": 2}), theirs) == []
    assert _unmet(train_job({"env": [{"name": "GLOO_SOCKET_IFNAME", "value": "eth0"}]}), theirs) == []


def test_pods_of_a_known_runtime_have_the_interface_of_pods() -> None:
    job: dict[str, Any] = {"env": [{"name": "NCCL_SOCKET_IFNAME", "value": "ib0"}]}

    assert [path for path, _ in _unmet(train_job(job), _RUNTIME)] == ["/spec/trainer/env/0/value"]
    assert _unmet(train_job(job)) == []
    assert _unmet(train_job(job, runtimePatches=[runtime_patch(PATCH)]), _RUNTIME) == []


@pytest.mark.parametrize("damaged", [None, 7, "text", [], [None], {"a": None}])
def test_damaged_programs_are_taken(damaged: Any) -> None:
    for field in ("image", "command", "args", "env", "resourcesPerNode"):
        assert _unmet(train_job({field: damaged}), _RUNTIME) == []
        workload(train_job({field: damaged}), objects=Objects([_RUNTIME]))
    job = train_job({"command": ["torchrun"]})
    assert _unmet(job, runtime(builders.replaced(step(), "/template/spec", damaged))) == []
    assert _unmet(builders.replaced(job, "/spec/runtimeRef", damaged), _RUNTIME) == []
