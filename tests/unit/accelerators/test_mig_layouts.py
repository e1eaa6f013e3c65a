"""Layouts of the MIG manager, held against the boards of nodes."""

from typing import Any

import pytest

from usher.accelerators import boards

H100 = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.count": "2"}
A100 = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB", "nvidia.com/gpu.count": "8"}


def configuration(*entries: Any) -> dict[str, Any]:
    return {"version": "v1", "mig-configs": {"wanted": list(entries)}}


def entry(devices: Any = "all", **instances: int) -> dict[str, Any]:
    names = {name.replace("_", ".").removeprefix("p"): number for name, number in instances.items()}
    return {"devices": devices, "mig-enabled": True, "mig-devices": names}


@pytest.mark.parametrize(
    ("labels", "value", "text"),
    [
        (H100, entry(p1g_10gb=7), None),
        (A100, entry(p1g_10gb=4), None),
        (A100, entry(p1g_10gb=7), "asks for 7 of 1g.10gb on one GPU, and A100-40 does not hold them: at most 4"),
        (H100, entry(p1g_5gb=7), "asks for 1g.5gb, which H100-80 does not have"),
        (H100, entry([0, 1], p1g_10gb=7), None),
        (H100, entry([2], p1g_10gb=7), "divides GPU 2, but the node has 2, counted from 0"),
        (H100, {**entry(p1g_5gb=7), "device-filter": "0x20B010DE"}, None),
        (A100, {**entry(p1g_20gb=4), "device-filter": ["0x20B010DE"]}, "asks for 1g.20gb, which A100-40 does not have"),
        ({"nvidia.com/gpu.product": "NVIDIA-X100"}, entry(p1g_5gb=99), None),
    ],
)
def test_the_board_of_a_node_decides_which_layouts_it_can_have(
    labels: dict[str, str], value: Any, text: str | None
) -> None:
    found = boards.problem_on_node(configuration(value), "wanted", labels)

    assert (found and found[0]) == text


@pytest.mark.parametrize(
    ("name", "labels", "wrong"),
    [
        ("all-1g.10gb", H100, False),
        ("all-1g.5gb", H100, True),
        ("all-1g.5gb", A100, False),
        ("all-balanced", H100, False),
        ("all-1g.5gb", {}, False),
        ("", H100, False),
    ],
)
def test_a_name_of_the_operator_tells_the_profile(name: str, labels: dict[str, str], wrong: bool) -> None:
    assert (boards.problem_of_name(name, labels) is not None) is wrong


def test_text_without_layouts_has_no_problem() -> None:
    assert list(boards.problems({"mig-configs": "all"})) == []
    assert list(boards.problems(configuration(entry(p1g_10gb=1001)))) == []
