"""Reads the pod templates and pod specs that Kubernetes defines, wherever an object holds them."""

from collections.abc import Iterator, Mapping

from usher import model
from usher.reading.templates import LISTS, NOWHERE, ONE, PLAIN, ContainerPlace, Place, Template, Traits
from usher.reading.values import Reading


def listed(lists: Mapping[str, Place], reading: Reading) -> Iterator[ContainerPlace]:
    """The containers of a pod spec, whose three lists are given by their names."""
    for name, kind in LISTS:
        if name not in lists:
            continue
        for path, value in reading.items(*lists[name]):
            policy = value.get("restartPolicy")
            if policy is not None:
                policy = reading.text(policy, path + "/restartPolicy")
            sidecar = kind is model.ContainerType.INIT and policy == "Always"
            yield ContainerPlace(value=value, path=path, type=model.ContainerType.SIDECAR if sidecar else kind)


def pod_template(
    place: Place, reading: Reading, *, name: str = "", count: model.Count = ONE, traits: Traits = PLAIN
) -> Template:
    """The template of a PodTemplateSpec: an object with `metadata` and `spec`."""
    value, path = reading.mapping(*place), place.path
    return Template(
        name=name,
        path=path,
        spec=Place(value.get("spec"), path + "/spec"),
        metadata=Place(value.get("metadata"), path + "/metadata"),
        count=count,
        traits=traits,
    )


def pod_spec(
    place: Place,
    *,
    name: str = "",
    metadata: Place = NOWHERE,
    count: model.Count = ONE,
    traits: Traits = PLAIN,
) -> Template:
    """The template of a bare PodSpec, or of an object whose fields include those of one (KServe's predictors)."""
    return Template(name=name, path=place.path, spec=place, metadata=metadata, count=count, traits=traits)
