"""Finds the keys of an object that nothing reads and the values that are refused, by the fields that its kind has.

The API server drops the key or refuses the object; in a file it looks as if it had an effect.

Nothing is found below a field that takes anything: `x-kubernetes-preserve-unknown-fields`, embedded objects, maps, and
values that may be a number or a text (https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#field-pruning).
"""

import difflib
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

import orjson
from msgspec import Struct
from msgspec.structs import replace

from usher import memo, model, paths
from usher.accelerators import names
from usher.accelerators.vocabulary import looks_like_accelerator, meant_name
from usher.kinds import registry
from usher.kinds.kind import DEFINITION
from usher.kinds.kubeflow_pipelines import group_version_kind
from usher.kinds.reading import (
    chosen_boards,
    controller_rules,
    definition_limits,
    device_stack,
    environment,
    inner_names,
    known_keys,
    pod_networks,
    started_programs,
    value_forms,
)
from usher.kinds.reading.fields import MAP, REQUIRED, TAKES_ANYTHING, TYPE, Definitions, Known, Leaf, Node, recorded
from usher.kinds.reading.values import NO_OBJECTS, OF_FACTS, Lookup, Objects, ObjectsOfFacts
from usher.workloads import identity, model_servers, unrecognised

_MOST: Final = 30
"""Keys that usher reports of one object."""
_DEEP: Final = 2
"""Levels below an object in which a misplaced key is looked for."""
_SURE: Final = 0.8
_CLOSE: Final = 0.7
_CLOSE_KIND: Final = 0.85
_SURE_GROUP: Final = 0.9
"""Likeness of two names by difflib, from 0 to 1: alike beyond doubt, alike, and alike for kinds and their groups."""

_DECIDING: Final = frozenset({
    "affinity", "claims", "containers", "initContainers", "jobTemplate", "limits", "minAvailable", "nodeAffinity",
    "nodeName", "nodeSelector", "parallelism", "podAntiAffinity", "priorityClassName", "queue", "queueName", "replicas",
    "requests", "resourceClaims", "resourceGroups", "resources", "runtimeClassName", "schedulerName", "spec",
    "template", "tolerations", "completions", "selector", "hard", "nominalQuota", "coveredResources", "devices",
    "deviceClassName", "schedulingGates", "topologySpreadConstraints",
})  # fmt: skip
"""Fields on which an amount of GPUs, a container, a toleration, a selector or a queue hangs."""

_OF_EVERY_OBJECT: Final = frozenset({"apiVersion", "kind", "metadata", "status"})


def _definitions(beside: Lookup, facts: Definitions | None) -> Sequence[Definitions]:
    """The definitions of the same files, of the run, and of the facts; those that come first win."""
    of_files = beside.once("definitions", partial(_definitions_of_files, beside)) if isinstance(beside, Objects) else ()
    return of_files if facts is None or not facts else (*of_files, facts)


def _definitions_of_files(beside: Objects) -> Sequence[Definitions]:
    of_others = _definitions(beside.others, None) if beside.others else ()
    here = beside.cluster_scoped(*DEFINITION)
    return (Definitions(here.values()), *of_others) if here else of_others


