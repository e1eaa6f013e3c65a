"""The parts of a pod template, each with its place in the object, as a kind returns them, and the values of charts."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from msgspec import Struct, field

from usher import errors, model, paths
from usher.documents import reader

ONE = model.Count(minimum=1, maximum=1)

DEFAULT_SCHEDULER: Final = model.Scheduler(name="default-scheduler", reason="the template names no scheduler")

FIRST = "*"
"""Used instead of a name: the first container does the work."""

ALL_REQUESTING = ""
"""Used instead of a name: every container that asks for accelerators does the work."""


AS_CONFIGURED = "as configured"
"""Used instead of a scheduler: the operator makes a PodGroup for the scheduler that it is configured with."""


JOB_CONTROLLER = "job-controller"
"""Used instead of a scheduler: the Job controller makes the PodGroup of Kubernetes for `spec.scheduling`."""


class Place(NamedTuple):
    """A value and its path."""

    value: object
    path: str


NOWHERE = Place(None, "")


class ContainerPlace(NamedTuple):
    """A container outside the three lists of a pod spec."""

    value: Mapping[str, paths.Json]
    path: str
    type: model.ContainerType = model.ContainerType.APP
    name: str = ""
    """For containers that have no name of their own."""
    requests: Place | None = None
    """Set if a kind does not keep them in `resources.requests`; other fields may make up the value."""
    limits: Place | None = None
    environment: tuple[Place, ...] | None = None
    """Lists of variables instead of `env`; the last of several variables with one name counts."""
    environment_path: str = ""
    """The list for further variables, if it is not `env` of the container."""
    reserved_environment: frozenset[str] = frozenset()
    """Variables that must not be added there, of every operator that may run the container; written as in `Traits`."""
    resources_path: str = ""
    inherited_resources: Mapping[str, paths.Json] | None = None
    """The object for further requests and limits, if it is not `resources` of the container."""
    not_repeated: tuple[str, ...] = ()
    """As in `model.Container`."""
    field_places: Mapping[str, str] = MappingProxyType({})
    """Paths of fields that stand elsewhere than in the container, by their path below it."""
    program_path: str = ""
    """The object with its command and arguments, if it is not the container."""


class Traits(NamedTuple):
    """How the operator of a kind changes its pods beyond their template."""

    trains: str = ALL_REQUESTING
    """Name of the container that does the work."""
    operator_environment: frozenset[str] = frozenset()
    """Variables that the operator sets itself; `*` ends a prefix (docs/domain/kinds.md#variables-of-operators)."""
    ranks_inherit_environment: bool = True
    """Whether the ranks see the environment of their container."""
    scheduler: model.Scheduler | None = None
    """The scheduler of pods whose template does not name one."""
    pod_group: str = ""
    """The scheduler for which the operator makes a PodGroup of the pods, if the kind determines it."""
    changeable: bool = True
    """Whether changes of the template reach the pods."""
    fully_known: bool = True
    """False if the pods also depend on unknown objects."""

    parallelism: model.ModelParallelism | None = None
    """The model server that the operator starts in a container with accelerators that has no command."""
    processes: model.Processes | None = None
    """The processes that the operator makes a launcher start in each pod."""


PLAIN = Traits()


class ClaimPlace(NamedTuple):
    """A device claim that an operator makes for each of its pods. Templates do not name it."""

    spec: Mapping[str, paths.Json]
    """A ResourceClaimSpec."""
    path: str
    """Path of the field that makes the operator create the claim."""
    container: str = ""
    """Name of the container that gets the devices; empty for the first."""


class Template(Struct, frozen=True, kw_only=True):
    """The parts of a pod template, and facts about its pods that only the kind knows."""

    name: str
    path: str
    spec: Place
    """A pod spec, or an object that holds the fields of one."""
    metadata: Place = NOWHERE
    """The object with `labels` and `annotations`."""
    own_metadata_path: str = ""
    """As in `model.PodSet`."""
    count: model.Count = ONE
    traits: Traits = PLAIN
    containers: tuple[ContainerPlace, ...] | None = None
    """Used instead of the three lists of the spec."""
    fields: Mapping[str, Place] = field(default_factory=dict)
    """Fields of the pod spec that are not in `spec`."""
    requests: tuple[model.AcceleratorRequest, ...] = ()
    """The accelerators that the pods request by a route that only the kind knows."""
    claims: tuple[ClaimPlace, ...] = ()
    overrides: model.Way | None = None
    """The way to the scheduling fields of a template that cannot be changed itself."""
    placed: bool = False
    """Whether it is a Pod that the cluster knows already, so that the scheduler may have chosen its node."""
    inner_kind: tuple[str, str] | None = None
    """Group and kind of the inner object that it belongs to, in a kind that holds objects of any kind."""
    inner_path: str = ""
    """The path of that object."""
    waits: bool = False
    """Whether the template itself shows that its pods wait for each other."""
    in_turns: bool = False
    """As in `model.PodSet`."""
    later: bool = False
    """As in `model.PodSet`."""
    groups: int = 1
    """As in `model.PodSet`."""
    together: int | None = None
    """As in `model.PodSet`."""
    unit: model.Unit | None = None
    """As in `model.PodSet`."""
    serves_as: str = ""
    """The words of the object for what the pods do in serving a model."""
    written: Mapping[str, str] = field(default_factory=dict)
    """As in `model.PodSet`."""


TERMS: Final = "nodeSelectorTerms"
"""The key in `fields` for terms of required node affinity, in kinds that have them without an affinity around them."""

LISTS: Final = (
    ("initContainers", model.ContainerType.INIT),
    ("containers", model.ContainerType.APP),
    ("ephemeralContainers", model.ContainerType.EPHEMERAL),
)
"""The three lists of containers, init containers first: the kubelet starts them in this order, which sums depend on."""


class Release(NamedTuple):
    """A chart that a controller installs, with all values that its user gives."""

    chart: str
    named: str
    """The path of its name."""
    values: paths.Object
    path: str
    """The object or the text of the values; the object above them in a release without values."""

    def as_object(self, value: paths.Object) -> paths.Object:
        """The chart of the object `value` as an object, whose `kind` is the name of the chart."""
        metadata = value.get("metadata")
        return {"apiVersion": "chart/v1", "kind": self.chart, "metadata": metadata, "values": self.values}

    def place(self, value: paths.Object, path: str) -> str:
        """The place in the object `value` of a path of the chart; the nearest one above it for a default."""
        if not path.startswith("/values"):
            return self.named
        whole = f"{self.path}{path.removeprefix('/values')}"
        while not paths.exists(value, whole):
            whole = whole.rpartition("/")[0]
        return whole


class _Installs(NamedTuple):
    """Where a kind says what it installs. Places are below one of `above`; `*` stands for any entry of a list."""

    above: tuple[str, ...]
    chart: tuple[str, ...]
    values: str = ""
    text: str = ""
    settings: str = ""
    """Single values by their paths: a list with names and values, or an object."""
    elsewhere: tuple[str, ...] = ()
    """Values in other objects or files; with any, usher does not know the values."""


_SOURCE: Final = _Installs(
    ("/spec/source", "/spec/sources/*"),
    ("/chart",),
    "/helm/valuesObject",
    "/helm/values",
    "/helm/parameters",
    ("/helm/valueFiles", "/helm/fileParameters"),
)
RELEASES: Final[Mapping[tuple[str, str], _Installs]] = {
    ("helm.toolkit.fluxcd.io", "HelmRelease"): _Installs(
        ("/spec",), ("/chart/spec/chart", "/chartRef/name"), "/values", elsewhere=("/valuesFrom",)
    ),
    ("argoproj.io", "Application"): _SOURCE,
    ("argoproj.io", "ApplicationSet"): _SOURCE._replace(
        above=tuple(f"/spec/template{each}" for each in _SOURCE.above), elsewhere=(*_SOURCE.elsewhere, "/templatePatch")
    ),
    ("helm.cattle.io", "HelmChart"): _Installs(
        ("/spec",), ("/chart",), "/values", "/valuesContent", "/set", ("/valuesSecrets",)
    ),
    ("fleet.cattle.io", "HelmOp"): _Installs(
        ("/spec/helm",), ("/chart",), "/values", elsewhere=("/valuesFrom", "/valuesFiles")
    ),
    ("addons.cluster.x-k8s.io", "HelmChartProxy"): _Installs(("/spec",), ("/chartName",), text="/valuesTemplate"),
    ("config.projectsveltos.io", "ClusterProfile"): _Installs(
        ("/spec/helmCharts/*",), ("/chartName",), text="/values", elsewhere=("/valuesFrom",)
    ),
    ("k0s.k0sproject.io", "ClusterConfig"): _Installs(
        ("/spec/extensions/helm/charts/*",), ("/chartname",), text="/values"
    ),
}
"""Kinds of controllers that install charts."""


def releases_of(value: paths.Object) -> Iterator[Release]:
    """The charts that an object installs with values that are all in the object."""
    installs = RELEASES.get((paths.text(value.get("apiVersion")).rpartition("/")[0], paths.text(value.get("kind"))))
    for above in installs.above if installs else ():
        for path in _parts(value, above):
            release = _release(value, path, installs) if installs else None
            if release is not None:
                yield release


def _release(value: paths.Object, path: str, installs: _Installs) -> Release | None:
    def found(place: str) -> paths.Json:
        whole = f"{path}{place}"
        return paths.resolve(value, whole) if place and paths.exists(value, whole) else None

    named = next((place for place in installs.chart if paths.text(found(place))), "")
    if not named or any(found(each) for each in installs.elsewhere):
        return None
    text, values = paths.text(found(installs.text)), found(installs.values)
    if not values and text:
        values = _values_in(text)
        if values is None:
            return None
    used = installs.values if not text else installs.text
    settings = _settings(found(installs.settings))
    if settings is None:
        return None
    merged = _merged(paths.mapping(values), settings)
    name = paths.text(found(named)).rpartition("/")[2]
    return Release(name, f"{path}{named}", merged, f"{path}{used if found(used) is not None else ''}")


def _parts(value: paths.Object, place: str) -> Iterator[str]:
    above, star, _ = place.partition("/*")
    if paths.exists(value, above):
        inside = paths.resolve(value, above)
        yield from (f"{above}/{index}" for index, _ in enumerate(paths.elements(inside))) if star else (above,)


def _values_in(text: str) -> paths.Object | None:
    try:
        found = reader.parse(text, source="values") if "{{" not in text else []
    except errors.ManifestError:
        return None
    return found[0].value if len(found) == 1 and isinstance(found[0].value, dict) else None


_DEEPEST: Final = 16


def _settings(given: paths.Json) -> paths.Object | None:
    """Values by their paths, as an object; None for one in a list or with a dot in its name."""
    named = {paths.text(each.get("name")): each.get("value") for each in map(paths.mapping, paths.elements(given))}
    result: paths.Object = {}
    for name, each in given.items() if isinstance(given, dict) else named.items():
        if not name or "[" in name or "\\" in name or name.count(".") > _DEEPEST:
            return None
        *above, last = name.split(".")
        inner = result
        for key in above:
            inner = paths.mapping(inner.setdefault(key, {}))
        inner[last] = {"true": True, "false": False}.get(str(each), each)
    return result


def _merged(one: paths.Object, other: paths.Object) -> paths.Object:
    """Two objects in one, in which the values of the second one count."""
    both = {
        key: _merged(paths.mapping(one[key]), paths.mapping(each))
        if isinstance(one.get(key), dict) and isinstance(each, dict)
        else each
        for key, each in other.items()
    }
    return {**one, **both}


_OF_POLICY: Final[paths.Object] = {
    "driver": {"enabled": True, "repository": "nvcr.io/nvidia", "image": "driver"},
    "toolkit": {"enabled": True},
    "devicePlugin": {"enabled": True},
    "dcgmExporter": {"enabled": True},
    "migManager": {"enabled": True},
    "mig": {"strategy": "single"},
}
"""Values that all versions of the chart have (deployments/gpu-operator/values.yaml of NVIDIA/gpu-operator)."""


def policy_of_release(release: Release) -> paths.Object | None:
    """The ClusterPolicy that the chart of NVIDIA's operator makes of its values; None for another chart."""
    spec = _merged(_OF_POLICY, release.values)
    if release.chart != "gpu-operator" or paths.mapping(spec.get("clusterPolicy")).get("deployCR") is False:
        return None
    driver = dict(paths.mapping(spec["driver"]))
    if paths.mapping(driver.get("nvidiaDriverCRD")).get("enabled") is True:
        driver["useNvidiaDriverCRD"] = True
    return {
        "apiVersion": "nvidia.com/v1",
        "kind": "ClusterPolicy",
        "metadata": {"name": "cluster-policy"},
        "spec": {**spec, "driver": driver},
    }


_MAPPED: Final = {
    "gpu-operator": ("/devicePlugin/config", "/migManager/config", "/dcgmExporter/config"),
    "nvidia-device-plugin": ("/config",),
}
"""Charts that make ConfigMaps, and where their values have the name of one and its `data` or `map`."""


def config_maps_of_release(release: Release) -> Iterator[paths.Object]:
    """The ConfigMaps that charts of NVIDIA make of their values; their namespace is unknown."""
    for place in _MAPPED.get(release.chart, ()):
        config = paths.mapping(paths.resolve(release.values, place)) if paths.exists(release.values, place) else {}
        data = config.get("map") or (config.get("data") if config.get("create") is True else None)
        name = paths.text(config.get("name")) or f"{release.chart}-configs"
        if isinstance(data, dict):
            yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}
