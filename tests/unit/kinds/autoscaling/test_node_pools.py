"""Objects that node autoscalers make nodes from name accelerators, and no pod asks for them."""

import pytest

import builders
from unit.workloads.normalised import VOCABULARY
from usher import paths
from usher.workloads.normalise import normalise

DEVICES: paths.Object = {"nvidia.com/gpu": "64"}


@pytest.mark.parametrize(
    ("api_version", "kind", "spec"),
    [
        ("karpenter.sh/v1", "NodePool", {"template": {"spec": {"requirements": []}}, "limits": DEVICES}),
        ("karpenter.sh/v1beta1", "NodePool", {"template": {"spec": {"requirements": []}}, "limits": DEVICES}),
        ("karpenter.sh/v1", "NodeClaim", {"requirements": [], "resources": {"requests": DEVICES}}),
        ("autoscaling.x-k8s.io/v1beta1", "CapacityBuffer", {"podTemplateRef": {"name": "spare"}, "limits": DEVICES}),
    ],
)
def test_bounds_of_nodes_are_not_workloads(api_version: str, kind: str, spec: paths.Object) -> None:
    value = builders.custom(api_version, kind, spec)

    found = normalise(value, vocabulary=VOCABULARY, namespace="ml-research")

    assert found is None or not (found.makes_pods or found.asks_accelerators)
