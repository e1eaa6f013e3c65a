"""Pods."""

import builders
from unit.workloads.normalised import counts, pod_set, readable_workload, totals
from usher import model, paths
from usher.kinds.reading.values import Objects


def test_a_pod_is_one_pod_and_its_own_template() -> None:
    assert counts(builders.pod()) == [("", "", 1, 1)]

    found = pod_set(builders.pod(labels={"app": "bert"}, annotations={"note": "x"}))

    assert (found.metadata_path, found.spec_path) == ("/metadata", "/spec")
    assert found.labels == {"app": "bert"}
    assert found.annotations == {"note": "x"}


def test_what_a_pod_is_for_is_not_known_from_its_kind() -> None:
    assert readable_workload(builders.pod()).role is model.Role.UNKNOWN


def test_kueue_reads_the_labels_of_the_pod_itself() -> None:
    workload = readable_workload(builders.pod(labels={"kueue.x-k8s.io/queue-name": "research"}))

    assert workload.queue_label_path == "/metadata"
    assert workload.queue_labels == {"kueue.x-k8s.io/queue-name": "research"}


def test_all_three_lists_of_containers_are_read_in_the_order_in_which_they_start() -> None:
    found = pod_set(
        builders.pod(
            builders.container("app"),
            initContainers=[builders.container("fetch"), builders.sidecar("proxy")],
            ephemeralContainers=[builders.container("debug")],
        )
    )

    assert [(container.name, container.type.value, container.path) for container in found.containers] == [
        ("fetch", "init container", "/spec/initContainers/0"),
        ("proxy", "sidecar", "/spec/initContainers/1"),
        ("app", "container", "/spec/containers/0"),
        ("debug", "ephemeral container", "/spec/ephemeralContainers/0"),
    ]


def test_scheduling_fields_are_taken_over() -> None:
    affinity = builders.node_affinity(builders.term(builders.expression("a", "In", "b")), builders.term())
    found = pod_set(
        builders.pod(
            tolerations=[builders.toleration("nvidia.com/gpu", operator="Exists")],
            nodeSelector={"pool": "h100"},
            affinity=affinity,
            schedulerName="volcano",
            priorityClassName="high",
            runtimeClassName="nvidia",
            nodeName="node-1",
        )
    )

    assert found.tolerations == ({"key": "nvidia.com/gpu", "operator": "Exists"},)
    assert found.node_selector == {"pool": "h100"}
    assert found.required_terms == ({"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}, {})
    assert found.has_required_affinity
    assert (found.scheduler_name, found.priority_class_name) == ("volcano", "high")
    assert (found.runtime_class_name, found.node_name) == ("nvidia", "node-1")


def test_a_device_claim_asks_for_accelerators_though_no_resource_is_named() -> None:
    devices: paths.Json = {"requests": [{"name": "gpus", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 2}}]}
    template = builders.custom(
        "resource.k8s.io/v1", "ResourceClaimTemplate", {"spec": {"devices": devices}}, name="two"
    )
    pod = builders.pod(
        builders.container(claims=["gpu"]), resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "two"}]
    )
    found = pod_set(pod, objects=Objects([template]))

    assert found.asks_accelerators
    assert found.accelerators == {}
    assert found.device_claims == 1
    assert found.containers[0].asks_accelerators
    assert totals(pod, objects=Objects([template])) == {"gpu.nvidia.com": ("2", "2")}


def test_preferred_node_affinity_requires_nothing() -> None:
    preferred: paths.Object = {"weight": 1, "preference": builders.term(builders.expression("a", "Exists"))}
    affinity: paths.Object = {"preferredDuringSchedulingIgnoredDuringExecution": [preferred]}

    assert not pod_set(builders.pod(affinity={"nodeAffinity": affinity})).has_required_affinity


def test_required_node_affinity_without_terms_differs_from_a_missing_one() -> None:
    empty: paths.Object = {"requiredDuringSchedulingIgnoredDuringExecution": {}}
    found = pod_set(builders.pod(affinity={"nodeAffinity": empty}))

    assert found.has_required_affinity
    assert found.required_terms == ()
    assert not pod_set(builders.pod(affinity={"nodeAffinity": None})).has_required_affinity


def test_a_replication_controller_keeps_its_number_of_pods() -> None:
    template = builders.template(builders.container(gpus=2))
    value = builders.custom("v1", "ReplicationController", {"replicas": 3, "template": template})

    assert counts(value) == [("", "/spec/template", 3, 3)]
    assert totals(value) == {builders.GPU: ("6", "6")}
    assert counts(builders.custom("v1", "ReplicationController", {"template": template})) == [
        ("", "/spec/template", 1, 1)
    ]


def test_a_pod_template_stands_at_the_top_of_its_object_and_makes_no_pods_itself() -> None:
    value: paths.Object = {
        "apiVersion": "v1",
        "kind": "PodTemplate",
        "metadata": {"name": "example"},
        "template": builders.template(builders.container(gpus=2)),
    }

    assert counts(value) == [("", "/template", 1, 1)]
    assert readable_workload(value).is_template


def test_a_pod_with_conditions_is_in_the_cluster_already() -> None:
    def placed(status: paths.Json) -> bool:
        return pod_set(builders.replaced(builders.pod(nodeName="node-1"), "/status", status)).placed

    assert placed({"conditions": [{"type": "PodScheduled", "status": "True"}]})
    assert not placed({"phase": "Pending", "conditions": []})
    assert not placed({"phase": "Pending"})
    assert not placed("Pending")
    assert not pod_set(builders.pod(nodeName="node-1")).placed
