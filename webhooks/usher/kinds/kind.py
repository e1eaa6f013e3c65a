"""All facts about one kind of objects, in one record; `kinds.registry` derives its tables from them.

records.yaml has the records of kinds that need code, in the order of the pages that list kinds. `scripts/generate`
writes it as JSON, because YAML takes long to read. A family of kinds adds its functions and shapes by `CODE`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum, StrEnum
from pathlib import Path
from sys import intern
from typing import Any, Final

import orjson
from msgspec import Struct, convert
from typing_extensions import TypedDict

from usher import memo, model, paths
from usher.kinds.reading.counts import ReadGrowth
from usher.kinds.reading.templates import Template
from usher.kinds.reading.values import Objects, Reading

Key = tuple[str, str]
"""Group and kind."""

Keep = Callable[[paths.Object], paths.Object]
"""Takes an object of any shape and returns a new object with only its kept fields."""


class Api(TypedDict):
    """How an API server names a kind, as keywords of its record."""

    group: str
    kind: str
    plural: str
    versions: tuple[str, ...]


def api(group: str, kind: str, plural: str, *versions: str) -> Api:
    """The names of a kind, with the versions that usher understands, the best first."""
    return Api(group=group, kind=kind, plural=plural, versions=versions)


class Facts(Struct, frozen=True, kw_only=True):
    """The part of the objects of a kind that usher keeps of a cluster, because decisions look at it."""

    keep: Keep
    momentary: frozenset[str] = frozenset()
    """Fields of the status with the current use. Remembered answers do not depend on them."""
    changes_often: bool = False
    """Whether objects change all the time; then neither the reading of workloads nor a mutation looks them up."""
    presence_only: bool = False
    """Whether usher asks for names alone, so that it never reads contents."""
    by_choice: bool = False
    """Whether the server reads this kind only if a site allows it. Elsewhere it is unknown, without a complaint."""
    from_files: bool = False
    """Whether files of facts alone have it, because a cluster has very many of them: usher asks no cluster."""


class FactKind(Facts, frozen=True, kw_only=True):
    """A kind that usher reads from a cluster, with the fields that it keeps."""

    group: str
    versions: tuple[str, ...]
    """The versions that usher understands, the best first."""
    kind: str
    plural: str
    cluster_scoped: bool = False

    @property
    def key(self) -> Key:
        return self.group, self.kind

    @property
    def resource(self) -> str:
        """The resource, as `kubectl get` takes it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


_METADATA: Final = ("name", "namespace", "uid", "labels", "deletionTimestamp")
"""The identity fields that usher keeps. Annotations are left out: kubectl keeps whole manifests in one."""


def _identity(value: paths.Object) -> paths.Object:
    metadata = value.get("metadata")
    fields = metadata if isinstance(metadata, dict) else {}
    kept: paths.Object = {key: fields[key] for key in _METADATA if key in fields}
    if isinstance(labels := kept.get("labels"), dict):
        # Thousands of nodes have the same sixty labels of feature discovery.
        kept["labels"] = {key: intern(each) if isinstance(each, str) else each for key, each in labels.items()}
    return {"apiVersion": value.get("apiVersion"), "kind": value.get("kind"), "metadata": kept}


def keeping(*pointers: str) -> Keep:
    """A function that keeps the values at these JSON Pointers, and the identity and labels of the object."""
    ways = [paths.split(pointer) for pointer in pointers]

    def keep(value: paths.Object) -> paths.Object:
        result = _identity(value)
        for way in ways:
            _copy(value, result, way)
        return result

    return keep


def _copy(source: paths.Json, target: paths.Object, way: list[str]) -> None:
    key, *rest = way
    if not isinstance(source, dict) or key not in source:
        return
    if not rest:
        target[key] = source[key]
        return
    inner = target.setdefault(key, {})
    if isinstance(inner, dict):
        _copy(source[key], inner, rest)


_KEEP_SPEC_AND_AGE: Final = keeping("/metadata/creationTimestamp", "/spec")

CONFIG_MAP: Final[Key] = ("", "ConfigMap")
DAEMON_SET: Final[Key] = ("apps", "DaemonSet")
DEFINITION: Final[Key] = ("apiextensions.k8s.io", "CustomResourceDefinition")

KUEUE_CONFIGURATION: Final = ("kueue-system", "kueue-manager-config")
"""Namespace and name of the ConfigMap from which Kueue reads its own configuration, where it is installed as usual."""

KUEUE_CONFIGURATION_KEY: Final = "controller_manager_config.yaml"


