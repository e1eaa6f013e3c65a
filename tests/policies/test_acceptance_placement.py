"""Where pods go (docs/domain/acceptance-cases.md, 6, 7, 14 and 15)."""

import pytest

import builders
from acceptance import (
    GPU,
    MAY_NOT_BE_TOLERATED,
    NOT_SELECTED,
    NOT_TOLERATED,
    POOL,
    POOLS,
    PRESENT,
    QUEUE_LABEL,
    WITHOUT_CLASS,
    WITHOUT_CPU,
    decided,
    found,
    full_container,
    full_pod,
    gpus_of_one_pod,
    manifest,
    mutated,
)
from usher import paths

# Tolerations


NO_VALUE: dict[str, str] = {"key": GPU}
IS_PRESENT = {"key": GPU, "value": "present"}
IS_TRUE = {"key": GPU, "value": "true"}
NO_EXECUTE = {"key": GPU, "value": "present", "effect": "NoExecute"}

toleration = builders.toleration


@pytest.mark.parametrize(
    ("taint", "given", "finds"),
    [
        (IS_PRESENT, toleration(GPU, operator="Equal", value="present"), set()),
        (IS_TRUE, toleration(GPU, operator="Equal", value="present"), {NOT_TOLERATED}),
        (NO_VALUE, toleration(GPU, operator="Equal", value="present"), {NOT_TOLERATED}),
        (IS_PRESENT, toleration(GPU, value="present"), set()),
        (IS_PRESENT, toleration(GPU), {NOT_TOLERATED}),
        (NO_VALUE, toleration(GPU), set()),
        (IS_TRUE, toleration(operator="Exists"), {"warn USH304 tolerates-everything"}),
        (IS_PRESENT, toleration("", operator="Equal", value="present"), {NOT_TOLERATED}),
        (NO_EXECUTE, toleration(GPU, operator="Exists"), set()),
        (NO_EXECUTE, toleration(GPU, operator="Exists", effect="NoExecute"), set()),
        (NO_EXECUTE, toleration(GPU, operator="Exists", effect="NoSchedule"), {NOT_TOLERATED}),
        (IS_PRESENT, toleration(GPU, operator="Exists", effect="NoExecute"), {NOT_TOLERATED}),
    ],
)
@pytest.mark.parametrize("times", [1, 2], ids=["once", "twice"])
def test_a_toleration_counts_as_the_scheduler_counts_it(
    taint: dict[str, str], given: paths.Object, finds: set[str], times: int
) -> None:
    site = {"pools": [{**POOL, "taints": [taint]}]}

    assert found(decided(full_pod(full_container(gpus=1), tolerations=[given] * times), site)) == finds


def test_without_declared_pools_a_toleration_without_operator_warns() -> None:
    assert found(decided(full_pod(full_container(gpus=1), tolerations=[toleration(GPU)]))) == {
        "warn USH313 toleration-without-operator"
    }


# Affinity


def test_every_term_of_an_affinity_has_to_select_gpu_nodes() -> None:
    on_gpu_nodes = builders.expression(PRESENT, "In", "true")
    in_zone = builders.expression("topology.kubernetes.io/zone", "In", "a")
    half_open = full_pod(
        full_container(gpus=1),
        nodeSelector=None,
        affinity=builders.node_affinity(builders.term(on_gpu_nodes), builders.term(in_zone)),
    )

    closed = mutated(half_open, POOLS).value

    assert found(decided(half_open, POOLS)) == {NOT_SELECTED}
    assert paths.resolve(closed, "/spec/affinity") == builders.node_affinity(
        builders.term(on_gpu_nodes), builders.term(in_zone, on_gpu_nodes)
    )
    assert found(decided(closed, POOLS)) == set()


# Knative


def test_usher_places_the_pods_of_a_knative_service_and_keeps_its_template() -> None:
    service = manifest("knative_service")
    pod = builders.pod(full_container("user-container", gpus=1), owner_kind="ReplicaSet")

    assert found(decided(service, POOLS)) == {WITHOUT_CLASS}
    assert mutated(service, POOLS).value == service
    assert {intent.mutation for intent in mutated(pod, POOLS).applied} == {
        "placement/gpu_node_affinity",
        "placement/gpu_toleration",
    }
    assert NOT_TOLERATED in found(decided(pod, POOLS))


def test_a_knative_service_with_tolerations_gets_a_warning_that_knative_refuses_them() -> None:
    tolerating = builders.replaced(
        manifest("knative_service"), "/spec/template/spec/tolerations", [toleration(GPU, operator="Exists")]
    )

    assert found(decided(tolerating, POOLS)) == {"warn USH312 fields-that-knative-refuses", WITHOUT_CLASS}


# Volcano


TRAINING = {
    WITHOUT_CPU,
    MAY_NOT_BE_TOLERATED,
    "warn USH909 shared-memory-missing",
    WITHOUT_CLASS,
    "audit USH1307 training-not-protected-from-disruption",
}


def test_the_label_of_kueue_queues_no_volcano_job() -> None:
    task = builders.volcano_task(pod_template=gpus_of_one_pod(8), replicas=2)

    assert found(decided(builders.volcano_job(task, labels={QUEUE_LABEL: "research"}))) == TRAINING | {
        "warn USH404 kind-that-kueue-ignores"
    }
    assert found(decided(builders.volcano_job(task))) == TRAINING


def test_a_job_set_that_only_names_volcano_is_not_a_gang() -> None:
    def job_set(annotations: dict[str, str]) -> paths.Object:
        workers = builders.template(builders.container(gpus=8), schedulerName="volcano", annotations=annotations)
        return builders.job_set(builders.replicated_job(pod_template=workers, parallelism=4))

    assert found(decided(job_set({}))) == TRAINING | {"deny USH501 volcano-without-gang"}
    assert found(decided(job_set({"scheduling.k8s.io/group-name": "llama"}))) == TRAINING
