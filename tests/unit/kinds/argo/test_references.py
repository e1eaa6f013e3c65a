"""Argo's workflows: templates of other objects, objects that are templates, and schedules."""

import pytest

import builders
from unit.kinds.argo.argo_objects import API, Fields, library, pod, pods, spec, step, steps, workflow
from unit.workloads.normalised import counts, readable_workload, unknowns
from usher import model, paths
from usher.kinds.reading import values


@pytest.mark.parametrize("cluster", [False, True])
def test_templates_of_other_objects_are_looked_up(cluster: bool) -> None:
    kind = "ClusterWorkflowTemplate" if cluster else "WorkflowTemplate"
    ref: Fields = {"name": "library", "template": "many", "clusterScope": cluster}
    theirs = library(pod("one"), steps(step("one", withItems=[1, 2]), name="many"), kind=kind)
    value = workflow(steps({"name": "a", "templateRef": ref}, {"name": "b", "templateRef": ref}))

    (found,) = readable_workload(value, objects=values.Objects([theirs])).pod_sets

    assert (found.count.minimum, found.count.maximum) == (4, 4)
    assert found.path == "/spec/templates/0/steps/0/0/templateRef/name/spec/templates/0"
    assert not found.changeable


def test_a_template_that_is_not_known_is_unknown_where_it_is_named() -> None:
    missing: Fields = {"name": "a", "templateRef": {"name": "library", "template": "train"}}
    here = "/spec/templates/0/steps/0/0/templateRef"

    assert unknowns(workflow(steps(missing))) == [
        (
            f"{here}/name",
            "WorkflowTemplate ml-research/library is not known here: the pods of its templates are not judged",
        )
    ]
    assert unknowns(workflow(steps(missing)), objects=values.Objects([library()])) == [
        (
            f"{here}/template",
            "WorkflowTemplate ml-research/library has no template with this name; usher does not judge its pods",
        )
    ]


@pytest.mark.parametrize("ref", [{"name": "{{x}}", "template": "a"}, {"name": "library", "template": "{{x}}"}])
def test_a_reference_that_is_made_at_run_time_is_unknown(ref: Fields) -> None:
    found = unknowns(workflow(steps({"name": "a", "templateRef": ref})), objects=values.Objects([library()]))

    assert ["is known only when the workflow runs" in reason for _, reason in found] == [True]


def test_an_unreadable_value_of_a_referenced_object_is_reported_at_its_name() -> None:
    theirs = library({"name": "train", "container": {"resources": {"limits": {"nvidia.com/gpu": "many"}}}})
    ref: Fields = {"name": "library", "template": "train"}
    ((path, reason),) = unknowns(workflow(steps({"name": "a", "templateRef": ref})), objects=values.Objects([theirs]))

    assert path == "/spec/templates/0/steps/0/0/templateRef/name"
    assert reason.startswith("WorkflowTemplate ml-research/library, spec.templates[0].container")


def test_objects_may_refer_to_each_other_in_a_circle() -> None:
    def calling(other: str) -> Fields:
        ref: Fields = {"name": other, "template": "go"}
        return steps(step("train"), {"name": "next", "templateRef": ref}, name="go")

    one, two = library(pod(), calling("two"), name="one"), library(pod(), calling("one"), name="two")
    found = readable_workload(
        workflow(steps({"name": "a", "templateRef": {"name": "one", "template": "go"}})),
        objects=values.Objects([one, two]),
    )

    assert [each.count.maximum for each in found.pod_sets] == [None, None]


def test_a_workflow_may_be_made_from_a_whole_template() -> None:
    theirs = library(pod(gpus=8), steps(step(withItems=[1, 2])), entrypoint="main", parallelism=1)
    value = builders.custom(API, "Workflow", {"workflowTemplateRef": {"name": "library"}})

    assert counts(value, objects=values.Objects([theirs])) == [
        ("train", "/spec/workflowTemplateRef/name/spec/templates/0", 1, 1)
    ]
    assert [path for path, _ in unknowns(value)] == ["/spec/workflowTemplateRef/name"]


def test_what_the_workflow_says_itself_counts_over_the_template_it_is_made_from() -> None:
    theirs = library(pod(), pod("report"), entrypoint="train", parallelism=1)
    ref: Fields = {"name": "library"}
    value = workflow(pod("own"), entrypoint="report", workflowTemplateRef=ref, onExit="own")

    assert pods(value, theirs) == {"report": (1, 1), "own": (0, 1), "train": (0, 0)}


@pytest.mark.parametrize("kind", ["WorkflowTemplate", "ClusterWorkflowTemplate"])
def test_a_template_is_judged_as_one_run_of_its_entrypoint(kind: str) -> None:
    value = library(pod(), pod("report"), steps(step(withItems=[1, 2])), kind=kind, entrypoint="main")
    found = readable_workload(value)

    assert found.is_template
    assert pods(value) == {"train": (2, 2), "report": (0, 1)}
    assert found.pod_sets[1].count.reason == "only what refers to it by name runs it"


def test_a_template_without_an_entrypoint_serves_others() -> None:
    inline: Fields = {"name": "here", "inline": {"container": builders.container()}}

    assert pods(library(pod(), steps(step(), inline))) == {"train": (0, 1), "here": (0, 1)}


def cron(policy: str | None = None, **fields: Fields) -> paths.Object:
    whole = {"workflowSpec": spec(pod(gpus=1), steps(step(withItems=[1, 2])), **fields)}
    return builders.custom(API, "CronWorkflow", whole if policy is None else {**whole, "concurrencyPolicy": policy})


@pytest.mark.parametrize("policy", ["Forbid", "Replace"])
def test_a_schedule_that_keeps_its_runs_apart_makes_the_pods_of_one(policy: str) -> None:
    assert counts(cron(policy)) == [("train", "/spec/workflowSpec/templates/0", 0, 2)]


@pytest.mark.parametrize("policy", [None, "Allow", ""])
def test_nothing_bounds_a_schedule_whose_runs_may_overlap(policy: str | None) -> None:
    (found,) = readable_workload(cron(policy)).pod_sets

    assert (found.count.minimum, found.count.maximum) == (0, None)
    assert "concurrencyPolicy Allow lets runs overlap" in found.count.reason


def test_what_the_kinds_are_for_and_how_they_are_held_back() -> None:
    suspended = readable_workload(workflow(pod(), entrypoint="train", suspend=True))
    scheduled = readable_workload(builders.replaced(cron(), "/spec/suspend", True))

    assert (suspended.role, suspended.suspended, scheduled.suspended) == (model.Role.BATCH, True, True)


def test_the_labels_of_podmetadata_reach_the_pods_and_so_kueue() -> None:
    labels = {"kueue.x-k8s.io/queue-name": "research"}
    found = readable_workload(workflow(pod(), entrypoint="train", podMetadata={"labels": labels}))

    assert (found.queue_label_path, found.queue_labels) == ("/spec/podMetadata", labels)
    assert found.pod_sets[0].labels == labels
    assert readable_workload(cron(podMetadata={"labels": labels})).queue_labels == labels


def test_templates_that_nothing_can_name_are_judged_all_the_same() -> None:
    unnamed: Fields = {"container": builders.container()}

    assert counts(workflow(pod(), pod(), unnamed, entrypoint="train")) == [
        ("train", "/spec/templates/0", 1, 1),
        ("", "/spec/templates/1", 0, 0),
        ("", "/spec/templates/2", 0, 0),
    ]
