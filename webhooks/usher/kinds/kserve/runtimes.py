"""serving.kserve.io: ServingRuntime and ClusterServingRuntime, which complete an InferenceService."""

from collections.abc import Iterator, Mapping
from typing import Final

from usher import model, paths, quantities
from usher.kinds.kind import Facts, Kind, KueueUnit, Pods, Starts, keep_spec_without_secrets
from usher.kinds.kserve.merging import Layers, field_layers, first_field
from usher.kinds.reading.templates import ONE, Place, Template, Traits
from usher.kinds.reading.values import Reading, Reference

GROUP: Final = "serving.kserve.io"

GPU: Final = "nvidia.com/gpu"
ACCELERATORS: Final = (GPU, "amd.com/gpu", "intel.com/gpu", "habana.ai/gaudi")
"""Resources that KServe knows to be accelerators (KS:pkg/constants/constants.go)."""

TRAITS: Final = Traits(
    operator_environment=frozenset(
        {
            "INFERENCE_SERVICE_NAME",
            "RAY_NODE_COUNT",
            "REQUEST_GPU_COUNT",
            "PIPELINE_PARALLEL_SIZE",
            "TENSOR_PARALLEL_SIZE",
            "MODEL_NAME",
            "MODEL_DIR",
            "ISVC_NAME",
            "HEAD_SVC",
            "WORKER_SVC",
        }
    ),
    changeable=False,
)

TAKEN: Final = ("nodeSelector", "affinity", "tolerations", "schedulerName", "resourceClaims")
"""Fields of a runtime that reach the pods (KS:pkg/controller/v1beta1/inferenceservice/utils/utils.go, MergePodSpec)."""

Object = Mapping[str, paths.Json]

_LONGEST_LIST: Final = 1024
"""usher reads at most this many characters of a list of resources."""

_SHARED: Final = (
    "KServe writes GPUs into the head and every worker, as many as the parallel sizes need, which are often those of "
    "the InferenceService"
)
_WORKERS: Final = "as many as the parallel sizes need, which are often those of the InferenceService"


def named(name: str, path: str, reading: Reading) -> Place | None:
    """The spec of the runtime, from the namespace or else from the cluster. If it is unknown: None, and recorded.

    KS:pkg/controller/v1beta1/inferenceservice/utils/utils.go, GetServingRuntime.
    """
    for kind, namespace in (("ServingRuntime", reading.context.namespace), ("ClusterServingRuntime", "")):
        reference = Reference(group=GROUP, kind=kind, name=name, namespace=namespace)
        found = reading.context.find(reference)
        if found is not None:
            reading.record_reference(path, reference)
            return Place(reading.mapping(found.get("spec"), path + "/spec"), path + "/spec")
    reason = f"runtime {name} is not known here, neither of the namespace nor the cluster: what it adds is not judged"
    reading.unknown(path, reason)
    return None


def pod_fields(runtime: Object) -> Object:
    """Fields of a runtime, or of its workerSpec, that reach the pods, without the containers."""
    return {name: runtime[name] for name in TAKEN if name in runtime}


def accelerator(resources: tuple[Place, ...], annotations: Mapping[str, str]) -> str:
    """The resource that KServe writes the number of accelerators into: the first that is asked for, or NVIDIA's.

    Args:
        resources: limits and requests of the container.
        annotations: of the pods; one of them may name more resources, in a list in JSON.
    """
    more = annotations.get("serving.kserve.io/gpu-resource-types", "")[:_LONGEST_LIST]
    asked = [
        name
        for value, _ in resources
        if isinstance(value, dict)
        for name, amount in value.items()
        if amount not in (0, "0")
    ]
    known = [name for name in ACCELERATORS if name in asked] + [name for name in asked if f'"{name}"' in more]
    return known[0] if known else GPU


def _runtime(value: Object, reading: Reading) -> Iterator[Template]:
    """The template for one use of a runtime.

    With a workerSpec the use has several nodes, and KServe adds accelerators.
    """
    spec = Place(value.get("spec"), "/spec")
    workers = field_layers((spec,), "workerSpec", reading)
    yield _template(spec, reading, name="head" if workers else "", requests=_shared(workers))
    if workers:
        count = model.Count(minimum=0, maximum=None, reason=_WORKERS)
        yield _template(workers[0], reading, name="worker", count=count, requests=_shared(workers))


