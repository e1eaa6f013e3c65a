"""Names on which objects of a device stack have to agree: ConfigMaps of operators, shards, resources of partitions.

Sources: api/nvidia/v1, api/nvidia/v1alpha1 and controllers/object_controls.go of NVIDIA/gpu-operator a22dbf6, which
mounts ConfigMaps into pods of its own namespace; api/v1alpha1/deviceconfig_types.go, internal/plugin and
docs/device_plugin of ROCm/gpu-operator 6df13c1; cmd/k8s-device-plugin/main.go of ROCm/k8s-device-plugin (by the
strategy mixed, GPUs that have no partitions keep the name amd.com/gpu); docs/operator/scheduling-shards.md,
pkg/scheduler/conf, pkg/scheduler/cache/cluster_info/queue.go and pkg/podgrouper of NVIDIA/KAI-Scheduler 72de64f.
"""

import difflib
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from usher import memo, model, paths
from usher.accelerators import names
from usher.kinds.reading import known_keys, refused_values
from usher.kinds.reading import value_forms as places
from usher.kinds.reading.chosen_boards import PARTS, beside_others, nodes_of, taints_of
from usher.kinds.reading.environment import misread
from usher.kinds.reading.values import Objects
from usher.model import placement

Found = Iterator[model.UnreadKey]


def disagreements(value: paths.Object, key: tuple[str, str], objects: Objects) -> Found:
    """Names in an object that other objects of the same files contradict.

    Args:
        key: the group and kind of the object.
        objects: the objects of the same files.
    """
    yield from _of_configurations(value, " ".join(key), objects)
    if objects.cluster_scoped(*_KAI_QUEUE) or objects.cluster_scoped(*_SHARDS):
        yield from _of_shards(value, key, objects)
    for place, group, kind in _CLASSES.get(key, ()):
        names = objects.cluster_scoped(group, kind)
        for where, name in places.texts_with_paths(value, place) if names else ():
            like = [] if name in names else [each for each in names if known_keys.is_slip(name[:100], each)]
            if len(like) == 1:
                text = f"names the {kind} {name[:100]}, which these files do not have"
                yield _wrong(where, text, f"did you mean {like[0]}?")
    if plugin := objects.once("AMD's device plugin", lambda: _amd_plugin(objects)):
        yield from _of_partitions(value, plugin)
    if key == ("apps", "DaemonSet"):
        yield from _of_agent(value, objects)
    if (operator := _OPERATORS.get(key)) is not None:
        yield from _of_operator(value, operator, objects)
    yield from _of_release(value, key, objects)


_RELEASES: Final = {
    ("helm.toolkit.fluxcd.io", "HelmRelease"): ("spec.chart.spec.chart", "spec.values"),
    ("argoproj.io", "Application"): (
        "spec.{source,sources[]}.chart",
        "spec.{source,sources[]}.helm.{valuesObject,values}",
    ),
    ("helm.cattle.io", "HelmChart"): ("spec.chart", "spec.{valuesContent,values}"),
}
"""Kinds that install a chart: the places of the name of the chart, and of its values, which may be a text."""


def _of_release(value: paths.Object, key: tuple[str, str], objects: Objects) -> Found:
    """Findings about the ClusterPolicy that the chart of the GPU operator makes of its values, at these."""
    chart, values = _RELEASES.get(key, ("", ""))
    if not chart or not any(
        re.search(r"(?:^|/)gpu-operator(?:-v?\d|$)", each) for each in places.texts_at(value, chart)
    ):
        return
    key = ("nvidia.com", "ClusterPolicy")
    for where, given in places.at(value, values):
        is_text, spec = isinstance(given, str), known_keys.parsed(given) if isinstance(given, str) else given
        made = {**value, "spec": spec if isinstance(spec, dict) else {}}
        beside = (*beside_others(made, key, objects), *disagreements(made, key, objects))
        for each in (*refused_values.wrong_values(made, key), *beside):
            inner = "" if is_text else each.path.removeprefix("/spec")
            yield replace(each, path=f"{where}{inner}", topic="agent")


