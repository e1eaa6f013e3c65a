"""Autoscalers and scales say how their targets grow (upstream sources in the module's docstring)."""

import pytest

import builders
from unit.workloads.growing_objects import (
    growth_of,
    horizontal_pod_autoscaler,
    readable_growth,
    role_scaler,
    scale,
    scaled_object,
    unknown,
    unknowns,
)
from usher import paths
from usher.kinds import autoscaling
from usher.kinds.reading import values
from usher.kinds.reading.counts import Growth
from usher.workloads import grown_workloads

MAXIMUM = "/spec/maxReplicas"
MAXIMUM_COUNT = "/spec/maxReplicaCount"
TARGET = "/spec/scaleTargetRef"
PAUSED_REPLICAS = "/metadata/annotations/autoscaling.keda.sh~1paused-replicas"


def deployment(name: str = "vllm") -> values.Reference:
    return values.Reference(group="apps", kind="Deployment", name=name, namespace="ml-research")


def bounds(growth: Growth) -> tuple[int, int | None]:
    return growth.minimum, growth.maximum


@pytest.mark.parametrize("version", ["v1", "v2", "v2beta1", "v2beta2"])
def test_a_horizontal_pod_autoscaler_tells_its_target_and_its_bounds(version: str) -> None:
    value = horizontal_pod_autoscaler(version=version, minimum=2, maximum=20, name="vllm-hpa")

    assert readable_growth(value) == Growth(
        source=values.Reference(
            group="autoscaling", kind="HorizontalPodAutoscaler", name="vllm-hpa", namespace="ml-research"
        ),
        version=version,
        target=deployment(),
        minimum=2,
        maximum=20,
        maximum_path=MAXIMUM,
        target_path=TARGET,
    )


def test_the_least_of_a_horizontal_pod_autoscaler_is_one_unless_it_says_another() -> None:
    assert bounds(readable_growth(horizontal_pod_autoscaler())) == (1, 10)
    assert bounds(readable_growth(horizontal_pod_autoscaler(minimum=0))) == (0, 10)


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_horizontal_pod_autoscaler_needs_a_maximum(version: str) -> None:
    value = horizontal_pod_autoscaler(version=version, maximum=None)

    assert unknowns(value) == [("/spec", "maxReplicas is required")]
    assert bounds(growth_of(value)) == (1, None)
    assert growth_of(value).reason == "its maximum could not be read"
    assert growth_of(value).maximum_path == "/spec"


def test_a_maximum_of_zero_is_refused_everywhere() -> None:
    assert unknowns(horizontal_pod_autoscaler(maximum=0)) == [(MAXIMUM, "must be at least 1")]
    assert unknowns(scaled_object({"maxReplicaCount": 0})) == [(MAXIMUM_COUNT, "must be at least 1")]


def test_a_minimum_above_the_maximum_is_unknown() -> None:
    value = horizontal_pod_autoscaler(minimum=11, maximum=10)

    assert unknowns(value) == [("/spec/minReplicas", "is more than the maximum of 10")]
    assert bounds(growth_of(value)) == (10, 10)


def test_a_maximum_beyond_all_clusters_is_unknown() -> None:
    value = horizontal_pod_autoscaler(maximum=2**31 - 1)

    assert unknowns(value) == [(MAXIMUM, "expected a number of pods from 0 to 10000000")]
    assert growth_of(value).maximum is None


@pytest.mark.parametrize("api_version", [None, "", "v1"])
def test_only_a_replication_controller_is_scaled_without_an_api_group(api_version: str | None) -> None:
    controller = horizontal_pod_autoscaler(kind="ReplicationController", api_version=api_version)
    missing = horizontal_pod_autoscaler(api_version=api_version)

    assert readable_growth(controller).target == values.Reference(
        group="", kind="ReplicationController", name="vllm", namespace="ml-research"
    )
    assert unknowns(missing) == [
        (
            TARGET if api_version is None else TARGET + "/apiVersion",
            "apiVersion must give the API group of Deployment: without one it is not found",
        )
    ]
    assert growth_of(missing).target.kind == ""


