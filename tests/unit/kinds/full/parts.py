"""Shared parts of the full objects of all kinds."""

from collections.abc import Iterator, Mapping

import builders
from usher import paths
from usher.kinds.reading import values as reading_values

METADATA = builders.Metadata(
    name="example",
    namespace="ml-research",
    labels={"gpu-usher.io/role": "training"},
    annotations={"note": "x"},
    owner_kind="Owner",
    deletion_timestamp="2026-09-29T10:00:00Z",
)


def pod_spec_fields() -> paths.Object:
    requirement = builders.expression("pool", "In", "h100")
    name = builders.expression("metadata.name", "In", "node-1")
    return {
        "initContainers": [
            builders.container("fetch", limits={"cpu": 1}, restartPolicy="Never"),
            builders.sidecar("proxy", gpus=1),
        ],
        "ephemeralContainers": [builders.container("debug", env={"A": "b"})],
        "tolerations": [builders.toleration("gpu", operator="Equal", value="true", effect="NoSchedule")],
        "nodeSelector": {"zone": "a"},
        "affinity": builders.node_affinity(builders.term(requirement, fields=[name])),
        "overhead": {"cpu": "100m"},
        "resourceClaims": [{"name": "gpu", "resourceClaimName": "gpus"}],
        "schedulingGates": [{"name": "example.com/quota"}],
        "schedulingGroup": {"podGroupName": "gang"},
        "resources": {"requests": {"cpu": "8"}, "limits": {"cpu": "8"}},
        "schedulerName": "volcano",
        "priorityClassName": "high",
        "runtimeClassName": "nvidia",
        "nodeName": "node-1",
    }


class Known:
    """Knows what the full objects refer to, in whichever namespace they stand."""

    def __init__(self, *values: paths.Object) -> None:
        self._values = {(str(value["kind"]), str(paths.resolve(value, "/metadata/name"))): value for value in values}

    def find(self, reference: reading_values.Reference) -> paths.Object | reading_values.Absence:
        return self._values.get((reference.kind, reference.name), reading_values.Absence.NOT_KNOWN)

    def listed(self, group: str, kind: str, namespace: str | None) -> Mapping[str, paths.Object]:  # noqa: ARG002 - any
        return {name: value for (of_kind, name), value in self._values.items() if of_kind == kind}


REFERENCED: list[paths.Object] = [
    builders.custom(
        "resource.k8s.io/v1",
        "ResourceClaim",
        {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]}},
        name="gpus",
    )
]
"""Objects that the templates of all kinds refer to; a family may have more."""


def container() -> paths.Object:
    return builders.container(
        requests={"cpu": "4", "nvidia.com/gpu": 8},
        limits={"nvidia.com/gpu": "8"},
        env={"NCCL_DEBUG": "WARN", "NODE": {}},
        claims=["gpu"],
    )


def template() -> paths.Object:
    spec = pod_spec_fields()
    return {
        "metadata": {"labels": {"app": "bert"}, "annotations": {"note": "x"}},
        "spec": {**builders.pod_spec(container()), **spec},
    }


def places(value: paths.Json, pointer: str = paths.ROOT) -> Iterator[tuple[str, paths.Json]]:
    """Every place in a value, the value itself first."""
    yield pointer, value
    if isinstance(value, dict):
        for key, child in value.items():
            yield from places(child, paths.join(pointer, key))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from places(child, paths.join(pointer, index))
