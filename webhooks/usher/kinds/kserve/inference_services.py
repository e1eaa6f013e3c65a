"""serving.kserve.io: InferenceService. See runtimes.py for its runtimes and llm_services.py for LLMInferenceService.

KServe serves only v1beta1. It no longer serves v1alpha2, which kept its predictors under `spec.default`.

KS:pkg/controller/v1beta1/inferenceservice/components/predictor.go (multiNodeProcess) and
KS:pkg/controller/v1beta1/inferenceservice/reconcilers/deployment/deployment_reconciler.go. KServe makes one Deployment
of workers, however many heads there are, and writes the number of accelerators into the containers of both.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from usher import model, paths
from usher.kinds.kind import Code
from usher.kinds.kserve import replicas, runtimes
from usher.kinds.kserve.replicas import Mode, Nodes, Running
from usher.kinds.reading.pod_templates import listed_containers
from usher.kinds.reading.templates import ContainerPlace, Place, Template
from usher.kinds.reading.values import Reading

_WORKER: Final = "worker-container"
_BACKEND: Final = "multinode/executor-backend"
"""An annotation of the runtime's pods. With `mp`, every node gets as many accelerators as the tensor parallel size."""

_UNSHARED: Final = "KServe writes GPUs into the head and every worker; how many, the runtime decides as well"


class _Sizes(NamedTuple):
    pipeline: int | None
    """None if only the runtime sets it and usher does not know the runtime."""
    tensor: int | None


def multi_node_templates(  # noqa: PLR0913 - all that makes the workers
    head: Template,
    predictor: runtimes.Layers,
    workers: runtimes.Layers,
    runtime: runtimes.Layers,
    how: Running,
    *,
    metadata: Place,
    reading: Reading,
) -> Iterator[Template]:
    """The head and its workers.

    Args:
        head: the template of the predictor, merged with the runtime.
        runtime: the spec of the runtime, if it is known.
        how: how the InferenceService is run.
        metadata: labels and annotations of the workers.
    """
    of_runtime = runtimes.field_layers(runtime, "workerSpec", reading)
    if runtime and not of_runtime:
        reading.unknown(workers[0].path, "the runtime has no workerSpec: KServe refuses the workers")
        yield head
        return
    worker = _worker((*workers, *of_runtime), metadata, head, reading)
    sizes = _sizes(workers, of_runtime, known=bool(runtime), reading=reading)
    nodes = _nodes(head, worker, sizes, path=workers[0].path, runtime=runtime, reading=reading)
    if nodes is None:
        total = None if None in sizes else (sizes.pipeline or 1) * (sizes.tensor or 1)
        yield _unshared(head, workers[0].path, total)
        most = None if total is None else max(total - 1, 0)
        yield replace(_unshared(worker, workers[0].path, total), count=_count(0, most, predictor, how, reading))
        return
    yield _with_accelerators(head, runtimes.SERVING, nodes.head, reading)
    number = nodes.number - 1
    yield replace(
        _with_accelerators(worker, _WORKER, nodes.worker, reading),
        count=_count(number, number, predictor, how, reading),
    )


def _worker(layers: runtimes.Layers, metadata: Place, head: Template, reading: Reading) -> Template:
    """The pods of the workers: one container, and the init containers."""
    own = tuple(Place(value, path) for path, value in reading.items(*runtimes.first_field(layers[:1], "containers")))[
        :1
    ]
    others = tuple(Place(value, path) for path, value in reading.items(*runtimes.first_field(layers[1:], "containers")))
    target = tuple(place for place in others if isinstance(place.value, dict) and place.value.get("name") == _WORKER)
    parts = (*own, *target[:1])
    taken = tuple(Place(runtimes.runtime_pod_fields(reading.mapping(*place)), place.path) for place in layers[1:])
    return Template(
        name="worker",
        path=layers[0].path,
        spec=layers[0],
        metadata=metadata,
        traits=head.traits._replace(
            changeable=head.traits.changeable and not runtimes.hides_other_layers((layers[0], *taken))
        ),
        containers=(
            *listed_containers({"initContainers": runtimes.first_field(layers[:1], "initContainers")}, reading),
            *([runtimes.merge_container(parts, reading, name=_WORKER)] if parts else []),
        ),
        fields=runtimes.merged_pod_fields((layers[0], *taken), reading) if taken else {},
    )


