"""The resources that kube-state-metrics names in its own way."""

import pytest

from usher.audit.usage import series


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
    assert series.resource_of(recorded) == resource
