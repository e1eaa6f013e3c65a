"""Argo's workflows: how many pods one run makes, from its entrypoint through steps, tasks and hooks."""

import pytest

import builders
from unit.kinds.argo.argo_objects import Fields, dag, pod, pods, step, steps, workflow
from unit.workloads.normalised import counts, readable_workload, totals, unknowns, workload
from usher import model


def of_step(**fields: Fields) -> tuple[int, int | None, str]:
    """The count of the pods of one step."""
    (found,) = readable_workload(workflow(pod(), steps(step(**fields)))).pod_sets
    return found.count.minimum, found.count.maximum, found.count.reason


def test_the_entrypoint_may_be_a_pod() -> None:
    assert counts(workflow(pod(), entrypoint="train")) == [("train", "/spec/templates/0", 1, 1)]


@pytest.mark.parametrize("kind", ["steps", "dag"])
def test_every_step_and_every_task_makes_a_pod_of_its_template(kind: str) -> None:
    run = [step(), step("report"), step()]
    main = steps(*run) if kind == "steps" else dag(*run)

    assert pods(workflow(main, pod(), pod("report"))) == {"train": (2, 2), "report": (1, 1)}


def test_counts_multiply_along_the_way() -> None:
    inner = steps(step(withItems=[1, 2, 3]), step("report"), name="inner")

    assert pods(workflow(pod(), pod("report"), inner, dag(step("inner", withItems=["a", "b"])))) == {
        "train": (6, 6),
        "report": (2, 2),
    }
    assert totals(workflow(pod(gpus=8), steps(step(withItems=[1, 2])))) == {"nvidia.com/gpu": ("16", "16")}


def test_a_step_runs_once_for_each_of_its_items() -> None:
    assert of_step(withItems=["a", 2, {"b": 3}]) == (3, 3, "")


def test_an_empty_list_of_items_counts_as_no_list() -> None:
    assert of_step(withItems=[]) == (1, 1, "")


@pytest.mark.parametrize(
    ("sequence", "pods_made"),
    [
        ({"count": 3}, 3),
        ({"count": "3"}, 3),
        ({"count": 0}, 0),
        ({"start": 19, "end": "21"}, 3),
        ({"start": 5, "end": 1}, 5),
        ({"end": 4}, 5),
        ({"start": 7, "count": 2}, 2),
        ({"start": 0, "end": 0}, 1),
    ],
)
def test_a_literal_sequence_can_be_counted(sequence: Fields, pods_made: int) -> None:
    assert of_step(withSequence=sequence)[:2] == (pods_made, pods_made)


@pytest.mark.parametrize("field", ["count", "start", "end"])
def test_nothing_bounds_a_sequence_of_parameters(field: str) -> None:
    minimum, maximum, reason = of_step(withSequence={field: "{{workflow.parameters.nodes}}"})

    assert (minimum, maximum) == (0, None)
    assert reason == "withSequence takes numbers that are known only when the workflow runs"


@pytest.mark.parametrize("text", ["many", "1.5", "", "9" * 30])
def test_a_sequence_of_something_else_is_unknown(text: str) -> None:
    value = workflow(pod(), steps(step(withSequence={"count": text})))

    assert [path for path, _ in unknowns(value)] == ["/spec/templates/1/steps/0/0/withSequence/count"]
    assert workload(value).pods.maximum is None


def test_a_negative_number_of_pods_is_unknown() -> None:
    found = unknowns(workflow(pod(), steps(step(withSequence={"count": -3}))))

    assert [path for path, _ in found] == ["/spec/templates/1/steps/0/0/withSequence/count"]


def test_nothing_bounds_a_list_that_comes_at_run_time() -> None:
    assert of_step(withParam="{{steps.list.outputs.result}}") == (
        0,
        None,
        "withParam takes a list that is known only when the workflow runs",
    )


def test_a_literal_list_can_be_counted() -> None:
    assert of_step(withParam='["a", "b"]') == (2, 2, "")
    assert of_step(withParam='{"no": "list"}')[:2] == (0, None)


def with_arguments(*parameters: Fields, **fan_out: Fields) -> tuple[int, int | None]:
    """The count of the pods of one step, in a workflow with these parameters."""
    value = workflow(pod(), steps(step(**fan_out)), arguments={"parameters": list(parameters)})
    (found,) = readable_workload(value).pod_sets
    return found.count.minimum, found.count.maximum


def test_a_parameter_that_the_workflow_itself_gives_can_be_counted() -> None:
    seeds: Fields = {"name": "seeds", "value": "[1, 2, 3]"}

    assert with_arguments(seeds, withParam="{{workflow.parameters.seeds}}") == (3, 3)
    assert with_arguments(seeds, withParam="{{ workflow.parameters.seeds }}") == (3, 3)
    assert with_arguments({"name": "n", "value": "4"}, withSequence={"count": "{{workflow.parameters.n}}"}) == (4, 4)
    assert with_arguments({"name": "n", "value": 4}, withSequence={"count": "{{workflow.parameters.n}}"}) == (4, 4)


