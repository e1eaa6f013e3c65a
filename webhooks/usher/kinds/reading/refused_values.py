"""Values that a controller refuses or cannot use: by rows of known_keys.yaml, and beside other objects of the files."""

import csv
import difflib
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from usher import model, paths
from usher.kinds.reading import known_keys, pod_networks, started_programs
from usher.kinds.reading.environment import misread, misread_variables
from usher.kinds.reading.value_forms import (
    ADDED,
    PodSpec,
    at,
    is_placeholder,
    pod_specs,
    texts_at,
    texts_with_paths,
    values_at,
)
from usher.kinds.reading.values import Absence, Objects, Reference
from usher.model import placement

Found = Iterator[model.UnreadKey]
_KUEUE: Final = "kueue.x-k8s.io"


class _Wrong(NamedTuple):
    """A row of `values` in known_keys.yaml. Places are as in `at`; conditions are patterns of the texts at places."""

    kinds: Sequence[str]
    at: str
    text: str
    """A message with the {word} that is wrong, the first group of the pattern, and the known one that is {like} it."""
    remedy: str
    pattern: str = ".+"
    known: str = ""
    """Words that are right; others count if they are like one of them. Without any, each match is wrong."""
    most: float = math.inf
    """Numbers up to it are right."""
    counted: str = ""
    """A place in the part; numbers up to the number of its values are right."""
    below: str = ""
    """Places in the part; numbers up to the largest one there are right."""
    only: Mapping[str, str] = {}
    unless: Mapping[str, str] = {}
    each: str = ""
    """The parts of the object that the row is about; places are in a part, or after `$.` in the whole object."""
    topic: str = "controller"
    same: str = ""
    """Places in the whole object that say the same; a match is wrong if one there says something else, the {other}."""


@cache
def _wrong_rows() -> Mapping[str, Sequence[_Wrong]]:
    rows = [_Wrong(**row) for row in known_keys.rows("values")]
    return {kind: [row for row in rows if kind in row.kinds] for each in rows for kind in each.kinds}


_ALIKE: Final = 0.7


def meets(value: Any, conditions: Mapping[str, str]) -> bool:  # noqa: ANN401 - any JSON
    """Whether a text at each place matches the pattern of that place."""
    return _meets(value, tuple(conditions.items()), all)


def meets_any(value: Any, conditions: Mapping[str, str]) -> bool:  # noqa: ANN401 - any JSON
    return _meets(value, tuple(conditions.items()), any)


def wrong_values(value: paths.Object, key: tuple[str, str]) -> Iterator[model.UnreadKey]:
    """Values and keys that the controller of an object refuses or does not read, by the rows of known_keys.yaml."""
    yield from _wrong_values(value, " ".join(key))
    if key == ("", "ConfigMap"):
        yield from metrics_of_dcgm(value)
        for each in known_keys.configurations(value.get("data")):
            for found in _wrong_values(each.value, each.reader):
                text = f"{found.text} (configuration {each.key})"
                yield replace(found, path=paths.join("/data", each.key), text=text)
        yield from _unknown_plugins(value)
        yield from _ignored_by_plugin(value)


_IGNORED: Final = (
    ("sharing.{timeSlicing,mps}.resources[].devices", "^all$", "so all GPUs of the node are shared"),
    ("sharing.{timeSlicing,mps}.resources[].rename", r"\.shared$", "so only renameByDefault changes the name"),
    ("resources.{gpus,mig}[].name", r"^nvidia\.com/(gpu|mig-.+)$", "so the GPUs keep their usual names"),
)
"""Fields of the device plugin that it does not read yet: their place, values that change nothing, and the effect."""


def _ignored_by_plugin(config_map: paths.Object) -> Found:
    """Fields of a configuration that NVIDIA's device plugin ignores (DisableResourceNamingInConfig)."""
    for each in known_keys.configurations(config_map.get("data")):
        for place, usual, effect in _IGNORED if each.reader == "the device plugin" else ():
            for where, given in at(each.value, place):
                texts = given if isinstance(given, list) else [given]
                if not all(re.search(usual, str(text)) for text in texts):
                    text = (
                        f"sets {paths.readable(where)} in the configuration {each.key}, which the device plugin ignores"
                    )
                    remedy = "remove it; DRA shares or names single GPUs"
                    yield misread(paths.join("/data", each.key), f"{text}, {effect}", remedy, "controller")
                    break


