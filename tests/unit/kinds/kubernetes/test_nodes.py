"""Nodes: of a large object, only what rules read."""

from usher import paths
from usher.kinds.reading import shapes as reading_shapes
from usher.kinds.registry import SHAPES

NODE = SHAPES["", "Node"]


def read(value: paths.Object) -> tuple[object, list[tuple[str, str]]]:
    unknowns: list[tuple[str, str]] = []
    return reading_shapes.read_shape(
        NODE.adapter, value, "", lambda path, reason: unknowns.append((path, reason))
    ), unknowns


def test_only_labels_that_tell_of_accelerators_are_read() -> None:
    labels: paths.Object = {
        "kubernetes.io/hostname": "node-1",
        "nvidia.com/gpu.present": "true",
        "amd.com/gpu.vram": "192G",
    }

    assert read({"metadata": {"name": "node-1", "labels": labels}}) == (
        {"metadata": {"labels": {"nvidia.com/gpu.present": "true", "amd.com/gpu.vram": "192G"}}},
        [],
    )


def test_of_the_capacity_only_accelerators_are_read() -> None:
    capacity: paths.Object = {
        "cpu": "wrong",
        "rdma/ib": "1",
        "nvidia.com/gpu": "8",
        "nvidia.com/nvswitch": "6",
        "a/b/c": "x",
    }
    found, unknowns = read({"status": {"capacity": capacity, "images": [{"names": ["a"]}]}})

    assert found == {
        "status": {"capacity": {"nvidia.com/gpu": {"text": "8", "value": 8, "milli": 8000, "whole": True}}}
    }
    assert unknowns == []


def test_an_unreadable_value_is_reported_at_its_place() -> None:
    assert read({"metadata": {"labels": ["a"]}, "status": {"capacity": {"nvidia.com/gpu": "many"}}}) == (
        {"metadata": {}, "status": {"capacity": {}}},
        [
            ("/metadata/labels", "expected an object"),
            (
                "/status/capacity/nvidia.com~1gpu",
                "'many' is not a quantity; write a number, for example 1, 500m or 16Gi",
            ),
        ],
    )
