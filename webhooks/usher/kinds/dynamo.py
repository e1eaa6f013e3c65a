"""nvidia.com: graphs of Dynamo, their components and scaling adapters, in v1beta1 and in v1alpha1; and checkpoints.

Their operator makes pods of a component through Grove, through a LeaderWorkerSet or through a Deployment; the number of
pods is the same. Sources: deploy/operator/api/ and deploy/operator/internal/dynamo/graph.go of ai-dynamo/dynamo;
shared_spec_conversion.go says how the fields of v1alpha1 become a pod template.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from msgspec.structs import replace

from usher import model, paths
from usher.kinds.kind import Code
from usher.kinds.reading import counts as reading_counts
from usher.kinds.reading import values
from usher.kinds.reading.counts import Growth
from usher.kinds.reading.pod_templates import listed_containers
from usher.kinds.reading.templates import AS_CONFIGURED, LISTS, ClaimPlace, ContainerPlace, Place, Template, Traits
from usher.kinds.reading.values import Reading

Object = Mapping[str, paths.Json]

_MAIN: Final = "main"
_GPU: Final = "nvidia.com/gpu"
_DEVICE_CLASS: Final = "gpu.nvidia.com"
_SHARED_MEMORY: Final = "8Gi"
"""The default size of /dev/shm in a component (DefaultSharedMemorySize in internal/consts)."""

_TRAITS: Final = Traits(
    trains=_MAIN,
    operator_environment=frozenset({"GROVE_*", "LWS_*"}),
    scheduler=model.Scheduler(
        name="default-scheduler", reason="unless its operator is configured for kai-scheduler or volcano"
    ),
)


_TYPES: Final = ("type", "subComponentType", "componentType")
"""The fields with the type of a component: of v1beta1, and of v1alpha1 the finer one first."""

_FIRST: Final = (model.ContainerType.INIT, model.ContainerType.SIDECAR)
"""The containers that start before the main one."""


class _Above(NamedTuple):
    """Values that a graph gives all its components; values of a component win."""

    environment: tuple[Place, ...] = ()
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}


class _Part(NamedTuple):
    """A component of a graph, or a component deployment by itself."""

    name: str
    value: Object
    path: str
    is_beta: bool
    above: _Above


class _Made(NamedTuple):
    """The pod spec of a component and the places of its parts, which depend on the version."""

    spec: Place
    metadata: Place
    main: ContainerPlace
    others: tuple[ContainerPlace, ...]
    written: Mapping[str, str] = {}
    """As in `model.PodSet`."""


class _MemoryService(NamedTuple):
    """The GPU memory service of a component: its claim takes the place of the GPUs of the main container."""

    path: str
    device_class: str
    beside: int
    """Further pods for each engine, which share its GPUs."""


def _is_beta(value: Object) -> bool:
    return str(value.get("apiVersion")).endswith("/v1beta1")


def _graph(graph: Object, reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(graph.get("spec"), "/spec")
    is_beta = _is_beta(graph)
    variables = "env" if is_beta else "envs"
    above = _Above(
        (Place(spec.get(variables), f"/spec/{variables}"),) if spec.get(variables) else (),
        reading.strings(spec.get("labels"), "/spec/labels"),
        reading.strings(spec.get("annotations"), "/spec/annotations"),
    )
    if is_beta:
        for path, value in reading.items(spec.get("components"), "/spec/components"):
            name = reading.text(value.get("name"), path + "/name")
            yield from _templates(_Part(name, value, path, is_beta, above), reading)
    else:
        for path, name, value in reading.entries(spec.get("services"), "/spec/services"):
            yield from _templates(_Part(name, value, path, is_beta, above), reading)


def _component(deployment: Object, reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(deployment.get("spec"), "/spec")
    yield from _templates(_Part("", spec, "/spec", _is_beta(deployment), _Above()), reading)


def _templates(part: _Part, reading: Reading) -> Iterator[Template]:
    """The pods of a component: one for each node of every replica, all alike; and those of the GPU memory service."""
    made = _of_beta(part, reading) if part.is_beta else _of_alpha(part, reading)
    service = _memory_service(part, reading)
    claims: tuple[ClaimPlace, ...] = ()
    main = made.main
    if service is not None:
        main, claims = _with_claim(main, service, reading)
    nodes = _nodes(part, reading)
    replicas = reading.count(part.value.get("replicas"), part.path + "/replicas", default=1)
    volumes, main = _with_shared_memory(made, main, part, reading)
    template = Template(
        name=part.name,
        path=part.path,
        spec=made.spec,
        metadata=made.metadata,
        count=_with_checkpoint(_pods(part, replicas * nodes, reading), part, reading),
        traits=_TRAITS._replace(changeable=part.is_beta, pod_group=AS_CONFIGURED if nodes > 1 else ""),
        containers=_in_order(made, main),
        fields={"volumes": volumes} if volumes is not None else {},
        written=_written(made, volumes, part),
        claims=claims,
        waits=nodes > 1,
        groups=max(replicas, 1),
        unit=model.Unit(part.name, nodes),
        serves_as=next(filter(None, (paths.text(part.value.get(each)) for each in _TYPES)), ""),
    )
    yield template
    if service is not None and service.beside:
        yield _beside_engines(template, service, part, replicas * nodes, reading)


def _written(made: _Made, volumes: Place | None, part: _Part) -> Mapping[str, str]:
    """The fields of an author by the paths of what becomes of them: the last volume is that of the shared memory."""
    if volumes is None or not isinstance(volumes.value, list):
        return made.written
    field = "sharedMemorySize" if part.is_beta else "sharedMemory"
    return {**made.written, f"{volumes.path}/{len(volumes.value) - 1}": f"{part.path}/{field}"}


def _in_order(made: _Made, main: ContainerPlace) -> tuple[ContainerPlace, ...]:
    first = [each for each in made.others if each.type in _FIRST]
    return (*first, main, *(each for each in made.others if each.type not in _FIRST))


def _checkpoint(checkpoint: Object, reading: Reading) -> Iterator[Template]:
    """The one pod of the Job that writes a checkpoint (internal/controller/checkpoint_job.go)."""
    path = "/spec/job"
    job = reading.mapping(reading.mapping(checkpoint.get("spec"), "/spec").get("job"), path)
    part = _Part("", job, path, is_beta=False, above=_Above())
    target = reading.text(job.get("targetContainerName"), path + "/targetContainerName") or _MAIN
    made = _of_beta(part, reading, "podTemplateSpec", target)
    volumes, main = _with_shared_memory(made, made.main, part, reading)
    yield Template(
        name="",
        path=path + "/podTemplateSpec",
        spec=made.spec,
        metadata=made.metadata,
        traits=Traits(trains=target, changeable=False),
        containers=_in_order(made, main),
        fields={"volumes": volumes} if volumes is not None else {},
        written=_written(made, volumes, part),
    )


def _beside_engines(
    template: Template, service: _MemoryService, part: _Part, engines: int, reading: Reading
) -> Template:
    """The pods that share the GPUs of the engines: a weight server for each, and their shadows."""
    bare = ContainerPlace(value={}, path=service.path, name="gms")
    return Template(
        name=f"{part.name}-gms" if part.name else "gms",
        path=service.path,
        spec=template.spec,
        metadata=template.metadata,
        count=_pods(part, engines * service.beside, reading),
        traits=template.traits._replace(changeable=False),
        containers=(bare,),
    )


def _pods(part: _Part, number: int, reading: Reading) -> model.Count:
    """A scaling adapter lets autoscalers set the replicas. `autoscaling` of v1alpha1 is ignored."""
    if _is_on(part, part.value.get("scalingAdapter"), part.path + "/scalingAdapter", reading):
        return model.Count(minimum=number, maximum=None, reason="a scaling adapter lets autoscalers set its replicas")
    return model.Count(minimum=number, maximum=number)


def _with_checkpoint(count: model.Count, part: _Part, reading: Reading) -> model.Count:
    """The pods of a component of a graph, and one of the Job that writes its checkpoint (checkpoint in its CRD)."""
    path = f"{part.path}/experimental/checkpoint" if part.is_beta else f"{part.path}/checkpoint"
    holder = (
        reading.mapping(part.value.get("experimental"), f"{part.path}/experimental") if part.is_beta else part.value
    )
    options = reading.mapping(holder.get("checkpoint"), path)
    if not part.name or not reading.flag(options.get("enabled"), path + "/enabled") or count.maximum is None:
        return count
    if options.get("checkpointRef") or options.get("mode") == "Manual":
        return count
    return replace(count, maximum=count.maximum + 1, reason="1 more while Dynamo writes a checkpoint")


def _is_on(part: _Part, value: object, path: str, reading: Reading) -> bool:
    """Whether an option is on: v1beta1 has the field for it, v1alpha1 sets `enabled`."""
    options = reading.mapping(value, path)
    return value is not None and (part.is_beta or reading.flag(options.get("enabled"), path + "/enabled"))


def _nodes(part: _Part, reading: Reading) -> int:
    """The nodes of one replica: 2 where `multinode` gives no number."""
    if part.value.get("multinode") is None:
        return 1
    multinode = reading.mapping(part.value["multinode"], part.path + "/multinode")
    return max(reading.count(multinode.get("nodeCount"), part.path + "/multinode/nodeCount", default=2, of="nodes"), 1)


def _metadata(part: _Part, own: Object, path: str, reading: Reading) -> Place:
    """Labels and annotations of the pods: those of the template win over the component, and that over the graph."""
    merged: dict[str, paths.Json] = {}
    for name, above in (("labels", part.above.labels), ("annotations", part.above.annotations)):
        of_component = {} if part.is_beta else reading.strings(part.value.get(name), f"{part.path}/{name}")
        merged[name] = {**above, **of_component, **reading.strings(own.get(name), f"{path}/{name}")}
    return Place(merged, path)


def _of_beta(part: _Part, reading: Reading, field: str = "podTemplate", name: str = _MAIN) -> _Made:
    path = f"{part.path}/{field}"
    template = reading.mapping(part.value.get(field), path)
    own = reading.mapping(template.get("metadata"), path + "/metadata")
    spec = reading.mapping(template.get("spec"), path + "/spec")
    main = ContainerPlace(value={}, path=path, name=name)
    others = []
    for each in _listed(spec, path + "/spec", reading):
        if each.type is model.ContainerType.APP and each.value.get("name") == name:
            main = each
        else:
            others.append(each)
    if part.above.environment:
        variables = f"{main.path}/env"
        environment = (*part.above.environment, Place(main.value.get("env"), variables))
        main = main._replace(environment=environment, environment_path=variables)
    return _Made(Place(spec, path + "/spec"), _metadata(part, own, path + "/metadata", reading), main, tuple(others))


def _listed(spec: Object, path: str, reading: Reading) -> Iterator[ContainerPlace]:
    return listed_containers({name: Place(spec.get(name), f"{path}/{name}") for name, _ in LISTS}, reading)


def _of_alpha(part: _Part, reading: Reading) -> _Made:
    """The pod spec of v1alpha1: `mainContainer` wins over fields of the service, and variables add up."""
    path = part.path + "/extraPodSpec"
    extra = reading.mapping(part.value.get("extraPodSpec"), path)
    own_path = part.path + "/extraPodMetadata"
    main_path = path + "/mainContainer"
    main = reading.mapping(extra.get("mainContainer"), main_path)
    asked = {name: _resources(part, main, main_path, name, reading) for name in ("requests", "limits")}
    container = ContainerPlace(
        value={**main, "resources": {"claims": _claims(part, main, main_path, reading)}},
        path=main_path,
        name=_MAIN,
        requests=asked["requests"],
        limits=asked["limits"],
        environment=(
            *part.above.environment,
            Place(part.value.get("envs"), part.path + "/envs"),
            Place(main.get("env"), main_path + "/env"),
        ),
    )
    return _Made(
        Place(extra, path),
        _metadata(part, reading.mapping(part.value.get("extraPodMetadata"), own_path), own_path, reading),
        container,
        tuple(_listed(extra, path, reading)),
        {made: own for name in asked for made, own in _written_resources(part, main, main_path, asked[name], name)},
    )


def _written_resources(part: _Part, main: Object, main_path: str, asked: Place, name: str) -> Iterator[tuple[str, str]]:
    """The fields of requests or limits by the paths of the resources that the operator makes of them."""
    own = paths.mapping(paths.mapping(main.get("resources")).get(name))
    given = f"{part.path}/resources/{name}"
    fields = paths.mapping(paths.mapping(part.value.get("resources")).get(name))
    for each in asked.value if isinstance(asked.value, dict) else ():
        holder = f"{main_path}/resources/{name}" if each in own else given
        field = each
        if each not in own and each in paths.mapping(fields.get("custom")):
            holder = f"{given}/custom"
        elif each not in own and each not in ("cpu", "memory"):
            field = "gpu"
        written = paths.join(holder, field)
        if written != (made := paths.join(asked.path, each)):
            yield made, written


def _resources(part: _Part, main: Object, main_path: str, name: str, reading: Reading) -> Place:
    """Requests or limits: `gpu` is NVIDIA's resource unless `gpuType` names another, `custom` holds any others."""
    path = f"{part.path}/resources/{name}"
    given = reading.mapping(reading.mapping(part.value.get("resources"), part.path + "/resources").get(name), path)
    own_path = f"{main_path}/resources/{name}"
    own = reading.mapping(reading.mapping(main.get("resources"), main_path + "/resources").get(name), own_path)
    plain = {each: given[each] for each in ("cpu", "memory", "gpu") if given.get(each) not in (None, "")}
    found = {**reading.resources(given.get("custom"), path + "/custom"), **reading.resources(plain, path)}
    gpus = found.pop("gpu", None)
    if gpus is not None:
        found[reading.text(given.get("gpuType"), path + "/gpuType") or _GPU] = gpus
    found |= reading.resources(own, own_path)
    asked = {each: str(amount) for each, amount in found.items()}
    return Place(asked, path if given or not own else own_path)