def with_unread_keys(  # noqa: PLR0913 - the sources of definitions
    workload: model.Workload | None,
    value: paths.Object,
    *,
    namespace: str = "",
    beside: Lookup = NO_OBJECTS,
    around: Lookup = NO_OBJECTS,
    facts: "Definitions | None" = None,
    names: inner_names.NamesOfFacts | None = None,
    of_facts: ObjectsOfFacts | None = None,
    meant: Callable[[str], str] = meant_name,
    stored: bool = False,
) -> model.Workload | None:
    """The workload with the keys that nothing reads; an object that no rule reads becomes one if it has unread keys.

    An API server drops unknown keys, and asks webhooks afterwards. It keeps them where a definition takes any field.

    Args:
        workload: the normalised object; None if no rule reads it.
        namespace: the namespace of an object without one.
        beside: objects of the same files; their CustomResourceDefinitions win over those of the facts.
        around: objects of the same directory, if they are applied together.
        facts: the CustomResourceDefinitions of the facts, which win over recorded ones.
        names: the names of the objects of a kind in the facts; None without facts.
        of_facts: the objects of a kind in the facts; None without facts.
        meant: the resource that a misspelt one is meant for, or an empty text.
        stored: whether the object comes from an API server; an object with a uid does.
    """
    if workload is not None and workload.excess is not None:
        return workload
    definitions, key = _definitions(beside, facts), group_version_kind(value)[::2]
    found = tuple(_find_unread(value, definitions))
    idle = {each.spec_path for each in workload.pod_sets if each.count.maximum == 0} if workload is not None else set()
    if idle:  # their list of containers may be empty, and the definition of the kind accepts that
        found = tuple(each for each in found if each.path not in idle or _lacks_containers(value, each.path))
    if workload is not None and any(each.path for each in workload.pod_sets):
        reported = {each.path for each in found}
        of_templates = _in_templates(value, workload, definitions)
        found += tuple(each for each in of_templates if each.path not in reported)
    specs = [] if stored else value_forms.pod_specs(value)
    of_pods = specs if key in registry.PODS else []
    exists = stored or bool(paths.metadata(value).get("uid"))
    if exists:
        found = tuple(each for each in found if each.kept)
    else:
        found += (*known_keys.misspelt_keys(value, meant), *value_forms.refused_parts(value, key, beside))
        found += tuple(value_forms.refused_forms(value, key, of_pods))
    if not stored:
        filled = environment.with_known_texts(value, namespace, around if isinstance(around, Objects) else beside)
        filled_pods = of_pods if filled is value or not of_pods else value_forms.pod_specs(filled)
        rules = _unread_by_controllers(workload, filled, key, filled_pods)
        found += tuple(each for each in rules if not (exists and each.refused))
    if not exists:
        files = inner_names.Files(namespace, around if isinstance(around, Objects) else beside, beside, names)
        if isinstance(files.around, Objects):
            files.around.once(OF_FACTS, lambda: of_facts)
        named = inner_names.names_of_nothing(value, key, specs, files)
        # An operator that usher does not know may add volumes of its own.
        found += tuple(each for each in named if of_pods or not specs or "names the volume" not in each.text)
        if isinstance(files.around, Objects):
            found += tuple(device_stack.disagreements(value, key, files.around))
            found += tuple(registry.unmet(value, key, files.around))
            found += tuple(chosen_boards.beside_others(value, key, files.around, workload, of_pods))
            found += tuple(model_servers.needs_of_cluster(workload, value, of_pods, (files.around, beside)))
        found += tuple(definition_limits.beyond_limits(value, definitions, found))
    if not found:
        return workload
    return replace(workload or _object_without_rules(value, namespace), unread_keys=found[:_MOST])


def _lacks_containers(value: paths.Object, spec: str) -> bool:
    return "containers" not in paths.mapping(paths.resolve(value, spec))


def _unread_by_controllers(
    workload: model.Workload | None,
    value: paths.Object,
    key: tuple[str, str],
    specs: Sequence[value_forms.PodSpec],
) -> Iterator[model.UnreadKey]:
    yield from controller_rules.refused(value, key, specs)
    yield from chosen_boards.machines_of_no_cloud(value, " ".join(key), specs)
    if workload is not None:
        yield from model_servers.images_of_other_devices(workload)
        yield from chosen_boards.slices_other_than_pods(workload)
        yield from pod_networks.beyond_their_pods(workload, value, specs)
    yield from chosen_boards.boards_without_their_name(specs, value, " ".join(key))
    yield from started_programs.needs_of_programs(key, value, specs)
    if key == ("apps", "DaemonSet"):
        yield from device_stack.agents_without_folder(value)


def has_fields(value: paths.Object, *, beside: Lookup = NO_OBJECTS, facts: Definitions | None = None) -> bool:
    """Whether the fields of the kind of an object are known, so that its keys are compared."""
    api_version, kind = paths.text(value.get("apiVersion")), paths.text(value.get("kind"))
    _, number = _node_of_kind(api_version, kind, _definitions(beside, facts))
    return number is not None


def _object_without_rules(value: paths.Object, namespace: str) -> model.Workload:
    metadata = paths.metadata(value)
    found = identity.without_pods(
        value,
        namespace=paths.text(metadata.get("namespace")) or namespace,
        name=paths.text(metadata.get("name")) or paths.text(metadata.get("generateName")),
    )
    return replace(found, makes_pods=False)


