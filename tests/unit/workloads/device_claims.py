"""Device claims, and pods that name them, for tests."""

import json
from collections.abc import Mapping, Sequence

import builders
from unit.workloads.normalised import totals
from usher import paths
from usher.kinds.reading.values import Objects

GPU = "gpu.nvidia.com"
MIG = "mig.nvidia.com"
CHANNEL = "compute-domain-default-channel.nvidia.com"
CONTAINER = builders.container


def request(device_class: str | None = GPU, *, name: str = "gpu", **fields: builders.JsonValue) -> paths.Object:
    """One request of resource.k8s.io/v1; `count`, `allocationMode`, `adminAccess` as in manifests."""
    exactly = {"deviceClassName": device_class, **fields}
    return builders_json({"name": name, "exactly": {key: value for key, value in exactly.items() if value is not None}})


def first_available(*alternatives: Mapping[str, builders.JsonValue], name: str = "gpu") -> paths.Object:
    return builders_json({"name": name, "firstAvailable": list(alternatives)})


def builders_json(value: Mapping[str, builders.JsonValue]) -> paths.Object:
    result: paths.Object = json.loads(json.dumps(value))
    return result


def claim(
    *requests: paths.Object, name: str = "gpus", version: str = "v1", namespace: str | None = "ml-research"
) -> paths.Object:
    """A ResourceClaim."""
    spec = {"devices": {"requests": list(requests)}}
    return builders.custom(f"resource.k8s.io/{version}", "ResourceClaim", spec, name=name, namespace=namespace)


def claim_template(*requests: paths.Object, name: str = "gpus", version: str = "v1") -> paths.Object:
    """A ResourceClaimTemplate."""
    spec = {"spec": {"devices": {"requests": list(requests)}}}
    return builders.custom(f"resource.k8s.io/{version}", "ResourceClaimTemplate", spec, name=name)


def by_name(claim_name: str = "gpus", *, name: str = "gpu") -> paths.Object:
    """An entry of a pod's resourceClaims."""
    return {"name": name, "resourceClaimName": claim_name}


def by_template(template_name: str = "gpus", *, name: str = "gpu") -> paths.Object:
    return {"name": name, "resourceClaimTemplateName": template_name}


def template(*entries: paths.Object, group: str = "") -> paths.Object:
    scheduling_group = {"podGroupName": group} if group else None
    return builders.template(resourceClaims=list(entries), schedulingGroup=scheduling_group)


def pod(*entries: paths.Object, containers: Sequence[paths.Object] = ()) -> paths.Object:
    return builders.pod(*containers, resourceClaims=list(entries))


def of_requests(*requests: paths.Object) -> dict[str, tuple[str, str]]:
    """Totals of a pod with a claim of these requests."""
    return totals(pod(by_name()), objects=Objects([claim(*requests)]))


# PodGroups


def pod_group(*entries: paths.Object, version: str = "v1beta1") -> paths.Object:
    policy = {"gang": {"minCount": 2}}
    return builders.custom(
        f"scheduling.k8s.io/{version}",
        "PodGroup",
        {"schedulingPolicy": policy, "resourceClaims": list(entries)},
        name="group",
    )


def grouped(*entries: paths.Object) -> paths.Object:
    return builders.job(template(*entries, group="group"), parallelism=4)
