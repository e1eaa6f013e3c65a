"""Merges a component of an InferenceService with its runtime: containers, labels and annotations.

KS:pkg/controller/v1beta1/inferenceservice/components/predictor.go, buildPodSpec and buildObjectMeta.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from usher import paths
from usher.kinds.kserve.layers import Layers, container, first, inside
from usher.reading import annotated_requests
from usher.reading.pod_templates import listed
from usher.reading.templates import ContainerPlace, Place
from usher.reading.values import Reading

SERVING: Final = "kserve-container"
"""Name of the container that serves the model. KServe sets it, whatever name the manifest has."""

_TRANSFORMING: Final = "transformer-container"


def containers(component: Layers, framework: Layers, runtime: Layers, reading: Reading) -> Iterator[ContainerPlace]:
    """The containers of a component. KServe merges those that serve and transform with those of the runtime.

    All other containers of both are unchanged.

    Args:
        component: a predictor, a transformer or an explainer.
        framework: its field that holds a container and more fields, for example `model`.
        runtime: the spec of the runtime, if it is known.
        reading: records what KServe would refuse.
    """
    yield from listed({"initContainers": first(component, "initContainers")}, reading)
    own = list(_places(first(component, "containers"), reading))
    others = [place for layer in runtime for place in _places(first((layer,), "containers"), reading)]
    serving = _named(others, SERVING)
    if framework and runtime and not serving:
        reading.unknown(runtime[0].path, f"it has no container {SERVING}: KServe makes no pods of it")
    if framework:
        yield container((*framework, *serving), reading, name=SERVING)
    transforming = (*_named(own, _TRANSFORMING), *_named(others, _TRANSFORMING)) if runtime else ()
    if transforming:
        yield container(transforming, reading)
    merged = {place.path for place in (*serving, *transforming)}
    for place in (*others, *own):
        if place.path not in merged:
            yield container((place,), reading)


def _places(containers: Place, reading: Reading) -> Iterator[Place]:
    for path, value in reading.items(*containers):
        yield Place(value, path)


def _named(places: Iterable[Place], name: str) -> Layers:
    """The first container of a name, if there is one."""
    return tuple(place for place in places if isinstance(place.value, dict) and place.value.get("name") == name)[:1]


def metadata(
    component: Layers, runtime: Layers, *, labels: Mapping[str, str], annotations: Mapping[str, str], reading: Reading
) -> Place:
    """Labels and annotations of the pods. The component wins over the object, and the object over the runtime."""
    value, path = component[0]
    merged: dict[str, paths.Json] = {}
    for field, inherited in (("labels", labels), ("annotations", annotations)):
        own = value.get(field) if isinstance(value, dict) else None
        if own is not None and not isinstance(own, dict):
            # The reader of this field records its wrong type.
            merged[field] = own
            continue
        below: dict[str, tuple[str, str]] = {}
        for texts, texts_path in (
            *((reading.strings(*place), place.path) for place in reversed(inside(runtime, field, reading))),
            (inherited, f"/metadata/{field}"),
            *((reading.strings(*place), place.path) for place in reversed(inside(component[1:], field, reading))),
        ):
            below |= {key: (text, texts_path) for key, text in texts.items() if key not in (own or {})}
        if field == "annotations":
            _drop_unreadable(below, own or {}, reading)
        merged[field] = {**{key: text for key, (text, _) in below.items()}, **(own or {})}
    return Place(merged, path)


def _drop_unreadable(below: dict[str, tuple[str, str]], own: Mapping[str, paths.Json], reading: Reading) -> None:
    """Removes inherited annotations whose accelerator request is unreadable, and records each at its own path.

    The merged annotations have only the path of the component.
    """
    inner = Reading()
    texts = {key: text for key, (text, _) in below.items()}
    texts |= {key: text for key, text in own.items() if isinstance(text, str)}
    annotated_requests.of_pod(texts, paths.ROOT, inner)
    for unknown in inner.found():
        key = paths.split(unknown.path)[-1]
        if key in below:
            reading.unknown(paths.join(below.pop(key)[1], key), unknown.reason)