_REQUESTS: Final = "devices.requests[]{,.exactly,.firstAvailable[]}.deviceClassName"
_CLASSES: Final = {
    ("resource.k8s.io", "ResourceClaim"): ((f"spec.{_REQUESTS}", "resource.k8s.io", "DeviceClass"),),
    ("resource.k8s.io", "ResourceClaimTemplate"): ((f"spec.spec.{_REQUESTS}", "resource.k8s.io", "DeviceClass"),),
    ("karpenter.sh", "NodePool"): (
        ("spec.template.spec.nodeClassRef.name", "karpenter.k8s.aws", "EC2NodeClass"),
        ("spec.template.spec.nodeClassRef.name", "karpenter.azure.com", "AKSNodeClass"),
    ),
}
"""Names of classes in objects: their place, and the group and kind of the classes."""


def _wrong(path: str, text: str, remedy: str) -> model.UnreadKey:
    return model.UnreadKey(path=path, text=text, remedy=remedy, important=False, dangling=True)


def _meant(name: str, known: Collection[str], otherwise: str) -> str:
    like = difflib.get_close_matches(name[:100], sorted(known)[:200], n=1, cutoff=0.7)
    return f"did you mean {like[0]}?" if like else otherwise


class _Named(NamedTuple):
    """A ConfigMap that an object of a kind makes its operator mount."""

    kind: str
    place: str
    """The object with the field of the name."""
    field: str = "name"
    key: str = ""
    """The key that the ConfigMap needs; empty where any will do."""
    default: str = ""
    """A field beside the name that says which key counts."""


_AMD: Final = "amd.com DeviceConfig"

_USUAL: Final = "gpu-operator"
_OF_OTHERS: Final = frozenset({"default", "kube-system", "kube-public"})
"""Namespaces in which hardly anybody runs NVIDIA's operator."""

_ConfigMaps = Mapping[str, Mapping[str, paths.Object]]
"""ConfigMaps by name, and then by namespace."""


def _of_configurations(value: paths.Object, kind: str, objects: Objects) -> Found:
    if kind == " Node" and (chosen := known_keys.part_at(value, "/metadata/labels").get(_CHOSEN)):
        yield from _of_node(str(chosen), objects)
    rows = [_Named(**row) for row in known_keys.rows("mounted") if row["kind"] == kind]
    found = objects.once("ConfigMaps by name", lambda: _config_maps(objects)) if rows else {}
    for row in rows if found else ():
        for path, named in places.at(value, row.place, ""):
            name = paths.text(named.get(row.field)) if isinstance(named, dict) else ""
            if not name or places.is_placeholder(name):
                continue
            if name not in found:
                if like := [each for each in sorted(found)[:200] if known_keys.is_slip(name[:100], each)]:
                    text = f"names the ConfigMap {name[:100]}, which these files do not have"
                    yield _wrong(f"{path}/{row.field}", text, f"did you mean {like[0]}?")
                continue
            own = paths.text(paths.metadata(value).get("namespace")) if kind == _AMD else ""
            yield from _elsewhere(f"{path}/{row.field}", name, found[name], {own} if own else _homes(objects))
            yield from _without_key(path, row, named, found[name])


def _config_maps(objects: Objects) -> _ConfigMaps:
    found: defaultdict[str, dict[str, paths.Object]] = defaultdict(dict)
    for namespace, value in objects.all():
        if value.get("kind") == "ConfigMap":
            found[paths.text(paths.metadata(value).get("name"))][namespace] = value
    return found


