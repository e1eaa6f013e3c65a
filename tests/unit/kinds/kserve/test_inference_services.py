"""InferenceService and its runtimes: who says what of the pods, and their number (docs/domain/kinds.md#kserve)."""

import pytest

import builders
from builders import JsonValue
from unit.workloads.normalised import counts, readable_workload, unknowns, workload
from usher import model, paths
from usher.kinds.kserve.inference_services import FRAMEWORKS
from usher.reading.lookup import Objects

MODE = "serving.kserve.io/deploymentMode"
SCALER = "serving.kserve.io/autoscalerClass"
STANDARD = {MODE: "Standard"}

Spec = dict[str, JsonValue]


def service(
    predictor: Spec | None = None, *, annotations: dict[str, str] | None = None, **spec: JsonValue
) -> paths.Object:
    """An InferenceService; without a predictor one with a container of its own."""
    value = {"predictor": {"containers": [builders.container()]} if predictor is None else predictor, **spec}
    metadata = builders.Metadata() if annotations is None else builders.Metadata(annotations=annotations)
    return builders.custom("serving.kserve.io/v1beta1", "InferenceService", value, **metadata)


def custom(**fields: JsonValue) -> Spec:
    """A predictor with a container of its own."""
    return {"containers": [builders.container("kserve-container", gpus=1)], **fields}


def served(runtime: str | None = "vllm", *, model_fields: Spec | None = None, **fields: JsonValue) -> Spec:
    """A predictor whose model a runtime serves."""
    named: Spec = {} if runtime is None else {"runtime": runtime}
    return {"model": {"modelFormat": {"name": "huggingface"}, **named, **(model_fields or {})}, **fields}


def runtime(
    *containers: paths.Object, name: str = "vllm", kind: str = "ServingRuntime", **spec: JsonValue
) -> paths.Object:
    """A runtime; without containers one with the container that serves."""
    value = {"containers": list(containers) or [builders.container("kserve-container")], **spec}
    namespace = "ml-research" if kind == "ServingRuntime" else None
    return builders.custom("serving.kserve.io/v1alpha1", kind, value, name=name, namespace=namespace)


def predictor_of(value: paths.Object, *known: paths.Object) -> model.PodSet:
    """The first pod set of an object in which nothing is unknown."""
    return readable_workload(value, objects=Objects(known)).pod_sets[0]


def count(value: paths.Object) -> tuple[int, int | None]:
    found = predictor_of(value).count
    return found.minimum, found.maximum


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_resources_of_a_framework_are_those_of_a_container(framework: str) -> None:
    predictor: Spec = {framework: {"storageUri": "gs://models", "resources": {"limits": {builders.GPU: 2}}}}
    (found,) = workload(service(predictor)).pod_sets

    assert [(each.name, each.path, each.trains) for each in found.containers] == [
        ("kserve-container", f"/spec/predictor/{framework}", True)
    ]
    assert {name: str(quantity) for name, quantity in found.accelerators.items()} == {builders.GPU: "2"}
    assert found.requests[0].path == f"/spec/predictor/{framework}/resources/limits/nvidia.com~1gpu"


def test_a_predictor_may_be_a_pod_spec_of_its_own() -> None:
    predictor = custom(schedulerName="volcano", tolerations=[builders.toleration("gpu")], nodeSelector={"pool": "h100"})
    found = predictor_of(service(predictor))

    assert (found.name, found.path, found.spec_path) == ("predictor", "/spec/predictor", "/spec/predictor")
    assert (found.scheduler_name, found.node_selector) == ("volcano", {"pool": "h100"})
    assert [each.path for each in found.containers] == ["/spec/predictor/containers/0"]


def test_transformers_and_explainers_have_pods_of_their_own() -> None:
    value = service(
        transformer={"containers": [builders.container()], "minReplicas": 2, "maxReplicas": 3},
        explainer={"art": {"type": "SquareAttack", "resources": {"limits": {builders.GPU: 1}}}, "maxReplicas": 1},
    )

    assert counts(value) == [
        ("predictor", "/spec/predictor", 1, None),
        ("transformer", "/spec/transformer", 2, 3),
        ("explainer", "/spec/explainer", 1, 1),
    ]
    (explainer,) = readable_workload(value).pod_sets[2].containers
    assert (explainer.path, explainer.asks_accelerators) == ("/spec/explainer/art", True)


