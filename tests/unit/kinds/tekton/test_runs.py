"""Tekton's tasks: one pod whose containers are the steps, and what a run adds to them."""

import pytest

import builders
from unit.kinds.tekton.tekton_objects import V1, V1BETA1, Fields, step, task
from unit.workloads.normalised import counts, pod_set, readable_workload, totals, unknowns, workload
from usher import model, paths
from usher.kinds.reading import values


def task_run(*steps: Fields, version: str = V1, run: dict[str, Fields] | None = None, **fields: Fields) -> paths.Object:
    """A TaskRun with a task of its own."""
    return builders.custom(version, "TaskRun", {"taskSpec": {"steps": list(steps), **fields}, **(run or {})})


def run_of(name: str = "train", *, version: str = V1, **fields: Fields) -> paths.Object:
    """A TaskRun of a task by its name."""
    return builders.custom(version, "TaskRun", {"taskRef": {"name": name}, **fields})


def amounts(found: model.Container) -> tuple[dict[str, str], dict[str, str]]:
    requests = {name: str(quantity) for name, quantity in found.requests.items()}
    return requests, {name: str(quantity) for name, quantity in found.limits.items()}


def test_steps_are_containers_of_one_pod_and_add_up() -> None:
    value = task_run(step("prepare", gpus=1), step(gpus=8))

    assert counts(value) == [("", "/spec/taskSpec", 1, 1)]
    assert [(each.name, each.path) for each in pod_set(value).containers] == [
        ("step-prepare", "/spec/taskSpec/steps/0"),
        ("step-train", "/spec/taskSpec/steps/1"),
    ]
    assert totals(value) == {"nvidia.com/gpu": ("9", "9")}


def test_what_steps_mount_and_may_do_is_read() -> None:
    host_path: Fields = {"name": "devices", "hostPath": {"path": "/dev"}}
    mount: Fields = {"name": "devices", "mountPath": "/dev"}
    privileged = step(securityContext={"privileged": True}, volumeMounts=[mount])
    sidecar: Fields = {"name": "watch", "image": "a", "volumeMounts": [mount]}

    found = pod_set(task_run(privileged, volumes=[host_path], sidecars=[sidecar]))

    (volume,) = found.fields["volumes"]
    assert volume["hostPath"]["path"] == "/dev"
    assert found.places["volumes"] == "/spec/taskSpec/volumes"
    assert found.containers[0].fields == {"securityContext": {"privileged": True}, "volumeMounts": [mount]}
    assert found.containers[1].fields == {"volumeMounts": [mount]}


def test_a_task_is_judged_as_one_run() -> None:
    value = task(step(gpus=2))

    assert counts(value) == [("", "/spec", 1, 1)]
    assert totals(value) == {"nvidia.com/gpu": ("2", "2")}
    assert readable_workload(value).is_template
    assert not pod_set(value).changeable


def test_resources_have_another_name_in_the_older_version() -> None:
    older = task_run(step(gpus=2, old=True), version=V1BETA1)

    assert totals(older) == {"nvidia.com/gpu": ("2", "2")}
    assert pod_set(older).containers[0].resource_path("limits", builders.GPU) == (
        "/spec/taskSpec/steps/0/resources/limits/nvidia.com~1gpu"
    )
    assert totals(task_run(step(gpus=2, old=True))) == totals(task_run(step(gpus=2), version=V1BETA1)) == {}


def test_a_step_without_a_name_gets_one() -> None:
    assert pod_set(task_run({"image": "a"}, {"image": "b"})).containers[1].name == "step-unnamed-1"


def test_sidecars_run_beside_the_steps() -> None:
    found = pod_set(task_run(step(gpus=1), sidecars=[step("server", gpus=1)]))

    assert [(each.name, each.type) for each in found.containers] == [
        ("step-train", model.ContainerType.APP),
        ("sidecar-server", model.ContainerType.SIDECAR),
    ]
    assert str(found.accelerators[builders.GPU]) == "2"


def test_the_step_template_is_merged_into_every_step() -> None:
    defaults: Fields = {
        "computeResources": {"limits": {builders.GPU: 1, "memory": "1Gi"}},
        "env": [{"name": "NCCL_DEBUG", "value": "INFO"}, {"name": "NCCL_IB_HCA", "value": "mlx5"}],
    }
    found = pod_set(
        task_run(step("a"), step("b", gpus=4, env=[{"name": "NCCL_DEBUG", "value": "WARN"}]), stepTemplate=defaults)
    )
    first, second = found.containers

    assert amounts(first)[1] == {"nvidia.com/gpu": "1", "memory": "1073741824"}
    assert first.resource_path("limits", builders.GPU).startswith("/spec/taskSpec/stepTemplate/computeResources")
    assert amounts(second)[1] == {"nvidia.com/gpu": "4", "memory": "1073741824"}
    assert [(each.value, each.path) for each in second.environment if each.name == "NCCL_DEBUG"][-1] == (
        "WARN",
        "/spec/taskSpec/steps/1/env/0",
    )


