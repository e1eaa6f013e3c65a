"""Shapes: TypedDicts of the fields that rules read. Other fields are left out, and wrong types are recorded."""

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, Any, Final, NotRequired

import orjson
import pydantic
import pydantic_core
from pydantic import AfterValidator, ConfigDict, PlainValidator, TypeAdapter, with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import errors, memo, paths, quantities

_STRICT: Final = ConfigDict(strict=True, extra="ignore")


def strict_adapter(shape: type) -> TypeAdapter[Any]:
    """Reads a shape, and those in it: a text is not read as a number, and other fields are left out."""
    return TypeAdapter(with_config(_STRICT)(shape))


_MOST_WRONG: Final = 20
"""Values of wrong types in one shape that usher reports one by one; no honest manifest has more."""

Unknown = Callable[[str, str], None]
"""Takes the path of a value that cannot be read, and the reason."""


class Amount(TypedDict):
    """A quantity: equal ones have equal texts; `value` is rounded up to a whole number, `milli` to a thousandth."""

    text: str
    value: int
    milli: int
    whole: bool


@lru_cache(maxsize=1024)
def amount_of(quantity: quantities.Quantity) -> Amount:
    """The quantity as rules see it. It is shared: do not change it."""
    return {"text": str(quantity), "value": quantity.value, "milli": quantity.milli, "whole": quantity.is_whole}


def _parsed(value: object) -> Amount:
    # Only texts are cached: to the cache 1, 1.0 and True are the same key.
    try:
        return amount_of(_parse(value) if isinstance(value, str) else quantities.parse(value))
    except errors.QuantityError as error:
        raise ValueError(str(error)) from None


_parse = lru_cache(maxsize=1024)(quantities.parse)

Quantity = Annotated[Amount, PlainValidator(_parsed, json_schema_input_type=Amount)]
"""A quantity in a shape."""


def _whole_or_text(value: object) -> int | str:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError("expected a whole number or a string")
    return value


IntOrString = Annotated[int | str, PlainValidator(_whole_or_text, json_schema_input_type=int | str)]
"""A number or a text, reported once when it is neither: pydantic reports a union once for each of its types."""


class Metadata(TypedDict):
    name: NotRequired[str]
    labels: NotRequired[dict[str, str]]
    annotations: NotRequired[dict[str, str]]


def read_shape(adapter: TypeAdapter[Any], value: object, path: str, unknown: Unknown) -> Mapping[str, Any]:
    """The shape of a value; values of wrong types are recorded at their paths and left out.

    Null is the same as missing, as everywhere in Kubernetes.
    """
    try:
        # The adapter's own method would first look at a dozen options.
        found: Mapping[str, Any] = adapter.validator.validate_python(value)
    except pydantic.ValidationError as error:
        return _readable_part(adapter, value, error, path, unknown)
    return found


def _readable_part(
    adapter: TypeAdapter[Any], value: object, error: pydantic.ValidationError, path: str, unknown: Unknown
) -> Mapping[str, Any]:
    """The shape without wrong values: drops nulls first, then every value that pydantic rejects."""
    value = without_nulls(value)
    if not isinstance(value, dict):
        # The caller that splits the object into its parts reports this.
        return {}
    for _ in range(_MOST_WRONG):
        try:
            found: Mapping[str, Any] = adapter.validate_python(value)
        except pydantic.ValidationError as again:
            error = again
        else:
            return found
        for detail in error.errors(include_url=False, include_input=False):
            if _still_exists(value, detail):
                place = _existing(value, detail["loc"])
                unknown(paths.join(path, *place), _reason(detail["type"], detail["msg"]))
                _take_out(value, place)
    return {}


def _still_exists(value: object, detail: pydantic_core.ErrorDetails) -> bool:
    """Whether the place that pydantic names still exists: an object around it may be taken out already."""
    return detail["type"] == "missing" or len(_existing(value, detail["loc"])) == len(detail["loc"])


def without_nulls(value: object) -> object:
    """A value of JSON without null fields, which Kubernetes treats as missing."""
    if isinstance(value, dict):
        return {key: without_nulls(entry) for key, entry in value.items() if entry is not None}
    if isinstance(value, list):
        # Items of lists stay even if they are null, because paths contain the indexes of later items.
        return [without_nulls(entry) for entry in value]
    return value


def _existing(value: object, place: Sequence[str | int]) -> list[str | int]:
    """The leading part of a place that exists; it is shorter for missing fields and those already taken out."""
    kept: list[str | int] = []
    for key in place:
        inside: Any = value
        try:
            value = inside[key]
        except (LookupError, TypeError):
            break
        kept.append(key)
    return kept