def _sizes(workers: runtimes.Layers, of_runtime: runtimes.Layers, *, known: bool, reading: Reading) -> _Sizes:
    def size(name: str) -> int | None:
        place = runtimes.first_field((*workers, *of_runtime), name)
        if place.value is None:
            return 1 if known else None
        return max(reading.count(*place, default=1), 1)

    return _Sizes(pipeline=size("pipelineParallelSize"), tensor=size("tensorParallelSize"))


def _nodes(  # noqa: PLR0913 - as above
    head: Template, worker: Template, sizes: _Sizes, *, path: str, runtime: runtimes.Layers, reading: Reading
) -> Nodes | None:
    """The nodes with their accelerators. None if the runtime is unknown, or if KServe refuses the request."""
    if not runtime or sizes.pipeline is None or sizes.tensor is None:
        return None
    annotations = runtimes.field_layers(runtime, "annotations", reading)
    if runtimes.first_field(annotations, _BACKEND).value == "mp":
        return Nodes(number=sizes.pipeline, head=sizes.tensor, worker=sizes.tensor)
    total = reading.count(sizes.pipeline * sizes.tensor, path, default=1)
    asked = {
        name: _requested_accelerators(template, name)
        for template, name in ((head, runtimes.SERVING), (worker, _WORKER))
    }
    nodes = replicas.on_ray(total, head=asked[runtimes.SERVING], worker=asked[_WORKER])
    if nodes is None:
        reading.unknown(path, f"KServe refuses it: it needs {total} GPUs, more than its head and workers ask for")
    return nodes


def _count(lowest: int, highest: int | None, predictor: runtimes.Layers, how: Running, reading: Reading) -> model.Count:
    """The number of workers. A rollout runs a full second set of them, unless the strategy says otherwise."""
    if how.stopped:
        return replicas.STOPPED
    if how.mode is not Mode.STANDARD:
        return model.Count(minimum=0, maximum=0, reason=f"KServe makes no workers in {how.mode} mode")
    if highest is None:
        reason = "the runtime, which is not known, may set the parallel sizes"
        return model.Count(minimum=lowest, maximum=None, reason=reason)
    surge = highest
    for value, path in runtimes.field_layers(predictor[:1], "deploymentStrategy", reading):
        strategy = reading.mapping(value, path)
        if strategy.get("type") != "RollingUpdate":
            surge = replicas.surge(strategy, path, highest, reading)
    reasons = ["the runtime decides how many nodes there are"] if lowest != highest else []
    if surge:
        reasons.append(f"{surge} more during a rollout")
    return model.Count(minimum=lowest, maximum=highest + surge, reason=", ".join(reasons))


def _resources(place: ContainerPlace) -> tuple[Place, Place]:
    """Limits and requests of a container, with their places."""
    path = place.path + "/resources"
    given = place.value.get("resources")
    held: Mapping[str, paths.Json] = given if isinstance(given, dict) else {}
    limits = place.limits or Place(held.get("limits"), path + "/limits")
    return limits, place.requests or Place(held.get("requests"), path + "/requests")


def _requested_accelerators(template: Template, name: str) -> int:
    """Accelerators that a container requests; KServe ignores its limits (KS:pkg/utils/utils.go)."""
    for place in template.containers or ():
        if place.name == name:
            amounts = Reading().resources(*_resources(place)[1])
            return next((amounts[each].value for each in runtimes.ACCELERATORS if each in amounts), 0)
    return 0


def _with_accelerators(template: Template, name: str, number: int, reading: Reading) -> Template:
    """The template with a number of accelerators written into its container."""
    annotations = _annotations(template)
    containers = []
    for place in template.containers or ():
        limits, requests = _resources(place)
        if place.name == name and all(
            each.value is None or isinstance(each.value, dict) for each in (limits, requests)
        ):
            for each in (limits, requests):
                reading.resources(*each)
            key = runtimes.accelerator((limits, requests), annotations)
            written = [
                Place({**(each.value if isinstance(each.value, dict) else {}), key: number}, each.path)
                for each in (limits, requests)
            ]
            containers.append(place._replace(limits=written[0], requests=written[1]))
        else:
            containers.append(place)
    return replace(template, containers=tuple(containers))


def _annotations(template: Template) -> Mapping[str, str]:
    metadata = template.metadata.value
    return Reading().strings(metadata.get("annotations") if isinstance(metadata, dict) else None, paths.ROOT)


def _unshared(template: Template, path: str, total: int | None) -> Template:
    """The template with an unknown number of accelerators, unless it asks for some itself."""
    for place in template.containers or ():
        if any(
            isinstance(each.value, dict) and each.value.keys() & {*runtimes.ACCELERATORS} for each in _resources(place)
        ):
            return template
    return replace(template, requests=(runtimes.shared_out(path, most=total, reason=_UNSHARED),))