def _homes(objects: Objects) -> Collection[str]:
    """The namespaces in which the files run NVIDIA's operator; empty where they do not show it."""
    return objects.once(
        "namespaces of NVIDIA's operator",
        lambda: (
            {
                namespace
                for namespace, value in objects.all()
                if value.get("kind") == "Deployment" and _is_home(paths.text(paths.metadata(value).get("name")))
            }
            or {name for name in objects.names("", "Namespace") if _is_home(name)}
        ),
    )


def _is_home(name: str) -> bool:
    return _USUAL in name and "amd" not in name


def _elsewhere(path: str, name: str, found: Mapping[str, paths.Object], homes: Collection[str]) -> Found:
    """A ConfigMap that lies only in namespaces in which its reader does not run."""
    written = {paths.text(paths.metadata(each).get("namespace")) for each in found.values()}
    if "" in written or not (written.isdisjoint(homes) if homes else written <= _OF_OTHERS):
        return
    where = f"the namespace {min(homes)}" if homes else f"its own namespace (usually {_USUAL})"
    text = f"names the ConfigMap {name[:100]}, which these files have in the namespace {min(written)}"
    remedy = f"create the ConfigMap in {min(homes) if homes else 'the namespace of the operator'}"
    yield _wrong(path, f"{text}; the pods that mount it run in {where} and wait for it there", remedy)


def _without_key(path: str, row: _Named, named: Mapping[str, Any], found: Mapping[str, paths.Object]) -> Found:
    """A key that no ConfigMap of the name has, though each shows its keys."""
    wanted = row.key or paths.text(named.get(row.default))
    keys = {
        each
        for one in found.values()
        for part in ("data", "binaryData")
        for each in known_keys.part_at(one, f"/{part}")
    }
    if wanted and keys and wanted not in keys and not places.is_placeholder(wanted):
        listed = ", ".join(sorted(keys)[:5])
        name = paths.text(named.get(row.field))
        if row.key:
            text = f"names the ConfigMap {name[:100]}, which has no key {wanted}, the file that is read"
            yield _wrong(f"{path}/{row.field}", text, f"call the key {wanted} ({listed})")
        else:
            text = f"has the default {wanted[:100]}, which is not a key of the ConfigMap {name[:100]}"
            yield _wrong(f"{path}/{row.default}", text, _meant(wanted, keys, f"name one of its keys ({listed})"))


_CHOSEN: Final = "nvidia.com/device-plugin.config"
"""The label of a node that chooses a key of the ConfigMap of the device plugin."""


def _of_node(chosen: str, objects: Objects) -> Found:
    config_maps = objects.once("ConfigMaps by name", lambda: _config_maps(objects))
    policies = objects.cluster_scoped("nvidia.com", "ClusterPolicy").values()
    named = [paths.text(known_keys.part_at(each, "/spec/devicePlugin/config").get("name")) for each in policies]
    # The plugin's own chart mounts one ConfigMap; without a ClusterPolicy the only one with its configurations counts.
    own = [name for name, found in config_maps.items() if any(map(_configures_plugin, found.values()))]
    for name in named or (own if len(own) == 1 else ()):
        keys = {each for one in config_maps.get(name, {}).values() for each in known_keys.part_at(one, "/data")}
        if keys and chosen not in keys:
            text = f"chooses the configuration {chosen[:100]}, which is not a key of the ConfigMap {name[:100]}"
            remedy = _meant(chosen, keys, f"name one of its keys ({', '.join(sorted(keys)[:5])})")
            yield _wrong(paths.join("/metadata/labels", _CHOSEN), text, remedy)


def _configures_plugin(config_map: paths.Object) -> bool:
    return any(each.reader == "the device plugin" for each in known_keys.configurations(config_map.get("data")))


