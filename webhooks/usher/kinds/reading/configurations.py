"""The fields of configurations in ConfigMaps of the device stack: rows, and what rules read of them.

These ConfigMaps have no label, and others may hold anything. So usher reads only texts that look like a configuration.

Sources: api/config/v1/*.go of NVIDIA/k8s-device-plugin 1b826ac; api/spec/v1/spec.go of NVIDIA/mig-parted bd7160f;
pkg/scheduler/conf/scheduler_conf.go of volcano-sh/volcano ed72c7c and of NVIDIA/KAI-Scheduler 72de64f;
pkg/scheduler/config and pkg/device of Project-HAMi/HAMi 4707fb0, and its knownMigGeometries before 2.7.
"""

import difflib
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Final, NamedTuple, NotRequired

import pydantic
from pydantic import AfterValidator, BeforeValidator, PlainValidator, TypeAdapter
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import errors, paths
from usher.accelerators import mig_layouts
from usher.documents import reader
from usher.kinds.reading.fields import MAP, TAKES_ANYTHING, TYPE, Fields, Known, leaves_of
from usher.kinds.reading.shapes import strict_adapter, without_nulls

_TEXT, _COUNT, _FLAG, _ANY = "string", "integer", "boolean", ""

_MOST: Final = 64 * 1024
"""Characters of a configuration that usher reads; real ones have a few hundred."""
_CLOSE: Final = 0.75
"""Likeness of a name at the top of a text by difflib, from which on the text is a configuration."""


def _any(names: str) -> dict[str, Any]:
    return dict.fromkeys(names.split(), _ANY)


_SHARES: Final = {
    "renameByDefault": _FLAG,
    "failRequestsGreaterThanOne": _FLAG,
    "resources": [{"name": _TEXT, "rename": _TEXT, "devices": _ANY, "replicas": _COUNT}],
    "replicas": _ANY,  # a check of its own judges it
}
_OF_DEVICE_PLUGIN: Final = {
    "version": _TEXT,
    "flags": {
        **_any("migStrategy failOnInitError mpsRoot nvidiaDriverRoot nvidiaDevRoot gdrcopyEnabled gdsEnabled"),
        **_any("mofedEnabled useNodeFeatureAPI deviceDiscoveryStrategy"),
        "plugin": {
            **_any("passDeviceSpecs deviceListStrategy deviceIDStrategy cdiAnnotationPrefix nvidiaCTKPath"),
            **_any("containerDriverRoot sharedDevicesAllocationPolicy"),
        },
        "gfd": _any("oneshot noTimestamp sleepInterval outputFile machineTypeFile"),
    },
    "resources": {"gpus": [_any("pattern name")], "mig": [_any("pattern name")]},
    "sharing": {"timeSlicing": _SHARES, "mps": _SHARES},
    "imex": _any("channelIDs required"),
}
_OF_MIG_PARTED: Final = {
    "version": _TEXT,
    "mig-configs": {
        MAP: [
            {
                "device-filter": _ANY,
                "devices": _ANY,
                "mig-enabled": _FLAG,
                "mig-devices": {MAP: _COUNT},
            }
        ]
    },
}
_ORDERS: Final = (
    "JobOrder Hierarchy JobReady JobPipelined TaskOrder Preemptable Reclaimable Preemptive QueueOrder Predicate "
    "BestNode NodeOrder TargetJob ReservedNodes JobEnqueued JobStarving ClusterOrder Victim Overused Allocatable "
    "HyperNodeOrder SubJobReady SubJobPipelined SubJobOrder HyperNodeGradient"
)
_OF_SCHEDULERS: Final = {
    "actions": _TEXT,
    "tiers": [
        {
            "plugins": [
                {
                    "name": _TEXT,
                    "arguments": _ANY,
                    # Volcano enables what KAI disables; Volcano spells newer ones "enabled".
                    **{f"{way}{each}": _FLAG for way in ("enable", "enabled", "disable") for each in _ORDERS.split()},
                }
            ]
        }
    ],
    "configurations": [{"name": _TEXT, "arguments": _ANY}],
    **_any("metrics queueDepthPerAction usageDBConfig"),
}
_RESOURCES: Final = "resourceCountName resourceMemoryName resourceCoreName memoryFactor"
_OF_HAMI: Final = {
    "nvidia": {
        **_any(f"{_RESOURCES} resourceMemoryPercentageName resourcePriorityName overwriteEnv defaultMemory"),
        **_any("defaultCores defaultGPUNum disableCoreLimit gpuCorePolicy runtimeClassName deviceSplitCount"),
        **_any("deviceMemoryScaling deviceCoreScaling preConfiguredDeviceMemory libCudaLogLevel enableNumaTopology"),
        "migProfileAllowlist": [_any("models profiles")],
        "knownMigGeometries": [_any("models allowedGeometries")],
    },
    **{each: _any(_RESOURCES) for each in ("amd", "hygon", "cambricon", "mthreads", "awsneuron", "vastai", "biren")},
    "metax": _any(f"{_RESOURCES} resourceVCountName resourceVMemoryName resourceVCoreName sgpuTopologyAware"),
    "kunlun": _any(f"{_RESOURCES} resourceVCountName resourceVMemoryName"),
    "enflame": {
        **_any("resourceNameGCU resourceNameDRSGCU resourceNameGCUMemory resourceNameGCUCore resourceNameVGCU"),
        **_any("resourceNameVGCUPercentage"),
    },
    **_any("iluvatar iluvatars vnpus"),
}
_OF_HAMI_NODES: Final = {
    "nodeconfig": [
        {
            **_any("name operatingmode migstrategy enablegetpreferredallocation devicesplitcount devicememoryscaling"),
            **_any("devicecorescaling preconfigureddevicememory libcudaloglevel enablenumatopology"),
            "filterdevices": _any("uuid index"),
        }
    ]
}

