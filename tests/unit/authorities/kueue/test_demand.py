"""The demand of a workload as Kueue counts it: which pods together, and what each of them asks for."""

import pytest

import builders
from builders import GPU, container, template
from unit.workloads.normalised import workload
from usher import model, paths
from usher.authorities.kueue import demand as kueue_demand
from usher.authorities.kueue import flavors as kueue_configuration
from usher.authorities.kueue.flavors import UNKNOWN_CONFIGURATION, Configuration
from usher.kinds.reading.values import Objects


def demands(
    value: paths.Object, configuration: Configuration = UNKNOWN_CONFIGURATION
) -> list[dict[str, tuple[int, dict[str, int]]]]:
    """Pods and what each asks for, by the name of the pod set, for every workload that Kueue makes of an object."""
    return [
        {asked.pod_set.name: (asked.pods, dict(asked.each)) for asked in demand.asked}
        for demand in kueue_demand.demands(workload(value), configuration)
    ]


def one(value: paths.Object, configuration: Configuration = UNKNOWN_CONFIGURATION) -> kueue_demand.Demand:
    (found,) = kueue_demand.demands(workload(value), configuration)
    return found


def amounts(value: paths.Object, text: str) -> dict[str, int]:
    """The requests of one pod of the only pod set under a configuration of Kueue."""
    configuration = kueue_configuration.read_configuration(text)
    assert configuration.problems == ()
    return dict(one(value, configuration).asked[0].each)


GPU_POD = template(container(gpus=8))


def test_all_pod_sets_of_a_job_are_admitted_together() -> None:
    job = builders.mpi_job(launcher=template(container(requests={"cpu": "500m"})), worker=GPU_POD, workers=4)

    assert demands(job) == [{"Launcher": (1, {"cpu": 500}), "Worker": (4, {GPU: 8})}]


def test_pods_of_a_deployment_are_admitted_one_by_one() -> None:
    assert demands(builders.deployment(GPU_POD, replicas=4)) == [{"": (1, {GPU: 8})}]


def test_pods_of_a_stateful_set_are_admitted_together() -> None:
    assert demands(builders.stateful_set(GPU_POD, replicas=4)) == [{"": (4, {GPU: 8})}]


def test_groups_of_a_leader_worker_set_are_admitted_one_by_one() -> None:
    group: paths.Object = {"size": 4, "leaderTemplate": template(container(gpus=1)), "workerTemplate": GPU_POD}
    value = builders.custom(
        "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", {"replicas": 3, "leaderWorkerTemplate": group}
    )

    assert demands(value) == [{"leader": (1, {GPU: 1}), "worker": (3, {GPU: 8})}]


@pytest.mark.parametrize(("policy", "pods"), [("Forbid", 4), ("Allow", 1)])
def test_of_a_cron_job_one_run_counts_as_far_as_it_is_known(policy: str, pods: int) -> None:
    value = builders.cron_job(GPU_POD, parallelism=4, completions=4, concurrency_policy=policy)

    assert demands(value) == [{"": (pods, {GPU: 8})}]
    assert one(value).exact is (policy == "Forbid")


@pytest.mark.parametrize(("least", "pods"), [("2", 2), ("16", 8), ("two", 8), ("-2", 8), ("9" * 40, 8)])
def test_a_job_may_be_content_with_fewer_pods(least: str, pods: int) -> None:
    annotations = {"kueue.x-k8s.io/job-min-parallelism": least}
    value = builders.job(GPU_POD, parallelism=8, completions=8, annotations=annotations)

    assert demands(value) == [{"": (pods, {GPU: 8})}]


def test_the_demand_of_one_pod_of_a_group_is_not_exact() -> None:
    alone = builders.pod(container(gpus=8))
    grouped = builders.pod(container(gpus=8), labels={"kueue.x-k8s.io/pod-group-name": "ring"})

    assert one(alone).exact
    assert not one(grouped).exact


def test_amounts_are_rounded_up_for_each_pod() -> None:
    value = builders.pod(container(requests={"cpu": "1500u", "memory": "1500m"}))

    assert demands(value) == [{"": (1, {"cpu": 2, "memory": 2})}]


def test_what_kueue_leaves_out_of_account_is_left_out() -> None:
    value = builders.pod(container(gpus=1, requests={"cpu": 1, "example.com/nic": 1}))

    assert amounts(value, "resources: {excludeResourcePrefixes: [example.com/, cp]}") == {GPU: 1}