def _of_agent(value: paths.Object, objects: Objects) -> Found:
    """A device plugin, an exporter or a driver of volumes that does not tolerate a taint of its nodes in the files."""
    spec, path = known_keys.part_at(value, "/spec/template/spec"), "/spec/template/spec/tolerations"
    images = " ".join(places.texts_at(spec, "containers[].image"))
    rows = [row for row in known_keys.rows("agents") if re.search(row["image"], images)]
    if not rows and re.search(_BEFORE_DEVICES, images):
        yield from _kept_off(spec, "", path, objects, "agent")
    for row in rows[:1]:
        yield from _kept_off(spec, row["on"], path, objects, "agent", effect=row["effect"])


class _Operator(NamedTuple):
    """An operator that makes a device plugin."""

    tolerations: str
    """The object with the `field` of the tolerations of its DaemonSets."""
    field: str
    selector: str
    board: str
    """A pattern of a label that nodes with its devices have."""
    default: Sequence[Mapping[str, str]] = ()
    """The tolerations that they have if the field is empty."""
    effect: str = ""
    """The effect on nodes that offer other devices; this operator adds its own tolerations."""


_GPU_TOLERATION: Final = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}

_OPERATORS: Final = {
    ("nvidia.com", "ClusterPolicy"): _Operator(
        "/spec/daemonsets",
        "tolerations",
        "",
        r"^(feature\.node\.kubernetes\.io/pci-(\d{4}_)?10de\.present|nvidia\.com/gpu\.present)$",
        (_GPU_TOLERATION,),
    ),
    ("mellanox.com", "NicClusterPolicy"): _Operator(
        "/spec",
        "tolerations",
        "",
        r"pci-15b3\.present$",
        (_GPU_TOLERATION,),
        "the node offers no devices of its network",
    ),
    ("amd.com", "DeviceConfig"): _Operator(
        "/spec/devicePlugin", "devicePluginTolerations", "/spec/selector", r"amd-gpu$|^amd\.com/gpu"
    ),
    ("deviceplugin.intel.com", "GpuDevicePlugin"): _Operator(
        "/spec", "tolerations", "/spec/nodeSelector", r"intel.*gpu"
    ),
}


def _of_operator(value: paths.Object, operator: _Operator, objects: Objects) -> Found:
    """An operator whose DaemonSets do not tolerate a taint of nodes with its devices."""
    given = known_keys.part_at(value, operator.tolerations)
    added = places.values_at(given, f"{operator.field}[]")
    tolerations = [*added, *(operator.default if operator.effect or not added else ())]
    selector = known_keys.part_at(value, operator.selector) if operator.selector else {}
    path = operator.tolerations if given else "/spec"
    spec = {"tolerations": tolerations, "nodeSelector": selector}
    yield from _kept_off(spec, operator.board, path, objects, "controller", effect=operator.effect)


def _kept_off(  # noqa: PLR0913 - what an agent selects, and what follows
    spec: Mapping[str, Any], board: str, path: str, objects: Objects, topic: str, *, effect: str = ""
) -> Found:
    """The first taint of nodes without devices that an agent, whose devices these are, does not tolerate.

    Args:
        spec: the `tolerations`, the `nodeSelector` and the `affinity` of the agent.
        board: a pattern of a label that these nodes have, or of a device that they offer; empty where the selector
            says it.
        path: where to add a toleration.
        effect: the effect on these nodes, if they offer other devices; else they offer no device.
    """
    tolerations = [each for each in places.values_at(spec, "tolerations[]") if isinstance(each, dict)]
    of_others = bool(effect)
    for taints, nodes in objects.once(f"tainted nodes {of_others}", lambda: _tainted(objects, of_others)).items():
        taint = next(iter(placement.untolerated(tolerations, taints)), None)
        if taint is None:
            continue
        for name, labels in nodes:
            if _selects(spec, labels, taints) and (not board or any(re.search(board, each) for each in labels)):
                keyed = taint.key in places.texts_at(spec, "tolerations[].key")
                taint_text = f"{taint.key}={taint.value}" if keyed else taint.key
                text = f"does not tolerate the taint {taint_text} of {name}, so {effect or 'the node offers no device'}"
                yield misread(path, text, f"add a toleration for {taint_text}", topic)
                return


