"""ProvisioningRequests, for which the Cluster Autoscaler makes nodes (autoscaling.x-k8s.io).

Source: https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/proposals/provisioning-request.md
"""

from typing import NotRequired

from pydantic import with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.kinds.kind import Kind
from usher.reading.shapes import STRICT


@with_config(STRICT)
class ProvisionedPodSet(TypedDict):
    count: NotRequired[int]


@with_config(STRICT)
class ProvisioningRequestSpec(TypedDict):
    podSets: NotRequired[list[ProvisionedPodSet]]


@with_config(STRICT)
class ProvisioningRequest(TypedDict):
    spec: NotRequired[ProvisioningRequestSpec]


KINDS = [
    Kind(
        group="autoscaling.x-k8s.io",
        kind="ProvisioningRequest",
        versions=("v1", "v1beta1"),
        plural="provisioningrequests",
        key="provisioningRequest",
        shape=ProvisioningRequest,
    ),
]
