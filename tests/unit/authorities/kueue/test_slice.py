"""Rego sees the queue of a workload, its state, and whether it could ever be admitted there."""

from typing import Any

import pytest

import builders
from builders import GPU, container, template
from builders.queues import NAMESPACE, cluster_queue, configuration, flavor, gpu_group, local_queue
from unit.authorities.knowing import case, knowing
from unit.workloads.normalised import workload
from usher import paths
from usher.authorities import registry
from usher.authorities.authority import Case
from usher.authorities.kueue import slice as kueue_slice
from usher.authorities.kueue.slice import ClaimedClassInput, KueueInput, LocalQueueInput
from usher.authorities.verdict import Answer
from usher.cluster.facts.store import Store

CONFIGURED = configuration("integrations: {frameworks: [batch/job, pod]}")
QUEUE = "kueue.x-k8s.io/queue-name"
A100 = flavor("a100")


def namespace(name: str = NAMESPACE, **labels: str) -> paths.Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": dict(labels)}}


def job(*, queue: str | None = "research", gpus: int = 8, owner_kind: str = "") -> paths.Object:
    return builders.job(
        template(container(gpus=gpus)),
        labels={} if queue is None else {QUEUE: queue},
        namespace=NAMESPACE,
        owner_kind=owner_kind,
    )


def seen(value: paths.Object, *facts: paths.Object) -> KueueInput | None:
    return kueue_slice.input_slice(case(value), knowing(Store.of(facts)))


def queue_of(value: paths.Object, *facts: paths.Object) -> LocalQueueInput:
    found = seen(value, CONFIGURED, namespace(), *facts)
    assert found is not None
    return found["queue"]


RESEARCH = (local_queue("research"), cluster_queue("research", gpu_group(8)), A100)


def test_the_whole_of_it_for_a_job_that_could_be_admitted() -> None:
    assert seen(job(), CONFIGURED, namespace(), *RESEARCH) == {
        "configurationKnown": True,
        "frameworks": ["batch/job", "pod"],
        "managesNamespace": True,
        "queue": {
            "name": "research",
            "byDefault": False,
            "exists": True,
            "others": [],
            "clusterQueue": {
                "name": "research",
                "exists": True,
                "selectsNamespace": True,
                "withoutChecks": True,
                "verdict": {"outcome": "admissible", "uncovered": [], "unmatched": [], "shortages": [], "unknowns": []},
            },
        },
    }


def test_of_a_cluster_without_kueue_there_is_nothing_to_say() -> None:
    assert seen(job()) is None
    assert seen(job(), namespace()) is None


def test_kinds_without_an_integration_and_objects_of_controllers_have_no_slice() -> None:
    assert seen(builders.daemon_set(template(container(gpus=8))), CONFIGURED, *RESEARCH) is None
    assert seen(job(owner_kind="CronJob"), CONFIGURED, *RESEARCH) is None


def test_a_missing_queue_comes_with_the_existing_queues() -> None:
    found = queue_of(job(queue="shared"), local_queue("b", "shared"), local_queue("a", "own"))

    assert (found["exists"], found["others"], found["leadsThere"]) == (False, ["a", "b"], "b")


def test_queues_of_other_namespaces_do_not_count() -> None:
    assert queue_of(job(), local_queue("research", namespace="elsewhere"))["others"] == []


def test_without_facts_about_queues_the_slice_names_only_the_queue() -> None:
    assert queue_of(job()) == {"name": "research", "byDefault": False, "others": []}


def test_a_workload_that_names_no_queue_goes_into_the_default_one() -> None:
    default = (local_queue("default", "research"), cluster_queue("research", gpu_group(8)), A100)

    assert queue_of(job(queue=None), *default)["byDefault"]
    found = seen(job(queue=None), CONFIGURED, namespace(), *RESEARCH)
    assert found is not None
    assert "queue" not in found


def test_not_so_in_a_namespace_that_kueue_does_not_manage() -> None:
    elsewhere = configuration("managedJobsNamespaceSelector: {matchLabels: {team: research}}")
    found = seen(job(queue=None), elsewhere, namespace(), local_queue("default"))

    assert found == {"configurationKnown": True, "frameworks": ["batch/job"], "managesNamespace": False}


