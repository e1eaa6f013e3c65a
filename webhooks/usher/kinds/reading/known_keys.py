"""Names that only controllers check: fields of their configurations in ConfigMaps, labels and annotations by domain.

Sources of configurations: api/config/v1/*.go of NVIDIA/k8s-device-plugin 1b826ac; api/spec/v1/spec.go of
NVIDIA/mig-parted bd7160f; pkg/scheduler/conf/scheduler_conf.go of volcano-sh/volcano ed72c7c and of
NVIDIA/KAI-Scheduler 72de64f; pkg/scheduler/config and pkg/device of Project-HAMi/HAMi 4707fb0, and its
knownMigGeometries before 2.7; apis/config of kubernetes-sigs/kueue ff69552 and pkg/api of kubernetes-sigs/descheduler.

Sources of labels and annotations: the constants in the Go files of kubernetes-sigs/kueue ff69552, volcano-sh/volcano
ed72c7c, ray-project/kuberay feeaf72, NVIDIA/KAI-Scheduler 72de64f, kubernetes-sigs/lws 060ab4d, kubernetes-sigs/jobset
08dfbdf and kubernetes-sigs/karpenter 2266468; docs/domain/nodes.md for labels of nodes.
"""

import difflib
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple, NotRequired

import orjson
import pydantic
from msgspec.structs import replace
from pydantic import AfterValidator, BeforeValidator, PlainValidator, TypeAdapter
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import errors, memo, model, paths
from usher.accelerators import boards
from usher.documents import reader
from usher.kinds.reading.fields import TAKES_ANYTHING, TYPE, Fields, Known, leaves_of
from usher.kinds.reading.shapes import strict_adapter, without_nulls
from usher.kinds.reading.values import Objects

_MOST: Final = 64 * 1024
"""Characters of a configuration that usher reads; real ones have a few hundred."""
_CLOSE: Final = 0.75
"""Likeness of a name at the top of a text by difflib, from which on the text is a configuration."""


@cache
def _table() -> Mapping[str, Any]:
    found: Mapping[str, Any] = orjson.loads(Path(__file__).with_name("known_keys.json").read_bytes())
    return found


def rows(part: str) -> Sequence[Mapping[str, Any]]:
    """The rows of a part of known_keys.yaml."""
    found: Sequence[Mapping[str, Any]] = _table()[part]
    return found


def table(part: str) -> Mapping[str, str]:
    """The words of a part of known_keys.yaml by their keys."""
    found: Mapping[str, str] = _table()[part]
    return found


class Configuration(NamedTuple):
    """A configuration in a ConfigMap, with the node of its fields."""

    key: str
    reader: str
    value: paths.Object
    known: Known
    number: int


def configurations(data: paths.Json) -> Iterator[Configuration]:
    """The configurations of the device stack in the `data` of a ConfigMap; other texts are left out."""
    for key, text in data.items() if isinstance(data, dict) else ():
        if not isinstance(text, str) or len(text) > _MOST or "{{" in text:
            continue
        found = [each for each in _known_rows() if each[1].search(text)]
        value = parsed(text) if found else None
        for who, _, known, number in found[:1]:
            names = known.nodes[number]
            if value and any(difflib.get_close_matches(each, names, n=1, cutoff=_CLOSE) for each in value):
                yield Configuration(key, who, value, known, number)


def parsed(text: object) -> paths.Object | None:
    """The object that a text of YAML or JSON says; None for others and for long ones."""
    return _parsed(text) if isinstance(text, str) and len(text) <= _MOST else None


def setting(name: str, key: str, objects: Objects) -> paths.Object:
    """A text of a known ConfigMap that holds an object; empty if it is not known."""
    return parsed(part_at(objects.known("", "ConfigMap").get(name, {}), "/data").get(key)) or {}


@lru_cache(maxsize=64)
def _parsed(text: str) -> paths.Object | None:
    try:
        found = reader.parse(text, source="text")
    except errors.ManifestError:
        return None
    return found[0].value if len(found) == 1 and isinstance(found[0].value, dict) else None


@cache
def _known_rows() -> tuple[tuple[str, re.Pattern[str], Known, int], ...]:
    fields, rows = Fields(), _table()["configurations"]
    numbers = [_number(fields, row["fields"]) for row in rows]
    known = Known(fields.nodes, leaves_of(fields.nodes), {}, frozenset())
    return tuple(
        (row["reader"], memo.pattern(row["words"], re.MULTILINE), known, number)
        for row, number in zip(rows, numbers, strict=True)
    )


