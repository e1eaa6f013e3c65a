"""TrainJob and its runtimes (docs/domain/kinds.md#trainjob; kubeflow/trainer 2.3)."""

import pytest

import builders
from unit.kinds.kubeflow.train_jobs import API, PATCH, runtime, runtime_patch, step, train_job
from unit.workloads.normalised import counts, pod_set, readable_workload, totals, unknowns, workload
from usher import model, paths
from usher.kinds.kubeflow_trainer import MAX_JOBS, MAX_TRAINING_JOBS
from usher.kinds.reading.values import Objects

REF = "/spec/runtimeRef/name"


def numbers(value: paths.Object, known: paths.Object) -> dict[str, int]:
    found = {name: low for name, _, low, high in counts(value, objects=Objects([known])) if low == high}
    assert len(found) == len(workload(value, objects=Objects([known])).pod_sets)
    return found


def test_the_pods_are_those_of_the_runtime_below_its_name() -> None:
    path = f"{REF}/spec/template/spec/replicatedJobs/0/template/spec/template"

    assert counts(train_job(), objects=Objects([runtime()])) == [("node", path, 1, 1)]


def test_nothing_can_be_changed_in_the_templates_of_another_object() -> None:
    (found,) = readable_workload(train_job(), objects=Objects([runtime()])).pod_sets

    assert not found.changeable
    assert [container.trains for container in found.containers] == [True]


def test_a_patch_is_laid_over_the_pods_of_a_job_that_is_known() -> None:
    (found,) = readable_workload(train_job(), objects=Objects([runtime()])).pod_sets

    assert found.overrides == (
        *("spec", "runtimePatches", model.Keyed("manager", "gpu-usher.io/usher")),
        *("trainingRuntimeSpec", "template", "spec", "replicatedJobs", model.Keyed("name", "node")),
        *("template", "spec", "template", "spec"),
    )
    assert workload(train_job({"numNodes": 2})).pod_sets[0].overrides is None


def test_variables_and_resources_are_added_to_the_trainer_for_the_container_that_trains() -> None:
    known = runtime(step("node", "trainer", builders.container("node"), builders.container("logger")))
    (found,) = readable_workload(train_job(), objects=Objects([known])).pod_sets
    (alone,) = workload(train_job({"numNodes": 2})).pod_sets[0].containers

    places = [(each.environment_path, each.resources_path) for each in (*found.containers, alone)]
    trainer = ("/spec/trainer/env", "/spec/trainer/resourcesPerNode")
    assert places == [trainer, ("", ""), trainer]


def test_a_runtime_in_the_namespace_is_found_there_and_not_elsewhere() -> None:
    job = train_job(kind="TrainingRuntime")
    near = runtime(kind="TrainingRuntime", namespace="ml-research")
    far = runtime(kind="TrainingRuntime", namespace="other")

    assert numbers(job, near) == {"node": 1}
    assert unknowns(job, objects=Objects([far])) == [
        (REF, "TrainingRuntime ml-research/torch is not known here: the pods that it makes are not judged")
    ]


@pytest.mark.parametrize(
    ("policy", "trainer", "nodes"),
    [
        ({"torch": {}}, {}, 1),
        ({"torch": {}, "numNodes": 4}, {}, 4),
        ({"torch": {}, "numNodes": 4}, {"numNodes": 2}, 2),
        ({"torch": {}, "numNodes": 4}, {"numNodes": 0}, 0),
        ({"torch": {}, "numNodes": 0}, {}, 1),
        ({}, {"numNodes": 3}, 3),
    ],
)
def test_the_train_job_says_how_many_nodes_or_else_its_runtime(
    policy: dict[str, builders.JsonValue], trainer: dict[str, builders.JsonValue], nodes: int
) -> None:
    assert numbers(train_job(trainer), runtime(policy=policy)) == {"node": nodes}


def test_a_runtime_without_a_policy_keeps_the_parallelism_of_its_jobs() -> None:
    known = builders.replaced(runtime(step(parallelism=3)), "/spec/mlPolicy", None)

    assert numbers(train_job(), known) == {"node": 3}
    assert numbers(train_job({"numNodes": 5}), known) == {"node": 5}


def test_initialisers_are_one_pod_each_beside_the_nodes() -> None:
    known = runtime(
        step("dataset-initializer", "dataset-initializer", replicas=5),
        step("model-initializer", "model-initializer"),
        step(replicas=3),
        step("monitor", None, replicas=2, parallelism=2),
    )

    assert numbers(train_job({"numNodes": 4}), known) == {
        "dataset-initializer": 1,
        "model-initializer": 1,
        "node": 4,
        "monitor": 4,
    }


