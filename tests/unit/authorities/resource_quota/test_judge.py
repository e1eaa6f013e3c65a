"""The room in ResourceQuotas for a workload, by the rules of the quota controller."""

from collections.abc import Mapping

import pytest

import builders
from builders import GPU, resource_quota
from unit.authorities.resource_quota.judging import GPUS, judge, judged
from unit.workloads.normalised import workload
from usher import model, paths
from usher.authorities import limit_range
from usher.authorities.limit_range import NO_RANGES
from usher.authorities.resource_quota import judge as resource_quota_judge
from usher.authorities.verdict import REACHES, Reach
from usher.kinds.reading.values import Objects


def verdicts(value: paths.Object, *quotas: paths.Object, default_class: str | None = "") -> list[tuple[str, str, str]]:
    """Key, verdict and need of every shortage."""
    found = judge(value, *quotas, default_class=default_class).shortages
    return [(each.resource, REACHES[each.reach], str(each.needs)) for each in found]


def of_class(operator: str, *values: str) -> Mapping[str, builders.JsonValue]:
    """A requirement on the PriorityClass of pods."""
    return {"scopeName": "PriorityClass", "operator": operator, **({"values": list(values)} if values else {})}


def training(workers: int, *, gpus: int = 8, **run_policy: builders.JsonValue) -> paths.Object:
    worker = builders.template(builders.container(gpus=gpus))
    return builders.pytorch_job(worker, workers=workers, run_policy=run_policy or None)


def service(replicas: int, *containers: paths.Object) -> paths.Object:
    return builders.stateful_set(builders.template(*containers), replicas=replicas)


def test_a_gang_that_needs_more_than_is_allowed_never_starts() -> None:
    (found,) = judge(training(8), resource_quota({GPUS: "32"})).shortages

    assert (found.reach, str(found.needs), str(found.most)) == (Reach.START, "64", "32")
    assert [(part.pod_set, part.pods, str(part.each)) for part in found.parts] == [("Worker", 8, "8")]
    assert judge(training(4), resource_quota({GPUS: "32"})).shortages == ()


def test_a_gang_starts_with_as_many_pods_as_it_says() -> None:
    elastic = training(8, schedulingPolicy={"minAvailable": 4})

    assert verdicts(elastic, resource_quota({GPUS: "32"})) == [(GPUS, "not all", "64")]
    assert verdicts(elastic, resource_quota({GPUS: "31"})) == [(GPUS, "never", "32")]


def test_pods_that_do_not_wait_for_each_other_start_one_by_one() -> None:
    served = service(4, builders.container(gpus=2))

    assert verdicts(served, resource_quota({GPUS: "6"})) == [(GPUS, "not all", "8")]
    assert verdicts(served, resource_quota({GPUS: "1"})) == [(GPUS, "never", "2")]


def test_a_quota_below_the_largest_size_of_a_workload_has_its_own_verdict() -> None:
    group = builders.ray_group(
        pod_template=builders.template(builders.container(gpus=1)), replicas=2, min_replicas=2, max_replicas=8
    )

    assert verdicts(builders.ray_cluster(group, autoscaling=True), resource_quota({GPUS: "4"})) == [
        (GPUS, "not largest", "8")
    ]


def test_what_others_use_is_in_the_way_only_now() -> None:
    (found,) = judge(training(4), resource_quota({GPUS: "32"}, used={GPUS: "8"})).shortages

    assert (found.reach, str(found.needs), str(found.used)) == (Reach.NOW, "32", "8")
    assert judge(training(3), resource_quota({GPUS: "32"}, used={GPUS: "8"})).shortages == ()
    assert judge(training(4), resource_quota({GPUS: "32"})).shortages == ()


def test_pods_that_do_not_wait_for_each_other_need_room_for_all_of_them_now() -> None:
    served = service(4, builders.container(gpus=2))

    assert verdicts(served, resource_quota({GPUS: "10"}, used={GPUS: "4"})) == [(GPUS, "not now", "8")]
    assert verdicts(served, resource_quota({GPUS: "10"}, used={GPUS: "2"})) == []


def test_the_current_need_counts_all_pods_only_if_they_all_start_together() -> None:
    whole, elastic = training(4), training(4, schedulingPolicy={"minAvailable": 2})
    (all_of_them,) = judge(whole, resource_quota({GPUS: "32"}, used={GPUS: "8"})).shortages
    (some,) = judge(elastic, resource_quota({GPUS: "32"}, used={GPUS: "24"})).shortages

    assert [part.pods for part in all_of_them.parts] == [4]
    assert (some.reach, str(some.needs), some.parts) == (Reach.NOW, "16", ())