def _find_unread(value: paths.Object, definitions: Sequence[Definitions]) -> Iterator[model.UnreadKey]:
    api_version, kind = value.get("apiVersion"), value.get("kind")
    if not isinstance(api_version, str) or not isinstance(kind, str):
        return
    known, number = _node_of_kind(api_version, kind, definitions)
    if number is None:
        yield from _unknown_kind(api_version, kind, known.kinds)
        if (api_version.rpartition("/")[0], kind) not in registry.BY_KEY:
            return
        number = TAKES_ANYTHING
    if kind == "ConfigMap":
        yield from _of_configurations(value)
    elif not _is_as_known(value, number, known):
        walk = _Walk(known)
        walk.object(value, number, kept=f"{api_version} {kind}" in known.kept)
        yield from (*walk.unread, *walk.refused)
        if not any(each.important for each in walk.unread):
            # A kind that makes no pods of its template may merge it into another one.
            is_own = (api_version.rpartition("/")[0], kind) in registry.PODS
            yield from (each for each in walk.missing if is_own or _lacks_containers(value, each.path))


def _in_templates(
    value: paths.Object, workload: model.Workload, definitions: Sequence[Definitions]
) -> Iterator[model.UnreadKey]:
    """The mistakes in pod templates that the definition of the kind does not describe."""
    known, number = _node_of_kind(paths.text(value.get("apiVersion")), paths.text(value.get("kind")), definitions)
    for each in workload.pod_sets:
        if each.spec_path != f"{each.path}/spec" or not known.is_open_at(number or TAKES_ANYTHING, each.path):
            continue
        try:
            template = paths.mapping(paths.resolve(value, each.path))
        except LookupError:  # it stands in another object
            continue
        if "kind" not in template and not _is_as_known(template, known.pod_template, known):
            walk = _Walk(known)
            walk.object(template, known.pod_template, each.path, kept=True)
            # An operator that usher does not know may have added fields of its own.
            sure = number is not None or not unrecognised.is_unknown(workload)
            for found in walk.unread:
                yield found if sure or found.remedy.startswith("did you mean") else replace(found, important=False)
            yield from walk.refused
            if not each.containers and not any(found.important for found in walk.unread):
                yield from walk.missing


def _of_configurations(value: paths.Object) -> Iterator[model.UnreadKey]:
    """The mistakes in the configurations of a ConfigMap, which are texts; a finding has the path of the text."""
    for each in known_keys.configurations(value.get("data")):
        walk = _Walk(each.known, from_root=True)
        walk.object(each.value, each.number)
        for found in (*walk.unread, *walk.refused):
            meant = re.fullmatch(r"did you mean (\S+)\?", found.remedy)
            yield replace(
                found,
                path=paths.join("/data", each.key),
                text=f"{found.text.replace('the API server', each.reader)} (configuration {each.key})",
                remedy=f"write {meant[1]} in its place" if meant else found.remedy,
                important=bool(meant),
            )


def _node_of_kind(api_version: str, kind: str, definitions: Sequence[Definitions]) -> tuple[Known, int | None]:
    """The nodes with the number of the node of a kind, by the first definition that has it."""
    for each in definitions:
        if found := each.find(api_version, kind):
            return found
    known = recorded()
    return known, known.kinds.get(f"{api_version} {kind}")


_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
_OBJECTS: Final = frozenset({dict})


def _is_as_known(value: Any, number: int, known: Known) -> bool:  # noqa: ANN401 - any JSON
    """Whether the walk would find nothing; nearly all objects end here, at a fraction of its cost."""
    if number < 0:
        return isinstance(value, list) and _are_as_known(value, -number, known)
    leaf = known.leaves.get(number)
    if leaf is dict or not number:
        return _is_open_as_known(value, known) and (not number or value is None or isinstance(value, dict))
    if leaf is not None:
        return type(value) is leaf or _fits(value, leaf)
    if not isinstance(value, dict):
        return value is None
    return _has_only_known_fields(value, known.nodes[number], known)


def _are_as_known(found: Collection[Any], number: int, known: Known) -> bool:
    types = set(map(type, found))
    if types == _OBJECTS and number > 0 and number not in known.leaves:
        node = known.nodes[number]
        return all(_has_only_known_fields(each, node, known) for each in found)
    if types <= _SCALARS and (not number or types == {known.leaves.get(number)}):
        return True
    return all(_is_as_known(each, number, known) for each in found)