@pytest.mark.parametrize(
    ("selector", "managed"),
    [
        ("{matchLabels: {kubernetes.io/metadata.name: ml-research}}", NAMESPACE == "ml-research"),
        (f"{{matchLabels: {{kubernetes.io/metadata.name: {NAMESPACE}}}}}", True),
        (
            f"{{matchExpressions: [{{key: kubernetes.io/metadata.name, operator: NotIn, values: [{NAMESPACE}]}}]}}",
            False,
        ),
        ("{matchLabels: {team: research}}", None),
        ("{matchExpressions: [3, {key: 7}]}", None),
    ],
)
def test_the_name_of_a_namespace_may_decide_without_its_labels(selector: str, *, managed: bool | None) -> None:
    found = seen(job(queue=None), configuration(f"managedJobsNamespaceSelector: {selector}"), local_queue("team"))

    assert found is not None
    assert found.get("managesNamespace") is managed


def held(value: paths.Object, text: str, *queues: paths.Object) -> Any:
    found = seen(value, configuration(f"manageJobsWithoutQueueName: {text}"), namespace(), *queues)
    return None if found is None else found.get("heldWithoutQueue")


def test_a_job_without_a_queue_is_held_where_no_queue_is_the_default() -> None:
    assert held(job(queue=None), "true", local_queue("team")) == {"queues": ["team"]}
    assert held(job(queue=None), "false", local_queue("team")) is None
    assert held(job(queue="team"), "true", local_queue("team")) is None
    assert held(job(queue=None), "true", local_queue("default")) is None
    assert held(job(queue=None), "true") is None
    assert held(builders.deployment(), "true", local_queue("team")) is None


@pytest.mark.parametrize(
    ("selector", "labels", "expected"),
    [
        ({}, {}, True),
        ({"matchLabels": {"team": "nlp"}}, {"team": "nlp"}, True),
        ({"matchLabels": {"team": "nlp"}}, {}, False),
        ({"matchLabels": {"kubernetes.io/metadata.name": NAMESPACE}}, {}, True),
        (None, {}, False),
        ("nlp", {}, None),
    ],
)
def test_the_namespace_is_held_against_the_selector_of_the_cluster_queue(
    selector: paths.Json, labels: dict[str, str], expected: bool | None
) -> None:
    queue = cluster_queue("research", gpu_group(8), namespaceSelector=selector)
    found = seen(job(), CONFIGURED, namespace(**labels), local_queue("research"), queue, A100)

    assert found is not None
    assert found["queue"]["clusterQueue"].get("selectsNamespace") is expected


def test_without_the_namespace_only_empty_and_null_selectors_decide() -> None:
    def selects(selector: paths.Json) -> bool | None:
        queue = cluster_queue("research", gpu_group(8), namespaceSelector=selector)
        found = seen(job(), CONFIGURED, local_queue("research"), queue, A100)
        assert found is not None
        return found["queue"]["clusterQueue"].get("selectsNamespace")

    assert (selects({}), selects(None), selects({"matchLabels": {"team": "nlp"}})) == (True, False, None)


def test_the_slice_shows_the_states_of_both_queues() -> None:
    held = builders.replaced(
        cluster_queue("research", gpu_group(8), stopPolicy="Hold"),
        "/status",
        {"conditions": [{"type": "Active", "status": "False", "reason": "Stopped", "message": "is stopped"}]},
    )
    found = queue_of(job(), local_queue("research", stopPolicy="HoldAndDrain"), held, A100)

    assert found["stopPolicy"] == "HoldAndDrain"
    queue = found["clusterQueue"]
    assert (queue["stopPolicy"], queue["inactive"], queue["message"]) == ("Hold", "Stopped", "is stopped")


@pytest.mark.parametrize(
    "status",
    [
        None,
        "Active",
        {"conditions": "Active"},
        {"conditions": ["Active", {"type": "Active", "status": "True", "reason": "Ready"}]},
        {"conditions": [{"type": "Active"}]},
    ],
)
def test_a_status_that_says_nothing_or_nonsense_says_nothing(status: paths.Json) -> None:
    value = builders.replaced(cluster_queue("research", gpu_group(8)), "/status", status)

    assert "inactive" not in queue_of(job(), local_queue("research"), value, A100)["clusterQueue"]


def test_a_shortage_has_its_numbers_and_another_queue_where_it_fits() -> None:
    big = (local_queue("big"), cluster_queue("big", gpu_group(64)))
    held = (local_queue("a-held-one", "held"), cluster_queue("held", gpu_group(64), stopPolicy="Hold"))
    verdict = queue_of(job(gpus=16), *RESEARCH, *big, *held)["clusterQueue"]["verdict"]

    assert (verdict["outcome"], verdict["fitsIn"]) == ("never admissible", "big")
    (shortage,) = verdict["shortages"]
    assert (shortage["resource"], shortage["asked"]["text"], shortage["together"]) == (GPU, "16", False)
    assert [(part["podSet"], part["pods"], part["each"]["text"]) for part in shortage["parts"]] == [(0, 1, "16")]
    assert [(each["own"]["text"], each["borrowed"]["text"], each["most"]["text"]) for each in shortage["flavors"]] == [
        ("8", "0", "8")
    ]


