"""Further needs of a fabric beside variables and devices: containers and volumes that the site writes as in a pod."""

from typing import Annotated, Any, Final

import orjson
from pydantic import AfterValidator, Field, model_validator

from usher.config.fields import LabelKey, Section, repeated

_LARGEST: Final = 16 * 1024
"""Bytes of one container or volume as JSON."""
_PLAIN_RESOURCES: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
_CLAIMING: Final = ("claims",)


def _is_named(value: dict[str, Any]) -> dict[str, Any]:
    name = value.get("name")
    if not isinstance(name, str) or not name:
        raise ValueError("it has no name; give it one, as in a pod")
    if len(orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)) > _LARGEST:
        raise ValueError(f"{name} has more than {_LARGEST} bytes")
    return value


def _is_container(value: dict[str, Any]) -> dict[str, Any]:
    name, image, resources = value["name"], value.get("image"), value.get("resources", {})
    if not isinstance(image, str) or not image:
        raise ValueError(f"container {name} has no image; name one that the site offers")
    if not isinstance(resources, dict):
        raise ValueError(f"resources of container {name} is not a mapping")
    devices = {
        key
        for amounts in ("limits", "requests")
        for key in (resources.get(amounts) or {})
        if key not in _PLAIN_RESOURCES
    }
    if devices or any(resources.get(key) for key in _CLAIMING):
        raise ValueError(
            f"container {name} asks for {', '.join(sorted(devices)) or 'device claims'}; a recipe may ask only for "
            f"{', '.join(sorted(_PLAIN_RESOURCES))}, because devices belong to the pod's own containers"
        )
    return value


def _is_volume(value: dict[str, Any]) -> dict[str, Any]:
    if len(value) != 2:
        raise ValueError(f"volume {value['name']} needs exactly one source beside its name, for example hostPath")
    return value


def _is_mount(value: dict[str, Any]) -> dict[str, Any]:
    if not str(value.get("mountPath", "")).startswith("/"):
        raise ValueError(f"the mount of volume {value['name']} has no absolute mountPath")
    return value


Named = Annotated[dict[str, Any], AfterValidator(_is_named)]
Container = Annotated[Named, AfterValidator(_is_container)]
Volume = Annotated[Named, AfterValidator(_is_volume)]
Mount = Annotated[Named, AfterValidator(_is_mount)]


class Recipe(Section):
    """Parts of a pod that a plugin of the fabric needs, written as in a pod; usher adds all of them or nothing."""

    init_containers: list[Container] = Field(
        default=[],
        max_length=8,
        description="Init containers. One with `restartPolicy: Always` runs beside the training as a sidecar, which "
        "needs Kubernetes 1.29; older versions would wait for it for ever.",
    )
    containers: list[Container] = Field(
        default=[],
        max_length=8,
        description="Containers beside those of the pod. A Job ends only when these end too, so prefer a sidecar among "
        "initContainers.",
    )
    volumes: list[Volume] = Field(default=[], max_length=32, description="Volumes of the pod.")
    volume_mounts: list[Mount] = Field(
        default=[], max_length=32, description="Mounts of these volumes in the containers that train."
    )

    annotations: dict[LabelKey, str] = Field(
        default={},
        max_length=16,
        description="Annotations of the pods that name a container of the recipe, as GKE reads them: "
        "devices.gke.io/container.tcpxo-daemon.",
    )

    @model_validator(mode="after")
    def _check_names(self) -> "Recipe":
        for what, entries in (("container", [*self.init_containers, *self.containers]), ("volume", self.volumes)):
            names = [each["name"] for each in entries]
            twice = repeated(names)
            if twice:
                raise ValueError(f"several entries are {what}s named {', '.join(twice)}; give each its own name")
        volumes = {each["name"] for each in self.volumes}
        inside = [mount for each in (*self.init_containers, *self.containers) for mount in each.get("volumeMounts", [])]
        stray = sorted({str(mount["name"]) for mount in (*self.volume_mounts, *inside)} - volumes)
        if stray:
            raise ValueError(f"{', '.join(stray)} is mounted, but volumes has no volume of that name; add it")
        containers = {each["name"] for each in (*self.init_containers, *self.containers)}
        foreign = [key for key in self.annotations if key.partition("/")[2].partition(".")[2] not in containers]
        if foreign:
            raise ValueError(f"{', '.join(foreign)} does not end with the name of a container of the recipe")
        if not (self.init_containers or self.containers or self.volumes):
            raise ValueError("the recipe is empty; set initContainers, containers or volumes, or leave it out")
        return self