def _has_only_known_fields(value: Mapping[str, Any], node: Node, known: Known) -> bool:
    if (every := node.get(MAP)) is not None:
        return _are_as_known(value.values(), every, known)
    if not value.keys() <= node.keys() or (
        REQUIRED in node and (REQUIRED in value or not all(map(value.get, node[REQUIRED])))
    ):
        return False
    leaves = known.leaves
    for key, each in value.items():
        below, kind = node[key], type(each)
        if kind is dict and below > 0 and below not in leaves:
            if not _has_only_known_fields(each, known.nodes[below], known):
                return False
        elif kind is list and below < 0:
            if not _are_as_known(each, -below, known):
                return False
        elif (
            kind is not leaves.get(below)
            and (below or kind not in _SCALARS)
            and each is not None
            and not _is_as_known(each, below, known)
        ):
            return False
    return True


def _is_open_as_known(value: Any, known: Known) -> bool:  # noqa: ANN401 - any JSON
    """Whether the known objects and pod specs are as known in a value that the definition does not describe."""
    if isinstance(value, list):
        return all(_is_open_as_known(each, known) for each in value)
    if not isinstance(value, dict):
        return True
    if inner := known.node_inside(value):
        return _is_as_known(value, inner, known)
    return all(_is_as_known(each, known.part_of_pods(key, each), known) for key, each in value.items())


def _fits(value: Any, leaf: Leaf) -> bool:  # noqa: ANN401 - any JSON
    """Whether a field takes a value. Whole numbers may have a point, and texts of templates are not compared."""
    if isinstance(value, str) and (leaf is str or (isinstance(leaf, frozenset) and value in leaf)):
        return True
    if value is None or (isinstance(value, str) and (value == "" or value_forms.is_placeholder(value))):
        return True
    if isinstance(leaf, frozenset):
        return False
    if isinstance(value, str) and value.isupper() and "_" in value:
        return True  # NUM_NODES, PLACEHOLDER_PORT; texts of a field may be misspelt like that (NO_SCHEDULE)
    if isinstance(value, bool) or leaf is bool:
        return isinstance(value, bool) and leaf is bool
    if leaf is int:
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return isinstance(value, (int, float) if leaf is float else leaf)


class _Level(Struct, frozen=True):
    """An object on the way to a place, with its path and node."""

    path: str
    node: Node


class _Walk:
    """Compares an object with its node, level by level. With `whole`, a misplaced key may belong anywhere in it."""

    def __init__(self, known: Known, *, from_root: bool = False) -> None:
        self._known, self._nodes, self._from_root = known, known.nodes, from_root
        self.unread: list[model.UnreadKey] = []
        self.refused: list[model.UnreadKey] = []
        self.missing: list[model.UnreadKey] = []

    def object(
        self,
        value: Any,  # noqa: ANN401 - any JSON
        number: int,
        path: str = "",
        above: tuple[_Level, ...] = (),
        *,
        kept: bool = False,
    ) -> None:
        """Records the unread keys of a value; a list is as each of its elements.

        Args:
            value: the value.
            number: the number of its node.
            path: its place.
            above: the objects above it.
            kept: whether the API server keeps keys that it does not know.
        """
        leaf = list if number < 0 else self._known.leaves.get(number, dict)
        if value is None or len(self.unread) > _MOST:
            return
        if number and not _fits(value, leaf):
            if not (kept and isinstance(value, int | float) and _ANY_TEXT.search(path)):
                self.refused.append(_refused(value, leaf, path, kept=kept))
        elif isinstance(value, list):  # a text of a template may stand for one
            for index, each in enumerate(value):
                self.object(each, -number, f"{path}/{index}", above, kept=kept)
        elif isinstance(value, dict) and value:
            is_open = not number or number in self._known.leaves
            inner = self._known.node_inside(value) if is_open else number
            if inner or not is_open:
                self._keys(value, inner, path, () if is_open else above, kept=kept or is_open)
            else:
                for key, each in value.items():
                    self.object(each, self._known.part_of_pods(key, each), paths.join(path, key), (), kept=True)

    def _keys(self, value: Mapping[str, Any], number: int, path: str, above: tuple[_Level, ...], *, kept: bool) -> None:
        node = self._known.nodes[number]
        every, here = node.get(MAP), (*above, _Level(path, node))
        for key, each in value.items():
            below = every if every is not None else node.get(key)
            if below is None or key == REQUIRED:
                self.unread.append(replace(self._unread(key, each, value, here), kept=kept))
            elif path or key != "status":
                self.object(each, below, paths.join(path, key), here, kept=kept)
        self.missing += [
            replace(_missing(name, path), kept=kept) for name in node.get(REQUIRED, ()) if not value.get(name)
        ]

    def _unread(self, key: str, value: Any, beside: Mapping[str, Any], here: tuple[_Level, ...]) -> model.UnreadKey:  # noqa: ANN401 - any JSON
        level = here[-1]
        free = [name for name in level.node if name not in beside and name != REQUIRED]
        like = _alike(key, free, _SURE)
        elsewhere = "" if like else self._elsewhere(key, here)
        like = like or ("" if elsewhere else _alike(key, free, _CLOSE))
        moved = _MOVED.get(f"{level.path.rstrip('0123456789').rstrip('/').rpartition('/')[2]}.{key}", "")
        meant = like or elsewhere
        remedy = moved or (f"did you mean {meant}?" if meant else "remove the field, or correct its name")
        where = paths.readable(level.path) if level.path else "its top level"
        return model.UnreadKey(
            path=paths.join(level.path, key),
            text=f"has the field {key[:100]} at {where}, and nothing reads it",
            remedy=remedy,
            # A check of claims says it for all of them at once.
            topic="claim" if elsewhere == f"exactly.{key}" else "",
            important=(
                bool(moved)
                or like in _DECIDING
                or key in _DECIDING
                or (bool(like or elsewhere) and self._makes_pods(level.node))
                or _means_accelerators(key)
                or _holds_deciding(value)
            ),
        )

    def _elsewhere(self, key: str, here: tuple[_Level, ...]) -> str:
        """The place of a field with this name above or below; empty without one."""
        if key in _OF_EVERY_OBJECT:
            return ""
        for level in reversed(here[:-1]):
            if key in level.node and key != REQUIRED:
                return paths.readable(paths.join(level.path, key))
        levels: list[tuple[list[str], Node]] = [([], here[0 if self._from_root else -1].node)]
        for _ in range(_DEEP):
            levels = [
                ([*way, name], self._nodes[abs(number)])
                for way, node in levels
                for name, number in node.items()
                if name not in (REQUIRED, MAP, TYPE, *_OF_EVERY_OBJECT) and number
            ]
            for way, node in levels:
                if key in node:
                    return ".".join([*way, key])
        return ""

    def _makes_pods(self, node: Node) -> bool:
        """Whether a node is a container, a pod spec or a pod template."""
        if {"image", "resources", "command"} <= node.keys() or {"containers", "tolerations"} <= node.keys():
            return True
        spec = node.get("spec")
        return node.keys() <= {"metadata", "spec", REQUIRED} and spec is not None and "containers" in self._nodes[spec]


