"""One strategy per field: adds an intended value, and never changes a value of the user.

A strategy edits the object if it lacks the value, and returns "". Otherwise it returns why it changed nothing.
So applying an intent twice does the same as applying it once.
"""

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from usher import errors, model, paths, quantities
from usher.policy.mutation import editing, pod_fields
from usher.policy.mutation.pod_fields import MOUNTED, mounts_over, place_of_field

_GANG_PLACES: Final = {
    "queue": "queue",
    "minimum": "minimum",
    "priorityClass": "priority_class",
    "scheduler": "scheduler",
    "native": "native",
}
"""Settings of a gang, with the attributes of `model.GangPlaces` that hold their places in a kind."""


def add_kueue_label(edit: editing.Edit, workload: model.Workload, value: paths.Object) -> str:
    """Adds a label where Kueue reads it."""
    if workload.queue_label_path is None:
        return editing.NO_PLACE
    manager: paths.Object = {"name": value.get("managedBy", "")}
    if "managedBy" in value:
        set_managed_by(editing.Edit(edit.value), workload, manager)  # raises before the first write
    reason = editing.set_if_absent(edit, workload.queue_label_path + "/labels", _entry_of_value(value))
    if not reason and "managedBy" in value:
        # One intent: a job that MultiKueue manages outside of its queue would never run.
        set_managed_by(edit, workload, manager)
    return reason


def add_label(edit: editing.Edit, _workload: model.Workload, value: paths.Object) -> str:
    return editing.set_if_absent(edit, "/metadata/labels", _entry_of_value(value))


def add_gang_setting(edit: editing.Edit, workload: model.Workload, value: paths.Object) -> str:
    """Adds a gang setting where the kind has it, in a field, a label or an annotation, or over a default of its CRD."""
    attribute = _GANG_PLACES.get(str(value["setting"]))
    place: str | None = getattr(workload.gang_places, attribute) if attribute is not None else None
    if place is None:
        return editing.NO_PLACE
    return editing.set_unless_chosen(edit, place, value["value"], instead=value.get("instead"))


def set_lifetime(edit: editing.Edit, workload: model.Workload, value: paths.Object) -> str:
    """Sets the deadline of an object, or how long it stays after its end."""
    places = workload.lifecycle_places
    if value["setting"] == "deadline":
        return _set_seconds(edit, places.deadline, value["seconds"], rivals=places.deadline_rivals)
    if value["setting"] == "ttl":
        return _set_seconds(edit, places.ttl, value["seconds"], rivals=places.ttl_rivals, switch=places.ttl_switch)
    return editing.NO_PLACE


def _set_seconds(
    edit: editing.Edit, place: str | None, seconds: paths.Json, *, rivals: tuple[str, ...], switch: str | None = None
) -> str:
    if place is None:
        return editing.NO_PLACE
    if edit.get(place) == seconds and (switch is None or edit.get(switch) is True):
        return editing.ALREADY_THERE
    if any(edit.get(rival) is not None for rival in rivals):
        return editing.USER_DECIDES
    # A CRD with a switch has 0 as the default of the time.
    reason = editing.set_unless_chosen(edit, place, seconds, instead=None if switch is None else 0)
    if not reason and switch is not None:
        edit.add(switch, True)
    return reason


def set_managed_by(edit: editing.Edit, workload: model.Workload, value: paths.Object) -> str:
    """Names the controller of an object, instead of the default of its CRD."""
    places = workload.lifecycle_places
    if places.managed_by is None:
        return editing.NO_PLACE
    return editing.set_unless_chosen(edit, places.managed_by, value["name"], instead=places.managed_by_default)


def _entry_of_value(value: paths.Object) -> paths.Object:
    return {str(value["key"]): value["value"]}


def add_claim(edit: editing.Edit, container: model.Container, pod_set: model.PodSet, value: paths.Object) -> str:
    """Adds a claim of a ResourceClaimTemplate to the pod, and its use to the container.

    A container that already uses other claims by this name, or a part of this claim, keeps them.
    """
    if not pod_set.changeable:
        return editing.NOT_CHANGEABLE
    if container.places or not container.path.startswith(place_of_field(pod_set, "containers") + "/"):
        return editing.ELSEWHERE
    of_pod: paths.Object = {"name": value["name"], "resourceClaimTemplateName": value["template"]}
    used: paths.Object = {"name": value["name"]}
    lacking: list[tuple[str, paths.Object]] = []
    # Read both places before the first write.
    for place, wanted in (
        (place_of_field(pod_set, "resourceClaims"), of_pod),
        (container.path + "/resources/claims", used),
    ):
        found = editing.entry_named(editing.list_at(edit, place), "name", value["name"])
        if found is not None and not editing.is_same(found, wanted):
            return editing.USER_DECIDES
        lacking += [] if found is not None else [(place, wanted)]
    for place, wanted in lacking:
        edit.append(place, wanted)
    return "" if lacking else editing.ALREADY_THERE


