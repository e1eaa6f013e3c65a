"""serving.kserve.io: InferenceService. See runtimes.py for its runtimes and llm_services.py for LLMInferenceService.

KServe serves only v1beta1. It no longer serves v1alpha2, which kept its predictors under `spec.default`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from usher import model, paths
from usher.dataclass import dataclass
from usher.kinds.kind import Kind, Kueue, KueueUnit, Pods, Starts
from usher.kinds.kserve import multi_node, runtimes, shapes
from usher.kinds.kserve import replicas as kserve_replicas
from usher.kinds.kserve.components import containers, metadata
from usher.kinds.kserve.layers import NAMED, Layers, first, inside, pod_fields, replaces, says
from usher.kinds.kserve.replicas import Mode, Running
from usher.reading.templates import Place, Template
from usher.reading.values import Reading

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

_EXPLAINERS: Final = ("art",)
"""Fields of an explainer that hold a container and more fields."""

_MAX_CANARIES: Final = 4
"""usher reads no more canaries: it merges each one with the whole predictor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Service:
    """Values that all components of an InferenceService share."""

    how: Running
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    reading: Reading


def _inference_service(service: Object, reading: Reading) -> Iterator[Template]:
    spec = (Place(reading.mapping(service.get("spec"), "/spec"), "/spec"),)
    about = reading.mapping(service.get("metadata"), "/metadata")
    annotations = reading.strings(about.get("annotations"), "/metadata/annotations")
    predictor = inside(spec, "predictor", reading)
    workers = inside(predictor, "workerSpec", reading)
    shared = _Service(
        how=kserve_replicas.running(service, annotations, reading, several_nodes=bool(workers)),
        labels=reading.strings(about.get("labels"), "/metadata/labels"),
        annotations=annotations,
        reading=reading,
    )
    if predictor:
        yield from _predictor(predictor, workers, first(spec, "canary"), shared)
    for name in ("transformer", "explainer"):
        for place in inside(spec, name, reading):
            count = kserve_replicas.component(reading.mapping(*place), place.path, shared.how, reading)
            known = _EXPLAINERS if name == "explainer" else ()
            yield _component((place,), (), shared, name=name, count=count, known=known)


def _predictor(predictor: Layers, workers: Layers, canary: Place, shared: _Service) -> Iterator[Template]:
    reading, how = shared.reading, shared.how
    count = kserve_replicas.component(reading.mapping(*predictor[0]), predictor[0].path, how, reading)
    if how.mode is Mode.MODEL_MESH and not how.stopped:
        count = model.Count(minimum=0, maximum=0, reason="ModelMesh serves it in the pods of its runtimes")
    canaries = list(_canaries(canary, predictor, shared)) if how.mode is Mode.STANDARD and not how.stopped else []
    if canaries and says(first(predictor, "minReplicas").value):
        count = _beside(count, sum(number for _, number in canaries))
    runtime = _runtime(predictor, shared) if count.maximum != 0 else ()
    head = _component(predictor, runtime, shared, name="predictor", count=count, known=FRAMEWORKS)
    if workers:
        about = metadata(
            predictor,
            inside(runtime, "workerSpec", reading),
            labels=shared.labels,
            annotations=shared.annotations,
            reading=reading,
        )
        yield from multi_node.several(head, predictor, workers, runtime, how, metadata=about, reading=reading)
    else:
        yield head
    for layers, number in canaries:
        yield _component(
            layers,
            _runtime(layers, shared),
            shared,
            name=reading.text(*first(layers[:1], "name")),
            count=kserve_replicas.fixed(number, how),
            known=FRAMEWORKS,
        )