_MOVED: Final = {
    "resourceClaims.source": "write its resourceClaimName or resourceClaimTemplateName one level higher: Kubernetes "
    "1.31 removed source",
}
"""The remedies for fields that an API has moved, by the field above and their name."""


def _missing(name: str, path: str) -> model.UnreadKey:
    place = paths.readable(path)
    return model.UnreadKey(
        path=path,
        text=f"has no {name} at {place}, so it makes no pods",
        remedy=f"add {name} to {place}",
        important=True,
    )


_ANY_TEXT: Final = memo.pattern(r"/parameters/\d+/(?:value|default|enum/\d+)$")
"""Texts that may be numbers and booleans: AnyString in pkg/apis/workflow/v1alpha1 of argoproj/argo-workflows."""
_MEANT: Final[Mapping[type, str]] = {
    str: "a string", int: "a whole number", float: "a number", bool: "true or false", list: "a list", dict: "an object",
}  # fmt: skip


def _refused(value: Any, leaf: Leaf, path: str, *, kept: bool) -> model.UnreadKey:  # noqa: ANN401 - any JSON
    place = paths.readable(path)
    if isinstance(leaf, frozenset):
        texts = sorted(leaf)
        like = _alike(str(value), texts, _CLOSE) if isinstance(value, str) else ""
        remedy = f"did you mean {like}?" if like else f"write one of {', '.join(texts[:10])}"
        text = f"has {_described(value)} at {place}, where the API server takes {', '.join(texts[:10])}"
    else:
        meant = _MEANT[leaf]
        text = f"has {_described(value)} at {place}, where the API server takes {meant}"
        right = meant_value(value, leaf)
        remedy = f"write {meant}" if right is None else f"write {orjson.dumps(right).decode()}"
        if isinstance(value, bool) and leaf is str:
            remedy += f", or quote the word that YAML takes for it ({'y, yes, on' if value else 'n, no, off'})"
    return model.UnreadKey(path=path, text=text, remedy=remedy, important=True, refused=True, kept=kept)


