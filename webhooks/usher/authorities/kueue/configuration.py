"""Reads Kueue's ConfigMap: which resources it counts, which kinds it queues (docs/domain/kueue.md#integrations).

KQ:apis/config/v1beta2/configuration_types.go; v1beta1 has the same fields.
"""

from collections.abc import Iterator, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Final, NamedTuple

from usher import errors, paths, quantities
from usher.authorities.kueue import versions
from usher.authorities.kueue.queues import problems_of
from usher.authorities.kueue.versions import Version
from usher.dataclass import dataclass
from usher.documents import reader
from usher.kinds.reading.values import Reading

SOURCE: Final = "kueue-manager-config"

_FRAMEWORKS_WITHOUT_A_LIST: Final = ("batch/job",)

_TOPOLOGY: Final = "TopologyAwareScheduling"

_NEVER_KUBES: Final[paths.Json] = {
    "matchExpressions": [
        {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system", "kueue-system"]}
    ]
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Transformation:
    """The resources that Kueue counts for each unit of one resource."""

    outputs: Mapping[str, int]
    """Factors in nanos, by resource; a factor may be negative."""
    keeps_input: bool = True
    multiplied_by: str = ""
    """A resource whose quantity is another factor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """Kueue's configuration. Missing fields have Kueue's defaults."""

    known: bool = False
    version: Version | None = None
    """The version of Kueue; None where it is unknown."""
    topology_gate: bool | None = None
    """The feature gate TopologyAwareScheduling; None where the configuration does not set it."""
    frameworks: tuple[str, ...] | None = None
    """`integrations.frameworks`; None where it is unknown."""
    external_frameworks: tuple[str, ...] = ()
    """In the form Kind.version.group."""
    excluded_prefixes: tuple[str, ...] = ()
    transformations: Mapping[str, Transformation] = field(default_factory=lambda: MappingProxyType({}))
    ignores_undeclared: bool = False
    """Whether workloads may ask for resources that the queue does not cover."""
    device_classes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """The resource that counts whole devices of a class, by class."""
    mapped_classes: frozenset[str] = frozenset()
    """All device classes that Kueue counts, as whole devices or in another way."""
    queues_unlabelled: bool = False
    """Whether Kueue holds back jobs that do not name a queue."""
    namespace_selector: paths.Json = None
    """Selects the namespaces whose jobs Kueue manages. Not None where the configuration is known."""
    problems: tuple[str, ...] = ()

    @property
    def places_by_topology(self) -> bool:
        """Whether Kueue places pods by topology; assumed where it is unknown."""
        return versions.places_by_topology(self.version, gate=self.topology_gate) is not False


UNKNOWN: Final = Configuration()


def read(text: object) -> Configuration:
    """The configuration in a text. Its problems list unreadable fields."""
    if not isinstance(text, str):
        return Configuration(problems=(f"ConfigMap {SOURCE} contains no configuration",))
    try:
        documents = reader.parse(text, source=SOURCE)
    except errors.ManifestError as error:
        return Configuration(problems=(str(error),))
    reading = Reading()
    value = reading.mapping(documents[0].value if documents else None, paths.ROOT)
    if reading.unknowns:
        return read(None)
    integrations = reading.mapping(value.get("integrations"), "/integrations")
    frameworks = reading.texts(integrations.get("frameworks"), "/integrations/frameworks")
    external = reading.texts(integrations.get("externalFrameworks"), "/integrations/externalFrameworks")
    unread = bool(reading.unknowns)
    resources = reading.mapping(value.get("resources"), "/resources")
    strategy = reading.text(resources.get("quotaCheckStrategy"), "/resources/quotaCheckStrategy")
    excluded = reading.texts(resources.get("excludeResourcePrefixes"), "/resources/excludeResourcePrefixes")
    transformations = dict(_transformations(resources.get("transformations"), reading))
    mappings = list(_device_classes(resources.get("deviceClassMappings"), reading))
    gates = reading.mapping(value.get("featureGates"), "/featureGates")
    gate = reading.flag(gates.get(_TOPOLOGY), f"/featureGates/{_TOPOLOGY}") if _TOPOLOGY in gates else None
    unlabelled = reading.flag(value.get("manageJobsWithoutQueueName"), "/manageJobsWithoutQueueName")
    selector = value.get("managedJobsNamespaceSelector")
    return Configuration(
        known=True,
        topology_gate=gate,
        frameworks=None if unread else frameworks or _FRAMEWORKS_WITHOUT_A_LIST,
        external_frameworks=external,
        excluded_prefixes=excluded,
        transformations=transformations,
        ignores_undeclared=strategy == "IgnoreUndeclared",
        device_classes={mapping.name: mapping.resource for mapping in mappings if mapping.whole},
        mapped_classes=frozenset(mapping.name for mapping in mappings),
        queues_unlabelled=unlabelled,
        namespace_selector=_NEVER_KUBES if selector is None else selector,
        problems=problems_of("ConfigMap", SOURCE, reading),
    )


def _transformations(value: paths.Json, reading: Reading) -> Iterator[tuple[str, Transformation]]:
    for path, entry in reading.items(value, "/resources/transformations"):
        outputs: dict[str, int] = {}
        for name, factor in reading.mapping(entry.get("outputs"), path + "/outputs").items():
            try:
                outputs[name] = quantities.parse(factor).nanos
            except errors.QuantityError as error:
                reading.unknown(paths.join(path, "outputs", name), str(error))
        yield (
            reading.text(entry.get("input"), path + "/input"),
            Transformation(
                outputs=outputs,
                keeps_input=reading.text(entry.get("strategy"), path + "/strategy") != "Replace",
                multiplied_by=reading.text(entry.get("multiplyBy"), path + "/multiplyBy"),
            ),
        )


class _DeviceClass(NamedTuple):
    name: str
    resource: str
    whole: bool
    """Whether Kueue counts whole devices; else counters of the devices decide."""


def _device_classes(value: paths.Json, reading: Reading) -> Iterator[_DeviceClass]:
    for path, entry in reading.items(value, "/resources/deviceClassMappings"):
        resource = reading.text(entry.get("name"), path + "/name")
        for name in reading.texts(entry.get("deviceClassNames"), path + "/deviceClassNames"):
            yield _DeviceClass(name, resource, whole=not entry.get("sources"))