def test_the_containers_beside_a_framework_are_in_the_same_pod() -> None:
    predictor = served(
        None,
        initContainers=[builders.container("fetch", gpus=1), builders.sidecar("proxy")],
        containers=[builders.container("transformer-container"), builders.container("metrics")],
    )
    (found,) = workload(service(predictor)).pod_sets

    assert [(each.name, each.type) for each in found.containers] == [
        ("fetch", model.ContainerType.INIT),
        ("proxy", model.ContainerType.SIDECAR),
        ("kserve-container", model.ContainerType.APP),
        ("transformer-container", model.ContainerType.APP),
        ("metrics", model.ContainerType.APP),
    ]


def test_a_second_framework_is_refused_by_kserve_and_not_judged() -> None:
    value = service({"sklearn": {}, "triton": {"resources": {"limits": {builders.GPU: 1}}}})

    assert "/spec/predictor/triton" in [path for path, _ in unknowns(value)]


# Modes and counts


@pytest.mark.parametrize("annotations", [None, {MODE: "Knative"}, {MODE: "Serverless"}, {MODE: "something"}])
def test_nothing_bounds_a_component_in_knative_mode_without_max_replicas(annotations: dict[str, str] | None) -> None:
    found = predictor_of(service(custom(minReplicas=0), annotations=annotations)).count

    assert (found.minimum, found.maximum) == (0, None)
    assert "maxReplicas" in found.reason


def test_knative_is_told_to_be_the_default_where_nobody_says_the_mode() -> None:
    assert "KServe's default mode" in predictor_of(service()).count.reason
    assert "default" not in predictor_of(service(annotations={MODE: "Knative"})).count.reason


@pytest.mark.parametrize(
    ("lowest", "highest", "pods"),
    [(None, 3, (1, 3)), (2, 2, (2, 2)), (0, 4, (0, 4)), (5, 3, (3, 3)), (2, 0, (2, None))],
)
def test_knative_scales_between_the_bounds(lowest: int | None, highest: int, pods: tuple[int, int | None]) -> None:
    assert count(service(custom(minReplicas=lowest, maxReplicas=highest))) == pods


@pytest.mark.parametrize(("percent", "most"), [(None, 4), (100, 4), (10, 8), (0, 8)])
def test_the_revision_before_keeps_running_beside_a_canary_in_knative_mode(percent: int | None, most: int) -> None:
    assert count(service(custom(minReplicas=2, maxReplicas=4, canaryTrafficPercent=percent))) == (2, most)


@pytest.mark.parametrize("mode", ["Standard", "RawDeployment"])
@pytest.mark.parametrize(
    ("lowest", "highest", "pods"),
    [(None, None, (1, 2)), (0, None, (1, 2)), (3, None, (3, 4)), (2, 8, (2, 10)), (4, 2, (4, 5))],
)
def test_in_standard_mode_there_is_a_deployment_that_surges(
    mode: str, lowest: int | None, highest: int | None, pods: tuple[int, int]
) -> None:
    assert count(service(custom(minReplicas=lowest, maxReplicas=highest), annotations={MODE: mode})) == pods


@pytest.mark.parametrize(
    ("strategy", "most"),
    [
        ({"type": "Recreate"}, 4),
        ({"type": "RollingUpdate"}, 5),
        ({"rollingUpdate": {"maxSurge": 0}}, 4),
        ({"rollingUpdate": {"maxSurge": 3}}, 7),
        ({"rollingUpdate": {"maxSurge": "30%"}}, 6),
    ],
)
def test_the_deployment_strategy_says_how_far_it_surges(strategy: Spec, most: int) -> None:
    predictor = custom(minReplicas=4, deploymentStrategy=strategy)

    assert count(service(predictor, annotations=STANDARD)) == (4, most)


@pytest.mark.parametrize(
    ("scaler", "pods"), [("hpa", (1, 5)), ("keda", (0, 5)), ("none", (0, 0)), ("external", (0, None))]
)
def test_the_autoscaler_decides_what_the_bounds_mean(scaler: str, pods: tuple[int, int | None]) -> None:
    predictor = custom(minReplicas=0, maxReplicas=4)

    assert count(service(predictor, annotations={**STANDARD, SCALER: scaler})) == pods


def test_an_autoscaler_that_kserve_does_not_have_is_unknown() -> None:
    assert unknowns(service(annotations={**STANDARD, SCALER: "vpa"})) == [
        (
            "/metadata/annotations/serving.kserve.io~1autoscalerClass",
            "no such class; the classes are hpa, keda, external, none",
        )
    ]