_Addition = tuple[str, paths.Json, Callable[[str, paths.Json], None]]
"""A place, a value, and a function that writes it there."""

_LISTS: Final = {"initContainers": "container", "containers": "container", "volumes": "volume"}
_CONTAINERS: Final = ("initContainers", "containers")


def add_recipe(edit: editing.Edit, pod_set: model.PodSet, value: paths.Object) -> str:
    """Adds the missing parts of a recipe, unless another object uses one of its names or mount paths.

    `containers` of the value holds the paths of the containers that get the mounts.
    """
    if not pod_set.changeable:
        return editing.NOT_CHANGEABLE
    wanted, at = value["recipe"], value["containers"]
    if not isinstance(wanted, dict) or not isinstance(at, list):
        raise errors.MutationError(f"a recipe was expected for {pod_set.path}")
    if not all(str(each).startswith(place_of_field(pod_set, "containers") + "/") for each in at):
        return editing.ELSEWHERE
    # Read every place before the first write, so that a recipe never applies in part.
    additions: list[_Addition] = []
    for part in (
        _missing_entries(edit, pod_set, wanted),
        _missing_mounts(edit, [each for each in pod_set.containers if each.path in at], wanted),
        _missing_annotations(edit, pod_set, wanted),
    ):
        if isinstance(part, str):
            return part
        additions += part
    for place, each, write in additions:
        write(place, each)
    return "" if additions else editing.ALREADY_THERE


def _missing_entries(edit: editing.Edit, pod_set: model.PodSet, wanted: paths.Object) -> list[_Addition] | str:
    """The containers and volumes that the template lacks; a reason if a name is taken."""
    lacking: list[_Addition] = []
    for field, noun in _LISTS.items():
        for entry in _wanted_entries(wanted, field):
            found = _present_entry(edit, pod_set, field, entry["name"])
            if found is not None and not holds_wanted(found, entry):
                return f"the pod has another {noun} named {entry['name']}"
            lacking += [] if found is not None else [(place_of_field(pod_set, field), entry, edit.append)]
    return lacking


def _missing_mounts(
    edit: editing.Edit, containers: list[model.Container], wanted: paths.Object
) -> list[_Addition] | str:
    """The mounts that the containers lack; a reason if a mount path is taken."""
    lacking: list[_Addition] = []
    for container in containers:
        for mount in _wanted_entries(wanted, "volumeMounts"):
            there = mounts_over(edit, container, str(mount["mountPath"]))
            if any(not holds_wanted(each, mount) for each in there):
                return MOUNTED
            lacking += [] if there else [(container.path + "/volumeMounts", mount, edit.append)]
    return lacking


def _missing_annotations(edit: editing.Edit, pod_set: model.PodSet, wanted: paths.Object) -> list[_Addition] | str:
    """The annotations that the pods lack; a reason if one has another value."""
    pointer, notes = pod_set.metadata_path + "/annotations", wanted.get("annotations")
    found = edit.get(pointer)
    has = found if isinstance(found, dict) else {}
    missing = {key: text for key, text in (notes if isinstance(notes, dict) else {}).items() if has.get(key) != text}
    if missing and (not isinstance(found, dict | None) or any(has.get(key) not in (None, "") for key in missing)):
        return editing.USER_DECIDES
    return [(paths.join(pointer, key), text, edit.add) for key, text in missing.items()]


def holds_wanted(present: paths.Json, wanted: paths.Json) -> bool:
    """Whether a value has all wanted parts; the API server and others may have added to it."""
    if isinstance(present, dict) and isinstance(wanted, dict):
        return all(key in present and holds_wanted(present[key], each) for key, each in wanted.items())
    if isinstance(present, list) and isinstance(wanted, list):
        return len(present) >= len(wanted) and all(map(holds_wanted, present, wanted))
    return present == wanted or _is_same_quantity(present, wanted)


def _is_same_quantity(present: paths.Json, wanted: paths.Json) -> bool:
    """Whether the API server spells an amount differently from usher.yaml."""
    if isinstance(present, bool) or isinstance(wanted, bool):
        return False
    try:
        return quantities.parse(present) == quantities.parse(wanted)
    except errors.QuantityError:
        return False


