"""Names that have to exist: of parts of the same object, which controllers look up, and of other objects of the files.

Sources: AR:workflow/validate/validate.go; TK:pkg/apis/pipeline/v1/pipeline_validation.go and task_validation.go;
JS:pkg/webhooks/jobset_webhook.go; VC:pkg/webhooks/admission/jobs/validate and pkg/controllers/job/plugins;
KR:ray-operator/pkg/webhooks/v1/raycluster_webhook.go; validatePodSpec and ValidateVolumeMounts in
pkg/apis/core/validation/validation.go and ValidateResourceClaim in pkg/apis/resource/validation/validation.go of
kubernetes/kubernetes v1.36; KQ:pkg/cache/scheduler/clusterqueue.go (updateQueueStatus) for what a queue waits for,
KQ:pkg/controller/admissionchecks/multikueue/admissioncheck.go for what MultiKueue needs.
"""

import difflib
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from usher import memo, model, paths
from usher.kinds.reading import (
    chosen_boards,
    definition_limits,
    environment,
    inference_routes,
    known_keys,
    queues,
)
from usher.kinds.reading import value_forms as places
from usher.kinds.reading.values import Absence, Lookup, Objects, Reference

_ANY_TEXT: Final = ""


class _Row(NamedTuple):
    """One sort of names inside an object. Places are paths: `[]` is each element, `*` each value, `^` each key, `**`
    each text below.
    """

    scope: str
    """Where the names count; each place with this path has names of its own."""
    what: str
    names: str
    """Places of the names that exist, below the scope."""
    uses: str = ""
    """Places that name one of them."""
    pattern: str = _ANY_TEXT
    """The name in a text, as the first group of a regular expression; empty where the whole text is the name."""
    elsewhere: str = ""
    """Fields of the scope with which names may come from another object."""
    unique: bool = False
    some: bool = False
    """Whether a scope without any name is left out, because its names may come with a run."""


_CONTAINERS: Final = "{containers,initContainers}[]"


_MERGED: Final = frozenset({
    "ClusterServingRuntime", "ClusterTrainingRuntime", "DynamoComponentDeployment", "DynamoGraphDeployment",
    "InferenceService", "LLMInferenceService", "LLMInferenceServiceConfig", "NodeSet", "ServingRuntime", "TrainJob",
    "TrainingRuntime",
})  # fmt: skip
"""Kinds whose controllers add volumes to the pod specs or merge them with others."""


def _dangling(value: paths.Object, group: str, kind: str, specs: Sequence[places.PodSpec]) -> Iterator[model.UnreadKey]:
    """Names in an object that no part of it has, and names that two of its parts have."""
    for row in _tables().rows.get(f"{group} {kind}", ()):
        for path, scope in places.at(value, row.scope, ""):
            yield from _of_scope(row, scope, path, ())
    if kind == "Workflow" or kind.endswith("WorkflowTemplate"):
        yield from _inputs_not_given(paths.mapping(value.get("spec")), "/spec")
    elif kind == "CronWorkflow":
        yield from _inputs_not_given(known_keys.part_at(value, "/spec/workflowSpec"), "/spec/workflowSpec")
    for spec, path, volumes in specs if kind not in _MERGED else ():
        parts = _parts_of_containers(spec, volumes)
        for row in [row for part, row in _tables().pods if part in parts] if parts else ():
            for place, scope in places.at(spec, row.scope, path):
                yield from _of_scope(row, scope, place, volumes if row.what == "volume" else ())


def _parts_of_containers(spec: Mapping[str, Any], volumes: Sequence[str]) -> Collection[str]:
    """Parts of containers that may name nothing; empty where a container has no image, as in a patch."""
    first = spec.get("initContainers")
    containers = [*spec["containers"], *first] if isinstance(first, list) else spec["containers"]
    found = set[str]()
    for each in containers:
        if not isinstance(each, dict) or "image" not in each or "name" not in each:
            return ()
        found.update(each)
        if "claims" in paths.mapping(each.get("resources")):
            found.add("claims")
    if len(containers) > 1:
        found.add("several")
    if "volumeMounts" in found and _has_volumes(spec, containers, volumes):
        found.remove("volumeMounts")
    return found if found.isdisjoint(_WITH_PORTS) else {*found, "probes"}


