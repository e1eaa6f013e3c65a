"""The Volcano Job (docs/domain/kinds.md#volcano-jobs), and the kinds that make these Jobs."""

import pytest

import builders
from unit.workloads.normalised import counts, readable_workload, totals, workload
from usher import model, paths
from usher.kinds.reading.values import Objects


def test_every_task_makes_its_replicas_and_zero_without_a_number() -> None:
    job = builders.volcano_job(
        builders.volcano_task("master", replicas=1),
        builders.volcano_task("worker", replicas=4),
        builders.volcano_task("spare"),
    )

    assert counts(job) == [
        ("master", "/spec/tasks/0/template", 1, 1),
        ("worker", "/spec/tasks/1/template", 4, 4),
        ("spare", "/spec/tasks/2/template", 0, 0),
    ]


def test_a_volcano_job_is_always_a_gang_and_unknown_to_kueue() -> None:
    found = readable_workload(builders.volcano_job())

    assert found.gang_native
    assert found.role is model.Role.TRAINING
    assert found.queue_label_path is None
    assert found.queue_labels == {}


def job_with(**fields: paths.Json) -> model.PodSet:
    """The pod set of the only task of a Job with some fields."""
    job = builders.volcano_job(builders.volcano_task("worker", replicas=2))
    for field, value in fields.items():
        job = builders.replaced(job, f"/spec/{field}", value)
    (found,) = readable_workload(job).pod_sets
    return found


def test_the_job_names_the_scheduler_of_templates_without_one() -> None:
    assert job_with().scheduler == model.Scheduler(name="volcano", reason="Volcano's own default for its Jobs")
    assert job_with(schedulerName="agent").scheduler == model.Scheduler(name="agent", reason="schedulerName of the Job")
    assert job_with(schedulerName="agent").scheduler_name == ""


def test_a_template_names_its_own_scheduler() -> None:
    task = builders.volcano_task("worker", builders.template(schedulerName="default-scheduler"), replicas=2)
    job = builders.replaced(builders.volcano_job(task), "/spec/schedulerName", "volcano")

    assert readable_workload(job).pod_sets[0].scheduler == model.Scheduler(name="default-scheduler")


@pytest.mark.parametrize(("own", "priority"), [(None, "high"), ("", "high"), ("low", "low")])
def test_pods_take_the_priority_class_of_the_job_if_their_template_names_no_class(
    own: str | None, priority: str
) -> None:
    task = builders.volcano_task("worker", builders.template(priorityClassName=own), replicas=2)
    job = builders.replaced(builders.volcano_job(task), "/spec/priorityClassName", "high")

    assert readable_workload(job).pod_sets[0].priority_class_name == priority


@pytest.mark.parametrize(
    ("plugins", "variables"),
    [
        ({}, set()),
        ({"svc": [], "env": [], "ssh": []}, set()),
        ({"pytorch": ["--master=master"]}, {"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK"}),
        ({"tensorflow": [], "mpi": []}, {"TF_CONFIG", "MPI_HOST"}),
    ],
)
def test_the_plugins_of_a_job_set_variables(plugins: paths.Object, variables: set[str]) -> None:
    assert job_with(plugins=plugins).operator_environment == {"VC_*", "VK_TASK_INDEX", *variables}


@pytest.mark.parametrize(
    ("plugins", "inherit"),
    [
        ({}, True),
        ({"ssh": []}, True),
        ({"mpi": None}, False),
        ({"mpi": ["--worker=worker", "--port=22"]}, False),
        ({"mpi": ["--worker=other"]}, True),
    ],
)
def test_ranks_that_the_plugin_mpi_starts_do_not_see_the_environment_of_their_container(
    plugins: paths.Object, inherit: bool
) -> None:
    assert job_with(plugins=plugins).ranks_inherit_environment is inherit


@pytest.mark.parametrize(
    ("command", "plugins", "inherit"),
    [
        ("mpiexec --hostfile /etc/volcano/mpiworker.host python train.py", {"ssh": [], "svc": []}, False),
        ("/usr/sbin/sshd -D", {"ssh": [], "svc": [], "env": []}, False),
        ("/usr/sbin/sshd -D", {"svc": []}, True),
        ("torchrun --nnodes 2 train.py", {"ssh": [], "svc": []}, True),
        ("python -m torch.distributed.run train.py", {"ssh": [], "svc": []}, True),
        ("python train.py", {"ssh": [], "svc": [], "pytorch": []}, True),
    ],
)
def test_a_job_with_the_plugins_ssh_and_svc_runs_mpi_unless_it_starts_ranks_in_its_own_containers(
    command: str, plugins: paths.Object, inherit: bool
) -> None:
    worker = builders.volcano_task(
        "worker", builders.template(builders.container(gpus=8, command=["sh", "-c"], args=[command])), replicas=2
    )
    job = builders.replaced(builders.volcano_job(worker), "/spec/plugins", plugins)

    assert readable_workload(job).pod_sets[0].ranks_inherit_environment is inherit


def test_all_replicas_are_made_however_few_have_to_be_placed_together() -> None:
    task = {**builders.volcano_task("worker", replicas=4), "minAvailable": 2}
    job = builders.replaced(builders.volcano_job(task), "/spec/minAvailable", 2)
    found = readable_workload(job)

    assert found.pods == model.Count(minimum=4, maximum=4)
    assert found.gang.minimum == 2