_ROWS: Final = (
    (
        "the device plugin",
        r"^[\"']?sharing[\"']?\s*:|\b(timeSlicing|renameByDefault|failRequestsGreaterThanOne|migStrategy)\b",
        _OF_DEVICE_PLUGIN,
    ),
    ("the MIG manager", r"\bmig-(configs|devices|enabled)\b", _OF_MIG_PARTED),
    ("the scheduler", r"^\s*actions:.*\ballocate\b(.*\n)*?.*\bname:|^tiers:", _OF_SCHEDULERS),
    ("HAMi", r"\b(resourceMemoryPercentageName|deviceMemoryScaling|resourceCountName)\b", _OF_HAMI),
    ("HAMi", r"\b(nodeconfig|devicememoryscaling|devicesplitcount)\b", _OF_HAMI_NODES),
)
"""Who reads a configuration, words that show it, and its fields."""


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
        value = _parsed(text) if found else None
        for who, _, known, number in found[:1]:
            names = known.nodes[number]
            if value and any(difflib.get_close_matches(each, names, n=1, cutoff=_CLOSE) for each in value):
                yield Configuration(key, who, value, known, number)


def _parsed(text: str) -> paths.Object | None:
    try:
        found = reader.parse(text, source="text")
    except errors.ManifestError:
        return None
    return found[0].value if len(found) == 1 and isinstance(found[0].value, dict) else None


@cache
def _known_rows() -> tuple[tuple[str, re.Pattern[str], Known, int], ...]:
    fields = Fields()
    numbers = [_number(fields, row) for _, _, row in _ROWS]
    known = Known(fields.nodes, leaves_of(fields.nodes), {}, frozenset())
    return tuple(
        (who, re.compile(words, re.MULTILINE), known, number)
        for (who, words, _), number in zip(_ROWS, numbers, strict=True)
    )


def _number(fields: Fields, row: str | list[Any] | Mapping[str, Any]) -> int:
    if isinstance(row, list):
        return -_number(fields, row[0])
    if isinstance(row, str):
        return fields.number({TYPE: row}) if row else TAKES_ANYTHING
    return fields.number({name: _number(fields, each) for name, each in row.items()})


_SHARING: Final = re.compile(r"""^["']?sharing["']?\s*:|\A\s*\{.*"sharing"\s*:""", re.MULTILINE | re.DOTALL)

_OTHERS: Final = re.compile(r"^mig-configs\s*:|^actions\s*:.*\ballocate\b", re.MULTILINE)


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
        key: value for key, value in arguments.items() if str(key).startswith("deviceshare.") and value in (True, False)
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
    layouts: NotRequired[list[mig_layouts.Problem]]
    """What is wrong with the layouts of the MIG manager; usher adds this to the manifest."""
    actions: NotRequired[str]
    """Of Volcano's or KAI's scheduler, as well as the next field."""
    tiers: NotRequired[list[SchedulerTier]]


@cache
def _adapter() -> TypeAdapter[Configured]:
    return strict_adapter(Configured)


def _read(value: object) -> Configured:
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
        wrong = list(mig_layouts.problems(first))
        return {"layouts": wrong} if wrong else {}
    try:
        return _adapter().validate_python({key: first[key] for key in ("actions", "tiers") if key in first})
    except pydantic.ValidationError:
        return {}


Texts = Annotated[
    dict[str, Annotated[Configured, PlainValidator(_read, json_schema_input_type=Configured)]],
    AfterValidator(lambda found: {key: configuration for key, configuration in found.items() if configuration}),
]
"""`data` of a ConfigMap: its configurations of devices and schedulers, and nothing of its other texts."""