_OF_PICKERS: Final = "schedulingProfiles[].plugins[].pluginRef saturationDetector.pluginRef"
_ADDED: Final = "max-score-picker"
"""The plugin that it adds itself."""


def _unknown_plugins(value: paths.Object) -> Iterator[model.UnreadKey]:
    """Plugins that the configuration of an endpoint picker uses without defining them (validation.go of its loader)."""
    for where, text in texts_with_paths(value, "data.*"):
        given = known_keys.parsed(text) if "EndpointPickerConfig" in text else None
        defined = {name for each in values_at(given, "plugins[]") for name in texts_at(each, "name type")}
        for name in texts_at(given, _OF_PICKERS) if defined else ():
            if name not in defined and name != _ADDED:
                message = f"chooses endpoints by {name[:80]}, which its plugins do not define, so it does not start"
                yield misread(where, message, f"add a plugin with the name or the type {name[:80]}", "controller")


def wrong_pods(value: paths.Object, specs: Sequence[PodSpec]) -> Iterator[model.UnreadKey]:
    """As `wrong_values`, by the rows of the kind `pods`, which see a pod template of any kind as a Pod."""
    for _, path, _ in specs:
        if path.endswith("/spec"):
            above = path.removesuffix("/spec")
            for found in _wrong_values(paths.mapping(paths.resolve(value, above)), "pods"):
                yield replace(found, path=above + found.path)


def wrong_in_container(whole: paths.Object, key: tuple[str, str], index: int, *, is_known: bool) -> Found:
    """Findings about program and variables of a container in a Pod; their paths are below the container.

    Args:
        key: group and kind of the object that has the program.
        is_known: whether the pod is known, so that it lacks what it does not say.
    """
    spec, beginning = known_keys.part_at(whole, "/spec"), f"/spec/containers/{index}"
    specs = [(spec, "/spec", ADDED)]
    found = [*started_programs.needs_of_programs(key, whole, specs)]
    found += misread_variables(spec["containers"][index], beginning, None)
    found += wrong_pods(whole, specs) if is_known else ()
    for each in found:
        if f"{each.path}/".startswith(f"{beginning}/"):
            yield replace(each, path=each.path.removeprefix(beginning))


def _wrong_values(value: paths.Object, kind: str) -> Iterator[model.UnreadKey]:
    for row in _wrong_rows().get(kind, ()):
        # Conditions about the whole object are asked once, so that the cost stays linear in the parts.
        only, unless = (tuple(conditions.items()) for conditions in (row.only, row.unless))
        if _meets(value, only, all, about_object=True) and not _meets(value, unless, any, about_object=True):
            for path, part in at(value, row.each):
                if _meets(part, [*only, (row.at, row.pattern)], all) and not _meets(part, unless, any):
                    same = [str(each) for each in values_at(value, row.same)] if row.same else []
                    yield from _wrong_in(part, path, row, same)


_WHOLE: Final = "$."


def _meets(
    part: Any,  # noqa: ANN401 - any JSON
    conditions: Sequence[tuple[str, str]],
    how: Callable[[Iterator[bool]], bool],
    *,
    about_object: bool = False,
) -> bool:
    """Whether a part meets all or any of its conditions, or the whole object those that are about it."""
    return how(
        any(re.search(pattern, str(each)) for each in values_at(part, place.removeprefix(_WHOLE)))
        for place, pattern in conditions
        if place.startswith(_WHOLE) == about_object
    )


def _wrong_in(part: Any, path: str, row: _Wrong, same: Sequence[str]) -> Found:  # noqa: ANN401 - any JSON
    inside = "~" in row.each  # a text has no places inside
    most = len(values_at(part, row.counted)) if row.counted else row.most
    if row.below:
        numbers = [str(each) for each in values_at(part, row.below)]
        if not numbers or not all(re.fullmatch(r"\d{1,9}", each, re.ASCII) for each in numbers):
            return
        most = max(map(int, numbers))
    written = (
        (path if inside else where, str(each))
        for where, each in at(part, row.at, "" if inside else path)
        if isinstance(each, str | int)
    )
    for where, text in written:
        for found in () if is_placeholder(text) else re.finditer(row.pattern, text[:_LONGEST]):
            word, known = found[found.lastindex or 0][:120], row.known.split()
            like = "" if word in known else next(iter(difflib.get_close_matches(word, known, 1, _ALIKE)), "")
            other = next((each for each in same if each != word and not is_placeholder(each)), "")[:120]
            if (like or not known) and (most == math.inf or float(word) > most) and (other or not row.same):
                given = {"word": word, "like": like, "most": most, "other": other}
                message, remedy = (each.format(**given) for each in (row.text, row.remedy))
                yield model.UnreadKey(path=where, text=message, remedy=remedy, important=False, topic=row.topic)


