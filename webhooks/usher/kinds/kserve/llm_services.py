"""serving.kserve.io: LLMInferenceService, and LLMInferenceServiceConfig, which adds the fields that it leaves out.

KServe merges presets of its own beneath both (KS:config/llmisvcconfig/). They hold the container `main`, the scheduler
and the tokenizer. As KServe ships them they request no accelerators and set no tolerations or affinity, so nothing is
missing where usher does not know them. A site may change them: those that files or facts have are merged.

KS:pkg/validation/managed_dra.go and KS:pkg/controller/v1alpha2/llmisvc/managed_dra.go; experimental as of v0.20.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from usher import memo, model, paths
from usher.kinds.kind import Code
from usher.kinds.kserve import replicas as kserve_replicas
from usher.kinds.kserve import runtimes
from usher.kinds.reading.templates import ClaimPlace, Place, Template, Traits
from usher.kinds.reading.values import Reading

_PREFIX: Final = "serving.kserve.io/exp-dra-"
_CLASS: Final = _PREFIX + "device-class"
_COUNT: Final = _PREFIX + "device-count"
_CONTAINER: Final = _PREFIX + "container-name"

_NAME: Final = "managed-device"
"""Name of the claim that KServe adds to a pod. KServe adds no claim if the pod already has one of this name."""

_NUMBER: Final = memo.pattern(r"\+?0*[1-9][0-9]{0,8}", re.ASCII)


def annotated_claims(annotations: Mapping[str, str], reading: Reading) -> tuple[ClaimPlace, ...]:
    """The claim that the annotations request for each pod. Selectors are left out: they do not change the count."""
    device_class = annotations.get(_CLASS, "").strip()
    if not device_class:
        return ()
    path = paths.join("/metadata/annotations", _CLASS)
    text = annotations.get(_COUNT, "").strip() or "1"
    number = 1
    if _NUMBER.fullmatch(text):
        number = int(text)
    else:
        reading.unknown(paths.join("/metadata/annotations", _COUNT), "expected a whole number of devices")
    exactly: paths.Object = {"deviceClassName": device_class, "count": number}
    spec: paths.Object = {"devices": {"requests": [{"name": "device", "exactly": exactly}]}}
    return (ClaimPlace(spec=spec, path=path, container=annotations.get(_CONTAINER, "").strip()),)


def is_claimed(place: Place | None) -> bool:
    """Whether the pod spec already has the claim that KServe would add."""
    entries = place.value if place is not None and isinstance(place.value, list) else []
    return any(isinstance(entry, dict) and entry.get("name") == _NAME for entry in entries)


Object = Mapping[str, paths.Json]

# KS:pkg/controller/v1alpha2/llmisvc/workload_single_node.go, propagateDeploymentMetadata.
_LABELS: Final = ("kueue.x-k8s.io",)
_ANNOTATIONS: Final = ("k8s.v1.cni.cncf.io", "kueue.x-k8s.io", "prometheus.io")

# KS:pkg/controller/v1alpha2/llmisvc/tokenizer.go; KServe adds a tokenizer if the scheduler has one of these plugins.
_TOKENIZING: Final = ("token-producer", "precise-prefix-cache-scorer")

_ADDITIONAL: Final = "VLLM_ADDITIONAL_ARGS"
_PARALLELISM: Final = "as many as the parallelism of the service needs"


class _Service(Struct, frozen=True, kw_only=True):
    """Values that all pods of a service share."""

    reading: Reading
    labels: Mapping[str, str]
    """Labels of the object that reach the pods."""
    annotations: Mapping[str, str]
    claims: tuple[ClaimPlace, ...] = ()
    stopped: bool = False
    changeable: bool = False
    with_presets: bool = True
    """Whether KServe's presets complete it."""
    parallelism: model.ModelParallelism | None = None
    """The sizes of the server in each pod of a group."""


def _service(service: Object, reading: Reading) -> Iterator[Template]:
    own = runtimes.field_layers((Place(service, paths.ROOT),), "spec", reading)
    about = reading.mapping(service.get("metadata"), "/metadata")
    annotations = reading.strings(about.get("annotations"), "/metadata/annotations")
    labels = reading.strings(about.get("labels"), "/metadata/labels")
    if not own:
        return
    configs, complete = runtimes.named_by(own, reading)
    configs = (*configs, *_presets((*own, *configs), service, reading))
    shared = _Service(
        reading=reading,
        labels={key: text for key, text in labels.items() if key.startswith(_LABELS)},
        annotations={key: text for key, text in annotations.items() if key.startswith(_ANNOTATIONS)},
        claims=annotated_claims(annotations, reading),
        stopped=kserve_replicas.is_stopped(annotations),
        changeable=complete,
    )
    yield from _templates_of_service((*own, *configs), shared)


