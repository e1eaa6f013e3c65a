"""A recipe of a fabric joins a pod template whole, once, or not at all."""

from typing import Any

import pytest

import builders
from acceptance import evaluator
from usher import paths
from usher.config import models
from usher.config.fabrics import Recipe
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator
from usher.policy.mutation import strategies

PRODUCT = {"nvidia.com/gpu.product": "NVIDIA-H200"}
SPEC = "/spec/pytorchReplicaSpecs/Worker/template/spec"
DAEMON = {
    "name": "daemon",
    "image": "registry.example.com/daemon:1",
    "restartPolicy": "Always",
    "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "1Gi"}},
    "volumeMounts": [{"name": "socket", "mountPath": "/run/daemon"}],
}
SOCKET = {"name": "socket", "emptyDir": {}}
MOUNT = {"name": "socket", "mountPath": "/run/daemon"}
RECIPE = {"initContainers": [DAEMON], "volumes": [SOCKET], "volumeMounts": [MOUNT]}


def site(recipe: dict[str, Any]) -> Evaluator:
    return evaluator(
        {
            "pools": [{"name": "h200", "nodeSelector": PRODUCT, "fabric": "rails"}],
            "fabrics": {"rails": {"recipe": recipe}},
            "mutations": {
                "rules": [
                    {"mutation": "*", "action": "off"},
                    {"mutation": "fabric-recipe", "action": "apply"},
                ]
            },
        }
    )


def job(*, container: dict[str, Any] | None = None, **fields: Any) -> paths.Object:
    worker = builders.container("pytorch", gpus=8, **(container or {}))
    return builders.pytorch_job(
        builders.template(worker, builders.container("logs"), nodeSelector=PRODUCT, **fields), workers=2
    )


def mutated(value: paths.Object, recipe: dict[str, Any] | None = None) -> paths.Object:
    return site(recipe or RECIPE).mutate(Request(value=value, namespace="research")).value


def spec(value: paths.Object) -> Any:
    return paths.resolve(value, SPEC)


def test_the_pod_gets_the_containers_and_volumes_and_what_trains_the_mounts() -> None:
    found = spec(mutated(job()))

    assert found["initContainers"] == [DAEMON]
    assert found["volumes"] == [SOCKET]
    assert [each.get("volumeMounts") for each in found["containers"]] == [[MOUNT], None]


def test_a_second_time_changes_nothing() -> None:
    once = mutated(job())

    assert mutated(once) == once


def test_what_the_api_server_writes_into_it_does_not_make_it_another_one() -> None:
    once = mutated(job())
    daemon = spec(once)["initContainers"][0]
    daemon |= {"terminationMessagePath": "/dev/termination-log", "imagePullPolicy": "IfNotPresent"}
    daemon["resources"] = {"requests": {"cpu": "1000m", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "1Gi"}}

    assert mutated(once) == once


@pytest.mark.parametrize(
    "own",
    [
        job(initContainers=[{"name": "daemon", "image": "registry.example.com/daemon:2"}]),
        job(volumes=[{"name": "socket", "hostPath": {"path": "/run"}}]),
        job(
            container={"volumeMounts": [{"name": "run", "mountPath": "/run"}]},
            volumes=[{"name": "run", "emptyDir": {}}],
        ),
    ],
    ids=["another container", "another volume", "another mount above it"],
)
def test_a_pod_with_something_of_its_own_in_place_of_a_part_gets_no_part(own: paths.Object) -> None:
    assert mutated(own) == own


def test_a_name_in_the_other_list_of_containers_is_taken_too() -> None:
    own = job(initContainers=[{"name": "beside", "image": "registry.example.com/other:1"}])

    assert mutated(own, {"containers": [{"name": "beside", "image": "registry.example.com/daemon:1"}]}) == own


def test_annotations_go_with_the_recipe_or_refuse_it() -> None:
    key = "devices.gke.io/container.daemon"
    annotated = {**RECIPE, "annotations": {key: "- path: /dev/nvidia0"}}
    pointer = SPEC.removesuffix("/spec") + "/metadata/annotations"
    other = job()
    paths.resolve(other, SPEC.removesuffix("/spec"))["metadata"] = {"annotations": {key: "- path: /dev/nvidia1"}}  # type: ignore[call-overload,index]  # made by builders

    assert paths.resolve(mutated(job(), annotated), pointer) == {key: "- path: /dev/nvidia0"}
    assert mutated(other, annotated) == other


def test_a_value_holds_a_wanted_one_if_it_has_all_its_fields() -> None:
    assert strategies.holds_wanted({"a": [{"b": "1"}], "c": 2}, {"a": [{"b": "1"}]})
    assert not strategies.holds_wanted({"a": []}, {"a": [{"b": "1"}]})
    assert not strategies.holds_wanted({"readOnly": True}, {"readOnly": False})
    assert not strategies.holds_wanted(True, "1")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({}, "the recipe is empty"),
        ({"containers": [{"image": "a"}]}, "it has no name"),
        ({"containers": [{"name": "a"}]}, "container a has no image"),
        (
            {"containers": [{"name": "a", "image": "b", "resources": {"limits": {"nvidia.com/gpu": 1}}}]},
            "asks for nvidia.com/gpu; a recipe may ask only for",
        ),
        ({"containers": [{"name": "a", "image": "b", "resources": 1}]}, "is not a mapping"),
        ({"volumes": [{"name": "a"}]}, "needs exactly one source"),
        ({"volumes": [SOCKET, SOCKET]}, "several entries are volumes named socket"),
        ({"initContainers": [DAEMON]}, "socket is mounted, but volumes has no volume of that name"),
        ({"volumes": [SOCKET], "volumeMounts": [{"name": "socket", "mountPath": "run"}]}, "no absolute mountPath"),
        ({**RECIPE, "annotations": {"devices.gke.io/container.other": "x"}}, "does not end with the name"),
        ({"volumes": [{"name": "a", "hostPath": {"path": "/" + "a" * 20000}}]}, "has more than 16384 bytes"),
    ],
)
def test_a_wrong_recipe_is_refused_with_its_reason(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Recipe.model_validate(wrong)


def test_a_recipe_joins_the_other_keys_of_its_base() -> None:
    config = models.Config.model_validate({"fabrics": {"own": {"base": "gcp-tcpxo", "recipe": RECIPE}}})

    assert config.fabric("own").recipe is not None
    assert config.fabric("own").needs