def test_extended_resources_are_counted_by_their_requests_alone() -> None:
    assert verdicts(training(1), resource_quota({GPU: "0"})) == []


def test_overhead_counts_only_beside_existing_limits() -> None:
    def of(**limits: builders.JsonValue) -> list[tuple[str, str, str]]:
        pod = builders.pod(builders.container(limits=limits), overhead={"cpu": "1"})
        return verdicts(pod, resource_quota({"limits.cpu": "0"}))

    assert of(cpu="2") == [("limits.cpu", "never", "3")]
    assert of(cpu="0") == []


def test_limits_of_accelerators_and_slices_are_other_keys() -> None:
    slices = builders.pod(builders.container(limits={"nvidia.com/mig-1g.10gb": 2}))

    assert verdicts(slices, resource_quota({GPUS: "0", f"limits.{GPU}": "0"})) == []
    assert verdicts(slices, resource_quota({"requests.nvidia.com/mig-1g.10gb": "1"})) == [
        ("requests.nvidia.com/mig-1g.10gb", "never", "2")
    ]


def test_pods_are_counted_and_the_object_itself() -> None:
    job = builders.gpu_job(1, pods=3)

    assert verdicts(job, resource_quota({"pods": "2"})) == [("pods", "not all", "3")]
    found = judge(job, resource_quota({"count/jobs.batch": "0"})).shortages
    assert [(each.resource, each.reach) for each in found] == [("count/jobs.batch", Reach.START)]
    assert judge(job, resource_quota({"count/jobs.batch": "1"})).shortages == ()


def test_a_quota_with_a_scope_counts_no_objects_but_pods() -> None:
    job = builders.gpu_job(1)

    assert judge(job, resource_quota({"count/jobs.batch": "0"}, scopes=["NotTerminating"])).shortages == ()


@pytest.mark.parametrize("key", ["hugepages-2Mi", "requests.hugepages-2Mi"])
def test_huge_pages_are_counted_by_either_key(key: str) -> None:
    pod = builders.pod(builders.container(limits={"hugepages-2Mi": "8Mi", "cpu": "1"}))

    assert verdicts(pod, resource_quota({key: "4Mi"})) == [(key, "never", "8388608")]


def test_steps_of_a_graph_run_as_the_quota_lets_them() -> None:
    step: paths.Object = {"name": "step", "container": builders.container(gpus=2)}
    flow = builders.custom("argoproj.io/v1alpha1", "Workflow", {"entrypoint": "step", "templates": [step]})

    assert verdicts(flow, resource_quota({GPUS: "2"})) == []
    assert verdicts(flow, resource_quota({GPUS: "1"})) == [(GPUS, "never", "2")]


def test_what_may_run_one_after_the_other_rests_on_an_assumption() -> None:
    pods = builders.template(builders.container(gpus=4))
    both = builders.job_set(builders.replicated_job("train", pods), builders.replicated_job("evaluate", pods))

    (found,) = judge(both, resource_quota({GPUS: "4"})).shortages
    assert found.assumption == "its parts run at the same time"
    (found,) = judge(both, resource_quota({GPUS: "3"})).shortages
    assert found.assumption == "its parts run at the same time"


SCOPED = [
    (["Terminating"], None, {}, False),
    (["NotTerminating"], None, {}, True),
    (["Terminating"], None, {"activeDeadlineSeconds": 60}, True),
    (["Terminating"], None, {"activeDeadlineSeconds": 0}, True),
    (["BestEffort"], None, {}, True),  # accelerators do not count
    (["NotBestEffort"], None, {}, False),
    (["NotBestEffort"], None, {"resources": {"requests": {"cpu": "1"}}}, True),
    (["PriorityClass"], None, {}, False),
    (["PriorityClass"], None, {"priorityClassName": "batch"}, True),
    (None, [of_class("In", "batch")], {"priorityClassName": "batch"}, True),
    (None, [of_class("In", "batch")], {"priorityClassName": "other"}, False),
    (None, [of_class("In", "batch")], {}, False),
    (None, [of_class("NotIn", "batch")], {}, True),
    (None, [of_class("NotIn", "batch")], {"priorityClassName": "batch"}, False),
    (None, [of_class("DoesNotExist")], {}, True),
    (None, [of_class("DoesNotExist")], {"priorityClassName": "batch"}, False),
    (None, [of_class("Exists")], {}, False),
    (["Terminating"], [of_class("NotIn", "batch")], {}, False),
    (["CrossNamespacePodAffinity"], None, {}, False),
    (["SomethingNew"], None, {}, False),
]


