"""Rules see quotas, priorities, runtime classes and Volcano's queues."""

from collections.abc import Sequence

import pytest

import builders
from builders import GPU
from builders.queues import volcano_queue
from unit.authorities.knowing import case, knowing
from unit.workloads.normalised import workload
from usher import model, paths
from usher.authorities import authority, priority
from usher.authorities.authority import Case
from usher.authorities.resource_quota import present as resource_quota_present
from usher.authorities.resource_quota.present import ResourceQuotasInput
from usher.authorities.volcano import present as volcano_present
from usher.cluster.facts.store import Store
from usher.config import models


def quota(*, used: str = "", **hard: str) -> paths.Object:
    """A ResourceQuota; `gpu` is what is requested of GPUs."""
    bounds = {f"requests.{GPU}" if key == "gpu" else key: value for key, value in hard.items()}
    return builders.resource_quota(bounds, used={f"requests.{GPU}": used} if used else None)


def priority_class(name: str, value: int, *, kind: str = "PriorityClass", default: bool = False) -> paths.Object:
    group = "scheduling.k8s.io/v1" if kind == "PriorityClass" else "kueue.x-k8s.io/v1beta2"
    found: paths.Object = {"apiVersion": group, "kind": kind, "metadata": {"name": name}, "value": value}
    return {**found, "globalDefault": True} if default else found


def quotas_of(value: paths.Object, *facts: paths.Object) -> ResourceQuotasInput | None:
    return resource_quota_present.input_slice(case(value), knowing(Store.of(facts)))


def training(workers: int, **policy: str) -> paths.Object:
    worker = builders.template(builders.container(gpus=8))
    return builders.pytorch_job(worker, workers=workers, run_policy={"schedulingPolicy": policy} if policy else None)


def test_a_workload_that_fits_its_quotas_has_no_slice() -> None:
    fits = training(1)

    assert quotas_of(fits) is None
    assert quotas_of(fits, quota(gpu="8")) is None
    assert quotas_of(builders.pod(builders.container(gpus=9), namespace=None), quota(gpu="8")) is None


def test_a_slice_is_the_same_whatever_is_used_while_there_is_room() -> None:
    assert quotas_of(training(1), quota(gpu="32", used="8")) == quotas_of(training(1), quota(gpu="32", used="24"))


def test_the_slice_says_whether_the_workload_already_exists() -> None:
    new, there = training(4), builders.replaced(training(4), "/metadata/uid", "1")
    told = [quotas_of(each, quota(gpu="32", used="8")) for each in (new, there)]

    assert [each and each.get("exists") for each in told] == [False, True]


def test_overhead_of_a_runtime_class_is_counted() -> None:
    of_class: paths.Object = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "kata"},
        "overhead": {"podFixed": {"memory": "1Gi"}},
    }
    pod = builders.pod(builders.container(gpus=1, limits={"memory": "1Gi"}), runtimeClassName="kata")
    bound = quota(memory="1Gi", gpu="8")

    assert quotas_of(pod, bound) is None
    found = quotas_of(pod, bound, of_class)
    assert found is not None
    assert [each["needs"]["value"] for each in found["shortages"]] == [2**31]


@pytest.mark.parametrize("spec", [[], "none", {"hard": 1}, {"hard": {"pods": []}}, {"scopes": [1]}])
def test_a_quota_that_cannot_be_read_is_named_and_never_in_the_way(spec: paths.Json) -> None:
    odd: paths.Object = {**quota(), "spec": spec}
    found = quotas_of(training(8), odd)

    assert found is not None
    assert "shortages" not in found
    assert [each["of"] for each in found["unreadable"]] == ["ResourceQuota quota"]


def test_a_workload_without_a_class_names_no_unknown_class() -> None:
    assert priority.input_slice(case(training(1)), knowing(Store())) is None
    found = priority.input_slice(case(training(1)), knowing(Store.of([priority_class("a", 5)])))
    assert found == {"classes": {}, "default": {"name": "", "value": 0, "preempts": True}, "notAbove": []}


def test_a_class_of_kueue_is_read_from_its_own_kind() -> None:
    labelled = builders.job(
        builders.template(builders.container(gpus=1)), labels={"kueue.x-k8s.io/priority-class": "a"}
    )
    store = Store.of([priority_class("a", 5), priority_class("b", 7, kind="WorkloadPriorityClass")])
    found = priority.input_slice(case(labelled), knowing(store))

    assert found is not None
    assert found["inQueue"] == {"exists": False}


def test_the_slice_says_whether_the_runtime_class_exists() -> None:
    named = case(builders.pod(runtimeClassName="kata"))
    other: paths.Object = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "nvidia"}}

    assert authority.runtime_classes_input(named, knowing(Store.of([other]))) == {"kata": False}
    assert authority.runtime_classes_input(named, knowing(Store())) == {}
    assert authority.runtime_classes_input(case(builders.pod()), knowing(Store())) is None


def queues_of(value: model.Workload, store: Store) -> list[tuple[str, str]]:
    """Name and standing."""
    found = volcano_present.input_slice(Case(workload=value), knowing(store)) or {}
    return [(each["name"], each["standing"]) for each in found.get("queues", [])]


def test_without_queues_among_the_facts_only_a_name_is_in_question() -> None:
    assert queues_of(workload(builders.volcano_job(queue="research")), Store()) == [("research", "not known")]
    assert queues_of(workload(builders.volcano_job()), Store()) == []
    none = Store()
    none.lacks(("scheduling.volcano.sh", "Queue"))
    assert queues_of(workload(builders.volcano_job()), none) == [("default", "missing")]


