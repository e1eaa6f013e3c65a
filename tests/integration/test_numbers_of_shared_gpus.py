"""The GPUs and the money of every way to share GPUs, recomputed from the boards and from what each pod holds of one."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson
import pytest
import yaml

from generated_examples import in_turn
from integration.command import usher

_PRICE: Final = 2
"""Dollars of one GPU and hour."""
_HAMI: Final = "hami.io/node-nvidia-register"


class Way(NamedTuple):
    """A node with its boards, and its pods: what each asks for, and the part of a board that it holds."""

    boards: int
    labels: Mapping[str, str]
    offers: Mapping[str, int]
    pods: Sequence[tuple[Mapping[str, Any], Fraction]]
    annotations: Mapping[str, str] = {}
    devices: Sequence[Mapping[str, Any]] = ()
    """The devices that its driver offers; by default a board each, on nodes that offer no resources."""
    counters: Sequence[Mapping[str, Any]] = ()


def _resources(amount: int, name: str = "nvidia.com/gpu") -> Mapping[str, Any]:
    return {"resources": {name: amount}}


def _annotations(**values: str) -> Mapping[str, Any]:
    return {"annotations": values}


def _claim(*devices: str, of: str = "gpu.nvidia.com", name: str = "", **request: Any) -> Mapping[str, Any]:
    """A claim of some devices; `name` is the one that several pods share."""
    return {"claim": devices, "class": of, "name": name, "request": {"count": len(devices), **request}}


def _board(name: str, **more: Any) -> Mapping[str, Any]:
    capacity = {"memory": {"value": "80Gi"}}
    return {"name": name, "attributes": {"type": {"string": "gpu"}}, "capacity": capacity, **more}


def _mig(name: str, profile: str) -> Mapping[str, Any]:
    """A part of the board with a name's beginning, as the driver offers it beside the whole board."""
    attributes = {"type": {"string": "mig"}, "profile": {"string": profile}}
    used = {"counterSet": name.partition("-mig")[0], "counters": {"memory": {"value": "40Gi"}}}
    memory = {"memory": {"value": "40Gi"}}
    return {"name": name, "attributes": attributes, "capacity": memory, "consumesCounters": [used]}


def _with_profile(profile: str) -> Mapping[str, Any]:
    expression = f"device.attributes['gpu.nvidia.com'].profile == '{profile}'"
    return {"selectors": [{"cel": {"expression": expression}}]}


def _memory(amount: str) -> Mapping[str, Any]:
    return {"capacity": {"requests": {"memory": amount}}}


def _sliced(replicas: int, boards: int, *, strategy: str = "time-slicing") -> Mapping[str, str]:
    labels = {"nvidia.com/gpu.sharing-strategy": strategy, "nvidia.com/gpu.replicas": str(replicas)}
    return {**labels, "nvidia.com/gpu.count": str(boards)}


def _registered(boards: int, split: int) -> Mapping[str, str]:
    rows = [{"id": f"GPU-{each}", "count": split, "devmem": 40000, "devcore": 100} for each in range(boards)]
    return {_HAMI: orjson.dumps(rows).decode()}