def _take_out(value: dict[str, Any], place: list[str | int]) -> None:
    """Takes out the value at a place. An item becomes an empty object, so that later items keep their index."""
    *around, last = place or [""]
    holder: Any = value
    for key in around:
        holder = holder[key]
    if not place:
        value.clear()
    elif isinstance(holder, dict):
        del holder[last]
    elif holder[last] == {}:
        _take_out(value, around)
    else:
        holder[last] = {}


_REASONS: Final = {
    "bool_type": "expected true or false",
    "dict_type": "expected an object",
    "int_type": "expected a whole number",
    "list_type": "expected a list",
    "missing": "lacks a field that it must have",
    "string_type": "expected a string",
}


def _reason(kind: str, message: str) -> str:
    return _REASONS.get(kind) or message.removeprefix("Value error, ")


_LINKS: Final = {
    "/var/lock": "/run/lock",
    "/var/run": "/run",
    # One directory for programs and libraries: https://systemd.io/THE_CASE_FOR_THE_USR_MERGE/.
    "/bin": "/usr/bin",
    "/lib": "/usr/lib",
    "/lib32": "/usr/lib32",
    "/lib64": "/usr/lib64",
    "/libx32": "/usr/libx32",
    "/sbin": "/usr/sbin",
    # Systems made by OSTree keep what changes below /var (ostreedev/ostree docs/adapting-existing.md).
    "/var/home": "/home",
    "/var/mnt": "/mnt",
    "/var/opt": "/opt",
    "/var/roothome": "/root",
    "/var/srv": "/srv",
    "/var/usrlocal": "/usr/local",
}
"""Two names of one directory on nodes, by the name that tables of paths do not use."""

_ROOT_OF_PROCESS: Final = memo.pattern(
    r"/proc/(?:[0-9]{1,10}|self|thread-self)(?:/task/[0-9]{1,10})?/(?:root|cwd)", re.ASCII
)
"""The root of a process of the node is the root of the node."""

_ONE_OF_MANY: Final = (
    (memo.pattern(r"/proc/(?:[0-9]{1,10}|self|thread-self)(?=/|\Z)", re.ASCII), "/proc/PID"),
    (memo.pattern(r"/home/(?!kubernetes(?:/|\Z))[^/]+(?=/|\Z)"), "/home/USER"),
)
"""Directories that a node has often, and the names that tables of paths use for each of them."""


def clean_path(path: str) -> str:
    """The path without repeated and trailing slashes and without `.` and `..`, as container runtimes read it.

    A relative path counts as one from the root. An empty path stays empty.
    """
    plain = path.startswith("/") and "//" not in path and "/." not in path and not path.endswith("/")
    # POSIX reads three or more leading slashes as one, but keeps two.
    return path if plain or not path else posixpath.normpath("///" + path)


@lru_cache(maxsize=1024)
def path_on_node(path: str) -> str:
    """The place on a node that a path leads to: each step follows the links that every node has."""
    if not path:
        return path
    place = ""
    for name in path.split("/"):
        if name == "..":
            place = place.rpartition("/")[0]
        elif name not in ("", "."):
            place = f"{place}/{name}"
            place = "" if _ROOT_OF_PROCESS.fullmatch(place) is not None else _LINKS.get(place, place)
    return place or "/"


def general_path(place: str) -> str:
    """The place with PID for the number of a process and USER for a directory in /home; else the place itself."""
    for pattern, general in _ONE_OF_MANY:
        found = pattern.match(place)
        if found is not None:
            return general + place[found.end() :]
    return place


class Present(TypedDict):
    """A field for which only its presence counts, not its value."""


class HostPath(TypedDict):
    path: NotRequired[str]
    type: NotRequired[str]
    place: NotRequired[str]
    """Where the path leads to; not of the manifest."""
    general: NotRequired[str]
    """The place with PID and USER in place of one process or user; absent if it is the place; not of the manifest."""


def with_place(value: HostPath) -> HostPath:
    """A path of a node, with the place that it leads to."""
    value.pop("place", None)
    value.pop("general", None)
    if "path" in value:
        value["place"] = place = path_on_node(value["path"])
        general = general_path(place)
        if general != place:
            value["general"] = general
    return value


PathOnNode = Annotated[HostPath, AfterValidator(with_place)]
"""A path of a node in a shape."""


class EmptyDir(TypedDict):
    medium: NotRequired[str]
    sizeLimit: NotRequired[Quantity]


