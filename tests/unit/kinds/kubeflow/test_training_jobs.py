"""PyTorchJob and MPIJob (docs/domain/kinds.md#kubeflow-jobs)."""

from collections.abc import Callable

import pytest

import builders
from unit.workloads.normalised import counts, readable_workload, unknowns, workload
from usher import model, paths

WORKER = "/spec/pytorchReplicaSpecs/Worker/template"
METRICS: paths.Json = [{"type": "Resource"}]


def test_a_pytorch_job_has_a_pod_set_for_every_type_of_replica() -> None:
    job = builders.pytorch_job(workers=3, master=builders.template())

    assert counts(job) == [("Master", "/spec/pytorchReplicaSpecs/Master/template", 1, 1), ("Worker", WORKER, 3, 3)]
    assert readable_workload(job).pods == model.Count(minimum=4, maximum=4)


def test_a_missing_number_of_replicas_is_one() -> None:
    assert counts(builders.pytorch_job()) == [("Worker", WORKER, 1, 1)]


@pytest.mark.parametrize(
    ("policy", "minimum", "maximum"),
    [
        ({"minReplicas": 2, "maxReplicas": 10}, 2, 10),
        ({"minReplicas": 6, "maxReplicas": 10}, 4, 10),  # it starts with the replicas that are asked for
        ({"minReplicas": 1, "maxReplicas": 2}, 1, 4),
        ({"maxReplicas": 10}, 4, 10),  # one bound is both
        ({"minReplicas": 2}, 2, 4),
        ({"minReplicas": 8}, 4, 8),
        ({}, 4, 4),
    ],
)
def test_an_elastic_job_with_metrics_has_an_autoscaler(
    policy: dict[str, paths.Json], minimum: int, maximum: int
) -> None:
    job = builders.pytorch_job(workers=4, elastic_policy={**policy, "metrics": METRICS})

    assert counts(job) == [("Worker", WORKER, minimum, maximum)]


def test_an_elastic_job_without_metrics_has_the_workers_that_it_asks_for() -> None:
    job = builders.pytorch_job(workers=4, elastic_policy={"minReplicas": 2, "maxReplicas": 10})

    assert counts(job) == [("Worker", WORKER, 4, 4)]


def test_the_reason_of_a_range_is_the_policy() -> None:
    policy: paths.Object = {"minReplicas": 2, "maxReplicas": 10, "metrics": METRICS}

    assert workload(builders.pytorch_job(workers=4, elastic_policy=policy)).pod_sets[0].count.reason == "elasticPolicy"


def test_elastic_workers_with_zero_replicas_make_no_pods() -> None:
    assert counts(builders.pytorch_job(workers=0, elastic_policy={"nProcPerNode": 8})) == [("Worker", WORKER, 0, 0)]


def test_only_the_workers_of_an_elastic_job_are_elastic_however_their_name_is_written() -> None:
    job = builders.pytorch_job(
        workers=2, master=builders.template(), elastic_policy={"minReplicas": 1, "maxReplicas": 4, "metrics": METRICS}
    )
    renamed = builders.replaced(job, "/spec/pytorchReplicaSpecs", {"master": {}, "worker": {"replicas": 2}})

    assert [(name, low, high) for name, _, low, high in counts(job)] == [("Master", 1, 1), ("Worker", 1, 4)]
    assert [(name, low, high) for name, _, low, high in counts(renamed)] == [("master", 1, 1), ("worker", 1, 4)]


def test_the_name_of_a_replica_type_is_escaped_in_its_path() -> None:
    job = builders.replaced(builders.pytorch_job(), "/spec/pytorchReplicaSpecs", {"a/b": {"template": {}}})

    assert counts(job) == [("a/b", "/spec/pytorchReplicaSpecs/a~1b/template", 1, 1)]


def test_a_replica_type_that_is_not_an_object_is_unknown_and_makes_no_pods() -> None:
    job = builders.replaced(builders.pytorch_job(), "/spec/pytorchReplicaSpecs", {"Worker": None, "Master": 4})

    assert unknowns(job) == [
        ("/spec/pytorchReplicaSpecs/Worker", "expected an object, found null"),
        ("/spec/pytorchReplicaSpecs/Master", "expected an object, found a number"),
    ]
    assert workload(job).pod_sets == ()


def test_an_mpi_job_without_workers_is_its_launcher() -> None:
    assert counts(builders.mpi_job()) == [("Launcher", "/spec/mpiReplicaSpecs/Launcher/template", 1, 1)]


def test_an_mpi_job_has_one_launcher_beside_its_workers() -> None:
    assert counts(builders.mpi_job(workers=16)) == [
        ("Launcher", "/spec/mpiReplicaSpecs/Launcher/template", 1, 1),
        ("Worker", "/spec/mpiReplicaSpecs/Worker/template", 16, 16),
    ]


def test_ranks_see_the_environment_of_the_container_but_for_mpi_workers_which_sshd_starts() -> None:
    def inheriting(value: paths.Object) -> dict[str, bool]:
        return {found.name: found.ranks_inherit_environment for found in readable_workload(value).pod_sets}

    assert inheriting(builders.pytorch_job(master=builders.template())) == {"Master": True, "Worker": True}
    assert inheriting(builders.mpi_job(workers=2)) == {"Launcher": True, "Worker": False}


def test_the_operators_variables_are_known() -> None:
    pytorch = readable_workload(builders.pytorch_job()).pod_sets[0].operator_environment
    mpi = readable_workload(builders.mpi_job()).pod_sets[0].operator_environment

    assert {"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "PET_*"} <= pytorch
    assert {"OMPI_MCA_*", "I_MPI_*", "HYDRA_*"} <= mpi


@pytest.mark.parametrize("build", [builders.pytorch_job, builders.mpi_job])
def test_both_train_take_labels_at_the_object_and_settings_for_a_gang(build: Callable[..., paths.Object]) -> None:
    found = readable_workload(build(run_policy={"suspend": True}))

    assert found.role is model.Role.TRAINING
    assert found.queue_label_path == "/metadata"
    assert found.gang_places.queue == "/spec/runPolicy/schedulingPolicy/queue"
    assert found.suspended


@pytest.mark.parametrize("run_policy", [None, {}, {"suspend": False}])
def test_a_job_that_does_not_say_so_is_not_suspended(run_policy: dict[str, paths.Json] | None) -> None:
    assert not readable_workload(builders.pytorch_job(run_policy=run_policy)).suspended