_LONGEST: Final = 4096


class _Beside(NamedTuple):
    """A row of `beside` in known_keys.yaml: what an object says, and what another one of the files has or lacks.

    The kind `pods` is each pod template of any kind, which its rows see as a Pod.
    """

    kinds: Sequence[str]
    at: str
    """The place of the name of the other object, or of an entry with a name; without one, any object of its kind."""
    others: Sequence[str]
    """Kinds of the other object."""
    text: str
    """A message with the {word} at the place, and the {other} object."""
    remedy: str
    by: str = ""
    """The place of the name of the other object, if it is not the one of the text."""
    pattern: str = ""
    """Finds names in the text: the first group; without one, the text is the name."""
    any: bool = False
    """Whether any object of these kinds counts, whatever the text at the place."""
    only: Mapping[str, str] = {}
    unless: Mapping[str, str] = {}
    entry: Mapping[str, str] = {}
    entry_lacks: Mapping[str, str] = {}
    """Conditions of the entry at the place; it does not meet any of these."""
    part: str = ""
    """The parts of the other object that its conditions are about; after `$.` they are about the whole object."""
    has: Mapping[str, str] = {}
    lacks: Mapping[str, str] = {}
    """Conditions of the other object, in which {word} is the text at the place; it does not meet any of these."""
    without: str = ""
    """The kind of an object that has this name rightly; of any name, where any other object counts."""
    named: str = ""
    """The name of that object, if it is not the text at the place."""
    anywhere: bool = False
    """Whether the other object may be in another namespace."""
    topic: str = "controller"
    beside: str = ""
    """The kind of a third object that is there too."""
    apart: bool = False
    """Whether only objects of two known namespaces count."""


@cache
def _beside_rows() -> Mapping[str, Sequence[_Beside]]:
    rows = [_Beside(**row) for row in known_keys.rows("beside")]
    return {kind: [row for row in rows if kind in row.kinds] for each in rows for kind in each.kinds}


def _fits(row: _Beside, other: paths.Object, word: str = "") -> bool:
    """Whether another object meets the conditions of a row; those about the text at the place only if it is given."""
    has, lacks = (
        [
            (place, pattern.replace("{word}", re.escape(word)))
            for place, pattern in conditions.items()
            if word or "{word}" not in pattern
        ]
        for conditions in (row.has, row.lacks)
    )
    return (
        _meets(other, has, all, about_object=True)
        and not _meets(other, lacks, any, about_object=True)
        and any(_meets(each, has, all) and not _meets(each, lacks, any) for each in values_at(other, row.part))
    )


def _possible(row: _Beside, of_kind: Mapping[str, paths.Object]) -> Sequence[paths.Object]:
    """The objects of a kind that meet the conditions of a row about all names; few, so that each name looks at few."""
    return [each for each in of_kind.values() if _fits(row, each)]


def _named(objects: Objects, group: str, kind: str, name: str, namespace: str) -> paths.Object | None:
    """The object of a name: that of the namespace, or the only one."""
    found = objects.find(Reference(group=group, kind=kind, name=name, namespace=namespace))
    if not isinstance(found, Absence):
        return found
    return objects.known(group, kind).get(name) if len(objects.namespaces(group, kind, name)) <= 1 else None


