"""The facts about an object from other objects of the same files: its Services, its disks, the pods of its PodGroup.

Files are applied together, so they show all objects. A cluster gets them one by one, so a review knows no other object.
"""

import contextlib
import difflib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import orjson
from msgspec import Struct, field
from msgspec.structs import replace
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import errors, model, paths, quantities
from usher.accelerators import boards
from usher.authorities import knowledge
from usher.authorities.knowledge import Knowledge
from usher.cluster.facts import store
from usher.kinds import registry
from usher.kinds.kind import CONFIG_MAP
from usher.kinds.reading import environment, known_keys, shapes, value_forms
from usher.kinds.reading import values as reading_values
from usher.kinds.reading.values import Reference
from usher.model import placement
from usher.workloads import grown_workloads, pod_sets

GROUP_ANNOTATION: Final = "scheduling.k8s.io/group-name"
"""On pods and templates: the name of their PodGroup of Volcano."""

GROUP_LABEL: Final = "scheduling.x-k8s.io/pod-group"
"""On pods and templates: the name of their PodGroup of the coscheduling plugin."""

_PERSISTENT_VOLUME: Final = ("", "PersistentVolume")
_POD_GROUP: Final = ("scheduling.volcano.sh", "PodGroup")
_BUDGET: Final = ("policy", "PodDisruptionBudget")
_NODE: Final = ("", "Node")
_CLUSTER_POLICY: Final = ("nvidia.com", "ClusterPolicy")

_POD: Final = ("", "Pod")

_FINISHED: Final = frozenset({"Succeeded", "Failed"})

_PORTS_OF_PEOPLE: Final = (22, 6006, 8888, "22", "6006", "8888")
"""Ports of SSH, TensorBoard and Jupyter, which answer at once and load no model."""

_Naming = Mapping[tuple[str, str], Sequence[paths.Object]]
"""Objects by the namespace and the name of the PodGroup that they name."""


class Link(TypedDict):
    """A variable that Kubernetes gives a container for a Service, and that its program reads as a port."""

    service: str
    variable: str
    program: str
    path: str
    """The path of the container."""


class Guarded(TypedDict):
    """The pods that a disruption budget selects."""

    pods: int
    names: list[str]
    """Kind and name of the objects that make them and whose pods ask for accelerators."""


class Beside(Struct, frozen=True, kw_only=True):
    """The objects of the same files that matter to one object."""

    has_service: bool = False
    """Whether a Service with an address of its own sends the requests of programs to the pods."""
    disks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Access modes by the name of the PersistentVolumeClaim, for those that the pods name."""
    disk_sizes: Mapping[str, int] = field(default_factory=dict)
    """The bytes that these claims ask for."""
    holders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Other objects whose pods keep a claim, by the name of the claim; empty if all select the same node."""
    host_paths: Mapping[str, shapes.HostPath] = field(default_factory=dict)
    """Paths of nodes to which the PersistentVolumeClaims lead that the pods name, by the name of the claim."""
    together: tuple[model.Workload, ...] = ()
    """All workloads whose pods with accelerators always run, for the first of them alone; empty without facts about
    nodes.
    """
    gang: model.Workload | None = None
    """The pods of a PodGroup, made by hand, as one workload that waits for minMember of them; else None."""
    shared_groups: Mapping[str, int | None] = field(default_factory=dict)
    """The PodGroups that other objects of the same files name as well, with the most pods of all of them together;
    None without a bound.
    """
    links: tuple[Link, ...] = ()
    """Links of Services that the containers cannot bear."""
    mesh: str = ""
    """The label by which a service mesh adds its sidecar to the pods of the namespace; empty without one."""
    scalers: tuple[str, ...] = ()
    """Kinds and names of other autoscalers with the target of this one."""
    unrequested: Mapping[str, str] = field(default_factory=dict)
    """A container of the target of this autoscaler that requests no cpu or memory, by the resource."""
    guarded: Guarded | None = None
    """The pods of a disruption budget; None if the files do not tell them."""
    servers: Mapping[str, str] = field(default_factory=dict)
    """The kind and name of the object whose only pod serves a webhook, by the index of the webhook."""
    parent: tuple[str, str] | None = None
    """The object whose operator makes the target of this autoscaler, and what to do instead; None without one."""
    layout: tuple[str, str] | None = None
    """Why the GPUs of a node cannot have the MIG layout of its label, and the remedy; both empty if they can have it,
    None if no file has layouts.
    """
    placed: frozenset[str] = frozenset()
    """For a ConfigMap, what pods of Volcano and KAI-Scheduler use (priority, gang, vgpu), and what a DaemonSet of the
    device plugin lacks. For a ClusterPolicy, whether a GPUCluster is there.
    """


