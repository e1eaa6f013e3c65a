"""Another mutating webhook changes the same pods, before ours or after it."""

from pathlib import Path

import pytest

import builders
from e2e.cluster import Cluster, Object, wait_until
from e2e.sidecar_webhook import SIDECAR, adding_sidecars
from server_process import ServerProcess


@pytest.mark.parametrize("name", ["a-before-ours", "z-after-ours"])
def test_a_pod_with_a_sidecar_of_others_has_everything_once_and_is_let_in(
    cluster: Cluster, namespace: str, webhooks: ServerProcess, name: str, tmp_path: Path
) -> None:
    """The API server calls a webhook again when a later one changed the object (reinvocationPolicy: IfNeeded)."""
    assert webhooks.port
    with adding_sidecars(cluster, namespace, name=name, directory=tmp_path):
        wait_until(lambda: has_sidecar(cluster, namespace), description="the API server asks the other webhook")
        pod = cluster.create(builders.pod(builders.container(gpus=1), name="train", namespace=namespace))

    main, sidecar = pod["spec"]["containers"]
    assert (main["resources"]["limits"], sidecar["name"]) == ({"nvidia.com/gpu": "1"}, SIDECAR["name"])
    assert sidecar["env"] == [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}]
    of_gpus = [each for each in pod["spec"]["tolerations"] if each["key"] == "nvidia.com/gpu"]
    assert len(of_gpus) == 1
    terms = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert len(terms["nodeSelectorTerms"]) == 1
    applied = pod["metadata"]["annotations"]["gpu-usher.io/mutations"].split(",")
    assert len(applied) == len(set(applied))


def has_sidecar(cluster: Cluster, namespace: str) -> bool:
    probe: Object = cluster.create(builders.pod(name="probe", namespace=namespace), dry_run=True)
    return SIDECAR["name"] in {each["name"] for each in probe["spec"]["containers"]}