def _words_at(row: _Beside, named: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON
    """The names in a value at the place of a row."""
    text = str(named.get("name", "")) if isinstance(named, dict) else str(named)
    found = re.finditer(row.pattern, text[:_LONGEST]) if row.pattern else ()
    yield from dict.fromkeys(each[each.lastindex or 0] for each in found) if row.pattern else (text,)


def _of_row(row: _Beside, value: paths.Object, objects: Objects) -> Found:
    for where, named in at(value, row.at):
        for word in _words_at(row, named):
            if found := next(_of_word(row, value, named, word, objects), None):
                message, remedy = (text.format(word=word[:100], other=found) for text in (row.text, row.remedy))
                yield misread(where, message, remedy, row.topic)
                return


def _of_word(row: _Beside, value: paths.Object, named: Any, word: str, objects: Objects) -> Iterator[str]:  # noqa: ANN401 - any JSON
    """The kind and the name of the other objects that contradict a word."""
    namespace = paths.text(paths.metadata(value).get("namespace"))
    group, _, kind = row.without.partition(" ")
    third, _, of_kind = row.beside.partition(" ")
    is_alone = bool(row.beside) and not objects.known(third, of_kind)
    names = objects.known(group, kind)
    rightly = bool(names) if row.any and not row.named else (row.named.replace("{word}", word) or word) in names
    if rightly or is_alone or not meets(named, row.entry) or meets_any(named, row.entry_lacks):
        return
    by = next(iter(texts_at(value, row.by)), "") if row.by else word
    for group, _, kind in (each.partition(" ") for each in row.others):
        possible = partial(_possible, row, objects.known(group, kind))
        candidates = (
            objects.once(f"{kind} of row {id(row)}", possible)
            if row.any
            else filter(None, [_named(objects, group, kind, by, namespace)])
        )
        for other in candidates:
            home = paths.text(paths.metadata(other).get("namespace"))
            elsewhere = bool(home and namespace) and home != namespace and not row.anywhere
            is_near = row.apart and (not home or home == (namespace or home))
            if not elsewhere and not is_near and _fits(row, other, word):
                yield f"{kind} {paths.text(paths.metadata(other).get('name'))[:100]}"


def beside_others(value: paths.Object, key: tuple[str, str], objects: Objects) -> Found:
    """Values that another object of the files contradicts, by the rows `beside` of known_keys.yaml."""
    yield from _of_rows(_beside_rows().get(" ".join(key), ()), value, objects)
    yield from _pods_beside_others(value, objects)
    yield from pod_networks.routes_beside_others(value, key, objects)
    if key[0] == _CONSTRAINTS:
        yield from _constraint_without_template(key[1], objects)


def _of_rows(rows: Sequence[_Beside], value: paths.Object, objects: Objects) -> Found:
    for row in rows:
        if meets(value, row.only) and not meets_any(value, row.unless):
            yield from _of_row(row, value, objects)


def _pods_beside_others(value: paths.Object, objects: Objects) -> Found:
    """The rows of the kind `pods`, which see a pod template of any kind as a Pod in the namespace of its object."""
    rows = [
        row
        for row in _beside_rows().get("pods", ())
        if any(objects.known(group, kind) for group, _, kind in (each.partition(" ") for each in row.others))
    ]
    namespace = paths.metadata(value).get("namespace")
    for _, path, _ in pod_specs(value) if rows else ():
        above = path.removesuffix("/spec")
        template = paths.mapping(paths.resolve(value, above)) if path.endswith("/spec") else {}
        pod = {**template, "metadata": {**paths.metadata(template), "namespace": namespace}}
        yield from (replace(found, path=above + found.path) for found in _of_rows(rows, pod, objects))


_CONSTRAINTS: Final = "constraints.gatekeeper.sh"


def _constraint_without_template(kind: str, objects: Objects) -> Found:
    """A constraint of Gatekeeper whose kind no template makes; the API server does not know it and refuses it."""
    templates = objects.known("templates.gatekeeper.sh", "ConstraintTemplate").values()
    made = [text for each in templates for text in texts_at(each, "spec.crd.spec.names.kind")]
    definitions = objects.known("apiextensions.k8s.io", "CustomResourceDefinition")
    defined = [each for each in definitions if _CONSTRAINTS in each]
    if kind in made or f"{kind.lower()}.{_CONSTRAINTS}" in defined:
        return
    like = difflib.get_close_matches(kind[:80].lower(), [each.lower() for each in made], n=1, cutoff=_ALIKE)
    if like or defined:
        remedy = next((f"did you mean {each}?" for each in made if each.lower() in like), "add its ConstraintTemplate")
        text = f"is a constraint of the kind {kind[:80]}, which no known ConstraintTemplate makes, so it has no effect"
        yield misread("/kind", text, remedy, "controller")


_MOST_OF_METRICS: Final = 64 * 1024
_TYPES_OF_METRICS: Final = frozenset({"gauge", "counter", "histogram", "summary", "label"})


def metrics_of_dcgm(config_map: paths.Object) -> Found:
    """Lines with which dcgm-exporter does not start (NVIDIA/dcgm-exporter, its reader of counters)."""
    for key, text in known_keys.part_at(config_map, "/data").items():
        if (
            not isinstance(text, str)
            or not key.endswith((".csv", "metrics"))
            or "DCGM_FI_" not in text[:_MOST_OF_METRICS]
        ):
            continue
        for line in text[:_MOST_OF_METRICS].splitlines():
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            parts = [part.strip() for part in next(csv.reader([line], skipinitialspace=True), [])]
            if len(parts) != 3 or parts[1] not in _TYPES_OF_METRICS:
                wrong = "three fields" if len(parts) != 3 else f"a type of Prometheus; {parts[1][:40]} is not one"
                message = f"has the line {line.strip()[:60]!r} at {key}, where dcgm-exporter needs {wrong}, so it ends"
                remedy = "write FIELD, TYPE, HELP, with the help in quotes where it has commas"
                yield misread(paths.join("/data", key), message, remedy, "controller")
                break


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
    if key[0] == _KUEUE:
        yield from _other_clusters(value, key[1], objects)


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
        text = (
            f"leads to the ClusterQueue {name}, whose namespaceSelector does not match the labels of the namespace "
            f"{namespace} in these files, so it admits nothing from there"
        )
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
                text = (
                    f"leads to {has} {device[:60]} of the ClusterQueue {name[:80]}, and the ResourceQuota {own} allows "
                )
                text += f"{most} in {namespace[:63]}, so Kueue may admit jobs whose pods the API server refuses"
                remedy = "raise the ResourceQuota to the quota of the queue, or leave the devices out of it"
                yield misread("/spec/clusterQueue", text, remedy, "controller")


def _rollout_above_quota(value: paths.Object, namespace: str, objects: Objects) -> Found:
    """A Deployment in a queue whose new pod comes first and finds no quota (kubernetes-sigs/kueue#5118)."""
    spec, labels = known_keys.part_at(value, "/spec"), known_keys.part_at(value, "/metadata/labels")
    local = _named(objects, _KUEUE, "LocalQueue", str(labels.get(f"{_KUEUE}/queue-name", "")), namespace) or {}
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
    made = objects.names("karpenter.sh", "NodePool") or objects.names("cluster.x-k8s.io", "MachineDeployment")
    if wanted and nodes and not made and not any(wanted <= labels for labels in nodes):
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


_KUBECONFIG: Final = "spec.{kubeConfig,clusterSource.kubeConfig}.location"


_REQUEST_SECONDS: Final = 60
"""The time of a request to the API server."""


def slow_webhooks(value: paths.Object, objects: Objects) -> Found:
    """Mutating webhooks in the files that are asked about a Pod one after the other, longer than a request lasts."""
    group, kind = "admissionregistration.k8s.io", "MutatingWebhookConfiguration"
    seconds = objects.once(
        "seconds of webhooks",
        lambda: {name: _seconds_for_pods(each) for name, each in objects.cluster_scoped(group, kind).items()},
    )
    slowest, total = objects.once(
        "slowest webhook",
        lambda: (max(sorted(seconds), key=lambda each: seconds[each], default=""), sum(seconds.values())),
    )
    if total >= _REQUEST_SECONDS and paths.text(paths.metadata(value).get("name")) == slowest:
        text = f"has a part in the {total} s of all mutating webhooks that are asked about a Pod one after the other,"
        text = f"{text} if their servers are away, and a request has {_REQUEST_SECONDS} s"
        yield misread("/webhooks", text, "shorten timeoutSeconds, for example to 5, or narrow the rules", "controller")


def _seconds_for_pods(value: paths.Object) -> int:
    total = 0
    for _, webhook in at(value, "webhooks[]"):
        groups, names, operations = (
            set(texts_at(webhook, f"rules[].{field}[]")) for field in ("apiGroups", "resources", "operations")
        )
        asked = groups & {"", "*"} and names & {"pods", "*", "*/*", "pods/*"} and operations & {"CREATE", "*"}
        seconds = webhook.get("timeoutSeconds", 10) if isinstance(webhook, dict) and asked else 0
        total += seconds if isinstance(seconds, int) else 0
    return total