def _number(fields: Fields, row: str | list[Any] | Mapping[str, Any]) -> int:
    if isinstance(row, list):
        return -_number(fields, row[0])
    if isinstance(row, str):
        return TAKES_ANYTHING if row == "any" else fields.number({TYPE: row})
    return fields.number({name: _number(fields, each) for name, each in row.items()})


_CLOSE_KEY: Final = 0.85
_ALIKE: Final = 0.7
_COMPLETE: Final = frozenset({"kueue.x-k8s.io", "kai.scheduler", "leaderworkerset.sigs.k8s.io", "scheduling.k8s.io"})
"""Domains whose keys are all in the rows; there, a key that is only somewhat like a known one is misspelt too."""
_FAMILIES: Final = ("nvidia.com/gpu.deploy.", "nvidia.com/mig-", "nvidia.com/cuda.")
"""Starts of keys with many ends."""

_SCHEDULERS: Final = (
    "default-scheduler", "kai-scheduler", "volcano", "yunikorn", "koord-scheduler", "hami-scheduler", "runai-scheduler",
    "scheduler-plugins-scheduler",
)  # fmt: skip

QUEUES: Final = frozenset({
    "kueue.x-k8s.io/queue-name", "volcano.sh/queue-name", "scheduling.volcano.sh/queue-name", "kai.scheduler/queue",
    "kueue.x-k8s.io/pod-group-name", "scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name",
})  # fmt: skip
"""Keys on which a queue or a gang hangs."""


@cache
def _keys() -> Mapping[str, Collection[str]]:
    return {domain: tuple(names.split()) for domain, names in _table()["keys"].items()}


@lru_cache(maxsize=4096)
def _meant_scheduler(name: str) -> str:
    """The known scheduler that an unknown name is a slip for."""
    return "" if name in _SCHEDULERS else next((each for each in _SCHEDULERS if is_slip(name[:100], each)), "")


@lru_cache(maxsize=4096)
def meant_key(key: str) -> str:
    """The known key that an unknown one is like; empty for a known key, and without one that is like it."""
    domain, slash, name = key.partition("/")
    if not slash or len(key) > 120 or key.startswith(_FAMILIES):
        return ""
    known = _keys()
    if domain in known:
        like = _like(name, known[domain], _ALIKE if domain in _COMPLETE else _CLOSE_KEY)
        return f"{domain}/{like}" if like else ""
    near = difflib.get_close_matches(domain, known, n=1, cutoff=_CLOSE_KEY)
    return f"{near[0]}/{name}" if near and name in known[near[0]] else ""


def _like(name: str, names: Collection[str], least: float) -> str:
    if name in names:
        return ""
    parts = [each for each in names if each.startswith(f"{name}-") or name.startswith(f"{each}-")]
    if least == _ALIKE and len(parts) == 1:
        return parts[0]
    folded = {_folded(each): each for each in names}
    found = difflib.get_close_matches(_folded(name), folded, n=1, cutoff=least)
    return folded[found[0]] if found else ""


def _folded(name: str) -> str:
    return name.lower().replace("_", "-")


MeantResource = Callable[[str], str]
"""The resource that a misspelt one is meant for; empty for one that a site may have."""

_HOLD_KEYS: Final = frozenset({"labels", "annotations", "nodeSelector", "matchLabels", "nodeLabels"})
_SCHEDULER: Final = "schedulerName"
_NAME_KEYS: Final = frozenset({"key", "topologyKey", "nodeLabel", _SCHEDULER})
_AMOUNTS: Final = frozenset({"hard", "minResources", "capability", "deserved"})
"""Maps with amounts of resources of quotas, queues and gangs."""
_CONTAINERS: Final = frozenset({"containers", "initContainers"})
"""Lists without these keys; they are most of an object."""


def misspelt_keys(value: paths.Object, meant_resource: MeantResource) -> Iterator[model.UnreadKey]:
    """The keys in an object that are like one that a controller reads, and the misspelt resources of its quotas."""
    return iter(()) if _is_clean(value) else _misspelt_in(value, meant_resource, "")