def _has_volumes(spec: Mapping[str, Any], containers: Sequence[Mapping[str, Any]], others: Sequence[str]) -> bool:
    """Whether a pod spec has all volumes that containers mount, found at a fraction of the cost of a row."""
    try:
        known = {each["name"] for each in spec.get("volumes") or ()}
        return all(
            mount["name"] in known or mount["name"] in others
            for each in containers
            for mount in each.get("volumeMounts") or ()
        )
    except (KeyError, TypeError):
        return False


_WITH_PORTS: Final = {"livenessProbe", "readinessProbe", "startupProbe", "lifecycle"}


def _of_scope(row: _Row, scope: Any, path: str, others: Sequence[str]) -> Iterator[model.UnreadKey]:  # noqa: ANN401 - any JSON
    if not isinstance(scope, dict) or (row.elsewhere and places.values_at(scope, row.elsewhere)):
        return
    used = places.texts_at(scope, row.uses)
    names = places.texts_at(scope, row.names) if used or row.unique else []
    known = {*names, *others}
    if any(map(places.is_placeholder, names)) or (row.some and not known):
        return
    twice = row.unique and len(set(names)) < len(names)
    if not twice and all(name in known for text in used for name in _named_in(text, row.pattern)):
        return
    where = paths.readable(path) if path else "this object"
    seen = set[str]()
    for place, name in places.texts_with_paths(scope, row.names, path) if twice else ():
        if name in seen:
            text = f"gives two parts of {where} the {row.what} name {name[:100]}"
            yield _nothing_there(place, text, "rename one of them")
        seen.add(name)
    for place, use in places.texts_with_paths(scope, row.uses, path):
        for name in dict.fromkeys(_named_in(use, row.pattern)):
            if name not in known:
                text = f"names the {row.what} {name[:100]}, and {where} has no {row.what} of that name"
                yield _nothing_there(place, text, _meant(name, known.difference(places.ADDED), row.what))


def _named_in(text: str, pattern: str) -> Iterable[str]:
    if pattern and "{{" not in pattern.replace("\\", "") and "$(" not in pattern.replace("\\", ""):
        return [] if places.is_placeholder(text) else (found[1] for found in re.finditer(pattern, text))
    if pattern:
        return (found[1] for found in re.finditer(pattern, text))
    return [] if not text or places.is_placeholder(text) else [text]


def _meant(name: str, known: Collection[str], what: str) -> str:
    like = difflib.get_close_matches(name[:100], sorted(known)[:200], n=1, cutoff=0.7)
    if like:
        return f"did you mean {like[0]}?"
    listed = ", ".join(sorted(known)[:5])
    return f"name one of them ({listed}), or add the {what}" if listed else f"add the {what}, or correct its name"


def _nothing_there(path: str, text: str, remedy: str, *, certain: bool = True) -> model.UnreadKey:
    return model.UnreadKey(path=path, text=text, remedy=remedy, important=certain, dangling=True)


def _inputs_not_given(spec: Mapping[str, Any], path: str) -> Iterator[model.UnreadKey]:
    """Steps and tasks of Argo that leave out an input parameter that has no value of its own."""
    needed: dict[str, list[str]] = {}
    for _, template in places.at(spec, "templates[]", path):
        if isinstance(template, dict) and (name := paths.text(template.get("name"))):
            needed[name] = [
                each["name"]
                for _, each in places.at(template, "inputs.parameters[]", "")
                if isinstance(each, dict)
                and isinstance(each.get("name"), str)
                and each.keys() <= {"name", "description", "enum"}
            ]
    for where, call in places.at(spec, "templates[].{steps[][],dag.tasks[]}", path):
        wanted = needed.get(paths.text(call.get("template")), ()) if isinstance(call, dict) else ()
        given = set(places.texts_at(call, "arguments.parameters[].name")) if wanted else set[str]()
        for name in wanted if not any(map(places.is_placeholder, given)) else ():
            if name not in given:
                yield _nothing_there(
                    f"{where}/template",
                    f"runs the template {call['template']} without its input parameter {name}, which has no value",
                    _meant(name, given, "argument") if given else f"add {name} to arguments.parameters",
                )