NOTHING: Final = Beside()


def of(workload: model.Workload | None, objects: reading_values.Lookup, known: Knowledge) -> Beside:
    """The facts about an object from other objects of the same files; empty without files.

    Args:
        objects: the objects of the same files; other kinds of lookups give no facts.
        known: reads the pods.
    """
    if workload is None or not isinstance(objects, reading_values.Objects):
        return NOTHING
    gather = _GATHERED.get((workload.group, workload.kind), _of_pods)
    return gather(workload, objects, known)


def _of_pods(workload: model.Workload, objects: reading_values.Objects, known: Knowledge) -> Beside:
    claims = dict(_claims(workload, objects))
    host_paths = dict(_host_paths(workload.namespace, claims, objects)) if claims else {}
    if not workload.asks_accelerators:
        return Beside(host_paths=host_paths) if host_paths else NOTHING
    return Beside(
        has_service=_has_service(workload, objects),
        disks=dict(_disks(claims)),
        disk_sizes=dict(_disk_sizes(claims)),
        holders=dict(_holders(workload, claims, objects)),
        host_paths=host_paths,
        shared_groups=_shared_groups(workload, objects, known),
        links=tuple(_links(workload, objects)),
        mesh=_mesh(workload, objects, known),
        together=knowledge.together(workload, objects, known),
    )


def _guarded(budget: model.Workload, objects: reading_values.Objects, known: Knowledge) -> Guarded | None:
    """The pods that a budget selects; None without pods, and with pods whose number an autoscaler or a node decides."""
    namespace = budget.namespace
    found = objects.find(Reference(group=budget.group, kind=budget.kind, name=budget.name, namespace=namespace))
    selector = None if isinstance(found, reading_values.Absence) else paths.mapping(found.get("spec")).get("selector")
    scalers = knowledge.scalers_of(namespace, objects)
    wanted = next(iter(paths.mapping(paths.mapping(selector).get("matchLabels")).items()), None)
    made = knowledge.pod_sets_by_label(namespace, objects, known)
    selected = [each for each in made.get(str(wanted), ()) if placement.selector_matches(selector, each[1].labels)]
    targets = [Reference(group=each.group, kind=each.kind, name=each.name, namespace=namespace) for each, _ in selected]
    if not selected or any(target in scalers for target in targets):
        return None
    names = {f"{maker.kind} {maker.name}" for maker, pod_set in selected if pod_set.asks_accelerators}
    return Guarded(pods=sum(pod_set.count.minimum for _, pod_set in selected), names=sorted(names))


_HOOKS: Final = "admissionregistration.k8s.io"


_INJECTING: Final[Mapping[str, Callable[[paths.Json], bool]]] = {
    "istio-injection": lambda value: value == "enabled",
    "istio.io/rev": bool,
}
"""Labels of namespaces whose pods get the sidecar of Istio, and which values say so."""


def _mesh(workload: model.Workload, objects: reading_values.Objects, known: Knowledge) -> str:
    found = objects.cluster_scoped("", "Namespace").get(workload.namespace)
    written = paths.mapping(paths.metadata(found).get("labels")) if found is not None else {}
    labels: Mapping[str, paths.Json] = written or store.namespace_labels(workload.namespace, known.facts) or {}
    meshes = (f"{key}={labels[key]}" for key, injects in _INJECTING.items() if labels.get(key) and injects(labels[key]))
    return next(meshes, "")


def _shared_groups(
    workload: model.Workload, objects: reading_values.Objects, known: Knowledge
) -> Mapping[str, int | None]:
    names = {
        name
        for each in workload.pod_sets
        for name in (each.annotations.get(GROUP_ANNOTATION), each.labels.get(GROUP_LABEL), each.scheduling_group)
        if name
    }
    if not names:
        return {}
    shared = {name: _naming(objects).get((workload.namespace, name), ()) for name in sorted(names)}
    return {name: _most_pods(values, workload, objects, known) for name, values in shared.items() if len(values) > 1}


def _most_pods(
    values: Sequence[paths.Object], workload: model.Workload, objects: reading_values.Objects, known: Knowledge
) -> int | None:
    made = [known.workload(each, namespace=workload.namespace, objects=objects) for each in values]
    maxima = [None if each is None else each.pods.maximum for each in made]
    return None if None in maxima else sum(filter(None, maxima))


