"""The identity of an object, as it names it itself, and the part of it that is too much to judge.

Limits are judged before anything else reads the object. They are far above what clusters run: a pod cannot use 250
containers on a node, and Kueue takes eight pod sets. Within them an object costs a fraction of the time and memory of a
review (`scripts/bench growth`).
"""

from collections import Counter
from collections.abc import Mapping
from typing import Final

import orjson
from msgspec.structs import replace

from usher import model, paths
from usher.kinds import kubeflow_pipelines, registry
from usher.kinds.reading.values import Reading


def group_version_kind(value: paths.Object) -> tuple[str, str, str]:
    """The group, version and kind of an object; empty if missing. For a compiled pipeline, they follow from
    its form.
    """
    api_version, kind = value.get("apiVersion"), value.get("kind")
    if api_version is None and kind is None:
        return kubeflow_pipelines.group_version_kind(value)
    group, _, version = (api_version if isinstance(api_version, str) else "").rpartition("/")
    return group, version, kind if isinstance(kind, str) else ""


def without_pods(value: paths.Object, *, namespace: str, name: str) -> model.Workload:
    """A workload with the identity of an object and no pods."""
    group, version, kind = group_version_kind(value)
    return model.Workload(
        group=group,
        version=version,
        kind=kind,
        namespace=namespace,
        name=name,
        labels={},
        annotations={},
        role=model.Role.UNKNOWN,
        owner=None,
        deleting=False,
        suspended=False,
        pod_sets=(),
        gang=model.Gang(wanted=False),
    )


def controlling_owner(metadata: Mapping[str, paths.Json], reading: Reading) -> model.Owner | None:
    """The controlling owner that an object names. Any user can write one, so callers decide whether it counts."""
    found = None
    for path, reference in reading.items(metadata.get("ownerReferences"), "/metadata/ownerReferences"):
        kind = reading.text(reference.get("kind"), path + "/kind")
        if reading.flag(reference.get("controller"), path + "/controller") and found is None:
            group = reading.text(reference.get("apiVersion"), path + "/apiVersion").rpartition("/")[0]
            found = model.Owner(group=group, kind=kind, name=reading.text(reference.get("name"), path + "/name"))
    return found


def object_name(metadata: Mapping[str, paths.Json], reading: Reading, value: paths.Object) -> str:
    """The name of an object with these metadata; a compiled pipeline has its name elsewhere.

    A name with a template variable is unknown. At CREATE an object may only have a prefix of its future name; then the
        name is the prefix and a `*`.
    """
    name = reading.text(metadata.get("name"), "/metadata/name")
    prefix = reading.text(metadata.get("generateName"), "/metadata/generateName")
    for field, text in (("name", name), ("generateName", prefix)):
        if "${" in text or "{{" in text:
            reading.unknown(f"/metadata/{field}", "the name has a variable of a template; render the template first")
    return name or (f"{prefix}*" if prefix else kubeflow_pipelines.name(value))


MOST_ENTRIES_OF_POD: Final[Mapping[str, int]] = {
    "containers": 250, "initContainers": 250, "ephemeralContainers": 250,
    "env": 2000, "envFrom": 500, "volumeMounts": 1000, "volumeDevices": 1000, "ports": 2000,
    "volumes": 1000, "tolerations": 1000, "resourceClaims": 250, "claims": 250, "limits": 250, "requests": 250,
    "nodeSelectorTerms": 250, "matchExpressions": 1000, "topologySpreadConstraints": 250,
}  # fmt: skip
"""The most entries of lists and maps of one pod, by their field."""

MOST_CONTAINERS: Final = 1000
"""The most containers of all pod templates of one object."""

MOST_TEMPLATES: Final = 500
"""The most entries of a list of an object that holds pod templates."""

MOST_VALUES: Final = 50_000
"""The most JSON values of one object; the largest manifest of public projects that we know has 9,000."""

MOST_LEVELS: Final = 250
"""The most levels of lists and maps in each other."""

_WITH_TEMPLATES: Final = frozenset(
    ("replicatedJobs", "workerGroupSpecs", "templates", "tasks", "steps", "components", "podTemplates")
)
_WITH_CONTAINERS: Final = frozenset(("containers", "initContainers", "ephemeralContainers"))

_LIMITED: Final = frozenset(MOST_ENTRIES_OF_POD) | _WITH_TEMPLATES

DIVIDE_POD: Final = "divide it among several pods"
DIVIDE_OBJECT: Final = "divide it into several objects"

_Entries = dict[str, paths.Json] | list[paths.Json]


def excess(value: paths.Object) -> model.Excess | None:
    """The part of an object that is too large, first a part of a pod; None within the limits."""
    try:
        text = orjson.dumps(value)
    except orjson.JSONEncodeError:  # Python's own parser accepts half surrogates and very large integers
        return _counted(value)
    return None if is_small(text) else _counted(value)