@pytest.mark.parametrize("field", ["kind", "name"])
def test_a_reference_names_a_kind_and_a_name(field: str) -> None:
    value = builders.replaced(horizontal_pod_autoscaler(), f"{TARGET}/{field}", "")

    assert unknowns(value) == [(TARGET, "scaleTargetRef must give the kind and the name of the object to scale")]
    assert (growth_of(value).target.kind, growth_of(value).target.name) == ("", "")


def test_a_missing_field_is_unknown_at_its_expected_place() -> None:
    no_target = builders.custom("autoscaling/v2", "HorizontalPodAutoscaler", {"maxReplicas": 3})

    assert unknowns(no_target) == [("/spec", "scaleTargetRef must give the kind and the name of the object to scale")]
    assert unknowns({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler"}) == [("", "has no spec")]
    assert unknowns({"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "spec": None}) == [
        ("/spec", "has no spec")
    ]


def test_a_scaled_object_has_a_default_for_all_but_the_name_of_its_target() -> None:
    growth = readable_growth(scaled_object())

    assert growth.target == deployment()
    assert bounds(growth) == (0, 100)
    assert growth.reason == "the default of maxReplicaCount"
    assert growth.maximum_path == "/spec"
    assert not growth.held


def test_a_scaled_object_tells_its_target_and_its_bounds() -> None:
    growth = readable_growth(
        scaled_object(
            {"minReplicaCount": 2, "maxReplicaCount": 8},
            target={"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet"},
        )
    )

    assert growth.target == values.Reference(
        group="leaderworkerset.x-k8s.io", kind="LeaderWorkerSet", name="vllm", namespace="ml-research"
    )
    assert bounds(growth) == (2, 8)
    assert (growth.reason, growth.maximum_path) == ("", MAXIMUM_COUNT)


@pytest.mark.parametrize(
    ("target", "group", "kind"),
    [
        ({"kind": "StatefulSet"}, "apps", "StatefulSet"),
        ({"apiVersion": "example.com/v1"}, "example.com", "Deployment"),
        ({"apiVersion": "", "kind": ""}, "apps", "Deployment"),
        ({"apiVersion": "v1", "kind": "ReplicationController"}, "", "ReplicationController"),
    ],
)
def test_keda_fills_in_the_kind_and_the_version_of_a_target_each_on_its_own(
    target: dict[str, builders.JsonValue], group: str, kind: str
) -> None:
    growth = readable_growth(scaled_object(target=target))

    assert (growth.target.group, growth.target.kind) == (group, kind)


def test_an_idle_target_may_have_fewer_than_the_minimum() -> None:
    assert bounds(readable_growth(scaled_object({"minReplicaCount": 2, "idleReplicaCount": 0}))) == (0, 100)
    assert bounds(readable_growth(scaled_object({"minReplicaCount": 2, "idleReplicaCount": 5}))) == (2, 100)


def test_a_minimum_above_the_default_maximum_of_keda_is_unknown() -> None:
    assert unknowns(scaled_object({"minReplicaCount": 101})) == [
        ("/spec/minReplicaCount", "is more than the maximum of 100")
    ]


@pytest.mark.parametrize("flag", ["true", "True", "1", "t", "yes", ""])
def test_a_paused_target_keeps_its_number(flag: str) -> None:
    growth = readable_growth(scaled_object({"maxReplicaCount": 8}, annotations={autoscaling.PAUSED: flag}))

    assert growth.held
    assert bounds(growth) == (0, 8)


@pytest.mark.parametrize("flag", ["false", "False", "FALSE", "0", "f", "F"])
def test_a_flag_that_go_reads_as_false_pauses_nothing(flag: str) -> None:
    assert not readable_growth(scaled_object(annotations={autoscaling.PAUSED: flag})).held


@pytest.mark.parametrize("text", ["500", "+500", "0500"])
def test_a_pause_at_a_number_sets_it_whatever_the_bounds_are(text: str) -> None:
    annotations = {autoscaling.PAUSED: "false", autoscaling.PAUSED_REPLICAS: text}
    growth = readable_growth(scaled_object({"maxReplicaCount": 8}, annotations=annotations))

    assert bounds(growth) == (500, 500)
    assert growth.maximum_path == PAUSED_REPLICAS
    assert growth.reason == "it is paused there"
    assert not growth.held


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "expected a whole number"),
        (" 5", "expected a whole number"),
        ("5_0", "expected a whole number"),
        ("\u0665", "expected a whole number"),
        ("5.0", "expected a whole number"),
        ("9" * 5000, "expected a whole number"),
        ("-1", "expected a number of pods from 0 to 10000000"),
        ("2147483648", "expected a number of pods from 0 to 10000000"),
    ],
)
def test_a_pause_at_no_number_still_pauses(text: str, reason: str) -> None:
    value = scaled_object(annotations={autoscaling.PAUSED_REPLICAS: text})

    assert unknowns(value) == [(PAUSED_REPLICAS, reason)]
    assert growth_of(value).held