@pytest.mark.parametrize(("scopes", "selector", "spec", "counted"), SCOPED)
def test_a_quota_counts_the_pods_of_all_its_scopes(
    scopes: list[str] | None,
    selector: list[Mapping[str, builders.JsonValue]] | None,
    spec: Mapping[str, builders.JsonValue],
    counted: bool,
) -> None:
    value = builders.custom("v1", "Pod", {"containers": [builders.container(gpus=2)], **spec})
    scoped = resource_quota({GPUS: "1"}, scopes=scopes, selector=selector)

    assert bool(verdicts(value, scoped)) is counted
    assert (judge(value, scoped).uncounted == ()) is counted


def test_pods_without_a_class_have_that_of_the_cluster() -> None:
    batch = resource_quota({GPUS: "1"}, selector=[of_class("In", "batch")])

    assert verdicts(builders.pod(builders.container(gpus=2)), batch, default_class="batch") != []
    unknown = judge(builders.pod(builders.container(gpus=2)), batch, default_class=None)
    assert unknown.shortages == ()
    assert unknown.uncounted == ()
    assert [(each.quota, each.pod_set.name) for each in unknown.unclear] == [("quota-0", "")]


@pytest.mark.parametrize("kind", ["podAffinity", "podAntiAffinity"])
def test_an_affinity_that_may_lead_into_another_namespace_is_in_doubt(kind: str) -> None:
    affinity: paths.Object = {kind: {}}
    value = builders.custom("v1", "Pod", {"containers": [builders.container(gpus=2)], "affinity": affinity})
    found = judge(value, resource_quota({"pods": "0"}, scopes=["CrossNamespacePodAffinity"]))

    assert found.shortages == ()
    assert len(found.unclear) == 1


def unstated(value: paths.Object, hard: Mapping[str, str], *ranges: paths.Object) -> list[tuple[str, str]]:
    defaults = limit_range.read_ranges({str(index): each for index, each in enumerate(ranges)})
    found = judge(value, resource_quota(hard), ranges=defaults).unstated
    return [(each.container.path, each.what) for each in found]


def test_every_container_says_what_a_quota_counts_of_cpu_and_memory() -> None:
    value = builders.pod(
        builders.container(limits={"cpu": "1"}), initContainers=[builders.container("prepare", requests={"cpu": "1"})]
    )

    assert unstated(value, {"requests.cpu": "9", GPUS: "9"}) == []
    assert unstated(value, {"limits.cpu": "9", "memory": "9Gi"}) == [
        ("/spec/initContainers/0", "limits.cpu"),
        ("/spec/initContainers/0", "requests.memory"),
        ("/spec/containers/0", "requests.memory"),
    ]


def test_ephemeral_containers_have_nothing_to_say() -> None:
    value = builders.pod(
        builders.container(limits={"cpu": "1"}), ephemeralContainers=[{"name": "debug", "image": "busybox"}]
    )

    assert unstated(value, {"limits.cpu": "9"}) == []


def test_a_limit_range_says_it_for_them() -> None:
    default: paths.Object = {"type": "Container", "default": {"cpu": "1"}}
    filling = builders.custom("v1", "LimitRange", {"limits": [default]})

    assert unstated(builders.pod(builders.container(gpus=1)), {"limits.cpu": "9", "requests.cpu": "9"}, filling) == []


def test_what_the_whole_pod_asks_for_will_do() -> None:
    value = builders.custom("v1", "Pod", {"containers": [builders.container()], "resources": {"limits": {"cpu": "1"}}})

    assert unstated(value, {"requests.cpu": "9", "requests.memory": "9Gi"}) == []
    asking = builders.replaced(value, "/spec/resources", {"requests": {"cpu": "1"}})
    assert unstated(asking, {"requests.cpu": "9"}) == []


def test_devices_of_a_class_are_counted_by_the_claims_that_are_made() -> None:
    four: paths.Object = {"name": "gpus", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 4}}
    spec: paths.Object = {"spec": {"devices": {"requests": [four]}}}
    claims = [builders.custom("resource.k8s.io/v1", "ResourceClaimTemplate", spec, name="four")]
    template = builders.template(
        builders.container(claims=["gpus"]),
        resourceClaims=[{"name": "gpus", "resourceClaimTemplateName": "four"}],
    )
    value = workload(builders.job(template, parallelism=2), objects=Objects(claims))
    key = "gpu.nvidia.com.deviceclass.resource.k8s.io/devices"
    found = judged(value, resource_quota({key: "7"}), default_class="", ranges=NO_RANGES)

    assert found.uncounted == ()
    assert [(each.resource, str(each.needs)) for each in found.shortages] == [(key, "8")]


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"hard": {"pods": "many"}}, "spec.hard.pods"),
        ({"hard": ["pods"]}, "spec.hard"),
        ({"hard": {"pods\nand more": 1}}, "spec.hard"),
        ({"scopes": "Terminating"}, "spec.scopes"),
        ({"scopeSelector": {"matchExpressions": {}}}, "spec.scopeSelector.matchExpressions"),
    ],
)
def test_what_cannot_be_read_is_named(spec: Mapping[str, builders.JsonValue], field: str) -> None:
    found = resource_quota_judge.read({"odd": builders.custom("v1", "ResourceQuota", spec)})

    assert [(each.of, each.field) for each in found.unreadable] == [("ResourceQuota odd", field)]


