"""No published kind passes silently: GPUs in any field of a definition that may hold pods are counted or unknown."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

import builders
import kind_definitions
from shared_files import needs_shared
from unit.workloads.normalised import VOCABULARY
from usher.workloads.normalise import normalise

GPUS: Final[dict[str, Any]] = {"limits": {builders.GPU: 1}, "requests": {builders.GPU: 1}}
POD: Final[dict[str, Any]] = {"containers": [{"name": "main", "image": "registry.example.com/a:1", "resources": GPUS}]}
LEAVES: Final = {"pod": POD, "resources": GPUS, "template": {"spec": POD}}

NO_PODS: Final = {
    "Workload.kueue.x-k8s.io": "Kueue copies templates of a job that makes the pods",
    "ClusterPolicy.nvidia.com": "resources of the agents of the GPU operator, which ask for no GPU",
    "NVIDIADriver.nvidia.com": "the same",
}
"""Kinds whose pods are not those of a user, with the reason."""

ELSEWHERE: Final = re.compile(
    r"(?P<sidecar>autoscalerOptions\.resources|(etcd|redis)\.runtime\.resources|watcher\.resources)$"
    r"|(?P<refused>extraClientPods)|(?P<counted>checkpoint\.job\.podTemplate)"
    r"|(?P<other_keys>^spec\.resources$|^spec\.services\.\*\.resources$)"
    r"|(?P<of_a_task>computeResources$|[oO]verrides\[\]\.resources$|stepTemplate|taskSpec$)"
)
"""Fields that ask for no GPUs of their own: containers beside the pods that count, fields that the API server refuses,
the Job of a checkpoint (it counts as a pod of its component), fields whose keys are others, and the resources of tasks
that another object holds."""

Steps = tuple[str, ...]


def fields(schema: Any, steps: Steps = ()) -> Iterator[tuple[Steps, str]]:
    """The fields that may hold a pod spec, resources or a template, each with its leaf."""
    own = schema.get("properties", {})
    last = next((each for each in reversed(steps) if each != "[]"), "")
    if "containers" in own:
        yield steps, "pod"
    elif "limits" in own and "requests" in own:
        if not re.search("volume|claim|pvc", " ".join(steps), re.IGNORECASE):
            yield steps, "resources"
    else:
        if schema.get("x-kubernetes-preserve-unknown-fields") and re.search("(?i)template$|patch$", last):
            yield steps, "template"
        for key, each in own.items():
            yield from fields(each, (*steps, key))
        if isinstance(schema.get("items"), dict):
            yield from fields(schema["items"], (*steps, "[]"))
        if isinstance(schema.get("additionalProperties"), dict):
            yield from fields(schema["additionalProperties"], (*steps, "*"))


def least(schema: Any) -> Any:
    """The smallest value that a schema takes; numbers of pods are 2."""
    if "enum" in schema:
        return schema.get("default", schema["enum"][0])
    kind = schema.get("type")
    if kind == "object" or "properties" in schema:
        own = schema.get("properties", {})
        counts = {key: 2 for key in NUMBERS if own.get(key, {}).get("type") == "integer"}
        return {**{key: least(own[key]) for key in schema.get("required", ()) if key in own}, **counts}
    if kind == "array":
        return [least(schema["items"])]
    return {"integer": 2, "number": 1, "boolean": True}.get(kind, "a")


NUMBERS: Final = ("replicas", "minReplicas", "maxReplicas", "size", "workerReplicas", "podGroupSize")


def filled(schema: Any, steps: Steps, leaf: Any) -> Any:
    """A small value with a leaf at the end of the steps."""
    base = least(schema)
    if not steps:
        return {**base, **leaf} if isinstance(base, dict) else leaf
    step, *rest = steps
    if step == "[]":
        return [filled(schema["items"], tuple(rest), leaf)]
    if step == "*":
        return {"one": filled(schema["additionalProperties"], tuple(rest), leaf)}
    return {**(base if isinstance(base, dict) else {}), step: filled(schema["properties"][step], tuple(rest), leaf)}


def silent(file: Path) -> Iterator[str]:
    spec: Any = yaml.load(file.read_bytes(), Loader=yaml.CSafeLoader)["spec"]
    group, kind = spec["group"], spec["names"]["kind"]
    for version in spec["versions"]:
        schema = version["schema"]["openAPIV3Schema"].get("properties", {})
        own = {key: each for key, each in schema.items() if key not in ("apiVersion", "kind", "metadata", "status")}
        for key, each in own.items():
            for steps, leaf in fields(each, (key,)):
                value = {
                    **{other: least(held) for other, held in own.items()},
                    "apiVersion": f"{group}/{version['name']}",
                    "kind": kind,
                    "metadata": {"name": "a", "namespace": "ml"},
                    key: filled(each, steps[1:], LEAVES[leaf]),
                }
                place = ".".join(steps).replace(".[]", "[]")
                found = normalise(value, vocabulary=VOCABULARY)
                told = found is not None and (
                    found.unknowns or any(total.name == builders.GPU for total in found.totals)
                )
                if not told and not ELSEWHERE.search(place) and f"{kind}.{group}" not in NO_PODS:
                    yield f"{kind}.{group}/{version['name']}: {place}"


@pytest.mark.thorough
@needs_shared("published definitions")
@pytest.mark.parametrize(
    "file", sorted(kind_definitions.PUBLISHED.rglob("*.yaml")), ids=lambda file: f"{file.parent.name}-{file.stem}"
)
def test_gpus_in_any_field_that_may_hold_pods_are_counted_or_unknown(file: Path) -> None:
    assert list(silent(file)) == []