_WAYS: Final = {
    "time slices": Way(2, _sliced(10, 2), {"nvidia.com/gpu": 20}, [(_resources(1), Fraction(1, 10))] * 4),
    "many time slices": Way(1, _sliced(16384, 1), {"nvidia.com/gpu": 16384}, [(_resources(4096), Fraction(1, 4))] * 2),
    "time slices with a name of their own": Way(
        4,
        _sliced(3, 4),
        {"nvidia.com/gpu.shared": 12},
        [(_resources(1, "nvidia.com/gpu.shared"), Fraction(1, 3))] * 5,
    ),
    "MPS": Way(2, _sliced(48, 2, strategy="mps"), {"nvidia.com/gpu": 96}, [(_resources(1), Fraction(1, 48))]),
    "MIG": Way(
        2,
        {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB", "nvidia.com/mig.strategy": "mixed"},
        {"nvidia.com/mig-3g.40gb": 4},
        [(_resources(1, "nvidia.com/mig-3g.40gb"), Fraction(1, 2))] * 3,
    ),
    "HAMi": Way(
        2,
        {"nvidia.com/gpu.count": "2", "nvidia.com/gpu.memory": "40000"},
        {"nvidia.com/gpu": 20},
        [
            # The larger of memory and cores counts.
            (
                {"resources": {"nvidia.com/gpu": 1, "nvidia.com/gpumem": 10000, "nvidia.com/gpucores": 40}},
                Fraction(2, 5),
            ),
            (
                {"resources": {"nvidia.com/gpu": 1, "nvidia.com/gpumem-percentage": 75, "nvidia.com/gpucores": 10}},
                Fraction(3, 4),
            ),
        ],
        _registered(2, 10),
    ),
    "HAMi by memory alone": Way(
        1,
        {"nvidia.com/gpu.count": "1", "nvidia.com/gpu.memory": "40000"},
        {"nvidia.com/gpu": 10},
        [(_resources(10000, "nvidia.com/gpumem"), Fraction(1, 4))] * 2,
        _registered(1, 10),
    ),
    "HAMi on several boards": Way(
        4,
        {"nvidia.com/gpu.count": "4", "nvidia.com/gpu.memory": "40000"},
        {"nvidia.com/gpu": 40},
        [({"resources": {"nvidia.com/gpu": 2, "nvidia.com/gpumem": 30000}}, Fraction(3, 2))] * 2,
        _registered(4, 10),
    ),
    "virtual GPUs of Volcano": Way(
        2,
        {"nvidia.com/gpu.memory": "40000"},
        {"volcano.sh/vgpu-number": 20, "volcano.sh/vgpu-memory": 80000},
        [
            ({"resources": {"volcano.sh/vgpu-number": 1, "volcano.sh/vgpu-memory": 10000}}, Fraction(1, 4)),
            # Without an amount, it is all memory of a board.
            (_resources(1, "volcano.sh/vgpu-number"), Fraction(1)),
        ],
        {"volcano.sh/node-vgpu-register": "GPU-0,10,40000,A100,true,hami-core:GPU-1,10,40000,A100,true,:"},
    ),
    "fractions of KAI-Scheduler": Way(
        8,
        {"nvidia.com/gpu.count": "8", "nvidia.com/gpu.memory": "80000"},
        {"nvidia.com/gpu": 8},
        [
            (_annotations(**{"gpu-fraction": "0.25"}), Fraction(1, 4)),
            (_annotations(**{"gpu-fraction": "0.5", "gpu-fraction-num-devices": "3"}), Fraction(3, 2)),
            (_annotations(**{"gpu-memory": "20000"}), Fraction(1, 4)),
            (_resources(2), Fraction(2)),
        ],
    ),
    "MIG under one name": Way(
        2,
        {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb", "nvidia.com/mig.strategy": "single"},
        {"nvidia.com/gpu": 14},
        [(_resources(3), Fraction(3, 7))],
    ),
    "partitions of AMD under one name": Way(
        8,
        {"amd.com/compute-memory-partition": "cpx_nps4"},
        {"amd.com/gpu": 64},
        [(_resources(4, "amd.com/gpu"), Fraction(1, 2))],
    ),
    "partitions of AMD": Way(
        8,
        {},
        {"amd.com/spx_nps1": 5, "amd.com/cpx_nps1": 24},
        [(_resources(1, "amd.com/spx_nps1"), Fraction(1)), (_resources(4, "amd.com/cpx_nps1"), Fraction(1, 2))],
    ),
    "partitions of an MI300A": Way(
        4,
        {"amd.com/gpu.product-name": "AMD_Instinct_MI300A"},
        {"amd.com/cpx_nps1": 24},
        [(_resources(3, "amd.com/cpx_nps1"), Fraction(1, 2))],
    ),
    "claims": Way(2, {"nvidia.com/gpu.count": "2"}, {}, [(_claim("gpu-0"), Fraction(1))]),
    "claims of several boards": Way(
        8, {}, {}, [(_claim("gpu-0", "gpu-1"), Fraction(2)), (_claim("gpu-2", "gpu-3", "gpu-4"), Fraction(3))]
    ),
    "a claim that pods share": Way(
        2, {}, {}, [(_claim("gpu-0", name="shared"), Fraction(1)), (_claim("gpu-0", name="shared"), Fraction(0))]
    ),
    "shares of boards by capacity": Way(
        2,
        {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB"},
        {},
        [
            (_claim("gpu-0", **_memory("20Gi")), Fraction(1, 4)),
            (_claim("gpu-0", **_memory("40Gi")), Fraction(1, 2)),
            (_claim("gpu-1", **_memory("10Gi")), Fraction(1, 8)),
        ],
        devices=[_board(f"gpu-{each}", allowMultipleAllocations=True) for each in range(2)],
    ),
    "MIG by claims": Way(
        2,
        {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB"},
        {},
        [
            (_claim("gpu-0-mig-0", of="mig.nvidia.com", **_with_profile("3g.40gb")), Fraction(1, 2)),
            (_claim("gpu-0-mig-1", of="mig.nvidia.com", **_with_profile("3g.40gb")), Fraction(1, 2)),
        ],
        devices=[
            *(
                _board(
                    f"gpu-{board}",
                    consumesCounters=[{"counterSet": f"gpu-{board}", "counters": {"memory": {"value": "80Gi"}}}],
                )
                for board in range(2)
            ),
            *(_mig(f"gpu-{board}-mig-{part}", "3g.40gb") for board in range(2) for part in range(2)),
        ],
        counters=[{"name": f"gpu-{board}", "counters": {"memory": {"value": "80Gi"}}} for board in range(2)],
    ),
}


def _objects(name: str, way: Way) -> list[Any]:
    labels = {"kubernetes.io/hostname": name, "nvidia.com/gpu.present": "true", **way.labels}
    amounts = {"cpu": "64", "memory": "512Gi", "pods": "110", **{key: str(most) for key, most in way.offers.items()}}
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    metadata = {"name": name, "uid": f"uid-{name}", "creationTimestamp": "2026-01-01T00:00:00Z", "labels": labels}
    found: list[Any] = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {**metadata, "annotations": dict(way.annotations)},
            "status": {"capacity": amounts, "allocatable": amounts, **ready},
        }
    ]
    if not way.offers:
        devices = way.devices or [_board(f"gpu-{each}") for each in range(way.boards)]
        pool = {"name": name, "generation": 1, "resourceSliceCount": 2 if way.counters else 1}
        about = {"driver": "gpu.nvidia.com", "pool": pool}
        if way.counters:
            found.append({
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceSlice",
                "metadata": {"name": f"{name}-counters", "uid": f"uid-counters-{name}"},
                "spec": {**about, "nodeName": name, "sharedCounters": list(way.counters)},
            })  # fmt: skip
        found.append({
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": f"{name}-gpu", "uid": f"uid-slice-{name}"},
            "spec": {**about, "nodeName": name, "devices": list(devices)},
        })  # fmt: skip
        found += [_device_class(each) for each in ("gpu", "mig")]
    for index, (asked, _) in enumerate(way.pods):
        found += _pod(f"{name}-{index}", name, asked)
    return found


def _device_class(of: str) -> Any:
    """The class of the driver for whole boards, or for their parts."""
    expression = f"device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == '{of}'"
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": f"{of}.nvidia.com", "uid": f"uid-class-{of}"},
        "spec": {"selectors": [{"cel": {"expression": expression}}]},
    }


def _pod(name: str, node: str, asked: Mapping[str, Any]) -> list[Any]:
    limits = {key: str(amount) for key, amount in asked.get("resources", {}).items()}
    container: dict[str, Any] = {"name": "c", "image": "registry.example.com/serve:1", "resources": {"limits": limits}}
    spec: dict[str, Any] = {"nodeName": node, "containers": [container]}
    found: list[Any] = []
    if "claim" in asked:
        container["resources"] = {"claims": [{"name": "gpu"}]}
        claim = f"{node}-{asked['name']}" if asked["name"] else name
        spec["resourceClaims"] = [{"name": "gpu", "resourceClaimName": claim}]
        results = [
            {"request": "gpu", "driver": "gpu.nvidia.com", "pool": node, "device": each} for each in asked["claim"]
        ]
        used = [{"resource": "pods", "name": name, "uid": f"uid-{name}"}]
        exactly = {"deviceClassName": asked["class"], **asked["request"]}
        found.append({
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {"name": claim, "namespace": "team", "uid": f"uid-claim-{claim}"},
            "spec": {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}},
            "status": {"allocation": {"devices": {"results": results}}, "reservedFor": used},
        })  # fmt: skip
    metadata = {"name": name, "namespace": "team", "uid": f"uid-{name}", "creationTimestamp": "2026-01-02T00:00:00Z"}
    metadata["annotations"] = asked.get("annotations", {})
    status = {"phase": "Running", "conditions": [{"type": "PodScheduled", "status": "True"}]}
    return [*found, {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}]


