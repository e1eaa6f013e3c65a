"""apps.nvidia.com: NIMService, NIMCache and NIMPipeline of the NIM operator.

Sources: api/apps/v1alpha1/nimservice_types.go, nimcache_types.go, manifests/ and
internal/controller/platform/standalone/nimservice.go of NVIDIA/k8s-nim-operator at f63f74d7.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from usher import model, paths
from usher.kinds.kind import Kind, Kueue, KueueUnit, Pods, Starts
from usher.kinds.nvidia import nim_claims, nim_gpus
from usher.reading.templates import NOWHERE, ContainerPlace, Place, Template, Traits
from usher.reading.values import Reading

Object = Mapping[str, paths.Json]

_MODE: Final = "serving.kserve.io/deploymentMode"
_DEPLOYMENTS: Final = frozenset({"Standard", "RawDeployment"})
_CACHE_NODES: Final = {"feature.node.kubernetes.io/pci-10de.present": "true"}
"""Node labels for the download of a NIMCache that names no nodes: nodes with any NVIDIA device."""

# The operator copies only some fields of a pod, and with several nodes not even the affinity.
_TRAITS: Final = Traits(changeable=False)


def _nim_service(service: Object, reading: Reading) -> Iterator[Template]:
    metadata = reading.mapping(service.get("metadata"), "/metadata")
    name = reading.text(metadata.get("name"), "/metadata/name")
    spec = reading.mapping(service.get("spec"), "/spec")
    yield from _service(spec, "/spec", "", f"{name}-ctr" if name else "ctr", reading)


def _nim_pipeline(pipeline: Object, reading: Reading) -> Iterator[Template]:
    """A NIMService for every entry that is enabled (nimpipeline_types.go)."""
    spec = reading.mapping(pipeline.get("spec"), "/spec")
    for path, service in reading.items(spec.get("services"), "/spec/services"):
        name = reading.text(service.get("name"), path + "/name")
        own = reading.mapping(service.get("spec"), path + "/spec")
        templates = list(_service(own, path + "/spec", name, f"{name}-ctr" if name else "ctr", reading))
        if reading.flag(service.get("enabled"), path + "/enabled"):
            yield from templates


def _service(spec: Object, path: str, name: str, container: str, reading: Reading) -> Iterator[Template]:
    """One template for the pods of a Deployment, or for leaders and workers alike: they request the same."""
    nodes, gpus_of_node = _nodes(spec, path, reading)
    claims = list(reading.items(spec.get("draResources"), path + "/draResources"))
    added = nim_gpus.of_service(spec, path, gpus_of_node, reading)
    main = ContainerPlace(
        value={"env": spec.get("env"), "resources": nim_claims.resources(spec, path, claims, reading)},
        path=path,
        name=container,
        requests=added.get("requests"),
        limits=added.get("limits"),
    )
    fields = {
        # `resources` belongs to the container, not to the pod as a whole.
        "resources": Place(None, path + "/resources"),
        "resourceClaims": Place(nim_claims.entries(claims), path + "/draResources"),
    }
    if nodes > 1:
        fields["affinity"] = Place(None, path + "/affinity")
    yield Template(
        name=name,
        path=path,
        spec=Place(spec, path),
        metadata=Place(spec, path),
        count=_replicas(spec, path, nodes, reading),
        traits=_TRAITS._replace(operator_environment=frozenset({"LWS_*"} if nodes > 1 else ())),
        containers=(
            *_others(spec, path, "initContainers", model.ContainerType.INIT, reading),
            *((main,) if spec else ()),
            *_others(spec, path, "sidecarContainers", model.ContainerType.APP, reading),
        ),
        fields=fields,
        claims=tuple(nim_claims.created(claims, container, reading)),
    )
    yield from _endpoint_picker(spec, path, name, reading)


def _nodes(spec: Object, path: str, reading: Reading) -> tuple[int, int | None]:
    """How many pods serve together, and how many GPUs the operator would give each; None for one pod alone.

    Only the operator itself spreads a model over several nodes, KServe does not.
    """
    by_kserve = _is_by_kserve(spec, path, reading)
    path += "/multiNode"
    multi_node = reading.mapping(spec.get("multiNode"), path)
    parallelism = reading.mapping(multi_node.get("parallelism"), path + "/parallelism")
    nodes = reading.count(parallelism.get("pipeline"), path + "/parallelism/pipeline", default=0)
    gpus = reading.count(parallelism.get("tensor"), path + "/parallelism/tensor", default=0, of="GPUs")
    return 1 if by_kserve else max(nodes, 1), None if spec.get("multiNode") is None else gpus


def _is_by_kserve(spec: Object, path: str, reading: Reading) -> bool:
    return reading.text(spec.get("inferencePlatform"), path + "/inferencePlatform") == "kserve"


def _replicas(spec: Object, path: str, nodes: int, reading: Reading) -> model.Count:
    """The number of pods. A rollout makes no extra pods, and an autoscaler does not scale several nodes."""
    replicas = reading.count(spec.get("replicas"), path + "/replicas", default=1)
    scale = reading.mapping(spec.get("scale"), path + "/scale")
    scaled = reading.flag(scale.get("enabled"), path + "/scale/enabled")
    hpa_path = path + "/scale/hpa"
    hpa = reading.mapping(scale.get("hpa"), hpa_path)
    lowest = reading.count(hpa.get("minReplicas"), hpa_path + "/minReplicas", default=1)
    most = reading.count(hpa.get("maxReplicas"), hpa_path + "/maxReplicas", default=lowest)
    annotations = reading.strings(spec.get("annotations"), path + "/annotations")
    if _is_by_kserve(spec, path, reading) and annotations.get(_MODE) not in _DEPLOYMENTS:
        # manifests/inferenceservice.yaml leaves the bounds out; usher does not know which mode is the default here.
        reason = "KServe gives its Knative Services no bound; spec.annotations name no other deploymentMode"
        return model.Count(minimum=min(lowest if scaled else replicas, 1), maximum=None, reason=reason)
    if not scaled:
        return model.Count(minimum=replicas * nodes, maximum=replicas * nodes)
    if hpa.get("maxReplicas") is None:
        return model.Count(minimum=lowest * nodes, maximum=None, reason="autoscaling without maxReplicas")
    return model.Count(minimum=lowest * nodes, maximum=max(most, lowest) * nodes, reason="autoscaling")


def _others(
    spec: Object, path: str, field: str, kind: model.ContainerType, reading: Reading
) -> Iterator[ContainerPlace]:
    for container_path, container in reading.items(spec.get(field), f"{path}/{field}"):
        value = {name: container.get(name) for name in ("name", "env")}
        yield ContainerPlace(value=value, path=container_path, type=kind)


def _endpoint_picker(spec: Object, path: str, name: str, reading: Reading) -> Iterator[Template]:
    """A Deployment of one pod that chooses between the others (GetEPPDeploymentParams)."""
    expose = reading.mapping(spec.get("expose"), path + "/expose")
    router = reading.mapping(expose.get("router"), path + "/expose/router")
    if router.get("eppConfig") is None:
        return
    path += "/expose/router/eppConfig"
    config = reading.mapping(router["eppConfig"], path)
    container = reading.mapping(config.get("containerSpec"), path + "/containerSpec")
    value = {"env": container.get("env")}
    place = ContainerPlace(value=value, path=path + "/containerSpec" if container else path, name="epp")
    yield Template(
        name="-".join(filter(None, (name, "epp"))),
        path=path,
        spec=Place(None, path),
        metadata=NOWHERE,
        traits=_TRAITS,
        containers=(place,) if config else (),
    )


def _nim_cache(cache: Object, reading: Reading) -> Iterator[Template]:
    """The pod that reads the manifest of the model, and then the Job that downloads it (constructJob)."""
    spec = reading.mapping(cache.get("spec"), "/spec")
    resources = reading.mapping(spec.get("resources"), "/spec/resources")
    asked = Place(
        {name: resources[name] for name in ("cpu", "memory") if resources.get(name) is not None}, "/spec/resources"
    )
    main = ContainerPlace(
        value={"env": spec.get("env")}, path="/spec", name="nim-cache-ctr", requests=asked, limits=asked
    )
    selector = spec.get("nodeSelector")
    yield Template(
        name="",
        path="/spec",
        spec=Place(spec, "/spec"),
        traits=_TRAITS,
        containers=(
            *_others(spec, "/spec", "initContainers", model.ContainerType.INIT, reading),
            *((main,) if spec else ()),
        ),
        fields={
            "resources": Place(None, "/spec/resources"),
            "nodeSelector": Place(_CACHE_NODES if selector is None else selector, "/spec/nodeSelector"),
        },
    )


_SERVED: Final = (
    "`replicas` (1 if missing), or `scale.hpa.minReplicas` (1 if missing) to `maxReplicas` where `scale.enabled`; "
    "times `multiNode.parallelism.pipeline`; without bound on KServe with Knative; 1 more for `expose.router.eppConfig`"
)
_CHANGES: Final = "labels of the object; only some fields are those of a pod"


KINDS: list[Kind] = [
    Kind(
        group="apps.nvidia.com",
        kind="NIMService",
        versions=("v1alpha1",),
        plural="nimservices",
        owned_by=(("apps.nvidia.com", "NIMPipeline"),),
        pods=Pods(
            templates=_nim_service,
            template_paths=("spec",),
            counted=_SERVED,
            source="api/apps/v1alpha1/nimservice_types.go of NVIDIA/k8s-nim-operator",
            kueue_unit=KueueUnit.POD,
            starts=Starts.TOGETHER,
            shrinks=True,
            minimum_from="",
            role=model.Role.INFERENCE,
            kueue=Kueue.CHILDREN,
            # `spec.labels` are the labels of the Deployment and of its pods.
            queue_label_path="/spec",
            changes=_CHANGES,
        ),
    ),
    Kind(
        group="apps.nvidia.com",
        kind="NIMPipeline",
        versions=("v1alpha1",),
        plural="nimpipelines",
        pods=Pods(
            templates=_nim_pipeline,
            template_paths=("spec.services[].spec",),
            counted="as a NIMService, for every service that is `enabled`",
            source="api/apps/v1alpha1/nimpipeline_types.go of NVIDIA/k8s-nim-operator",
            kueue_unit=KueueUnit.POD,
            starts=Starts.TOGETHER,
            shrinks=True,
            minimum_from="",
            role=model.Role.INFERENCE,
            kueue=Kueue.CHILDREN,
            changes=_CHANGES,
        ),
    ),
    Kind(
        group="apps.nvidia.com",
        kind="NIMCache",
        versions=("v1alpha1",),
        plural="nimcaches",
        pods=Pods(
            templates=_nim_cache,
            template_paths=("spec",),
            counted="1, until the model is cached",
            source="internal/controller/nimcache_controller.go of NVIDIA/k8s-nim-operator",
            kueue_unit=KueueUnit.POD,
            starts=Starts.TOGETHER,
            shrinks=True,
            minimum_from="",
            role=model.Role.BATCH,
            kueue=Kueue.CHILDREN,
            changes=_CHANGES,
        ),
    ),
]