def _counted(value: paths.Object) -> model.Excess | None:
    containers = values = 0
    excess: tuple[str, int, int] | None = None
    waiting: list[tuple[str, _Entries]] = [("", _without_upkeep(value))]
    for name, found in waiting:
        number = len(found)
        values += number
        if name in _LIMITED:
            if number > MOST_ENTRIES_OF_POD.get(name, number):
                return _excess(value, name, number, f"at most {MOST_ENTRIES_OF_POD[name]} in a pod", DIVIDE_POD)
            if name in _WITH_CONTAINERS:
                containers += number
            elif name in _WITH_TEMPLATES and number > MOST_TEMPLATES and excess is None:
                excess = name, number, MOST_TEMPLATES
        if values > MOST_VALUES:
            return excess_of_whole(value, f"more than {MOST_VALUES} values, and usher judges at most that many")
        # The list grows while the loop reads it; this loop runs for every new Pod.
        if found.__class__ is dict:
            waiting += [(key, item) for key, item in found.items() if item.__class__ is dict or item.__class__ is list]
        else:
            waiting += [("", item) for item in found if item.__class__ is dict or item.__class__ is list]
    if containers > MOST_CONTAINERS and excess is None:
        excess = "containers", containers, MOST_CONTAINERS
    if excess is None:
        return None
    return _excess(value, excess[0], excess[1], f"at most {excess[2]} in an object", DIVIDE_OBJECT)


_FEW_ENTRIES: Final = min(MOST_ENTRIES_OF_POD.values())
_FEW_VALUES: Final = min(MOST_TEMPLATES, MOST_CONTAINERS, MOST_VALUES)


def is_small(text: bytes) -> bool:
    """Whether the text of an object, or one around it, proves that it is within all limits: so with nearly all Pods.

    A list or map has one comma less than entries, and all of them together one entry for each comma and each bracket.
    Commas and brackets within texts make the object look larger.
    """
    commas = text.count(b",")
    return commas < _FEW_ENTRIES and commas + text.count(b"{") + text.count(b"[") <= _FEW_VALUES


def _excess(value: paths.Object, name: str, number: int, most: str, remedy: str) -> model.Excess:
    path, _, _ = _largest(value, name)
    where = paths.readable(path)
    text = f"{number} {name} ({where}), and usher judges {most}"
    return model.Excess(path=path, what=name, number=number, text=text, remedy=remedy)


def excess_of_whole(value: paths.Object, text: str) -> model.Excess:
    """The excess of an object that only is too much as a whole, with the field that has the most entries."""
    path, name, number = _largest(value, "")
    most = f"; it has {number} entries of {name}, most of them at {paths.readable(path)}" if name else ""
    remedy = DIVIDE_POD if value.get("kind") == "Pod" else DIVIDE_OBJECT
    return model.Excess(path=path, what="", number=number, text=f"{text}{most}", remedy=remedy)


def too_deep(path: str) -> model.Excess:
    """The excess of an object that is nested too deeply at a path."""
    return model.Excess(
        path=path,
        what="levels",
        number=MOST_LEVELS,
        text=f"more than {MOST_LEVELS} levels of lists and maps in each other, and usher judges at most that many",
        remedy="write it with fewer levels",
    )


def is_as_large(old: model.Excess | None, new: model.Excess) -> bool:
    """Whether an object was as much too large before an UPDATE."""
    return old is not None and old.what == new.what and old.number >= new.number


def judged_part(value: paths.Object) -> paths.Object:
    """The object without the fields that controllers keep and that make no pods."""
    return {key: field for key, field in value.items() if key not in ("metadata", "status")}


def _largest(value: paths.Object, name: str) -> tuple[str, str, int]:
    """Path and field of the list or map with the most entries among those of a field, and the entries of all of them.

    Without a name it looks at all fields.
    """
    most, path, field = -1, paths.ROOT, ""
    entries: Counter[str] = Counter()
    waiting: list[tuple[str, str, _Entries]] = [(paths.ROOT, "", _without_upkeep(value))]
    while waiting:
        place, key, found = waiting.pop()
        number = len(found)
        if key and name in ("", key):
            entries[key] += number
            if number > most:
                most, path, field = number, place, key
        # A path for each of 250,000 texts would take longer than all else.
        if isinstance(found, dict):
            waiting += [
                (paths.join(place, inner), inner, item)
                for inner, item in found.items()
                if item and isinstance(item, dict | list)
            ]
        else:
            waiting += [
                (f"{place}/{index}", "", item)
                for index, item in enumerate(found)
                if item and isinstance(item, dict | list)
            ]
    return path, field, entries[field]


def _without_upkeep(value: paths.Object) -> paths.Object:
    """The object without what the API server and controllers write, which no rule reads at length."""
    metadata = value.get("metadata")
    if "status" not in value and not (isinstance(metadata, dict) and "managedFields" in metadata):
        return value
    kept = {key: field for key, field in value.items() if key != "status"}
    if isinstance(metadata, dict):
        kept["metadata"] = {key: field for key, field in metadata.items() if key != "managedFields"}
    return kept


def too_large_to_judge(value: paths.Object, excess: model.Excess, *, namespace: str) -> model.Workload:
    """An object that usher judges by its size alone."""
    group, _, kind = group_version_kind(value)
    known = registry.BY_KEY.get((group, kind))
    reading = Reading()
    metadata = reading.mapping(value.get("metadata"), "/metadata")
    within = reading.text(metadata.get("namespace"), "/metadata/namespace") or namespace
    found = without_pods(
        value,
        namespace="" if known is not None and known.cluster_scoped else within,
        name=object_name(metadata, reading, value),
    )
    return replace(
        found,
        owner=controlling_owner(metadata, reading),
        deleting=bool(reading.text(metadata.get("deletionTimestamp"), "/metadata/deletionTimestamp")),
        makes_pods=False,
        exists=bool(metadata.get("uid")),
        excess=excess,
    )