def test_a_queue_in_which_nothing_stands_in_the_way_is_left_out() -> None:
    job = workload(training(2, queue="research"))

    assert queues_of(job, Store.of([volcano_queue(gpu=16)])) == []
    assert queues_of(job, Store.of([volcano_queue(gpu=8)])) == [("research", "usable")]


def test_an_object_of_a_controller_has_no_volcano_slice() -> None:
    owned = workload(builders.volcano_job(queue="gone", owner_kind="CronJob"))

    assert volcano_present.input_slice(Case(workload=owned), knowing(Store.of([volcano_queue(gpu=8)]))) is None


def gpu_quota(
    hard: dict[str, paths.Json], *, classes: list[str] | None = None, namespaces: Sequence[str] = ("ml-research",)
) -> paths.Object:
    limits: paths.Json = [{"hard": hard, **({"priorityClasses": list(classes)} if classes else {})}]
    return builders.gpu_quota(namespaces=namespaces, limits=limits)


def uncounted(value: paths.Object, *facts: paths.Object) -> list[str]:
    """Accelerators that nothing counts, in a namespace whose ResourceQuota counts pods alone."""
    found = quotas_of(value, quota(pods="10"), *facts)
    return [each["name"] for each in (found or {}).get("uncounted", [])]


def instance() -> paths.Object:
    return builders.job(builders.template(builders.container(limits={"nvidia.com/mig-1g.10gb": "1"})))


def test_what_a_gpu_quota_counts_is_bounded() -> None:
    assert uncounted(training(1)) == [GPU]
    assert uncounted(training(1), gpu_quota({"gpus": 8})) == []
    assert uncounted(training(1), gpu_quota({"slices": 8})) == []
    assert uncounted(instance(), gpu_quota({"slices": 8})) == []
    assert uncounted(instance(), gpu_quota({"profiles.1g.10gb": 8})) == []


def test_a_gpu_quota_of_other_units_other_classes_or_other_namespaces_bounds_nothing() -> None:
    assert uncounted(instance(), gpu_quota({"profiles.3g.40gb": 8})) == ["nvidia.com/mig-1g.10gb"]
    assert uncounted(training(1), gpu_quota({"profiles.1g.10gb": 8})) == [GPU]
    assert uncounted(training(1), gpu_quota({"gpus": 8}, classes=["high"])) == [GPU]
    assert uncounted(training(1), gpu_quota({"gpus": 8}, namespaces=["web"])) == [GPU]


def test_under_a_limit_of_gpus_alone_an_instance_counts_as_its_part_of_a_gpu() -> None:
    assert uncounted(instance(), gpu_quota({"gpus": 8})) == []
    assert uncounted(instance(), gpu_quota({"gpus": 8, "slices": 8})) == []


def test_unbounded_pods_count_as_bounded_if_a_gpu_quota_charges_each_of_them() -> None:
    everywhere = builders.daemon_set(builders.template(builders.container(gpus=1)))

    assert uncounted(everywhere) == [GPU]
    assert uncounted(everywhere, gpu_quota({"gpus": 8})) == []


def test_undecided_gpu_quotas_leave_no_resource_unbounded() -> None:
    second = builders.replaced(gpu_quota({"gpus": 4}), "/metadata/name", "second")

    assert uncounted(training(1), gpu_quota({"gpus": 8}), second) == []


def test_an_unreadable_quota_leaves_no_resource_unbounded() -> None:
    too_long = quota(**{f"count/kind-{number}": "1" for number in range(256)}, gpu="8")

    assert uncounted(training(1), quota(pods="8")) == [GPU]
    assert uncounted(training(1), quota(gpu="many")) == []
    assert uncounted(training(1), too_long) == []


def test_a_quota_of_usher_yaml_bounds_the_namespace_as_a_gpu_quota_does() -> None:
    declared = {"quotas": [{"name": "ci", "namespaces": ["*"], "limits": [{"hard": {"gpus": 64}}]}]}
    config = models.Config.model_validate(declared)
    found = resource_quota_present.input_slice(case(training(1)), knowing(Store.of([quota(pods="10")]), config))

    assert "uncounted" not in (found or {})


def pod_group(**spec: paths.Json) -> paths.Object:
    return builders.custom("scheduling.volcano.sh/v1beta1", "PodGroup", {"minMember": 2, **spec}, name="group")


def test_a_pod_group_has_a_queue_slice_only_if_its_queue_has_a_problem() -> None:
    known = knowing(Store.of([volcano_queue(gpu=8)]))

    assert volcano_present.pod_group_slice(case(pod_group(queue="research")), known) is None
    assert volcano_present.pod_group_slice(case(pod_group(queue="reserch")), known) == {
        "queue": "reserch",
        "path": "/spec/queue",
        "standing": "missing",
    }
    assert volcano_present.pod_group_slice(case(pod_group()), known) == {
        "queue": "default",
        "path": "/spec",
        "standing": "missing",
    }
    assert volcano_present.pod_group_slice(case(builders.pod()), known) is None


def test_without_queues_among_the_facts_only_a_queue_that_is_named_is_asked_for() -> None:
    named = volcano_present.pod_group_slice(case(pod_group(queue="research")), knowing(Store()))

    assert named == {"queue": "research", "path": "/spec/queue", "standing": "not known"}
    assert volcano_present.pod_group_slice(case(pod_group()), knowing(Store())) is None