def _canaries(canary: Place, predictor: Layers, shared: _Service) -> Iterator[tuple[Layers, int]]:
    """Each canary with its number of pods: `minReplicas`, or its share of the traffic (KServe's canaryReplicaCount).

    A canary inherits missing fields from the predictor. Lists are not merged: each comes from one of the two.
    """
    reading = shared.reading
    replicas = reading.count(*first(predictor, "minReplicas"), default=1)
    for index, (path, value) in enumerate(reading.items(*canary)):
        if index == _MAX_CANARIES:
            reading.unknown(canary.path, f"more than {_MAX_CANARIES} canaries: the others are not judged")
            return
        percent = reading.count(value.get("trafficPercent"), path + "/trafficPercent", default=0)
        for place in inside((Place(value, path),), "predictor", reading):
            share = -(-replicas * percent // 100)
            number = reading.count(*first((place,), "minReplicas"), default=share)
            yield (place, _beneath(place, predictor[0], reading)), number


def _beneath(canary: Place, predictor: Place, reading: Reading) -> Place:
    """The fields that a canary inherits from the predictor: no workers, and no list that the canary sets itself."""
    dropped = {"workerSpec", *(name for name in NAMED if says(first((canary,), name).value))}
    value = {key: field for key, field in reading.mapping(*predictor).items() if key not in dropped}
    for name in FRAMEWORKS:
        framework = value.get(name)
        if isinstance(framework, dict) and says(first(inside((canary,), name, reading), "env").value):
            value[name] = {key: field for key, field in framework.items() if key != "env"}
    return Place(value, predictor.path)


def _beside(count: model.Count, ready: int) -> model.Count:
    """The number of stable pods: fewer while canaries are ready (KServe's adjustStableMinReplicasForCanaries)."""
    lowest = min(count.minimum, max(count.minimum - ready, 1))
    fewer = "fewer while its canaries are ready" if lowest < count.minimum else ""
    return replace(count, minimum=lowest, reason=", ".join(filter(None, (count.reason, fewer))))


def _runtime(predictor: Layers, shared: _Service) -> Layers:
    """The spec of the runtime that a predictor names.

    If it names no runtime, KServe takes the first that supports the model format. Only KServe knows all runtimes.
    """
    reading = shared.reading
    frameworks = [place for name in FRAMEWORKS for place in inside(predictor, name, reading)]
    if not frameworks:
        return ()
    place = first(inside(predictor, "model", reading), "runtime")
    if place.value in (None, ""):
        reason = "it names no runtime; KServe takes one that supports the model format: what that adds is not judged"
        reading.unknown(frameworks[0].path, reason)
        return ()
    name = reading.text(*place)
    found = runtimes.named(name, place.path, reading) if name else None
    return () if found is None else (found,)


def _component(  # noqa: PLR0913 - all that makes the pods of a component
    component: Layers, runtime: Layers, shared: _Service, *, name: str, count: model.Count, known: tuple[str, ...]
) -> Template:
    reading = shared.reading
    taken = tuple(Place(runtimes.pod_fields(reading.mapping(*place)), place.path) for place in runtime)
    layers = (*component, *taken)
    frameworks = [found for each in known if (found := inside(component, each, reading))]
    for superfluous in frameworks[1:]:
        reading.unknown(superfluous[0].path, "KServe refuses a second framework beside the first: not judged")
    of_lists = None
    if frameworks or len(component) > 1:
        framework = frameworks[0] if frameworks else ()
        of_lists = tuple(containers(component, framework, runtime, reading))
    known_whole = bool(runtime) or not frameworks or known is not FRAMEWORKS
    reaching = shared.how.mode is Mode.STANDARD and shared.how.declared
    return Template(
        name=name,
        path=component[0].path,
        spec=component[0],
        metadata=metadata(component, runtime, labels=shared.labels, annotations=shared.annotations, reading=reading),
        count=count,
        traits=runtimes.TRAITS._replace(
            changeable=reaching and known_whole and not replaces(layers), whole=known_whole
        ),
        containers=of_lists,
        fields=pod_fields(layers, reading) if len(layers) > 1 else {},
    )


KINDS = [
    Kind(
        group=runtimes.GROUP,
        kind="InferenceService",
        versions=("v1beta1",),
        plural="inferenceservices",
        key="inferenceService",
        shape=shapes.InferenceService,
        owned_by=(("apps.nvidia.com", "NIMService"),),
        pods=Pods(
            templates=_inference_service,
            template_paths=(
                "spec.{predictor,transformer,explainer}, which are pod specs with other fields beside",
                "spec.predictor.{" + ",".join(FRAMEWORKS) + "} and spec.explainer.art, which are containers",
                "spec.predictor.workerSpec",
                "spec.canary[].predictor",
            ),
            counted=(
                "from `minReplicas` (1 if missing) to `maxReplicas` of each component, in Knative mode without "
                "bound if "
                "missing; in Standard mode `maxSurge` (25 % if missing) more in a rollout; the workers that the "
                "sizes need"
            ),
            source="KS:pkg/apis/serving/v1beta1/{inference_service,component,podspec}.go; "
            "KS:pkg/controller/v1beta1/inferenceservice/",
            kueue_unit=KueueUnit.POD,
            starts=Starts.TOGETHER,
            shrinks=True,
            minimum_from="",
            role=model.Role.INFERENCE,
            kueue=Kueue.CHILDREN,
            # Its labels reach the Deployments and Knative Services, and the pods.
            queue_label_path="/metadata",
            changes=(
                "the components, if it says itself that it runs in Standard mode and its runtime is known: "
                "Knative refuses "
                "scheduling fields unless feature flags are on, and lists take the place of those of the runtime"
            ),
        ),
    ),
    *runtimes.KINDS,
]
