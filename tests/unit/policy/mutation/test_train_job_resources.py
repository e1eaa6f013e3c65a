"""Devices for the nodes of a TrainJob: `resourcesPerNode` never gets a part of what the runtime gives them.

Trainer 2.3 counts GPUs, and so processes, in that block alone (kubeflow/trainer#3974). Older versions replace the
resources of the runtime by it.
"""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unit.policy.mutation.manifests import at, container, intent, merged, refusals, runtime, train_job
from unit.workloads.normalised import workload
from usher import model, paths
from usher.kinds.reading.values import NO_OBJECTS, Objects
from usher.policy.mutation import editing, merge, pod_fields

NODE = "/spec/runtimeRef/name/spec/template/spec/replicatedJobs/0/template/spec/template/spec/containers/0"
BLOCK = "/spec/trainer/resourcesPerNode"
OF_RUNTIME: paths.Object = {
    "limits": {"nvidia.com/gpu": 8, "memory": "900Gi"},
    "requests": {"cpu": "64"},
}
DEVICE = intent("resource", {"name": "rdma/ib", "amount": "1"}, at=NODE)


def given_device(job: paths.Object, *intents: model.Intent, resources: Any = OF_RUNTIME) -> merge.Merged:
    known = runtime(node=container(name="node", resources=resources))
    return merged(job, *(intents or (DEVICE,)), objects=Objects([known]))


@pytest.mark.parametrize("trainer", [None, {}, {"numNodes": 2}, {"resourcesPerNode": {}}, {"resourcesPerNode": None}])
def test_without_a_block_all_resources_of_the_runtime_come_with_the_device(trainer: Any) -> None:
    result = given_device(train_job(**({} if trainer is None else {"trainer": trainer})))

    assert at(result, BLOCK) == {
        "limits": {"nvidia.com/gpu": 8, "memory": "900Gi", "rdma/ib": "1"},
        "requests": {"cpu": "64"},
    }


def test_a_second_device_joins_the_first() -> None:
    second = intent("resource", {"name": "hugepages-2Mi", "amount": "5Gi"}, at=NODE)

    assert at(given_device(train_job(), DEVICE, second), f"{BLOCK}/limits") == {
        "nvidia.com/gpu": 8,
        "memory": "900Gi",
        "rdma/ib": "1",
        "hugepages-2Mi": "5Gi",
    }


def test_a_second_mutation_changes_nothing() -> None:
    once = given_device(train_job()).value

    assert refusals(given_device(once)) == [editing.ALREADY_THERE]


def test_a_block_of_the_user_gets_the_device_alone() -> None:
    job = train_job(trainer={"resourcesPerNode": {"limits": {"nvidia.com/gpu": 4}}})

    assert at(given_device(job), BLOCK) == {"limits": {"nvidia.com/gpu": 4, "rdma/ib": "1"}}


def told(result: merge.Merged) -> list[tuple[str, bool]]:
    assert not result.operations
    return [(skipped.reason, skipped.warned) for skipped in result.skipped]


def test_claims_of_the_runtime_cannot_be_repeated_so_the_user_is_warned() -> None:
    claiming = {**OF_RUNTIME, "claims": [{"name": "gpu"}]}

    assert told(given_device(train_job(), resources=claiming)) == [(pod_fields.PARTIAL, True)]


def test_without_its_runtime_nothing_is_written_and_the_user_is_warned() -> None:
    alone = intent("resource", {"name": "rdma/ib", "amount": "1"}, at="/spec/trainer")
    result = merged(train_job(trainer={"numNodes": 2}), alone, objects=NO_OBJECTS)

    assert told(result) == [(pod_fields.PARTIAL, True)]


def test_a_missing_request_is_never_written_alone() -> None:
    request = intent("request", {"name": "nvidia.com/gpu", "amount": "8"}, at=NODE)

    assert told(given_device(train_job(), request)) == [(pod_fields.INHERITED, False)]


_AMOUNTS = st.dictionaries(
    st.sampled_from(["nvidia.com/gpu", "nvidia.com/mig-1g.10gb", "cpu", "memory", "rdma/ib", "vpc.amazonaws.com/efa"]),
    st.integers(1, 8),
    max_size=4,
)


@given(
    limits=st.none() | _AMOUNTS,
    requests=st.none() | _AMOUNTS,
    own=st.none() | st.just({}) | st.fixed_dictionaries({"limits": _AMOUNTS}),
)
def test_no_pod_of_a_train_job_loses_a_resource(limits: Any, requests: Any, own: Any) -> None:
    resources = {key: value for key, value in (("limits", limits), ("requests", requests)) if value is not None}
    job = train_job(trainer={"resourcesPerNode": own} if own is not None else {"numNodes": 2})
    gpus = (limits or {}).get("nvidia.com/gpu")
    missing = intent("request", {"name": "nvidia.com/gpu", "amount": str(gpus)}, at=NODE)
    result = given_device(job, DEVICE, *([missing] if gpus and not own else []), resources=resources)
    block: Any = ((result.value["spec"] or {}).get("trainer") or {}).get("resourcesPerNode")  # type: ignore[union-attr]  # an object

    if not own and block:
        # Whichever way Trainer joins the two, all resources of the runtime are still there.
        for name in ("limits", "requests"):
            assert (resources.get(name) or {}).items() <= block.get(name, {}).items()
    objects = Objects([runtime(node=container(name="node", resources=resources))])
    (before,) = workload(job, objects=objects).pod_sets
    (after,) = workload(result.value, objects=objects).pod_sets
    assert after.accelerators == before.accelerators