_PREFIX_OF_PRESETS: Final = "config-llm-"
_LATENCY_PREDICTOR: Final = ("predicted-latency-producer",)


def _presets(layers: runtimes.Layers, service: Object, reading: Reading) -> runtimes.Layers:
    """The known presets of a service, the last one first: it wins. KServe pins their names in the status.

    KS:pkg/controller/v1alpha2/llmisvc/config_merge.go, combineBaseRefsConfig and WellKnownConfigResolver.
    """
    status = reading.mapping(service.get("status"), "/status")
    pinned = reading.strings(status.get("annotations"), "/status/annotations")
    found = []
    for name in _names_of_presets(layers, reading):
        title = pinned.get(f"serving.kserve.io/{_PREFIX_OF_PRESETS}{name}") or runtimes.preset(name)
        config = runtimes.known_config(title, paths.join("/spec/baseRefs", title), reading)
        found += [config] if config is not None else []
    return tuple(reversed(found))


def _names_of_presets(layers: runtimes.Layers, reading: Reading) -> Iterator[str]:
    """The presets with pods that KServe merges, in its order."""
    scheduler = runtimes.field_layers(runtimes.field_layers(layers, "router", reading), "scheduler", reading)
    if scheduler:
        config = runtimes.first_field(runtimes.field_layers(scheduler, "config", reading), "inline")
        if not runtimes.field_layers(runtimes.field_layers(scheduler, "pool", reading), "ref", reading):
            yield "scheduler"
        if runtimes.field_layers(scheduler, "tokenizer", reading) or _has_plugin(config, _TOKENIZING):
            yield "tokenizer"
        if _has_plugin(config, _LATENCY_PREDICTOR):
            yield "scheduler-latency-predictor"
    prefill = runtimes.field_layers(layers, "prefill", reading)
    for workload, part in ((prefill, "prefill-"), (layers, "decode-" if prefill else "")):
        if workload and not runtimes.field_layers(workload, "worker", reading):
            yield part + "template"
        elif workload:
            _, by_data = kserve_replicas.size(workload, reading)
            yield f"{part}worker-{'data' if by_data else 'pipeline'}-parallel"


def _config(config: Object, reading: Reading) -> Iterator[Template]:
    """The pods of a configuration alone; the service that uses it adds the rest."""
    own = runtimes.field_layers((Place(config, paths.ROOT),), "spec", reading)
    if own:
        yield from _templates_of_service(own, _Service(reading=reading, labels={}, annotations={}, with_presets=False))


def _templates_of_service(spec: runtimes.Layers, shared: _Service) -> Iterator[Template]:
    prefill = runtimes.field_layers(spec, "prefill", shared.reading)
    yield from _workload(spec, shared, name="decode" if prefill else "")
    if prefill:
        yield from _workload(prefill, shared, name="prefill")
    router = runtimes.field_layers(spec, "router", shared.reading)
    scheduler = runtimes.field_layers(router, "scheduler", shared.reading)
    if scheduler:
        yield from _scheduler(scheduler, shared)


def _workload(workload: runtimes.Layers, shared: _Service, *, name: str) -> Iterator[Template]:
    """The pods of a Deployment, or of a LeaderWorkerSet (a leader and its workers) if the spec has a worker.

    KS:pkg/controller/v1alpha2/llmisvc/workload_{single,multi}_node.go.
    """
    reading = shared.reading
    workers = runtimes.field_layers(workload, "worker", reading)
    template = runtimes.field_layers(workload, "template", reading)
    about = runtimes.component_metadata(
        workload, (), labels=shared.labels, annotations=shared.annotations, reading=reading
    )
    replicas = kserve_replicas.replicas(workload, reading, stopped=shared.stopped, surge=0 if workers else "25%")
    if not workers:
        if not any(_sets_arguments(each) for each in template):
            found = kserve_replicas.preset_parallelism(workload, reading, in_groups=False)
            shared = replace(shared, parallelism=found)
        if template or shared.with_presets:
            yield _template(template, shared, above=workload, about=about, name=name, count=replicas)
        return
    size, by_data = kserve_replicas.size(workload, reading)
    shared = replace(shared, parallelism=kserve_replicas.preset_parallelism(workload, reading, in_groups=True))
    # The preset for data parallelism has a leader. The preset for pipelines has no leader: a worker leads.
    if template or (shared.with_presets and by_data):
        yield _template(template, shared, above=workload, about=about, name=f"{name} leader".strip(), count=replicas)
        size = size and size - 1
    if size is None:
        count = model.Count(minimum=0, maximum=None, reason=_PARALLELISM)
    else:
        most = None if replicas.maximum is None else replicas.maximum * size
        count = model.Count(minimum=replicas.minimum * size, maximum=most if size else 0, reason=replicas.reason)
    name = f"{name} worker".strip()
    yield _template(workers, shared, above=workload, about=about, name=name, count=count, field="worker")