def test_the_mode_in_which_it_runs_counts_before_the_one_that_it_asks_for() -> None:
    value = builders.replaced(service(annotations=STANDARD), "/status", {"deploymentMode": "Serverless"})

    assert count(value) == (1, None)


def test_model_mesh_serves_the_predictor_in_pods_of_its_own() -> None:
    value = service(served(None), annotations={MODE: "ModelMesh"}, transformer=custom(maxReplicas=2))

    assert counts(value) == [("predictor", "/spec/predictor", 0, 0), ("transformer", "/spec/transformer", 1, 2)]


@pytest.mark.parametrize(("text", "pods"), [("true", (0, 0)), ("True", (0, 0)), ("false", (1, None)), ("", (1, None))])
def test_a_stopped_service_has_no_pods(text: str, pods: tuple[int, int | None]) -> None:
    assert count(service(annotations={"serving.kserve.io/stop": text})) == pods


# Runtimes


def test_without_a_runtime_kserve_chooses_one_and_what_it_adds_is_unknown() -> None:
    ((path, reason),) = unknowns(service(served(None)))

    assert path == "/spec/predictor/model"
    assert "it names no runtime" in reason


def test_a_runtime_that_is_not_known_is_unknown_at_its_name() -> None:
    assert unknowns(service(served())) == [
        (
            "/spec/predictor/model/runtime",
            "runtime vllm is not known here, neither of the namespace nor the cluster: what it adds is not judged",
        )
    ]


@pytest.mark.parametrize("kind", ["ServingRuntime", "ClusterServingRuntime"])
def test_the_gpus_of_the_runtime_count_where_the_service_shows_none(kind: str) -> None:
    found = predictor_of(service(served()), runtime(builders.container("kserve-container", gpus=4), kind=kind))

    assert {name: str(quantity) for name, quantity in found.accelerators.items()} == {builders.GPU: "4"}
    assert [each.name for each in found.containers] == ["kserve-container"]


def test_a_runtime_of_the_namespace_comes_before_one_of_the_cluster() -> None:
    known = [
        runtime(builders.container("kserve-container", gpus=gpus), kind=kind)
        for kind, gpus in (("ClusterServingRuntime", 8), ("ServingRuntime", 2))
    ]

    assert str(predictor_of(service(served()), *known).accelerators[builders.GPU]) == "2"


def test_resources_of_the_service_override_those_of_the_runtime_one_by_one() -> None:
    own: Spec = {"resources": {"requests": {"cpu": "8"}, "limits": {builders.GPU: 2}}}
    container = builders.container(
        "kserve-container", requests={"cpu": "1", "memory": "4Gi"}, limits={builders.GPU: 1, "memory": "8Gi"}
    )
    (found,) = predictor_of(service(served(model_fields=own)), runtime(container)).containers

    assert {name: str(quantity) for name, quantity in found.requests.items()} == {"cpu": "8", "memory": "4294967296"}
    assert {name: str(quantity) for name, quantity in found.limits.items()} == {
        builders.GPU: "2",
        "memory": "8589934592",
    }
    assert found.resource_path("limits", builders.GPU) == "/spec/predictor/model/resources/limits/nvidia.com~1gpu"


def test_variables_of_the_service_override_those_of_the_runtime_by_name() -> None:
    own: Spec = {"env": [{"name": "NCCL_DEBUG", "value": "WARN"}]}
    container = builders.container("kserve-container", env={"NCCL_DEBUG": "INFO", "NCCL_IB_HCA": "mlx5"})
    (found,) = predictor_of(service(served(model_fields=own)), runtime(container)).containers
    last = {variable.name: variable.value for variable in found.environment}

    assert last == {"NCCL_DEBUG": "WARN", "NCCL_IB_HCA": "mlx5"}


def test_devices_that_the_runtime_claims_are_claimed_for_the_container_that_serves() -> None:
    claim = builders.custom(
        "resource.k8s.io/v1",
        "ResourceClaim",
        {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 2}}]}},
        name="gpus",
    )
    known = runtime(
        builders.container("kserve-container", claims=["gpu"]),
        resourceClaims=[{"name": "gpu", "resourceClaimName": "gpus"}],
    )
    own: Spec = {"resources": {"limits": {"cpu": 4}}}
    found = predictor_of(service(served(model_fields=own)), known, claim)

    assert [(request.name, str(request.maximum)) for request in found.requests] == [("gpu.nvidia.com", "2")]
    assert found.containers[0].asks_accelerators


