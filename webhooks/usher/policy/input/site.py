"""usher.yaml as the policies see it: the slice for a namespace and a kind, and fabric profiles."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NotRequired, cast

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model, paths
from usher.config import fabrics as config_fabrics
from usher.config import models, sections
from usher.config import selection as config_selection
from usher.config.selection import seconds


class Topology(TypedDict):
    mode: str
    level: str


class Queue(TypedDict):
    localQueue: str
    placesPods: bool
    priorityClass: NotRequired[str]
    """A WorkloadPriorityClass."""
    topology: NotRequired[Topology]
    multiKueue: NotRequired[bool]
    """True where its jobs run in other clusters; absent otherwise."""


class Route(TypedDict):
    scheduler: str
    schedulerName: str
    queue: str
    setsMinimum: bool


class Priority(TypedDict):
    priorityClass: str


Parameter = bool | int | str | list[str]


class SharedMemory(TypedDict):
    """Sizes are in mebibytes; absent where usher.yaml does not set them."""

    size: NotRequired[int]
    fallback: NotRequired[int]
    roles: list[str]


class Lifecycle(TypedDict):
    """Times are in seconds; absent where usher.yaml does not set them."""

    ttl: NotRequired[int]
    deadline: NotRequired[int]
    grace: NotRequired[int]
    preStop: NotRequired[list[str]]
    """A command."""
    preStopWait: NotRequired[int]
    signals: NotRequired[bool]
    """True where the command signals process 1; absent otherwise."""


class Site(TypedDict):
    systemNamespace: bool
    nameIsTrusted: NotRequired[str]
    """For a Namespace: what usher.yaml gives to namespaces of its name; absent if it does not trust the name."""
    visibleDevicesAllowed: bool
    hidingVariables: NotRequired[list[str]]
    """Variables that hide devices of vendors other than NVIDIA, for those whose devices pools offer; absent without."""
    visibleDevicesDeclared: bool
    """Whether usher.yaml says which namespaces may see all devices."""
    volcanoSchedulers: list[str]
    kaiSchedulers: NotRequired[list[str]]
    """The names of KAI-Scheduler; absent where usher.yaml routes nothing to it."""
    gangSchedulers: NotRequired[list[str]]
    """The schedulers, `kai` or `volcano`, to which usher.yaml routes workloads of the namespace; absent without one."""
    parameters: NotRequired[dict[str, dict[str, Parameter]]]
    """Values that usher.yaml sets here, by `category/name` of the check; others have their defaults."""
    queue: NotRequired[Queue]
    route: NotRequired[Route]
    priority: NotRequired[Priority]
    globalDefaultPriority: NotRequired[str]
    ipcLockAllowed: bool
    narrowsGangs: NotRequired[bool]
    """True where a gang that fits pools with different boards is bound to one board; absent otherwise."""
    sharedMemory: SharedMemory
    lifecycle: NotRequired[Lifecycle]


class File(TypedDict):
    configMap: str
    key: str
    path: str
    """Where containers see it."""


class Claim(TypedDict):
    name: str
    template: str
    """A ResourceClaimTemplate in the namespace of the workload."""
    roles: list[str]


class Fabric(TypedDict):
    env: dict[str, str]
    resources: dict[str, int]
    networks: list[str]
    annotations: dict[str, str]
    ipcLock: bool
    wholeNodes: bool
    """Whether it is only for pods with all GPUs of a node."""
    forbidden: list[str]
    """Variables that must not be set; names ending in * are prefixes."""
    needs: NotRequired[list[str]]
    """Values that only the site or the author can add; absent if a recipe has them."""
    claims: NotRequired[list[Claim]]
    recipe: NotRequired[dict[str, Any]]
    """Lists of containers, volumes and mounts, as in a pod."""
    topology: NotRequired[File]
    ncclConf: NotRequired[File]


class Sites:
    """The slices of one configuration, remembered: a cluster has few namespaces and many pods in each."""

    def __init__(self, config: models.Config, keys: Mapping[str, str]) -> None:
        """Takes the keys of the checks by the codes and names that usher.yaml uses."""
        self.config = config
        self._keys = keys
        self._kept = lru_cache(maxsize=1024)(self._slice)
        self._looks_at_size = any(
            entry.min_accelerators or entry.max_accelerators is not None
            for entry in (*config.queues, *config.routing, *config.priorities.classes, *config.lifecycle)
        )

    def of(self, workload: model.Workload) -> Site:
        """The slice for a workload. Callers must not change it, because it is kept."""
        size = config_selection.largest_size(workload) if self._looks_at_size else 0
        return self._kept(workload.namespace, workload.group, workload.kind, workload.role.value, size)

    def _slice(self, namespace: str, group: str, kind: str, role: str, size: int | None) -> Site:
        config = self.config
        subject = config_selection.Subject(namespace=namespace, group=group, kind=kind, role=role, accelerators=size)
        result: Site = {
            "systemNamespace": config_selection.matches_pattern(namespace, config.priorities.system_namespaces),
            "visibleDevicesAllowed": config_selection.matches_pattern(namespace, config.isolation.visible_devices),
            "visibleDevicesDeclared": "visible_devices" in config.isolation.model_fields_set,
            "volcanoSchedulers": sorted(
                {"volcano", *(route.name for route in config.routing if route.scheduler == "volcano")}
            ),
            "ipcLockAllowed": config_selection.matches_pattern(namespace, config.isolation.ipc_lock),
            "sharedMemory": _shared_memory(config.shared_memory),
        }
        if (group, kind) == ("", "Namespace"):
            result.update(paths.given(nameIsTrusted=models.why_trusted(namespace, config)))
        _schedulers(result, namespace, config)
        result.update(paths.given(parameters=self._parameters(namespace)))
        queue = config_selection.first_match(config.queues, subject)
        if queue is not None:
            result["queue"] = _queue(queue)
        route = config_selection.first_match(config.routing, subject)
        if route is not None:
            result["route"] = {
                "scheduler": route.scheduler,
                "schedulerName": route.name,
                "queue": route.queue,
                "setsMinimum": route.sets_minimum,
            }
        priority = config_selection.first_match(config.priorities.classes, subject)
        if priority is not None:
            result["priority"] = {"priorityClass": priority.priority_class}
        ending = config_selection.first_match(config.lifecycle, subject)
        if ending is not None:
            result["lifecycle"] = _lifecycle(ending)
        result.update(paths.given(narrowsGangs=config.gangs.different_boards == "narrow"))
        if config.priorities.global_default is not None:
            result["globalDefaultPriority"] = config.priorities.global_default
        return result

    def _parameters(self, namespace: str) -> dict[str, dict[str, Parameter]]:
        """Values of parameters for a namespace; for each value the last entry of usher.yaml that fits decides."""
        result: dict[str, dict[str, Parameter]] = {}
        for entry in self.config.parameters:
            key = self._keys.get(entry.check)
            if key is not None and config_selection.matches_pattern(namespace, entry.namespaces):
                result.setdefault(key, {}).update(entry.values)
        return result


def _schedulers(result: Site, namespace: str, config: models.Config) -> None:
    routed = [each for each in config.routing if config_selection.matches_pattern(namespace, each.namespaces)]
    result.update(
        paths.given(
            kaiSchedulers=sorted({route.name for route in config.routing if route.scheduler == "kai"}),
            gangSchedulers=sorted({route.scheduler for route in routed}),
        )
    )


def _queue(queue: sections.Queue) -> Queue:
    result: Queue = {"localQueue": queue.local_queue, "placesPods": queue.places_pods}
    result.update(paths.given(priorityClass=queue.priority_class, multiKueue=queue.multi_kueue))
    if queue.topology is not None:
        result["topology"] = {"mode": queue.topology.mode, "level": queue.topology.level}
    return result


def _shared_memory(settings: sections.SharedMemory) -> SharedMemory:
    result: SharedMemory = {"roles": list(settings.roles)}
    if settings.size is not None:
        result["size"] = sections.size_in_mebibytes(settings.size)
    if settings.fallback is not None:
        result["fallback"] = sections.size_in_mebibytes(settings.fallback)
    return result


def _lifecycle(settings: sections.Lifecycle) -> Lifecycle:
    hook = settings.pre_stop
    times = {
        "ttl": settings.ttl_after_finished,
        "deadline": settings.deadline,
        "grace": settings.termination_grace_period,
        "preStopWait": None if hook is None else hook.wait,
    }
    result = cast(Lifecycle, {name: int(seconds(time)) for name, time in times.items() if time is not None})
    if hook is not None:
        result["preStop"] = sections.command_of(hook)
        result.update(paths.given(signals=hook.signal is not None))
    return result


NCCL_CONF = "/etc/nccl.conf"
"""The file in which NCCL looks for settings that the environment does not set."""


def fabrics(config: models.Config) -> Mapping[str, Fabric]:
    """The profiles that pools name, each completed by its base."""
    return {name: _fabric(config.fabric(name)) for name in {pool.fabric for pool in config.pools} if name is not None}


def _fabric(fabric: config_fabrics.Fabric) -> Fabric:
    result: Fabric = {
        "env": dict(fabric.env),
        "resources": dict(fabric.resources),
        "networks": list(fabric.networks),
        "annotations": dict(fabric.annotations),
        "ipcLock": fabric.ipc_lock,
        "wholeNodes": fabric.whole_nodes,
        "forbidden": sorted(fabric.forbidden),
    }
    if fabric.claims:
        result["claims"] = [
            {"name": claim.name, "template": claim.resource_claim_template, "roles": list(claim.roles)}
            for claim in fabric.claims
        ]
    if fabric.recipe is not None:
        result["recipe"] = fabric.recipe.model_dump(by_alias=True)
    elif fabric.needs:
        result["needs"] = list(fabric.needs)
    if fabric.topology is not None:
        topology = fabric.topology
        result["topology"] = {"configMap": topology.config_map, "key": topology.key, "path": topology.path}
    if fabric.nccl_conf is not None:
        conf = fabric.nccl_conf
        result["ncclConf"] = {"configMap": conf.config_map, "key": conf.key, "path": NCCL_CONF}
    return result
