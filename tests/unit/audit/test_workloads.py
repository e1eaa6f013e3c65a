"""An audit keeps the team, queue and priority of a workload, and the manifests of waiting ones."""

from datetime import UTC, datetime

import pytest

import builders
from builders.existing import existing, running, waiting
from unit.audit.building import builder, built, only
from usher import paths
from usher.audit.gather.estate import OneNamespace
from usher.audit.gather.needed_inputs import Wanted
from usher.audit.gather.object_fields import Packed
from usher.cluster.facts.store import Recorded, State
from usher.config.models import Config
from usher.kinds.kind import keeping
from usher.kinds.reading.values import Absence

DAEMON_SETS = Wanted(group="apps", versions=("v1",), plural="daemonsets", kind="DaemonSet", keep=keeping("/spec"))

GPU_TEMPLATE = builders.template(builders.container(gpus=8))


def namespace(name: str = "ml-research", **labels: str) -> paths.Object:
    value = builders.custom("v1", "Namespace", {}, name=name, namespace=None)
    return builders.replaced(value, "/metadata/labels", dict(labels.items()))


@pytest.mark.parametrize(
    ("of_workload", "of_namespace", "team"),
    [
        ({"team": "speech"}, {"team": "platform"}, "speech"),
        ({}, {"team": "platform"}, "platform"),
        ({"team": "speech", "gpu-usher.io/team": "asr"}, {}, "asr"),
        ({"team": ""}, {"team": "platform"}, "platform"),
        ({}, {}, "ml-research"),
    ],
)
def test_a_team_is_named_by_the_workload_or_else_by_its_namespace(
    of_workload: dict[str, str], of_namespace: dict[str, str], team: str
) -> None:
    job = existing(builders.job(GPU_TEMPLATE, labels=of_workload))

    assert only(built([job, namespace(**of_namespace)])).team == team


def test_usher_yaml_names_the_labels_of_teams() -> None:
    config = Config.model_validate({"audit": {"teamLabels": ["cost-center"]}})
    job = existing(builders.job(GPU_TEMPLATE, labels={"team": "speech", "cost-center": "4711"}))

    assert only(built([job], config=config)).team == "4711"


def test_queue_priority_scheduler_and_suspension_are_read_from_the_workload() -> None:
    template = builders.template(builders.container(gpus=8), priorityClassName="high", schedulerName="custom")
    labels = {"kueue.x-k8s.io/queue-name": "research"}
    job = existing(builders.job(template, labels=labels, suspend=True, parallelism=2, completions=2))

    found = only(built([job]))

    assert (found.queue, found.priority, found.scheduler, found.suspended) == ("research", "high", "custom", True)
    assert (found.wanted.maximum, found.pods) == (2, ())


def test_a_queue_of_volcano_is_a_queue() -> None:
    task = builders.volcano_task("worker", GPU_TEMPLATE, replicas=1)

    assert only(built([existing(builders.volcano_job(task, queue="training"))])).queue == "training"


def test_a_queue_of_kai_is_a_queue_on_the_object_or_its_pods() -> None:
    label = {"kai.scheduler/queue": "vision"}
    template = builders.template(builders.container(gpus=1), labels=label)

    assert (
        only(built([existing(builders.job(builders.template(builders.container(gpus=1)), labels=label))])).queue
        == "vision"
    )
    assert only(built([existing(builders.job(template))])).queue == "vision"


def test_times_and_traces_of_admission_are_kept() -> None:
    job = existing(builders.job(GPU_TEMPLATE, annotations={"gpu-usher.io/mutations": "x", "example.com/y": "z"}))
    found = only(built([builders.replaced(job, "/metadata/creationTimestamp", "2026-11-20T05:00:00Z")]))

    assert found.created == datetime(2026, 11, 20, 5, tzinfo=UTC)
    assert found.annotations == {"gpu-usher.io/mutations"}