class InlineDriver(TypedDict):
    """A CSI volume that the pod describes itself."""

    driver: NotRequired[str]


class NamedClaim(TypedDict):
    claimName: NotRequired[str]


class Volume(TypedDict):
    name: NotRequired[str]
    hostPath: NotRequired[PathOnNode]
    emptyDir: NotRequired[EmptyDir]
    csi: NotRequired[InlineDriver]
    persistentVolumeClaim: NotRequired[NamedClaim]
    ephemeral: NotRequired[Present]
    nfs: NotRequired[Present]
    configMap: NotRequired[Present]


class LabelRequirement(TypedDict):
    key: NotRequired[str]
    operator: NotRequired[str]


class LabelSelector(TypedDict):
    matchLabels: NotRequired[dict[str, str]]
    matchExpressions: NotRequired[list[LabelRequirement]]


class TopologySpread(TypedDict):
    topologyKey: NotRequired[str]
    whenUnsatisfiable: NotRequired[str]
    maxSkew: NotRequired[int]
    minDomains: NotRequired[int]
    nodeAffinityPolicy: NotRequired[str]
    nodeTaintsPolicy: NotRequired[str]
    labelSelector: NotRequired[LabelSelector]
    matchLabelKeys: NotRequired[list[str]]


class AffinityTerm(TypedDict):
    topologyKey: NotRequired[str]
    labelSelector: NotRequired[LabelSelector]
    matchLabelKeys: NotRequired[list[str]]
    mismatchLabelKeys: NotRequired[list[str]]
    namespaces: NotRequired[list[str]]
    namespaceSelector: NotRequired[Present]


class PodAffinity(TypedDict):
    requiredDuringSchedulingIgnoredDuringExecution: NotRequired[list[AffinityTerm]]


class NodeRequirement(TypedDict):
    key: NotRequired[str]
    operator: NotRequired[str]
    values: NotRequired[list[str]]


class NodeSelectorTerm(TypedDict):
    matchExpressions: NotRequired[list[NodeRequirement]]


class NodeSelector(TypedDict):
    nodeSelectorTerms: NotRequired[list[NodeSelectorTerm]]


class NodeAffinity(TypedDict):
    requiredDuringSchedulingIgnoredDuringExecution: NotRequired[NodeSelector]


class Affinity(TypedDict):
    nodeAffinity: NotRequired[NodeAffinity]
    podAffinity: NotRequired[PodAffinity]
    podAntiAffinity: NotRequired[PodAffinity]


class PodResourceClaim(TypedDict):
    name: NotRequired[str]
    resourceClaimName: NotRequired[str]


class WindowsOptions(TypedDict):
    hostProcess: NotRequired[bool]


class PodSecurityContext(TypedDict):
    runAsUser: NotRequired[int]
    windowsOptions: NotRequired[WindowsOptions]


class PodSpec(TypedDict):
    securityContext: NotRequired[PodSecurityContext]
    hostPID: NotRequired[bool]
    hostIPC: NotRequired[bool]
    hostNetwork: NotRequired[bool]
    shareProcessNamespace: NotRequired[bool]
    enableServiceLinks: NotRequired[bool]
    volumes: NotRequired[list[Volume]]
    topologySpreadConstraints: NotRequired[list[TopologySpread]]
    affinity: NotRequired[Affinity]
    priority: NotRequired[int]
    preemptionPolicy: NotRequired[str]
    terminationGracePeriodSeconds: NotRequired[int]
    activeDeadlineSeconds: NotRequired[int]
    resourceClaims: NotRequired[list[PodResourceClaim]]


class Capabilities(TypedDict):
    add: NotRequired[list[str]]


class SecurityContext(TypedDict):
    privileged: NotRequired[bool]
    runAsUser: NotRequired[int]
    readOnlyRootFilesystem: NotRequired[bool]
    capabilities: NotRequired[Capabilities]
    windowsOptions: NotRequired[WindowsOptions]


class VolumeMount(TypedDict):
    name: NotRequired[str]
    mountPath: NotRequired[Annotated[str, AfterValidator(clean_path)]]
    """In its plainest spelling."""
    readOnly: NotRequired[bool]


class VolumeDevice(TypedDict):
    name: NotRequired[str]
    devicePath: NotRequired[str]


class Probe(TypedDict):
    initialDelaySeconds: NotRequired[int]
    periodSeconds: NotRequired[int]
    timeoutSeconds: NotRequired[int]
    failureThreshold: NotRequired[int]


class Sleep(TypedDict):
    seconds: NotRequired[int]