@pytest.mark.parametrize(
    ("version", "suffix", "resources"), [(V1, "Specs", "computeResources"), (V1BETA1, "Overrides", "resources")]
)
def test_a_run_may_say_what_single_steps_ask_for(version: str, suffix: str, resources: str) -> None:
    more: Fields = [{"name": "train", resources: {"limits": {builders.GPU: 8}}}]
    server: Fields = [{"name": "server", resources: {"limits": {builders.GPU: 2}}}]
    own = step(gpus=1, old=version == V1BETA1)
    found = pod_set(
        task_run(
            own,
            step("other"),
            sidecars=[step("server")],
            version=version,
            run={f"step{suffix}": more, f"sidecar{suffix}": server},
        )
    )

    assert [amounts(each)[1] for each in found.containers] == [{"nvidia.com/gpu": "8"}, {}, {"nvidia.com/gpu": "2"}]
    assert found.containers[0].resource_path("limits", builders.GPU) == (
        f"/spec/step{suffix}/0/{resources}/limits/nvidia.com~1gpu"
    )


def test_resources_of_the_whole_task_are_shared_by_its_steps() -> None:
    whole: Fields = {"requests": {"cpu": 3, "memory": "3"}, "limits": {"cpu": 4}}
    found = pod_set(task_run(step("a", gpus=8), step("b"), run={"computeResources": whole}))

    assert [amounts(each) for each in found.containers] == [({"cpu": "1500m", "memory": "1"}, {"cpu": "4"})] * 2


def test_limits_of_the_whole_task_stand_in_for_its_requests() -> None:
    whole: Fields = {"limits": {builders.GPU: 8}}
    one = pod_set(task_run(step(), run={"computeResources": whole}))
    two = pod_set(
        task_run(step("a"), step("b", computeResources={"requests": {"cpu": 1}}), run={"computeResources": whole})
    )

    assert amounts(one.containers[0]) == ({"nvidia.com/gpu": "8"}, {"nvidia.com/gpu": "8"})
    assert [amounts(each)[0] for each in two.containers] == [{"nvidia.com/gpu": "4"}, {}]
    assert [amounts(each)[1] for each in two.containers] == [{"nvidia.com/gpu": "8"}] * 2


def test_the_pod_template_says_where_the_pod_runs() -> None:
    fields: dict[str, Fields] = {
        "nodeSelector": {"pool": "h100"},
        "tolerations": [builders.toleration("gpu")],
        "affinity": builders.node_affinity(builders.term()),
        "schedulerName": "volcano",
        "priorityClassName": "high",
        "runtimeClassName": "nvidia",
        "env": [{"name": "NCCL_DEBUG", "value": "INFO"}],
    }
    own = step(env=[{"name": "NCCL_DEBUG", "value": "WARN"}])
    found = pod_set(task_run(own, run={"podTemplate": fields}))

    assert (found.spec_path, found.changeable) == ("/spec/podTemplate", True)
    assert (found.node_selector, len(found.tolerations), found.has_required_affinity) == ({"pool": "h100"}, 1, True)
    assert (found.scheduler_name, found.priority_class_name, found.runtime_class_name) == ("volcano", "high", "nvidia")
    assert [(each.value, each.path) for each in found.containers[0].environment] == [
        ("WARN", "/spec/taskSpec/steps/0/env/0"),
        ("INFO", "/spec/podTemplate/env/0"),
    ]


def test_a_run_gets_its_task_by_name() -> None:
    theirs = builders.replaced(task(step(gpus=4)), "/metadata/labels", {"team": "a", "app": "bert"})
    value = builders.replaced(run_of(), "/metadata/labels", {"team": "b"})
    found = pod_set(value, objects=values.Objects([theirs]))

    assert (found.path, found.metadata_path, found.changeable) == ("/spec/taskRef/name/spec", "/metadata", False)
    assert found.labels == {"team": "b", "app": "bert"}
    assert totals(value, objects=values.Objects([theirs])) == {"nvidia.com/gpu": ("4", "4")}