def _wanted_entries(wanted: paths.Object, field: str) -> list[paths.Object]:
    found = wanted.get(field)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _present_entry(edit: editing.Edit, pod_set: model.PodSet, field: str, name: paths.Json) -> paths.Object | None:
    """The entry of that name. All containers of a pod share their names, in all three lists."""
    for each in _CONTAINERS if field in _CONTAINERS else (field,):
        found = editing.entry_named(editing.list_at(edit, place_of_field(pod_set, each)), "name", name)
        if found is not None:
            return found if each == field else {}
    return None


class Strategy(Struct, frozen=True):
    """How an intent about a field is applied: one of the three functions, by the place of the value."""

    words: str
    """The name of the field in messages."""
    needs: set[str]
    """The required keys of a value; other keys are passed on unchanged."""
    identity: tuple[str, ...] = ()
    """The keys that identify a value; intents with the same place, field and identity must agree."""
    on_object: Callable[[editing.Edit, model.Workload, paths.Object], str] | None = None
    on_pod_set: Callable[[editing.Edit, model.PodSet, paths.Object], str] | None = None
    on_container: Callable[[editing.Edit, model.Container, model.PodSet, paths.Object], str] | None = None
    in_metadata: bool = False
    """Whether it changes the metadata of a pod template."""


STRATEGIES: Final[Mapping[str, Strategy]] = {
    "kueueLabel": Strategy("label for Kueue", needs={"key", "value"}, identity=("key",), on_object=add_kueue_label),
    "label": Strategy("label", needs={"key", "value"}, identity=("key",), on_object=add_label),
    "gangSetting": Strategy("gang", needs={"setting", "value"}, identity=("setting",), on_object=add_gang_setting),
    "lifetime": Strategy("time to live", needs={"setting", "seconds"}, identity=("setting",), on_object=set_lifetime),
    "managedBy": Strategy("managedBy", needs={"name"}, on_object=set_managed_by),
    "toleration": Strategy(
        "toleration",
        needs={"key", "effect"},
        identity=("key", "operator", "value", "effect"),
        on_pod_set=pod_fields.add_toleration,
    ),
    "nodeRequirement": Strategy(
        "required node affinity",
        needs={"key", "operator"},
        identity=("key",),
        on_pod_set=pod_fields.add_node_requirement,
    ),
    "schedulerName": Strategy("schedulerName", needs={"name"}, on_pod_set=pod_fields.set_scheduler_name),
    "priorityClass": Strategy("priorityClassName", needs={"name"}, on_pod_set=pod_fields.set_priority_class),
    "annotation": Strategy(
        "annotation", needs={"key", "value"}, identity=("key",), on_pod_set=pod_fields.add_annotation, in_metadata=True
    ),
    "ownLabel": Strategy(
        "label of the template", needs={"key", "value"}, identity=("key",), on_pod_set=pod_fields.add_own_label
    ),
    "network": Strategy(
        "network", needs={"name"}, identity=("name",), on_pod_set=pod_fields.add_network, in_metadata=True
    ),
    "recipe": Strategy("recipe of the fabric", needs={"recipe", "containers"}, on_pod_set=add_recipe, in_metadata=True),
    "gracePeriod": Strategy("terminationGracePeriodSeconds", needs={"seconds"}, on_pod_set=pod_fields.set_grace_period),
    "environment": Strategy("env", needs={"name"}, identity=("name",), on_container=pod_fields.add_environment),
    "enforcedEnvironment": Strategy(
        "env", needs={"name"}, identity=("name",), on_container=pod_fields.enforce_environment
    ),
    "mount": Strategy(
        "volume", needs={"volume", "mountPath"}, identity=("mountPath",), on_container=pod_fields.add_mount
    ),
    "resource": Strategy(
        "resource limit", needs={"name", "amount"}, identity=("name",), on_container=pod_fields.add_resource
    ),
    "request": Strategy(
        "resource request", needs={"name", "amount"}, identity=("name",), on_container=pod_fields.add_request
    ),
    "capability": Strategy("capability", needs={"name"}, identity=("name",), on_container=pod_fields.add_capability),
    "claim": Strategy("device claim", needs={"name", "template"}, identity=("name",), on_container=add_claim),
    "preStop": Strategy("preStop", needs={"command"}, on_container=pod_fields.add_pre_stop),
}
"""By the field of an intent."""

UNSUPPORTED: Final = Strategy("unsupported", needs=set())
"""That of a field without a strategy, which no place can have."""