@pytest.mark.parametrize("written", ["soon", "2026-11-20T05:00:00", "0001-01-01T00:00:00+23:00", 7, None])
def test_a_time_that_cannot_be_read_is_not_known(written: paths.Json) -> None:
    job = existing(builders.job(GPU_TEMPLATE))

    assert only(built([builders.replaced(job, "/metadata/creationTimestamp", written)])).created is None


def test_manifests_are_kept_of_workloads_that_hold_nothing() -> None:
    held, stuck = existing(builders.job(GPU_TEMPLATE, name="held")), existing(builders.job(GPU_TEMPLATE, name="stuck"))
    objects = [held, stuck, running("held-0", 8, owner=held), waiting("stuck-0", 8, owner=stuck), waiting("lonely")]

    assert built(objects).manifests == {"job-stuck": stuck, "pod-lonely": waiting("lonely")}


def test_a_finished_workload_wants_nothing() -> None:
    status: paths.Json = {"conditions": [{"type": "Complete", "status": "True"}]}

    assert built([builders.replaced(existing(builders.job(GPU_TEMPLATE)), "/status", status)]).workloads == ()


def test_workloads_without_accelerators_are_left_out() -> None:
    assert built([existing(builders.deployment(name="web"))]).workloads == ()


def test_only_one_namespace_counts_where_it_is_asked_for() -> None:
    made = builder(scope=OneNamespace(name="ours"))
    for value in (running("a", namespace="ours"), running("b", namespace="theirs"), builders.node(gpus=8)):
        made.add(value)
    estate = made.built()

    assert [each.identity.name for each in estate.workloads] == ["a"]
    assert estate.nodes is not None


def test_a_section_gets_the_kinds_that_it_wants_as_far_as_they_are_known() -> None:
    made = builder(wanted=(DAEMON_SETS,))
    assert made.built().objects == {("apps", "DaemonSet"): Absence.NOT_KNOWN}

    made.record(Recorded(kind=DAEMON_SETS, state=State.MISSING))
    assert made.built().objects == {("apps", "DaemonSet"): Absence.MISSING}

    made.record(Recorded(kind=DAEMON_SETS, state=State.KNOWN))
    found = made.built().objects["apps", "DaemonSet"]
    assert isinstance(found, Packed)
    assert list(found) == []


def test_an_object_that_comes_with_its_kind_and_in_a_list_is_kept_once() -> None:
    made, listed = builder(wanted=(DAEMON_SETS,)), existing(builders.daemon_set(name="listed"))
    made.record(Recorded(kind=DAEMON_SETS, state=State.KNOWN, values=[DAEMON_SETS.keep(listed)]))
    for value in (listed, builders.daemon_set(name="manifest")):
        made.add(value)

    kept = made.built().objects["apps", "DaemonSet"]
    assert isinstance(kept, Packed)
    assert [paths.metadata(each)["name"] for each in kept] == ["listed", "manifest"]


def test_a_builder_holds_nothing_of_an_estate_that_it_has_built() -> None:
    made = builder()
    made.add(running("held"))

    assert [len(made.built().workloads), len(made.built().workloads)] == [1, 0]


def test_an_object_of_a_dump_is_kept_with_the_fields_that_are_wanted() -> None:
    made = builder(wanted=(DAEMON_SETS,))
    made.add(existing(builders.daemon_set(name="plugin", annotations={"secret": "x"})))

    (kept,) = made.built().objects["apps", "DaemonSet"]  # type: ignore[misc]  # a list here
    assert paths.metadata(kept)["name"] == "plugin"
    assert "annotations" not in paths.metadata(kept)


def test_no_section_may_want_secrets() -> None:
    with pytest.raises(ValueError, match="never reads Secrets"):
        Wanted(group="", versions=("v1",), plural="secrets", kind="Secret", keep=keeping())


@pytest.mark.parametrize("value", [{}, {"kind": "Pod"}, {"kind": "Pod", "metadata": 7, "spec": []}, {"metadata": []}])
def test_an_object_of_any_shape_is_taken(value: paths.Object) -> None:
    assert built([value, {**value, "apiVersion": "v1", "kind": "Node"}, {**value, "apiVersion": "v1"}]).workloads == ()
