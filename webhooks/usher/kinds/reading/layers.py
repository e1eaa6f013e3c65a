"""One value out of several layers, where nearer layers override the defaults below them (Argo, Tekton).

Layers come nearest first. A value of a single layer is taken unchanged. A value merged from several layers holds only
the parts that could be read, because an entry may come from another place than its path suggests.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from usher import paths
from usher.kinds.reading import environment
from usher.kinds.reading.templates import NOWHERE, Place
from usher.kinds.reading.values import Reading

_TOLERATION: Final = ("key", "operator", "value", "effect")
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"

_SHARED: Final = 500_000
"""Nodes of JSON that usher may read repeatedly, because many pod templates share them."""

Layers = Sequence[Place]


def field(layers: Layers, name: str) -> tuple[Place, ...]:
    """A field of every layer that is an object; other layers are left out."""
    return tuple(
        Place(layer.value.get(name), f"{layer.path}/{name}") for layer in layers if isinstance(layer.value, dict)
    )


def nearest(layers: Layers) -> Place:
    """The nearest layer that is not empty, else the nearest of all; NOWHERE if there are no layers."""
    return next((layer for layer in layers if is_set(layer)), layers[0] if layers else NOWHERE)


def is_set(layer: Place) -> bool:
    """Whether the layer has a value. Empty lists, objects and texts do not count, as in Go."""
    return layer.value is not None and layer.value not in ("", [], {})


def strings(layers: Layers, reading: Reading) -> Place:
    """Objects of strings, merged: labels, annotations, a node selector."""
    found = _set(layers)
    if len(found) < 2:
        return nearest(found or layers)
    merged: dict[str, paths.Json] = {}
    for layer in reversed(found):
        merged.update(reading.strings(*layer))
    return Place(merged, found[0].path)


def resources(layers: Layers, reading: Reading) -> Place:
    """`requests` or `limits`, merged one by one."""
    found = _set(layers)
    if len(found) < 2:
        return nearest(found or layers)
    merged: dict[str, paths.Json] = {}
    for layer in reversed(found):
        merged.update({name: str(quantity) for name, quantity in reading.resources(*layer).items()})
    return Place(merged, found[0].path)


def tolerations(layers: Layers, reading: Reading) -> Place:
    """Lists of tolerations, merged by their keys."""
    found = _set(layers)
    if len(found) < 2:
        return nearest(found or layers)
    merged: dict[str, dict[str, paths.Json]] = {}
    for layer in reversed(found):
        for path, toleration in reading.items(*layer):
            texts = {name: reading.text(toleration.get(name), f"{path}/{name}") for name in _TOLERATION}
            merged.setdefault(texts["key"], {}).update({name: text for name, text in texts.items() if text})
    return Place(list(merged.values()), found[0].path)


def affinity(layers: Layers, reading: Reading) -> Place:
    """Affinities, merged as far as they are read: the required node affinity is taken whole from one of them."""
    found = _set(layers)
    for layer in found:
        path = layer.path + "/nodeAffinity"
        node_affinity = reading.mapping(reading.mapping(*layer).get("nodeAffinity"), path)
        if node_affinity.get(_REQUIRED) is not None:
            return layer
    return nearest(found or layers)


def metadata(layers: Layers, reading: Reading) -> paths.Object:
    """Labels and annotations, merged."""
    labels: dict[str, str] = {}
    annotations: dict[str, tuple[str, str]] = {}
    for layer in reversed(layers):
        value = reading.mapping(*layer)
        labels.update(reading.strings(value.get("labels"), layer.path + "/labels"))
        texts = reading.strings(value.get("annotations"), layer.path + "/annotations")
        annotations.update({key: (text, f"{layer.path}/annotations") for key, text in texts.items()})
    inner = Reading()
    environment.of_pod({key: text for key, (text, _) in annotations.items()}, paths.ROOT, inner)
    for unknown in inner.found():
        # An annotation that asks for accelerators and cannot be read is recorded at its own path.
        key = paths.split(unknown.path)[-1]
        reading.unknown(paths.join(annotations.pop(key)[1], key), unknown.reason)
    return {"labels": {**labels}, "annotations": {key: text for key, (text, _) in annotations.items()}}


def _set(layers: Layers) -> list[Place]:
    return [layer for layer in layers if is_set(layer)]


def by_name(layers: Layers, reading: Reading) -> list[tuple[Place, ...]]:
    """Lists of objects, merged by their names: the layers of each object, in the order in which they are found."""
    found: dict[str, list[Place]] = {}
    for layer in layers:
        for path, value in reading.items(*layer):
            name = reading.text(value.get("name"), path + "/name")
            found.setdefault(name or path, []).append(Place(value, path))
    return [tuple(objects) for objects in found.values()]


class Budget:
    """A budget for reading values that several pod templates share: an object costs no more than its size."""

    __slots__ = ("_left", "_sizes")

    def __init__(self) -> None:
        self._left = _SHARED
        self._sizes: dict[int, tuple[object, int]] = {}

    def spend(self, *shared: object, times: int = 1) -> bool:
        """Whether the shared values may be read again, this number of times."""
        self._left -= times * (1 + sum(self._size(value) for value in shared))
        return not self.is_spent

    @property
    def is_spent(self) -> bool:
        return self._left < 0

    def _size(self, value: object) -> int:
        if not isinstance(value, dict | list):
            return 0
        if id(value) not in self._sizes:
            # The value is kept beside its size, so that no other value gets its id.
            self._sizes[id(value)] = (value, _size(value))
        return self._sizes[id(value)][1]


def _size(value: object) -> int:
    """Objects, lists and entries in a value, counted only as far as needed."""
    stack, found = [value], 0
    while stack and found <= _SHARED:
        node = stack.pop()
        children = node.values() if isinstance(node, Mapping) else node if isinstance(node, list) else ()
        found += len(children)
        stack += [child for child in children if isinstance(child, dict | list)]
    return found


_MERGED_BY: Final[Mapping[str, str]] = {
    **dict.fromkeys(("containers", "initContainers", "ephemeralContainers", "env", "volumes"), "name"),
    **dict.fromkeys(("imagePullSecrets", "resourceClaims", "claims", "schedulingGates"), "name"),
    "ports": "containerPort",
    "volumeMounts": "mountPath",
}
"""Lists of a pod spec whose entries a strategic merge patch merges, by the key of an entry (API:core/v1/types.go)."""


def patched(value: Any, patch: Place, reading: Reading, *, typed: bool = False) -> Any:  # noqa: ANN401 - any JSON
    """A pod template with a strategic merge patch: null removes, entries of lists merge by name, other lists give way.

    Args:
        typed: whether the patch is an object of Go, so that null means nothing. Else directives (`$patch`) are unknown.
    """
    if value is not None and not isinstance(value, dict):
        return dict(reading.mapping(*patch)) if typed else value
    found = dict(value or {})
    for key, each in reading.mapping(*patch).items():
        path = paths.join(patch.path, key)
        if key.startswith("$") and not typed:
            reading.unknown(path, "usher does not apply directives of patches")
        elif each is None and typed:
            found.setdefault(key, None)
        elif each is None:
            found.pop(key, None)
        elif key in _MERGED_BY and not isinstance(each, list):
            reading.unknown(path, "expected a list")
        elif isinstance(found.get(key), dict) and not isinstance(each, dict):
            reading.unknown(path, "expected an object")
        elif isinstance(each, list) and key in _MERGED_BY:
            found[key] = _merged(found.get(key), Place(each, path), _MERGED_BY[key], reading, typed=typed)
        else:
            below = Place(each, path)
            found[key] = patched(found.get(key), below, reading, typed=typed) if isinstance(each, dict) else each
    return found


def _merged(value: paths.Json, patch: Place, key: str, reading: Reading, *, typed: bool) -> paths.Json:
    """A list with the entries of another: those with the key of one change it, others follow."""
    if value is not None and not isinstance(value, list):
        return value
    found = list(value or ())
    named = [(each.get(key) if isinstance(each, dict) else None) for each in found]
    places = {name: index for index, name in enumerate(named) if isinstance(name, str | int)}
    for path, each in reading.items(*patch):
        name = each.get(key)
        if not isinstance(name, str | int | None):
            reading.unknown(f"{path}/{key}", "expected a text or a number")
            continue
        index = None if name is None else places.get(name)
        if index is None:
            found.append(dict(each))
        else:
            found[index] = patched(found[index], Place(each, path), reading, typed=typed)
    return found
