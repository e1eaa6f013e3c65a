"""Groups of pods that start together: JobSet, LeaderWorkerSet, DisaggregatedSet, and the NodeSets of Slurm.

A DisaggregatedSet is made of several LeaderWorkerSets. A NodeSet (slinky.slurm.net) is the worker nodes of a Slurm
cluster that runs in Kubernetes. Sources for it, at v1beta1 of SlinkyProject/slurm-operator:
internal/builder/workerbuilder/worker_app.go for the pods, internal/controller/nodeset/nodeset_sync.go for their number.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec.structs import replace
from pydantic import BeforeValidator

from usher import model, paths
from usher.kinds.kind import Code
from usher.kinds.reading import counts as reading_counts
from usher.kinds.reading import values
from usher.kinds.reading.counts import Growth, share_of_replicas
from usher.kinds.reading.pod_templates import listed_containers, pod_template, template_times
from usher.kinds.reading.templates import LISTS, ONE, ContainerPlace, Place, Template, Traits
from usher.kinds.reading.values import Reading

Object = Mapping[str, paths.Json]

SET_LABEL: Final = "disaggregatedset.x-k8s.io/name"
ROLE_LABEL: Final = "disaggregatedset.x-k8s.io/role"
_LABELS: Final = "/metadata/labels"

# LW:pkg/utils/pod/pod_utils.go; TPU variables only in pods that ask for TPUs: LW:pkg/utils/accelerators/tpu.go.
_TRAITS: Final = Traits(operator_environment=frozenset({"LWS_*", "TPU_*"}))


def _one_group(spec: Object, path: str, reading: Reading) -> Iterator[Template]:
    """The templates of one group of a LeaderWorkerSetSpec: a leader and `size` - 1 workers.

    If the leader has no template, the controller makes it from that of the workers: one template serves all
    (LW:pkg/controllers/leaderworkerset_controller.go, constructLeaderStatefulSetApplyConfiguration).
    """
    path += "/leaderWorkerTemplate"
    template = reading.mapping(spec.get("leaderWorkerTemplate"), path)
    workers = max(reading.count(template.get("size"), path + "/size", default=1), 1)
    if template.get("leaderTemplate") is not None:
        place = Place(template["leaderTemplate"], path + "/leaderTemplate")
        yield pod_template(place, reading, name="leader", count=ONE, traits=_TRAITS)
        workers -= 1
    count = model.Count(minimum=workers, maximum=workers)
    place = Place(template.get("workerTemplate"), path + "/workerTemplate")
    yield pod_template(place, reading, name="worker", count=count, traits=_TRAITS)


def _replicas(spec: Object, path: str, reading: Reading) -> int:
    return reading.count(spec.get("replicas"), path + "/replicas", default=1)


def _rolling(spec: Object, path: str, reading: Reading) -> tuple[Object | None, str]:
    """The settings of a rolling update, or None, and their path."""
    path += "/rolloutStrategy"
    strategy = reading.mapping(spec.get("rolloutStrategy"), path)
    path += "/rollingUpdateConfiguration"
    given = strategy.get("rollingUpdateConfiguration")
    rolling = reading.mapping(given, path)
    return (None if given is None else rolling), path


def _groups(replicas: int, surge: int) -> model.Count:
    noun = "group" if surge == 1 else "groups"
    reason = f"{surge} more {noun} during a rollout" if surge else ""
    return model.Count(minimum=replicas, maximum=replicas + surge, reason=reason)


def _leader_worker_set(leader_worker_set: Object, reading: Reading) -> Iterator[Template]:
    """The templates of a LeaderWorkerSet. A rollout makes up to `maxSurge` more groups, at most one for each group.

    LW:pkg/controllers/leaderworkerset_controller.go, rollingUpdateParameters.
    """
    spec = reading.mapping(leader_worker_set.get("spec"), "/spec")
    replicas = _replicas(spec, "/spec", reading)
    rolling, path = _rolling(spec, "/spec", reading)
    surge = share_of_replicas(replicas, (rolling or {}).get("maxSurge"), path + "/maxSurge", reading, default=0)
    groups = _groups(replicas, min(surge, replicas))
    for template in _one_group(spec, "/spec", reading):
        found = template_times(template, groups) if template.count.maximum else template
        yield replace(found, groups=replicas)


def _disaggregated_set(disaggregated_set: Object, reading: Reading) -> Iterator[Template]:
    """The templates of a DisaggregatedSet: every slice has the groups of all roles.

    Sources: LW:pkg/controllers/disaggregatedset/executor.go and planner.go.
    """
    spec = reading.mapping(disaggregated_set.get("spec"), "/spec")
    slices = reading.count(spec.get("slices"), "/spec/slices", default=1)
    for path, role in reading.items(spec.get("roles"), "/spec/roles"):
        name = reading.text(role.get("name"), path + "/name")
        template = reading.mapping(role.get("spec"), path + "/spec")
        groups = _groups_of_role(role, template, path, reading)
        for each in _one_group(template, path + "/spec", reading):
            named = replace(each, name=f"{name}-{each.name}" if name else each.name)
            if named.count.maximum:
                named = template_times(template_times(named, groups), model.Count(minimum=slices, maximum=slices))
            yield named


def _groups_of_role(role: Object, spec: Object, path: str, reading: Reading) -> model.Count:
    """How many groups a role has; where an autoscaler sets the number, the role's own number does not count.

    Without any settings a rollout makes one more group. With settings the defaults of the CRD apply: the rollout may
    run one group less, and makes no extra group.
    """
    scaling = reading.mapping(role.get("scaling"), path + "/scaling")
    external = reading.text(scaling.get("mode"), path + "/scaling/mode") == "External"
    replicas = _replicas(spec, path + "/spec", reading)
    rolling, rolling_path = _rolling(spec, path + "/spec", reading)
    surge = 1
    if rolling is not None:
        surge = share_of_replicas(replicas, rolling.get("maxSurge"), rolling_path + "/maxSurge", reading, default=0)
        unavailable = rolling.get("maxUnavailable")
        path_of_unavailable = rolling_path + "/maxUnavailable"
        if not share_of_replicas(replicas, unavailable, path_of_unavailable, reading, default=1, rounded_up=False):
            surge = max(surge, 1)
    if external:
        return model.Count(minimum=0, maximum=None, reason="an autoscaler sets the replicas of the role")
    return _groups(replicas, surge if replicas else 0)


def _role_scaler(value: paths.Object, growth: Growth, reading: Reading) -> Growth:
    """The growth of the scale object of one role.

    The controller of the DisaggregatedSet makes and labels this object.
    """
    labels = reading.strings(reading_counts.object_in(value, "metadata").get("labels"), _LABELS)
    name, role = labels.get(SET_LABEL, ""), labels.get(ROLE_LABEL, "")
    if not (name and role):
        reading.unknown(
            reading_counts.nearest_pointer(value, _LABELS), f"{SET_LABEL} and {ROLE_LABEL} must tell what it scales"
        )
        name = role = ""
    target = values.Reference(
        group=growth.source.group, kind="DisaggregatedSet", name=name, namespace=growth.source.namespace
    )
    path = reading_counts.nearest_pointer(value, paths.join(_LABELS, SET_LABEL))
    return reading_counts.growth_to_number(value, replace(growth, target=target, target_path=path, role=role), reading)


_TEMPLATE: Final = "/spec/template"
_SLURMD: Final = "slurmd"
_SLURM_TRAITS: Final = Traits(
    trains=_SLURMD, operator_environment=frozenset({"POD_CPUS", "POD_MEMORY", "SLINKY_TOPOLOGY", "SOCKET"})
)
_EVERY_NODE: Final = model.Count(minimum=0, maximum=None, reason="one pod on every node that fits")


def _node_set(node_set: Object, reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(node_set.get("spec"), "/spec")
    template = reading.mapping(spec.get("template"), _TEMPLATE)
    pod = Place(template.get("spec"), _TEMPLATE + "/spec")
    yield Template(
        name="",
        path=_TEMPLATE,
        spec=pod,
        metadata=_metadata(node_set, template, reading),
        count=_count(spec, reading),
        traits=_SLURM_TRAITS,
        containers=tuple(_containers(spec, pod, reading)),
    )


def _count(spec: Object, reading: Reading) -> model.Count:
    if reading.text(spec.get("scalingMode"), "/spec/scalingMode") == "DaemonSet":
        return _EVERY_NODE
    replicas = reading.count(spec.get("replicas"), "/spec/replicas", default=1)
    return model.Count(minimum=replicas, maximum=replicas)


def _metadata(node_set: Object, template: Object, reading: Reading) -> Place:
    """The labels and annotations of the pods: those of the template replace those of the object."""
    path = _TEMPLATE + "/metadata"
    own = reading.mapping(node_set.get("metadata"), "/metadata")
    of_pods = reading.mapping(template.get("metadata"), path)
    merged: dict[str, paths.Json] = {}
    for name in ("labels", "annotations"):
        under = reading.strings(own.get(name), f"/metadata/{name}")
        merged[name] = {**under, **reading.strings(of_pods.get(name), f"{path}/{name}")}
    return Place(merged, path)


def _containers(spec: Object, pod: Place, reading: Reading) -> Iterator[ContainerPlace]:
    """The containers: the operator puts its own two first. One without settings has no requests."""
    of_template = reading.mapping(*pod)
    lists = {name: Place(of_template.get(name), f"{pod.path}/{name}") for name, _ in LISTS}
    yield from _container_of_field(spec, "logfile", model.ContainerType.SIDECAR, reading)
    in_template = [each for each in listed_containers(lists, reading) if not _is_merged(each, reading)]
    yield from (each for each in in_template if each.type is not model.ContainerType.APP)
    yield from _container_of_field(spec, _SLURMD, model.ContainerType.APP, reading)
    yield from (each for each in in_template if each.type is model.ContainerType.APP)


def _container_of_field(
    spec: Object, name: str, kind: model.ContainerType, reading: Reading
) -> Iterator[ContainerPlace]:
    value, path = spec.get(name), f"/spec/{name}"
    if value is not None:
        yield ContainerPlace(value=reading.mapping(value, path), path=path, type=kind, name=name)


def _is_merged(container: ContainerPlace, reading: Reading) -> bool:
    """Whether the operator merges a container of the template into one of its own; usher does not merge them."""
    name = container.value.get("name")
    if name not in (_SLURMD, "logfile"):
        return False
    reading.unknown(container.path, f"the operator merges it into spec.{name}: not judged")
    return True


_GRES: Final = re.compile(r"(?:^|\s)Gres=[\"']?([^\s\"']{1,400})", re.IGNORECASE)
_GPUS: Final = re.compile(r"gpu(?::[a-z][\w.+-]{0,60})?(?::([0-9]{1,4}))?(?=\(|$)", re.IGNORECASE | re.ASCII)


def _gres(text: object) -> object:
    """The GPUs in the line of a node: entries have a name, perhaps a type, and a number, 1 if it is missing.

    Source: slurm.conf(5), Gres.
    """
    found = _GRES.findall(text) if isinstance(text, str) else []
    matches = [_GPUS.match(entry) for each in found for entry in each.split(",")]
    numbers = [int(match[1] or 1) for match in matches if match is not None]
    return {"gpus": sum(numbers)} if numbers else {}


CODE: Final[Mapping[str, Code]] = {
    "LeaderWorkerSet.leaderworkerset.x-k8s.io": {"templates": _leader_worker_set},
    "DisaggregatedSet.disaggregatedset.x-k8s.io": {"templates": _disaggregated_set},
    "DisaggregatedSetRoleScaler.disaggregatedset.x-k8s.io": {"autoscaler": _role_scaler},
    "NodeSet.slinky.slurm.net": {"templates": _node_set},
}

SHAPE_PARTS: Final[Mapping[str, Any]] = {
    "gres": BeforeValidator(_gres),
}