def _claims(part: _Part, main: Object, main_path: str, reading: Reading) -> list[paths.Json]:
    resources = reading.mapping(part.value.get("resources"), part.path + "/resources")
    own = reading.mapping(main.get("resources"), main_path + "/resources")
    return [
        *reading.sequence(resources.get("claims"), part.path + "/resources/claims"),
        *reading.sequence(own.get("claims"), main_path + "/resources/claims"),
    ]


def _with_shared_memory(
    made: _Made, main: ContainerPlace, part: _Part, reading: Reading
) -> tuple[Place | None, ContainerPlace]:
    """The volumes and the main container, with the memory that the operator mounts at /dev/shm unless it is off."""
    if part.is_beta:
        holder, place, is_off = {"sharedMemorySize": part.value.get("sharedMemorySize")}, part.path, False
    else:
        place = part.path + "/sharedMemory"
        shared = reading.mapping(part.value.get("sharedMemory"), place)
        holder, is_off = {"size": shared.get("size")}, reading.flag(shared.get("disabled"), place + "/disabled")
    given = reading.resources({name: size for name, size in holder.items() if size is not None}, place)
    size = next((str(quantity) for quantity in given.values()), _SHARED_MEMORY)
    if is_off or size == "0":
        return None, main
    spec = made.spec.value if isinstance(made.spec.value, dict) else {}
    volume: paths.Json = {
        "name": "shared-memory",
        "emptyDir": {"medium": "Memory", "sizeLimit": size},
    }
    mounts: list[paths.Json] = [
        *reading.sequence(main.value.get("volumeMounts"), main.path + "/volumeMounts"),
        {"name": "shared-memory", "mountPath": "/dev/shm"},  # noqa: S108 - a path in the pods
    ]
    volumes = [*reading.sequence(spec.get("volumes"), made.spec.path + "/volumes"), volume]
    return Place(volumes, made.spec.path + "/volumes"), main._replace(value={**main.value, "volumeMounts": mounts})


