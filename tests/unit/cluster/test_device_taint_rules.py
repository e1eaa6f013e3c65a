"""DeviceTaintRules among the facts taint devices, as their drivers do."""

from typing import Any

import pytest

from usher import paths
from usher.cluster.facts.device_slices import DeviceTable, read_devices
from usher.cluster.facts.store import Store

GPU: paths.Object = {"name": "gpu-0", "attributes": {"type": {"string": "gpu"}}}
SLICE: paths.Object = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceSlice",
    "metadata": {"name": "one"},
    "spec": {
        "driver": "gpu.nvidia.com",
        "pool": {"name": "node-0", "generation": 1, "resourceSliceCount": 1},
        "nodeName": "node-0",
        "devices": [GPU, {"name": "gpu-1", "attributes": {"type": {"string": "mig"}}}],
    },
}


def rule(selector: Any, *, effect: str = "NoSchedule", version: str = "v1beta2") -> paths.Object:
    spec: Any = {"deviceSelector": selector, "taint": {"key": "broken", "value": "yes", "effect": effect}}
    return {
        "apiVersion": f"resource.k8s.io/{version}",
        "kind": "DeviceTaintRule",
        "metadata": {"name": "broken"},
        "spec": spec,
    }


def tainted(*rules: paths.Object) -> list[str]:
    """The names of the devices that the rules taint."""
    (pool,) = DeviceTable([SLICE], rules).pools.values()
    return [each.id[2] for part in pool.slices for each in part.devices if each.taints]


@pytest.mark.parametrize(
    ("selector", "devices"),
    [
        ({}, ["gpu-0", "gpu-1"]),
        ({"driver": "gpu.nvidia.com"}, ["gpu-0", "gpu-1"]),
        ({"driver": "gpu.nvidia.com", "pool": "node-0", "device": "gpu-1"}, ["gpu-1"]),
        ({"device": "gpu-7"}, []),
        ({"driver": "gpu.amd.com"}, []),
        (None, []),
        ({"selectors": [{"cel": {"expression": "device.attributes['gpu.nvidia.com'].type == 'mig'"}}]}, ["gpu-1"]),
        ({"selectors": [{"cel": {"expression": "device.attributes['other'].type == 'mig'"}}]}, []),
        ({"selectors": [{"cel": {"expression": "(("}}]}, []),
        ({"deviceClassName": "gpu.nvidia.com"}, []),
        ({"driver": 7}, []),
    ],
)
def test_a_rule_taints_the_devices_that_it_selects(selector: Any, devices: list[str]) -> None:
    assert tainted(rule(selector)) == devices


@pytest.mark.parametrize("effect", ["None", "", "Other"])
def test_a_rule_with_another_effect_taints_nothing(effect: str) -> None:
    assert tainted(rule({}, effect=effect)) == []


def test_a_rule_that_comes_later_counts() -> None:
    facts = Store.of([SLICE])
    slices = {"one": SLICE}
    before = read_devices(facts, slices)
    facts.replace(("resource.k8s.io", "DeviceTaintRule"), [rule({})])
    after = read_devices(facts, slices)

    assert [len(each.taints) for pool in before.pools.values() for each in pool.slices[0].devices] == [0, 0]
    assert [len(each.taints) for pool in after.pools.values() for each in pool.slices[0].devices] == [1, 1]