def _is_clean(value: Mapping[str, Any]) -> bool:
    """Whether there is nothing to look at more closely; nearly all objects end here, at a fraction of the cost."""
    for key, each in value.items():
        if isinstance(each, dict):
            if key in _AMOUNTS or (any(map(meant_key, each)) if key in _HOLD_KEYS else not _is_clean(each)):
                return False
        elif isinstance(each, list) and key not in _CONTAINERS:
            if key == "resourceGroups" or not all(_is_clean(one) for one in each if isinstance(one, dict)):
                return False
            if any(isinstance(one, list) for one in each):
                return False
        elif key in _NAME_KEYS and isinstance(each, str) and _meant_text(key, each):
            return False
    return True


def _misspelt_in(value: Any, meant_resource: MeantResource, path: str) -> Iterator[model.UnreadKey]:  # noqa: ANN401 - any JSON
    if isinstance(value, list):
        for index, each in enumerate(value):
            if isinstance(each, (dict, list)):
                yield from _misspelt_in(each, meant_resource, f"{path}/{index}")
        return
    for key, each in ((key, each) for key, each in value.items() if key not in _CONTAINERS):
        if isinstance(each, dict) and key in _HOLD_KEYS:
            yield from _misspelt_of_map(each, paths.join(path, key), decides=key == "nodeSelector")
        elif isinstance(each, dict) and key in _AMOUNTS:
            yield from _misspelt_of_quota(each, paths.join(path, key), meant_resource)
        elif key == "resourceGroups":
            yield from _misspelt_of_groups(each, paths.join(path, key), meant_resource)
        elif isinstance(each, (dict, list)):
            yield from _misspelt_in(each, meant_resource, paths.join(path, key))
        elif key in _NAME_KEYS and isinstance(each, str) and (meant := _meant_text(key, each)):
            misspelt = _misspelt_scheduler if key == _SCHEDULER else _misspelt_text
            yield misspelt(each, meant, paths.join(path, key), decides="matchExpressions" in path)


def _misspelt_of_map(value: Mapping[str, Any], path: str, *, decides: bool) -> Iterator[model.UnreadKey]:
    for name in value:
        if meant := meant_key(name):
            yield _misspelt(name, meant, path, decides=meant not in value and (decides or meant in QUEUES))


def _misspelt_of_quota(value: Mapping[str, Any], path: str, meant_resource: MeantResource) -> Iterator[model.UnreadKey]:
    for name in value:
        prefix, dot, resource = name.partition(".")
        if dot and prefix in {"request", "limit"} and "/" in resource:
            yield _misspelt(name, f"{prefix}s.{meant_resource(resource) or resource}", path, decides=True)
        elif prefix in {"requests", "limits"} and "/" in resource and (right := meant_resource(resource)):
            yield _misspelt(name, f"{prefix}.{right}", path, decides=True)
        elif "/" in name and prefix not in {"requests", "limits"} and (right := meant_resource(name)):
            yield _misspelt(name, right, path, decides=True)


def _misspelt_of_groups(value: Any, path: str, meant_resource: MeantResource) -> Iterator[model.UnreadKey]:  # noqa: ANN401 - any JSON
    """The misspelt resources of the resource groups of a queue, which are texts of lists and names."""
    for key, each in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if isinstance(each, (dict, list)):
            yield from _misspelt_of_groups(each, paths.join(path, key), meant_resource)
        elif isinstance(each, str) and "/" in each and (right := meant_resource(each)):
            yield _misspelt_text(each, right, paths.join(path, key), decides=True)


def _misspelt(name: str, meant: str, path: str, *, decides: bool) -> model.UnreadKey:
    return model.UnreadKey(
        path=paths.join(path, name),
        text=f"has the key {name} at {paths.readable(path)}, and nothing reads it",
        remedy=f"did you mean {meant}?",
        important=decides,
    )


def _meant_text(key: str, text: str) -> str:
    return _meant_scheduler(text) if key == _SCHEDULER else meant_key(text)


def _misspelt_scheduler(name: str, meant: str, path: str, *, decides: bool) -> model.UnreadKey:  # noqa: ARG001 - as _misspelt_text
    text = f"names the scheduler {name} at {paths.readable(path)}, which is like {meant}; no other one places the pods"
    return model.UnreadKey(path=path, text=text, remedy=f"did you mean {meant}?", important=True)


def _misspelt_text(name: str, meant: str, path: str, *, decides: bool) -> model.UnreadKey:
    """As of a key, for one that is the text at a place."""
    return replace(_misspelt(name, meant, path, decides=decides), path=path, remedy=f"write {meant}")


