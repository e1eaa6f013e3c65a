"""Files with what mounts them and what names them: all of it, or nothing."""

from typing import Any

import pytest

from unit.policy.mutation.manifests import CONTAINER, IN_THE_WAY, at, container, intent, merged, pod, refusals
from usher import errors, paths
from usher.policy.mutation import editing, merge, pod_fields

VOLUME: paths.Object = {"name": "usher-topology", "configMap": {"name": "topology"}}
MOUNT: paths.Object = {
    "name": "usher-topology",
    "mountPath": "/etc/nccl-topo.xml",
    "subPath": "nccl-topo.xml",
    "readOnly": True,
}
VARIABLE: paths.Object = {"name": "NCCL_TOPO_FILE", "value": "/etc/nccl-topo.xml"}
WANTED: paths.Object = {
    "volume": VOLUME,
    "mountPath": "/etc/nccl-topo.xml",
    "subPath": "nccl-topo.xml",
    "readOnly": True,
    "variable": VARIABLE,
}


def mounting(value: paths.Object, wanted: Any = None) -> merge.Merged:
    return merged(value, intent("mount", wanted or WANTED, at=CONTAINER))


def with_mounts(*mounts: Any, volumes: Any = None, **fields: Any) -> paths.Object:
    return pod(containers=[container(volumeMounts=list(mounts), **fields)], volumes=volumes)


def test_a_volume_its_mount_and_its_variable_come_together() -> None:
    spec = at(mounting(pod()), "/spec")

    assert spec["volumes"] == [VOLUME]
    assert spec["containers"] == [container(volumeMounts=[MOUNT], env=[VARIABLE])]


def test_they_go_behind_those_that_are_there() -> None:
    theirs: paths.Object = {"name": "data", "mountPath": "/data"}
    spec = at(mounting(with_mounts(theirs, volumes=[{"name": "data"}], env=[{"name": "A"}])), "/spec")

    assert spec["volumes"] == [{"name": "data"}, VOLUME]
    assert spec["containers"] == [container(volumeMounts=[theirs, MOUNT], env=[{"name": "A"}, VARIABLE])]


def test_two_containers_share_a_volume() -> None:
    two = pod(containers=[container(), container(name="second")])
    result = merged(two, *(intent("mount", WANTED, at=f"/spec/containers/{index}") for index in (0, 1)))

    assert at(result, "/spec/volumes") == [VOLUME]
    assert [each["volumeMounts"] for each in at(result, "/spec/containers")] == [[MOUNT], [MOUNT]]


def test_a_volume_may_come_without_a_variable() -> None:
    memory: paths.Object = {"name": "usher-shm", "emptyDir": {"medium": "Memory", "sizeLimit": "16Gi"}}
    result = mounting(pod(), {"volume": memory, "mountPath": "/dev/shm"})

    assert at(result, CONTAINER) == container(volumeMounts=[{"name": "usher-shm", "mountPath": "/dev/shm"}])


COMPLETE = with_mounts(MOUNT, volumes=[VOLUME], env=[VARIABLE])


def test_a_complete_mount_is_not_changed() -> None:
    assert refusals(mounting(COMPLETE)) == [editing.ALREADY_THERE]


def test_a_complete_mount_is_recognised_in_the_form_of_the_api_server() -> None:
    written: paths.Object = {"name": "usher-topology", "configMap": {"name": "topology", "defaultMode": 420}}
    memory: paths.Object = {"name": "usher-shm", "emptyDir": {"medium": "Memory", "sizeLimit": "1024Mi"}}
    shown: paths.Object = {"name": "usher-shm", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}
    at_shm = {"name": "usher-shm", "mountPath": "/dev/shm/"}

    assert refusals(mounting(with_mounts(MOUNT, volumes=[written], env=[VARIABLE]))) == [editing.ALREADY_THERE]
    assert refusals(mounting(with_mounts(at_shm, volumes=[shown]), {"volume": memory, "mountPath": "/dev/shm"})) == [
        editing.ALREADY_THERE
    ]