class _Target(NamedTuple):
    """Names of other objects at places of an object."""

    places: str
    group: str
    kind: str
    consequence: str = ""
    """The effect where files have others of its kind and lack this one; empty where only a slip is reported."""
    namespaced: bool = True
    kind_at: str = ""
    """The place of the kind, where the name may be that of another one."""
    listed: str = ""
    """Where the objects of the kind list the names; empty for their own names."""
    message: str = "names the {kind} {name}, which these files do not have"


_KUEUE: Final = "kueue.x-k8s.io"


class _Tables(NamedTuple):
    """The rows of inner_names.yaml."""

    rows: Mapping[str, Sequence[_Row]]
    """The names inside an object, by group and kind."""
    pods: Sequence[tuple[str, _Row]]
    """The rows of each pod spec that is whole, with the part of its containers that they are about."""
    targets: Mapping[str, Sequence[_Target]]
    """The names of other objects, by group and kind."""
    targets_of_pods: Sequence[_Target]
    """The names of other objects in each pod spec."""
    ports: Mapping[str, Mapping[str, Any]]
    """The places of Services with a port, by group and kind of the object that names them."""


@cache
def _tables() -> _Tables:
    table = orjson.loads(Path(__file__).with_name("inner_names.json").read_bytes())
    return _Tables(
        rows={
            kind: [_row(each, found.get("at", "")) for each in _flat(found["rows"])]
            for kind, found in table["rows"].items()
        },
        pods=[(part, _row(each, "")) for part, each in table["pods"]],
        targets={kind: [_Target(**each) for each in found] for kind, found in table["targets"].items()},
        targets_of_pods=[_Target(**each) for each in table["targets_of_pods"]],
        ports=table["ports"],
    )


def _flat(rows: Sequence[Any]) -> Iterator[dict[str, Any]]:
    for row in rows:
        yield from row if isinstance(row, list) else (row,)


def _row(row: Mapping[str, Any], at: str) -> _Row:
    return _Row(**{**row, "scope": ".".join(filter(None, (at, row.get("scope", ""))))})


"""The names of other objects in each pod spec."""

_MOST_COMPARED: Final = 200
"""With more objects of a kind than these, no slip is looked for."""

NAMES_OF_RUN: Final = "names of the run"
"""The key of `Objects.once` for the group, kind and name of each object of the run that counts as a fact."""

NamesOfFacts = Callable[[str, str], Collection[str] | None]
"""The names of the objects of a kind that the cluster has; None for a kind that the facts lack."""


class Files(NamedTuple):
    """The objects around one object."""

    namespace: str
    """The namespace of objects without one."""
    around: Lookup
    """The objects of the same file, or of the same directory if they are applied together."""
    beside: Lookup
    """The objects of the same file; its `others` are those of the run, if files count as facts."""
    of_facts: NamesOfFacts | None
    """The names that a cluster has; None without facts about one."""


def names_of_nothing(
    value: paths.Object, key: tuple[str, str], specs: Sequence[places.PodSpec], files: Files
) -> Iterator[model.UnreadKey]:
    """Names in an object that lead to nothing, inside it or in the files.

    An object that the files lack may be one of the cluster. So only a slip is reported, and what a queue needs, both
    where the files have some objects of that kind.

    Args:
        key: the group and kind of the object; `specs` are its pod specs.
    """
    yield from _dangling(value, *key, specs)
    if isinstance(files.around, Objects):
        yield from _missing_objects(value, key, specs, files.around, files)


