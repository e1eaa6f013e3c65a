"""The share of a GPU that a resource or a MIG profile is."""

import pytest

from builders import usage as build
from usher.audit.usage import shares

MIG_LABELS = {"nvidia.com/mig.strategy": "mixed"}


@pytest.mark.parametrize(
    ("profile", "product", "share"),
    [
        ("1g.10gb", build.H100, 1 / 7),
        ("1g.20gb", build.H100, 1 / 7),
        ("3g.40gb", build.A100, 3 / 7),
        ("7g.80gb", build.A100, 1.0),
        ("1g.6gb", "NVIDIA-A30", 1 / 4),
        ("1g.10gb", "", 1 / 7),
        ("2g.12gb", "unknown", 1 / 2),
        ("whole", build.H100, None),
    ],
)
def test_a_profile_is_its_compute_slices_by_those_of_the_board(profile: str, product: str, share: float | None) -> None:
    assert shares.of_profile(profile, product) == (None if share is None else pytest.approx(share))


@pytest.mark.parametrize(
    ("recorded", "resource"),
    [
        ("nvidia_com_gpu", "nvidia.com/gpu"),
        ("nvidia_com_mig_1g_10gb", "nvidia.com/mig-1g.10gb"),
        ("nvidia_com_mig_1g_10gb_me", "nvidia.com/mig-1g.10gb.me"),
        ("nvidia_com_mig_1g_10gb_me_all", "nvidia.com/mig-1g.10gb.me.all"),
        ("nvidia_com_mig_2g_48gb__me", "nvidia.com/mig-2g.48gb-me"),
        ("nvidia_com_gpu_shared", "nvidia.com/gpu.shared"),
        ("amd_com_gpu", "amd.com/gpu"),
        ("cpu", "cpu"),
    ],
)
def test_names_of_kube_state_metrics_are_read_as_resources(recorded: str, resource: str) -> None:
    assert shares.resource(recorded) == resource


@pytest.mark.parametrize(
    ("resource", "node", "share"),
    [
        ("nvidia.com/gpu", None, 1.0),
        ("amd.com/gpu", None, 1.0),
        ("nvidia.com/gpu", build.node("n"), 1.0),
        ("nvidia.com/gpu", build.node("n", product=f"{build.A100}-MIG-1g.10gb"), 1 / 7),
        (
            "nvidia.com/gpu",
            build.node("n", labels={"nvidia.com/gpu.replicas": "4", "nvidia.com/gpu.sharing-strategy": "time-slicing"}),
            1 / 4,
        ),
        ("nvidia.com/gpu.shared", build.node("n", labels={"nvidia.com/gpu.replicas": "4"}), 1 / 4),
        ("nvidia.com/gpu.shared", build.node("n"), None),
        ("shares of nvidia.com/gpu", build.node("n", labels={"nvidia.com/gpu.replicas": "2"}), 1 / 2),
        ("nvidia.com/mig-3g.40gb", build.node("n"), 3 / 7),
        ("vpc.amazonaws.com/efa", build.node("n"), None),
        ("google.com/tpu", build.node("n"), None),
    ],
)
def test_one_unit_of_a_resource(resource: str, node: None, share: float | None) -> None:
    assert shares.of_resource(resource, node) == (None if share is None else pytest.approx(share))


def test_a_node_has_whole_gpus_and_mig_devices() -> None:
    capacity = {
        "nvidia.com/gpu": 4,
        "nvidia.com/mig-1g.10gb": 7,
        "nvidia.com/mig-3g.40gb": 2,
        "vpc.amazonaws.com/efa": 4,
    }

    assert shares.gpus(build.node("n", capacity=capacity)) == pytest.approx(4 + 1 + 6 / 7)