def _naming(objects: reading_values.Objects) -> _Naming:
    return objects.once("objects by PodGroup", lambda: _by_group(objects))


def _of_autoscaler(workload: model.Workload, objects: reading_values.Objects, _known: Knowledge) -> Beside:
    own = Reference(group=workload.group, kind=workload.kind, name=workload.name, namespace=workload.namespace)
    found = objects.find(own)
    growth = (
        None if isinstance(found, reading_values.Absence) else grown_workloads.growth_of(found, namespace=own.namespace)
    )
    if growth is None or not growth.target.name:
        return NOTHING
    scalers = knowledge.scalers_of(own.namespace, objects)
    others = (each for each in scalers.get(growth.target, ()) if each != growth.source)
    return Beside(
        scalers=tuple(f"{each.kind} {each.name}" for each in others),
        unrequested=_unrequested(growth.target, objects),
        parent=_parent(growth.target, objects),
    )


def _unrequested(target: Reference, objects: reading_values.Objects) -> Mapping[str, str]:
    """The last container without a request, by cpu and memory. A LimitRange may add requests."""
    found = {} if objects.of_kind("", "LimitRange", target.namespace) else objects.find(target)
    if target.group != "apps" or isinstance(found, reading_values.Absence):
        return {}
    return {
        name: paths.text(container.get("name"))
        for spec, _, _ in value_forms.pod_specs(found)
        for container in map(paths.mapping, value_forms.values_at(spec, "containers[]"))
        for name in ("cpu", "memory")
        if not value_forms.values_at(container, f"resources.{{requests,limits}}.{name}")
    }


def _layout(labels: Mapping[str, str], objects: reading_values.Objects) -> tuple[str, str] | None:
    wanted = labels.get(boards.CONFIG_LABEL, "")
    found = objects.once("layouts of the MIG manager", lambda: list(_layouts(objects)))
    if not found or not wanted:
        return None
    for each in found:
        if wanted in paths.mapping(each.get("mig-configs")):
            return boards.problem_on_node(each, wanted, labels) or ("", "")
    known = sorted({name for each in found for name in paths.mapping(each.get("mig-configs"))})
    like = difflib.get_close_matches(wanted, known, n=1)
    return (
        "is in no configuration of the MIG manager in these files",
        f"did you mean {like[0]}?" if like else f"name one of them: {', '.join(known[:10])}",
    )


def _layouts(objects: reading_values.Objects) -> Iterator[paths.Object]:
    for _, value in objects.all():
        if value.get("kind") == "ConfigMap":
            for each in known_keys.configurations(value.get("data")):
                if "mig-configs" in each.value:
                    yield each.value


_OF_VOLCANO: Final = frozenset({"volcano", "kai-scheduler"})
"""Names of schedulers; others that usher.yaml gives them are not looked for."""

_OF_PLUGIN: Final = {
    "plugin without a file": (b"CONFIG_FILE", b"config-file"),
    "plugin without a root": (b"MPS_ROOT", b"mps-root"),
}
"""Parts that a DaemonSet of NVIDIA's device plugin may lack, and the words that show each part."""


def _placed(objects: reading_values.Objects, known: Knowledge) -> Iterator[str]:
    """The features of Volcano and KAI-Scheduler that workloads use, and what DaemonSets of the device plugin lack."""
    for namespace, value in objects.all():
        if value.get("kind") == "DaemonSet":
            text = orjson.dumps(value)
            if b"k8s-device-plugin" in text and b"config-manager" not in text:
                yield from (lack for lack, words in _OF_PLUGIN.items() if not any(word in text for word in words))
        workload = known.workload(value, namespace=namespace, objects=objects)
        if workload is not None and _is_of_volcano(workload):
            yield from _features(workload)


def _is_of_volcano(workload: model.Workload) -> bool:
    return workload.group.endswith("volcano.sh") or any(
        pod_set.scheduler_name in _OF_VOLCANO for pod_set in workload.pod_sets
    )


def _features(workload: model.Workload) -> Iterator[str]:
    if workload.gang.priority_class or any(pod_set.priority_class_name for pod_set in workload.pod_sets):
        yield "priority"
    group = workload.view.get("volcanoPodGroup", {}).get("spec", {})
    if group.get("priorityClassName"):
        yield "priority"
    if max(group.get("minMember", 0), workload.gang.minimum or 0) > 1:
        yield "gang"
    if any(
        name.startswith("volcano.sh/vgpu-")
        for pod_set in workload.pod_sets
        for container in pod_set.containers
        for name in (*container.requests, *container.limits)
    ):
        yield "vgpu"