_SHARING: Final = memo.pattern(
    r"""^["']?sharing["']?\s*:|^\s+sharing\s*:\s*\n\s+(timeSlicing|mps)\s*:|\A\s*\{.*"sharing"\s*:""",
    re.MULTILINE | re.DOTALL,
)

_OTHERS: Final = memo.pattern(r"^mig-configs\s*:|^actions\s*:.*\ballocate\b", re.MULTILINE)


class SharedResource(TypedDict):
    name: NotRequired[str]
    replicas: NotRequired[int]


class Shares(TypedDict):
    """How one way of sharing divides devices."""

    renameByDefault: NotRequired[bool]
    failRequestsGreaterThanOne: NotRequired[bool]
    resources: NotRequired[list[SharedResource]]
    replicas: NotRequired[int]
    """This field does not exist in the API, but people write the number there."""


class WaysOfSharing(TypedDict):
    timeSlicing: NotRequired[Shares]
    mps: NotRequired[Shares]


class Flags(TypedDict):
    migStrategy: NotRequired[str]


def _of_device_shares(arguments: object) -> object:
    if not isinstance(arguments, dict):
        return {}
    return {
        key: value
        for key, value in arguments.items()
        if str(key).startswith(("deviceshare.", "predicate.")) and value in (True, False)
    }


class SchedulerPlugin(TypedDict):
    name: NotRequired[str]
    arguments: NotRequired[Annotated[dict[str, bool], BeforeValidator(_of_device_shares)]]
    """Only those that switch ways of sharing devices on."""
    enabledHierarchy: NotRequired[bool]


class SchedulerTier(TypedDict):
    plugins: NotRequired[list[SchedulerPlugin]]


class Configured(TypedDict):
    flags: NotRequired[Flags]
    sharing: NotRequired[WaysOfSharing]
    layouts: NotRequired[list[boards.Problem]]
    """Mistakes in the layouts of the MIG manager; usher adds this to the manifest."""
    actions: NotRequired[str]
    """The actions of Volcano's or KAI's scheduler; its tiers are in the next field."""
    tiers: NotRequired[list[SchedulerTier]]


@cache
def _adapter() -> TypeAdapter[Configured]:
    return strict_adapter(Configured)


def _read_configuration(value: object) -> Configured:
    """The configuration in a text; empty for a text that neither shares nor divides devices, nor is of a scheduler."""
    if isinstance(value, str) and len(value) <= _MOST and _OTHERS.search(value) and "{{" not in value:
        return _other_configuration(value)
    if not isinstance(value, str) or not _SHARING.search(value):
        return {}
    if len(value) > _MOST:
        raise ValueError(f"longer than {_MOST} characters, so it is not read as a configuration of the device plugin")
    try:
        found = reader.parse(value, source="text")
    except errors.ManifestError as error:
        raise ValueError(
            f"looks like a configuration of the device plugin, but cannot be read: {error.reason}"
        ) from None
    # The plugin reads the first document of several.
    first = without_nulls(found[0].value) if found else {}
    if not isinstance(first, dict) or "sharing" not in first:
        return {}
    try:
        return _adapter().validate_python(first)
    except pydantic.ValidationError as error:
        detail = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, detail["loc"]))
        raise ValueError(f"in its {place}: {detail['msg']}") from None


def _other_configuration(text: str) -> Configured:
    """The configuration of the MIG manager or of a scheduler; empty if it cannot be read."""
    try:
        found = reader.parse(text, source="text")
    except errors.ManifestError:
        return {}
    first = without_nulls(found[0].value) if found else {}
    if not isinstance(first, dict):
        return {}
    if "mig-configs" in first:
        wrong = list(boards.problems(first))
        return {"layouts": wrong} if wrong else {}
    try:
        return _adapter().validate_python({key: first[key] for key in ("actions", "tiers") if key in first})
    except pydantic.ValidationError:
        return {}


ConfigurationTexts = Annotated[
    dict[str, Annotated[Configured, PlainValidator(_read_configuration, json_schema_input_type=Configured)]],
    AfterValidator(lambda found: {key: configuration for key, configuration in found.items() if configuration}),
]
"""`data` of a ConfigMap: its configurations of devices and schedulers, and nothing of its other texts."""