_TERMS: Final = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[]"
_DISCOVERED: Final = ("feature.node.kubernetes.io/", "nvidia.com/", "amd.com/", "gpu.intel.com/")
"""Starts of labels that agents on the node set later."""


def _selects(spec: Mapping[str, Any], labels: Mapping[str, Any], taints: Sequence[placement.NodeTaint]) -> bool:
    """Whether an agent is for a node, once a node with devices has the labels of discoveries that it lacks now."""
    known = [placement.parse_term(each) for each in places.values_at(spec, _TERMS) if isinstance(each, dict)]
    terms = [each.on_labels for each in known if each is not None and not each.on_fields]
    starts = _DISCOVERED if _HAS_DEVICES.search(" ".join([*labels, *(each.key for each in taints)])) else ()
    now = [[one for one in each if one.key in labels or not one.key.startswith(starts)] for each in terms]
    return paths.mapping(spec.get("nodeSelector")).items() <= labels.items() and (
        not known or any(all(placement.labels_match(one, labels) for one in each) for each in now)
    )


_MOST_NODES: Final = 100
_APART: Final = 50
"""Nodes with the same taints, and how many fewer different taints, with which an agent is compared: a constant cost."""

_Tainted = dict[tuple[placement.NodeTaint, ...], list[tuple[str, Mapping[str, Any]]]]


def _tainted(objects: Objects, offering: bool) -> _Tainted:  # noqa: FBT001 - a part of the key of `once`
    """Names and labels of nodes with or without devices, and of NodePools for GPUs, by their taints.

    Names of devices count as labels too.
    """
    found: _Tainted = {}
    nodes = [(f"node {name}", node) for name, node in nodes_of(objects).items() if _offers(node) is offering]
    for name, each in objects.known(*_NODE_POOL).items():
        if keys := [one for one in places.texts_at(each, "spec.template.spec.taints[].key") if "gpu" in one]:
            template = {**known_keys.part_at(each, "/spec/template"), "status": {"allocatable": dict.fromkeys(keys)}}
            nodes.append((f"NodePool {name}", template))
    for name, node in nodes:
        labels = known_keys.part_at(node, "/metadata/labels")
        labels = {**known_keys.part_at(node, "/status/allocatable"), **labels} if offering else labels
        passing = _PASSING if _HAS_DEVICES.search(" ".join(labels)) else (*_PASSING, "node-role.kubernetes.io/")
        taints = tuple(each for each in taints_of(node) if not each.key.startswith(passing))
        if taints and (len(found.get(taints, ())) if taints in found else len(found) + _APART) < _MOST_NODES:
            found.setdefault(taints, []).append((name, labels))
    return found


_PASSING: Final = (
    "node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "karpenter.sh/", "ToBeDeleted", "DeletionCandidate",
)  # fmt: skip
"""Starts of taints that controllers set and remove themselves."""
_HAS_DEVICES: Final = memo.pattern(r"nvidia|amd\.com|gpu|10de|neuron|gaudi|accelerator")


def _offers(node: paths.Object) -> bool:
    """Whether a node offers a device, so that its plugin runs there."""
    status = known_keys.part_at(node, "/status")
    given = {**paths.mapping(status.get("allocatable")), **paths.mapping(status.get("capacity"))}
    return any(names.meaning_of(key) for key, amount in given.items() if amount not in ("0", 0))


_KAI_QUEUE: Final = ("scheduling.run.ai", "Queue")
_SHARDS: Final = ("kai.scheduler", "SchedulingShard")
_QUEUE_LABEL: Final = "kai.scheduler/queue"
_SHARD_LABEL: Final = "kai.scheduler/node-pool"


