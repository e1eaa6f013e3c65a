"""Knative's kinds: a pod template between two scales, which annotations of the template say."""

import pytest

import builders
from unit.workloads.normalised import counts, pod_set, readable_workload, totals, unknowns
from usher import model, paths

PATH = "/spec/template/metadata/annotations/autoscaling.knative.dev~1"


def service(kind: str = "Service", **scales: str) -> paths.Object:
    annotations = {f"autoscaling.knative.dev/{name.replace('_', '-')}": scale for name, scale in scales.items()}
    template = builders.template(builders.container(gpus=1), annotations=annotations)
    return builders.custom("serving.knative.dev/v1", kind, {"template": template})


def revision(**fields: builders.JsonValue) -> paths.Object:
    spec = builders.pod_spec(builders.container(gpus=1), containerConcurrency=4, timeoutSeconds=30, **fields)
    return builders.custom(
        "serving.knative.dev/v1", "Revision", spec, annotations={"autoscaling.knative.dev/max-scale": "3"}
    )


@pytest.mark.parametrize("kind", ["Service", "Configuration"])
def test_its_template_makes_as_many_pods_as_the_scales_allow(kind: str) -> None:
    assert counts(service(kind, min_scale="2", max_scale="5")) == [("", "/spec/template", 2, 5)]


def test_the_scales_of_a_revision_are_annotations_of_its_own() -> None:
    assert counts(revision()) == [("", "/spec", 0, 3)]


def test_a_revision_is_a_pod_spec_with_other_fields_beside() -> None:
    found = pod_set(revision(nodeSelector={"pool": "h100"}))

    assert (found.spec_path, found.metadata_path) == ("/spec", "/metadata")
    assert found.node_selector == {"pool": "h100"}
    assert [container.path for container in found.containers] == ["/spec/containers/0"]


@pytest.mark.parametrize("scales", [{}, {"max_scale": "0"}, {"min_scale": "1"}])
def test_nothing_bounds_it_without_a_largest_scale(scales: dict[str, str]) -> None:
    found = pod_set(service(**scales)).count

    assert found.maximum is None
    assert found.reason == "no autoscaling.knative.dev/max-scale bounds what Knative makes"


def test_the_older_spelling_counts_where_the_newer_is_missing() -> None:
    assert counts(service(minScale="1", maxScale="4")) == [("", "/spec/template", 1, 4)]
    assert counts(service(max_scale="2", maxScale="4")) == [("", "/spec/template", 0, 2)]


def test_it_may_start_with_more_pods_than_it_keeps() -> None:
    assert counts(service(max_scale="2", initial_scale="6")) == [("", "/spec/template", 0, 6)]


def test_its_accelerators_grow_with_it() -> None:
    assert totals(service(min_scale="2", max_scale="5")) == {"nvidia.com/gpu": ("2", "5")}
    assert totals(service()) == {"nvidia.com/gpu": ("0", "unbounded")}


@pytest.mark.parametrize("text", ["many", "-1", "1.5", "\N{FULLWIDTH DIGIT ONE}", ""])
def test_a_scale_that_is_not_a_number_is_unknown_unless_it_is_empty(text: str) -> None:
    assert unknowns(service(max_scale=text)) == (
        [(PATH + "max-scale", "expected a whole number of pods")] if text else []
    )


def test_a_scale_beyond_any_cluster_is_unknown() -> None:
    assert [path for path, _ in unknowns(service(max_scale="9999999999"))] == [PATH + "max-scale"]


@pytest.mark.parametrize("value", [service(), service("Configuration"), revision()])
def test_what_knative_would_refuse_is_not_written_into_it(value: paths.Object) -> None:
    assert not pod_set(value).changeable


def test_kueue_sees_the_labels_of_what_they_make() -> None:
    labelled = builders.replaced(service(), "/spec/template/metadata/labels", {"kueue.x-k8s.io/queue-name": "research"})
    found = readable_workload(labelled)

    assert found.role is model.Role.SERVICE
    assert (found.queue_label_path, found.queue_labels) == (
        "/spec/template/metadata",
        {"kueue.x-k8s.io/queue-name": "research"},
    )
    assert readable_workload(revision()).queue_label_path == "/metadata"