def _missing_objects(
    value: paths.Object, key: tuple[str, str], specs: Sequence[places.PodSpec], objects: Objects, files: Files
) -> Iterator[model.UnreadKey]:
    namespace = paths.text(paths.metadata(value).get("namespace")) or files.namespace
    others = files.beside.others if isinstance(files.beside, Objects) else None
    of_run: frozenset[tuple[str, str, str]] = others.once(NAMES_OF_RUN, frozenset) if others else frozenset()
    known = _KnownNames(namespace, objects, of_run, files.of_facts)
    found = objects.once(
        f"objects that pods of {namespace} name",
        lambda: [(target, names) for target in _tables().targets_of_pods if (names := known.of(target))],
    )
    for spec, path, _ in specs if found else ():
        for target, names in found:
            yield from known.missing(target, names, spec, path)
        yield from known.missing_keys(spec, path)
    yield from known.missing_labels(value)
    yield from definition_limits.refused_by_level(key[1], specs, namespace, objects)
    if key == ("", "Pod"):
        yield from queues.groups_of_pods(value, namespace, objects)
        return
    own = paths.text(paths.metadata(value).get("name"))
    for target in _tables().targets.get(" ".join(key), ()):
        if target.kind_at and target.kind not in places.texts_at(value, target.kind_at):
            continue
        names = known.of(target) - ({own} if key == (target.group, target.kind) else set())
        yield from known.missing(target, names, value, "") if names else ()
    yield from known.missing_referred(value)
    yield from _ports(value, key, namespace, objects)
    if key[0] == "argoproj.io":
        yield from known.missing_keys(value, "", _IN_WORKFLOWS)
    yield from queues.beside_kueue(value, key, namespace, objects)


def _ports(value: paths.Object, key: tuple[str, str], namespace: str, objects: Objects) -> Iterator[model.UnreadKey]:
    """Ports that no object beside this one has."""
    if (row := _tables().ports.get(" ".join(key))) is not None:
        yield from inference_routes.ports_of_service(value, row, namespace, objects)
    if key == ("", "Service") or key[1] == "InferencePool":
        yield from inference_routes.ports_without_server(value, namespace, objects)
    if key[1] == "InferencePool":
        yield from inference_routes.endpoints_of_pool(value, namespace, objects)
    if key == ("monitoring.coreos.com", "PodMonitor"):
        yield from _port_not_there(
            value, namespace, objects, "spec.podMetricsEndpoints[].port", "/spec/selector/matchLabels"
        )
        yield from _pods_elsewhere(value, namespace, objects)
    if key == ("", "Service"):
        yield from _port_not_there(value, namespace, objects, "spec.ports[].targetPort", "/spec/selector")
        yield from _names_before_ready(value, namespace, objects)
    if key == ("monitoring.coreos.com", "ServiceMonitor"):
        yield from _port_not_scraped(value, namespace, objects)


_VARIABLES: Final = f"{_CONTAINERS}.env[].valueFrom"
_IN_WORKFLOWS: Final = (
    "spec{,.workflowSpec}{{,.templates[]}.synchronization.{semaphore,semaphores[]},"
    ".arguments.parameters[].valueFrom,.templates[].inputs.parameters[].valueFrom}"
)
"""Parts of Argo's workflows with keys of ConfigMaps: how many may run at one time, and values of parameters."""