@pytest.mark.parametrize(
    ("launcher_is_node", "nodes", "expected"),
    [
        (True, 4, {"node": 3, "launcher": 1}),
        (True, 1, {"node": 1, "launcher": 1}),
        (False, 4, {"node": 4, "launcher": 1}),
        (False, None, {"node": 1, "launcher": 1}),
    ],
)
def test_the_launcher_of_mpi_may_be_one_of_the_nodes(
    launcher_is_node: bool,
    nodes: int | None,
    expected: dict[str, int],
) -> None:
    known = runtime(
        step("node", None), step("launcher", "trainer"), policy={"mpi": {"runLauncherAsNode": launcher_is_node}}
    )

    assert numbers(train_job({"numNodes": nodes}), known) == expected


def test_resources_of_the_train_job_replace_those_of_the_container_node_one_by_one() -> None:
    known = runtime(step("node", "trainer", builders.container("node", gpus=8, limits={"cpu": 4})))
    job = train_job({"numNodes": 2, "resourcesPerNode": {"limits": {builders.GPU: 4}}})
    found = pod_set(job, objects=Objects([known]))

    assert totals(job, objects=Objects([known])) == {builders.GPU: ("8", "8")}
    assert found.requests[0].path == "/spec/trainer/resourcesPerNode/limits/nvidia.com~1gpu"
    assert str(found.containers[0].limits["cpu"]) == "4"


def test_accelerators_that_only_the_runtime_asks_for_stand_in_it() -> None:
    known = runtime(step("node", "trainer", builders.container("node", gpus=8)))
    found = pod_set(train_job({"numNodes": 2}), objects=Objects([known]))

    assert found.requests[0].path.startswith(f"{REF}/spec/template/spec/replicatedJobs/0/")


def test_mpi_gives_the_resources_to_the_nodes_only_where_the_launcher_is_one() -> None:
    job = train_job({"numNodes": 3, "resourcesPerNode": {"limits": {builders.GPU: 8}}})
    steps = (step("node", None), step("launcher", "trainer"))

    def gpus(launcher_is_node: bool) -> dict[str, tuple[str, str]]:
        known = runtime(*steps, policy={"mpi": {"runLauncherAsNode": launcher_is_node}})
        return totals(job, objects=Objects([known]))

    assert gpus(True) == {builders.GPU: ("24", "24")}
    assert gpus(False) == {builders.GPU: ("8", "8")}


def test_the_claims_of_the_train_job_add_up_with_those_of_the_runtime() -> None:
    known = runtime(step("node", "trainer", builders.container("node", claims=["network"])))
    entries: paths.Json = [{"name": "gpu", "resourceClaimName": "gpus"}]
    pod_spec = "/spec/template/spec/replicatedJobs/0/template/spec/template/spec"
    claim = builders.custom(
        "resource.k8s.io/v1",
        "ResourceClaim",
        {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]}},
        name="gpus",
    )
    objects = Objects([builders.replaced(known, f"{pod_spec}/resourceClaims", entries), claim])
    job = train_job({"resourcesPerNode": {"claims": [{"name": "gpu"}]}})

    assert pod_set(job, objects=objects).containers[0].asks_accelerators


def test_variables_of_the_train_job_come_after_those_of_the_runtime() -> None:
    known = runtime(step("node", "trainer", builders.container("node", env={"NCCL_DEBUG": "WARN"})))
    job = train_job({"env": [{"name": "NCCL_DEBUG", "value": "INFO"}]})
    (container,) = pod_set(job, objects=Objects([known])).containers

    assert [(variable.value, variable.path) for variable in container.environment] == [
        ("WARN", f"{container.path}/env/0"),
        ("INFO", "/spec/trainer/env/0"),
    ]


def test_a_runtime_of_more_jobs_than_anybody_means_is_read_in_part() -> None:
    known = runtime(*(step(f"job-{index}", None) for index in range(MAX_JOBS + 5)))
    found = workload(train_job(), objects=Objects([known]))

    assert len(found.pod_sets) == MAX_JOBS
    assert [(unknown.path, unknown.reason) for unknown in found.unknowns] == [
        (REF, f"its runtime has more than {MAX_JOBS} jobs: the others are not judged")
    ]


def test_what_the_train_job_asks_is_given_to_a_few_jobs_and_not_to_any_number_of_them() -> None:
    known = runtime(*(step(f"job-{index}") for index in range(MAX_TRAINING_JOBS + 2)))
    found = workload(train_job({"resourcesPerNode": {"limits": {builders.GPU: 8}}}), objects=Objects([known]))

    assert [str(total.maximum) for total in found.totals] == [str(8 * MAX_TRAINING_JOBS)]
    assert [unknown.reason for unknown in found.unknowns] == [
        f"more than {MAX_TRAINING_JOBS} jobs of its runtime train"
    ]


def test_without_its_runtime_a_train_job_asks_for_its_own_resources() -> None:
    job = train_job(
        trainer={
            "numNodes": 2,
            "resourcesPerNode": {"limits": {builders.GPU: 8}},
            "env": [{"name": "A", "value": "b"}],
        },
        runtimePatches=[runtime_patch(PATCH)],
    )
    found = workload(job)
    (nodes,) = found.pod_sets

    assert nodes.count == model.Count(
        minimum=2, maximum=None, reason="the runtime is not known, which may make more pods"
    )
    assert nodes.requests[0].path == "/spec/trainer/resourcesPerNode/limits/nvidia.com~1gpu"
    assert [(str(total.minimum), total.maximum) for total in found.totals] == [("16", None)]
    assert nodes.tolerations == ({"key": "gpu"},)
    assert unknowns(job) == [
        (REF, "ClusterTrainingRuntime torch is not known here: the pods that it makes are not judged")
    ]