Object = Mapping[str, paths.Json]

FRAMEWORKS: Final = (
    "model",
    "sklearn",
    "xgboost",
    "tensorflow",
    "pytorch",
    "triton",
    "onnx",
    "huggingface",
    "pmml",
    "lightgbm",
    "paddle",
)
"""Fields of a predictor that hold a container and more fields (KS:pkg/apis/serving/v1beta1/predictor.go)."""

_BY_V2: Final = {True: ("triton", "vllm"), False: ("triton", "onnx", "huggingface")}
"""The formats that KServe serves by protocol v2 where a service names no protocol: those of `model`, and frameworks
(KS:pkg/apis/serving/v1beta1/inference_service_defaults.go, setPredictorModelDefaults)."""

_EXPLAINERS: Final = ("art",)
"""Fields of an explainer that hold a container and more fields."""

_MAX_CANARIES: Final = 4
"""usher reads no more canaries: it merges each one with the whole predictor."""


class _Service(Struct, frozen=True, kw_only=True):
    """Values that all components of an InferenceService share."""

    how: Running
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    reading: Reading


def _inference_service(service: Object, reading: Reading) -> Iterator[Template]:
    spec = (Place(reading.mapping(service.get("spec"), "/spec"), "/spec"),)
    about = reading.mapping(service.get("metadata"), "/metadata")
    annotations = reading.strings(about.get("annotations"), "/metadata/annotations")
    predictor = runtimes.field_layers(spec, "predictor", reading)
    workers = runtimes.field_layers(predictor, "workerSpec", reading)
    shared = _Service(
        how=replicas.running(service, annotations, reading, several_nodes=bool(workers)),
        labels=reading.strings(about.get("labels"), "/metadata/labels"),
        annotations=annotations,
        reading=reading,
    )
    if predictor:
        yield from _predictor(predictor, workers, runtimes.first_field(spec, "canary"), shared)
    for name in ("transformer", "explainer"):
        for place in runtimes.field_layers(spec, name, reading):
            count = replicas.component(reading.mapping(*place), place.path, shared.how, reading)
            known = _EXPLAINERS if name == "explainer" else ()
            yield _component((place,), (), shared, name=name, count=count, known=known)


def _predictor(
    predictor: runtimes.Layers, workers: runtimes.Layers, canary: Place, shared: _Service
) -> Iterator[Template]:
    reading, how = shared.reading, shared.how
    count = replicas.component(reading.mapping(*predictor[0]), predictor[0].path, how, reading)
    if how.mode is Mode.MODEL_MESH and not how.stopped:
        count = model.Count(minimum=0, maximum=0, reason="ModelMesh serves it in the pods of its runtimes")
    canaries = list(_canaries(canary, predictor, shared)) if how.mode is Mode.STANDARD and not how.stopped else []
    if canaries and runtimes.is_said(runtimes.first_field(predictor, "minReplicas").value):
        count = _count_beside_canaries(count, sum(number for _, number in canaries))
    runtime = _runtime(predictor, shared) if count.maximum != 0 else ()
    head = _component(predictor, runtime, shared, name="predictor", count=count, known=FRAMEWORKS)
    if workers:
        about = runtimes.component_metadata(
            predictor,
            runtimes.field_layers(runtime, "workerSpec", reading),
            labels=shared.labels,
            annotations=shared.annotations,
            reading=reading,
        )
        yield from multi_node_templates(head, predictor, workers, runtime, how, metadata=about, reading=reading)
    else:
        yield head
    for layers, number in canaries:
        yield _component(
            layers,
            _runtime(layers, shared),
            shared,
            name=reading.text(*runtimes.first_field(layers[:1], "name")),
            count=replicas.fixed(number, how),
            known=FRAMEWORKS,
        )


