"""Adds intended values to a container: variables, resources, capabilities, and files with their mounts."""

from typing import Final

from usher import errors, model, paths, quantities
from usher.kinds.reading.environment import is_operators
from usher.kinds.reading.shapes import clean_path
from usher.mutation.editing import Edit, copied
from usher.mutation.pods import place_of
from usher.mutation.skip_reasons import (
    ALREADY_THERE,
    NOT_CHANGEABLE,
    USER_DECIDES,
    is_same,
    list_at,
    named,
    set_if_absent,
)

OPAQUE: Final = "what its envFrom brings is not known here, and may set it; set it in env, or leave envFrom out"
PARTIAL: Final = (
    "the resources of the runtime are not known here or hold claims, and a block with the device alone would hide its "
    "GPUs; set spec.trainer.resourcesPerNode with all resources of a node"
)
INHERITED: Final = "the runtime sets its resources, and a block with some of them would hide the others"
MOUNTED: Final = "something else is mounted there, or above it"


def environment(edit: Edit, container: model.Container, pod_set: model.PodSet, value: paths.Object) -> str:
    """Adds a variable to a container, unless it has or may have one of that name, or its operator sets it.

    A second entry of a name would replace the user's without a warning, and so would one over a variable of `envFrom`.
    """
    return _add_variable(edit, container, pod_set, value, respecting_sources=True)


def enforced_environment(edit: Edit, container: model.Container, pod_set: model.PodSet, value: paths.Object) -> str:
    """Adds a variable even if `envFrom` may bring one of that name; the added one wins."""
    return _add_variable(edit, container, pod_set, value, respecting_sources=False)


def mounted(edit: Edit, container: model.Container, pod_set: model.PodSet, value: paths.Object) -> str:
    """Adds a volume, its mount, and the variable that names it if the intent has one: all of it or nothing."""
    if not pod_set.changeable:
        return NOT_CHANGEABLE
    volume, variable = value["volume"], value.get("variable")
    if not isinstance(volume, dict):
        raise errors.MutationError(f"a volume was expected for {container.path}")
    mount: paths.Object = {"name": volume["name"]}
    mount.update({key: value[key] for key in ("mountPath", "subPath", "readOnly") if key in value})
    volumes_place, mounts_place = place_of(pod_set, "volumes"), container.path + "/volumeMounts"
    has_volume = named(list_at(edit, volumes_place), "name", volume["name"])
    if has_volume is not None and not is_same(has_volume, volume):
        return f"the pod has another volume named {volume['name']}"
    there = mounted_over(edit, container, str(mount["mountPath"]))
    if any(not _is_same_mount(each, mount) for each in there):
        return MOUNTED
    # Read every place before the first write, so that an intent never applies in part. Equal entries stay as they are.
    lacking = [place for place, has in ((volumes_place, has_volume), (mounts_place, there)) if not has]
    if isinstance(variable, dict):
        reason = _why_not(edit, container, pod_set, variable, respecting_sources=True)
        if reason not in ("", ALREADY_THERE):
            return reason
        lacking += [] if reason else [_environment_place(container)]
    for place, each in ((volumes_place, volume), (mounts_place, mount), (_environment_place(container), variable)):
        if place in lacking:
            edit.append(place, each)
    return "" if lacking else ALREADY_THERE


def resource(edit: Edit, container: model.Container, pod_set: model.PodSet, value: paths.Object) -> str:
    """Adds a limit of a resource that the container does not name; Kubernetes also uses it as the request."""
    name, amount = str(value["name"]), str(value["amount"])
    if not pod_set.changeable and not _takes_resources(container):
        return NOT_CHANGEABLE
    for held in (container.limits, container.requests):
        if name in held:
            return ALREADY_THERE if held[name] == quantities.parse(amount) else USER_DECIDES
    if _hides_resources(edit, container):
        return _with_inherited(edit, container, name, amount)
    return _set_at(edit, _resource_place(container, "limits", name), amount)


def request(edit: Edit, container: model.Container, pod_set: model.PodSet, value: paths.Object) -> str:
    """Adds a request of a resource for which the container sets only a limit."""
    if not pod_set.changeable and not _takes_resources(container):
        return NOT_CHANGEABLE
    name, amount = str(value["name"]), str(value["amount"])
    if name in container.requests:
        return ALREADY_THERE if container.requests[name] == quantities.parse(amount) else USER_DECIDES
    if container.resources_path and not container.places:
        return INHERITED
    return _set_at(edit, _resource_place(container, "requests", name), amount)


def capability(edit: Edit, container: model.Container, pod_set: model.PodSet, value: paths.Object) -> str:
    """Adds a Linux capability, unless the container drops it by name or has all of them."""
    if not pod_set.changeable:
        return NOT_CHANGEABLE
    context = container.path + "/securityContext"
    if edit.get(context + "/privileged") is True:
        return ALREADY_THERE
    name = str(value["name"])
    if name in _capabilities(edit, context + "/capabilities/drop"):
        return USER_DECIDES
    if {name, "ALL"} & _capabilities(edit, context + "/capabilities/add"):
        return ALREADY_THERE
    edit.append(context + "/capabilities/add", name)
    return ""