def test_a_train_job_without_a_number_of_nodes_has_at_least_one() -> None:
    (found,) = workload(train_job()).pod_sets

    assert (found.path, found.count.minimum, found.containers) == ("/spec/runtimeRef", 1, ())


@pytest.mark.parametrize(
    ("ref", "path", "reason"),
    [
        ({}, "/spec/runtimeRef", "it names no runtime: its pods are not known"),
        ({"name": ""}, REF, "it names no runtime: its pods are not known"),
        (None, "/spec/runtimeRef", "it names no runtime: its pods are not known"),
        (
            {"name": "torch", "kind": "JobSet", "apiGroup": "jobset.x-k8s.io"},
            "/spec/runtimeRef",
            "usher knows no runtimes of kind JobSet of jobset.x-k8s.io, so it does not know the pods",
        ),
        ({"name": 7}, REF, "expected a string, found a number; quote it"),
    ],
)
def test_a_reference_that_leads_nowhere_is_unknown(ref: paths.Json, path: str, reason: str) -> None:
    job = builders.replaced(train_job(), "/spec/runtimeRef", ref)

    assert unknowns(job, objects=Objects([runtime()])) == [(path, reason)]


def test_a_missing_runtime_reference_is_reported_at_the_spec() -> None:
    assert unknowns(builders.custom(API, "TrainJob", {"suspend": True})) == [
        ("/spec", "it names no runtime: its pods are not known")
    ]


def test_an_error_in_the_runtime_is_reported_at_its_name() -> None:
    pod_spec = "/spec/template/spec/replicatedJobs/0/template/spec/template/spec"
    known = builders.replaced(runtime(), f"{pod_spec}/tolerations", "gpu")

    assert unknowns(train_job(), objects=Objects([known])) == [
        (
            REF,
            f"ClusterTrainingRuntime torch, {paths.readable(pod_spec)}.tolerations: expected a list, found a string",
        )
    ]


def test_a_runtime_is_judged_as_one_train_job_that_changes_nothing() -> None:
    known = runtime(
        step("model-initializer", "model-initializer"),
        step("node", "trainer", builders.container("node", gpus=8)),
        policy={"numNodes": 2, "torch": {}},
    )
    found = readable_workload(known)

    assert found.is_template
    assert [(each.name, each.count.minimum, each.changeable) for each in found.pod_sets] == [
        ("model-initializer", 1, True),
        ("node", 2, True),
    ]
    assert totals(known) == {builders.GPU: ("16", "16")}


@pytest.mark.parametrize(
    ("framework", "variable"),
    [
        ("torch", "PET_NPROC_PER_NODE"),
        ("torch", "PET_NODE_RANK"),
        ("jax", "JAX_PROCESS_ID"),
        ("xgboost", "DMLC_*"),
        ("mpi", "OMPI_MCA_*"),
    ],
)
def test_the_variables_of_the_operator_depend_on_the_framework(framework: str, variable: str) -> None:
    found = pod_set(runtime(policy={framework: {}}))

    assert variable in found.operator_environment


def test_ranks_of_mpi_see_the_environment_of_the_launcher_alone() -> None:
    known = runtime(step("node", None), step("launcher", "trainer"), policy={"mpi": {}})

    assert [each.ranks_inherit_environment for each in readable_workload(known).pod_sets] == [False, True]


def test_a_train_job_trains_waits_in_a_queue_and_wants_a_gang() -> None:
    found = readable_workload(train_job({"numNodes": 2}, suspend=True), objects=Objects([runtime()]))

    assert (found.role, found.suspended, found.queue_label_path) == (model.Role.TRAINING, True, "/metadata")
    assert found.gang.wanted


def processes(policy: dict[str, builders.JsonValue], trainer: dict[str, builders.JsonValue]) -> int | None:
    known = runtime(step("node", "trainer", builders.container("node", gpus=8)), policy=policy)
    found = pod_set(train_job(trainer), objects=Objects([known])).containers[0].processes
    return None if found is None else found["number"]


def test_a_runtime_for_mpi_tells_the_processes_of_a_node() -> None:
    assert processes({"mpi": {"numProcPerNode": 4}}, {}) == 4
    # The Trainer takes 1 for the number of GPUs, and the number of the TrainJob before that of the runtime.
    assert processes({"mpi": {"numProcPerNode": 1}}, {}) is None
    assert processes({"mpi": {"numProcPerNode": 4}}, {"numProcPerNode": 8}) is None
    assert processes({"torch": {"numProcPerNode": 4}}, {}) is None
