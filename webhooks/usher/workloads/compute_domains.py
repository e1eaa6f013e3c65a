"""The claim template that NVIDIA's driver makes for a ComputeDomain (docs/domain/device-claims.md#compute-domains)."""

from typing import Final

from usher import paths

GROUP: Final = "resource.nvidia.com"
KIND: Final = "ComputeDomain"


def claim_template(value: paths.Object) -> paths.Object | None:
    """The ResourceClaimTemplate that `spec.channel.resourceClaimTemplate` names; None where it names none.

    Its claims are for channels between the GPUs of several nodes, not for GPUs (kubernetes-sigs/dra-driver-nvidia-gpu
    templates/compute-domain-workload-claim-template.tmpl.yaml).
    """
    api_version = value.get("apiVersion")
    if not isinstance(api_version, str) or not api_version.startswith(f"{GROUP}/"):
        return None
    try:
        name = paths.resolve(value, "/spec/channel/resourceClaimTemplate/name")
        metadata = paths.resolve(value, "/metadata")
    except LookupError:
        return None
    if not isinstance(name, str) or not isinstance(metadata, dict):
        return None
    request: paths.Object = {"exactly": {"deviceClassName": "compute-domain-default-channel.nvidia.com"}}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": metadata.get("namespace")},
        "spec": {"spec": {"devices": {"requests": [{"name": "channel", **request}]}}},
    }