def _shard_label(objects: Objects) -> str:
    """The label of shards, which the configuration of KAI-Scheduler may rename."""
    for each in objects.cluster_scoped("kai.scheduler", "Config").values():
        if named := paths.text(known_keys.part_at(each, "/spec/global").get("nodePoolLabelKey")):
            return named
    return _SHARD_LABEL


def _of_shards(value: paths.Object, key: tuple[str, str], objects: Objects) -> Found:
    """A shard that no scheduler has, and a workload or a queue in another shard than its queue."""
    label = objects.once("the label of shards", lambda: _shard_label(objects))
    queues = objects.cluster_scoped(*_KAI_QUEUE)
    own = known_keys.part_at(value, "/metadata/labels")
    if key == _KAI_QUEUE or (key == ("", "Node") and label in own):
        yield from _unserved("/metadata/labels", own, label, objects)
        parent = paths.text(known_keys.part_at(value, "/spec").get("parentQueue")) if key == _KAI_QUEUE else ""
        if parent in queues:
            place = "/spec/parentQueue"
            yield from _apart(place, paths.text(own.get(label)), queues[parent], label, "its parent queue")
        return
    for path, labels in _labels_of_pods(value, own):
        # The podgrouper reads the outermost owner first, and then the pod.
        both = {**labels, **own}
        queue, shard = paths.text(both.get(_QUEUE_LABEL)), paths.text(both.get(label))
        if queue and shard:
            yield from _unserved("/metadata/labels" if label in own else path, both, label, objects)
        if queue in queues:
            place = paths.join("/metadata/labels" if _QUEUE_LABEL in own else path, _QUEUE_LABEL)
            yield from _apart(place, shard, queues[queue], label, "the queue")


def _labels_of_pods(value: paths.Object, own: Mapping[str, Any]) -> Sequence[tuple[str, Mapping[str, Any]]]:
    """The labels of an object, and those of its first template that names a queue."""
    for _, path, _ in places.pod_specs(value):
        holder = path.removesuffix("/spec")
        labels = known_keys.part_at(value, f"{holder}/metadata/labels") if path.startswith("/") else {}
        if _QUEUE_LABEL in own or _QUEUE_LABEL in labels:
            return [(f"{holder}/metadata/labels", labels)]
    return ()


def _unserved(path: str, labels: Mapping[str, Any], label: str, objects: Objects) -> Found:
    served = objects.once(
        "shards of KAI-Scheduler",
        lambda: {
            paths.text(known_keys.part_at(each, "/spec").get("partitionLabelValue"))
            for each in objects.cluster_scoped(*_SHARDS).values()
        },
    )
    shard = paths.text(labels.get(label))
    if served and shard and shard not in served and not places.is_placeholder(shard):
        known = served - {""}
        remedy = f"name one of them ({', '.join(sorted(known)[:5])})" if known else "remove the label"
        yield _wrong(
            paths.join(path, label),
            f"is in the shard {shard[:100]}, and no SchedulingShard in these files has that partitionLabelValue, so "
            "no scheduler looks at it",
            _meant(shard, known, f"{remedy}, or add a SchedulingShard"),
        )


def _apart(path: str, shard: str, queue: paths.Object, label: str, what: str) -> Found:
    other = paths.text(known_keys.part_at(queue, "/metadata/labels").get(label))
    name = paths.text(paths.metadata(queue).get("name"))
    if shard == other or places.is_placeholder(shard + other):
        return
    mine, theirs = (f"the shard {each[:100]}" if each else "the default shard" for each in (shard, other))
    remedy = f"set the label {label}: {other[:100]}" if other else f"remove the label {label}"
    yield _wrong(
        path,
        f"is in {mine}, but {what} {name[:100]} is in {theirs} ({label}); a scheduler sees only queues of its own "
        "shard, so nothing here starts",
        f"{remedy}, or label the queue like it",
    )


class _AmdPlugin(NamedTuple):
    """AMD's device plugin, as the files describe it."""

    where: str
    mixed: bool
    """Whether resources have the names of partitions."""
    partitions: frozenset[str]
    """The names of partitions that configurations of the device config manager make; empty if they do not say it."""