def test_other_containers_of_the_runtime_are_in_the_pods_too() -> None:
    known = runtime(
        builders.container("kserve-container"),
        builders.container("agent", gpus=1),
        builders.container("transformer-container", gpus=1),
    )
    predictor = served(containers=[builders.container("transformer-container", limits={"cpu": 1})])
    found = predictor_of(service(predictor), known)

    assert [each.name for each in found.containers] == ["kserve-container", "transformer-container", "agent"]
    assert str(found.accelerators[builders.GPU]) == "2"
    assert found.containers[1].path == "/spec/predictor/containers/0"


def test_a_runtime_without_the_container_that_serves_makes_no_pods() -> None:
    known = Objects([runtime(builders.container("other"))])

    assert [path for path, _ in unknowns(service(served()), objects=known)] == ["/spec/predictor/model/runtime"]


def test_scheduling_fields_of_the_runtime_stand_in_for_those_of_the_service() -> None:
    known = runtime(
        tolerations=[builders.toleration("gpu")],
        nodeSelector={"pool": "h100", "zone": "a"},
        affinity=builders.node_affinity(builders.term(builders.expression("pool", "In", "h100"))),
        schedulerName="kai-scheduler",
    )
    bare = predictor_of(service(served()), known)
    own = predictor_of(
        service(served(tolerations=[builders.toleration("mine")], nodeSelector={"zone": "b"}, schedulerName="volcano")),
        known,
    )

    assert [each["key"] for each in bare.tolerations] == ["gpu"]
    assert (bare.node_selector, bare.scheduler_name) == ({"pool": "h100", "zone": "a"}, "kai-scheduler")
    assert len(bare.required_terms) == 1
    assert [each["key"] for each in own.tolerations] == ["mine"]
    assert (own.node_selector, own.scheduler_name) == ({"pool": "h100", "zone": "b"}, "volcano")


def test_what_a_runtime_says_that_never_reaches_a_pod_is_not_read() -> None:
    known = runtime(initContainers=[builders.container("fetch", gpus=8)], priorityClassName="high")
    found = predictor_of(service(served()), known)

    assert (found.priority_class_name, dict(found.accelerators)) == ("", {})


def test_what_is_wrong_in_a_runtime_is_told_at_its_name() -> None:
    known = runtime(builders.container("kserve-container", limits={builders.GPU: "many"}), tolerations="all")

    found = unknowns(service(served()), objects=Objects([known]))

    assert {path for path, _ in found} == {"/spec/predictor/model/runtime"}
    assert any("spec.tolerations: expected a list" in reason for _, reason in found)
    assert any("spec.containers[0].resources.limits" in reason for _, reason in found)


def test_labels_and_annotations_of_all_three_reach_the_pods_and_the_component_wins() -> None:
    value = builders.custom(
        "serving.kserve.io/v1beta1",
        "InferenceService",
        {"predictor": served(labels={"a": "predictor"}, annotations={"x": "predictor"})},
        labels={"a": "service", "b": "service"},
        annotations={"x": "service", "gpu-fraction": "0.5"},
    )
    known = runtime(labels={"a": "runtime", "b": "runtime", "c": "runtime"}, annotations={"y": "runtime"})
    found = predictor_of(value, known)

    assert found.labels == {"a": "predictor", "b": "service", "c": "runtime"}
    assert found.annotations == {"x": "predictor", "gpu-fraction": "0.5", "y": "runtime"}
    assert [(request.name, str(request.maximum)) for request in found.requests] == [("gpu-fraction", "500m")]


def test_an_inherited_annotation_that_cannot_be_read_is_told_where_it_stands() -> None:
    assert unknowns(service(annotations={"gpu-fraction": "half"}))[0][0] == "/metadata/annotations/gpu-fraction"


# Where a mutation would reach the pods


@pytest.mark.parametrize(
    ("annotations", "predictor", "known", "changeable"),
    [
        (STANDARD, custom(), None, True),
        (None, custom(), None, False),
        ({MODE: "Knative"}, custom(), None, False),
        (STANDARD, served(), runtime(), True),
        (STANDARD, served(), None, False),
        (STANDARD, served(None), None, False),
        (STANDARD, served(), runtime(tolerations=[builders.toleration("gpu")]), False),
        (
            STANDARD,
            served(tolerations=[builders.toleration("mine")]),
            runtime(tolerations=[builders.toleration("gpu")]),
            True,
        ),
    ],
)
def test_only_what_takes_nothing_away_and_is_not_refused_may_be_changed(
    annotations: dict[str, str] | None, predictor: Spec, known: paths.Object | None, changeable: bool
) -> None:
    found = workload(service(predictor, annotations=annotations), objects=Objects([known] if known else []))

    assert [each.changeable for each in found.pod_sets] == [changeable]