_NONSENSE: tuple[paths.Json, ...] = ("none", 7, [3], True)


def test_malformed_objects_are_problems_and_lead_to_no_conclusion() -> None:
    queue = cluster_queue("research", gpu_group(8))
    for pointer in ("/spec", "/spec/resourceGroups", "/spec/resourceGroups/0", "/spec/resourceGroups/0/flavors/0"):
        for nonsense in _NONSENSE:
            facts = (local_queue("research"), builders.replaced(queue, pointer, nonsense), A100)
            verdict = queue_of(job(), *facts)["clusterQueue"]["verdict"]
            assert (verdict["outcome"], verdict["unknowns"] != []) == ("unknown", True), (pointer, nonsense)
    nowhere = builders.replaced(local_queue("research"), "/spec", ["research"])
    assert queue_of(job(), nowhere, queue, A100)["clusterQueue"]["name"] == ""


def test_uncovered_cpu_and_memory_name_the_place_of_the_request() -> None:
    value = builders.job(
        template(container(gpus=8, requests={"cpu": 4}), overhead={"memory": "1Gi"}),
        labels={QUEUE: "research"},
        namespace=NAMESPACE,
    )
    verdict = queue_of(value, *RESEARCH)["clusterQueue"]["verdict"]

    assert verdict["uncovered"] == [
        {"resource": "cpu", "path": "/spec/template/spec/containers/0/resources/requests/cpu"},
        {"resource": "memory"},
    ]


def test_pods_of_a_deployment_must_each_fit() -> None:
    def outcome(gpus: int) -> str:
        value = builders.deployment(
            template(container(gpus=gpus)), replicas=100, labels={QUEUE: "research"}, namespace=NAMESPACE
        )
        return queue_of(value, *RESEARCH)["clusterQueue"]["verdict"]["outcome"]

    assert (outcome(8), outcome(9)) == ("admissible", "never admissible")


EXTERNAL = configuration("integrations: {externalFrameworks: [Job.v1alpha1.batch.volcano.sh]}")


def test_unknown_kinds_with_a_queue_get_the_external_frameworks() -> None:
    labelled = builders.daemon_set(labels={QUEUE: "research"}, namespace=NAMESPACE)

    assert seen(labelled, EXTERNAL) == {
        "configurationKnown": True,
        "externalFrameworks": ["Job.v1alpha1.batch.volcano.sh"],
    }
    assert seen(builders.daemon_set(namespace=NAMESPACE), EXTERNAL) is None
    assert seen(labelled, CONFIGURED) is None


def claiming(class_name: str) -> tuple[paths.Object, paths.Object]:
    """A job in a queue, and the template by which it claims a device of a class."""
    spec: paths.Json = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": class_name}}]}}
    claims: paths.Json = [{"name": "gpu", "resourceClaimTemplateName": "device"}]
    value = builders.job(
        template(container(claims=["gpu"]), resourceClaims=claims),
        labels={QUEUE: "research"},
        namespace=NAMESPACE,
    )
    return value, builders.custom(
        "resource.k8s.io/v1", "ResourceClaimTemplate", {"spec": spec}, name="device", namespace=NAMESPACE
    )


def claimed_classes(class_name: str, *facts: paths.Object) -> list[ClaimedClassInput] | None:
    value, claim_template = claiming(class_name)
    store = Store.of([*facts, claim_template])
    found = kueue_slice.input_slice(Case(workload=workload(value, objects=store)), knowing(store))
    return None if found is None else found.get("claimedClasses")


def test_the_slice_says_whether_kueue_counts_a_device_class() -> None:
    mapping = configuration("resources: {deviceClassMappings: [{name: gpus, deviceClassNames: [gpu.nvidia.com]}]}")

    assert claimed_classes("gpu.nvidia.com", mapping) == [
        {"podSet": "/spec/template", "name": "gpu.nvidia.com", "mapped": True}
    ]
    assert claimed_classes("mig.nvidia.com", mapping) == [
        {"podSet": "/spec/template", "name": "mig.nvidia.com", "mapped": False}
    ]


