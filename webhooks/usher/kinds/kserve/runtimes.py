"""serving.kserve.io: runtimes, which complete an InferenceService, and how KServe merges the layers of a pod template.

KServe merges them strategically, as `kubectl patch` does: objects field by field, containers and variables by their
names, other lists as a whole (KS:pkg/utils/container_merge.go, KS:pkg/controller/v1alpha2/llmisvc/config_merge.go).
Each part keeps its path. Missing and empty values do not count, because Go leaves them out.

KS:pkg/controller/v1beta1/inferenceservice/components/predictor.go, buildPodSpec and buildObjectMeta.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from usher import model, paths, quantities
from usher.kinds.kind import Code
from usher.kinds.reading import environment as reading_environment
from usher.kinds.reading.pod_templates import listed_containers
from usher.kinds.reading.templates import LISTS, ONE, ContainerPlace, Place, Template, Traits
from usher.kinds.reading.values import Reading, Reference
from usher.model import placement

Layers = tuple[Place, ...]
"""One object in several manifests, the winning one first; each value is an object."""

_EMPTY: Final[tuple[object, ...]] = (None, "", [], {})

_WHOLE: Final = (
    "tolerations",
    "schedulerName",
    "priorityClassName",
    "runtimeClassName",
    "nodeName",
    "overhead",
    "resources",
    "schedulingGroup",
)
"""Fields of a pod spec that usher reads and that come from one layer."""

NAMED: Final = ("resourceClaims", "schedulingGates")
"""Lists whose entries KServe merges by name."""

_TEXTS: Final = ("name", "resourceClaimName", "resourceClaimTemplateName")
"""All fields of these entries."""

_PLACEHOLDER: Final = "{{"
_DEPTH: Final = 12


def is_said(value: object) -> bool:
    return not any(value is empty or (type(value) is type(empty) and value == empty) for empty in _EMPTY)


def field_layers(layers: Layers, name: str, reading: Reading) -> Layers:
    """An object field, in each layer that has it; empty objects are kept."""
    found = []
    for value, path in layers:
        if isinstance(value, dict) and value.get(name) is not None:
            field_path = paths.join(path, name)
            field = reading.mapping(value[name], field_path)
            if isinstance(value[name], dict):
                found.append(Place(field, field_path))
    return tuple(found)


def first_field(layers: Layers, name: str) -> Place:
    """A whole field from the first layer that sets it. If no layer sets it, the field of the first layer."""
    fields = [Place(value.get(name), paths.join(path, name)) for value, path in layers if isinstance(value, dict)]
    return next((place for place in fields if is_said(place.value)), fields[0] if fields else Place(None, ""))


def merge_entries(layers: Layers, reading: Reading) -> Place:
    """Merges objects of plain values, for example labels or resources, key by key, at the path of the first layer."""
    if len(layers) <= 1:
        return layers[0] if layers else Place(None, "")
    merged: dict[str, paths.Json] = {}
    for value, path in reversed(layers):
        merged |= dict(reading.mapping(value, path))
    return Place(merged, layers[0].path)


def merged_pod_fields(layers: Layers, reading: Reading) -> dict[str, Place]:
    """The merged fields of a pod spec, without its containers.

    usher reads only the required node affinity, which comes from one layer.
    """
    found = {name: first_field(layers, name) for name in _WHOLE}
    found |= {name: _by_name(layers, name, reading) for name in NAMED}
    found["nodeSelector"] = _selector(layers, reading)
    found["affinity"] = required_affinity(layers) or first_field(layers, "affinity")
    for name, place in list(found.items()):
        if _has_placeholder(place.value):
            reading.unknown(place.path, "it holds a placeholder, which only KServe fills in")
            found[name] = Place(None, place.path)
    return found


def required_affinity(layers: Layers) -> Place | None:
    """The affinity of the first layer that has required node affinity."""
    for value, path in layers:
        affinity = value.get("affinity") if isinstance(value, dict) else None
        found: object = affinity
        for name in ("nodeAffinity", placement.REQUIRED):
            # A value of a wrong type counts, so that no other layer hides it.
            found = found.get(name) if isinstance(found, dict) else found
        if is_said(found):
            return Place(affinity, path + "/affinity")
    return None


def hides_other_layers(layers: Layers) -> bool:
    """Whether new tolerations or affinity in the first layer would hide those of the other layers."""
    own, others = layers[:1], layers[1:]
    tolerates = is_said(first_field(own, "tolerations").value) or not is_said(first_field(others, "tolerations").value)
    requires = required_affinity(own) is not None or required_affinity(others) is None
    return not (tolerates and requires)


def _selector(layers: Layers, reading: Reading) -> Place:
    selectors = field_layers(layers, "nodeSelector", reading)
    if len(selectors) > 1:
        texts = [Place(dict(reading.strings(*place)), place.path) for place in selectors]
        return merge_entries(tuple(texts), reading)
    return selectors[0] if selectors else first_field(layers[:1], "nodeSelector")


def _by_name(layers: Layers, name: str, reading: Reading) -> Place:
    """The entries of the first layer that has any, then entries of other layers whose names are new.

    If only one layer has entries, its list is returned unchanged.
    """
    having = [place for place in (first_field((layer,), name) for layer in layers) if is_said(place.value)]
    if len(having) <= 1 or not isinstance(having[0].value, list):
        return first_field(layers, name)
    merged = list(having[0].value)
    known = {text for item in merged if isinstance(item, dict) and isinstance(text := item.get("name"), str)}
    for value, path in having[1:]:
        for item_path, item in reading.items(value, path):
            texts = {key: reading.text(item.get(key), f"{item_path}/{key}") for key in _TEXTS}
            if texts["name"] and texts["name"] not in known:
                merged.append({key: text for key, text in texts.items() if text})
                known.add(texts["name"])
    return Place(merged, having[0].path)


def merge_containers(layers: Layers, reading: Reading) -> Iterator[ContainerPlace]:
    """The containers of a pod spec, those of the first layer first. Containers of the same name are merged."""
    for list_name, kind in LISTS:
        for parts in _grouped(layers, list_name, reading):
            place = first_field(parts, "restartPolicy")
            policy = reading.text(*place)
            sidecar = kind is model.ContainerType.INIT and policy == "Always"
            yield merge_container(parts, reading, kind=model.ContainerType.SIDECAR if sidecar else kind)


def _grouped(layers: Layers, list_name: str, reading: Reading) -> Iterable[Layers]:
    groups: dict[object, list[Place]] = {}
    for layer in layers:
        here = set()
        value = layer.value.get(list_name) if isinstance(layer.value, dict) else None
        for path, item in reading.items(value, paths.join(layer.path, list_name)):
            name = item.get("name")
            # A name that occurs twice in one list is a mistake. Neither container may hide the other.
            key = name if isinstance(name, str) and name and name not in here else (path,)
            here.add(key)
            groups.setdefault(key, []).append(Place(item, path))
    return [tuple(parts) for parts in groups.values()]


def merge_container(
    parts: Layers, reading: Reading, *, name: str = "", kind: model.ContainerType = model.ContainerType.APP
) -> ContainerPlace:
    """A container merged from several layers: resources one by one, variables by their names."""
    own, path = parts[0]
    value = own if isinstance(own, dict) else {}
    environment = tuple(
        Place(_filled_in(part.get("env")), part_path + "/env")
        for part, part_path in reversed(parts)
        if isinstance(part, dict)
    )
    if len(parts) == 1:
        return ContainerPlace(value=value, path=path, type=kind, name=name, environment=environment)
    if "image" not in value and isinstance(image := first_field(parts, "image").value, str):
        value = {**value, "image": image}
    resources = field_layers(parts, "resources", reading)
    claims = first_field(resources, "claims")
    if resources and claims.path != resources[0].path + "/claims":
        asked = [
            {key: reading.text(claim.get(key), f"{claim_path}/{key}") for key in ("name", "request") if key in claim}
            for claim_path, claim in reading.items(*claims)
        ]
        given = value.get("resources")
        value = {**value, "resources": {**(given if isinstance(given, dict) else {}), "claims": asked}}
    return ContainerPlace(
        value=value,
        path=path,
        type=kind,
        name=name,
        requests=_amounts(resources, "requests", reading),
        limits=_amounts(resources, "limits", reading),
        environment=environment,
    )


def _amounts(resources: Layers, name: str, reading: Reading) -> Place | None:
    lists = field_layers(resources, name, reading)
    readable = [
        Place({key: value[key] for key in reading.resources(value, path)}, path)
        for value, path in lists[1:]
        if isinstance(value, dict)
    ]
    return merge_entries((lists[0], *readable), reading) if lists else None


def _filled_in(env: object) -> object:
    """The variables. A value with a placeholder counts as a value from elsewhere, because KServe fills it in."""
    if not isinstance(env, list) or not any(_is_unfilled(entry) for entry in env):
        return env
    return [{"name": entry["name"], "valueFrom": {}} if _is_unfilled(entry) else entry for entry in env]


def _is_unfilled(entry: object) -> bool:
    value = entry.get("value") if isinstance(entry, dict) else None
    return isinstance(entry, dict) and "name" in entry and isinstance(value, str) and _PLACEHOLDER in value


def _has_placeholder(value: object, depth: int = 0) -> bool:
    if isinstance(value, str):
        return _PLACEHOLDER in value
    if depth == _DEPTH or not isinstance(value, dict | list):
        return False
    children = value.values() if isinstance(value, dict) else value
    return any(_has_placeholder(child, depth + 1) for child in children)


SERVING: Final = "kserve-container"
"""Name of the container that serves the model. KServe sets it, whatever name the manifest has."""

_TRANSFORMING: Final = "transformer-container"


def component_containers(
    component: Layers, framework: Layers, runtime: Layers, reading: Reading
) -> Iterator[ContainerPlace]:
    """The containers of a component. KServe merges those that serve and transform with those of the runtime.

    All other containers of both are unchanged.

    Args:
        component: a predictor, a transformer or an explainer.
        framework: its field that holds a container and more fields, for example `model`.
        runtime: the spec of the runtime, if it is known.
    """
    yield from listed_containers({"initContainers": first_field(component, "initContainers")}, reading)
    own = list(_places(first_field(component, "containers"), reading))
    others = [place for layer in runtime for place in _places(first_field((layer,), "containers"), reading)]
    serving = _first_named(others, SERVING)
    if framework and runtime and not serving:
        reading.unknown(runtime[0].path, f"it has no container {SERVING}: KServe makes no pods of it")
    if framework:
        yield merge_container((*framework, *serving), reading, name=SERVING)
    transforming = (*_first_named(own, _TRANSFORMING), *_first_named(others, _TRANSFORMING)) if runtime else ()
    if transforming:
        yield merge_container(transforming, reading)
    merged = {place.path for place in (*serving, *transforming)}
    for place in (*others, *own):
        if place.path not in merged:
            yield merge_container((place,), reading)


def _places(containers: Place, reading: Reading) -> Iterator[Place]:
    for path, value in reading.items(*containers):
        yield Place(value, path)


def _first_named(places: Iterable[Place], name: str) -> Layers:
    """The first container of a name, if there is one."""
    return tuple(place for place in places if isinstance(place.value, dict) and place.value.get("name") == name)[:1]


def component_metadata(
    component: Layers, runtime: Layers, *, labels: Mapping[str, str], annotations: Mapping[str, str], reading: Reading
) -> Place:
    """Labels and annotations of the pods. The component wins over the object, and the object over the runtime."""
    value, path = component[0]
    merged: dict[str, paths.Json] = {}
    for field, inherited in (("labels", labels), ("annotations", annotations)):
        own = value.get(field) if isinstance(value, dict) else None
        if own is not None and not isinstance(own, dict):
            # The reader of this field records its wrong type.
            merged[field] = own
            continue
        below: dict[str, tuple[str, str]] = {}
        for texts, texts_path in (
            *((reading.strings(*place), place.path) for place in reversed(field_layers(runtime, field, reading))),
            (inherited, f"/metadata/{field}"),
            *((reading.strings(*place), place.path) for place in reversed(field_layers(component[1:], field, reading))),
        ):
            below |= {key: (text, texts_path) for key, text in texts.items() if key not in (own or {})}
        if field == "annotations":
            _drop_unreadable(below, own or {}, reading)
        merged[field] = {**{key: text for key, (text, _) in below.items()}, **(own or {})}
    return Place(merged, path)


def _drop_unreadable(below: dict[str, tuple[str, str]], own: Mapping[str, paths.Json], reading: Reading) -> None:
    """Removes inherited annotations whose accelerator request is unreadable, and records each at its own path.

    The merged annotations have only the path of the component.
    """
    inner = Reading()
    texts = {key: text for key, (text, _) in below.items()}
    texts |= {key: text for key, text in own.items() if isinstance(text, str)}
    reading_environment.of_pod(texts, paths.ROOT, inner)
    for unknown in inner.found():
        key = paths.split(unknown.path)[-1]
        if key in below:
            reading.unknown(paths.join(below.pop(key)[1], key), unknown.reason)


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

_PROTOCOLS: Final = {"v1": 1, "v2": 2, "grpc-v1": 3, "grpc-v2": 4}
_UNKNOWN_PROTOCOL: Final = 5

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


def chosen(wanted: Object, path: str, reading: Reading, *, protocol: str, several_nodes: bool) -> Place | None:
    """The spec of the runtime that KServe chooses by the format of a model. If it is unknown: None, and recorded.

    Runtimes of the namespace come before those of the cluster. Among them the highest priority wins, then the oldest
    protocol, the newest runtime and the first name (KS:pkg/apis/serving/v1beta1/predictor_model.go at aaac4e29,
    GetSupportingRuntimes).

    Args:
        wanted: `modelFormat` of the model.
        path: of the model.
        protocol: the protocol of the model.
        several_nodes: whether the predictor has workers.
    """
    name, version = paths.text(wanted.get("name")), wanted.get("version")
    known, found, by_name = False, list[tuple[tuple[object, ...], str, Reference, paths.Object]](), set[str]()
    for kind, namespace in (("ServingRuntime", reading.context.namespace), ("ClusterServingRuntime", None)):
        listed = reading.context.objects.listed(GROUP, kind, namespace)
        known = known or bool(listed)
        for title, value in listed.items():
            spec = paths.mapping(value.get("spec"))
            takes = _serves(spec, name, version, protocol=protocol, several_nodes=several_nodes)
            by_name.update([title] if takes is False else [])
            if takes:
                rank = (namespace is None, -_priority(spec, name), _oldest_protocol(spec))
                reference = Reference(group=GROUP, kind=kind, name=title, namespace=namespace or "")
                found.append((rank, paths.text(paths.metadata(value).get("creationTimestamp")), reference, value))
    best = min((each[0] for each in found), default=None)
    equal = [(made, each, value) for rank, made, each, value in found if rank == best]
    if equal and all(made for made, *_ in equal):
        newest = max(made for made, *_ in equal)
        equal = [min((each for each in equal if each[0] == newest), key=lambda each: each[1].name)]
    if len(equal) != 1:
        which = f"no known runtime supports {name}" if known else "no runtime is known here"
        if by_name and not equal:
            which = f"{min(by_name)} supports {name} without autoSelect: true, so it is only taken by its name"
        if equal:
            which = f"it is the newest of {', '.join(sorted(each.name for _, each, _ in equal)[:4])}"
        reason = f"it names no runtime; KServe takes one that supports the model format, and {which}"
        help_ = "what that adds is not judged. Name a runtime, or give the runtimes in the files or by --facts"
        reading.unknown(path, f"{reason}: {help_}")
        return None
    _, reference, value = equal[0]
    reading.record_reference(path, reference)
    return Place(reading.mapping(value.get("spec"), path + "/spec"), path + "/spec")


def _serves(spec: Object, name: str, version: paths.Json, *, protocol: str, several_nodes: bool) -> bool | None:
    """Whether a runtime supports a format by itself; False where it has to be named; None if it does not support it."""
    protocols = paths.elements(spec.get("protocolVersions"))
    if spec.get("disabled") is True or spec.get("multiModel") is True or (protocols and protocol not in protocols):
        return None
    if (spec.get("workerSpec") is not None) != several_nodes:
        return None
    supported = [paths.mapping(each) for each in paths.elements(spec.get("supportedModelFormats"))]
    of_format = [each for each in supported if each.get("name") == name and version in (None, each.get("version"))]
    return any(each.get("autoSelect") is True for each in of_format) if of_format else None


def _priority(spec: Object, name: str) -> int:
    """The priority of the first entry of a format; one without a priority comes last."""
    supported = [paths.mapping(each) for each in paths.elements(spec.get("supportedModelFormats"))]
    found = next((each.get("priority") for each in supported if each.get("name") == name), None)
    return found if isinstance(found, int) else -(2**32)


def _oldest_protocol(spec: Object) -> int:
    protocols = paths.elements(spec.get("protocolVersions"))
    return min((_PROTOCOLS.get(paths.text(each), _UNKNOWN_PROTOCOL) for each in protocols), default=_UNKNOWN_PROTOCOL)


def runtime_pod_fields(runtime: Object) -> Object:
    """Fields of a runtime, or of its workerSpec, that reach the pods, without the containers."""
    return {name: runtime[name] for name in TAKEN if name in runtime}


def accelerator(resources: tuple[Place, ...], annotations: Mapping[str, str]) -> str:
    """The resource that KServe writes the number of accelerators into: the first that is asked for, or NVIDIA's.

    Args:
        resources: limits and requests of the container.
        annotations: of the pods; one of them may name more resources, in a list in JSON.
    """
    listed = annotations.get("serving.kserve.io/gpu-resource-types", "")[:_LONGEST_LIST]
    asked = [
        name
        for value, _ in resources
        if isinstance(value, dict)
        for name, amount in value.items()
        if amount not in (0, "0")
    ]
    known = [name for name in ACCELERATORS if name in asked] + [name for name in asked if f'"{name}"' in listed]
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
    spec = {**runtime_pod_fields(value), "containers": value.get("containers")}
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


CODE: Final[Mapping[str, Code]] = {
    "ServingRuntime.serving.kserve.io": {"templates": _runtime},
    "ClusterServingRuntime.serving.kserve.io": {"templates": _runtime},
}

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


_PRESETS: Final = frozenset({
    "scheduler", "scheduler-latency-predictor", "tokenizer", "tracing", "router-route", "template", "decode-template",
    "prefill-template", "worker-data-parallel", "decode-worker-data-parallel", "prefill-worker-data-parallel",
    "worker-pipeline-parallel", "decode-worker-pipeline-parallel", "prefill-worker-pipeline-parallel",
})  # fmt: skip
"""Presets of KServe, as it ships them without accelerators (KS:config/llmisvcconfig/)."""


def preset(name: str) -> str:
    return f"kserve-config-llm-{name}"


_NAMES_OF_PRESETS: Final = frozenset(map(preset, _PRESETS))


def known_config(name: str, path: str, reading: Reading) -> Place | None:
    """The spec of a configuration in the namespace of the service, or else in that of KServe."""
    for namespace in (reading.context.namespace, SYSTEM_NAMESPACE):
        reference = Reference(group=GROUP, kind=KIND, name=name, namespace=namespace)
        found = reading.context.find(reference)
        if found is not None:
            reading.record_reference(path, reference)
            return Place(reading.mapping(found.get("spec"), path + "/spec"), path + "/spec")
    return None


def _look_up_runtime(name: str, path: str, reading: Reading) -> Place | None:
    found = known_config(name, path, reading)
    if found is not None:
        return found
    if name in _NAMES_OF_PRESETS:
        return Place({}, path + "/spec")
    where = " nor in ".join(dict.fromkeys(filter(None, (reading.context.namespace, SYSTEM_NAMESPACE))))
    reading.unknown(path, f"{KIND} {name} is not known here, neither in {where}: what it adds is not judged")
    return None
