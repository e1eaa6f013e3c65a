"""Queues of Kueue, Volcano and YuniKorn beside clusters, nodes and other queues; groups of pods and task groups."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import orjson

from usher import errors, memo, model, paths, quantities
from usher.kinds.reading import known_keys
from usher.kinds.reading.environment import misread, near
from usher.kinds.reading.value_forms import (
    at,
    is_placeholder,
    pod_specs,
    texts_at,
    texts_with_paths,
    values_at,
)
from usher.kinds.reading.values import Absence, Objects, Reference, amount_in
from usher.model import placement

Found = Iterator[model.UnreadKey]
_KUEUE: Final = "kueue.x-k8s.io"
_VOLCANO: Final = "scheduling.volcano.sh"


def beside_kueue(value: paths.Object, key: tuple[str, str], namespace: str, objects: Objects) -> Found:
    """Mistakes for which a queue or a cluster of Kueue admits nothing, by other objects of the files."""
    if key == (_KUEUE, "LocalQueue"):
        yield from _namespace_not_selected(value, namespace, objects)
        yield from _quota_below_queue(value, namespace, objects)
    elif key == ("apps", "Deployment"):
        yield from _rollout_above_quota(value, namespace, objects)
    elif key == (_KUEUE, "ResourceFlavor"):
        yield from _flavor_without_nodes(value, objects)
    elif key == (_KUEUE, "Cohort"):
        yield from _cohort_above_nodes(value, objects)
        yield from _cycle_of_cohorts(value, objects)
    elif key == (_KUEUE, "ClusterQueue"):
        yield from _queue_above_nodes(value, objects)
        yield from _flavors_apart(value, objects)
    if key[0] == _KUEUE:
        yield from _other_clusters(value, key[1], objects)
    else:
        yield from _beside_other_schedulers(value, key, objects)


def _beside_other_schedulers(value: paths.Object, key: tuple[str, str], objects: Objects) -> Found:
    if key == (_VOLCANO, "Queue"):
        yield from _children_above_parent(value, objects)
    elif key == ("", "ConfigMap"):
        yield from _tree_of_yunikorn(value)
    elif queues := objects.once("names of queues of YuniKorn", lambda: _queues_of_yunikorn(objects)):
        yield from _queue_that_yunikorn_lacks(value, queues)


def _namespace_not_selected(value: paths.Object, namespace: str, objects: Objects) -> Iterator[model.UnreadKey]:
    """A LocalQueue whose ClusterQueue does not select the labels that its Namespace has in the files."""
    name = paths.text(paths.mapping(value.get("spec")).get("clusterQueue"))
    queue = objects.cluster_scoped(_KUEUE, "ClusterQueue").get(name)
    home = objects.cluster_scoped("", "Namespace").get(namespace)
    if queue is None or home is None:
        return
    selector = paths.mapping(queue.get("spec")).get("namespaceSelector")
    written = paths.mapping(paths.metadata(home).get("labels"))
    labels = {
        paths.NAMESPACE_NAME_LABEL: namespace,
        **{key: text for key, text in written.items() if isinstance(text, str)},
    }
    if selector and placement.selector_matches(selector, labels) is False:
        text = f"leads to the ClusterQueue {name}, whose namespaceSelector does not match the labels of the namespace "
        text += f"{namespace} in these files, so it admits nothing from there"
        remedy = "change the labels of the Namespace, or the namespaceSelector of the ClusterQueue"
        yield model.UnreadKey(path="/spec/clusterQueue", text=text, remedy=remedy, important=False, dangling=True)


def _quota_below_queue(value: paths.Object, namespace: str, objects: Objects) -> Found:
    """A ResourceQuota that refuses pods of jobs that Kueue admits, because their queue has more devices."""
    name = paths.text(paths.mapping(value.get("spec")).get("clusterQueue"))
    queue = objects.known(_KUEUE, "ClusterQueue").get(name)
    amounts = [each for each in values_at(queue, _QUOTAS) if isinstance(each, dict)]
    for quota in objects.of_kind("", "ResourceQuota", namespace) if queue is not None else ():
        for key, written in known_keys.part_at(quota, "/spec/hard").items():
            device, most = key.removeprefix("requests."), str(written)
            has = sum(known_keys.integer(each.get("nominalQuota")) for each in amounts if each.get("name") == device)
            if "/" in device and most.isdecimal() and known_keys.integer(most) < has and "scopes" not in str(quota):
                own = paths.text(paths.metadata(quota).get("name"))[:80]
                text = f"leads to {has} {device[:60]} of the ClusterQueue {name[:80]}, and the ResourceQuota {own} "
                text += f"allows {most} in {namespace[:63]}, so Kueue may admit jobs whose pods the API server refuses"
                remedy = "raise the ResourceQuota to the quota of the queue, or leave the devices out of it"
                yield misread("/spec/clusterQueue", text, remedy, "controller")


def _rollout_above_quota(value: paths.Object, namespace: str, objects: Objects) -> Found:
    """A Deployment in a queue whose new pod comes first and finds no quota (kubernetes-sigs/kueue#5118)."""
    spec, labels = known_keys.part_at(value, "/spec"), known_keys.part_at(value, "/metadata/labels")
    queue_name = str(labels.get(f"{_KUEUE}/queue-name", ""))
    found = objects.find(Reference(group=_KUEUE, kind="LocalQueue", name=queue_name, namespace=namespace))
    local = {} if isinstance(found, Absence) else found
    name, replicas = "".join(texts_at(local, "spec.clusterQueue")[:1]), spec.get("replicas", 1)
    queue = objects.known(_KUEUE, "ClusterQueue").get(name, {})
    update = known_keys.part_at(value, "/spec/strategy/rollingUpdate")
    kept = known_keys.part_at(value, "/spec/strategy").get("type", "RollingUpdate") == "RollingUpdate" and (
        update.get("maxUnavailable", "25%" if known_keys.integer(replicas) < _FOUR else 1) in (0, "0", "0%", "25%")
    )
    amounts = [each for each in values_at(queue, _QUOTAS) if isinstance(each, dict)]
    limits = [paths.mapping(each) for each in values_at(spec, "template.spec.containers[].resources.limits")]
    for device in sorted({key for each in limits for key in each if "/" in key}) if kept else ():
        has = sum(known_keys.integer(each.get("nominalQuota")) for each in amounts if each.get("name") == device)
        own = sum(known_keys.integer(each.get(device)) for each in limits)
        asked = own * known_keys.integer(replicas)
        if 0 < asked <= has < asked + own and not values_at(queue, "spec.{cohort,cohortName}"):
            text = (
                f"starts a new pod before it stops an old one, and its pods hold {asked} of the {has} {device[:60]} of "
            )
            text += f"the ClusterQueue {name[:80]}, so the new pod of a rollout stays gated"
            remedy = "set maxSurge to 0 and maxUnavailable to 1, or raise the quota"
            yield misread("/spec/strategy" if "strategy" in spec else "/spec", text, remedy, "controller")


_FOUR: Final = 4
"""Replicas with which the default of 25 % lets one be away."""


def _flavor_without_nodes(value: paths.Object, objects: Objects) -> Found:
    """A flavor whose labels no known node has; its pods are admitted, and the scheduler finds no node."""
    wanted = known_keys.part_at(value, "/spec/nodeLabels").items()
    nodes = [known_keys.part_at(each, "/metadata/labels").items() for each in objects.known("", "Node").values()]
    if wanted and nodes and not _makes_nodes(objects) and not any(wanted <= labels for labels in nodes):
        lacking = next((f"{key}={each}" for key, each in wanted if not any((key, each) in one for one in nodes)), "")
        lack = f" ({lacking[:120]})" if lacking else ""
        text = f"has nodeLabels that no known node has{lack}, so pods that Kueue admits with it stay pending unless an "
        text += "autoscaler adds nodes with them"
        yield misread("/spec/nodeLabels", text, "write labels that the nodes have", "controller")


_QUOTAS: Final = "spec.resourceGroups[].flavors[].resources[]"


def _cohort_above_nodes(value: paths.Object, objects: Objects) -> Found:
    """Quotas of a cohort that are added to those of its queues, and are together more than the known nodes have."""
    name, queues = paths.metadata(value).get("name"), objects.known(_KUEUE, "ClusterQueue").values()
    members = [each for each in queues if name in values_at(each, "spec.{cohort,cohortName}")]
    nodes = objects.known("", "Node").values()
    for where, own in at(value, _QUOTAS):
        device = str(own.get("name")) if isinstance(own, dict) else ""
        amount = known_keys.integer(own.get("nominalQuota")) if "/" in device else 0
        have = sum(known_keys.integer(known_keys.part_at(each, "/status/allocatable").get(device)) for each in nodes)
        others = [each for queue in members for each in values_at(queue, _QUOTAS) if isinstance(each, dict)]
        theirs = sum(known_keys.integer(each.get("nominalQuota")) for each in others if each.get("name") == device)
        if amount and theirs and 0 < have < amount + theirs and have >= max(amount, theirs):
            text = (
                f"adds {amount} {device[:60]} to the {theirs} of its ClusterQueues, and the known nodes have {have}, "
            )
            remedy = "take them off the ClusterQueues, or off the cohort"
            yield misread(where, f"{text}so Kueue admits more than fits unless nodes are added", remedy, "controller")


_OF_CLOUD: Final = memo.pattern(r"node-?(?:group|pool)|(?:agent|worker-)?pool(?:-|$)|instance-?group|/region$")
"""Keys of labels of nodes that a cloud adds by itself."""


def _queue_above_nodes(value: paths.Object, objects: Objects) -> Found:
    """A queue with more devices of a flavor than the known nodes have, where nothing is known to add nodes.

    Kueue knows nothing of nodes, so it preempts nothing while its quota has room (kubernetes-sigs/kueue#4782, #3210).
    A topology counts nodes, and a check may ask for them or for other clusters.
    """
    if values_at(value, "spec.{admissionChecks[],admissionChecksStrategy.admissionChecks[]}"):
        return
    offered = objects.once("devices of each flavor", lambda: _devices_of_flavors(objects))
    for where, given in at(value, "spec.resourceGroups[].flavors[]"):
        of_flavor = offered.get(str(given.get("name")), {}) if isinstance(given, dict) else {}
        for inner, own in at(given, "resources[]") if of_flavor else ():
            device = str(own.get("name")) if isinstance(own, dict) else ""
            amount, have = known_keys.integer(paths.mapping(own).get("nominalQuota")), of_flavor.get(device, 0)
            if 0 < have < amount:
                text = (
                    f"has a quota of {amount} {device[:60]}, and the known nodes of its flavor have {have}, so Kueue "
                )
                text += "admits more than fits and preempts nothing for what waits on the nodes"
                remedy = f"set nominalQuota to at most {have}, unless nodes are added"
                yield misread(f"{where}{inner}/nominalQuota", text, remedy, "controller")


def _devices_of_flavors(objects: Objects) -> Mapping[str, Mapping[str, int]]:
    """The devices of the known nodes of each flavor without a topology; empty where something may add nodes."""
    nodes = objects.known("", "Node").values()
    labels = [known_keys.part_at(each, "/metadata/labels") for each in nodes]
    if _makes_nodes(objects) or any(_OF_CLOUD.search(key) for each in labels for key in each):
        return {}
    found: dict[str, Counter[str]] = {}
    for name, flavor in objects.known(_KUEUE, "ResourceFlavor").items():
        wanted = known_keys.part_at(flavor, "/spec/nodeLabels").items()
        if "topologyName" not in paths.mapping(flavor.get("spec")):
            found[name] = Counter()
            for node, own in zip(nodes, labels, strict=True):
                offers = known_keys.part_at(node, "/status/allocatable").items() if wanted <= own.items() else ()
                found[name].update({device: known_keys.integer(each) for device, each in offers if "/" in device})
    return found


def _makes_nodes(objects: Objects) -> bool:
    """Whether pools are known whose nodes an autoscaler or a cluster's own API makes."""
    return bool(objects.names("karpenter.sh", "NodePool") or objects.names("cluster.x-k8s.io", "MachineDeployment"))


def _cycle_of_cohorts(value: paths.Object, objects: Objects) -> Found:
    """A Cohort that is above itself; its queues are inactive (KQ:pkg/cache/hierarchy/cycle.go)."""
    known = objects.known(_KUEUE, "Cohort")
    way = [paths.text(paths.metadata(value).get("name"))]
    while (above := "".join(texts_at(known.get(way[-1]), "spec.{parentName,parent}")[:1])) and above not in way:
        way.append(above)
    if above and above == way[0]:
        text = f"is above itself ({' below '.join([*way, above])[:200]}), so Kueue admits nothing to its queues"
        yield misread("/spec/parentName", text, "leave parentName out of one of them", "controller")


def _other_clusters(value: paths.Object, kind: str, objects: Objects) -> Iterator[model.UnreadKey]:
    """Mistakes in the configuration of MultiKueue for which it sends nothing."""
    spec = paths.mapping(value.get("spec"))
    if kind == "AdmissionCheck" and (wrong := known_keys.wrong_parameters(spec)):
        remedy = f"write parameters: {{apiGroup: {_KUEUE}, kind: MultiKueueConfig, name: ...}}"
        yield misread("/spec/parameters", f"{wrong}, so it stays inactive", remedy, "controller")
    elif kind == "ClusterQueue" and (named := list(known_keys.checks_of(spec))):
        checks = objects.cluster_scoped(_KUEUE, "AdmissionCheck")
        specs = {name: paths.mapping(each.get("spec")) for name, each in checks.items()}
        found = known_keys.exclusion([each[1:] for each in named], lambda name: specs.get(name, {}))
        if found is not None and found.reason != "AdmissionCheckInactive":
            path = next(path for path, name, _ in named if name == found.check)
            remedy = "leave one of the checks out" if len(named) > 1 else "leave onFlavors out"
            text = f"stays inactive ({found.reason}): {found.text}"
            yield misread(path, text, remedy, "controller")
    elif kind == "MultiKueueConfig":
        clusters = objects.cluster_scoped(_KUEUE, "MultiKueueCluster")
        located = {name: texts_at(each, _KUBECONFIG) for name, each in clusters.items()}
        for path, text in known_keys.one_cluster(texts_with_paths(value, "spec.clusters[]", ""), located):
            yield misread(path, text, "leave one of them out", "controller")
    elif kind == "MultiKueueCluster":
        for path, name in texts_with_paths(value, _KUBECONFIG, ""):
            secret = objects.cluster_scoped("", "Secret").get(name, {})
            keys = {**paths.mapping(secret.get("data")), **paths.mapping(secret.get("stringData"))}
            if keys and "kubeconfig" not in keys:
                text = f"names the Secret {name[:100]}, which has no key kubeconfig, so Kueue cannot connect"
                yield misread(path, text, f"rename its key {min(keys)[:100]} to kubeconfig", "controller")


def groups_of_pods(value: paths.Object, namespace: str, objects: Objects) -> Found:
    """A pod of a group of Kueue that names another queue or number of pods than the first pod of its group.

    Source: ConstructComposableWorkload and cleanupExcessPods in pkg/controller/jobs/pod/pod_controller.go of Kueue.
    """
    name = _group_of(value)
    if not name:
        return
    groups = objects.once(f"groups of pods in {namespace}", lambda: _groups_of_pods(namespace, objects))
    first, *others = groups.get(name) or [value]
    own = paths.text(paths.metadata(first).get("name"))[:80]
    for place, what in ((f"labels/{_KUEUE}/queue-name", "the queue"), (f"annotations/{_COUNT}", "a number of pods of")):
        part, _, key = place.partition("/")
        given, mine = (paths.mapping(paths.metadata(each).get(part)).get(key) for each in (first, value))
        if isinstance(given, str) and isinstance(mine, str) and given != mine:
            text = f"names {what} {mine[:63]}, and the pod {own} of its group {name[:63]} names {given[:63]}, "
            text += "so Kueue starts no pod of the group"
            where = paths.join(f"/metadata/{part}", key)
            yield misread(where, text, f"write {given[:63]} in all pods of the group", "controller")
    count = known_keys.integer(paths.mapping(paths.metadata(value).get("annotations")).get(_COUNT))
    if first is value and 0 < count <= len(others):
        text = (
            f"is in a group of {count} pods, and the files have {len(others) + 1} pods of it, so Kueue deletes the rest"
        )
        where = paths.join("/metadata/annotations", _COUNT)
        yield misread(where, text, f"set it to {len(others) + 1} in all of them", "controller")


_COUNT: Final = f"{_KUEUE}/pod-group-total-count"


def _group_of(pod: paths.Object) -> str:
    labels = paths.mapping(paths.metadata(pod).get("labels"))
    return paths.text(labels.get(f"{_KUEUE}/pod-group-name"))


def _groups_of_pods(namespace: str, objects: Objects) -> Mapping[str, Sequence[paths.Object]]:
    found = defaultdict[str, list[paths.Object]](list)
    for each in objects.of_kind("", "Pod", namespace):
        if name := _group_of(each):
            found[name].append(each)
    return found


def _flavors_apart(value: paths.Object, objects: Objects) -> Found:
    """Groups of resources whose flavors are on different nodes, where one has devices and the other one cpu or memory.

    Kueue gives a pod the labels of a flavor of each group (FromAssignment in pkg/podset of Kueue).
    """
    known = objects.known(_KUEUE, "ResourceFlavor")
    groups = [
        (texts_at(each, "coveredResources[]"), texts_at(each, "flavors[].name"), where)
        for where, each in at(value, "spec.resourceGroups[]")
    ]
    for devices, flavors, where in groups:
        device = next((each for each in devices if "/" in each), "")
        for plain, others, _ in groups if device else ():
            usual = next((each for each in plain if each in ("cpu", "memory")), "")
            pairs = [(one, other) for one in flavors for other in others] if usual and plain is not devices else []
            apart = [_contradiction(known.get(one), known.get(other)) for one, other in pairs]
            if apart and all(apart):
                text = f"takes {device[:60]} from {flavors[0][:60]} and {usual} from {others[0][:60]}, whose labels "
                text += f"contradict each other ({apart[0]}), so a pod that asks for both finds no node"
                remedy = f"cover {usual} and {device[:60]} in one group, so that a pod gets one flavor"
                yield misread(f"{where}/coveredResources", text, remedy, "controller")
                return


def _contradiction(one: paths.Object | None, other: paths.Object | None) -> str:
    """A label with different values in two flavors; empty without one, or for an unknown flavor."""
    labels, others = (known_keys.part_at(each or {}, "/spec/nodeLabels") for each in (one, other))
    found = (f"{key}={labels[key]} and {others[key]}" for key in labels if key in others and labels[key] != others[key])
    return next(found, "")[:160]


def _children_above_parent(value: paths.Object, objects: Objects) -> Found:
    """A queue of Volcano whose children are promised more than it is, or one that may have more than its parent.

    Source: validateSiblingsSum and validateChildAgainstAncestor in pkg/webhooks/admission/queues of Volcano 1.14, and
    checkHierarchicalQueue in pkg/scheduler/plugins/capacity of 1.10 to 1.13, which then ends with an error.
    """
    name = paths.text(paths.metadata(value).get("name"))
    known = objects.known(_VOLCANO, "Queue")
    effect = "which Volcano refuses since 1.14, and before its plugin capacity does not work then"
    children = objects.once("children of Volcano queues", lambda: _by_parent(known.values())).get(name, ())
    for place, what in (("deserved", "deserve"), ("guarantee/resource", "have a guarantee of")):
        own, promised = known_keys.part_at(value, f"/spec/{place}"), defaultdict[str, int](int)
        for each in children:
            for resource, amount in known_keys.part_at(each, f"/spec/{place}").items():
                promised[resource] += _parsed(amount).nanos
        for resource, total in sorted(promised.items()):
            if total > _parsed(own.get(resource)).nanos and _is_amount(own.get(resource), total):
                asked = quantities.named(resource[:60], quantities.Quantity(total))
                text = f"has children that {what} {asked} together, and has {own.get(resource, 'none')} itself, "
                text += effect
                remedy = f"raise {place.partition('/')[0]} of the queue, or lower those of its children"
                yield misread(f"/spec/{place}" if own else "/spec", text, remedy, "controller")
                break
    parent = known.get("".join(texts_at(value, "spec.parent")[:1]), {})
    limits = known_keys.part_at(parent, "/spec/capability")
    for resource, amount in known_keys.part_at(value, "/spec/capability").items():
        most = limits.get(resource)
        if most is not None and _is_amount(most, _parsed(amount).nanos) and _parsed(amount) > _parsed(most):
            text = f"may have {amount} {resource[:60]}, and its parent has {most}, {effect}"
            yield misread(paths.join("/spec/capability", resource), text, f"lower it to at most {most}", "controller")


def _by_parent(queues: Iterable[paths.Object]) -> Mapping[str, Sequence[paths.Object]]:
    found = defaultdict[str, list[paths.Object]](list)
    for each in queues:
        found["".join(name for name in texts_at(each, "spec.parent") if name != "root")].append(each)
    return found


def _is_amount(most: object, amount: int) -> bool:
    """Whether usher can read both amounts."""
    return max(_parsed(most).nanos, amount) < _parsed("unreadable").nanos


_KUBECONFIG: Final = "spec.{kubeConfig,clusterSource.kubeConfig}.location"


def _partitions(config_map: paths.Object) -> Iterator[tuple[str, paths.Object]]:
    """The partitions of YuniKorn in a ConfigMap, each with the key of its configuration."""
    for key, text in known_keys.part_at(config_map, "/data").items():
        if isinstance(text, str) and "partitions" in text:
            yield from ((key, each) for each in map(paths.mapping, values_at(known_keys.parsed(text), "partitions[]")))


def _tree_of_yunikorn(config_map: paths.Object) -> Found:
    """The first queue for which YuniKorn refuses its configuration (checkQueueResource in configvalidator.go)."""
    for key, partition in _partitions(config_map):
        for queue in map(paths.mapping, values_at(partition, "queues[]")):
            if fault := next(_faults_of_queue(queue, "", {}), ""):
                text = f"{fault}, so YuniKorn refuses the configuration {key[:80]}"
                remedy = "raise the amount of the queue above, or lower those of the queues below"
                yield misread(paths.join("/data", key), text, remedy, "controller")
                break


def _faults_of_queue(queue: paths.Object, above: str, limits: Mapping[str, quantities.Quantity]) -> Iterator[str]:
    """Amounts of a queue and of those below it that contradict each other; `limits` are those of the queues above."""
    name = f"{above}{paths.text(queue.get('name'))[:40]}"
    most, kept = (_amounts(known_keys.part_at(queue, f"/resources/{each}")) for each in ("max", "guaranteed"))
    for resource, amount in most.items():
        if resource in limits and amount > limits[resource]:
            allowed = _named(resource, limits[resource])
            yield f"gives the queue {name} {_named(resource, amount)} at most, and one above it {allowed}"
    narrower = {
        each: min(most.get(each, limits.get(each, _MOST)), limits.get(each, _MOST)) for each in {*most, *limits}
    }
    below = defaultdict[str, quantities.Quantity](lambda: quantities.ZERO)
    children = list(map(paths.mapping, values_at(queue, "queues[]")))
    for child in children:
        for resource, amount in _amounts(known_keys.part_at(child, "/resources/guaranteed")).items():
            below[resource] += amount
    for promised, whose in ((kept, f"the queue {name}"), (below, f"the queues below {name}")):
        for resource, amount in promised.items():
            bounds = [each[resource] for each in (kept, narrower) if resource in each]
            if bounds and amount > min(bounds):
                allowed = _named(resource, min(bounds))
                yield f"guarantees {whose} {_named(resource, amount)}, above the {allowed} of {name}"
    for child in children:
        yield from _faults_of_queue(child, f"{name}.", narrower)


_MOST: Final = quantities.Quantity(10**30)


def _amounts(written: Mapping[str, Any]) -> Mapping[str, quantities.Quantity]:
    """The amounts that usher can read."""
    found = {name: _parsed(each) for name, each in written.items() if each is not None}
    return {name: each for name, each in found.items() if each < _MOST}


def _named(resource: str, amount: quantities.Quantity) -> str:
    return quantities.named(resource[:60], amount)


def _queues_of_yunikorn(objects: Objects) -> Mapping[str, bool]:
    """Whether a queue has queues below it, by name; empty where YuniKorn makes queues, or is not in the files."""
    found: dict[str, bool] = {}
    for each in objects.known("", "ConfigMap").values():
        for _, partition in _partitions(each):
            rules = [paths.mapping(one) for one in values_at(partition, "placementrules[]")]
            if any(one.get("name") != "provided" or one.get("create") or "parent" in one for one in rules):
                return {}
            for queue in map(paths.mapping, values_at(partition, "queues[]")):
                _add_queues(queue, "", found)
    return found if all(all(name.split(".")) for name in found) and len(found) > 1 else {}


def _add_queues(queue: paths.Object, above: str, found: dict[str, bool]) -> None:
    name, children = f"{above}{paths.text(queue.get('name'))}".lower(), values_at(queue, "queues[]")
    found[name] = bool(children) or queue.get("parent") is True
    for child in map(paths.mapping, children):
        _add_queues(child, f"{name}.", found)


_QUEUE_OF_YUNIKORN: Final = "yunikorn.apache.org/queue"


def _queue_that_yunikorn_lacks(value: paths.Object, queues: Mapping[str, bool]) -> Found:
    """A queue of pods that YuniKorn does not have, or that only holds other queues (provided_rule.go of its core)."""
    for spec, path, _ in pod_specs(value):
        above = path.removesuffix("/spec")
        metadata = known_keys.part_at(value, f"{above}/metadata")
        for part, key in (("labels", _QUEUE_OF_YUNIKORN), ("labels", "queue"), ("annotations", _QUEUE_OF_YUNIKORN)):
            given = paths.mapping(metadata.get(part)).get(key)
            if spec.get("schedulerName") != "yunikorn" or not isinstance(given, str) or is_placeholder(given):
                continue
            name = given.lower() if given.startswith("root.") else f"root.{given.replace('.', '_dot_')}".lower()
            if not queues.get(name, True) or not path.endswith("/spec"):
                continue
            like = near(name, [each for each in queues if not queues[each]], 0.6)
            what = "holds other queues" if name in queues else "its configuration does not have and does not make"
            text = f"names the queue {given[:80]} of YuniKorn, which {what}, so its application is rejected"
            place = paths.join(f"{above}/metadata/{part}", key)
            yield misread(
                place, text, f"write {like}" if like else "name a queue without queues below it", "controller"
            )


_TASK_GROUP: Final = "yunikorn.apache.org/task-group-name"
_TASK_GROUPS: Final = "yunikorn.apache.org/task-groups"
_NEEDS: Final = ("name", "minMember", "minResource")


def task_groups(value: paths.Object, annotations: Sequence[tuple[str, Mapping[str, Any]]]) -> Found:
    """Task groups of YuniKorn that make no gang, and pods for which their placeholders do not keep room.

    Sources: pkg/cache/utils.go and placeholder.go of apache/yunikorn-k8shim; tryPlaceholderAllocate in
    pkg/scheduler/objects/application.go of apache/yunikorn-core.

    Args:
        annotations: those of pods and of templates of pods, each with its place.
    """
    written = [(where, each[_TASK_GROUPS]) for where, each in annotations if isinstance(each.get(_TASK_GROUPS), str)]
    if len(written) != 1:
        return
    where, text = written[0]
    groups, wrong = _groups_in(text)
    if wrong:
        yield misread(paths.join(where, _TASK_GROUPS), f"{wrong}, so YuniKorn makes no gang", _FORM, "controller")
    for where, each in annotations if groups else ():
        name = each.get(_TASK_GROUP)
        if not isinstance(name, str) or is_placeholder(name):
            continue
        place = paths.join(where, _TASK_GROUP)
        if name in groups:
            above = where.removesuffix("/metadata/annotations")
            spec = known_keys.part_at(value, f"{above}/spec")
            yield from _without_room(name[:60], groups[name], spec, place)
            continue
        message = f"has pods of the task group {name[:60]}, which its task-groups do not define; placeholders stay"
        like = near(name, groups, 0.6)
        remedy = f"did you mean {like}?" if like else f"name one of them ({', '.join(list(groups)[:5])})"
        yield misread(place, message, remedy, "controller")


_FORM: Final = """write [{"name": ..., "minMember": 4, "minResource": {"cpu": "8", "nvidia.com/gpu": "8"}}]"""


def _groups_in(text: str) -> tuple[Mapping[str, Mapping[str, Any]], str]:
    """The task groups in an annotation by name, with keys in small letters; or the mistake in it."""
    if any(each in text for each in ("{{", "${", "<")):
        return {}, ""
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}, "has task-groups that are not JSON"
    if not isinstance(found, list):
        return {}, "has task-groups that are not a list"
    groups = [{str(key).lower(): each for key, each in paths.mapping(one).items()} for one in found]
    lack = next((need for each in groups for need in _NEEDS if each.get(need.lower()) in (None, "", 0)), "")
    if lack:
        return {}, f"has a task group without {lack}"
    return {str(each["name"]): each for each in groups}, ""