# Canaries


def test_canaries_have_their_share_of_the_pods_and_take_what_they_do_not_say() -> None:
    stable = served(model_fields={"resources": {"limits": {builders.GPU: 4}}}, minReplicas=4, nodeSelector={"a": "b"})
    canary: Spec = {"trafficPercent": 30, "predictor": {"name": "next", "model": {"storageUri": "hf://next"}}}
    value = service(stable, annotations=STANDARD, canary=[canary])
    found = readable_workload(value, objects=Objects([runtime()]))

    assert [(each.name, each.path, each.count.minimum, each.count.maximum) for each in found.pod_sets] == [
        ("predictor", "/spec/predictor", 2, 5),
        ("next", "/spec/canary/0/predictor", 2, 3),
    ]
    assert str(found.pod_sets[1].accelerators[builders.GPU]) == "4"
    assert found.pod_sets[1].node_selector == {"a": "b"}


def test_a_canary_may_say_how_many_pods_it_has() -> None:
    canary: Spec = {"trafficPercent": 1, "predictor": {"name": "next", "minReplicas": 3}}
    value = service(custom(minReplicas=4), annotations=STANDARD, canary=[canary])

    assert [each.count.minimum for each in readable_workload(value).pod_sets] == [1, 3]


def test_canaries_are_for_standard_mode() -> None:
    value = service(custom(), canary=[{"trafficPercent": 10, "predictor": custom(name="next")}])

    assert [name for name, *_ in counts(value)] == ["predictor"]


def test_there_is_an_end_to_canaries() -> None:
    canary: Spec = {"trafficPercent": 0, "predictor": custom(name="next")}
    found = workload(service(custom(), annotations=STANDARD, canary=[canary] * 100))

    assert len(found.pod_sets) < 20
    assert "/spec/canary" in [unknown.path for unknown in found.unknowns]


# Several nodes


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


# The runtimes themselves


@pytest.mark.parametrize("kind", ["ServingRuntime", "ClusterServingRuntime"])
def test_a_runtime_is_a_template_of_which_one_use_is_one_pod(kind: str) -> None:
    value = runtime(
        builders.container("kserve-container", gpus=2),
        kind=kind,
        tolerations=[builders.toleration("gpu")],
        labels={"app": "vllm"},
    )
    found = readable_workload(value)

    assert found.is_template
    assert counts(value) == [("", "/spec", 1, 1)]
    assert (found.pod_sets[0].labels, len(found.pod_sets[0].tolerations)) == ({"app": "vllm"}, 1)
    assert not found.pod_sets[0].changeable


def test_a_runtime_for_several_nodes_gets_gpus_that_it_does_not_say() -> None:
    found = readable_workload(several())

    assert [(each.name, each.path) for each in found.pod_sets] == [("head", "/spec"), ("worker", "/spec/workerSpec")]
    assert [(total.name, str(total.minimum), total.maximum) for total in found.totals] == [(builders.GPU, "0", None)]


# What they are for


def test_a_service_is_for_inference_and_kueue_sees_its_labels_on_what_it_makes() -> None:
    found = readable_workload(service())

    assert found.role is model.Role.INFERENCE
    assert found.queue_label_path == "/metadata"
    assert not found.gang.wanted


def test_the_version_that_nobody_serves_is_named_and_not_judged() -> None:
    value = builders.replaced(service(), "/apiVersion", "serving.kserve.io/v1alpha2")

    assert unknowns(value) == [("/spec/predictor", "InferenceService is known in v1beta1, not in v1alpha2: not judged")]


def test_a_component_of_a_wrong_type_is_unknown_and_makes_no_pods() -> None:
    value = service(transformer=7)

    assert unknowns(value) == [("/spec/transformer", "expected an object, found a number")]
    assert [each.name for each in workload(value).pod_sets] == ["predictor"]


def test_an_object_without_a_spec_makes_no_pods() -> None:
    assert workload({"apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService"}).pod_sets == ()
