"""What the registry says of every kind, as plain data: `tests/data/kinds.json` holds it, one entry for each kind.

Run with `tests` on PYTHONPATH, this module writes the file: `python -m unit.kinds.recorded`.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from usher import paths
from usher.authorities import gang_demand
from usher.authorities.kueue import demand
from usher.kinds import completion, kept_fields, registry, scales, view_registry
from usher.kinds.autoscaling import autoscalers
from usher.kinds.kind import Kind
from usher.kinds.view import View
from usher.policy import queue_outlook
from usher.scan import cluster

FILE = Path(__file__).parents[2] / "data" / "kinds.json"

PROBE: paths.Object = {
    "apiVersion": "v1",
    "kind": "Any",
    "metadata": {
        "name": "kueue-manager-config",
        "namespace": "kueue-system",
        "uid": "uid",
        "labels": {"a": "b"},
        "annotations": {"a": "b"},
        "deletionTimestamp": "now",
    },
    "spec": {
        "taints": [],
        "unschedulable": True,
        "clusterQueue": "queue",
        "stopPolicy": "None",
        "other": 1,
        "template": {"env": [{"name": "NCCL_DEBUG", "value": "INFO"}, {"name": "TOKEN", "value": "secret"}]},
    },
    "status": {
        field: {}
        for field in (
            "allocatable",
            "capacity",
            "hard",
            "used",
            "conditions",
            "flavorsReservation",
            "state",
            "allocated",
            "phase",
            "other",
        )
    },
    "data": {"controller_manager_config.yaml": "text", "other": "secret"},
    "value": 1,
    "globalDefault": True,
    "preemptionPolicy": "Never",
    "handler": "nvidia",
    "overhead": {},
    "scheduling": {},
}
"""An object with a field for everything that facts may keep of any kind."""

ENDED: dict[str, tuple[paths.Object, ...]] = {
    "Pod": ({"phase": "Succeeded"}, {"phase": "Failed"}),
    "Workflow": ({"phase": "Succeeded"}, {"phase": "Failed"}, {"phase": "Error"}),
    "AppWrapper": ({"phase": "Succeeded"}, {"phase": "Failed"}),
    "TaskRun": ({"conditions": [{"type": "Succeeded", "status": "False"}]},),
    "PipelineRun": ({"conditions": [{"type": "Succeeded", "status": "False"}]},),
    "batch.volcano.sh/Job": (
        {"state": {"phase": "Completed"}},
        {"state": {"phase": "Failed"}},
        {"state": {"phase": "Terminated"}},
    ),
    "JobFlow": ({"state": {"phase": "Succeed"}}, {"state": {"phase": "Failed"}}, {"state": {"phase": "Terminated"}}),
    "SparkApplication": ({"applicationState": {"state": "COMPLETED"}}, {"applicationState": {"state": "FAILED"}}),
    "RayJob": ({"jobDeploymentStatus": "Complete"}, {"jobDeploymentStatus": "Failed"}),
}
"""By kind, statuses with which its objects have run to their end, beside the conditions that all kinds share."""

WORKLOAD_FIELDS = (
    "template_paths",
    "counted",
    "source",
    "role",
    "is_template",
    "suspend_path",
    "kueue",
    "queue_label_path",
    "volcano",
    "gang_minimum_path",
    "gang_native",
    "needs_gang",
    "changes",
)


def kinds() -> dict[str, Any]:
    """Everything that is known of each kind, by group and kind."""
    keys = {
        *registry.BY_GROUP_AND_KIND,
        *view_registry.BY_GROUP_AND_KIND,
        *kept_fields.BY_KEY,
        *scales.FIELDS,
        *autoscalers._KINDS,
    }
    return {"/".join(key): _kind(key) for key in sorted(keys)}


def document() -> dict[str, Any]:
    """All of it, as it is read from the file."""
    value: dict[str, Any] = json.loads(json.dumps({"listed": listed(), "kinds": kinds()}))
    return value


def listed() -> list[str]:
    """The order in which an audit lists the kinds."""
    resources = [cluster.Resource(kind=kind, version=kind.versions[0]) for kind in registry.LISTED]
    return [resource.name for resource in sorted(resources, key=cluster._owners_first)]


def _kind(key: tuple[str, str]) -> dict[str, Any]:
    workload, view = registry.BY_GROUP_AND_KIND.get(key), view_registry.BY_GROUP_AND_KIND.get(key)
    fact = kept_fields.BY_KEY.get(key)
    scaled = {(scale.group, scale.kind): scale.plural for scale in scales.SCALES}
    known: list[Any] = [each for each in (workload, view, fact) if each is not None]
    autoscaler = autoscalers._KINDS.get(key)
    return {
        "plurals": sorted({each.plural for each in known} | ({scaled[key]} if key in scaled else set())),
        "scopes": sorted({str(each.cluster_scoped) for each in known}),
        "listed": view is None or view.listed,
        "own webhook": view is not None and workload is None and key[1] in {"Namespace", "Binding"},
        "pods": None if workload is None else _pods(workload),
        "rules": None if view is None else _rules(view),
        "facts": None
        if fact is None
        else {
            "versions": fact.versions,
            "kept": sorted(_leaves(fact.keep(PROBE))),
            "momentary": sorted(fact.momentary),
            "changes often": key in kept_fields.MOMENTARY,
            "presence only": fact.presence_only,
        },
        "scale": scales.FIELDS.get(key, ""),
        "autoscaler": None if autoscaler is None else {"versions": autoscaler.versions},
        "finished": [
            status
            for status in ENDED.get("/".join(key), ENDED.get(key[1], ()) if key[0] != "batch" else ())
            if completion.finished({"apiVersion": f"{key[0]}/v1", "kind": key[1], "status": status})
        ],
    }


def _leaves(value: paths.Json, path: str = paths.ROOT) -> Iterator[str]:
    """Where something stands in a value that holds nothing else."""
    if not isinstance(value, dict | list) or not value:
        yield path
        return
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in entries:
        yield from _leaves(inner, paths.join(path, key))


def _pods(kind: Kind) -> dict[str, Any]:
    key = (kind.group, kind.kind)
    unit = "pod"
    if key in demand._AS_ONE:
        unit = {"CronJob": "run", "LeaderWorkerSet": "group"}.get(kind.kind, "whole")
    starts = "together"
    if kind.group in gang_demand._ONE_AFTER_THE_OTHER:
        starts = "in steps"
    elif kind.kind in gang_demand._MAY_WAIT:
        starts = "may wait"
    return {
        "versions": kind.versions,
        **{field: getattr(kind, field) for field in WORKLOAD_FIELDS},
        "gang places": {
            field: getattr(kind.gang_places, field) for field in sorted(kind.gang_places.__dataclass_fields__)
        },
        "kueue unit": unit,
        "starts": starts,
        "shrinks": kind.kind not in queue_outlook._FIXED,
        "minimum from": "scheduling.volcano.sh/group-min-member" if key in gang_demand._READ_FROM_OWNER else "",
    }


def _rules(view: View) -> dict[str, Any]:
    return {"versions": view.versions, "key": view.key, "shape": view.shape._type.__name__}


if __name__ == "__main__":
    FILE.write_text(json.dumps(document(), indent=1, sort_keys=True) + "\n", encoding="utf-8")
