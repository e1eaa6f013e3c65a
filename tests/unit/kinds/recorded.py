"""The registry's record of every kind as plain data: `tests/data/kinds.json` holds it, one entry for each kind.

Run with `tests` on PYTHONPATH, this module writes the file: `python -m unit.kinds.recorded`.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from usher import paths
from usher.check import cluster_objects
from usher.kinds import registry
from usher.kinds.kind import FactKind, Key, Pods

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
    return {"/".join(key): _kind(key) for key in sorted(registry.BY_KEY)}


def document() -> dict[str, Any]:
    """All of it, as it is read from the file."""
    value: dict[str, Any] = json.loads(json.dumps({"listed": listed(), "kinds": kinds()}))
    return value


def listed() -> list[str]:
    """The order in which an audit lists the kinds."""
    resources = [cluster_objects.Resource(kind=kind, version=kind.versions[0]) for kind in registry.LISTED]
    return [resource.name for resource in sorted(resources, key=cluster_objects._owners_first)]


def _kind(key: Key) -> dict[str, Any]:
    kind, pods, fact = registry.BY_KEY[key], registry.PODS.get(key), registry.FACTS.get(key)
    return {
        "plural": kind.plural,
        "cluster scoped": kind.cluster_scoped,
        "listed": kind.listed,
        "own webhook": kind.own_webhook,
        "pods": None if pods is None else {"versions": kind.versions, **_pods(pods)},
        "rules": None
        if key not in registry.SHAPES
        else {"versions": kind.versions, "key": registry.SHAPES[key].key, "shape": registry.SHAPES[key].type.__name__},
        "facts": None if fact is None else _facts(fact),
        "scale": registry.SCALES.get(key, ""),
        "autoscaler": None if kind.autoscaler is None else {"versions": kind.versions},
        "finished": [
            status
            for status in ENDED.get("/".join(key), ENDED.get(key[1], ()) if key[0] != "batch" else ())
            if registry.is_finished(
                {"apiVersion": f"{key[0]}/v1" if key[0] else "v1", "kind": key[1], "status": status}
            )
        ],
    }


def _facts(fact: FactKind) -> dict[str, Any]:
    return {
        "versions": fact.versions,
        "kept": sorted(_leaves(fact.keep(PROBE))),
        "momentary": sorted(fact.momentary),
        "changes often": fact.changes_often,
        "presence only": fact.presence_only,
    }


def _leaves(value: paths.Json, path: str = paths.ROOT) -> Iterator[str]:
    """Where something stands in a value that holds nothing else."""
    if not isinstance(value, dict | list) or not value:
        yield path
        return
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in entries:
        yield from _leaves(inner, paths.join(path, key))


def _pods(pods: Pods) -> dict[str, Any]:
    return {
        **{field: getattr(pods, field) for field in WORKLOAD_FIELDS},
        "gang places": {
            field: getattr(pods.gang_places, field) for field in sorted(pods.gang_places.__struct_fields__)
        },
        "lifecycle places": {
            field: getattr(pods.lifecycle_places, field) for field in sorted(pods.lifecycle_places.__struct_fields__)
        },
        "kueue unit": pods.kueue_unit.value,
        "starts": pods.starts.value,
        "shrinks": pods.shrinks,
        "minimum from": pods.minimum_from,
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps(document(), indent=1, sort_keys=True) + "\n", encoding="utf-8")