_PARTITION: Final = memo.pattern(r"amd\.com/[sdtqc]px_nps\d")
_STRATEGY: Final = memo.pattern(r"-resource_naming_strategy[= ]\s*(single|mixed)")
_MOST: Final = 64 * 1024


def _amd_plugin(objects: Objects) -> _AmdPlugin | None:
    """AMD's device plugin; None where the files do not have it, or have it with several strategies."""
    found: dict[bool, str] = {}
    partitions = set[str]()
    for _, value in objects.all():
        if value.get("kind") == "ConfigMap":
            partitions.update(_partitions_made(value))
        elif (is_mixed := _strategy(value)) is not None:
            found.setdefault(is_mixed, f"{value['kind']} {paths.text(paths.metadata(value).get('name'))}")
    for mixed, where in found.items() if len(found) == 1 else ():
        return _AmdPlugin(where, mixed, frozenset(partitions))
    return None


def _strategy(value: paths.Object) -> bool | None:
    """Whether a DeviceConfig or a DaemonSet names resources by partition; None for other objects."""
    if value.get("kind") == "DeviceConfig" and paths.text(value.get("apiVersion")).startswith("amd.com/"):
        return _is_mixed(paths.mapping(value.get("spec")))
    if value.get("kind") == "DaemonSet":
        for text in places.texts_at(value, "spec.template.spec.containers[].{command[],args[]}"):
            if match := _STRATEGY.search(text):
                return match[1] == "mixed"
    return None


def _partitions_made(config_map: paths.Object) -> Iterator[str]:
    """The resources of the partitions that a configuration of the device config manager makes."""
    for text in known_keys.part_at(config_map, "/data").values():
        if isinstance(text, str) and len(text) <= _MOST and "gpu-config-profiles" in text:
            yield from (f"amd.com/{one}_{other}".lower() for one, other in PARTS.findall(text))


_NODE_POOL: Final = ("karpenter.sh", "NodePool")


def _is_mixed(spec: Mapping[str, Any]) -> bool | None:
    """Whether a DeviceConfig names resources by partition; None without the device plugin, or for an unknown name."""
    plugin = paths.mapping(spec.get("devicePlugin"))
    if plugin.get("enableDevicePlugin") is False or paths.mapping(spec.get("draDriver")).get("enable"):
        return None
    passes = "passthrough" in paths.text(paths.mapping(spec.get("driver")).get("driverType"))
    way = paths.mapping(plugin.get("devicePluginArguments")).get("resource_naming_strategy")
    return {"mixed": True, "single": False, None: passes}.get(way) if way is None or isinstance(way, str) else None


def _of_partitions(value: paths.Object, plugin: _AmdPlugin) -> Found:
    """Resources of AMD that the device plugin of the files does not offer."""
    for spec, path, _ in places.pod_specs(value):
        for place, resources in places.at(spec, "{containers,initContainers}[].resources", path):
            asked = paths.mapping(resources) if isinstance(resources, dict) else {}
            part = "limits" if asked.get("limits") else "requests"
            for name in known_keys.part_at(asked, f"/{part}"):
                if reason := _not_offered(name, plugin):
                    yield _wrong(paths.join(f"{place}/{part}", name), *reason)