@pytest.mark.parametrize(
    ("parameter", "param"),
    [
        ({"name": "seeds", "value": "[1, 2]"}, "{{workflow.parameters.other}}"),
        ({"name": "seeds", "value": "[1, 2]"}, "{{inputs.parameters.seeds}}"),
        ({"name": "seeds", "value": "one"}, "{{workflow.parameters.seeds}}"),
        ({"name": "seeds", "valueFrom": {"configMapKeyRef": {"name": "a"}}}, "{{workflow.parameters.seeds}}"),
        ({"name": "seeds"}, "{{workflow.parameters.seeds}}"),
        ({"value": "[1, 2]"}, "{{workflow.parameters.seeds}}"),
        (None, "{{workflow.parameters.seeds}}"),
    ],
)
def test_a_parameter_that_comes_from_elsewhere_has_no_bound(parameter: Fields, param: str) -> None:
    assert with_arguments(parameter, withParam=param) == (0, None)


def test_a_step_with_a_condition_need_not_run() -> None:
    assert of_step(when="{{inputs.parameters.train}} == yes", withItems=[1, 2]) == (
        0,
        2,
        "`when` decides whether a step runs",
    )


def test_retries_take_the_place_of_what_failed() -> None:
    assert pods(workflow(pod(retryStrategy={"limit": 5}), steps(step()))) == {"train": (1, 1)}


def test_a_remembered_result_makes_no_pod() -> None:
    memoized = pod(memoize={"key": "a", "cache": {"configMap": {"name": "cache"}}})
    (found,) = readable_workload(workflow(memoized, steps(step()))).pod_sets

    assert found.count == model.Count(minimum=0, maximum=1, reason="`memoize` may take the result of an earlier run")


def test_recursion_has_no_bound() -> None:
    flip = steps(step(), step("main", when="{{steps.train.outputs.result}} == tails"))
    (found,) = readable_workload(workflow(pod(), flip)).pod_sets

    assert (found.count.minimum, found.count.maximum) == (1, None)
    assert found.count.reason == "a template runs itself again, and nothing bounds how often"


def test_recursion_over_several_templates_has_no_bound_either() -> None:
    found = pods(workflow(pod(), steps(step("b")), steps(step(), step("c"), name="b"), steps(step("main"), name="c")))

    assert found["train"][1] is None


def test_a_cycle_that_the_workflow_does_not_run_makes_no_pods() -> None:
    idle = steps(step("idle"), step(), name="idle")

    assert pods(workflow(pod(), pod("report"), steps(step("report")), idle)) == {"report": (1, 1), "train": (0, 0)}


def test_a_million_paths_are_counted_without_being_walked() -> None:
    levels = [dag(step(f"level-{n + 1}"), step(f"level-{n + 1}"), name=f"level-{n}") for n in range(20)]
    templates = [*levels, pod("level-20", gpus=1)]

    assert pods(workflow(*templates, entrypoint="level-0")) == {"level-20": (2**20, 2**20)}


def test_more_pods_than_any_cluster_holds_are_as_good_as_unbounded() -> None:
    levels = [dag(step(f"level-{n + 1}"), step(f"level-{n + 1}"), name=f"level-{n}") for n in range(400)]
    (found,) = readable_workload(workflow(*levels, pod("level-400"), entrypoint="level-0")).pod_sets

    assert (found.count.minimum, found.count.maximum) == (10_000_000, None)
    assert found.count.reason == "more pods than any cluster holds"


@pytest.mark.usefixtures("any_size")
def test_a_chain_may_be_longer_than_the_stack_of_python() -> None:
    chain = [steps(step(f"link-{n + 1}"), name=f"link-{n}") for n in range(5000)]

    assert pods(workflow(*chain, pod("link-5000"), entrypoint="link-0")) == {"link-5000": (1, 1)}


def test_what_the_workflow_does_not_lead_to_makes_no_pods() -> None:
    found = readable_workload(workflow(pod(), steps(step()), pod("spare"))).pod_sets

    assert found[1].name == "spare"
    assert found[1].count == model.Count(minimum=0, maximum=0, reason="nothing that the workflow runs leads to it")
    assert pods(workflow(pod(), entrypoint=None)) == {"train": (0, 0)}


def test_the_exit_handler_runs_whatever_happens() -> None:
    assert pods(workflow(pod(), pod("report"), steps(step()), onExit="report")) == {"train": (1, 1), "report": (1, 1)}
    hooks: Fields = {"exit": {"template": "report", "expression": "ignored"}}
    assert pods(workflow(pod(), pod("report"), steps(step()), hooks=hooks)) == {"train": (1, 1), "report": (1, 1)}