def _memory_service(part: _Part, reading: Reading) -> _MemoryService | None:
    path = part.path + ("/experimental" if part.is_beta else "")
    holder = reading.mapping(part.value.get("experimental"), path) if part.is_beta else part.value
    service, failover = holder.get("gpuMemoryService"), holder.get("failover")
    options = reading.mapping(service, path + "/gpuMemoryService")
    of_failover = reading.mapping(failover, path + "/failover")
    if not _is_on(part, service, path + "/gpuMemoryService", reading):
        return None
    shadows = reading.count(of_failover.get("numShadows"), path + "/failover/numShadows", default=1)
    fails_over = _is_on(part, failover, path + "/failover", reading)
    apart = reading.text(options.get("mode"), path + "/gpuMemoryService/mode").lower() == "interpod"
    return _MemoryService(
        path + "/gpuMemoryService",
        reading.text(options.get("deviceClassName"), path + "/gpuMemoryService/deviceClassName") or _DEVICE_CLASS,
        1 + (max(shadows, 1) if fails_over else 0) if apart else 0,
    )


def _with_claim(
    main: ContainerPlace, service: _MemoryService, reading: Reading
) -> tuple[ContainerPlace, tuple[ClaimPlace, ...]]:
    resources = reading.mapping(main.value.get("resources"), main.path + "/resources")
    found: dict[str, Place] = {}
    number = 0
    for name in ("requests", "limits"):
        place = main.requests if name == "requests" else main.limits
        place = place or Place(resources.get(name), f"{main.path}/resources/{name}")
        asked = {each: str(amount) for each, amount in reading.resources(*place).items()}
        amount = asked.pop(_GPU, "")
        number = int(amount) if amount.isdecimal() else number
        found[name] = Place(asked, place.path)
    main = main._replace(requests=found["requests"], limits=found["limits"])
    if not number:
        return main, ()
    request: paths.Json = {
        "name": "gpus",
        "exactly": {"deviceClassName": service.device_class, "count": number},
    }
    return main, (ClaimPlace(spec={"devices": {"requests": [request]}}, path=service.path, container=_MAIN),)


