"""The components of an InferenceService: their pods, and what may be changed in them (docs/domain/kinds.md#kserve)."""

import pytest

import builders
from unit.kinds.kserve.inference_services import MODE, STANDARD, Spec, custom, predictor_of, runtime, served, service
from unit.workloads.normalised import counts, readable_workload, unknowns, workload
from usher import model, paths
from usher.kinds.kserve.inference_services import FRAMEWORKS
from usher.kinds.reading.values import Objects


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_resources_of_a_framework_are_those_of_a_container(framework: str) -> None:
    predictor: Spec = {framework: {"storageUri": "gs://models", "resources": {"limits": {builders.GPU: 2}}}}
    (found,) = workload(service(predictor)).pod_sets

    assert [(each.name, each.path, each.trains) for each in found.containers] == [
        ("kserve-container", f"/spec/predictor/{framework}", True)
    ]
    assert {name: str(quantity) for name, quantity in found.accelerators.items()} == {builders.GPU: "2"}
    assert found.requests[0].path == f"/spec/predictor/{framework}/resources/limits/nvidia.com~1gpu"


def test_a_predictor_may_be_a_pod_spec_of_its_own() -> None:
    predictor = custom(schedulerName="volcano", tolerations=[builders.toleration("gpu")], nodeSelector={"pool": "h100"})
    found = predictor_of(service(predictor))

    assert (found.name, found.path, found.spec_path) == ("predictor", "/spec/predictor", "/spec/predictor")
    assert (found.scheduler_name, found.node_selector) == ("volcano", {"pool": "h100"})
    assert [each.path for each in found.containers] == ["/spec/predictor/containers/0"]


def test_transformers_and_explainers_have_pods_of_their_own() -> None:
    value = service(
        transformer={"containers": [builders.container()], "minReplicas": 2, "maxReplicas": 3},
        explainer={"art": {"type": "SquareAttack", "resources": {"limits": {builders.GPU: 1}}}, "maxReplicas": 1},
    )

    assert counts(value) == [
        ("predictor", "/spec/predictor", 1, None),
        ("transformer", "/spec/transformer", 2, 3),
        ("explainer", "/spec/explainer", 1, 1),
    ]
    (explainer,) = readable_workload(value).pod_sets[2].containers
    assert (explainer.path, explainer.asks_accelerators) == ("/spec/explainer/art", True)


def test_the_containers_beside_a_framework_are_in_the_same_pod() -> None:
    predictor = served(
        None,
        initContainers=[builders.container("fetch", gpus=1), builders.sidecar("proxy")],
        containers=[builders.container("transformer-container"), builders.container("metrics")],
    )
    (found,) = workload(service(predictor)).pod_sets

    assert [(each.name, each.type) for each in found.containers] == [
        ("fetch", model.ContainerType.INIT),
        ("proxy", model.ContainerType.SIDECAR),
        ("kserve-container", model.ContainerType.APP),
        ("transformer-container", model.ContainerType.APP),
        ("metrics", model.ContainerType.APP),
    ]


def test_a_second_framework_is_refused_by_kserve_and_not_judged() -> None:
    value = service({"sklearn": {}, "triton": {"resources": {"limits": {builders.GPU: 1}}}})

    assert "/spec/predictor/triton" in [path for path, _ in unknowns(value)]


# Where a mutation would reach the pods


@pytest.mark.parametrize(
    ("annotations", "predictor", "known", "changeable"),
    [
        (STANDARD, custom(), None, True),
        (None, custom(), None, False),
        ({MODE: "Knative"}, custom(), None, False),
        (STANDARD, served(), runtime(), True),
        (STANDARD, served(), None, False),
        (STANDARD, served(None), None, False),
        (STANDARD, served(), runtime(tolerations=[builders.toleration("gpu")]), False),
        (
            STANDARD,
            served(tolerations=[builders.toleration("mine")]),
            runtime(tolerations=[builders.toleration("gpu")]),
            True,
        ),
    ],
)
def test_only_what_takes_nothing_away_and_is_not_refused_may_be_changed(
    annotations: dict[str, str] | None, predictor: Spec, known: paths.Object | None, changeable: bool
) -> None:
    found = workload(service(predictor, annotations=annotations), objects=Objects([known] if known else []))

    assert [each.changeable for each in found.pod_sets] == [changeable]


# What they are for


def test_a_service_is_for_inference_and_kueue_sees_its_labels_on_what_it_makes() -> None:
    found = readable_workload(service())

    assert found.role is model.Role.INFERENCE
    assert found.queue_label_path == "/metadata"
    assert not found.gang.wanted


def test_an_unserved_version_is_named_and_not_judged() -> None:
    value = builders.replaced(service(), "/apiVersion", "serving.kserve.io/v1alpha2")

    assert unknowns(value) == [("/spec/predictor", "InferenceService is known in v1beta1, not in v1alpha2: not judged")]


def test_a_component_of_a_wrong_type_is_unknown_and_makes_no_pods() -> None:
    value = service(transformer=7)

    assert unknowns(value) == [("/spec/transformer", "expected an object, found a number")]
    assert [each.name for each in workload(value).pod_sets] == ["predictor"]


def test_an_object_without_a_spec_makes_no_pods() -> None:
    assert workload({"apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService"}).pod_sets == ()