def _audited(folder: Path, ways: Mapping[str, Way]) -> Any:
    objects = [each for name, way in ways.items() for each in _objects(name.replace(" ", "-").lower(), way)]
    (folder / "dump.yaml").write_text(yaml.safe_dump_all(objects))
    site = {"apiVersion": "gpu-usher.io/v1alpha1", "kind": "Config"}
    prices = {"currency": "USD", "rules": [{"product": "*", "perGpuHour": _PRICE}]}
    (folder / "usher.yaml").write_text(yaml.safe_dump({**site, "audit": {"prices": prices}}))
    return usher("audit", "--format", "json", "--config", "usher.yaml", "dump.yaml", cwd=folder).json["summary"]


def _hold_the_numbers(summary: Any, ways: Sequence[Way]) -> None:
    boards = sum(way.boards for way in ways)
    held = float(sum((part for way in ways for _, part in way.pods), start=Fraction()))
    assert summary["gpus"] == boards
    assert summary["gpusAllocated"] == pytest.approx(held, abs=1e-5)
    assert summary["gpusFree"] == pytest.approx(boards - held, abs=1e-5)
    assert summary["costPerHourFree"] == pytest.approx((boards - held) * _PRICE, abs=1e-4)
    assert summary["gpusAsked"] == pytest.approx(held, abs=1e-5)
    assert summary["otherAsked"] == {}


