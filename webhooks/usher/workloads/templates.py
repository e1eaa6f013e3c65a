"""From a pod template to a pod set: the part that all kinds share."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from usher import model, paths
from usher.workloads import accelerators
from usher.workloads.reading import Reading

ONE = model.Count(minimum=1, maximum=1)


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
    containers = tuple(_containers(spec, spec_path, reading))
    node_affinity = _required_node_affinity(spec, spec_path, reading)
    terms_path = spec_path + "/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms"
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
        tolerations=tuple(
            toleration for _, toleration in reading.items(spec.get("tolerations"), spec_path + "/tolerations")
        ),
        node_selector=reading.strings(spec.get("nodeSelector"), spec_path + "/nodeSelector"),
        required_terms=tuple(term for _, term in reading.items(node_affinity.get("nodeSelectorTerms"), terms_path)),
        has_required_affinity=bool(node_affinity),
        scheduler_name=reading.text(spec.get("schedulerName"), spec_path + "/schedulerName"),
        priority_class_name=reading.text(spec.get("priorityClassName"), spec_path + "/priorityClassName"),
        runtime_class_name=reading.text(spec.get("runtimeClassName"), spec_path + "/runtimeClassName"),
        node_name=reading.text(spec.get("nodeName"), spec_path + "/nodeName"),
        device_claims=sum(1 for _ in reading.items(claims, spec_path + "/resourceClaims")),
        accelerators=accelerators.of_pod(containers, overhead=overhead, vocabulary=vocabulary),
        operator_environment=template.operator_environment,
        ranks_inherit_environment=template.ranks_inherit_environment,
    )


def _containers(spec: Mapping[str, paths.Json], spec_path: str, reading: Reading) -> Iterator[model.Container]:
    """All three lists, init containers first: the order in which the kubelet starts them matters for the sums."""
    for field, kind in (
        ("initContainers", model.ContainerType.INIT),
        ("containers", model.ContainerType.APP),
        ("ephemeralContainers", model.ContainerType.EPHEMERAL),
    ):
        for path, value in reading.items(spec.get(field), f"{spec_path}/{field}"):
            sidecar = kind is model.ContainerType.INIT and value.get("restartPolicy") == "Always"
            yield _container(value, path, model.ContainerType.SIDECAR if sidecar else kind, reading)


def _container(
    value: Mapping[str, paths.Json], path: str, kind: model.ContainerType, reading: Reading
) -> model.Container:
    resources = reading.mapping(value.get("resources"), path + "/resources")
    return model.Container(
        name=reading.text(value.get("name"), path + "/name"),
        path=path,
        type=kind,
        requests=reading.resources(resources.get("requests"), path + "/resources/requests"),
        limits=reading.resources(resources.get("limits"), path + "/resources/limits"),
        environment=tuple(_environment(value.get("env"), path + "/env", reading)),
        claims=sum(1 for _ in reading.items(resources.get("claims"), path + "/resources/claims")),
    )


def _environment(value: object, path: str, reading: Reading) -> Iterator[model.EnvironmentVariable]:
    for entry_path, entry in reading.items(value, path):
        name = entry.get("name")
        if not isinstance(name, str):
            reading.unknown(entry_path, "this entry has no name")
            continue
        text = entry.get("value")
        if "valueFrom" in entry:
            known = None
        elif isinstance(text, str):
            known = text
        else:
            if text is not None:
                reading.unknown(entry_path + "/value", "expected a string; quote it")
            known = "" if text is None else None
        yield model.EnvironmentVariable(name=name, value=known, path=entry_path)


def _required_node_affinity(
    spec: Mapping[str, paths.Json], spec_path: str, reading: Reading
) -> Mapping[str, paths.Json]:
    value: object = spec.get("affinity")
    if value is None:
        return {}
    path = spec_path + "/affinity"
    for key in ("nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"):
        value = reading.mapping(value, path).get(key)
        path = f"{path}/{key}"
        if value is None:
            return {}
    return reading.mapping(value, path)
