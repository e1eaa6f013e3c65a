"""The fields of configurations in ConfigMaps of the device stack: rows.

Sources: api/config/v1/*.go of NVIDIA/k8s-device-plugin 1b826ac; api/spec/v1/spec.go of NVIDIA/mig-parted bd7160f;
pkg/scheduler/conf/scheduler_conf.go of volcano-sh/volcano ed72c7c and of NVIDIA/KAI-Scheduler 72de64f;
pkg/scheduler/config and pkg/device of Project-HAMi/HAMi 4707fb0, and its knownMigGeometries before 2.7.
"""

import difflib
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from usher import errors, paths
from usher.documents import reader
from usher.kinds.reading.fields import MAP, TAKES_ANYTHING, TYPE, Fields, Known, leaves_of

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