def keep_kueue_configuration(value: paths.Object) -> paths.Object:
    """The name of a ConfigMap, and also the text if it is Kueue's own configuration."""
    result = _identity(value)
    metadata = value.get("metadata")
    if isinstance(metadata, dict) and (metadata.get("namespace"), metadata.get("name")) == KUEUE_CONFIGURATION:
        _copy(value, result, ["data", KUEUE_CONFIGURATION_KEY])
    return result


_OPEN_VARIABLES: Final = ("CUDA_", "NCCL_", "NVIDIA_")
"""Prefixes of environment variables that rules read; the values of all others may be secrets."""

_SECRETIVE: Final = memo.pattern("API_?KEY|ACCESS_?KEY|TOKEN|SECRET|PASSW|CREDENTIAL")
"""Names whose values are secrets in spite of their prefix: NVIDIA_API_KEY."""


def keep_spec_without_secrets(value: paths.Object) -> paths.Object:
    """The spec without values of environment variables that rules do not read: they may be secrets; and its age, by
    which KServe chooses a runtime.
    """
    result = _KEEP_SPEC_AND_AGE(value)
    return result if "spec" not in result else {**result, "spec": _without_values(result["spec"])}


def _without_values(value: paths.Json) -> paths.Json:
    if isinstance(value, list):
        return [_without_values(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: [_variable(each) for each in item] if key == "env" and isinstance(item, list) else _without_values(item)
        for key, item in value.items()
    }


def _variable(entry: paths.Json) -> paths.Json:
    name = entry.get("name") if isinstance(entry, dict) else None
    if not isinstance(entry, dict):
        return entry
    if isinstance(name, str) and name.startswith(_OPEN_VARIABLES) and not _SECRETIVE.search(name):
        return entry
    return {key: item for key, item in entry.items() if key != "value"}


Finished = Callable[[paths.Object], bool]
"""Says whether an object has run to its end; takes the whole object."""

# batch/v1 Job: Complete, Failed; kubeflow.org JobConditionType: Succeeded, Failed; JobSet: Completed, Failed.
_CONDITIONS: Final = frozenset({"Complete", "Completed", "Succeeded", "Failed"})


def finished_by_condition(value: paths.Object) -> bool:
    """Whether one of the usual conditions for a finished object is true."""
    return any(condition in _CONDITIONS for condition in _conditions(value, "True"))


def finished_by_false_condition(condition: str) -> Finished:
    """A check for kinds that fail by making a condition false, which is unknown until then (Tekton)."""
    return lambda value: finished_by_condition(value) or condition in _conditions(value, "False")


def finished_by_field(field: str, *ends: str) -> Finished:
    """A check for kinds with a status field that names how far an object has come.

    Args:
        field: JSON Pointer from the status.
        ends: values of the field for an object that has run to its end.
    """

    def finished(value: paths.Object) -> bool:
        try:
            found = paths.resolve(value, f"/status{field}")
        except LookupError:
            found = None
        return (isinstance(found, str) and found in ends) or finished_by_condition(value)

    return finished


def _conditions(value: paths.Object, wanted: str) -> Iterator[str]:
    """The types of the conditions with the wanted status, "True" or "False"."""
    status = value.get("status")
    conditions = status.get("conditions") if isinstance(status, dict) else None
    for condition in conditions if isinstance(conditions, list) else []:
        if isinstance(condition, dict) and condition.get("status") == wanted:
            yield str(condition.get("type"))


MINIMUM_OF_OWNER: Final = "scheduling.volcano.sh/group-min-member"
"""Volcano's default is 1, and makes no gang (docs/domain/volcano.md#the-schedulers-name-alone)."""

_INT32: Final = 2**31
_MOST_DIGITS: Final = 19


def minimum_of_owner(annotations: Mapping[str, str]) -> int | None:
    """The number of pods for which the group of an owner waits; None without the annotation.

    Volcano takes 1 for a text that is not a number of 32 bits (VC:pg_controller_handler.go:267-285).
    """
    written = annotations.get(MINIMUM_OF_OWNER)
    if written is None:
        return None
    digits = written.removeprefix("+")
    number = int(digits) if digits.isdecimal() and digits.isascii() and len(digits) <= _MOST_DIGITS else 1
    return number if number < _INT32 else 1


FindUnmet = Callable[[paths.Object, Objects], Iterator[model.UnreadKey]]
FindTemplates = Callable[[Mapping[str, paths.Json], Reading], Iterable[Template]]
"""Finds the pod templates in a whole object."""


class Kueue(StrEnum):
    """Whether Kueue governs a kind (docs/domain/kueue.md#integrations)."""

    DEFAULT = "yes, in its default configuration"
    OPTION = "only when its configuration names the kind"
    CHILDREN = "not itself, but what it makes"
    NEVER = "no"


class KueueUnit(Enum):
    """The part of an object that Kueue admits at once (docs/domain/kueue.md#integrations)."""

    POD = "pod"
    """Each pod by itself."""
    WHOLE = "whole"
    """All pods of the object."""
    RUN = "run"
    """All pods of one run."""
    GROUP = "group"
    """All pods of one group."""


class Starts(Enum):
    """Which pods of an object run at the same time."""

    TOGETHER = "together"
    IN_STEPS = "in steps"
    """One after the other: the kind is a graph of steps, and its controller decides about their order."""
    MAY_WAIT = "may wait"
    """Some parts may have to complete before others begin; usher does not read which."""


class Pods(Struct, frozen=True, kw_only=True):
    """How a kind makes pods. A field has no default if forgetting it would be an error that no test finds."""

    templates: FindTemplates
    template_paths: tuple[str, ...]
    """Where the templates stand, as people write field paths; for the documentation."""
    counted: str
    """How the pods are counted, in one line; for the documentation."""
    source: str
    """Where the two facts above come from, written with the keys of docs/domain/sources.md."""
    kueue_unit: KueueUnit
    starts: Starts
    shrinks: bool
    """Whether the object sets the number of pods, so that it can be made smaller pod by pod."""
    minimum_from: str
    """Annotation with the number of pods that start together, if no field has it; or empty."""
    role: model.Role = model.Role.UNKNOWN
    runs_any_program: bool = False
    """Whether the programs of its pods say more about their role than the kind does."""
    joins_its_pods: bool = False
    """Whether its pods are one system whatever they run, like the pods of a Ray cluster."""
    serves_in_parts: bool = False
    """Whether its pod sets do different work in serving a model, which a type or their names tell."""
    is_template: bool = False
    """Whether the kind makes pods only when something else refers to it."""
    template_can_change: bool = False
    """Whether every update may change the pod template (k8s.io/kubernetes pkg/apis/apps/validation and batch). Job,
    ReplicaSet and the kinds of operators keep theirs.
    """
    rolls_out: bool = False
    """Whether its controller may make new pods beside the old ones to replace them."""
    doubles: bool = False
    """Whether its controller may make all new pods before it stops an old one."""
    suspend_path: str | None = None
    """The boolean that holds the workload back."""
    kueue: Kueue = Kueue.NEVER
    kueue_keeps_empty: bool = False
    """Whether Kueue counts pod sets without pods too (KQ:pkg/controller/jobs)."""
    queue_label_path: str | None = None
    """The `metadata` whose labels Kueue reads; None where it has no integration (docs/domain/kueue.md#keys)."""
    volcano: str = ""
    """Why its pods are a gang on Volcano, for the documentation; else empty (docs/domain/volcano.md#routing)."""
    gang_places: model.GangPlaces = model.NO_GANG_PLACES
    lifecycle_places: model.LifecyclePlaces = model.NO_LIFECYCLE_PLACES
    """The fields of the best version of the kind."""
    gang_minimum_path: str | None = None
    """Path of the number of pods that start together, if the field has other effects and cannot be set for a gang."""
    gang_native: bool = False
    needs_gang: bool = False
    """Whether its pods wait for each other, so that an incomplete set only holds devices."""
    changes: str = "the pod templates"
    """The part of the object that the mutating webhook may change, and why not more; for the documentation."""


class Kind(Struct, frozen=True, kw_only=True):
    """One kind of objects. Group and kind identify it together: Job, CronJob and MPIJob exist in several groups."""

    group: str
    kind: str
    versions: tuple[str, ...]
    """The versions that usher understands, the best first. The API server has to convert objects of other versions."""
    plural: str = ""
    """Empty for kinds that no API server serves (compiled pipelines)."""
    cluster_scoped: bool = False
    listed: bool = True
    """Whether audits list its objects, and the webhook for objects without pods is called for them."""
    own_webhook: bool = False
    """Whether usher registers a separate webhook for it, with its own conditions."""
    pods: Pods | None = None
    """None for a kind that makes no pods."""
    key: str = ""
    """Its field in `input.object` of the policies, different for each kind; empty for a kind without a shape."""
    shape: str = ""
    """The row of shapes.yaml with the fields of its objects that rules read, as `module.Name`."""
    facts: Facts | None = None
    """None if usher keeps nothing of its objects."""
    scale: str = ""
    """JSON Pointer of the number that its `/scale` writes; empty for a kind without the scale subresource."""
    autoscaler: ReadGrowth | None = None
    """Reads how many replicas its objects let another object have."""
    unmet: FindUnmet | None = None
    """Finds what an object needs of others, or of what usher knows of clouds, and does not get."""
    made_for: Key = ("", "")
    """The kind whose operator makes one of its objects for each role, called OBJECT-role; empty without one."""
    owned_by: tuple[Key, ...] = ()
    """Kinds whose controllers make objects of this kind (docs/domain/kinds.md#owner-chains)."""
    owns_any_kind: bool = False
    """Whether its objects hold, and make, objects of any other kind (AppWrapper)."""
    configures_devices: bool = False
    """Whether its objects configure device plugins, so that rules judge them in exempt namespaces too."""
    bounds_nodes: bool = False
    """Whether the accelerators that its objects name limit nodes; pods do not ask for them."""
    named_by_others: bool = True
    """Whether rules look its objects up by name. If not, verdicts about other objects do not depend on them."""
    finished: Finished = finished_by_condition
    """Says whether an object has run to its end."""

    @property
    def group_and_kind(self) -> Key:
        return self.group, self.kind

    @property
    def resource(self) -> str:
        """The resource, as `kubectl get` takes it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def is_template(self) -> bool:
        """Whether it makes pods only when something else refers to it."""
        return self.pods is not None and self.pods.is_template


class Code(TypedDict, total=False):
    """The part of a record that is code."""

    templates: FindTemplates
    autoscaler: ReadGrowth
    keep: Keep
    unmet: FindUnmet


RECORDS: Final = Path(__file__).with_name("records.json")

_KEEPS: Final[Mapping[str, Keep]] = {
    "spec without secrets": keep_spec_without_secrets,
    "configuration of Kueue": keep_kueue_configuration,
}

_FIELDS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "kueue": lambda value: Kueue[value],
    "kueue_unit": lambda value: KueueUnit[value],
    "starts": lambda value: Starts[value],
    "role": model.Role,
    "template_paths": tuple,
    "gang_places": lambda value: model.GangPlaces(**value),
    "lifecycle_places": lambda value: convert(value, model.LifecyclePlaces),
}
"""How values of records become those of `Pods`; the others stay."""


def key_of(name: str) -> Key:
    """Group and kind of `Kind.group`."""
    kind, _, group = name.partition(".")
    return group, kind


def fields_of_pods(record: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of `Pods` that a record sets."""
    return {field: _FIELDS[field](value) if field in _FIELDS else value for field, value in record.items()}


def facts_of(written: Mapping[str, Any], keep: Keep | None = None) -> Facts:
    """The part of objects that a record keeps; `keep` is its code."""
    others = {field: value for field, value in written.items() if field not in ("keep", "momentary")}
    named = written.get("keep", ())
    found = keep or (_KEEPS[named] if isinstance(named, str) else keeping(*named))
    return Facts(keep=found, momentary=frozenset(written.get("momentary", ())), **others)


def recorded(code: Mapping[str, Code]) -> Iterator[Kind]:
    """The kinds of records.yaml.

    Args:
        code: the code of each, by `Kind.group`.
    """
    return (_recorded(code.get(record["kind"], {}), **record) for record in orjson.loads(RECORDS.read_bytes()))


def _recorded(code: Code, *, kind: str, versions: list[str], **record: Any) -> Kind:  # noqa: ANN401 - any field
    group, name = key_of(kind)
    pods, facts, finished = (record.pop(field, None) for field in ("pods", "facts", "finished"))
    record.update(autoscaler=code.get("autoscaler"), unmet=code.get("unmet"))
    record["owned_by"] = tuple(map(key_of, record.pop("owned_by", ())))
    if "made_for" in record:
        record["made_for"] = key_of(record["made_for"])
    if pods is not None:
        record["pods"] = Pods(templates=code["templates"], **fields_of_pods({"minimum_from": "", **pods}))
    if facts is not None:
        record["facts"] = facts_of(facts, code.get("keep"))
    if finished is not None:
        without_end = finished.get("false")
        record["finished"] = (
            finished_by_false_condition(without_end)
            if without_end
            else finished_by_field(finished["field"], *finished["ends"])
        )
    record.setdefault("plural", f"{name.lower()}s")
    return Kind(group=group, kind=name, versions=tuple(versions), **record)