def test_the_slice_omits_device_classes_if_the_configuration_cannot_be_read() -> None:
    odd = configuration("resources: {deviceClassMappings: none}")

    assert claimed_classes("gpu.nvidia.com", odd) is None
    assert claimed_classes("gpu.nvidia.com", local_queue("research")) is None


MULTIKUEUE = "kueue.x-k8s.io/multikueue"


def check(controller: str) -> paths.Object:
    return builders.custom("kueue.x-k8s.io/v1beta2", "AdmissionCheck", {"controllerName": controller}, name="far")


def sent(value: paths.Object, *, version: str = "v0.19.0", config: str = "", controller: str = MULTIKUEUE) -> str:
    """Why MultiKueue does not send an object; empty where it does, `here` for a queue of this cluster."""
    queue = builders.replaced(cluster_queue("research", gpu_group(8)), "/spec/admissionChecks", ["far"])
    configured = builders.replaced(
        configuration(config or "integrations: {}"), "/metadata/labels", {"app.kubernetes.io/version": version}
    )
    found = seen(value, configured, namespace(), local_queue("research"), queue, A100, check(controller))
    assert found is not None
    above = found["queue"]["clusterQueue"]
    return above.get("notDispatched", "") if above.get("multiKueue") else "here"


def queued(api_version: str, kind: str, spec: paths.Object) -> paths.Object:
    made = builders.custom(api_version, kind, spec, namespace=NAMESPACE)
    return builders.replaced(made, "/metadata/labels", {QUEUE: "research"})


def test_multikueue_sends_the_kinds_that_have_an_adapter_in_this_version() -> None:
    pods = template(container(gpus=8))
    group = queued("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", {"leaderWorkerTemplate": {"workerTemplate": pods}})
    far = queued(
        "sagemaker.amazonaws.com/v1", "HyperPodPyTorchJob", {"replicaSpecs": [{"name": "w", "template": pods}]}
    )

    assert sent(job()) == ""
    assert sent(job(), controller="example.com/other") == "here"
    assert sent(group) == ""
    assert sent(group, version="v0.16.1").startswith(
        "MultiKueue has an adapter for a LeaderWorkerSet only since Kueue 0.17"
    )
    assert sent(far) == "MultiKueue has no adapter for a HyperPodPyTorchJob"
    added = "multiKueue: {externalFrameworks: [{name: HyperPodPyTorchJob.v1.sagemaker.amazonaws.com}]}"
    assert sent(far, config=added) == ""


def sending_queue(*names: str) -> tuple[paths.Object, ...]:
    """A queue with checks of MultiKueue, and what belongs to it."""
    queue = builders.replaced(cluster_queue("research", gpu_group(8)), "/spec/admissionChecks", [*names])
    parameters: paths.Json = {"apiGroup": "kueue.x-k8s.io", "kind": "MultiKueueConfig", "name": "c"}
    spec: paths.Object = {"controllerName": MULTIKUEUE, "parameters": parameters}
    checks = [builders.custom("kueue.x-k8s.io/v1beta2", "AdmissionCheck", spec, name=name) for name in names]
    return (CONFIGURED, namespace(), local_queue("research"), queue, A100, *checks)


def test_a_queue_with_several_checks_of_multikueue_is_not_active_until_kueue_says_otherwise() -> None:
    found = queue_of(job(), *sending_queue("near", "far")[2:])["clusterQueue"]

    assert found["inactive"] == "MultipleMultiKueueAdmissionChecks"
    assert found["message"] == "near and far both send its workloads to other clusters"
    told: paths.Json = [{"type": "Active", "status": "True"}]
    queue = builders.replaced(sending_queue("near", "far")[3], "/status", {"conditions": told})
    assert (
        "inactive"
        not in queue_of(job(), queue, *sending_queue("near", "far")[4:], local_queue("research"))["clusterQueue"]
    )


@pytest.mark.parametrize("names", [("far",), ()])
def test_nodes_of_this_cluster_say_nothing_about_pods_in_other_clusters(names: tuple[str, ...]) -> None:
    node = builders.node("cpu-1")
    known = knowing(Store.of([*sending_queue(*names), node]))
    (nodes,) = [each for each in registry.sections(case(job()), known) if each.is_of_nodes]

    assert ("nodes" in registry.slices(case(job()), known)) is not bool(names)
    assert nodes.answer is (Answer.UNKNOWN if names else Answer.NEVER)
    if names:
        assert nodes.reasons == (
            "ClusterQueue research sends its workloads to other clusters (MultiKueue), whose nodes decide",
        )
