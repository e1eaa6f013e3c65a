"""The search for pod specs in objects of unknown kinds."""

import pytest

import builders
from unit.workloads.normalised import VOCABULARY
from usher import paths
from usher.kinds.reading import pod_templates
from usher.workloads.normalise import normalise

POD_SPEC = builders.pod_spec()


def test_every_pod_spec_is_found_in_the_order_of_the_document() -> None:
    value: paths.Object = {"tasks": [{"template": {"spec": POD_SPEC}} for _ in range(11)], "a/b": POD_SPEC}

    assert pod_templates.find_pod_specs(value) == [*(f"/tasks/{index}/template/spec" for index in range(11)), "/a~1b"]


def test_an_object_may_be_a_pod_spec_itself() -> None:
    assert pod_templates.find_pod_specs(dict(POD_SPEC)) == [""]


def test_a_pod_spec_inside_a_pod_spec_is_not_found_again() -> None:
    assert pod_templates.find_pod_specs({"spec": {**POD_SPEC, "extension": {"spec": POD_SPEC}}}) == ["/spec"]


def test_one_container_with_an_image_is_enough() -> None:
    assert pod_templates.find_pod_specs({"spec": {"containers": [None, {"name": "a"}, {"image": "x"}]}}) == ["/spec"]


def test_objects_as_deep_as_a_parser_lets_through_are_searched() -> None:
    value: paths.Json = POD_SPEC
    for _ in range(10_000):
        value = {"x": [value]}

    assert pod_templates.find_pod_specs(value) == ["/x/0" * 10_000]


@pytest.mark.costly
def test_an_object_too_large_to_be_searched_is_named_instead_of_passed() -> None:
    padding: paths.Json = [{} for _ in range(pod_templates.MAX_NODES)]
    value: paths.Object = {"apiVersion": "x/v1", "kind": "X", "first": padding, "second": {"spec": POD_SPEC}}

    assert pod_templates.find_pod_specs(value) is None
    found = normalise(value, vocabulary=VOCABULARY)
    assert found is not None
    assert [(unknown.path, unknown.reason) for unknown in found.unknowns] == [
        ("", "X (x/v1) is too large to be searched for pod specs: not judged")
    ]


def test_an_object_of_just_the_bound_is_searched_to_its_end() -> None:
    assert pod_templates.find_pod_specs([{} for _ in range(pod_templates.MAX_NODES - 1)]) == []


def test_an_unknown_kind_that_asks_for_accelerators_without_any_container_is_named() -> None:
    limits: paths.Json = {"limits": {"cpu": 1, "nvidia.com/gpu": 8}}
    value = builders.custom("example.com/v1", "Model", {"replicas": 2, "resources": limits})
    found = normalise(value, vocabulary=VOCABULARY)

    assert found is not None
    assert [(unknown.path, unknown.reason) for unknown in found.unknowns] == [
        ("/spec/resources", "unrecognised kind Model (example.com/v1) asks for accelerators, which is not judged")
    ]


def test_usher_ignores_an_unknown_kind_that_asks_for_storage() -> None:
    value = builders.custom("v1", "PersistentVolumeClaim", {"resources": {"requests": {"storage": "1Ti"}}})

    assert normalise(value, vocabulary=VOCABULARY) is None