class Command(TypedDict):
    command: NotRequired[list[str]]


class BeforeStop(TypedDict):
    sleep: NotRequired[Sleep]
    exec: NotRequired[Command]
    sleepSeconds: NotRequired[int]
    """How long it sleeps, by its field or its command; not of the manifest."""


_SLEEPS: Final = memo.pattern(
    r"(?:\A|[\s;&|(/])sleep\s{1,9}(inf|infinity|[0-9]{1,9})(?:\.[0-9]{1,9})?([smhd]?)(?![\w.])", re.ASCII
)
_SECONDS: Final = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_FOR_EVER: Final = 10**9
_MOST_OF_COMMAND: Final = 4096
"""Characters of a command that are searched."""


def _with_sleep(value: BeforeStop) -> BeforeStop:
    """The value with the time alone: commands may hold secrets, and rules need only the time."""
    command = " ".join(value.get("exec", {}).get("command", []))[:_MOST_OF_COMMAND]
    slept = [
        _FOR_EVER if number.startswith("inf") else int(number) * _SECONDS[unit]
        for number, unit in _SLEEPS.findall(command)
    ]
    return {"sleepSeconds": min(max(value.get("sleep", {}).get("seconds", 0), sum(slept)), _FOR_EVER)}


class Lifecycle(TypedDict):
    preStop: NotRequired[Annotated[BeforeStop, AfterValidator(_with_sleep)]]


class Container(TypedDict):
    securityContext: NotRequired[SecurityContext]
    volumeMounts: NotRequired[list[VolumeMount]]
    volumeDevices: NotRequired[list[VolumeDevice]]
    readinessProbe: NotRequired[Probe]
    startupProbe: NotRequired[Probe]
    livenessProbe: NotRequired[Probe]
    envFrom: NotRequired[list[Present]]
    lifecycle: NotRequired[Lifecycle]


POD_SPEC: Final = strict_adapter(PodSpec)
CONTAINER: Final = strict_adapter(Container)
POD_SPEC_FIELDS: Final = frozenset(PodSpec.__annotations__)
CONTAINER_FIELDS: Final = frozenset(Container.__annotations__)

_FILE: Final = Path(__file__).parents[1] / "shapes.json"

_PLAIN_TYPES: Final[Mapping[str, Any]] = {
    "text": str,
    "number": int,
    "flag": bool,
    "Amount": Amount,
    "IntOrString": IntOrString,
    "Metadata": Metadata,
    "PathOnNode": PathOnNode,
    "Present": Present,
    "Quantity": Quantity,
}


@cache
def _rows() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    found: Mapping[str, Mapping[str, Mapping[str, str]]] = orjson.loads(_FILE.read_bytes())
    return found


class ShapeTypes:
    """The TypedDicts of shapes.yaml, each made when it is asked for."""

    def __init__(self, parts: Mapping[str, Mapping[str, Any]]) -> None:
        """Args: parts: what the rows of a module name beside shapes, by module: validators, and types."""
        self._parts = parts
        self._made: dict[str, type] = {}

    def named(self, name: str) -> type:
        """The type of `module.Name`."""
        if name not in self._made:
            module, _, own = name.rpartition(".")
            row, new = _rows()[module][own], TypedDict
            made: Any = new(own, {key: self._field(module, text) for key, text in self._fields(module, own)})  # type: ignore[operator]
            # The schema names a shape by its module where two modules have one of that name.
            made.__module__, made.__doc__ = f"usher.kinds.{module}", row.get("$about")
            self._made[name] = made
        return self._made[name]

    def _fields(self, module: str, name: str) -> list[tuple[str, str]]:
        row = _rows()[module][name]
        above = self._fields(module, row["$like"]) if "$like" in row else []
        return [*above, *((key, text) for key, text in row.items() if not key.startswith("$"))]

    def _field(self, module: str, text: str) -> object:
        return self._type(module, text[:-1]) if text.endswith("!") else NotRequired[self._type(module, text)]

    def _type(self, module: str, text: str) -> Any:  # noqa: ANN401 - any type
        if text.endswith("[]"):
            return list[self._type(module, text[:-2])]  # type: ignore[misc]
        if text.endswith("{}"):
            return dict[str, self._type(module, text[:-2])]  # type: ignore[misc]
        inner, _, validator = text.partition(" by ")
        if validator:
            return Annotated[self._type(module, inner), self._parts[module][validator]]
        parts = self._parts.get(module, {})
        return _PLAIN_TYPES.get(text) or parts.get(text) or self.named(f"{module}.{text}")