def _template(
    holder: Place,
    reading: Reading,
    *,
    name: str,
    count: model.Count = ONE,
    requests: tuple[model.AcceleratorRequest, ...],
) -> Template:
    value, path = reading.mapping(*holder), holder.path
    spec = {**pod_fields(value), "containers": value.get("containers")}
    return Template(
        name=name,
        path=path,
        spec=Place(spec, path),
        metadata=Place(value, path),
        count=count,
        traits=TRAITS,
        requests=requests,
    )


def _shared(workers: tuple[Place, ...]) -> tuple[model.AcceleratorRequest, ...]:
    return tuple(shared_out(place.path, most=None, reason=_SHARED) for place in workers)


def shared_out(path: str, *, most: int | None, reason: str) -> model.AcceleratorRequest:
    """An unknown number of accelerators, which KServe writes into the pods of several nodes."""
    return model.AcceleratorRequest(
        route=model.Route.RESOURCE,
        name=GPU,
        minimum=quantities.ZERO,
        maximum=None if most is None else quantities.parse(most),
        path=path,
        reason=reason,
    )


_CHANGES: Final = "nothing: Knative refuses scheduling fields unless feature flags are on, so pods are changed instead"
_SOURCE: Final = (
    "KS:pkg/apis/serving/v1alpha1/servingruntime_types.go; "
    "KS:pkg/controller/v1beta1/inferenceservice/components/predictor.go"
)


def _kind(kind: str, *, plural: str, cluster_scoped: bool) -> Kind:
    return Kind(
        group=GROUP,
        kind=kind,
        versions=("v1alpha1",),
        plural=plural,
        cluster_scoped=cluster_scoped,
        facts=Facts(keep=keep_spec_without_secrets),
        pods=Pods(
            templates=_runtime,
            template_paths=("spec, which is a part of a pod spec", "spec.workerSpec"),
            counted="1 for one use; the workers are not bounded, nor are the GPUs that KServe writes into all of them",
            source=_SOURCE,
            role=model.Role.INFERENCE,
            is_template=True,
            changes=_CHANGES,
            kueue_unit=KueueUnit.POD,
            starts=Starts.TOGETHER,
            shrinks=True,
            minimum_from="",
        ),
    )


KINDS = [
    _kind("ServingRuntime", plural="servingruntimes", cluster_scoped=False),
    _kind("ClusterServingRuntime", plural="clusterservingruntimes", cluster_scoped=True),
]


KIND: Final = "LLMInferenceServiceConfig"

SYSTEM_NAMESPACE: Final = "kserve"
"""Namespace of KServe by default; it holds the configurations for all namespaces."""

_MAX_CONFIGS: Final = 16


def named_by(own: Layers, reading: Reading) -> tuple[Layers, bool]:
    """The configurations that a service names, and whether all are known. The last one comes first: it wins.

    The namespace of the service comes before that of KServe (KS:pkg/controller/v1alpha2/llmisvc/config_merge.go).
    usher does not follow the names inside a configuration.
    """
    found: dict[str, Place] = {}
    complete = True
    refs = first_field(own, "baseRefs")
    for index, (path, ref) in enumerate(reading.items(*refs)):
        if index == _MAX_CONFIGS:
            reading.unknown(refs.path, f"more than {_MAX_CONFIGS} configurations: the others are not judged")
            return tuple(reversed(found.values())), False
        name = reading.text(ref.get("name"), path + "/name")
        config = _look_up_runtime(name, path + "/name", reading) if name else None
        complete = complete and config is not None
        if config is not None:
            # A repeated name counts at its last position.
            found.pop(name, None)
            found[name] = config
    return tuple(reversed(found.values())), complete


def _look_up_runtime(name: str, path: str, reading: Reading) -> Place | None:
    for namespace in (reading.context.namespace, SYSTEM_NAMESPACE):
        reference = Reference(group=GROUP, kind=KIND, name=name, namespace=namespace)
        found = reading.context.find(reference)
        if found is not None:
            reading.record_reference(path, reference)
            return Place(reading.mapping(found.get("spec"), path + "/spec"), path + "/spec")
    where = " nor in ".join(dict.fromkeys(filter(None, (reading.context.namespace, SYSTEM_NAMESPACE))))
    reading.unknown(path, f"{KIND} {name} is not known here, neither in {where}: what it adds is not judged")
    return None