def test_a_task_is_read_in_the_version_that_it_is_written_in() -> None:
    older = values.Objects([task(step(gpus=4, old=True), version=V1BETA1)])

    assert totals(run_of(), objects=older) == {"nvidia.com/gpu": ("4", "4")}


def test_a_task_may_be_one_of_the_cluster() -> None:
    of_cluster = builders.custom(
        V1BETA1, "ClusterTask", {"steps": [step(gpus=1, old=True)]}, name="train", namespace=None
    )
    value = builders.custom(V1BETA1, "TaskRun", {"taskRef": {"name": "train", "kind": "ClusterTask"}})

    assert totals(value, objects=values.Objects([of_cluster])) == {"nvidia.com/gpu": ("1", "1")}


def test_a_task_that_is_not_known_is_unknown_but_its_pod_is_counted() -> None:
    assert unknowns(run_of()) == [
        ("/spec/taskRef/name", "Task ml-research/train is not known here: its steps are not judged")
    ]
    (found,) = workload(run_of(podTemplate={"schedulerName": "volcano"})).pod_sets
    assert (found.path, found.count, found.scheduler_name) == (
        "/spec/taskRef",
        model.Count(minimum=1, maximum=1),
        "volcano",
    )


def test_a_run_of_an_unknown_task_still_says_what_it_asks_for_itself() -> None:
    whole = workload(run_of(computeResources={"limits": {builders.GPU: 8}}))
    named: Fields = [{"name": "train", "computeResources": {"limits": {builders.GPU: 4}}}]
    single = workload(run_of(stepSpecs=named, sidecarSpecs=named))

    assert [(each.name, each.path) for each in whole.pod_sets[0].containers] == [("step", "/spec/computeResources")]
    assert [(total.name, str(total.maximum)) for total in whole.totals] == [("nvidia.com/gpu", "8")]
    assert [(each.name, each.path) for each in single.pod_sets[0].containers] == [
        ("step-train", "/spec/stepSpecs/0"),
        ("sidecar-train", "/spec/sidecarSpecs/0"),
    ]


@pytest.mark.parametrize("field", ["resolver", "bundle"])
def test_a_task_from_a_resolver_or_bundle_is_unknown(field: str) -> None:
    value = builders.custom(V1, "TaskRun", {"taskRef": {field: "git", "params": []}})

    assert unknowns(value) == [
        (f"/spec/taskRef/{field}", "the Task is fetched only when it runs: its steps are not judged")
    ]


def test_a_name_that_is_made_at_run_time_is_unknown() -> None:
    ((path, reason),) = unknowns(run_of("$(params.task)"))

    assert (path, reason) == (
        "/spec/taskRef/name",
        "which Task it is, is known only when it runs: its steps are not judged",
    )


def test_a_run_of_nothing_makes_no_pod() -> None:
    assert counts(builders.custom(V1, "TaskRun", {})) == []


def test_a_step_may_take_its_variables_from_a_step_action() -> None:
    action = builders.custom(
        V1BETA1, "StepAction", {"env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]}, name="go"
    )
    value = task_run({"name": "a", "ref": {"name": "go"}, "computeResources": {"limits": {builders.GPU: 1}}})
    (found,) = pod_set(value, objects=values.Objects([action])).containers

    assert [(each.name, each.path) for each in found.environment] == [
        ("NVIDIA_VISIBLE_DEVICES", "/spec/taskSpec/steps/0/ref/name/spec/env/0")
    ]
    assert found.asks_accelerators
    assert unknowns(value) == [
        (
            "/spec/taskSpec/steps/0/ref/name",
            "StepAction ml-research/go is not known here: its variables are not judged",
        )
    ]


def test_labels_of_a_run_reach_its_pod_and_so_kueue() -> None:
    labels: dict[str, paths.Json] = {"kueue.x-k8s.io/queue-name": "research"}
    found = readable_workload(builders.replaced(task_run(step()), "/metadata/labels", labels))

    assert (found.role, found.queue_label_path, found.queue_labels) == (model.Role.BATCH, "/metadata", labels)
    assert found.pod_sets[0].labels == labels


def test_a_large_step_template_is_not_read_for_each_of_many_steps() -> None:
    variables: Fields = [{"name": f"A{n}", "value": "b"} for n in range(2000)]
    value = task_run(*(step(f"s{n}") for n in range(500)), stepTemplate={"env": variables})

    assert unknowns(value) == [("/spec/taskSpec", "too many steps share too large a template: they are not judged")]