@pytest.mark.parametrize(
    ("value", "part", "expected"),
    [
        (with_mounts(MOUNT, env=[VARIABLE]), "/spec/volumes", [VOLUME]),
        (with_mounts(volumes=[VOLUME], env=[VARIABLE]), CONTAINER + "/volumeMounts", [MOUNT]),
        (with_mounts(MOUNT, volumes=[VOLUME]), CONTAINER + "/env", [VARIABLE]),
    ],
    ids=["volume", "mount", "variable"],
)
def test_only_what_is_missing_is_added(value: paths.Object, part: str, expected: Any) -> None:
    result = mounting(value)

    assert at(result, part) == expected
    assert len(result.operations) == 2


@pytest.mark.parametrize(
    "theirs",
    [
        {"name": "usher-topology", "configMap": {"name": "another"}},
        {"name": "usher-topology", "configMap": {"name": "topology", "optional": True}},
        {"name": "usher-topology", "configMap": {"name": "topology", "defaultMode": 256}},
        {"name": "usher-topology", "configMap": "topology"},
        {"name": "usher-topology"},
    ],
)
def test_another_volume_of_the_name_stays(theirs: paths.Object) -> None:
    assert refusals(mounting(pod(volumes=[theirs]))) == ["the pod has another volume named usher-topology"]


def test_an_invalid_size_counts_as_another_size() -> None:
    memory: paths.Object = {"name": "usher-shm", "emptyDir": {"sizeLimit": "1Gi"}}
    theirs: paths.Object = {"name": "usher-shm", "emptyDir": {"sizeLimit": "much"}}

    assert refusals(mounting(pod(volumes=[theirs]), {"volume": memory, "mountPath": "/dev/shm"})) == [
        "the pod has another volume named usher-shm"
    ]


@pytest.mark.parametrize("place", ["/etc/nccl-topo.xml", "/etc//nccl-topo.xml/", "/etc/", "/etc/./", "/"])
def test_a_mount_path_that_is_taken_in_any_spelling_or_by_a_parent_is_kept(place: str) -> None:
    """Nothing can be mounted inside a ConfigMap, and inside other volumes are the user's files."""
    assert refusals(mounting(with_mounts({"name": "settings", "mountPath": place}))) == [pod_fields.MOUNTED]


@pytest.mark.parametrize("place", ["/etc/nccl", "/etc/nccl-topo.xml.bak", "/data", "", None, 7])
def test_other_places_take_nothing_away(place: Any) -> None:
    assert len(at(mounting(with_mounts({"name": "settings", "mountPath": place})), CONTAINER + "/volumeMounts")) == 2


def test_a_block_device_takes_a_place_as_well() -> None:
    value = with_mounts(volumeDevices=[{"name": "disk", "devicePath": "/etc/nccl-topo.xml"}])

    assert refusals(mounting(value)) == [pod_fields.MOUNTED]


def test_the_same_place_by_another_part_of_the_volume_is_the_users() -> None:
    assert refusals(mounting(with_mounts({**MOUNT, "subPath": "other.xml"}, volumes=[VOLUME]))) == [pod_fields.MOUNTED]


def test_a_variable_that_the_user_set_keeps_all_of_it_away() -> None:
    theirs = {"name": "NCCL_TOPO_FILE", "value": "/opt/topology.xml"}

    assert refusals(mounting(with_mounts(env=[theirs]))) == [editing.USER_DECIDES]


def test_so_does_what_env_from_may_bring() -> None:
    assert refusals(mounting(with_mounts(envFrom=[{"secretRef": {"name": "a"}}]))) == [pod_fields.OPAQUE]


@pytest.mark.parametrize("broken", [{"volumes": "text"}, {"volumes": {}}])
def test_volumes_of_a_wrong_type_are_not_changed(broken: dict[str, Any]) -> None:
    assert refusals(mounting(pod(**broken))) == [f"{IN_THE_WAY}/spec/volumes"]


@pytest.mark.parametrize("field", ["volumeMounts", "volumeDevices", "env"])
def test_nothing_is_half_done_where_a_list_of_the_container_has_a_wrong_type(field: str) -> None:
    assert refusals(mounting(pod(containers=[container(**{field: "text"})]))) == [f"{IN_THE_WAY}{CONTAINER}/{field}"]


def test_an_invalid_volume_is_an_error_of_the_policies() -> None:
    with pytest.raises(errors.MutationError, match="a volume was expected"):
        mounting(pod(), {"volume": "usher-topology", "mountPath": "/etc"})