def _described(value: Any) -> str:  # noqa: ANN401 - any JSON
    if isinstance(value, str):
        return f"the string {value[:60]}"
    return (
        "a list"
        if isinstance(value, list)
        else "an object"
        if isinstance(value, dict)
        else orjson.dumps(value).decode()
    )


def meant_value(value: Any, leaf: type) -> str | int | bool | None:  # noqa: ANN401 - any JSON
    """The value of a type that a scalar of another type can only mean; None if there is a choice."""
    if leaf is str and isinstance(value, bool | int):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if leaf is int and isinstance(value, str) and value.isdecimal() and len(value) < 10:
        return int(value)
    return {"true": True, "false": False}.get(value) if leaf is bool and isinstance(value, str) else None


def _alike(key: str, known: Sequence[str], least: float) -> str:
    """The known name that a key is most like; empty if no name is like it."""
    folded = {_folded(name): name for name in known}
    if (same := folded.get(_folded(key))) is not None:
        return same
    found = difflib.get_close_matches(_folded(key)[:100], folded, n=1, cutoff=least)
    return folded[found[0]] if found else ""


def _folded(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _means_accelerators(key: str) -> bool:
    return names.meaning_of(key) is not None or looks_like_accelerator(key)


def _holds_deciding(value: Any, depth: int = 0) -> bool:  # noqa: ANN401 - any JSON
    """Whether a value has one of the deciding fields or an accelerator below it."""
    if isinstance(value, list):
        return any(_holds_deciding(each, depth) for each in value[:_MOST])
    if not isinstance(value, dict) or depth > 5:
        return False
    return any(
        key in _DECIDING or _means_accelerators(key) or _holds_deciding(each, depth + 1) for key, each in value.items()
    )


def _unknown_kind(api_version: str, kind: str, kinds: Mapping[str, int]) -> Iterator[model.UnreadKey]:
    """The mistake in the kind or the apiVersion of an object, if a known one is like it."""
    group = api_version.rpartition("/")[0]
    if value_forms.is_removed(api_version, kind):
        return
    of_group = {name: version for name, version in reversed(_names(kinds)) if version.rpartition("/")[0] == group}
    if kind in of_group:
        known = (group, kind) in registry.BY_KEY  # usher says of these that it does not judge the version
        if not known:
            yield _mistake(
                "/apiVersion", f"apiVersion {api_version}", kind, f"apiVersion: {of_group[kind]}", deny=False
            )
        return
    if like := _alike(kind, [*of_group], _CLOSE_KIND):
        yield _mistake("/kind", f"kind {kind}", api_version, f"kind: {like}")
        return
    for name, version in _names(kinds):
        if name == kind and _is_group_meant(group, version.rpartition("/")[0]):
            yield _mistake("/apiVersion", f"apiVersion {api_version}", kind, f"apiVersion: {version}")
            return
    if "." not in group:
        built_in = [name for name, version in _names(kinds) if "." not in version.rpartition("/")[0]]
        if like := _alike(kind, built_in, _CLOSE_KIND):
            yield _mistake("/kind", f"kind {kind}", api_version, f"kind: {like}")


_GROUPS_OF_OTHERS: Final = frozenset({"azmonitoring.coreos.com", "inference.networking.x-k8s.io"})
"""Groups whose kinds another group has too: Azure's Prometheus, and the inference extension before version 1."""


def _is_group_meant(group: str, known: str) -> bool:
    """Whether the author of an unknown kind may have meant a known group. Only Kubernetes has groups without a dot."""
    if group in _GROUPS_OF_OTHERS or "." not in group:
        return group not in _GROUPS_OF_OTHERS
    labels, others = group.split("."), known.split(".")
    two = len(labels) == len(others) == 2
    return (two and labels[0] == others[0]) or difflib.SequenceMatcher(None, group[:100], known).ratio() >= _SURE_GROUP


def _names(kinds: Mapping[str, int]) -> list[tuple[str, str]]:
    """Each kind with its apiVersion: those of Kubernetes first, and stable versions before others."""
    found = [(kind, version) for version, _, kind in (each.partition(" ") for each in kinds)]
    return sorted(
        found, key=lambda each: (each[1].partition("/")[0].count(".") > 0, "beta" in each[1], "alpha" in each[1])
    )


def _mistake(path: str, what: str, where: str, meant: str, *, deny: bool = True) -> model.UnreadKey:
    return model.UnreadKey(
        path=path,
        text=f"has the {what}, which no API server knows together with {where}",
        remedy=f"did you mean {meant}?",
        important=deny,
    )
