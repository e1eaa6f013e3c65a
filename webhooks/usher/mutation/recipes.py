"""Adds the recipe of a fabric to a pod template: containers, volumes and mounts, all of them or nothing."""

from collections.abc import Callable
from typing import Final

from usher import errors, model, paths, quantities
from usher.mutation.containers import MOUNTED, mounted_over
from usher.mutation.editing import Edit
from usher.mutation.pods import place_of
from usher.mutation.skip_reasons import ALREADY_THERE, ELSEWHERE, NOT_CHANGEABLE, USER_DECIDES, list_at, named

_Addition = tuple[str, paths.Json, Callable[[str, paths.Json], None]]
"""A place, a value, and a function that writes it there."""

_LISTS: Final = {"initContainers": "container", "containers": "container", "volumes": "volume"}
_CONTAINERS: Final = ("initContainers", "containers")


def recipe(edit: Edit, pod_set: model.PodSet, value: paths.Object) -> str:
    """Adds the missing parts of a recipe, unless another object uses one of its names or mount paths.

    `containers` of the value holds the paths of the containers that get the mounts.
    """
    if not pod_set.changeable:
        return NOT_CHANGEABLE
    wanted, at = value["recipe"], value["containers"]
    if not isinstance(wanted, dict) or not isinstance(at, list):
        raise errors.MutationError(f"a recipe was expected for {pod_set.path}")
    if not all(str(each).startswith(place_of(pod_set, "containers") + "/") for each in at):
        return ELSEWHERE
    # Read every place before the first write, so that a recipe never applies in part.
    additions: list[_Addition] = []
    for part in (
        _lists(edit, pod_set, wanted),
        _mounts(edit, [each for each in pod_set.containers if each.path in at], wanted),
        _annotations(edit, pod_set, wanted),
    ):
        if isinstance(part, str):
            return part
        additions += part
    for place, each, write in additions:
        write(place, each)
    return "" if additions else ALREADY_THERE


def _lists(edit: Edit, pod_set: model.PodSet, wanted: paths.Object) -> list[_Addition] | str:
    """The containers and volumes that the template lacks; a reason if a name is taken."""
    lacking: list[_Addition] = []
    for field, noun in _LISTS.items():
        for entry in _entries(wanted, field):
            found = _present(edit, pod_set, field, entry["name"])
            if found is not None and not holds(found, entry):
                return f"the pod has another {noun} named {entry['name']}"
            lacking += [] if found is not None else [(place_of(pod_set, field), entry, edit.append)]
    return lacking


def _mounts(edit: Edit, containers: list[model.Container], wanted: paths.Object) -> list[_Addition] | str:
    """The mounts that the containers lack; a reason if a mount path is taken."""
    lacking: list[_Addition] = []
    for container in containers:
        for mount in _entries(wanted, "volumeMounts"):
            there = mounted_over(edit, container, str(mount["mountPath"]))
            if any(not holds(each, mount) for each in there):
                return MOUNTED
            lacking += [] if there else [(container.path + "/volumeMounts", mount, edit.append)]
    return lacking


def _annotations(edit: Edit, pod_set: model.PodSet, wanted: paths.Object) -> list[_Addition] | str:
    """The annotations that the pods lack; a reason if one has another value."""
    pointer, notes = pod_set.metadata_path + "/annotations", wanted.get("annotations")
    found = edit.get(pointer)
    has = found if isinstance(found, dict) else {}
    missing = {key: text for key, text in (notes if isinstance(notes, dict) else {}).items() if has.get(key) != text}
    if missing and (not isinstance(found, dict | None) or any(has.get(key) not in (None, "") for key in missing)):
        return USER_DECIDES
    return [(paths.join(pointer, key), text, edit.add) for key, text in missing.items()]


def holds(present: paths.Json, wanted: paths.Json) -> bool:
    """Whether a value has all wanted parts; the API server and others may have added to it."""
    if isinstance(present, dict) and isinstance(wanted, dict):
        return all(key in present and holds(present[key], each) for key, each in wanted.items())
    if isinstance(present, list) and isinstance(wanted, list):
        return len(present) >= len(wanted) and all(map(holds, present, wanted))
    return present == wanted or _is_same_quantity(present, wanted)


def _is_same_quantity(present: paths.Json, wanted: paths.Json) -> bool:
    """Whether the API server spells an amount differently from usher.yaml."""
    if isinstance(present, bool) or isinstance(wanted, bool):
        return False
    try:
        return quantities.parse(present) == quantities.parse(wanted)
    except errors.QuantityError:
        return False


def _entries(wanted: paths.Object, field: str) -> list[paths.Object]:
    found = wanted.get(field)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _present(edit: Edit, pod_set: model.PodSet, field: str, name: paths.Json) -> paths.Object | None:
    """The entry of that name. All containers of a pod share their names, in all three lists."""
    for each in _CONTAINERS if field in _CONTAINERS else (field,):
        found = named(list_at(edit, place_of(pod_set, each)), "name", name)
        if found is not None:
            return found if each == field else {}
    return None
