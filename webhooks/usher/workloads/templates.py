"""From a pod template to a pod set: the part that all kinds share."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from usher import model, paths
from usher.workloads import accelerators
from usher.workloads.reading import Reading

ONE = model.Count(minimum=1, maximum=1)


# The families of variables that rules read. No others leave the manifest: their values may be secrets.
READ_VARIABLES = ("NVIDIA_", "NCCL_", "CUDA_", "UCX_", "FI_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A pod template as an adapter found it: an object with `metadata` and `spec`."""

    name: str
    value: object
    path: str
    count: model.Count = ONE
    operator_environment: frozenset[str] = frozenset()
    ranks_inherit_environment: bool = True


def pod_set(template: Template, *, reading: Reading, vocabulary: accelerators.Vocabulary) -> model.PodSet:
    """The normalised pod set of one template."""
    value = reading.mapping(template.value, template.path)
    metadata_path = template.path + "/metadata"
    spec_path = template.path + "/spec"
    metadata = reading.mapping(value.get("metadata"), metadata_path)
    spec = reading.mapping(value.get("spec"), spec_path)
    containers = tuple(_containers(spec, spec_path, reading, vocabulary))
    terms = _required_terms(spec, spec_path, reading)
    overhead = reading.resources(spec.get("overhead"), spec_path + "/overhead") if "overhead" in spec else {}
    claims = spec.get("resourceClaims")
    return model.PodSet(
        name=template.name,
        path=template.path,
        metadata_path=metadata_path,
        spec_path=spec_path,
        count=template.count,
        labels=reading.strings(metadata.get("labels"), metadata_path + "/labels"),
        annotations=reading.strings(metadata.get("annotations"), metadata_path + "/annotations"),
        containers=containers,
        tolerations=tuple(_tolerations(spec, spec_path, reading)),
        node_selector=reading.strings(spec.get("nodeSelector"), spec_path + "/nodeSelector"),
        required_terms=terms or (),
        has_required_affinity=terms is not None,
        scheduler_name=reading.text(spec.get("schedulerName"), spec_path + "/schedulerName"),
        priority_class_name=reading.text(spec.get("priorityClassName"), spec_path + "/priorityClassName"),
        runtime_class_name=reading.text(spec.get("runtimeClassName"), spec_path + "/runtimeClassName"),
        node_name=reading.text(spec.get("nodeName"), spec_path + "/nodeName"),
        device_claims=sum(1 for _ in reading.items(claims, spec_path + "/resourceClaims")),
        accelerators=accelerators.of_pod(containers, overhead=overhead, vocabulary=vocabulary),
        operator_environment=template.operator_environment,
        ranks_inherit_environment=template.ranks_inherit_environment,
    )


def _containers(
    spec: Mapping[str, paths.Json], spec_path: str, reading: Reading, vocabulary: accelerators.Vocabulary
) -> Iterator[model.Container]:
    """All three lists, init containers first: the order in which the kubelet starts them matters for the sums."""
    for field, kind in (
        ("initContainers", model.ContainerType.INIT),
        ("containers", model.ContainerType.APP),
        ("ephemeralContainers", model.ContainerType.EPHEMERAL),
    ):
        for path, value in reading.items(spec.get(field), f"{spec_path}/{field}"):
            policy = reading.text(value.get("restartPolicy"), path + "/restartPolicy")
            sidecar = kind is model.ContainerType.INIT and policy == "Always"
            yield _container(value, path, model.ContainerType.SIDECAR if sidecar else kind, reading, vocabulary)


def _container(
    value: Mapping[str, paths.Json],
    path: str,
    kind: model.ContainerType,
    reading: Reading,
    vocabulary: accelerators.Vocabulary,
) -> model.Container:
    resources = reading.mapping(value.get("resources"), path + "/resources")
    requests = reading.resources(resources.get("requests"), path + "/resources/requests")
    limits = reading.resources(resources.get("limits"), path + "/resources/limits")
    return model.Container(
        name=reading.text(value.get("name"), path + "/name"),
        path=path,
        type=kind,
        requests=requests,
        limits=limits,
        environment=tuple(_environment(value.get("env"), path + "/env", reading)),
        accelerators=tuple(name for name in {**requests, **limits} if vocabulary.contains(name)),
        claims=sum(1 for _ in reading.items(resources.get("claims"), path + "/resources/claims")),
    )


def _environment(value: object, path: str, reading: Reading) -> Iterator[model.EnvironmentVariable]:
    if value is None:
        return
    for index, entry in enumerate(reading.sequence(value, path)):
        # A pod may have hundreds of variables, and nearly all are plain ones that no rule reads.
        if isinstance(entry, dict):
            name, text = entry.get("name"), entry.get("value")
            if isinstance(name, str) and name and isinstance(text, str):
                if name.startswith(READ_VARIABLES):
                    known = text if text or entry.get("valueFrom") is None else None
                    yield model.EnvironmentVariable(name=name, value=known, path=f"{path}/{index}")
                continue
        yield from _odd_variable(entry, f"{path}/{index}", reading)


def _odd_variable(value: object, path: str, reading: Reading) -> Iterator[model.EnvironmentVariable]:
    """An entry whose value comes from elsewhere, or which is not as it should be."""
    if not isinstance(value, dict):
        reading.no_object(value, path)
        return
    name = reading.text(value.get("name"), path + "/name")
    known = _variable_value(value, path, reading) if name else None
    if value.get("name") in (None, ""):
        reading.unknown(path, "this entry has no name")
    elif name.startswith(READ_VARIABLES):
        yield model.EnvironmentVariable(name=name, value=known, path=path)


def _variable_value(entry: Mapping[str, paths.Json], path: str, reading: Reading) -> str | None:
    """The kubelet looks at `valueFrom` only where `value` is empty."""
    value = entry.get("value")
    if value is not None and not isinstance(value, str):
        reading.text(value, path + "/value")
        return None
    if value or entry.get("valueFrom") is None:
        return value or ""
    reading.mapping(entry.get("valueFrom"), path + "/valueFrom")
    return None


def _tolerations(
    spec: Mapping[str, paths.Json], spec_path: str, reading: Reading
) -> Iterator[Mapping[str, paths.Json]]:
    for path, toleration in reading.items(spec.get("tolerations"), spec_path + "/tolerations"):
        for field in ("key", "operator", "value", "effect"):
            reading.text(toleration.get(field), f"{path}/{field}")
        yield toleration


def _required_terms(
    spec: Mapping[str, paths.Json], spec_path: str, reading: Reading
) -> tuple[Mapping[str, paths.Json], ...] | None:
    """None without required node affinity; one without terms is something else, for it matches no node."""
    value: object = spec.get("affinity")
    path = spec_path + "/affinity"
    for key in ("nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"):
        value = reading.mapping(value, path).get(key)
        path = f"{path}/{key}"
    if value is None:
        return None
    terms = tuple(reading.items(reading.mapping(value, path).get("nodeSelectorTerms"), path + "/nodeSelectorTerms"))
    for term_path, term in terms:
        for field in ("matchExpressions", "matchFields"):
            for expression_path, expression in reading.items(term.get(field), f"{term_path}/{field}"):
                reading.text(expression.get("key"), expression_path + "/key")
                reading.text(expression.get("operator"), expression_path + "/operator")
                reading.texts(expression.get("values"), expression_path + "/values")
    return tuple(term for _, term in terms)