class _KnownNames(NamedTuple):
    """The names of objects that the files, the run and the facts have."""

    namespace: str
    objects: Objects
    of_run: frozenset[tuple[str, str, str]]
    of_facts: NamesOfFacts | None

    def of(self, target: _Target) -> frozenset[str]:
        if target.listed:
            return self.objects.once(f"names of {target.kind} {target.listed}", lambda: self._listed(target))
        if (target.group, target.kind) == _NODE:
            return self.objects.once("names of nodes", lambda: frozenset(chosen_boards.nodes_of(self.objects)))
        if not target.namespaced:
            return self.objects.names(target.group, target.kind)
        return self.objects.once(
            f"names of {target.kind}.{target.group} in {self.namespace}", lambda: self._namespaced(target)
        )

    def _namespaced(self, target: _Target) -> frozenset[str]:
        found = self.objects.of_kind(target.group, target.kind, self.namespace)
        return frozenset(paths.text(paths.metadata(each).get("name")) for each in found)

    def _listed(self, target: _Target) -> frozenset[str]:
        of_kind = self.objects.cluster_scoped(target.group, target.kind).values()
        return frozenset(name for each in of_kind for name in places.texts_at(each, target.listed))

    def missing(
        self, target: _Target, names: frozenset[str], value: Mapping[str, Any], path: str
    ) -> Iterator[model.UnreadKey]:
        if names.issuperset(places.texts_at(value, target.places)):
            return
        own_names = not target.listed and (target.group, target.kind) != _NODE
        of_cluster = self.of_facts(target.group, target.kind) if own_names and self.of_facts is not None else ()
        for place, name in places.texts_with_paths(value, target.places, path):
            elsewhere = (target.group, target.kind, name) in self.of_run or name in (of_cluster or ())
            if name in names or elsewhere or not name or places.is_placeholder(name):
                continue
            slips = (
                [each for each in sorted(names) if known_keys.is_slip(name[:100], each)]
                if len(names) <= _MOST_COMPARED
                else []
            )
            text = target.message.format(kind=target.kind, name=name[:100])
            if len(slips) == 1:
                yield _nothing_there(place, text, f"did you mean {slips[0]}?", certain=False)
            elif target.consequence and of_cluster is not None:
                remedy = f"name one that they have ({', '.join(sorted(names)[:5])}), or add it"
                yield _nothing_there(place, f"{text}; without it, {target.consequence}", remedy, certain=False)

    def missing_labels(self, value: paths.Object) -> Iterator[model.UnreadKey]:
        """Labels that name a queue or class of Kueue which the files lack; a check of its own has slips."""
        labels = paths.mapping(paths.metadata(value).get("labels"))
        for key, target in _LABELS.items() if not _LABELS.keys().isdisjoint(labels) else ():
            names = self.of(target)
            for found in self.missing(target, names, labels, "/metadata/labels") if key in labels and names else ():
                if not found.remedy.startswith("did you mean"):
                    yield found
        name, target = paths.text(labels.get(_CLASS)), _LABELS[_CLASS]
        known = self.of(target).union((self.of_facts and self.of_facts(target.group, target.kind)) or ())
        if name and not known and name in self.objects.names("scheduling.k8s.io", "PriorityClass"):
            text = (
                f"names the PriorityClass {name[:100]} in a label for which Kueue reads WorkloadPriorityClasses alone"
            )
            remedy = "name a WorkloadPriorityClass, or name the class in priorityClassName of the pods"
            yield _nothing_there(paths.join("/metadata/labels", _CLASS), text, remedy, certain=False)

    def missing_keys(self, spec: Mapping[str, Any], path: str, parts: str = _VARIABLES) -> Iterator[model.UnreadKey]:
        """Keys that a ConfigMap or Secret in the files does not have, and that parts of an object take."""
        for field, kind in (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret")):
            for place, use in places.at(spec, f"{parts}.{field}", path):
                name, key = (
                    (paths.text(use.get(each)) for each in ("name", "key")) if isinstance(use, dict) else ("", "")
                )
                found = self.objects.find(Reference(group="", kind=kind, name=name, namespace=self.namespace))
                if not key or isinstance(found, Absence) or use.get("optional") or places.is_placeholder(key):
                    continue
                known = {
                    each for part in ("data", "stringData", "binaryData") for each in paths.mapping(found.get(part))
                }
                if known and key not in known:
                    text = f"takes the key {key[:100]} of the {kind} {name}, which does not have it in these files"
                    yield _nothing_there(f"{place}/key", text, _meant(key, known, "key"), certain=False)

    def missing_referred(self, value: paths.Object) -> Iterator[model.UnreadKey]:
        """References that say themselves which kind they are to."""
        spec = paths.mapping(value.get("spec"))
        for field, assumed in _REFERENCES.items() if not _REFERENCES.keys().isdisjoint(spec) else ():
            reference = paths.mapping(spec.get(field))
            group = paths.text(reference.get("apiGroup")) or _group_of(reference) or assumed[0]
            kind = paths.text(reference.get("kind")) or assumed[1]
            target = _Target("name", group, kind, namespaced=not kind.startswith("Cluster"))
            names = self.of(target)
            if reference and names:
                yield from self.missing(target, names, reference, f"/spec/{field}")
            name, own = paths.text(reference.get("name")), paths.metadata(value).get("namespace")
            scales = field == "scaleTargetRef" and own and name not in names
            homes = self.objects.namespaces(group, kind, name) if scales else ()
            if len(homes) == 1 and homes[0]:
                text = f"scales the {kind} {name[:100]} of its own namespace, and these files have it in {homes[0]}"
                yield _nothing_there(f"/spec/{field}/name", text, f"move it to {homes[0]}", certain=False)


_NODE: Final = ("", "Node")
_CLASS: Final = f"{_KUEUE}/priority-class"

_LABELS: Final = {
    f"{_KUEUE}/{name}": _Target(
        f"{_KUEUE}/{name}".replace(".", places.DOT), _KUEUE, kind, consequence, namespaced=namespaced
    )
    for name, kind, consequence, namespaced in (
        ("queue-name", "LocalQueue", "Kueue never starts it", True),
        ("priority-class", "WorkloadPriorityClass", "Kueue makes no Workload for it", False),
    )
}

_REFERENCES: Final = {
    "scaleTargetRef": ("apps", "Deployment"),
    "workloadRef": ("apps", "Deployment"),
    "runtimeRef": ("trainer.kubeflow.org", "ClusterTrainingRuntime"),
    "targetRef": ("apps", "Deployment"),
    "controllerRef": ("slinky.slurm.net", "Controller"),
}
"""References in the spec, with the group and kind that controllers assume."""


def _group_of(reference: Mapping[str, Any]) -> str:
    return paths.text(reference.get("apiVersion")).rpartition("/")[0]


def _port_not_there(
    value: paths.Object, namespace: str, objects: Objects, ports_at: str, selector_at: str
) -> Iterator[model.UnreadKey]:
    """A named port of a Service or a PodMonitor that the pods in the files which it selects do not have."""
    wanted = [each for each in places.texts_at(value, ports_at) if not each.isdecimal()]
    selector = known_keys.part_at(value, selector_at)
    if not wanted or not selector:
        return
    selected = places.pods_selected(objects, namespace, selector)
    ports = [places.texts_at(spec, f"{_CONTAINERS}.ports[].name") for spec in selected]
    known = {name for names in ports for name in names}
    for place, name in places.texts_with_paths(value, ports_at, "") if ports and all(ports) else ():
        if not name.isdecimal() and name not in known and not places.is_placeholder(name):
            text = f"sends requests to the port {name[:100]}, which the pods that it selects in these files do not have"
            yield _nothing_there(place, text, _meant(name, known, "port"), certain=False)


def _services_by_label(namespace: str, objects: Objects) -> Mapping[str, Sequence[paths.Object]]:
    def by_label() -> Mapping[str, Sequence[paths.Object]]:
        found = defaultdict[str, list[paths.Object]](list)
        for each in objects.of_kind("", "Service", namespace):
            for label in known_keys.part_at(each, "/metadata/labels").items():
                found[str(label)].append(each)
        return found

    return objects.once(f"services of {namespace} by label", by_label)


def _port_not_scraped(value: paths.Object, namespace: str, objects: Objects) -> Iterator[model.UnreadKey]:
    """Labels and a port of a ServiceMonitor that the Services in the files do not have."""
    wanted = known_keys.part_at(value, "/spec/selector/matchLabels")
    spaces = places.texts_at(value, "spec.namespaceSelector.matchNames[]") or [namespace]
    first = str(next(iter(wanted.items()), ""))
    services = [each for space in spaces for each in _services_by_label(space, objects).get(first, ())]
    found = [each for each in services if wanted.items() <= known_keys.part_at(each, "/metadata/labels").items()]
    known = {name for each in found for name in places.texts_at(each, "spec.ports[].name")}
    others = [each for space in spaces for each in objects.of_kind("", "Service", space)] if wanted else []
    is_near = not places.values_at(value, "spec.namespaceSelector.{any,matchNames}")
    if not found and wanted and is_near:
        yield from _services_elsewhere(wanted, namespace, objects)
    for each in others if not found and not places.values_at(value, "spec.namespaceSelector.any") else ():
        if wanted.items() <= known_keys.part_at(each, "/spec/selector").items():
            name = paths.text(paths.metadata(each).get("name"))[:100]
            text = f"selects Services by labels that pods of Service {name} have, and the Service itself does not"
            remedy = "add them to metadata.labels of the Service"
            yield environment.misread("/spec/selector/matchLabels", text, remedy, "agent")
            return
    for place, name in places.texts_with_paths(value, "spec.endpoints[].port", "") if found else ():
        if name not in known and not places.is_placeholder(name):
            text = f"scrapes the port {name[:100]}, which the Services that it selects in these files do not have"
            yield environment.misread(place, text, _meant(name, known, "port"), "agent")


def _pods_elsewhere(value: paths.Object, namespace: str, objects: Objects) -> Iterator[model.UnreadKey]:
    wanted = known_keys.part_at(value, "/spec/selector/matchLabels")
    if wanted and not places.values_at(value, "spec.namespaceSelector.{any,matchNames}"):
        homes = objects.once("namespaces of objects", lambda: sorted({home for home, _ in objects.all()}))
        found = [each for each in homes if places.labelled_pods(objects, each, wanted)]
        yield from _elsewhere("pods", found, namespace)


def _services_elsewhere(wanted: Mapping[str, Any], namespace: str, objects: Objects) -> Iterator[model.UnreadKey]:
    """Services that a ServiceMonitor selects by their labels in another namespace than its own."""
    by_label = objects.once("homes of services", lambda: _homes_of_services(objects))
    candidates = by_label.get(next(((key, str(text)) for key, text in wanted.items()), ("", "")), ())
    homes = sorted({home for home, labels in candidates if wanted.items() <= labels.items()})
    yield from _elsewhere("Services", homes, namespace)


def _homes_of_services(objects: Objects) -> Mapping[tuple[str, str], Sequence[tuple[str, Mapping[str, Any]]]]:
    found = defaultdict[tuple[str, str], list[tuple[str, Mapping[str, Any]]]](list)
    for home, each in objects.in_namespaces("", "Service"):
        labels = known_keys.part_at(each, "/metadata/labels")
        for key, text in labels.items():
            found[key, str(text)].append((home, labels))
    return found


def _elsewhere(kind: str, homes: Sequence[str], namespace: str) -> Iterator[model.UnreadKey]:
    if homes and namespace and namespace not in homes and "" not in homes:
        text = f"reads {kind} of its own namespace {namespace[:60]} alone, and those that fit are in {homes[0][:60]}"
        remedy = f"add namespaceSelector with matchNames [{homes[0][:60]}]"
        yield environment.misread("/spec/selector/matchLabels", text, remedy, "agent")


_MEETING: Final = memo.pattern(r"nnodes|dist[-_]init|rdzv|master[-_]addr", re.IGNORECASE)
"""Words of servers whose first pod is ready only once all have met."""


def _names_before_ready(value: paths.Object, namespace: str, objects: Objects) -> Iterator[model.UnreadKey]:
    """A headless Service that names pods only once they are ready, although they meet at the name of the first one.

    Source: the endpoint controller of Kubernetes on publishNotReadyAddresses; vllm-project/aibrix#1441.
    """
    spec, name = paths.mapping(value.get("spec")), paths.text(paths.metadata(value).get("name"))
    if spec.get("clusterIP") != "None" or spec.get("publishNotReadyAddresses") is True or not name:
        return
    for each in objects.of_kind("apps", "StatefulSet", namespace):
        set_of_pods = paths.mapping(each.get("spec"))
        several = isinstance(replicas := set_of_pods.get("replicas"), int) and replicas > 1
        if set_of_pods.get("serviceName") != name:
            continue
        own = paths.text(paths.metadata(each).get("name"))
        first = re.compile(rf"(?<![\w.-]){re.escape(own)}-0\.{re.escape(name)}(?![\w-])")
        for container in places.values_at(each, "spec.template.spec.containers[]") if several and own else ():
            words = " ".join(places.texts_at(container, "command[] args[] env[].value"))
            waits = isinstance(container, dict) and "readinessProbe" in container and _MEETING.search(words)
            if waits and first.search(words):
                text = (
                    f"names pods only once they are ready, but those of StatefulSet {own[:100]} meet at {own[:100]}-0"
                )
                yield _nothing_there("/spec", text, "set publishNotReadyAddresses: true", certain=False)
                return