def test_of_two_exit_handlers_the_older_field_counts() -> None:
    value = workflow(pod(), pod("report"), entrypoint="train", onExit="report", hooks={"exit": {"template": "train"}})

    assert pods(value) == {"train": (1, 1), "report": (1, 1)}


def test_other_hooks_run_when_their_expression_holds() -> None:
    hooks: Fields = {"running": {"template": "report", "expression": "workflow.status == 'Running'"}, "never": None}

    assert pods(workflow(pod(), pod("report"), entrypoint="train", hooks=hooks)) == {"train": (1, 1), "report": (0, 1)}


@pytest.mark.parametrize(
    ("fields", "reports"),
    [
        ({"onExit": "report"}, (2, 2)),
        ({"hooks": {"exit": {"template": "report"}}}, (2, 2)),
        ({"hooks": {"exit": {"template": "report", "expression": "false"}}}, (0, 2)),
        ({"hooks": {"failed": {"template": "report", "expression": "false"}}}, (0, 2)),
        ({"onExit": "report", "hooks": {"exit": {"template": "train"}}}, (2, 2)),
    ],
)
def test_steps_have_hooks_of_their_own(fields: dict[str, Fields], reports: tuple[int, int]) -> None:
    found = pods(workflow(pod(), pod("report"), steps(step(withItems=[1, 2], **fields))))

    assert found == {"train": (2, 2), "report": reports}


def test_a_task_that_others_must_fail_for_need_not_run_and_neither_need_what_waits_for_it() -> None:
    tasks = (
        {"name": "a", "template": "train"},
        {"name": "b", "template": "repair", "depends": "a.Failed"},
        {"name": "c", "template": "report", "dependencies": ["b"]},
        {"name": "d", "template": "store", "depends": "a && (a.Succeeded)"},
    )
    found = pods(workflow(pod(), pod("repair"), pod("report"), pod("store"), dag(*tasks)))

    assert found == {"train": (1, 1), "repair": (0, 1), "report": (0, 1), "store": (1, 1)}


def test_a_dag_with_targets_runs_these_and_what_they_wait_for() -> None:
    tasks = (
        {"name": "a", "template": "train"},
        {"name": "b", "template": "report", "depends": "a"},
        {"name": "c", "template": "store", "dependencies": ["b"]},
    )
    templates = (pod(), pod("report"), pod("store"))

    assert pods(workflow(*templates, dag(*tasks, target="b"))) == {"train": (1, 1), "report": (1, 1), "store": (0, 0)}
    assert pods(workflow(*templates, dag(*tasks, target="{{workflow.parameters.target}}")))["train"] == (0, 1)


def test_parallelism_of_the_workflow_bounds_its_pods() -> None:
    value = workflow(pod(gpus=8), pod("report"), steps(step(withItems=[1, 2, 3]), step("report")), parallelism=2)
    train, report = readable_workload(value).pod_sets

    assert (train.count.minimum, train.count.maximum) == (2, 2)
    assert report.count == model.Count(minimum=0, maximum=1, reason="no more at one time than spec.parallelism")
    assert pods(workflow(pod(), steps(step(withParam="{{x}}")), parallelism=4)) == {"train": (0, 4)}
    assert pods(workflow(pod(), steps(step()), parallelism=4)) == {"train": (1, 1)}


def test_parallelism_of_a_template_bounds_what_it_runs_itself() -> None:
    inner = steps(step(withItems=[1, 2, 3, 4]), name="inner", parallelism=2)

    assert pods(workflow(pod(), inner, steps(step("inner", withItems=[1, 2])))) == {"train": (4, 4)}
    assert pods(workflow(pod(), steps(step(withParam="{{x}}"), parallelism=3))) == {"train": (0, 3)}
    outer = steps(step("inner"), parallelism=1)
    assert pods(workflow(pod(), steps(step(withItems=[1, 2]), name="inner"), outer)) == {"train": (2, 2)}


def test_a_template_may_stand_in_the_step_that_runs_it() -> None:
    inline: Fields = {"name": "here", "inline": {"container": builders.container()}, "withItems": [1, 2]}
    nested: Fields = {"name": "outer", "inline": {"steps": [[inline]]}}

    assert counts(workflow(steps(inline))) == [("here", "/spec/templates/0/steps/0/0/inline", 2, 2)]
    assert counts(workflow(dag(nested))) == [("here", "/spec/templates/0/dag/tasks/0/inline/steps/0/0/inline", 2, 2)]


@pytest.mark.parametrize(
    "kind", [{"http": {"url": "https://example.com"}}, {"suspend": {}}, {"plugin": {"hello": {}}}, {}]
)
def test_templates_of_other_types_make_no_pods(kind: dict[str, Fields]) -> None:
    assert pods(workflow({"name": "main", **kind})) == {}
