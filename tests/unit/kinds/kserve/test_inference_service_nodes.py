"""InferenceServices that serve a model on several nodes (docs/domain/kinds.md#kserve)."""

import pytest

import builders
from builders import JsonValue
from unit.kinds.kserve.inference_services import MODE, SCALER, Spec, runtime, served, service
from unit.workloads.normalised import readable_workload, unknowns, workload
from usher import paths
from usher.kinds.reading.values import Objects


def nodes(value: paths.Object, *known: paths.Object) -> list[tuple[str, int, int | None, str]]:
    """Name, pods and GPUs of each pod."""
    found = readable_workload(value, objects=Objects(known))
    return [
        (each.name, each.count.minimum, each.count.maximum, str(each.accelerators.get(builders.GPU, 0)))
        for each in found.pod_sets
    ]


def spread(*, workers: Spec | None = None, model_fields: Spec | None = None, **fields: JsonValue) -> paths.Object:
    """An InferenceService on several nodes."""
    predictor = {**served(model_fields=model_fields), "workerSpec": workers or {}, **fields}
    return service(predictor, annotations={SCALER: "none"})


def several(
    *,
    head: int | None = None,
    worker: int | None = None,
    sizes: Spec | None = None,
    annotations: dict[str, JsonValue] | None = None,
) -> paths.Object:
    """A runtime for several nodes, and the GPUs that its containers request."""

    def container(name: str, gpus: int | None) -> paths.Object:
        amounts = None if gpus is None else {builders.GPU: gpus}
        return builders.container(name, requests=amounts, limits=amounts)

    worker_spec: Spec = {"containers": [container("worker-container", worker)], **(sizes or {})}
    return runtime(container("kserve-container", head), workerSpec=worker_spec, annotations=annotations)


@pytest.mark.parametrize(
    ("pipeline", "tensor", "head", "worker", "expected"),
    [
        (1, 1, None, None, (1, 0, "1", "1")),
        (2, 1, None, None, (1, 1, "1", "1")),
        (2, 4, None, None, (1, 7, "1", "1")),
        (2, 8, None, 8, (1, 1, "8", "8")),
        (3, 4, None, 8, (1, 1, "4", "8")),
        (2, 4, 8, 4, (1, 0, "8", "0")),
        (2, 4, 4, None, (1, 4, "4", "1")),
        (1, 4, None, 8, (1, 0, "4", "0")),
    ],
)
def test_gpus_are_shared_out_over_the_nodes_of_a_ray_cluster(
    pipeline: int, tensor: int, head: int | None, worker: int | None, expected: tuple[int, int, str, str]
) -> None:
    sizes: Spec = {"pipelineParallelSize": pipeline, "tensorParallelSize": tensor}
    first, second = nodes(spread(workers=sizes), several(head=head, worker=worker))

    assert (first[0], second[0]) == ("predictor", "worker")
    assert (first[1], second[1], first[3], second[3]) == expected


def test_the_sizes_of_the_service_come_before_those_of_the_runtime() -> None:
    known = several(worker=8, sizes={"pipelineParallelSize": 4, "tensorParallelSize": 8})

    assert [pods for _, pods, _, _ in nodes(spread(), known)] == [1, 3]
    assert [pods for _, pods, _, _ in nodes(spread(workers={"pipelineParallelSize": 2}), known)] == [1, 1]


def test_without_ray_every_node_takes_as_many_gpus_as_tensors_are_split_into() -> None:
    known = several(annotations={"multinode/executor-backend": "mp"})
    sizes: Spec = {"pipelineParallelSize": 3, "tensorParallelSize": 8}

    assert [(pods, gpus) for _, pods, _, gpus in nodes(spread(workers=sizes), known)] == [(1, "8"), (2, "8")]


def test_workers_are_as_many_again_during_a_rollout_but_for_recreate() -> None:
    known = several(sizes={"pipelineParallelSize": 4})

    assert [(low, high) for _, low, high, _ in nodes(spread(), known)] == [(1, 2), (3, 6)]
    recreated = spread(deploymentStrategy={"type": "Recreate"})
    assert [(low, high) for _, low, high, _ in nodes(recreated, known)] == [(1, 1), (3, 3)]


def test_there_is_one_set_of_workers_however_many_heads_there_are() -> None:
    known = several(sizes={"pipelineParallelSize": 2})

    assert [low for _, low, _, _ in nodes(spread(minReplicas=3), known)] == [3, 1]


def test_the_accelerators_of_nodes_are_of_the_kind_that_their_containers_ask_for() -> None:
    container = builders.container("worker-container", requests={"amd.com/gpu": 4})
    known = runtime(workerSpec={"containers": [container], "pipelineParallelSize": 2, "tensorParallelSize": 4})
    found = readable_workload(spread(), objects=Objects([known])).pod_sets

    assert [dict(each.accelerators).keys() for each in found] == [{builders.GPU}, {"amd.com/gpu"}]


def test_gpus_that_are_too_few_are_refused_by_kserve() -> None:
    sizes: Spec = {"pipelineParallelSize": 2, "tensorParallelSize": 8}
    known = Objects([several(head=1, worker=8)])

    ((path, reason),) = unknowns(spread(workers=sizes), objects=known)

    assert path == "/spec/predictor/workerSpec"
    assert "KServe refuses it" in reason


def test_workers_without_a_runtime_for_them_are_refused_by_kserve() -> None:
    found = workload(spread(), objects=Objects([runtime()]))

    assert [each.name for each in found.pod_sets] == ["predictor"]
    assert "the runtime has no workerSpec" in found.unknowns[0].reason


def test_with_an_unknown_runtime_the_sizes_bound_the_workers_and_their_gpus() -> None:
    sized = workload(spread(workers={"pipelineParallelSize": 2, "tensorParallelSize": 8}))
    bare = workload(spread())

    assert [(each.count.minimum, each.count.maximum) for each in sized.pod_sets] == [(1, 2), (0, 30)]
    assert [str(request.maximum) for each in sized.pod_sets for request in each.requests] == ["16", "16"]
    assert bare.pod_sets[1].count.maximum is None
    assert bare.totals[0].maximum is None


def test_what_the_service_asks_for_itself_counts_while_the_runtime_is_unknown() -> None:
    asking: Spec = {"resources": {"limits": {builders.GPU: 8}}}
    worker: Spec = {"containers": [{"resources": {"limits": {builders.GPU: 8}}}], "pipelineParallelSize": 2}
    found = workload(spread(workers=worker, model_fields=asking))

    assert [str(each.accelerators[builders.GPU]) for each in found.pod_sets] == ["8", "8"]
    assert found.pod_sets[1].containers[0].path == "/spec/predictor/workerSpec/containers/0"


def test_knative_makes_no_workers() -> None:
    value = service(served(workerSpec={}), annotations={MODE: "Knative", SCALER: "none"})
    found = readable_workload(value, objects=Objects([several(sizes={"pipelineParallelSize": 4})]))

    assert found.pod_sets[1].count.maximum == 0


def test_a_runtime_for_several_nodes_gets_gpus_that_it_does_not_say() -> None:
    found = readable_workload(several())

    assert [(each.name, each.path) for each in found.pod_sets] == [("head", "/spec"), ("worker", "/spec/workerSpec")]
    assert [(total.name, str(total.minimum), total.maximum) for total in found.totals] == [(builders.GPU, "0", None)]