_REFERENCE: Final = "/spec/dgdRef"


def _adapter(value: paths.Object, growth: Growth, reading: Reading) -> Growth:
    """The growth of the adapter of one component, which v1alpha1 calls a service."""
    spec = reading.mapping(value.get("spec"), "/spec")
    reference = reading.mapping(spec.get("dgdRef"), _REFERENCE)
    key = "componentName" if _is_beta(value) else "serviceName"
    graph = reading.text(reference.get("name"), f"{_REFERENCE}/name")
    component = reading.text(reference.get(key), f"{_REFERENCE}/{key}")
    target = values.Reference(
        group=growth.source.group, kind="DynamoGraphDeployment", name=graph, namespace=growth.source.namespace
    )
    path = reading_counts.nearest_pointer(value, f"{_REFERENCE}/name")
    return reading_counts.growth_to_number(
        value, replace(growth, target=target, target_path=path, role=component), reading
    )


CODE: Final[Mapping[str, Code]] = {
    "DynamoGraphDeployment.nvidia.com": {"templates": _graph},
    "DynamoComponentDeployment.nvidia.com": {"templates": _component},
    "DynamoCheckpoint.nvidia.com": {"templates": _checkpoint},
    "DynamoGraphDeploymentScalingAdapter.nvidia.com": {"autoscaler": _adapter},
}
