"""The webhook gives no queue and no topology that would keep a workload waiting for ever, by facts of the cluster."""

from typing import Final

import builders
from builders import GPU, container, template
from builders.queues import (
    NAMESPACE,
    cluster_queue,
    configuration,
    flavor,
    gpu_group,
    group,
    local_queue,
    quota,
    topology,
)
from usher import paths
from usher.cluster.facts.store import Store
from usher.config import models
from usher.policy import assembly
from usher.policy.decision import Request
from usher.policy.mutation.merge import Merged

CONFIGURED: Final = configuration("integrations: {frameworks: [batch/job]}")
QUEUE: Final = "kueue.x-k8s.io/queue-name"
TOPOLOGY: Final = "kueue.x-k8s.io/podset-required-topology"
RACK: Final = "example.com/rack"
FACTS: Final = (
    CONFIGURED,
    local_queue("research"),
    cluster_queue("research", gpu_group(64)),
    topology("racks", RACK),
    flavor("a100", topologyName="racks"),
)


def mutated(value: paths.Object, *, level: str = RACK, facts: tuple[paths.Object, ...] = FACTS) -> Merged:
    queue = {
        "namespaces": [NAMESPACE],
        "localQueue": "research",
        "topology": {"required": level},
        "priorityClass": "normal",
    }
    evaluator = assembly.embedded(models.Config.model_validate({"queues": [queue]}), facts=Store.of(facts))
    return evaluator.mutate(Request(value=value, namespace=NAMESPACE))


def job(resource: str = GPU, *, labels: dict[str, str] | None = None) -> paths.Object:
    limits = {resource: 8}
    return builders.job(
        template(container("pytorch", limits=limits), metadata={"labels": {"gpu-usher.io/role": "training"}}),
        parallelism=2,
        completions=2,
        namespace=NAMESPACE,
        labels={"gpu-usher.io/role": "training", **(labels or {})},
    )


def keys(merged: Merged) -> set[paths.Json]:
    values = [intent.value for intent in merged.applied]
    return {value.get("key") for value in values if isinstance(value, dict)}


def warnings(merged: Merged) -> set[str]:
    return {skipped.reason for skipped in merged.skipped if skipped.warned}


def test_a_queue_that_could_admit_the_workload_is_given_with_its_topology() -> None:
    merged = mutated(job())

    assert keys(merged) >= {QUEUE, TOPOLOGY}
    assert warnings(merged) == set()


def test_a_queue_without_quota_for_a_resource_is_not_given_and_the_user_is_warned() -> None:
    merged = mutated(job("amd.com/gpu"))

    assert not {key for key in keys(merged) if str(key).startswith("kueue.x-k8s.io/")}
    assert warnings(merged) == {"ClusterQueue research has no quota for amd.com/gpu, so it never admits the workload"}


def test_a_topology_level_that_no_flavor_has_is_not_given_and_the_user_is_warned() -> None:
    merged = mutated(job(), level="example.com/row")

    assert QUEUE in keys(merged)
    assert TOPOLOGY not in keys(merged)
    assert warnings(merged) == {"the Topology of flavor a100 has no level example.com/row"}


def test_in_a_queue_that_the_user_chose_the_topology_is_still_compared() -> None:
    merged = mutated(job(labels={QUEUE: "research"}), level="example.com/row")

    assert TOPOLOGY not in keys(merged)


def test_without_facts_the_queue_of_usher_yaml_is_given() -> None:
    assert keys(mutated(job("amd.com/gpu"), facts=())) >= {QUEUE, TOPOLOGY}


def test_network_devices_without_quota_are_not_given_and_the_user_is_warned() -> None:
    """Kueue would never admit the workload, which it admits without the devices."""
    merged = given_devices(cluster_queue("research", gpu_group(64)))

    assert QUEUE in keys(merged)
    assert {intent.mutation for intent in merged.applied}.isdisjoint({"fabric/network_devices", "fabric/ipc_lock"})
    assert warnings(merged) == {
        "ClusterQueue research has no quota for rdma/ib, and would never admit pods with this device"
    }


def test_network_devices_with_quota_are_given() -> None:
    amounts = [quota(64), quota(8, resource="rdma/ib")]
    merged = given_devices(cluster_queue("research", group(("a100", amounts))))

    assert {intent.mutation for intent in merged.applied} >= {"fabric/network_devices", "fabric/ipc_lock"}
    assert warnings(merged) == set()


def given_devices(queue: paths.Object) -> Merged:
    site = {
        "queues": [{"namespaces": [NAMESPACE], "localQueue": "research"}],
        "pools": [{"name": "a100", "nodeSelector": {"pool": "a100"}, "fabric": "rails"}],
        "fabrics": {"rails": {"base": "infiniband", "resources": {"rdma/ib": 1}}},
        "isolation": {"ipcLock": [NAMESPACE]},
    }
    facts = (CONFIGURED, local_queue("research"), queue, flavor("a100"))
    evaluator = assembly.embedded(models.Config.model_validate(site), facts=Store.of(facts))
    return evaluator.mutate(Request(value=job(), namespace=NAMESPACE))


def handed_over(*facts: paths.Object, labels: dict[str, str] | None = None) -> Merged:
    queue = {"namespaces": [NAMESPACE], "localQueue": "research", "multiKueue": True}
    evaluator = assembly.embedded(models.Config.model_validate({"queues": [queue]}), facts=Store.of(facts))
    return evaluator.mutate(Request(value=job(labels=labels), namespace=NAMESPACE))


def manager(merged: Merged) -> paths.Json:
    spec = merged.value["spec"]
    assert isinstance(spec, dict)
    return spec.get("managedBy")


def test_a_queue_without_admission_checks_gives_no_job_to_multikueue() -> None:
    reason = "ClusterQueue research has no AdmissionCheck, so MultiKueue never takes the workload"

    both: tuple[dict[str, str], ...] = ({}, {QUEUE: "research"})
    for labels in both:
        merged = handed_over(*FACTS, labels=labels)

        assert manager(merged) is None
        assert (QUEUE in keys(merged)) is False
        assert warnings(merged) == {reason}


def test_a_queue_with_an_admission_check_does() -> None:
    checked = cluster_queue(
        "research", gpu_group(64), admissionChecksStrategy={"admissionChecks": [{"name": "elsewhere"}]}
    )
    merged = handed_over(CONFIGURED, local_queue("research"), checked, flavor("a100"))

    assert manager(merged) == "kueue.x-k8s.io/multikueue"
    assert warnings(merged) == set()


def test_a_queue_that_usher_does_not_know_is_as_usher_yaml_says() -> None:
    assert manager(handed_over()) == "kueue.x-k8s.io/multikueue"