def integer(amount: object) -> int:
    """A whole number as YAML or a text has it; 0 for anything else."""
    return int(str(amount)) if re.fullmatch(r"\d{1,9}", str(amount), re.ASCII) else 0


def part_at(value: paths.Json, path: str) -> Mapping[str, Any]:
    """The object at a place; an empty object if the place does not exist."""
    for step in path[1:].split("/"):
        value = value.get(step) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


_MOST_COMPARED: Final = 200
"""With more values of a label than these, no slip is looked for: each is compared letter by letter."""


def misspelt_selector(value: paths.Object, path: str, objects: Objects) -> Iterator[model.UnreadKey]:
    """A label of a selector that fits no pods beside it, and that is a slip for one that they have."""
    wanted = {key: each for key, each in part_at(value, path).items() if isinstance(each, str)}
    if not wanted:
        return
    by_label = objects.once("labels of pods by each label", lambda: _pods_by_label(objects))
    if any(wanted.items() <= labels.items() for labels in by_label.get(next(iter(wanted.items())), ())):
        return
    values = objects.once("values of labels of pods", lambda: _values_by_key(by_label))
    for key, each in wanted.items():
        texts: Collection[str] = values.get(key, ())
        is_new = each not in texts and len(texts) <= _MOST_COMPARED
        if is_new and (meant := difflib.get_close_matches(each, sorted(texts), 1, 0.75)):
            yield model.UnreadKey(
                path=paths.join(path, key),
                text=f"selects pods with the label {key}: {each}, which no pods of the same file have",
                remedy=f"did you mean {meant[0]}?",
                important=False,
            )
            return
    name = paths.text(paths.metadata(value).get("name"))
    named = objects.once("labels of pods by the name of their object", lambda: _labels_by_name(objects)).get(name, {})
    other = next(((key, each) for key, each in wanted.items() if named.get(key, each) != each), None)
    if value.get("kind") == "Service" and other is not None:
        key, each = other
        yield model.UnreadKey(
            path=paths.join(path, key),
            text=f"selects pods with the label {key}: {each}, and those of the object with its name have {named[key]}",
            remedy=f"did you mean {named[key]}?",
            important=False,
        )


def _labels_by_name(objects: Objects) -> Mapping[str, Mapping[str, str]]:
    """The labels of templates of pods, by the name of their object."""
    return {
        paths.text(paths.metadata(value).get("name")): {
            key: text for key, text in found.items() if isinstance(text, str)
        }
        for _, value in objects.all()
        if (found := part_at(value, "/spec/template/metadata/labels"))
    }


def _pods_by_label(objects: Objects) -> Mapping[tuple[str, str], Sequence[Mapping[str, str]]]:
    """The labels of pods and of templates of pods, by each of them."""
    found: defaultdict[tuple[str, str], list[Mapping[str, str]]] = defaultdict(list)
    for _, value in objects.all():
        place = "/metadata/labels" if value.get("kind") == "Pod" else "/spec/template/metadata/labels"
        labels = {key: text for key, text in part_at(value, place).items() if isinstance(text, str)}
        for label in labels.items():
            found[label].append(labels)
    return found