def _sets_arguments(template: Place) -> bool:
    """Whether a container of a pod spec has arguments for the server in a variable, which may hold other sizes."""
    spec = template.value if isinstance(template.value, dict) else {}
    containers = spec.get("containers")
    lists = [paths.mapping(each).get("env") for each in containers] if isinstance(containers, list) else []
    variables = [paths.mapping(each) for entries in lists if isinstance(entries, list) for each in entries]
    return any(each.get("name") == _ADDITIONAL for each in variables)


def _template(  # noqa: PLR0913 - all that makes a template
    layers: runtimes.Layers,
    shared: _Service,
    *,
    above: runtimes.Layers,
    about: Place,
    name: str,
    count: model.Count,
    field: str = "template",
    claiming: bool = True,
) -> Template:
    """A pod spec merged from several layers. Without layers only KServe's preset has the pod spec."""
    reading = shared.reading
    own = not layers[0].path.startswith("/spec/baseRefs/") if layers else False
    spec = layers[0] if layers else Place(None, f"{above[0].path}/{field}")
    fields = runtimes.merged_pod_fields(layers, reading) if layers else {}
    claims = shared.claims if claiming else ()
    if claims and is_claimed(fields.get("resourceClaims")):
        claims = ()
    return Template(
        name=name,
        path=spec.path,
        spec=spec,
        metadata=about,
        count=count,
        traits=Traits(
            operator_environment=frozenset({"LWS_*", "TPU_*", "OTEL_*", "INFERENCE_POOL_NAME"}),
            changeable=shared.changeable and own and not runtimes.hides_other_layers(layers),
            fully_known=shared.changeable,
            parallelism=shared.parallelism if claiming else None,
        ),
        containers=tuple(runtimes.merge_containers(layers, reading)),
        fields=fields,
        claims=claims,
    )


def _scheduler(scheduler: runtimes.Layers, shared: _Service) -> Iterator[Template]:
    """The pods of the scheduler, which a rollout replaces at once, and of its tokenizer.

    KS:pkg/controller/v1alpha2/llmisvc/{scheduler,tokenizer}.go. A service that refers to another pool has neither.
    """
    reading = shared.reading
    pool = runtimes.field_layers(runtimes.field_layers(scheduler, "pool", reading), "ref", reading)
    if reading.text(*runtimes.first_field(pool, "name")):
        return
    about = runtimes.component_metadata(scheduler, (), labels={}, annotations={}, reading=reading)
    number = 0 if shared.stopped else reading.count(*runtimes.first_field(scheduler, "replicas"), default=1)
    count = kserve_replicas.STOPPED if shared.stopped else model.Count(minimum=number, maximum=number)
    template = runtimes.field_layers(scheduler, "template", reading)
    if template or shared.with_presets:
        found = _template(template, shared, above=scheduler, about=about, name="scheduler", count=count, claiming=False)
        yield replace(found, serves_as="router")
    tokenizer = runtimes.field_layers(scheduler, "tokenizer", reading)
    template = runtimes.field_layers(tokenizer, "template", reading)
    if template or (
        shared.with_presets
        and (
            tokenizer
            or _has_plugin(
                runtimes.first_field(runtimes.field_layers(scheduler, "config", reading), "inline"), _TOKENIZING
            )
        )
    ):
        count = kserve_replicas.STOPPED if shared.stopped else kserve_replicas.rolling(1, 1, 1)
        above = tokenizer or (Place({}, scheduler[0].path + "/tokenizer"),)
        about = Place(None, above[0].path)
        yield _template(template, shared, above=above, about=about, name="tokenizer", count=count, claiming=False)


def _has_plugin(config: Place, types: tuple[str, ...]) -> bool:
    """Whether the configuration of the scheduler has a plugin of some types. It may have any shape."""
    plugins = config.value.get("plugins") if isinstance(config.value, dict) else None
    return isinstance(plugins, list) and any(
        isinstance(plugin, dict) and plugin.get("type") in types for plugin in plugins
    )


CODE: Final[Mapping[str, Code]] = {
    "LLMInferenceService.serving.kserve.io": {"templates": _service},
    "LLMInferenceServiceConfig.serving.kserve.io": {"templates": _config},
}
