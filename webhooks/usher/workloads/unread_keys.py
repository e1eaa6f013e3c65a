"""Finds the keys of an object that nothing reads, by the fields that its kind has.

The API server drops the key or refuses the object; in a file it looks as if it had an effect. `fields.json.gz` has
the fields of Kubernetes' own kinds and of those of operators. tools/record_fields.py writes it from the OpenAPI of an
API server and from CustomResourceDefinitions.

Nothing is found below a field that takes anything: `x-kubernetes-preserve-unknown-fields`, embedded objects, maps, and
values that may be a number or a text (https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#field-pruning).
"""

import difflib
import gzip
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson
from msgspec import Struct
from msgspec.structs import replace

from usher import model, paths
from usher.accelerators import names
from usher.accelerators.vocabulary import looks_like_accelerator
from usher.kinds import registry
from usher.kinds.kind import DEFINITION
from usher.kinds.reading.values import NO_OBJECTS, Lookup, Objects
from usher.workloads import identity

FILE: Final = Path(__file__).with_name("fields.json.gz")

Node = Mapping[str, Any]
"""The fields of one object, each with the number of its own node: 0 takes anything, and a list has a negative number.
MAP stands for every key of a map, and REQUIRED has the fields that must exist.
"""

MAP: Final = "*"
REQUIRED: Final = "!"

_TAKES_ANYTHING: Final = 0
_OPEN: Final = ("x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string")
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


class Fields:
    """Nodes of schemas, equal ones once."""

    def __init__(self) -> None:
        self.nodes: list[Node] = [{}]
        self.metadata = _TAKES_ANYTHING
        """The node of the metadata of objects, which definitions leave out."""
        self._numbers: dict[tuple[tuple[str, Any], ...], int] = {}

    def of_definition(self, definition: Mapping[str, Any]) -> dict[str, int]:
        """The nodes of the kind of a CustomResourceDefinition, by apiVersion and kind."""
        spec = definition["spec"]
        found = {}
        for version in spec["versions"]:
            schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
            properties = {"apiVersion": {}, "kind": {}, **(schema.get("properties") or {})}
            number = self.of_schema({**schema, "properties": properties})
            if number != _TAKES_ANYTHING:
                number = self._number({**self.nodes[number], "metadata": self.metadata})
            found[f"{spec['group']}/{version['name']} {spec['names']['kind']}"] = number
        return found

    def of_schema(self, schema: Any) -> int:  # noqa: ANN401 - OpenAPI as its author wrote it
        """The node of an OpenAPI schema without references."""
        if not isinstance(schema, dict) or any(schema.get(each) for each in _OPEN):
            return _TAKES_ANYTHING
        if "items" in schema:
            return -abs(self.of_schema(schema["items"]))
        if properties := schema.get("properties"):
            node = {name: self.of_schema(each) for name, each in properties.items()}
            expected = (
                "containers",
                "jobTemplate",
                "template",
                *(("spec",) if node.keys() == {"metadata", "spec"} else ()),
            )
            required = [name for name in expected if name in schema.get("required", ())]
            return self._number({**node, REQUIRED: required} if required else node)
        below = self.of_schema(schema.get("additionalProperties"))
        return self._number({MAP: below}) if below else _TAKES_ANYTHING

    def _number(self, node: Node) -> int:
        key = tuple((name, tuple(each) if isinstance(each, list) else each) for name, each in sorted(node.items()))
        if key not in self._numbers:
            self._numbers[key] = len(self.nodes)
            self.nodes.append(node)
        return self._numbers[key]


class _Known(NamedTuple):
    """All nodes, and the number of the node of each `apiVersion kind`."""

    nodes: Sequence[Node]
    kinds: Mapping[str, int]


@cache
def _known() -> _Known:
    """The recorded fields, read when the first object needs them."""
    read = orjson.loads(gzip.decompress(FILE.read_bytes()))
    return _Known(read["nodes"], read["kinds"])


def with_unread_keys(
    workload: model.Workload | None,
    value: paths.Object,
    *,
    namespace: str = "",
    beside: Lookup = NO_OBJECTS,
) -> model.Workload | None:
    """The workload with the keys that nothing reads; an object that no rule reads becomes one if it has unread keys.

    An object with a uid comes from an API server, which has dropped these keys.

    Args:
        workload: the normalised object; None if no rule reads it.
        namespace: the namespace of an object without one.
        beside: objects of the same file; their CustomResourceDefinitions win over recorded ones.
    """
    if (workload is not None and workload.excess is not None) or paths.metadata(value).get("uid"):
        return workload
    definitions = beside.cluster_scoped(*DEFINITION) if isinstance(beside, Objects) else {}
    found = tuple(_found(value, definitions))
    if not found:
        return workload
    return replace(workload or _object_without_rules(value, namespace), unread_keys=found[:_MOST])


def _object_without_rules(value: paths.Object, namespace: str) -> model.Workload:
    metadata = paths.metadata(value)
    found = identity.without_pods(
        value,
        namespace=paths.text(metadata.get("namespace")) or namespace,
        name=paths.text(metadata.get("name")) or paths.text(metadata.get("generateName")),
    )
    return replace(found, makes_pods=False)