MIG = "nvidia.com/mig-1g.10gb"


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("strategy: Replace", {"cpu": 1000, "example.com/memory": 20}),
        ("strategy: Retain", {"cpu": 1000, MIG: 2, "example.com/memory": 20}),
        ("multiplyBy: cpu", {"cpu": 1000, MIG: 2, "example.com/memory": 20}),
    ],
)
def test_resources_are_counted_as_others(entry: str, expected: dict[str, int]) -> None:
    value = builders.pod(container(requests={"cpu": 1}, limits={MIG: 2}))
    text = f"""
        resources:
          transformations:
          - input: {MIG}
            {entry}
            outputs: {{example.com/memory: 10}}
    """

    assert amounts(value, text) == expected


def test_a_transformation_may_be_multiplied_by_another_resource() -> None:
    value = builders.pod(container(requests={"cpu": 3}, limits={MIG: 2}))
    text = f"""
        resources:
          transformations:
          - {{input: {MIG}, strategy: Replace, multiplyBy: cpu, outputs: {{example.com/memory: 10}}}}
    """

    assert amounts(value, text) == {"cpu": 3000, "example.com/memory": 60}


def test_allowances_never_take_from_what_the_pod_asks_for_itself() -> None:
    value = builders.pod(container(requests={"cpu": 1}, limits={MIG: 2}))
    text = f"""
        resources:
          transformations:
          - {{input: {MIG}, strategy: Replace, outputs: {{cpu: "-4"}}}}
    """

    assert amounts(value, text) == {"cpu": 1000}


def claiming(*, gpus: int | None = None) -> model.Workload:
    claim = {"name": "gpu", "resourceClaimTemplateName": "two-gpus"}
    request: paths.Object = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 2}}
    spec: paths.Object = {"devices": {"requests": [request]}}
    objects = builders.custom("resource.k8s.io/v1", "ResourceClaimTemplate", {"spec": spec}, name="two-gpus")
    value = builders.pod(container(claims=["gpu"], gpus=gpus), resourceClaims=[claim])
    return workload(value, objects=Objects([objects], namespace="default"))


def test_claimed_devices_are_counted_as_the_configuration_maps_their_class() -> None:
    text = "resources: {deviceClassMappings: [{name: gpus, deviceClassNames: [gpu.nvidia.com]}]}"
    (found,) = kueue_demand.demands(claiming(), kueue_configuration.read_configuration(text))
    (beside,) = kueue_demand.demands(claiming(gpus=1), kueue_configuration.read_configuration(text))

    assert (found.asked[0].each, found.unknowns) == ({"gpus": 2}, ())
    assert (beside.asked[0].each, beside.unknowns) == ({GPU: 1, "gpus": 2}, ())


def test_claimed_devices_of_another_class_are_unknown() -> None:
    (found,) = kueue_demand.demands(claiming(), kueue_configuration.read_configuration("{}"))
    assert found.unknowns == ("deviceClassMappings of Kueue's configuration counts no whole devices of gpu.nvidia.com",)
    (found,) = kueue_demand.demands(claiming(), UNKNOWN_CONFIGURATION)
    assert found.unknowns == ("usher does not know which resource counts devices of class gpu.nvidia.com in Kueue",)


def test_claims_for_unknown_devices_are_unknown() -> None:
    value = builders.pod(
        container(claims=["gpu"]), resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "gone"}]
    )

    assert one(value).unknowns == ("usher does not know the devices in the claims of the pod",)


@pytest.mark.parametrize(
    ("value", "part"),
    [
        (builders.pod(container(gpus=8)), ""),
        (builders.job(GPU_POD), ""),
        (builders.deployment(GPU_POD), "pod"),
        (builders.cron_job(GPU_POD), "run"),
        (builders.custom("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", {"leaderWorkerTemplate": {}}), "group"),
    ],
)
def test_a_part_that_kueue_admits_separately_has_a_name(value: paths.Object, part: str) -> None:
    assert kueue_demand.admitted_part(workload(value)) == part


def test_all_pods_of_an_object_together_are_its_minimum_number() -> None:
    def pods(value: paths.Object) -> list[int]:
        return [asked.pods for asked in kueue_demand.demand_of_all_pods(workload(value), UNKNOWN_CONFIGURATION).asked]

    assert pods(builders.deployment(GPU_POD, replicas=4)) == [4]
    assert pods(builders.pod(container(gpus=8))) == [1]
    assert pods(builders.deployment(GPU_POD, replicas=0)) == []