def _parent(target: Reference, objects: reading_values.Objects) -> tuple[str, str] | None:
    namespace = target.namespace
    children = objects.once(f"children of operators in {namespace}", lambda: _by_child(namespace, objects))
    parent, remedy, is_made = children.get((target.group, target.kind, target.name), ("", "", False))
    # What the files make themselves no operator makes.
    in_files = is_made and not isinstance(objects.find(target), reading_values.Absence)
    return (parent, remedy) if parent and not in_files else None


def _by_child(namespace: str, objects: reading_values.Objects) -> Mapping[tuple[str, str, str], tuple[str, str, bool]]:
    """The parent, its remedy, and whether its operator makes the child, by the group, kind and name of the child."""
    found: dict[tuple[str, str, str], tuple[str, str, bool]] = {}
    for row in registry.SCALED_CHILDREN:
        for value in objects.of_kind(row.group, row.kind, namespace):
            parent = f"{row.kind} {paths.text(paths.metadata(value).get('name'))}"
            for child in row.children_of(value):
                found.setdefault(child, (parent, row.remedy, not row.reference))
    return found


def _links(workload: model.Workload, objects: reading_values.Objects) -> Iterator[Link]:
    """The variables of Services that programs of the containers read as ports and that no container sets itself."""
    namespace = workload.namespace
    given = objects.once(f"variables of Services in {namespace}", lambda: dict(_variables(namespace, objects)))
    rows = [row for row in environment.PORT_VARIABLES if row.name in given]
    for container in (each for pod_set in workload.pod_sets for each in pod_set.containers) if rows else ():
        text = " ".join((container.image, *container.command))
        own = {variable.name for variable in container.environment}
        own.update(*(source.variables or () for source in container.environment_sources))
        for row in rows if container.type is model.ContainerType.APP else ():
            if row.name not in own and any(word in text for word in row.words):
                yield Link(service=given[row.name], variable=row.name, program=row.program, path=container.path)


def _variables(namespace: str, objects: reading_values.Objects) -> Iterator[tuple[str, str]]:
    """The variable of each Service that pods of its namespace get one for, with the name of the Service."""
    for each in objects.of_kind("", "Service", namespace):
        name = paths.text(paths.metadata(each).get("name"))
        if name and _is_linked(paths.mapping(each.get("spec"))):
            yield f"{name.upper().replace('-', '_')}_PORT", name


def _is_linked(service: Mapping[str, paths.Json]) -> bool:
    """Whether the pods of the namespace get variables for a Service: it has an address and a port."""
    return service.get("clusterIP") != "None" and service.get("type") != "ExternalName" and bool(service.get("ports"))


def _has_service(workload: model.Workload, objects: reading_values.Objects) -> bool:
    namespace = workload.namespace
    selectors = objects.once(f"selectors of Services in {namespace}", lambda: _by_first_label(namespace, objects))
    return any(
        all(pod_set.labels.get(key) == value for key, value in selector.items())
        for pod_set in workload.pod_sets
        for label in pod_set.labels.items()
        for selector in selectors.get(label, ())
    )


def _by_first_label(
    namespace: str, objects: reading_values.Objects
) -> Mapping[tuple[str, paths.Json], Sequence[Mapping[str, paths.Json]]]:
    """The selectors of Services that send requests, by one label of each, so that few are compared with a pod."""
    found: defaultdict[tuple[str, paths.Json], list[Mapping[str, paths.Json]]] = defaultdict(list)
    for each in objects.of_kind("", "Service", namespace):
        spec = paths.mapping(each.get("spec"))
        selector = paths.mapping(spec.get("selector"))
        if selector and _sends_requests(spec):
            key, value = next(iter(selector.items()))
            if isinstance(value, str):
                found[key, value].append(selector)
    return found


def _sends_requests(service: Mapping[str, paths.Json]) -> bool:
    """Whether a Service has an address of its own, and a port that programs use."""
    ports = service.get("ports")
    numbers = [
        entry.get("targetPort", entry.get("port"))
        for entry in (ports if isinstance(ports, list) else [])
        if isinstance(entry, dict)
    ]
    # Without an address it only names the pods, also those that are not ready.
    return service.get("clusterIP") != "None" and any(number not in _PORTS_OF_PEOPLE for number in numbers)


_Claims = Mapping[str, Mapping[str, paths.Json]]
"""The spec of PersistentVolumeClaims by name."""


