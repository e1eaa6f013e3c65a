"""Which workloads of a file are shown, and how far the other objects of the file let them grow."""

from collections.abc import Sequence

import orjson
import pytest

import builders
from unit.workloads.growing_objects import horizontal_pod_autoscaler, role_scaler, scaled_object
from unit.workloads.normalised import VOCABULARY
from usher import model, paths
from usher.authorities.knowledge import Knowledge
from usher.check.batches import Batch, Item
from usher.check.formats import workload_reading
from usher.check.formats.workload_reading import ShownWorkload
from usher.cluster.facts.store import Store
from usher.config import models
from usher.policy.input.document import Documents

CONFIG = models.Config()


def shown(*files: Sequence[paths.Object], namespace: str = "default") -> list[ShownWorkload]:
    """The output about files that hold these objects."""
    batches = [
        Batch(source=f"{number}.yaml", items=tuple(Item(value=value) for value in values))
        for number, values in enumerate(files)
    ]
    return list(workload_reading.shown_workloads(batches, config=CONFIG, vocabulary=VOCABULARY, namespace=namespace))


def pods(*values: paths.Object) -> tuple[int, int | None]:
    """The pods of the only workload in a file."""
    (found,) = shown(values)
    return found.workload.pods.minimum, found.workload.pods.maximum


WEB = builders.deployment(builders.template(builders.container(gpus=2)), name="vllm", strategy="Recreate")


def test_what_makes_no_pods_is_left_out_and_the_rest_keeps_its_order() -> None:
    found = shown([builders.pod(name="a"), builders.custom("v1", "Secret", {}), builders.pod(name="b")])

    assert [each.workload.name for each in found] == ["a", "b"]


def test_an_object_without_a_namespace_stands_in_the_one_assumed() -> None:
    (found,) = shown([builders.pod(namespace=None)], namespace="staging")

    assert found.workload.namespace == "staging"


def test_an_autoscaler_of_the_same_file_lets_its_target_grow() -> None:
    (found,) = shown([horizontal_pod_autoscaler(maximum=10, name="web"), WEB])

    assert found.workload.pods == model.Count(
        minimum=1, maximum=10, reason="HorizontalPodAutoscaler web allows 10 replicas"
    )
    (total,) = found.workload.totals
    assert (str(total.minimum), str(total.maximum)) == ("2", "20")
    assert [(each.growth.source.name, each.effective) for each in found.scalers] == [("web", True)]


def test_an_autoscaler_of_another_file_is_not_looked_at() -> None:
    (found,) = shown([horizontal_pod_autoscaler()], [WEB])

    assert (found.workload.pods.maximum, found.scalers) == (1, ())


def test_an_autoscaler_of_another_namespace_is_not_looked_at() -> None:
    assert pods(horizontal_pod_autoscaler(namespace="other"), WEB) == (1, 1)


def test_a_paused_autoscaler_is_named_and_changes_nothing() -> None:
    (found,) = shown([scaled_object(annotations={"autoscaling.keda.sh/paused": "true"}), WEB])

    assert (found.workload.pods.minimum, found.workload.pods.maximum) == (1, 1)
    assert [each.effective for each in found.scalers] == [False]


def test_an_autoscaler_of_a_kind_without_a_scale_is_named_and_changes_nothing() -> None:
    cluster = builders.ray_cluster(name="vllm")

    (found,) = shown([horizontal_pod_autoscaler(kind="RayCluster", api_version="ray.io/v1"), cluster])

    assert found.workload.pods.maximum == 1
    assert [each.effective for each in found.scalers] == [False]


def test_an_autoscaler_of_a_role_reaches_the_set_behind_its_scaler() -> None:
    role: paths.Object = {"name": "decode", "scaling": {"mode": "External"}, "spec": {}}
    disaggregated = builders.custom("disaggregatedset.x-k8s.io/v1", "DisaggregatedSet", {"roles": [role]}, name="llm")
    scaler = horizontal_pod_autoscaler(
        kind="DisaggregatedSetRoleScaler", api_version="disaggregatedset.x-k8s.io/v1", target="llm-decode", name="hpa"
    )

    found = shown([disaggregated, role_scaler(2), scaler])

    for each in found:
        assert [known.growth.source.name for known in each.scalers] == ["llm-decode", "hpa"]