def _canaries(canary: Place, predictor: runtimes.Layers, shared: _Service) -> Iterator[tuple[runtimes.Layers, int]]:
    """Each canary with its number of pods: `minReplicas`, or its share of the traffic (KServe's canaryReplicaCount).

    A canary inherits missing fields from the predictor. Lists are not merged: each comes from one of the two.
    """
    reading = shared.reading
    replicas = reading.count(*runtimes.first_field(predictor, "minReplicas"), default=1)
    for index, (path, value) in enumerate(reading.items(*canary)):
        if index == _MAX_CANARIES:
            reading.unknown(canary.path, f"more than {_MAX_CANARIES} canaries: the others are not judged")
            return
        percent = reading.count(value.get("trafficPercent"), path + "/trafficPercent", default=0)
        for place in runtimes.field_layers((Place(value, path),), "predictor", reading):
            share = -(-replicas * percent // 100)
            number = reading.count(*runtimes.first_field((place,), "minReplicas"), default=share)
            yield (place, _beneath(place, predictor[0], reading)), number


def _beneath(canary: Place, predictor: Place, reading: Reading) -> Place:
    """The fields that a canary inherits from the predictor: no workers, and no list that the canary sets itself."""
    dropped = {
        "workerSpec",
        *(name for name in runtimes.NAMED if runtimes.is_said(runtimes.first_field((canary,), name).value)),
    }
    value = {key: field for key, field in reading.mapping(*predictor).items() if key not in dropped}
    for name in FRAMEWORKS:
        framework = value.get(name)
        if isinstance(framework, dict) and runtimes.is_said(
            runtimes.first_field(runtimes.field_layers((canary,), name, reading), "env").value
        ):
            value[name] = {key: field for key, field in framework.items() if key != "env"}
    return Place(value, predictor.path)


def _count_beside_canaries(count: model.Count, ready: int) -> model.Count:
    """The number of stable pods: fewer while canaries are ready (KServe's adjustStableMinReplicasForCanaries)."""
    lowest = min(count.minimum, max(count.minimum - ready, 1))
    fewer = "fewer while its canaries are ready" if lowest < count.minimum else ""
    return replace(count, minimum=lowest, reason=", ".join(filter(None, (count.reason, fewer))))


def _runtime(predictor: runtimes.Layers, shared: _Service) -> runtimes.Layers:
    """The spec of the runtime that a predictor names, or that KServe chooses by the model format."""
    reading = shared.reading
    frameworks = [(name, place) for name in FRAMEWORKS for place in runtimes.field_layers(predictor, name, reading)]
    if not frameworks:
        return ()
    models = runtimes.field_layers(predictor, "model", reading)
    place = runtimes.first_field(models, "runtime")
    name = "" if place.value is None else reading.text(*place)
    if name:
        found = runtimes.named(name, place.path, reading)
    elif place.value not in (None, ""):
        return ()
    else:
        field, framework = frameworks[0]
        asked = runtimes.first_field(models, "modelFormat") if models else Place({"name": field}, framework.path)
        wanted = reading.mapping(*asked)
        protocol = reading.text(*runtimes.first_field(models or (framework,), "protocolVersion"))
        usual = "v2" if wanted.get("name") in _BY_V2[bool(models)] else "v1"
        several_nodes = bool(runtimes.field_layers(predictor, "workerSpec", reading))
        found = runtimes.chosen(
            wanted, framework.path, reading, protocol=protocol or usual, several_nodes=several_nodes
        )
    return () if found is None else (found,)


def _component(  # noqa: PLR0913 - all that makes the pods of a component
    component: runtimes.Layers,
    runtime: runtimes.Layers,
    shared: _Service,
    *,
    name: str,
    count: model.Count,
    known: tuple[str, ...],
) -> Template:
    reading = shared.reading
    taken = tuple(Place(runtimes.runtime_pod_fields(reading.mapping(*place)), place.path) for place in runtime)
    layers = (*component, *taken)
    frameworks = [found for each in known if (found := runtimes.field_layers(component, each, reading))]
    for superfluous in frameworks[1:]:
        reading.unknown(superfluous[0].path, "KServe refuses a second framework beside the first: not judged")
    of_lists = None
    if frameworks or len(component) > 1:
        framework = frameworks[0] if frameworks else ()
        of_lists = tuple(runtimes.component_containers(component, framework, runtime, reading))
    fully_known = bool(runtime) or not frameworks or known is not FRAMEWORKS
    reaching = shared.how.mode is Mode.STANDARD and shared.how.declared
    return Template(
        name=name,
        path=component[0].path,
        spec=component[0],
        metadata=runtimes.component_metadata(
            component, runtime, labels=shared.labels, annotations=shared.annotations, reading=reading
        ),
        count=count,
        traits=runtimes.TRAITS._replace(
            changeable=reaching and fully_known and not runtimes.hides_other_layers(layers), fully_known=fully_known
        ),
        containers=of_lists,
        fields=runtimes.merged_pod_fields(layers, reading) if len(layers) > 1 else {},
    )


CODE: Final[Mapping[str, Code]] = {
    "InferenceService.serving.kserve.io": {"templates": _inference_service},
}