def pre_stop(edit: Edit, container: model.Container, pod_set: model.PodSet, value: paths.Object) -> str:
    """Adds a preStop hook to a container without one."""
    if not pod_set.changeable:
        return NOT_CHANGEABLE
    return set_if_absent(edit, container.path + "/lifecycle", {"preStop": {"exec": {"command": value["command"]}}})


def _add_variable(
    edit: Edit, container: model.Container, pod_set: model.PodSet, value: paths.Object, *, respecting_sources: bool
) -> str:
    reason = _why_not(edit, container, pod_set, value, respecting_sources=respecting_sources)
    if not reason:
        edit.append(_environment_place(container), value)
    return reason


def _why_not(
    edit: Edit, container: model.Container, pod_set: model.PodSet, value: paths.Object, *, respecting_sources: bool
) -> str:
    """Why a variable is not added to a container; empty if it is added."""
    if not pod_set.changeable and not container.environment_path:
        return NOT_CHANGEABLE
    name = str(value["name"])
    present = named(list_at(edit, _environment_place(container)), "name", name)
    if present is not None:
        return ALREADY_THERE if is_same(present, value) else USER_DECIDES
    if name in container.environment_elsewhere or any(each.name == name for each in container.environment):
        return USER_DECIDES
    if is_operators(name, pod_set.operator_environment | container.reserved_environment):
        return f"the operator sets {name} itself"
    if respecting_sources and any(_may_bring(each, name) for each in _sources(edit, container)):
        return OPAQUE
    return ""


def _sources(edit: Edit, container: model.Container) -> list[paths.Json]:
    """The entries of `envFrom`; for a container in another object usher only knows that they exist."""
    found = edit.get(container.path + "/envFrom")
    if found is None:
        found = container.fields.get("envFrom")
    return found if isinstance(found, list) else []


def _may_bring(source: paths.Json, name: str) -> bool:
    """Whether an entry of `envFrom` may bring a variable. An entry with a prefix brings only names with this prefix."""
    if not isinstance(source, dict):
        return True
    prefix = source.get("prefix")
    return name.startswith(prefix) if isinstance(prefix, str) else True


def mounted_over(edit: Edit, container: model.Container, path: str) -> list[paths.Object]:
    """The mounts of the container at a path, or above it: there its user has replaced the files of the image."""
    entries = [
        (each, clean_path(place))
        for field, name in (("volumeMounts", "mountPath"), ("volumeDevices", "devicePath"))
        for each in list_at(edit, f"{container.path}/{field}")
        if isinstance(each, dict) and isinstance(place := each.get(name), str)
    ]
    return [each for each, place in entries if place and f"{clean_path(path)}/".startswith(f"{place.rstrip('/')}/")]


def _is_same_mount(present: paths.Object, wanted: paths.Object) -> bool:
    written = present.get("mountPath")
    return is_same({**present, "mountPath": clean_path(written) if isinstance(written, str) else written}, wanted)


def _capabilities(edit: Edit, pointer: str) -> set[str]:
    """Capabilities as container runtimes read them: in upper case."""
    return {each.upper() for each in list_at(edit, pointer) if isinstance(each, str)}


def _hides_resources(edit: Edit, container: model.Container) -> bool:
    """Whether a new entry at the place for resources would hide those that another object gives the container.

    Trainer 2.3 counts the GPUs of a node, and so its processes, in `resourcesPerNode` alone (kubeflow/trainer#3974).
    Older versions replace all resources of the runtime by this block.
    """
    return bool(container.resources_path) and not edit.get(container.resources_path)


def _with_inherited(edit: Edit, container: model.Container, name: str, amount: str) -> str:
    """Writes all resources that the container has, and the new limit."""
    inherited = container.inherited_resources
    if inherited is None:
        return PARTIAL
    limits = inherited.get("limits")
    whole = {**inherited, "limits": {**(limits if isinstance(limits, dict) else {}), name: amount}}
    edit.add(container.resources_path, copied(whole))
    return ""


def _takes_resources(container: model.Container) -> bool:
    return bool(container.places or container.resources_path)


def _resource_place(container: model.Container, list_name: str, name: str) -> str:
    if container.resources_path:
        return paths.join(container.resources_path, list_name, name)
    return container.resource_path(list_name, name)


def _environment_place(container: model.Container) -> str:
    return container.environment_path or container.path + "/env"


def _set_at(edit: Edit, pointer: str, value: paths.Json) -> str:
    return set_if_absent(edit, pointer.rpartition("/")[0], {paths.split(pointer)[-1]: value})
