"""Pods that operators of models write whole: NVIDIA's operator of NIM (apps.nvidia.com), and KAITO (kaito.sh).

NIM: the services of NeMo are described (kinds/descriptions/serving.yaml). For a named profile the operator adds as many
GPUs as its tensor parallelism, if the object requests no GPUs. Sources: api/apps/v1alpha1, manifests/,
internal/controller/nimbuild_controller.go and internal/controller/platform/standalone/nimservice.go (addGPUResources)
of NVIDIA/k8s-nim-operator at f63f74d7.

KAITO makes its pods from a machine type: each asks for all GPUs of one machine. Sources: pkg/sku, pkg/workspace and
pkg/ragengine of kaito-project/kaito at 056b8280.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from usher import model, paths
from usher.kinds.kind import Code
from usher.kinds.reading.pod_templates import pod_template, template_times
from usher.kinds.reading.templates import NOWHERE, ONE, TERMS, ClaimPlace, ContainerPlace, Place, Template, Traits
from usher.kinds.reading.values import Reading, Reference

Object = Mapping[str, paths.Json]

_DEVICE_CLASS: Final = "gpu.nvidia.com"
"""The device class of a claim that does not name one."""

ClaimEntries = list[tuple[str, Mapping[str, paths.Json]]]


def resources_with_claims(spec: Object, path: str, claims: ClaimEntries, reading: Reading) -> paths.Object:
    """The resources of the main container. The operator replaces their claims with those of `draResources`."""
    given = reading.mapping(spec.get("resources"), path + "/resources")
    result: paths.Object = {field: given[field] for field in ("requests", "limits") if field in given}
    taken: list[paths.Json] = []
    for index, (claim_path, entry) in _named_claims(claims):
        requests = reading.texts(entry.get("requests"), claim_path + "/requests")
        taken += [{"name": _claim_name(index), "request": request} for request in requests or ("",)]
    return {**result, "claims": taken} if taken else result


def _named_claims(claims: ClaimEntries) -> Iterator[tuple[int, tuple[str, Mapping[str, paths.Json]]]]:
    """The entries that refer to an existing claim or claim template, with their indices."""
    for index, (path, entry) in enumerate(claims):
        if entry.get("claimCreationSpec") is None:
            yield index, (path, entry)


def _claim_name(index: int) -> str:
    return f"claim-{index}"


def _claim_entry(index: int, entry: Object) -> paths.Json:
    fields = ("resourceClaimName", "resourceClaimTemplateName")
    return {"name": _claim_name(index), **{field: entry[field] for field in fields if field in entry}}


def created_claims(claims: ClaimEntries, container: str, reading: Reading) -> Iterator[ClaimPlace]:
    """The claims for which the operator makes a template; what selects the devices does not change their number."""
    for claim_path, entry in claims:
        path = claim_path + "/claimCreationSpec"
        creation = reading.mapping(entry.get("claimCreationSpec"), path)
        requests: list[paths.Json] = []
        for device_path, device in reading.items(creation.get("devices"), path + "/devices"):
            name = reading.text(device.get("deviceClassName"), device_path + "/deviceClassName") or _DEVICE_CLASS
            count = reading.count(device.get("count"), device_path + "/count", default=1, of="devices")
            if count:
                requests.append({"name": "device", "exactly": {"deviceClassName": name, "count": count}})
        if requests:
            yield ClaimPlace(spec={"devices": {"requests": requests}}, path=path, container=container)


def claim_entries(claims: ClaimEntries) -> list[paths.Json]:
    """`spec.resourceClaims` of the pods."""
    return [_claim_entry(index, entry) for index, (_, entry) in _named_claims(claims)]


GROUP: Final = "apps.nvidia.com"
_GPU: Final = "nvidia.com/gpu"
_KEYS: Final = ("tensorParallelism", "tp")
_NOT_KNOWN: Final = "how many GPUs its pods get is not known"


def gpus_of_service(spec: Object, path: str, gpus_of_node: int | None, reading: Reading) -> Mapping[str, Place]:
    """`requests` and `limits` with the GPUs that the operator adds to a NIMServiceSpec; empty if it adds no GPUs.

    Args:
        gpus_of_node: GPUs of each of several nodes; None for a single pod.
        reading: looks the NIMCache up.
    """
    cache_path = path + "/storage/nimCache"
    storage = reading.mapping(spec.get("storage"), path + "/storage")
    cache = reading.mapping(storage.get("nimCache"), cache_path)
    name = reading.text(cache.get("name"), cache_path + "/name")
    profile = reading.text(cache.get("profile"), cache_path + "/profile")
    if not (name and profile) or spec.get("draResources") or _asks_for_gpus(spec):
        return {}
    reference = Reference(group=GROUP, kind="NIMCache", name=name, namespace=reading.context.namespace)
    found = reading.look_up(reference, cache_path + "/name", consequence=_NOT_KNOWN)
    if found is None or not _is_optimised(found):
        return {}
    if gpus_of_node is not None:
        return _added_gpus(str(gpus_of_node), spec, path, reading, because=cache_path)
    amount = _parallelism_of_profile(found, profile)
    if amount is None:
        reading.unknown(cache_path + "/profile", f"{reference} does not tell of this profile: {_NOT_KNOWN}")
        return {}
    return _added_gpus(amount or "1", spec, path, reading, because=cache_path)


def gpus_of_build(spec: Object, path: str, reading: Reading) -> Mapping[str, Place]:
    """The same for a NIMBuild. If it names no profile, it takes the only profile that can be built.

    constructEngineBuildPod in internal/controller/nimbuild_controller.go: without a number the operator makes no pod.
    """
    cache_path = path + "/nimCache"
    cache = reading.mapping(spec.get("nimCache"), cache_path)
    name = reading.text(cache.get("name"), cache_path + "/name")
    profile = reading.text(cache.get("profile"), cache_path + "/profile")
    if not name or _asks_for_gpus(spec):
        return {}
    reference = Reference(group=GROUP, kind="NIMCache", name=name, namespace=reading.context.namespace)
    found = reading.look_up(reference, cache_path + "/name", consequence=_NOT_KNOWN)
    if found is None:
        return {}
    amount = _parallelism_of_profile(found, profile) if profile else None
    if not amount:
        reading.unknown(cache_path, f"{reference} does not tell the tensor parallelism: {_NOT_KNOWN}")
        return {}
    return _added_gpus(amount, spec, path, reading, because=cache_path)


def _asks_for_gpus(spec: Object) -> bool:
    resources = spec.get("resources")
    holder: Object = resources if isinstance(resources, dict) else {}
    asked = (holder.get(field) for field in ("requests", "limits"))
    return any(isinstance(each, dict) and _GPU in each for each in asked)


def _is_optimised(cache: Object) -> bool:
    """Whether the model comes from NGC for certain GPUs (nimcache_types.go, IsOptimizedNIM)."""
    inner = Reading()
    source = inner.mapping(inner.mapping(cache.get("spec"), "/spec").get("source"), "/spec/source")
    ngc = inner.mapping(source.get("ngc"), "/spec/source/ngc")
    return source.get("ngc") is not None and ngc.get("modelEndpoint") is None


def _parallelism_of_profile(cache: Object, name: str) -> str | None:
    """The tensor parallelism of a profile in the status: empty if it is not set, None if the profile is missing."""
    inner = Reading()
    status = inner.mapping(cache.get("status"), "/status")
    for path, profile in inner.items(status.get("profiles"), "/status/profiles"):
        if profile.get("name") == name:
            config = inner.strings(profile.get("config"), path + "/config")
            return next((config[key] for key in _KEYS if key in config), "")
    return None


def _added_gpus(amount: str, spec: Object, path: str, reading: Reading, *, because: str) -> Mapping[str, Place]:
    """Requests and limits with the GPUs added. Each keeps its path, or has the path `because` if it was empty."""
    resources = reading.mapping(spec.get("resources"), path + "/resources")
    found = {}
    for field in ("requests", "limits"):
        here = f"{path}/resources/{field}"
        own = {name: str(quantity) for name, quantity in reading.resources(resources.get(field), here).items()}
        found[field] = Place({**own, _GPU: amount}, here if own else because)
    return found


_MODE: Final = "serving.kserve.io/deploymentMode"
_DEPLOYMENTS: Final = frozenset({"Standard", "RawDeployment"})
_CACHE_NODES: Final = {"feature.node.kubernetes.io/pci-10de.present": "true"}
"""Node labels for the download of a NIMCache that names no nodes: nodes with any NVIDIA device."""

# The operator copies only some fields of a pod, and with several nodes not even the affinity.
_NIM_TRAITS: Final = Traits(changeable=False)


def _nim_service(service: Object, reading: Reading) -> Iterator[Template]:
    metadata = reading.mapping(service.get("metadata"), "/metadata")
    name = reading.text(metadata.get("name"), "/metadata/name")
    spec = reading.mapping(service.get("spec"), "/spec")
    yield from _service_templates(spec, "/spec", "", f"{name}-ctr" if name else "ctr", reading)


def _nim_pipeline(pipeline: Object, reading: Reading) -> Iterator[Template]:
    """A NIMService for every entry that is enabled (nimpipeline_types.go)."""
    spec = reading.mapping(pipeline.get("spec"), "/spec")
    for path, service in reading.items(spec.get("services"), "/spec/services"):
        name = reading.text(service.get("name"), path + "/name")
        own = reading.mapping(service.get("spec"), path + "/spec")
        templates = list(_service_templates(own, path + "/spec", name, f"{name}-ctr" if name else "ctr", reading))
        if reading.flag(service.get("enabled"), path + "/enabled"):
            yield from templates


def _service_templates(spec: Object, path: str, name: str, container: str, reading: Reading) -> Iterator[Template]:
    """One template for the pods of a Deployment, or for leaders and workers alike: they request the same."""
    nodes, gpus_of_node = _nodes_of_service(spec, path, reading)
    claims = list(reading.items(spec.get("draResources"), path + "/draResources"))
    added = gpus_of_service(spec, path, gpus_of_node, reading)
    main = ContainerPlace(
        value={"env": spec.get("env"), "resources": resources_with_claims(spec, path, claims, reading)},
        path=path,
        name=container,
        requests=added.get("requests"),
        limits=added.get("limits"),
    )
    fields = {
        # `resources` belongs to the container, not to the pod as a whole.
        "resources": Place(None, path + "/resources"),
        "resourceClaims": Place(claim_entries(claims), path + "/draResources"),
    }
    if nodes > 1:
        fields["affinity"] = Place(None, path + "/affinity")
    yield Template(
        name=name,
        path=path,
        spec=Place(spec, path),
        metadata=Place(spec, path),
        count=_service_replicas(spec, path, nodes, reading),
        traits=_NIM_TRAITS._replace(operator_environment=frozenset({"LWS_*"} if nodes > 1 else ())),
        containers=(
            *_other_containers(spec, path, "initContainers", model.ContainerType.INIT, reading),
            *((main,) if spec else ()),
            *_other_containers(spec, path, "sidecarContainers", model.ContainerType.APP, reading),
        ),
        fields=fields,
        claims=tuple(created_claims(claims, container, reading)),
    )
    yield from _endpoint_picker(spec, path, name, reading)


def _nodes_of_service(spec: Object, path: str, reading: Reading) -> tuple[int, int | None]:
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


def _service_replicas(spec: Object, path: str, nodes: int, reading: Reading) -> model.Count:
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


def _other_containers(
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
        traits=_NIM_TRAITS,
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
        traits=_NIM_TRAITS,
        containers=(
            *_other_containers(spec, "/spec", "initContainers", model.ContainerType.INIT, reading),
            *((main,) if spec else ()),
        ),
        fields={
            "resources": Place(None, "/spec/resources"),
            "nodeSelector": Place(_CACHE_NODES if selector is None else selector, "/spec/nodeSelector"),
        },
    )


# The operator copies only some fields of a pod.
_NEMO_TRAITS: Final = Traits(changeable=False)
_BUILDER: Final = "nim-build-ctr"


def _nim_build(build: Object, reading: Reading) -> Iterator[Template]:
    """The pod that builds an engine. The pod that reads the result afterwards requests no accelerators."""
    spec = reading.mapping(build.get("spec"), "/spec")
    added = gpus_of_build(spec, "/spec", reading)
    main = ContainerPlace(
        value=spec, path="/spec", name=_BUILDER, requests=added.get("requests"), limits=added.get("limits")
    )
    yield Template(
        name="",
        path="/spec",
        spec=Place(spec, "/spec"),
        metadata=Place(spec, "/spec"),
        traits=_NEMO_TRAITS._replace(trains=_BUILDER, operator_environment=frozenset({"NIM_*", "NGC_API_KEY"})),
        containers=(main,) if spec else (),
        fields={"resources": NOWHERE, "affinity": NOWHERE, "schedulerName": NOWHERE, "priorityClassName": NOWHERE},
    )


_GPUS_OF_MACHINES: Final[Mapping[str, int]] = {
    name: gpus
    for gpus, names in {
        1: "Standard_NV36ads_A10_v5 Standard_NC24ads_A100_v4 Standard_NC40ads_H100_v5 Standard_NCC40ads_H100_v5 "
        "Standard_NG32ads_V620_v1 Standard_NG32adms_V620_v1 Standard_NC4_A2 Standard_NC8_A2 Standard_NC4_A16 "
        "Standard_NC8_A16 g6.xlarge g6.2xlarge g6.4xlarge g6.8xlarge g6.16xlarge gr6.4xlarge g5.xlarge g5.2xlarge "
        "g5.4xlarge g5.8xlarge g5.16xlarge g4ad.xlarge g4ad.2xlarge g4ad.4xlarge trn1.2xlarge inf2.xlarge inf2.8xlarge",
        2: "Standard_NV72ads_A10_v5 Standard_NC48ads_A100_v4 Standard_NC80adis_H100_v5 Standard_NC16_A2 "
        "Standard_NC32_A2 Standard_NC16_A16 Standard_NC32_A16 g4ad.8xlarge",
        4: "Standard_NC96ads_A100_v4 g6.12xlarge g6.24xlarge g5.12xlarge g5.24xlarge g4ad.16xlarge",
        6: "inf2.24xlarge",
        8: "Standard_ND96asr_A100_v4 Standard_ND96amsr_A100_v4 Standard_ND96isr_H100_v5 Standard_ND96isr_H200_v5 "
        "p4d.24xlarge p4de.24xlarge p5.48xlarge p5e.48xlarge p5en.48xlarge g6.48xlarge g5.48xlarge",
        12: "inf2.48xlarge",
        16: "trn1.32xlarge trn1n.32xlarge",
    }.items()
    for name in names.split()
}
"""GPUs of the machine types that KAITO knows (pkg/sku); it asks for as many nvidia.com/gpu, whatever their vendor."""

_KAITO_TOLERATES: Final[list[paths.Json]] = [
    {"key": _GPU, "operator": "Exists", "effect": "NoSchedule"},
    {"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"},
]
_KAITO_TRAITS: Final = Traits(changeable=False)
_BY_MODEL: Final = "KAITO computes the number of nodes from the size of the model"


def _workspace(workspace: Object, reading: Reading) -> Iterator[Template]:
    status = reading.mapping(workspace.get("status"), "/status")
    nodes = reading.count(status.get("targetNodeCount"), "/status/targetNodeCount", default=0, of="nodes")
    yield from _of_workspace(workspace, "", nodes, reading)


def _of_workspace(
    holder: Object, path: str, nodes: int, reading: Reading, *, selector: Place | None = None
) -> Iterator[Template]:
    """The pods of a workspace: one for each node, or one that tunes a model.

    Args:
        nodes: `status.targetNodeCount`, which KAITO sets once; 0 until then.
        selector: the selector of the set that makes it, in place of its own.
    """
    resource = Place(holder.get("resource"), path + "/resource")
    asked = reading.mapping(*resource)
    selected = selector or Place(asked.get("labelSelector"), resource.path + "/labelSelector")
    reading.text(asked.get("instanceType"), resource.path + "/instanceType")
    inference = reading.mapping(holder.get("inference"), path + "/inference")
    if holder.get("tuning") is not None:
        yield _placed(_kaito_pod(resource, "tuning", ONE, reading), selected, reading)
        return
    count = reading.count(asked.get("count"), resource.path + "/count", default=1, of="nodes")
    if nodes:
        pods = model.Count(minimum=nodes, maximum=nodes)
    elif inference.get("template") is None:
        pods = model.Count(minimum=1, maximum=None, reason=_BY_MODEL)
    else:
        pods = model.Count(minimum=count, maximum=count)
    if inference.get("template") is None:
        yield _placed(_kaito_pod(resource, "inference", pods, reading), selected, reading)
        return
    place = Place(inference["template"], path + "/inference/template")
    found = pod_template(place, reading, count=pods)
    spec = reading.mapping(found.spec.value, found.spec.path)
    tolerations = [*reading.sequence(spec.get("tolerations"), found.spec.path + "/tolerations"), *_KAITO_TOLERATES]
    kept = {key: each for key, each in spec.items() if key not in ("affinity", "tolerations")}
    fields = {"tolerations": Place(tolerations, found.spec.path + "/tolerations")}
    yield _placed(replace(found, spec=Place(kept, found.spec.path), fields=fields), selected, reading)


def _kaito_pod(resource: Place, container: str, count: model.Count, reading: Reading, *, gpus: bool = True) -> Template:
    """A pod that KAITO writes whole."""
    asked = _of_machine(resource, reading) if gpus else {}
    place = Place(asked, resource.path)
    asks = resource.value if isinstance(resource.value, dict) else {}
    field = next((each for each in ("partition", "instanceType") if each in asks), "")
    value: dict[str, paths.Json] = {"volumeMounts": [{"name": "dshm", "mountPath": "/dev/shm"}]}  # noqa: S108
    volumes: paths.Json = [{"name": "dshm", "emptyDir": {"medium": "Memory"}}]
    tolerations = [
        *_KAITO_TOLERATES,
        *({"key": name, "operator": "Exists", "effect": "NoSchedule"} for name in asked if name != _GPU),
    ]
    return Template(
        name="",
        path=resource.path,
        spec=Place(None, resource.path),
        count=count,
        traits=_KAITO_TRAITS,
        containers=(ContainerPlace(value=value, path=resource.path, name=container, requests=place, limits=place),),
        fields={"tolerations": Place(tolerations, resource.path), "volumes": Place(volumes, resource.path)},
        written={paths.join(resource.path, name): paths.join(resource.path, field) for name in asked if field},
        waits=count.minimum > 1,
    )


def _placed(pods: Template, selector: Place, reading: Reading) -> Template:
    """The pods with required node affinity for the labels of a selector."""
    labels = reading.strings(reading.mapping(*selector).get("matchLabels"), selector.path + "/matchLabels")
    if not labels:
        return pods
    terms = [{"key": key, "operator": "In", "values": [value]} for key, value in labels.items()]
    return replace(pods, fields={TERMS: Place([{"matchExpressions": terms}], selector.path), **pods.fields})


def _of_machine(resource: Place, reading: Reading) -> dict[str, paths.Json]:
    """The request of one pod: all GPUs of the machine type, one partition, or some GPUs of a node that exists."""
    value, path = reading.mapping(*resource), resource.path
    at = path + "/partition"
    machine = reading.text(value.get("instanceType"), path + "/instanceType")
    partition = reading.mapping(value.get("partition"), at)
    profile = reading.text(partition.get("profile"), at + "/profile")
    mode = reading.text(partition.get("mode"), at + "/mode")
    if mode == "mig" and profile:
        return {f"nvidia.com/mig-{profile.replace('+', '.')}": "1"}
    if mode == "accelerator" and partition.get("count") is not None:
        return {_GPU: str(reading.count(partition["count"], at + "/count", default=1, of="GPUs"))}
    if machine in _GPUS_OF_MACHINES:
        return {_GPU: str(_GPUS_OF_MACHINES[machine])}
    if machine:
        reading.unknown(path + "/instanceType", f"KAITO does not know the machine type {machine}")
    elif value.get("instanceType") is None and (resource.value is None or value):
        reason = "without an instanceType the GPUs are those of the nodes that labelSelector selects"
        reading.unknown(path + "/instanceType" if value else path, reason)
    return {}


def _inference_set(inference_set: Object, reading: Reading) -> Iterator[Template]:
    """The workspaces of a set, which get its selector (pkg/inferenceset/inferenceset_controller.go)."""
    spec = reading.mapping(inference_set.get("spec"), "/spec")
    replicas = reading.count(spec.get("replicas"), "/spec/replicas", default=1)
    template = reading.mapping(spec.get("template"), "/spec/template")
    selector = Place(spec.get("labelSelector"), "/spec/labelSelector")
    for each in _of_workspace(template, "/spec/template", 0, reading, selector=selector):
        yield template_times(each, model.Count(minimum=replicas, maximum=replicas))


def _multi_role(inference: Object, reading: Reading) -> Iterator[Template]:
    """The prefill and decode pods: each role is an InferenceSet with the labels of the whole, and two of its own."""
    spec = reading.mapping(inference.get("spec"), "/spec")
    selector = Place(spec.get("labelSelector"), "/spec/labelSelector")
    for path, role in reading.items(spec.get("roles"), "/spec/roles"):
        replicas = reading.count(role.get("replicas"), path + "/replicas", default=1)
        made = model.Count(minimum=replicas, maximum=None, reason=_BY_MODEL)
        found = _placed(_kaito_pod(Place(role, path), "inference", made, reading), selector, reading)
        yield replace(found, name=reading.text(role.get("type"), path + "/type"))


def _rag_engine(engine: Object, reading: Reading) -> Iterator[Template]:
    """The one pod of an engine: it has GPUs only to embed texts itself."""
    spec = reading.mapping(engine.get("spec"), "/spec")
    compute = Place(spec.get("compute"), "/spec/compute")
    embedding = reading.mapping(spec.get("embedding"), "/spec/embedding")
    machine = reading.text(reading.mapping(*compute).get("instanceType"), "/spec/compute/instanceType")
    known = embedding.get("local") is not None and machine in _GPUS_OF_MACHINES
    selector = Place(reading.mapping(*compute).get("labelSelector"), "/spec/compute/labelSelector")
    yield _placed(_kaito_pod(compute, "ragengine", ONE, reading, gpus=known), selector, reading)


CODE: Final[Mapping[str, Code]] = {
    "Workspace.kaito.sh": {"templates": _workspace},
    "InferenceSet.kaito.sh": {"templates": _inference_set},
    "MultiRoleInference.kaito.sh": {"templates": _multi_role},
    "RAGEngine.kaito.sh": {"templates": _rag_engine},
    "NIMService.apps.nvidia.com": {"templates": _nim_service},
    "NIMPipeline.apps.nvidia.com": {"templates": _nim_pipeline},
    "NIMCache.apps.nvidia.com": {"templates": _nim_cache},
    "NIMBuild.apps.nvidia.com": {"templates": _nim_build},
}