def _not_offered(name: str, plugin: _AmdPlugin) -> tuple[str, str] | None:
    is_partition = _PARTITION.fullmatch(name) is not None
    of_files = f"asks for {name}, but the device plugin of {plugin.where} in these files"
    listed = ", ".join(sorted(plugin.partitions)[:5])
    if not plugin.mixed and is_partition:
        text = f"{of_files} calls all GPUs and partitions amd.com/gpu"
        return text, "ask for amd.com/gpu, or set resource_naming_strategy: mixed"
    if plugin.mixed and name == "amd.com/gpu":
        text = (
            f"{of_files} has resource_naming_strategy mixed, which gives that name only to GPUs that cannot be "
            "partitioned; others have the name of their partition"
        )
        right = listed or "amd.com/spx_nps1 for a whole GPU"
        return text, f"ask for the partition ({right}), or set resource_naming_strategy: single"
    # GPUs without a profile stay whole.
    if plugin.mixed and is_partition and plugin.partitions and name not in plugin.partitions | {"amd.com/spx_nps1"}:
        text = f"asks for {name}, but no profile of the device config manager in these files makes this partition"
        return text, _meant(name, plugin.partitions, f"ask for one of them ({listed})")
    return None


_DEVICE_PLUGIN: Final = (
    r"(k8s|neuron|vgpu|sandbox|kubevirt-gpu|gaudi|habanalabs|intel-gpu|rdma-shared|sriov-network)[\w-]*device-plugin"
)
_BEFORE_DEVICES: Final = rf"{_DEVICE_PLUGIN}|node-feature-discovery|/(vgpu(-device)?|k8s-mig)-manager|container-toolkit"
"""Agents without which a node offers no device: the labels of node feature discovery select its nodes for plugins."""
_AGENTS: Final = (
    (r"dcgm-exporter", "DCGM_EXPORTER_KUBERNETES", "pod-resources", "its metrics name no pods"),
    (r"amd.*device-metrics-exporter", "", "pod-resources", "its metrics name no pods"),
    (r"neuron-monitor", "", "pod-resources", "its metrics name no pods"),
    (_DEVICE_PLUGIN, "", "device-plugins", "the kubelet gets no devices from it"),
)
"""Images of agents of nodes, the variable that switches a use on, the folder of the kubelet, and the effect without."""


_SAYS_PODS: Final = frozenset({"DCGM_EXPORTER_KUBERNETES", "-k", "--kubernetes", "--kubernetes=true"})


def agents_without_folder(value: paths.Object) -> Found:
    """Agents in a DaemonSet that mount no folder of the kubelet in which they look for its socket."""
    for spec, path, _ in places.pod_specs(value):
        mounted = places.texts_at(spec, "volumes[].hostPath.path")
        above = any(each.rstrip("/").endswith("kubelet") or each == "/" for each in mounted)
        for where, container in places.at(spec, "containers[]", path):
            if not isinstance(container, dict):
                continue
            image = paths.text(container.get("image"))
            command = " ".join(places.texts_at(container, "command[]"))
            if command and "plugin" not in command and "exporter" not in command:
                continue  # one image may hold several programs, for example gpu-feature-discovery
            arguments = [*places.texts_at(container, "{command[],args[]}"), *places.texts_at(container, "env[].name")]
            silent = "envFrom" not in container and not _SAYS_PODS.intersection(arguments)
            if "dcgm-exporter" in image and silent and any("pod-resources" in each for each in mounted):
                text = f"runs {image[:100]} without DCGM_EXPORTER_KUBERNETES, so its metrics name no pods"
                yield misread(f"{where}/image", text, "set DCGM_EXPORTER_KUBERNETES to true", "agent")
            for pattern, variable, folder, effect in _AGENTS:
                switched = not variable or str(_variable(container, variable)).lower() in {"true", "1"}
                if switched and re.search(pattern, image) and not above and not any(folder in each for each in mounted):
                    text = f"runs {image[:100]} without the host path /var/lib/kubelet/{folder}, so {effect}"
                    remedy = f"mount the host path /var/lib/kubelet/{folder} at the same place"
                    yield misread(f"{where}/image", text, remedy, "agent")


def _variable(container: Mapping[str, Any], name: str) -> object:
    env = container.get("env")
    entries = env if isinstance(env, list) else []
    found = [each.get("value") for each in entries if isinstance(each, dict) and each.get("name") == name]
    return found[0] if found else None