def _values_by_key(labels: Iterable[tuple[str, str]]) -> Mapping[str, set[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for key, text in labels:
        found[key].add(text)
    return found


def is_slip(name: str, other: str) -> bool:
    """Whether one name may be a slip for another: each part between dashes is the same or nearly so."""
    parts, others = name.split("-"), other.split("-")
    return len(parts) == len(others) and all(map(_is_part_slip, parts, others))


def _is_part_slip(one: str, other: str) -> bool:
    if one == other:
        return True
    if min(len(one), len(other)) < 2 or re.sub(r"\D", "", one) != re.sub(r"\D", "", other):
        return False
    is_start = len(one) > 2 and other.startswith(one)
    return is_start or sorted(one) == sorted(other) or difflib.SequenceMatcher(None, one, other).ratio() > 0.75


KUEUE_GROUP: Final = "kueue.x-k8s.io"


def checks_of(spec: Mapping[str, Any]) -> Iterator[tuple[str, str, bool]]:
    """The AdmissionChecks of a ClusterQueue: path and text of each name, and whether it is for some flavors only."""
    for index, name in enumerate(paths.elements(spec.get("admissionChecks"))):
        if isinstance(name, str):
            yield f"/spec/admissionChecks/{index}", name, False
    strategy = paths.mapping(spec.get("admissionChecksStrategy"))
    groups = map(paths.mapping, paths.elements(spec.get("resourceGroups")))
    flavors = [paths.mapping(each).get("name") for group in groups for each in paths.elements(group.get("flavors"))]
    for index, each in enumerate(map(paths.mapping, paths.elements(strategy.get("admissionChecks")))):
        if isinstance(name := each.get("name"), str):
            on = paths.elements(each.get("onFlavors"))
            partial = bool(on) and not all(flavor in on for flavor in flavors)
            yield f"/spec/admissionChecksStrategy/admissionChecks/{index}/name", name, partial


MULTIKUEUE: Final = "kueue.x-k8s.io/multikueue"
_PROVISIONING: Final = "kueue.x-k8s.io/provisioning-request"


class Exclusion(NamedTuple):
    """AdmissionChecks that keep their ClusterQueue inactive."""

    check: str
    """The name of one of them, which a message names."""
    reason: str
    """The words of Kueue."""
    text: str


def exclusion(checks: Sequence[tuple[str, bool]], specs: Callable[[str], Mapping[str, Any]]) -> Exclusion | None:
    """Why AdmissionChecks keep their ClusterQueue inactive (KQ:pkg/cache/scheduler/clusterqueue.go, inactiveReason).

    Args:
        checks: their names, and whether each is for some flavors only.
        specs: the spec of an AdmissionCheck; empty for an unknown one.
    """
    controllers = {name: specs(name).get("controllerName") for name, _ in checks}
    sending = [name for name, controller in controllers.items() if controller == MULTIKUEUE]
    partial = [name for name, is_partial in checks if is_partial and name in sending]
    making = [name for name, controller in controllers.items() if controller == _PROVISIONING]
    for name in sending:
        if wrong := wrong_parameters(specs(name)):
            return Exclusion(name, "AdmissionCheckInactive", f"the AdmissionCheck {name} {wrong}")
    if len(sending) > 1:
        text = f"{' and '.join(sending[:2])} both send its workloads to other clusters"
        return Exclusion(sending[1], "MultipleMultiKueueAdmissionChecks", text)
    if partial:
        text = f"{partial[0]} sends workloads to other clusters, but only those of some flavors"
        return Exclusion(partial[0], "MultiKueueAdmissionCheckAppliedPerFlavor", text)
    if sending and making:
        text = f"{sending[0]} sends its workloads to other clusters, and {making[0]} makes nodes for them here"
        return Exclusion(making[0], "MultiKueueWithProvisioningRequest", text)
    return None


def wrong_parameters(spec: Mapping[str, Any]) -> str:
    """Why Kueue cannot use the parameters of a check of MultiKueue (KQ:pkg/util/admissioncheck, refValidForGK)."""
    if spec.get("controllerName") != MULTIKUEUE:
        return ""
    parameters = paths.mapping(spec.get("parameters"))
    if not parameters:
        return "has no parameters, and MultiKueue needs a MultiKueueConfig there"
    group, kind = paths.text(parameters.get("apiGroup")), paths.text(parameters.get("kind"))
    if (group, kind) != (KUEUE_GROUP, "MultiKueueConfig"):
        full = f"{kind}.{group}"[:200]
        return f"has parameters of the kind {full}, and MultiKueue takes only a MultiKueueConfig.{KUEUE_GROUP}"
    return ""


def one_cluster(named: Iterable[tuple[str, str]], located: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Clusters of MultiKueue that are one under two names, each with its place and what follows.

    Kueue deletes the copies of a job in all clusters but the chosen one (KQ:pkg/controller/admissionchecks/multikueue/
    workload.go, reconcileGroup).

    Args:
        named: the paths and the names of the clusters of a MultiKueueConfig.
        located: the places of the kubeconfig of each cluster.
    """
    first: dict[str, str] = {}
    for path, name in named:
        location = "".join(located.get(name, ())[:1])
        key = location or f"the cluster {name}"
        before = first.get(key)
        first.setdefault(key, name)
        if before == name:
            yield path, f"names the cluster {name[:100]} twice, which the API server refuses"
        elif before is not None:
            where = f"which have one kubeconfig ({location[:100]}) and so are one cluster"
            text = f"names the clusters {before[:100]} and {name[:100]}, {where}"
            yield path, f"{text}: MultiKueue deletes in one of them the job that runs in the other"