@pytest.mark.parametrize("name", in_turn(_WAYS, every=3, others=pytest.mark.costly))
def test_the_gpus_and_the_money_of_a_way_to_share_are_those_of_its_boards(name: str, tmp_path: Path) -> None:
    _hold_the_numbers(_audited(tmp_path, {name: _WAYS[name]}), [_WAYS[name]])


def test_a_mixture_of_all_ways_adds_up(tmp_path: Path) -> None:
    """But for shares by capacity: they count only where all devices of a class are shared."""
    ways = {name: way for name, way in _WAYS.items() if name != "shares of boards by capacity"}
    _hold_the_numbers(_audited(tmp_path, ways), [*ways.values()])


_SHOWN: Final = {
    "time slices": "4 shares of nvidia.com/gpu",
    "many time slices": "8,192 shares of nvidia.com/gpu",
    "time slices with a name of their own": "5 nvidia.com/gpu.shared",
    "MPS": "1 shares of nvidia.com/gpu",
    "MIG": "3 nvidia.com/mig-3g.40gb",
    "HAMi": "50 nvidia.com/gpucores, 10,000 nvidia.com/gpumem, 75 nvidia.com/gpumem-percentage, 2 shares of",
    "HAMi by memory alone": "20,000 nvidia.com/gpumem, 2 shares of nvidia.com/gpu",
    "HAMi on several boards": "120,000 nvidia.com/gpumem, 4 shares of nvidia.com/gpu",
    "virtual GPUs of Volcano": "10,000 volcano.sh/vgpu-memory, 2 volcano.sh/vgpu-number",
    "fractions of KAI-Scheduler": "2 GPUs, 1.75 GPUs in parts (gpu-fraction), 20,000 MiB of GPU memory (gpu-memory)",
    "MIG under one name": "3 slices of nvidia.com/gpu",
    "partitions of AMD under one name": "4 slices of amd.com/gpu",
    "partitions of AMD": "4 amd.com/cpx_nps1, 1 amd.com/spx_nps1",
}


@pytest.mark.parametrize("name", in_turn(_SHOWN, every=3, others=pytest.mark.costly))
def test_check_calls_shares_and_slices_by_their_name_and_no_gpus(name: str, tmp_path: Path) -> None:
    """Nodes of the facts, or else selectors, say what a GPU is here."""
    objects = _objects("node", _WAYS[name])
    nodes = [each for each in objects if each["kind"] == "Node"]
    pods = [each for each in objects if each["kind"] == "Pod"]
    for each in pods:
        del each["spec"]["nodeName"], each["status"]
    (tmp_path / "facts.yaml").write_text(yaml.safe_dump_all(nodes))
    (tmp_path / "pods.yaml").write_text(yaml.safe_dump_all(pods))

    run = usher("check", "--facts", "facts.yaml", "pods.yaml", cwd=tmp_path)

    assert f"{len(pods)} workload{'s' if len(pods) > 1 else ''}, {_SHOWN[name]}" in " ".join(run.out.split())
