"""Labels of the object, and what makes a gang of its pods."""

from typing import Any

import pytest
from msgspec.structs import replace

from builders import cron_job, daemon_set
from unit.policy.mutation.manifests import IN_THE_WAY, at, intent, merged, pod, pytorch_job, refusals, workload
from usher import model, paths
from usher.policy.mutation import editing, merge, strategies
from usher.policy.mutation.editing import Edit

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
QUEUE: paths.Object = {"key": QUEUE_LABEL, "value": "research"}
POLICY = "/spec/runPolicy/schedulingPolicy"


@pytest.fixture(params=["kueueLabel", "label"])
def field(request: pytest.FixtureRequest) -> str:
    """The field of an object, or of its pods; a Pod has both in the same place."""
    return str(request.param)


def labelled(field: str, metadata: paths.Object) -> merge.Merged:
    return merged(pod(metadata=metadata), intent(field, QUEUE))


@pytest.mark.parametrize("metadata", [{"name": "a"}, {"name": "a", "labels": None}, {"name": "a", "labels": {}}])
def test_labels_are_created_if_the_object_has_no_labels(field: str, metadata: paths.Object) -> None:
    assert at(labelled(field, metadata), "/metadata/labels") == {QUEUE_LABEL: "research"}


def test_other_labels_stay(field: str) -> None:
    theirs: paths.Object = {"a/b": "1", "c~d": "2"}

    assert at(labelled(field, {"labels": theirs}), "/metadata/labels") == {**theirs, QUEUE_LABEL: "research"}


def test_a_label_that_the_user_set_stays(field: str) -> None:
    assert refusals(labelled(field, {"labels": {QUEUE_LABEL: "urgent"}})) == [editing.USER_DECIDES]
    assert refusals(labelled(field, {"labels": {QUEUE_LABEL: "research"}})) == [editing.ALREADY_THERE]


def test_an_empty_queue_name_counts_as_missing(field: str) -> None:
    assert at(labelled(field, {"labels": {QUEUE_LABEL: ""}}), "/metadata/labels") == {QUEUE_LABEL: "research"}


@pytest.mark.parametrize("labels", [["a"], "text", 7])
def test_labels_of_a_wrong_type_are_not_changed(field: str, labels: paths.Json) -> None:
    in_the_way = f"{IN_THE_WAY}/metadata/labels/kueue.x-k8s.io~1queue-name"
    expected = editing.NO_PLACE if field == "kueueLabel" else in_the_way

    assert refusals(labelled(field, {"labels": labels})) == [expected]


def test_a_cron_job_carries_the_label_of_kueue_for_its_jobs() -> None:
    result = merged(cron_job(labels={QUEUE_LABEL: "unread"}), intent("kueueLabel", QUEUE))

    assert at(result, "/spec/jobTemplate/metadata") == {"labels": {QUEUE_LABEL: "research"}}
    assert at(result, "/metadata/labels") == {QUEUE_LABEL: "unread"}


def test_a_kind_without_queue_or_gang_settings_has_no_place_for_them() -> None:
    queue = intent("gangSetting", {"setting": "queue", "value": "research"})

    assert refusals(merged(daemon_set(), intent("kueueLabel", QUEUE))) == [editing.NO_PLACE]
    assert refusals(merged(daemon_set(), queue)) == [editing.NO_PLACE]
    assert refusals(merged(pytorch_job(), intent("gangSetting", {"setting": "colour", "value": 1}))) == [
        editing.NO_PLACE
    ]


def gang(run_policy: Any) -> merge.Merged:
    return merged(
        pytorch_job(run_policy=run_policy),
        intent("gangSetting", {"setting": "queue", "value": "research"}),
        intent("gangSetting", {"setting": "minimum", "value": 4}),
    )


@pytest.mark.parametrize("run_policy", [None, {}, {"schedulingPolicy": None}, {"schedulingPolicy": {}}])
def test_settings_of_a_gang_are_created_if_the_job_has_no_settings(run_policy: Any) -> None:
    assert at(gang(run_policy), POLICY) == {"queue": "research", "minAvailable": 4}


def test_of_the_settings_of_a_gang_only_what_the_user_left_open_is_set() -> None:
    result = gang({"schedulingPolicy": {"minAvailable": 2, "priorityClass": "high"}})

    assert at(result, POLICY) == {"queue": "research", "minAvailable": 2, "priorityClass": "high"}
    assert [skipped.reason for skipped in result.skipped] == [editing.USER_DECIDES]


@pytest.mark.parametrize("number", [0, 3])
def test_settings_that_the_user_filled_in_stay(number: int) -> None:
    result = gang({"schedulingPolicy": {"queue": "urgent", "minAvailable": number}})

    assert refusals(result) == [editing.USER_DECIDES] * 2


@pytest.mark.parametrize("run_policy", ["text", [1], {"schedulingPolicy": []}, {"schedulingPolicy": "text"}])
def test_settings_inside_a_value_of_a_wrong_type_are_not_changed(run_policy: Any) -> None:
    assert all(reason.startswith(IN_THE_WAY) for reason in refusals(gang(run_policy)))


def test_a_setting_may_be_an_annotation_of_the_object() -> None:
    places = model.GangPlaces(queue="/metadata/annotations/scheduling.volcano.sh~1queue-name")
    value = pod()
    edit = Edit(value)

    reason = strategies.add_gang_setting(
        edit, replace(workload(value), gang_places=places), {"setting": "queue", "value": "research"}
    )

    assert reason == ""
    assert edit.value["metadata"] == {
        "name": "notebook",
        "annotations": {"scheduling.volcano.sh/queue-name": "research"},
    }