def dynamo_graph(version: str, replicas: int = 1) -> paths.Object:
    """A graph whose component Decode has a scaling adapter."""
    main: paths.Object = {"name": "main", "resources": {"limits": {"nvidia.com/gpu": 2}}}
    if version == "v1beta1":
        component: paths.Object = {"name": "Decode", "scalingAdapter": {}, "replicas": replicas,
                     "podTemplate": {"spec": {"containers": [main]}}}  # fmt: skip
        spec: paths.Object = {"components": [component]}
    else:
        service: paths.Object = {"scalingAdapter": {"enabled": True}, "replicas": replicas,
                                 "resources": {"limits": {"gpu": "2"}}}  # fmt: skip
        spec = {"services": {"Decode": service}}
    return builders.custom(f"nvidia.com/{version}", "DynamoGraphDeployment", spec, name="qwen-agg")


@pytest.mark.parametrize("version", ["v1beta1", "v1alpha1"])
def test_an_autoscaler_of_an_adapter_bounds_the_component_behind_it(version: str) -> None:
    scaler = horizontal_pod_autoscaler(
        kind="DynamoGraphDeploymentScalingAdapter",
        api_version=f"nvidia.com/{version}",
        target="qwen-agg-decode",
        minimum=2,
        maximum=4,
        name="hpa",
    )

    (graph,) = shown([dynamo_graph(version), scaler])
    (alone,) = shown([dynamo_graph(version)])

    assert (graph.workload.pods.minimum, graph.workload.pods.maximum) == (2, 4)
    assert alone.workload.pods.maximum is None


def test_a_scaling_adapter_in_the_files_sets_the_replicas_of_its_component() -> None:
    reference: paths.Object = {"name": "qwen-agg", "componentName": "Decode"}
    adapter = builders.custom(
        "nvidia.com/v1beta1", "DynamoGraphDeploymentScalingAdapter", {"dgdRef": reference, "replicas": 3}, name="any"
    )

    (graph, *_) = shown([dynamo_graph("v1beta1"), adapter])

    assert graph.workload.pods.maximum == 3


def test_what_lets_itself_grow_is_met_once() -> None:
    labels = {"disaggregatedset.x-k8s.io/name": "vllm", "disaggregatedset.x-k8s.io/role": "decode"}
    circle = builders.custom(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        {
            "scaleTargetRef": {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "name": "circle"},
            "maxReplicas": 3,
        },
        name="circle",
        labels=labels,
    )

    assert pods(circle, WEB) == (1, 1)


def test_references_are_resolved_among_the_objects_of_the_file() -> None:
    gpus: paths.Object = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 2}}
    devices: paths.Object = {"requests": [gpus]}
    claim = builders.custom("resource.k8s.io/v1", "ResourceClaimTemplate", {"spec": {"devices": devices}}, name="gpus")
    pod = builders.pod(resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "gpus"}])

    (together,), (apart,) = shown([claim, pod]), shown([pod])

    assert [str(total.minimum) for total in together.workload.totals] == ["2"]
    assert together.workload.unknowns == ()
    assert len(apart.workload.unknowns) == 1


def test_the_policies_see_the_object_without_what_lets_it_grow() -> None:
    (grown,), (alone,) = shown([horizontal_pod_autoscaler(), WEB]), shown([WEB])

    assert orjson.loads(grown.input)["workload"]["pods"] == {"minimum": 1, "maximum": 1}
    known = Knowledge(facts=Store(), config=CONFIG, vocabulary=VOCABULARY)
    assert grown.input == alone.input == Documents(known).build(alone.workload)


def test_odd_metadata_let_nothing_grow() -> None:
    odd = builders.replaced(WEB, "/metadata", ["vllm"])

    (found,) = shown([horizontal_pod_autoscaler(), odd])

    assert found.scalers == ()


def test_an_object_of_a_cluster_scoped_kind_stands_in_no_namespace() -> None:
    (found,) = shown([builders.custom("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime", {}, namespace=None)])

    assert found.workload.namespace == ""