def _claims(
    workload: model.Workload, objects: reading_values.Objects
) -> Iterator[tuple[str, Mapping[str, paths.Json]]]:
    """The claims that the pods name, also those that are in no file: a volume may be kept for one."""
    names = [
        volume.get("persistentVolumeClaim", {}).get("claimName", "")
        for pod_set in workload.pod_sets
        for volume in pod_set.fields.get("volumes", ())
    ]
    if workload.kind == "InferenceService":
        own = Reference(group=workload.group, kind=workload.kind, name=workload.name, namespace=workload.namespace)
        found = objects.find(own)
        names += () if isinstance(found, reading_values.Absence) else _stored(found)
    for name in filter(None, names):
        claim = Reference(group="", kind="PersistentVolumeClaim", name=name, namespace=workload.namespace)
        found = objects.find(claim)
        yield name, {} if isinstance(found, reading_values.Absence) else paths.mapping(found.get("spec"))


def _stored(value: paths.Object) -> Iterator[str]:
    """The claims in which KServe finds a model."""
    for _, text in _texts_of(value, ("storageUri",)):
        if text.startswith("pvc://"):
            yield text.removeprefix("pvc://").partition("/")[0]


def _disks(claims: _Claims) -> Iterator[tuple[str, tuple[str, ...]]]:
    for name, spec in claims.items():
        modes = spec.get("accessModes")
        if isinstance(modes, list):
            yield name, tuple(mode for mode in modes if isinstance(mode, str))


def _disk_sizes(claims: _Claims) -> Iterator[tuple[str, int]]:
    for name, spec in claims.items():
        requests = paths.mapping(paths.mapping(spec.get("resources")).get("requests"))
        with contextlib.suppress(errors.QuantityError):
            yield name, quantities.parse(requests.get("storage")).nanos // quantities.NANO


class _Holder(NamedTuple):
    """An object whose pods keep a claim as long as they run."""

    group: str
    kind: str
    name: str
    node: str
    """The node that its pods select by name; empty without one."""


def _holders(
    workload: model.Workload, claims: _Claims, objects: reading_values.Objects
) -> Iterator[tuple[str, tuple[str, ...]]]:
    namespace = workload.namespace
    found = objects.once(f"holders of claims in {namespace}", lambda: _by_claim(namespace, objects)) if claims else {}
    for name in claims:
        all_of_claim = found.get(name, ())
        own = [each for each in all_of_claim if each[:3] == (workload.group, workload.kind, workload.name)]
        nodes = {each.node for each in all_of_claim}
        if own and (len(nodes) > 1 or "" in nodes):
            others = tuple(f"{each.kind} {each.name}" for each in all_of_claim if each not in own)
            if others:
                yield name, others


def _by_claim(namespace: str, objects: reading_values.Objects) -> Mapping[str, Sequence[_Holder]]:
    found: defaultdict[str, list[_Holder]] = defaultdict(list)
    pods = objects.once("Pods by namespace", lambda: _pods_by_namespace(objects)).get(namespace, ())
    for (group, kind), values in (
        *((key, objects.of_kind(*key, namespace)) for key in sorted(registry.SERVING)),
        (_POD, pods),
    ):
        for value in values:
            texts = list(_texts_of(value, ("claimName", "kubernetes.io/hostname", "restartPolicy")))
            if kind == "Pod" and ("restartPolicy", "Never") in texts:
                continue
            node = next((text for key, text in texts if key == "kubernetes.io/hostname"), "")
            holder = _Holder(group, kind, paths.text(paths.metadata(value).get("name")), node)
            names = {*(text for key, text in texts if key == "claimName"), *_stored(value)}
            for name in names:
                found[name].append(holder)
    return found


def _pods_by_namespace(objects: reading_values.Objects) -> Mapping[str, Sequence[paths.Object]]:
    """The Pods of the same file. Those of other files are not known, so nothing looks Pods up by their kind."""
    found: defaultdict[str, list[paths.Object]] = defaultdict(list)
    for namespace, value in objects.all():
        if value.get("kind") == "Pod":
            found[namespace].append(value)
    return found