def needs_of_task_groups(annotations: Mapping[str, Any]) -> Mapping[str, quantities.Quantity]:
    """The amounts that all task groups of YuniKorn in the annotations of a pod need together."""
    found: defaultdict[str, quantities.Quantity] = defaultdict(lambda: quantities.ZERO)
    groups, _ = _groups_in(str(annotations.get(_TASK_GROUPS, "[]")))
    for each in groups.values():
        number = each["minmember"] if isinstance(each["minmember"], int) else 0
        for name, written in paths.mapping(each["minresource"]).items():
            found[name] += quantities.Quantity((amount_in([written]) or 0) * number)
    return found


def _without_room(name: str, group: Mapping[str, Any], spec: Mapping[str, Any], place: str) -> Found:
    """A task group whose placeholders are smaller than its pods, or may not be where its pods may be."""
    if spec.get("schedulerName", "yunikorn") != "yunikorn":
        return
    kept, asks = paths.mapping(group["minresource"]), requests_of(spec)
    asked = [(resource, amount) for resource, amount in asks.items() if amount > _parsed(kept.get(resource))]
    if asked:
        resource, amount = asked[0]
        message = (
            f"asks for {quantities.named(resource[:60], amount)} in a pod of the task group {name}, whose minResource "
            f"has {kept.get(resource, 'none')}, so YuniKorn cancels its placeholders and keeps no room for the gang"
        )
        needs = ", ".join(f"{one[:60]} {quantities.text(one, amount)}" for one, amount in asked[:4])
        yield misread(place, message, f"write in minResource what a pod asks for: {needs}", "controller")
    tolerated = [paths.mapping(each) for each in paths.elements(group.get("tolerations"))]
    keys = {paths.text(each.get("key")) for each in tolerated}
    for each in map(paths.mapping, paths.elements(spec.get("tolerations"))):
        key = paths.text(each.get("key"))
        # Admission controllers tolerate the taints of devices for all pods that ask for them, also for placeholders.
        if key and not keys & {"", key} and "kubernetes.io/" not in key and key not in asks and _keeps_off(each):
            message = (
                f"tolerates {key[:60]} in pods of the task group {name}, but its placeholders do not, so no node with "
                "this taint takes them, and the gang times out unless an admission controller adds the toleration"
            )
            yield misread(place, message, "write the same tolerations in the task group", "controller")
            break
    selected = paths.mapping(group.get("nodeselector"))
    for key, text in paths.mapping(spec.get("nodeSelector")).items():
        if key not in selected and "affinity" not in group:
            message = (
                f"selects nodes with {key[:60]}={str(text)[:60]} for pods of the task group {name}, but not for its "
                "placeholders, which may keep room on other nodes"
            )
            yield misread(place, message, "write the same nodeSelector in the task group", "controller")
            break


def _keeps_off(toleration: Mapping[str, Any]) -> bool:
    return toleration.get("effect", "NoSchedule") in ("NoSchedule", "NoExecute")


def _parsed(written: object) -> quantities.Quantity:
    """An amount; the largest one where usher cannot read it."""
    try:
        return quantities.parse(written) if written is not None else quantities.ZERO
    except errors.QuantityError:
        return quantities.Quantity(10**30)


def requests_of(spec: Mapping[str, Any]) -> Mapping[str, quantities.Quantity]:
    """The amounts that the containers of a pod ask for together."""
    found: defaultdict[str, quantities.Quantity] = defaultdict(lambda: quantities.ZERO)
    for each in map(paths.mapping, paths.elements(spec.get("containers"))):
        resources = paths.mapping(each.get("resources"))
        asked = {**paths.mapping(resources.get("limits")), **paths.mapping(resources.get("requests"))}
        for name, written in asked.items():
            try:
                found[name] += quantities.parse(written)
            except errors.QuantityError:
                continue
    return found
