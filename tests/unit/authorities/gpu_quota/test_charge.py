"""The charge of a workload in each unit of a quota."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import builders
from unit.authorities.gpu_quota.charged import A30, A100_40, H100, T4, charge, texts, total
from usher import paths
from usher.accelerators import boards
from usher.authorities.gpu_quota import charge as gpu_quota_charge
from usher.authorities.gpu_quota import definitions
from usher.authorities.gpu_quota.definitions import Assumption
from usher.config import pools, sections
from usher.kinds.reading.values import Objects

MIG = "nvidia.com/mig-"
BOARD = boards.by_name("H100-80")


def of_pod(*containers: paths.Object, **more: object) -> dict[str, str]:
    return total(builders.pod(*containers, **more))  # type: ignore[arg-type]  # fields of a pod spec


def asking(**limits: int | str) -> paths.Object:
    return builders.container(limits=limits)


def pool(name: str, selector: dict[str, str]) -> pools.Pool:
    return pools.Pool(name=name, node_selector={"pool": name, **selector})


def claim(device_class: str, *, count: int = 1, **more: paths.Json) -> paths.Object:
    exactly: paths.Object = {"deviceClassName": device_class, "count": count, **more}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "gpus", "namespace": "ml-research"},
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}},
    }


def claiming(**spec: Any) -> paths.Object:
    return builders.template(resourceClaims=[{"name": "gpus", "resourceClaimName": "gpus"}], **spec)


def test_whole_gpus_of_a_known_board_are_charged_in_all_units() -> None:
    found = of_pod(builders.container(gpus=8), nodeSelector=H100)

    assert found == {"gpus": "8", "slices": "56", "memoryGiB": "640"}


def test_all_pods_are_charged_at_their_most() -> None:
    template = builders.template(builders.container(gpus=8), nodeSelector=H100)

    assert total(builders.deployment(template, replicas=2, max_surge=1)) == {
        "gpus": "24",
        "slices": "168",
        "memoryGiB": "1920",
    }


@pytest.mark.parametrize(("selector", "slices", "memory"), [(H100, "7", "80"), (A30, "4", "24"), (A100_40, "7", "40")])
def test_a_gpu_is_as_many_slices_as_mig_cuts_its_board_into(selector: dict[str, str], slices: str, memory: str) -> None:
    found = of_pod(builders.container(gpus=1), nodeSelector=selector)

    assert found == {"gpus": "1", "slices": slices, "memoryGiB": memory}


def test_a_gpu_of_an_unknown_board_counts_as_seven_slices_and_unknown_memory() -> None:
    for selector in ({}, T4):
        found = charge(builders.pod(builders.container(gpus=2), nodeSelector=selector or None))

        assert texts(found.amounts[("",)]) == {"gpus": "2", "slices": "14"}
        assert [each.unit for each in found.unclear] == ["memoryGiB"]
        assert "nvidia.com/gpu.product" in found.unclear[0].reason


def test_a_quota_may_say_what_its_gpus_are() -> None:
    pod = builders.pod(builders.container(gpus=2))

    assert total(pod, assumption=Assumption(board=BOARD)) == {"gpus": "2", "slices": "14", "memoryGiB": "160"}
    assert total(pod, assumption=Assumption(slices=4, memory=16)) == {"gpus": "2", "slices": "8", "memoryGiB": "32"}


def test_what_a_pod_selects_is_worth_more_than_what_a_quota_assumes() -> None:
    pod = builders.pod(builders.container(gpus=1), nodeSelector=A30)

    assert total(pod, assumption=Assumption(board=BOARD))["memoryGiB"] == "24"


def test_a_board_is_not_assumed_of_another_vendors_devices() -> None:
    pod = builders.pod(asking(**{"amd.com/gpu": 1}))

    assert [each.unit for each in charge(pod, assumption=Assumption(board=BOARD)).unclear] == ["memoryGiB"]
    assert total(pod, assumption=Assumption(memory=192)) == {"gpus": "1", "slices": "7", "memoryGiB": "192"}


def test_of_several_possible_boards_the_worst_is_charged() -> None:
    products = [value for each in (A30, H100) for value in each.values()]
    affinity = builders.node_affinity(builders.term(builders.expression("nvidia.com/gpu.product", "In", *products)))

    assert of_pod(builders.container(gpus=1), affinity=affinity) == {"gpus": "1", "slices": "7", "memoryGiB": "80"}


def test_the_pools_that_fit_tell_the_board_if_each_of_them_does() -> None:
    pod = builders.pod(builders.container(gpus=1))
    told = [pool("a30", A30), pool("a100", A100_40)]

    assert total(pod, pools=told) == {"gpus": "1", "slices": "7", "memoryGiB": "40"}
    assert charge(pod, pools=[*told, pool("other", {})]).unclear
    assert total(builders.pod(builders.container(gpus=1), nodeSelector={"pool": "a30"}), pools=told)["slices"] == "4"


def test_instances_count_by_profile_and_as_slices_but_not_as_gpus() -> None:
    found = of_pod(asking(**{f"{MIG}3g.40gb": 2, f"{MIG}1g.10gb": 1}))

    assert found == {"profiles.3g.40gb": "2", "profiles.1g.10gb": "1", "slices": "7", "memoryGiB": "90"}


def test_a_profile_with_an_addition_is_a_unit_of_its_own_by_the_drivers_name() -> None:
    assert of_pod(asking(**{f"{MIG}1g.10gb.me": 1})) == {
        "profiles.1g.10gb+me": "1",
        "slices": "1",
        "memoryGiB": "10",
    }


def test_a_profile_that_is_more_on_another_board_is_charged_at_its_worst() -> None:
    rtx = {"nvidia.com/gpu.product": "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition"}
    container = asking(**{f"{MIG}1g.24gb": 1})

    assert of_pod(container)["slices"] == "2"
    assert of_pod(container, nodeSelector=rtx)["slices"] == "1"


def test_a_profile_that_no_board_is_known_to_have_counts_by_its_name() -> None:
    assert of_pod(asking(**{f"{MIG}5g.99gb": 1})) == {"profiles.5g.99gb": "1", "slices": "5", "memoryGiB": "99"}


def test_a_turn_on_an_instance_counts_as_the_instance() -> None:
    assert of_pod(asking(**{f"{MIG}1g.10gb.shared": 2}))["profiles.1g.10gb"] == "2"


def test_gpus_of_nodes_that_are_all_divided_alike_are_instances() -> None:
    selector = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"}

    assert of_pod(builders.container(gpus=3), nodeSelector=selector) == {
        "profiles.1g.5gb": "3",
        "slices": "3",
        "memoryGiB": "15",
    }


def test_a_share_is_charged_as_a_whole_device_unless_usher_yaml_says_the_ratio() -> None:
    pod = builders.pod(builders.container(gpus=1), nodeSelector=H100)
    sliced = sections.Accelerators(resources={"nvidia.com/gpu": sections.Resource(unit="share", per_device=4)})

    assert of_pod(asking(**{"nvidia.com/gpu.shared": 1}), nodeSelector=H100)["gpus"] == "1"
    assert total(pod, accelerators=sliced) == {"gpus": "250m", "slices": "1750m", "memoryGiB": "20"}


def test_memory_and_cores_of_a_share_are_not_devices() -> None:
    hami = asking(**{"nvidia.com/gpu": 2, "nvidia.com/gpumem": 4000, "nvidia.com/gpucores": 30})

    assert of_pod(hami, nodeSelector=H100)["gpus"] == "2"


@pytest.mark.parametrize(
    ("limits", "gpus"),
    [
        ({"nvidia.com/gpumem": 4000}, "1"),
        ({"aliyun.com/gpu-mem": 8}, "1"),
        ({"aliyun.com/gpu-mem": 8, "aliyun.com/gpu-count": 2}, "2"),
        ({"tencent.com/vcuda-core": 200, "tencent.com/vcuda-memory": 64}, "2"),
        ({"koordinator.sh/gpu-core": 150, "koordinator.sh/gpu-memory-ratio": 150}, "2"),
        ({"koordinator.sh/gpu-core": 150, "koordinator.sh/gpu.shared": 3}, "3"),
    ],
)
def test_who_asks_for_parts_alone_takes_the_devices_that_these_make_up(limits: dict[str, int], gpus: str) -> None:
    assert of_pod(asking(**limits), nodeSelector=H100)["gpus"] == gpus


def test_each_container_that_asks_for_memory_alone_gets_a_device() -> None:
    containers = [builders.container(name, limits={"nvidia.com/gpumem": 4000}) for name in ("a", "b")]

    assert of_pod(*containers, nodeSelector=H100)["gpus"] == "2"


def test_a_fraction_by_annotation_is_charged_as_that_part() -> None:
    half = {"gpu-fraction": "0.5", "gpu-fraction-num-devices": "3"}

    assert of_pod(annotations=half, nodeSelector=H100) == {"gpus": "1500m", "slices": "10500m", "memoryGiB": "120"}


def test_a_part_by_memory_needs_the_board() -> None:
    asked = {"gpu-memory": "20480"}
    found = charge(builders.pod(annotations=asked))

    assert of_pod(annotations=asked, nodeSelector=H100) == {"gpus": "250m", "slices": "1750m", "memoryGiB": "20"}
    assert texts(found.amounts[("",)]) == {"memoryGiB": "20"}
    assert [each.unit for each in found.unclear] == ["gpus", "slices"]


def test_devices_that_an_annotation_mounts_are_charged() -> None:
    mounted = {"devices.gke.io/container.main": "- path: /dev/nvidia0\n- path: /dev/nvidia1\n"}

    assert of_pod(annotations=mounted, nodeSelector=H100)["gpus"] == "2"


def test_claims_of_whole_devices_are_charged_as_these() -> None:
    job = builders.job(claiming(nodeSelector=H100), parallelism=1)

    assert total(job, objects=Objects([claim("gpu.nvidia.com", count=8)])) == {
        "gpus": "8",
        "slices": "56",
        "memoryGiB": "640",
    }


def test_a_claim_that_pods_share_is_charged_once() -> None:
    job = builders.job(claiming(nodeSelector=H100), parallelism=16)

    assert total(job, objects=Objects([claim("gpu.nvidia.com", count=8)]))["gpus"] == "8"


def test_a_claim_of_pods_of_two_classes_counts_in_both_and_once_in_all() -> None:
    job_set = builders.job_set(
        *(builders.replicated_job(name, claiming(priorityClassName=name), replicas=2) for name in ("high", "low"))
    )
    found = charge(job_set, objects=Objects([claim("gpu.nvidia.com", count=8)])).amounts

    assert texts(gpu_quota_charge.amounts_of_classes(found, ()))["gpus"] == "8"
    assert texts(gpu_quota_charge.amounts_of_classes(found, ["high"]))["gpus"] == "8"
    assert texts(gpu_quota_charge.amounts_of_classes(found, ["low"]))["gpus"] == "8"


def test_of_a_claimed_instance_the_profile_is_not_known_and_all_of_a_gpu_is_charged() -> None:
    job = builders.job(claiming(nodeSelector=H100))
    found = charge(job, objects=Objects([claim("mig.nvidia.com")]))

    assert texts(found.amounts[("",)]) == {"slices": "7", "memoryGiB": "80"}
    assert [each.unit for each in found.unclear] == ["profiles."]


def test_access_with_administrators_rights_takes_no_device() -> None:
    job = builders.job(claiming())

    assert charge(job, objects=Objects([claim("gpu.nvidia.com", adminAccess=True)])).amounts == {}


def test_a_claim_for_all_devices_of_a_node_is_not_bounded() -> None:
    found = charge(builders.job(claiming()), objects=Objects([claim("gpu.nvidia.com", allocationMode="All")]))

    assert not found.bounded
    assert "allocationMode All" in found.unbounded


def test_a_workload_without_a_bound_on_its_pods_is_unbounded_and_the_rest_is_charged() -> None:
    found = charge(builders.daemon_set(builders.template(builders.container(gpus=1), nodeSelector=H100)))

    assert not found.bounded
    assert found.amounts == {}


def test_pods_are_charged_to_their_priority_class_or_to_the_default() -> None:
    job = builders.pytorch_job(
        master=builders.template(builders.container(gpus=1), nodeSelector=H100),
        worker=builders.template(builders.container(gpus=8), nodeSelector=H100, priorityClassName="high"),
        workers=2,
    )
    found = charge(job, default_class="normal").amounts

    assert {classes: texts(of_units)["gpus"] for classes, of_units in found.items()} == {
        ("normal",): "1",
        ("high",): "16",
    }
    assert texts(gpu_quota_charge.amounts_of_classes(found, ["high", "other"]))["gpus"] == "16"
    assert gpu_quota_charge.amounts_of_classes(found, ["other"]) == {}


def test_a_suspended_workload_is_marked_and_charged() -> None:
    found = charge(builders.job(builders.template(builders.container(gpus=1)), suspend=True))

    assert found.suspended
    assert texts(found.amounts[("",)])["gpus"] == "1"


def test_what_makes_no_pods_by_itself_is_charged_nothing() -> None:
    template: paths.Object = {"metadata": {}, "spec": builders.pod_spec(builders.container(gpus=1))}

    assert charge(builders.custom("v1", "PodTemplate", {"template": template})) == gpu_quota_charge.NO_CHARGE
    assert charge(builders.deployment(replicas=3)).amounts == {}


def test_an_absurd_number_ends_where_no_cluster_reaches() -> None:
    found = charge(builders.pod(builders.container(gpus="1e30")))

    assert found.amounts[("",)]["gpus"] == definitions.MOST_AMOUNT


# ---------------------------------------------------------------- against a sum that is worked out otherwise

SHAPES = st.sampled_from([("gpu", None), ("mig-1g.10gb", "1g.10gb"), ("mig-3g.40gb", "3g.40gb")])
PODS = st.lists(
    st.tuples(SHAPES, st.integers(0, 9), st.integers(0, 20), st.sampled_from(["", "low", "high"])), max_size=5
)


@given(PODS)
def test_every_unit_is_the_sum_over_all_devices_of_all_pods(
    pods: list[tuple[tuple[str, str | None], int, int, str]],
) -> None:
    devices = [(profile, priority) for (_, profile), each, replicas, priority in pods for _ in range(each * replicas)]
    expected = {
        "gpus": sum(profile is None for profile, _ in devices),
        "slices": sum({None: 7, "1g.10gb": 1, "3g.40gb": 3}[profile] for profile, _ in devices),
        "memoryGiB": sum({None: 80, "1g.10gb": 10, "3g.40gb": 40}[profile] for profile, _ in devices),
        "profiles.1g.10gb": sum(profile == "1g.10gb" for profile, _ in devices),
        "profiles.3g.40gb": sum(profile == "3g.40gb" for profile, _ in devices),
    }
    job_set = builders.job_set(
        *(
            builders.replicated_job(
                f"job-{index}",
                builders.template(
                    asking(**{f"nvidia.com/{resource}": each}),
                    nodeSelector=H100,
                    priorityClassName=priority or None,
                ),
                replicas=replicas,
            )
            for index, ((resource, _), each, replicas, priority) in enumerate(pods)
        )
    )

    found = charge(job_set).amounts
    together = gpu_quota_charge.amounts_of_classes(found, ())
    assert {unit: Fraction(nanos, 10**9) for unit, nanos in together.items()} == {
        unit: number for unit, number in expected.items() if number
    }
    high = gpu_quota_charge.amounts_of_classes(found, ["high"]).get("gpus", 0)
    assert high == 10**9 * sum(profile is None and priority == "high" for profile, priority in devices)


def test_the_reason_for_an_unbounded_charge_names_its_cause() -> None:
    """The cause is the number of pods, or an amount that one pod asks for."""
    pods = charge(builders.daemon_set(builders.template(builders.container(gpus=1)))).unbounded
    devices = charge(
        builders.job(claiming()), objects=Objects([claim("gpu.nvidia.com", allocationMode="All")])
    ).unbounded

    assert "allocationMode" not in pods
    assert "allocationMode All" in devices
    assert pods not in devices


def test_a_device_of_another_vendor_is_whole_whatever_nvidia_product_the_pods_select() -> None:
    single = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb"}

    assert of_pod(asking(**{"nvidia.com/gpu": 1}), nodeSelector=single)["profiles.1g.10gb"] == "1"
    found = charge(builders.pod(asking(**{"amd.com/gpu": 1}), nodeSelector=single))
    assert texts(found.amounts[("",)])["gpus"] == "1"


def test_a_claim_counts_only_in_priority_classes_with_pods() -> None:
    job_set = builders.job_set(
        builders.replicated_job("high", claiming(priorityClassName="high"), replicas=2),
        builders.replicated_job("low", claiming(priorityClassName="low"), replicas=0),
    )
    found = charge(job_set, objects=Objects([claim("gpu.nvidia.com", count=8)])).amounts

    assert list(found) == [("high",)]