def test_a_workload_without_pods_lacks_nothing() -> None:
    empty = builders.volcano_job(builders.volcano_task(replicas=0))

    assert verdicts(empty, resource_quota({"pods": "0"})) == []
    assert isinstance(workload(empty), model.Workload)


def test_whether_a_pod_is_best_effort_is_in_doubt_where_a_limit_range_cannot_be_read() -> None:
    """It may give the containers cpu and memory."""
    unreadable = limit_range.read_ranges({"odd": {"spec": {"limits": 7}}})
    best_effort = resource_quota({GPUS: "1"}, scopes=["BestEffort"])
    silent, asking = builders.container(gpus=2), builders.container(gpus=2, requests={"cpu": "1"})

    assert len(judge(builders.pod(silent), best_effort, ranges=unreadable).unclear) == 1
    assert judge(builders.pod(asking), best_effort, ranges=unreadable).unclear == ()


def test_pods_do_not_create_a_claim_that_they_name_directly() -> None:
    exactly: paths.Object = {"name": "gpus", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 4}}
    claim = builders.custom("resource.k8s.io/v1", "ResourceClaim", {"devices": {"requests": [exactly]}}, name="four")
    pod = builders.pod(
        builders.container(claims=["gpus"]), resourceClaims=[{"name": "gpus", "resourceClaimName": "four"}]
    )
    (pod_set,) = workload(pod, objects=Objects([claim])).pod_sets

    assert [request.claim != "" for request in pod_set.requests] == [True]
    assert (
        str(resource_quota_judge.claimed_devices(pod_set, "gpu.nvidia.com.deviceclass.resource.k8s.io/devices")) == "0"
    )


@pytest.mark.parametrize(
    ("name", "extended"),
    [
        ("nvidia.com/gpu", True),
        ("gpu", False),
        ("kubernetes.io/batch-cpu", False),
        ("example.kubernetes.io/gpu", False),
        ("requests.nvidia.com/gpu", False),
    ],
)
def test_a_resource_is_extended_as_kubernetes_has_it(name: str, extended: bool) -> None:
    assert resource_quota_judge.is_extended(name) is extended


@pytest.mark.parametrize(("used", "enough"), [("24", True), ("25", False), (None, True)])
def test_what_others_use_leaves_enough_up_to_the_last_of_it(used: str | None, enough: bool) -> None:
    """A remembered answer about a job holds as long as its pods find room."""
    needed = judge(training(1), resource_quota({GPUS: "32"})).needed
    now = resource_quota_judge.read(
        {"quota-0": resource_quota({GPUS: "32"}, used=None if used is None else {GPUS: used})}
    )

    assert [(each.resource, str(each.demand.all)) for each in needed] == [(GPUS, "8")]
    assert resource_quota_judge.suffice(now, needed) is enough


@pytest.mark.parametrize(
    ("hard", "used", "named"),
    [
        # Every quota that is too small is named, so that nobody mends them one by one.
        (("4", "6", "32"), ("0", "0", "0"), ["quota-0", "quota-1"]),
        (("32", "16", "24"), ("30", "0", "20"), ["quota-0", "quota-2"]),
        (("4", "32", "24"), ("0", "30", "0"), ["quota-0", "quota-1"]),
        (("32", "16", "24"), ("0", "0", "0"), []),
    ],
)
def test_each_quota_of_a_namespace_with_too_little_room_is_short(
    hard: tuple[str, ...], used: tuple[str, ...], named: list[str]
) -> None:
    quotas = [resource_quota({GPUS: most}, used={GPUS: now}) for most, now in zip(hard, used, strict=True)]

    verdict = judge(training(1), *quotas)

    assert [each.of for each in verdict.shortages] == named


def test_only_the_tightest_of_many_quotas_are_compared_with_a_workload() -> None:
    quotas = [resource_quota({GPUS: str(most)}, used={GPUS: str(most - 20)}) for most in range(60, 32, -1)]
    quotas += [resource_quota({GPUS: "200"}, used={GPUS: "181"})]

    assert [(each.of, str(each.most)) for each in judge(training(1), *quotas).limited] == [
        ("quota-27", "33"),
        ("quota-28", "200"),
    ]