def test_a_scale_sets_the_number_of_an_object_of_its_name() -> None:
    growth = readable_growth(scale(16, name="bert"))

    assert growth.target == values.Reference(group="", kind="", name="bert", namespace="ml-research")
    assert bounds(growth) == (16, 16)
    assert (growth.maximum_path, growth.target_path) == ("/spec/replicas", "/metadata/name")


def test_a_scale_without_a_number_means_zero_replicas() -> None:
    assert bounds(readable_growth(scale())) == (0, 0)
    assert bounds(readable_growth({"apiVersion": "autoscaling/v1", "kind": "Scale"})) == (0, 0)


def test_a_role_scaler_sets_the_number_of_one_role() -> None:
    growth = readable_growth(role_scaler(4))

    assert growth.target == values.Reference(
        group="disaggregatedset.x-k8s.io", kind="DisaggregatedSet", name="llm", namespace="ml-research"
    )
    assert growth.role == "decode"
    assert bounds(growth) == (4, 4)
    assert bounds(readable_growth(role_scaler())) == (0, 0)


@pytest.mark.parametrize(("set_name", "role"), [("", "decode"), ("llm", "")])
def test_a_role_scaler_that_lacks_a_label_has_an_unknown_target(set_name: str, role: str) -> None:
    value = role_scaler(4, set_name=set_name, role=role)

    assert unknowns(value) == [
        (
            "/metadata/labels",
            "disaggregatedset.x-k8s.io/name and disaggregatedset.x-k8s.io/role must tell what it scales",
        )
    ]
    assert (growth_of(value).target.name, growth_of(value).role) == ("", "")


def test_an_unknown_version_is_not_judged() -> None:
    growth = growth_of(horizontal_pod_autoscaler(version="v3", minimum=2))

    assert growth.unknowns == (
        unknown(
            "/apiVersion",
            "HorizontalPodAutoscaler is known in v1 and v2 and v2beta1 and v2beta2, not in v3: not judged",
        ),
    )
    assert (growth.target.kind, bounds(growth)) == ("", (0, None))


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"apiVersion": "autoscaling/v2"},
        {"apiVersion": 2, "kind": ["HorizontalPodAutoscaler"]},
        builders.deployment(),
        builders.custom("autoscaling.k8s.io/v1", "VerticalPodAutoscaler", {}),
        builders.custom("example.com/v1", "HorizontalPodAutoscaler", {}),
        builders.custom("keda.sh/v1alpha1", "ScaledJob", {}),
    ],
    ids=lambda value: f"{value.get('apiVersion')} {value.get('kind')}",
)
def test_other_kinds_let_nothing_grow(value: paths.Object) -> None:
    assert grown_workloads.growth_of(value) is None


def test_an_object_without_a_namespace_gets_the_assumed_one() -> None:
    growth = growth_of(horizontal_pod_autoscaler(namespace=None), namespace="staging")

    assert (growth.source.namespace, growth.target.namespace) == ("staging", "staging")
    assert growth_of(horizontal_pod_autoscaler(), namespace="staging").target.namespace == "ml-research"


def test_an_object_without_a_name_is_shown_by_the_prefix_of_its_name() -> None:
    assert readable_growth(horizontal_pod_autoscaler(generate_name="hpa-")).source.name == "hpa-*"