def _found(value: paths.Object, definitions: Mapping[str, paths.Object]) -> Iterator[model.UnreadKey]:
    api_version, kind = value.get("apiVersion"), value.get("kind")
    if not isinstance(api_version, str) or not isinstance(kind, str):
        return
    known, number = _node_of_kind(f"{api_version} {kind}", definitions)
    if number is None:
        yield from _unknown_kind(api_version, kind, known.kinds)
        return
    if _has_only_known_keys(value, number, known.nodes):
        return
    walk = _Walk(known.nodes)
    walk.object(value, number)
    yield from walk.unread
    if not any(each["important"] for each in walk.unread):
        yield from walk.missing


def _node_of_kind(key: str, definitions: Mapping[str, paths.Object]) -> tuple[_Known, int | None]:
    """The nodes with the number of the node of a kind, by a definition beside the object if there is one."""
    known = _known()
    for definition in definitions.values():
        if not key.endswith(f" {_kind_defined(definition)}"):
            continue
        fields = Fields()
        fields.nodes = list(known.nodes)
        fields.metadata = known.nodes[known.kinds["v1 Pod"]]["metadata"]
        try:
            found = fields.of_definition(definition)
        except (KeyError, TypeError, AttributeError):
            continue
        if key in found:
            return _Known(fields.nodes, known.kinds), found[key]
    return known, known.kinds.get(key)


def _kind_defined(definition: paths.Object) -> str:
    spec = definition.get("spec")
    names_of_kind = spec.get("names") if isinstance(spec, dict) else None
    return paths.text(names_of_kind.get("kind")) if isinstance(names_of_kind, dict) else ""


def _has_only_known_keys(value: Any, number: int, nodes: Sequence[Node]) -> bool:  # noqa: ANN401 - any JSON
    """Whether the walk would find nothing; nearly all objects end here, at a fraction of its cost."""
    if number < 0:
        return not isinstance(value, list) or all(_has_only_known_keys(each, -number, nodes) for each in value)
    if not isinstance(value, dict):
        return True
    node = nodes[number]
    if (every := node.get(MAP)) is not None:
        return all(_has_only_known_keys(each, every, nodes) for each in value.values())
    if not value.keys() <= node.keys() or (
        REQUIRED in node and (REQUIRED in value or not all(map(value.get, node[REQUIRED])))
    ):
        return False
    for key, each in value.items():
        below = node[key]
        if below and each and not _has_only_known_keys(each, below, nodes):
            return False
    return True


class _Level(Struct, frozen=True):
    """An object on the way to a place, with its path and node."""

    path: str
    node: Node


class _Walk:
    """Compares an object with its node, level by level."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self.unread: list[model.UnreadKey] = []
        self.missing: list[model.UnreadKey] = []

    def object(self, value: Any, number: int, path: str = "", above: tuple[_Level, ...] = ()) -> None:  # noqa: ANN401 - any JSON
        """Records the unread keys of a value; a list is as each of its elements."""
        if number == _TAKES_ANYTHING or len(self.unread) > _MOST:
            return
        if number < 0:
            for index, each in enumerate(value if isinstance(value, list) else ()):
                self.object(each, -number, f"{path}/{index}", above)
            return
        if not isinstance(value, dict):
            return
        node = self._nodes[number]
        every, here = node.get(MAP), (*above, _Level(path, node))
        for key, each in value.items():
            below = every if every is not None else node.get(key)
            if below is None or key == REQUIRED:
                self.unread.append(self._unread(key, each, value, here))
            elif below and each and (path or key != "status"):
                self.object(each, below, paths.join(path, key), here)
        self.missing += [_missing(name, path) for name in node.get(REQUIRED, ()) if not value.get(name)]

    def _unread(self, key: str, value: Any, beside: Mapping[str, Any], here: tuple[_Level, ...]) -> model.UnreadKey:  # noqa: ANN401 - any JSON
        level = here[-1]
        free = [name for name in level.node if name not in beside and name != REQUIRED]
        like = _alike(key, free, _SURE)
        elsewhere = "" if like else self._elsewhere(key, here)
        like = like or ("" if elsewhere else _alike(key, free, _CLOSE))
        if like:
            remedy = f"did you mean {like}?"
        elif elsewhere:
            remedy = f"did you mean {elsewhere}?"
        else:
            remedy = "remove the field, or correct its name"
        where = paths.readable(level.path) if level.path else "its top level"
        return model.UnreadKey(
            path=paths.join(level.path, key),
            text=f"has the field {key[:100]} at {where}, and nothing reads it",
            remedy=remedy,
            important=(
                like in _DECIDING
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
        levels: list[tuple[list[str], Node]] = [([], here[-1].node)]
        for _ in range(_DEEP):
            levels = [
                ([*way, name], self._nodes[abs(number)])
                for way, node in levels
                for name, number in node.items()
                if name not in (REQUIRED, MAP, *_OF_EVERY_OBJECT) and number
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


def _missing(name: str, path: str) -> model.UnreadKey:
    place = paths.readable(path)
    return model.UnreadKey(
        path=path,
        text=f"has no {name} at {place}, so it makes no pods",
        remedy=f"add {name} to {place}",
        important=True,
    )


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


def _is_group_meant(group: str, known: str) -> bool:
    """Whether the author of an unknown kind may have meant a known group. Only Kubernetes has groups without a dot."""
    if "." not in group:
        return True
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