def cron_job(**fields: paths.Json) -> paths.Object:
    spec: paths.Object = {"schedule": "0 3 * * *", "jobTemplate": {"spec": builders.volcano_job()["spec"]}, **fields}
    return builders.custom("batch.volcano.sh/v1alpha1", "CronJob", spec)


@pytest.mark.parametrize(("policy", "most"), [("Forbid", 1), ("Replace", 1), ("Allow", None), (None, None)])
def test_a_cron_job_makes_the_pods_of_one_job_unless_its_runs_may_overlap(policy: str | None, most: int | None) -> None:
    assert counts(cron_job(concurrencyPolicy=policy)) == [
        ("worker", "/spec/jobTemplate/spec/tasks/0/template", 0, most)
    ]


def test_a_cron_job_is_held_back_by_its_own_field_and_unknown_to_kueue() -> None:
    found = readable_workload(cron_job(suspend=True))

    assert found.suspended
    assert found.gang_native
    assert found.queue_label_path is None


def job_template(name: str, *tasks: paths.Object) -> paths.Object:
    spec = builders.volcano_job(*tasks)["spec"]
    assert isinstance(spec, dict)
    return builders.custom("flow.volcano.sh/v1alpha1", "JobTemplate", spec, name=name)


def gpu_task(replicas: int) -> paths.Object:
    return builders.volcano_task("worker", builders.template(builders.container(gpus=8)), replicas=replicas)


def job_flow(*flows: paths.Object) -> paths.Object:
    return builders.custom("flow.volcano.sh/v1alpha1", "JobFlow", {"flows": list(flows)})


def test_a_job_template_is_judged_as_one_job_made_from_it() -> None:
    value = job_template("train", gpu_task(2))

    assert readable_workload(value).is_template
    assert counts(value) == [("worker", "/spec/tasks/0/template", 2, 2)]
    assert totals(value) == {builders.GPU: ("16", "16")}


def test_a_flow_makes_the_jobs_of_the_templates_that_it_names() -> None:
    known = Objects(
        [job_template("prepare", builders.volcano_task("cpu", replicas=1)), job_template("train", gpu_task(2))]
    )
    value = job_flow({"name": "prepare"}, {"name": "train"})

    assert counts(value, objects=known) == [
        ("prepare/cpu", "/spec/flows/0/name/spec/tasks/0/template", 1, 1),
        ("train/worker", "/spec/flows/1/name/spec/tasks/0/template", 2, 2),
    ]
    assert totals(value, objects=known) == {builders.GPU: ("16", "16")}
    found = readable_workload(value, objects=known)
    assert not any(each.changeable for each in found.pod_sets)
    assert found.gang_native


def test_a_flow_that_waits_for_others_may_not_be_there_yet() -> None:
    known = Objects([job_template("prepare", gpu_task(1)), job_template("train", gpu_task(2))])
    value = job_flow({"name": "prepare"}, {"name": "train", "dependsOn": {"targets": ["prepare"]}})

    assert [pods for _, _, *pods in counts(value, objects=known)] == [[1, 1], [0, 2]]
    waiting = readable_workload(value, objects=known).pod_sets[1]
    assert waiting.count.reason == "the flow waits for others to complete"


def test_two_flows_of_one_name_make_one_job() -> None:
    known = Objects([job_template("train", gpu_task(2))])

    assert totals(job_flow({"name": "train"}, {"name": "train"}), objects=known) == {builders.GPU: ("16", "16")}


def test_the_patch_of_a_flow_changes_nothing() -> None:
    known = Objects([job_template("train", gpu_task(2))])
    patch: paths.Object = {"jobSpec": {"tasks": [gpu_task(100)]}}

    assert totals(job_flow({"name": "train", "patch": patch}), objects=known) == {builders.GPU: ("16", "16")}


def test_a_template_that_is_not_known_is_unknown_at_its_name() -> None:
    elsewhere = builders.replaced(job_template("train", gpu_task(2)), "/metadata/namespace", "other")
    found = workload(job_flow({"name": "train"}), objects=Objects([elsewhere]))

    assert found.pod_sets == ()
    assert found.unknowns == (
        model.Unknown(
            path="/spec/flows/0/name",
            reason="JobTemplate ml-research/train is not known here: the pods of this flow are not judged",
        ),
    )


def test_an_error_in_a_template_is_reported_at_its_name() -> None:
    broken = builders.replaced(job_template("train", gpu_task(2)), "/spec/tasks/0/replicas", "many")
    found = workload(job_flow({"name": "train"}), objects=Objects([broken]))

    assert [unknown.path for unknown in found.unknowns] == ["/spec/flows/0/name"]
    assert "spec.tasks[0].replicas: expected a whole number" in found.unknowns[0].reason


def test_flows_beyond_a_thousand_are_not_judged() -> None:
    names = [f"train-{number}" for number in range(1001)]
    flows: list[paths.Object] = [{"name": name} for name in names]
    found = workload(job_flow(*flows), objects=Objects([job_template(name, gpu_task(1)) for name in names]))

    assert found.pods.maximum == 1000
    assert [unknown.path for unknown in found.unknowns] == ["/spec/flows"]