def _texts_of(value: paths.Json, keys: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Each text below one of the keys, anywhere in a value."""
    left: list[paths.Json] = [value]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            yield from ((key, text) for key in keys if isinstance(text := each.get(key), str))
        if isinstance(each, dict | list):
            left.extend(each.values() if isinstance(each, dict) else each)


def _host_paths(
    namespace: str, claims: _Claims, objects: reading_values.Objects
) -> Iterator[tuple[str, shapes.HostPath]]:
    volumes = objects.cluster_scoped(*_PERSISTENT_VOLUME)
    kept = objects.once("volumes by claim", lambda: {_claim_of_volume(value): value for value in volumes.values()})
    for name, spec in claims.items():
        value = volumes.get(paths.text(spec.get("volumeName"))) or kept.get((namespace, name))
        source = paths.mapping(value.get("spec")) if value is not None else {}
        path = paths.mapping(source.get("hostPath")).get("path") or paths.mapping(source.get("local")).get("path")
        if isinstance(path, str):
            yield name, shapes.with_place({"path": path})


def _claim_of_volume(value: paths.Object) -> tuple[str, str]:
    """Namespace and name of the claim for which a volume is kept; empty texts without one."""
    claim = paths.mapping(paths.mapping(value.get("spec")).get("claimRef"))
    return paths.text(claim.get("namespace")), paths.text(claim.get("name"))


def _gang(group: model.Workload, objects: reading_values.Objects, known: Knowledge) -> model.Workload | None:
    """The pods of a PodGroup that were made by hand; None if anything else makes pods of the group too."""
    values = _naming(objects).get((group.namespace, group.name), ())
    pods = [known.workload(each, namespace=group.namespace, objects=objects) for each in values]
    by_hand = [pod for pod in pods if pod is not None and pod.is_pod and pod.owner is None]
    if not by_hand or len(by_hand) < len(pods):
        return None
    minimum = group.view.get("volcanoPodGroup", {}).get("spec", {}).get("minMember", 0)
    return replace(
        group,
        pod_sets=tuple(pod_set for pod in by_hand for pod_set in pod.pod_sets),
        gang=model.Gang(wanted=minimum > 1, minimum=minimum),
    )


def _by_group(objects: reading_values.Objects) -> _Naming:
    found: defaultdict[tuple[str, str], list[paths.Object]] = defaultdict(list)
    for namespace, value in objects.all():
        if paths.mapping(value.get("status")).get("phase") not in _FINISHED:
            for name in set(_groups_named(value)):
                found[namespace, name].append(value)
    return found


def _groups_named(value: paths.Object) -> Iterator[str]:
    """The PodGroups that an object or any template in it names."""
    left: list[paths.Json] = [value]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            names = (
                paths.mapping(each.get("annotations")).get(GROUP_ANNOTATION),
                paths.mapping(each.get("labels")).get(GROUP_LABEL),
                paths.mapping(each.get("schedulingGroup")).get("podGroupName"),
                pod_sets.group_of_workload(paths.mapping(each.get("workloadRef"))),
            )
            yield from (name for name in names if isinstance(name, str) and name)
            left.extend(each.values())
        elif isinstance(each, list):
            left.extend(each)


def _of_node(node: model.Workload, objects: reading_values.Objects, _known: Knowledge) -> Beside:
    labels = node.view.get("node", {}).get("metadata", {}).get("labels", {})
    return Beside(layout=_layout(labels, objects))


def _of_configuration(given: model.Workload, objects: reading_values.Objects, known: Knowledge) -> Beside:
    if not given.view.get("configMap", {}).get("data"):
        # Most ConfigMaps configure no device and no scheduler; all objects are read for those that do.
        return NOTHING
    return Beside(placed=objects.once("what Volcano and KAI place", lambda: frozenset(_placed(objects, known))))


def _of_cluster_policy(_policy: model.Workload, objects: reading_values.Objects, _known: Knowledge) -> Beside:
    return Beside(placed=frozenset({"GPUCluster"} if objects.names("nvidia.com", "GPUCluster") else ()))


_GATHERED: Final[Mapping[tuple[str, str], Callable[[model.Workload, reading_values.Objects, Knowledge], Beside]]] = {
    **dict.fromkeys(knowledge.AUTOSCALERS, _of_autoscaler),
    _POD_GROUP: lambda group, objects, known: Beside(gang=_gang(group, objects, known)),
    _BUDGET: lambda budget, objects, known: Beside(guarded=_guarded(budget, objects, known)),
    **{
        (_HOOKS, f"{sort}WebhookConfiguration"): lambda given, objects, known: Beside(
            servers=dict(knowledge.servers(given, objects, known))
        )
        for sort in ("Mutating", "Validating")
    },
    _NODE: _of_node,
    CONFIG_MAP: _of_configuration,
    _CLUSTER_POLICY: _of_cluster_policy,
}
"""The facts about kinds that make no pods, by group and kind. All others make pods."""
