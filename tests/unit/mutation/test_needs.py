"""What must be in the cluster before something is given."""

from typing import Any

import pytest

from builders import custom
from unit.mutation.manifests import CONTAINER, container, intent, merged, pod, refusals
from usher import model, paths
from usher.mutation import merge, needs, of_containers, reasons
from usher.workloads.lookup import NOTHING, Absence, Lookup, Objects, Reference

QUEUE = model.Need(
    group="scheduling.volcano.sh", kind="Queue", name="research", labels={"example.com/state": ("", "open")}
)
FILE = model.Need(group="", kind="ConfigMap", name="topology", namespace="ml-research")


class Cluster:
    """Knows everything there is."""

    def __init__(self, *values: paths.Object) -> None:
        self._objects = Objects(values)

    def find(self, reference: Reference) -> paths.Object | Absence:
        found = self._objects.find(reference)
        return Absence.MISSING if found is Absence.NOT_KNOWN else found


def queue(labels: Any = None) -> paths.Object:
    return custom("scheduling.volcano.sh/v1beta1", "Queue", {}, name="research", namespace=None, labels=labels)


def test_what_is_there_will_do() -> None:
    assert needs.missing([QUEUE, FILE], Cluster(queue(), custom("v1", "ConfigMap", {}, name="topology"))) == ""


def test_the_first_that_is_missing_is_named() -> None:
    assert needs.missing([QUEUE, FILE], Cluster(queue())) == "ConfigMap ml-research/topology is not there"
    assert needs.missing([QUEUE, FILE], Cluster()) == "Queue research is not there"


@pytest.mark.parametrize("objects", [NOTHING, Objects([])])
def test_what_nobody_knows_is_not_missing(objects: Lookup) -> None:
    assert needs.missing([QUEUE, FILE], objects) == ""


def test_a_file_of_another_namespace_is_another() -> None:
    assert needs.missing([FILE], Cluster(custom("v1", "ConfigMap", {}, name="topology", namespace="other")))


@pytest.mark.parametrize("labels", [None, {}, {"example.com/state": "open"}, {"example.com/state": ""}])
def test_a_label_may_have_one_of_some_values(labels: Any) -> None:
    assert needs.missing([QUEUE], Cluster(queue(labels))) == ""


def test_a_label_of_another_value_will_not_do() -> None:
    assert needs.missing([QUEUE], Cluster(queue({"example.com/state": "closed"}))) == (
        "Queue research has the label example.com/state=closed"
    )


@pytest.mark.parametrize("metadata", [None, "text", {"labels": ["text"]}, {"labels": {"example.com/state": 7}}])
def test_labels_of_a_wrong_type_are_none(metadata: Any) -> None:
    class Odd:
        def find(self, reference: Reference) -> paths.Object | Absence:  # noqa: ARG002 - knows one object
            return {"metadata": metadata}

    assert needs.missing([QUEUE], Odd()) == ""


DEBUG = {"name": "NCCL_DEBUG", "value": "WARN"}


def given(value: paths.Object) -> merge.Merged:
    return merged(value, intent("environment", DEBUG, at=CONTAINER, needs=(QUEUE,)), objects=Cluster())


def test_what_needs_something_that_is_missing_is_not_given_and_the_user_is_told() -> None:
    result = given(pod())

    assert refusals(result) == ["Queue research is not there"]
    assert result.skipped[0].told


@pytest.mark.parametrize(
    ("fields", "reason", "told"),
    [
        ({"env": [DEBUG]}, reasons.ALREADY_THERE, False),
        ({"env": [{**DEBUG, "value": "INFO"}]}, reasons.USER_DECIDES, False),
        ({"env": "text"}, f"something else is in its place: {CONTAINER}/env", False),
        ({"envFrom": [{"secretRef": {"name": "a"}}]}, of_containers.OPAQUE, True),
    ],
)
def test_nobody_hears_of_it_where_nothing_would_be_given_anyway(
    fields: dict[str, Any], reason: str, *, told: bool
) -> None:
    result = given(pod(containers=[container(**fields)]))

    assert refusals(result) == [reason]
    assert result.skipped[0].told is told
