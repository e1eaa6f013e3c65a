"""The fields of pod specs and containers that rules read, beside resources and environment."""

import posixpath
import re
from typing import Annotated, Final, NotRequired

from pydantic import AfterValidator, TypeAdapter, with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.reading.shapes import STRICT, Quantity

_LINKS: Final = re.compile(
    r"(?:/proc/(?:[0-9]{1,10}|self|thread-self)/(?:root|cwd)(?=/|\Z))*(?:/var(?=/run(?:/|\Z)))?", re.ASCII
)
"""Links on every node: the root of a process of the node is the root of the node, and /var/run is /run."""


def clean(path: str) -> str:
    """The path without repeated and trailing slashes and without `.` and `..`, as container runtimes read it.

    A relative path counts as one from the root. An empty path stays empty.
    """
    plain = path.startswith("/") and "//" not in path and "/." not in path and not path.endswith("/")
    # POSIX reads three or more leading slashes as one, but keeps two.
    return path if plain or not path else posixpath.normpath("///" + path)


def on_node(path: str) -> str:
    """The place on a node that a path leads to, after resolving the links of every node."""
    place = clean(path)
    if not place.startswith(("/proc/", "/var/run")):
        return place
    links = _LINKS.match(place)
    return (place[links.end() :] or "/") if links is not None else place


@with_config(STRICT)
class Present(TypedDict):
    """A field for which only its presence counts, not its value."""


@with_config(STRICT)
class HostPath(TypedDict):
    path: NotRequired[str]
    type: NotRequired[str]
    place: NotRequired[str]
    """Where the path leads to; not of the manifest."""


def _with_place(value: HostPath) -> HostPath:
    value.pop("place", None)
    if "path" in value:
        value["place"] = on_node(value["path"])
    return value


@with_config(STRICT)
class EmptyDir(TypedDict):
    medium: NotRequired[str]
    sizeLimit: NotRequired[Quantity]


@with_config(STRICT)
class InlineDriver(TypedDict):
    """A CSI volume that the pod describes itself."""

    driver: NotRequired[str]


@with_config(STRICT)
class NamedClaim(TypedDict):
    claimName: NotRequired[str]


@with_config(STRICT)
class Volume(TypedDict):
    name: NotRequired[str]
    hostPath: NotRequired[Annotated[HostPath, AfterValidator(_with_place)]]
    emptyDir: NotRequired[EmptyDir]
    csi: NotRequired[InlineDriver]
    persistentVolumeClaim: NotRequired[NamedClaim]
    ephemeral: NotRequired[Present]
    nfs: NotRequired[Present]
    configMap: NotRequired[Present]


@with_config(STRICT)
class TopologySpread(TypedDict):
    topologyKey: NotRequired[str]
    whenUnsatisfiable: NotRequired[str]
    maxSkew: NotRequired[int]


@with_config(STRICT)
class AffinityTerm(TypedDict):
    topologyKey: NotRequired[str]


@with_config(STRICT)
class PodAffinity(TypedDict):
    requiredDuringSchedulingIgnoredDuringExecution: NotRequired[list[AffinityTerm]]


@with_config(STRICT)
class NodeRequirement(TypedDict):
    key: NotRequired[str]
    operator: NotRequired[str]
    values: NotRequired[list[str]]


@with_config(STRICT)
class NodeSelectorTerm(TypedDict):
    matchExpressions: NotRequired[list[NodeRequirement]]


@with_config(STRICT)
class NodeSelector(TypedDict):
    nodeSelectorTerms: NotRequired[list[NodeSelectorTerm]]


@with_config(STRICT)
class NodeAffinity(TypedDict):
    requiredDuringSchedulingIgnoredDuringExecution: NotRequired[NodeSelector]


@with_config(STRICT)
class Affinity(TypedDict):
    nodeAffinity: NotRequired[NodeAffinity]
    podAffinity: NotRequired[PodAffinity]
    podAntiAffinity: NotRequired[PodAffinity]


@with_config(STRICT)
class PodResourceClaim(TypedDict):
    name: NotRequired[str]
    resourceClaimName: NotRequired[str]


@with_config(STRICT)
class PodSpec(TypedDict):
    hostPID: NotRequired[bool]
    hostIPC: NotRequired[bool]
    hostNetwork: NotRequired[bool]
    shareProcessNamespace: NotRequired[bool]
    volumes: NotRequired[list[Volume]]
    topologySpreadConstraints: NotRequired[list[TopologySpread]]
    affinity: NotRequired[Affinity]
    priority: NotRequired[int]
    terminationGracePeriodSeconds: NotRequired[int]
    activeDeadlineSeconds: NotRequired[int]
    resourceClaims: NotRequired[list[PodResourceClaim]]


@with_config(STRICT)
class Capabilities(TypedDict):
    add: NotRequired[list[str]]


@with_config(STRICT)
class SecurityContext(TypedDict):
    privileged: NotRequired[bool]
    capabilities: NotRequired[Capabilities]


@with_config(STRICT)
class VolumeMount(TypedDict):
    name: NotRequired[str]
    mountPath: NotRequired[Annotated[str, AfterValidator(clean)]]
    """In its plainest spelling."""
    readOnly: NotRequired[bool]


@with_config(STRICT)
class VolumeDevice(TypedDict):
    name: NotRequired[str]
    devicePath: NotRequired[str]


@with_config(STRICT)
class Probe(TypedDict):
    initialDelaySeconds: NotRequired[int]
    periodSeconds: NotRequired[int]
    timeoutSeconds: NotRequired[int]
    failureThreshold: NotRequired[int]


@with_config(STRICT)
class Sleep(TypedDict):
    seconds: NotRequired[int]


@with_config(STRICT)
class Command(TypedDict):
    command: NotRequired[list[str]]


@with_config(STRICT)
class BeforeStop(TypedDict):
    sleep: NotRequired[Sleep]
    exec: NotRequired[Command]
    sleepSeconds: NotRequired[int]
    """How long it sleeps, by its field or its command; not of the manifest."""


_SLEEPS: Final = re.compile(
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


@with_config(STRICT)
class Lifecycle(TypedDict):
    preStop: NotRequired[Annotated[BeforeStop, AfterValidator(_with_sleep)]]


@with_config(STRICT)
class Container(TypedDict):
    securityContext: NotRequired[SecurityContext]
    volumeMounts: NotRequired[list[VolumeMount]]
    volumeDevices: NotRequired[list[VolumeDevice]]
    readinessProbe: NotRequired[Probe]
    startupProbe: NotRequired[Probe]
    livenessProbe: NotRequired[Probe]
    envFrom: NotRequired[list[Present]]
    lifecycle: NotRequired[Lifecycle]


POD_SPEC: Final = TypeAdapter(PodSpec)
CONTAINER: Final = TypeAdapter(Container)
POD_SPEC_FIELDS: Final = frozenset(PodSpec.__annotations__)
CONTAINER_FIELDS: Final = frozenset(Container.__annotations__)
