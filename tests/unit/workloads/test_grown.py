"""A workload with the pods and the accelerators that other objects let it grow to."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import builders
from unit.workloads.growing_objects import growth_of, horizontal_pod_autoscaler, readable_growth, scaled_object
from unit.workloads.normalised import VOCABULARY
from usher import model, paths
from usher.kinds.reading.counts import Growth
from usher.workloads import grown_workloads
from usher.workloads.grown_workloads import grown
from usher.workloads.normalise import normalise


def read(value: paths.Object) -> model.Workload | None:
    return normalise(value, vocabulary=VOCABULARY)


def workload(value: paths.Object, *growths: Growth) -> model.Workload:
    found = grown(value, growths, normalise=read)
    assert found is not None
    return found


def totals(found: model.Workload) -> dict[str, tuple[str, str | None]]:
    return {
        total.name: (str(total.minimum), None if total.maximum is None else str(total.maximum))
        for total in found.totals
    }


def scaler(minimum: int, maximum: int, *, kind: str = "Deployment", api_version: str = "apps/v1") -> Growth:
    return readable_growth(
        horizontal_pod_autoscaler(kind=kind, api_version=api_version, minimum=minimum, maximum=maximum, name="web")
    )


GPU_TEMPLATE = builders.template(builders.container(gpus=8))
WEB = builders.deployment(GPU_TEMPLATE, name="vllm", replicas=2)


def test_without_a_growth_it_is_what_the_object_says() -> None:
    other = growth_of(horizontal_pod_autoscaler(target="other"))

    assert workload(WEB, other) == workload(WEB) == read(WEB)


def test_its_pods_and_their_accelerators_span_all_that_is_allowed() -> None:
    found = workload(WEB, scaler(1, 10))

    assert found.pods == model.Count(
        minimum=1,
        maximum=13,
        reason="HorizontalPodAutoscaler web allows 10 replicas; 3 more during a rollout",
    )
    assert totals(found) == {"nvidia.com/gpu": ("8", "104")}
    assert found.totals[0].reason == found.pods.reason


def test_pods_of_a_rollout_do_not_count_as_growth() -> None:
    found, alone = workload(WEB, scaler(1, 10)), workload(WEB)
    assert found is not None
    assert alone is not None

    assert [each.count.grown for each in found.pod_sets] == [10]
    assert [each.count.grown for each in alone.pod_sets] == [0]


def test_a_default_of_the_autoscaler_is_said_to_be_one() -> None:
    found = workload(WEB, readable_growth(scaled_object(name="web")))

    assert found.pods.reason == (
        "ScaledObject web allows 100 replicas (the default of maxReplicaCount); 25 more during a rollout"
    )


def test_a_single_replica_is_one() -> None:
    found = workload(WEB, scaler(1, 1))

    assert found.pods.reason == "HorizontalPodAutoscaler web allows 1 replica; 1 more during a rollout"


def test_templates_that_do_not_grow_stay_as_they_are() -> None:
    job = builders.pytorch_job(GPU_TEMPLATE, workers=2, master=GPU_TEMPLATE, name="vllm")

    found = workload(job, scaler(1, 4, kind="PyTorchJob", api_version="kubeflow.org/v1"))

    assert [(each.name, each.count.minimum, each.count.maximum) for each in found.pod_sets] == [
        ("Master", 1, 1),
        ("Worker", 1, 4),
    ]
    assert found.pod_sets[0].count.reason == ""
    assert totals(found) == {"nvidia.com/gpu": ("16", "40")}


def test_a_maximum_that_could_not_be_read_bounds_nothing_that_grows() -> None:
    job = builders.pytorch_job(GPU_TEMPLATE, workers=2, master=builders.template(), name="vllm")
    unread = growth_of(
        horizontal_pod_autoscaler(kind="PyTorchJob", api_version="kubeflow.org/v1", maximum="several", name="web")
    )

    found = workload(job, unread)

    assert found.pods == model.Count(
        minimum=2, maximum=None, reason="HorizontalPodAutoscaler web: its maximum could not be read"
    )
    assert [each.count.maximum for each in found.pod_sets] == [1, None]
    assert totals(found) == {"nvidia.com/gpu": ("8", None)}


def test_a_held_workload_keeps_its_number() -> None:
    assert workload(WEB, replace(scaler(5, 10), held=True)) == read(WEB)


def test_what_may_grow_to_several_wants_a_gang_where_several_of_its_kind_do() -> None:
    job = builders.pytorch_job(GPU_TEMPLATE, workers=1, name="vllm")

    assert not workload(job).gang.wanted
    assert workload(job, scaler(1, 4, kind="PyTorchJob", api_version="kubeflow.org/v1")).gang.wanted


def test_what_makes_no_pods_stays_nothing() -> None:
    assert grown(builders.custom("v1", "Secret", {}), [scaler(1, 2)], normalise=read) is None


def test_an_unrecognised_kind_stays_unknown() -> None:
    value = builders.custom("example.com/v1", "Server", {"template": builders.template()}, name="vllm")

    assert workload(value, scaler(1, 2)) == read(value)


BOUNDS = st.tuples(st.integers(0, 20), st.integers(1, 20)).map(sorted)


@given(
    replicas=st.integers(0, 20),
    bounds=st.lists(BOUNDS, max_size=3),
    held=st.booleans(),
    recreate=st.booleans(),
)
def test_its_pods_range_over_the_bounds_of_all(
    replicas: int, bounds: list[list[int]], *, held: bool, recreate: bool
) -> None:
    value = builders.deployment(GPU_TEMPLATE, name="vllm", replicas=replicas, strategy="Recreate" if recreate else None)
    growths = [
        replace(scaler(1, 1), minimum=low, maximum=max(high, 1), held=held and number == 0)
        for number, (low, high) in enumerate(bounds)
    ]

    found = workload(value, *growths).pods
    at_bounds = [
        workload(grown_workloads.with_replicas(value, each, replicas=number)).pods
        for each in growths
        for number in (each.minimum, each.maximum or 0)
    ] or [workload(value).pods]

    assert found.minimum == min(count.minimum for count in at_bounds)
    assert found.maximum == max(count.maximum or 0 for count in at_bounds)
