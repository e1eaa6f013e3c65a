"""Volumes and mounts of pods, as rules see them."""

from typing import Any

import pytest

import builders
from unit.workloads.normalised import pod_set
from usher import paths


def fields(path: str, value: paths.Json) -> Any:
    """One field of a pod spec as rules see it."""
    return pod_set(builders.replaced(builders.pod(), path, value)).fields


def test_a_host_path_is_kept_as_it_is_written_beside_the_place_that_it_leads_to() -> None:
    found = fields(
        "/spec/volumes", [{"name": "socket", "hostPath": {"path": "/var/run//docker.sock", "type": "Socket"}}]
    )

    expected = {"path": "/var/run//docker.sock", "type": "Socket", "place": "/run/docker.sock"}
    assert found["volumes"] == [{"name": "socket", "hostPath": expected}]


@pytest.mark.parametrize("host_path", [{"place": "/harmless"}, {}])
def test_a_manifest_cannot_say_where_a_host_path_leads(host_path: paths.Object) -> None:
    assert fields("/spec/volumes", [{"name": "files", "hostPath": host_path}])["volumes"] == [
        {"name": "files", "hostPath": {}}
    ]


def test_a_place_in_the_manifest_does_not_hide_the_path() -> None:
    host_path: paths.Object = {"path": "/dev", "place": "/harmless"}

    (volume,) = fields("/spec/volumes", [{"name": "files", "hostPath": host_path}])["volumes"]

    assert volume["hostPath"]["place"] == "/dev"


def test_mounts_are_seen_in_their_plainest_spelling() -> None:
    mounts: paths.Json = [{"name": "shm", "mountPath": "/dev//shm/", "readOnly": True}, {"name": "odd"}]

    (container,) = pod_set(builders.replaced(builders.pod(), "/spec/containers/0/volumeMounts", mounts)).containers

    assert container.fields["volumeMounts"] == [
        {"name": "shm", "mountPath": "/dev/shm", "readOnly": True},
        {"name": "odd"},
    ]
