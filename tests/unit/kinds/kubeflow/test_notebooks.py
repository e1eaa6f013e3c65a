"""Notebook of Kubeflow (kubeflow/kubeflow, components/notebook-controller)."""

import pytest

import builders
from unit.workloads.normalised import pod_set, readable_workload, totals
from usher import model, paths


def notebook(*containers: paths.Object, version: str = "v1", annotations: dict[str, str] | None = None) -> paths.Object:
    return builders.custom(
        f"kubeflow.org/{version}",
        "Notebook",
        {"template": {"spec": builders.pod_spec(*containers)}},
        labels={"team": "a"},
        annotations=annotations or {},
    )


@pytest.mark.parametrize("version", ["v1", "v1beta1", "v1alpha1"])
def test_a_notebook_is_one_pod_for_a_person(version: str) -> None:
    value = notebook(builders.container("jupyter", gpus=2), version=version)
    found = pod_set(value)

    assert (found.path, found.spec_path, found.count) == (
        "/spec/template",
        "/spec/template/spec",
        model.Count(minimum=1, maximum=1),
    )
    assert totals(value) == {builders.GPU: ("2", "2")}
    assert readable_workload(value).role is model.Role.INTERACTIVE


def test_its_pod_gets_the_labels_and_annotations_of_the_notebook() -> None:
    value = notebook(annotations={"gpu-fraction": "0.5"})
    found = pod_set(value)

    assert (found.labels, found.metadata_path) == ({"team": "a"}, "/metadata")
    assert totals(value)["gpu-fraction"] == ("500m", "500m")
    assert readable_workload(value).queue_label_path == "/metadata"


@pytest.mark.parametrize("since", ["2026-09-29T10:00:00Z", ""])
def test_a_stopped_notebook_has_no_pod_but_may_be_started_again(since: str) -> None:
    found = pod_set(notebook(annotations={"kubeflow-resource-stopped": since}))

    assert found.count == model.Count(minimum=0, maximum=1, reason="it is stopped, and may be started again")


def test_the_controller_sets_the_prefix_of_its_address() -> None:
    assert pod_set(notebook()).operator_environment == {"NB_PREFIX"}
