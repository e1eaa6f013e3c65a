"""Adds intended values to the object itself: labels, annotations, and the settings of a gang."""

from typing import Final

from usher import model, paths
from usher.mutation.editing import Edit
from usher.mutation.skip_reasons import ALREADY_THERE, NO_PLACE, USER_DECIDES, set_if_absent, set_unless_chosen

_GANG_PLACES: Final = {
    "queue": "queue",
    "minimum": "minimum",
    "priorityClass": "priority_class",
    "scheduler": "scheduler",
}
"""Settings of a gang, with the attributes of `model.GangPlaces` that hold their places in a kind."""


def kueue_label(edit: Edit, workload: model.Workload, value: paths.Object) -> str:
    """Adds a label where Kueue reads it."""
    if workload.queue_label_path is None:
        return NO_PLACE
    manager: paths.Object = {"name": value.get("managedBy", "")}
    if "managedBy" in value:
        managed_by(Edit(edit.value), workload, manager)  # raises before the first write
    reason = set_if_absent(edit, workload.queue_label_path + "/labels", _entry(value))
    if not reason and "managedBy" in value:
        # One intent: a job that MultiKueue manages outside of its queue would never run.
        managed_by(edit, workload, manager)
    return reason


def label(edit: Edit, _workload: model.Workload, value: paths.Object) -> str:
    """Adds a label to the object."""
    return set_if_absent(edit, "/metadata/labels", _entry(value))


def gang_setting(edit: Edit, workload: model.Workload, value: paths.Object) -> str:
    """Adds a gang setting where the kind has it, in a field, a label or an annotation, or over a default of its CRD."""
    attribute = _GANG_PLACES.get(str(value["setting"]))
    place: str | None = getattr(workload.gang_places, attribute) if attribute is not None else None
    if place is None:
        return NO_PLACE
    return set_unless_chosen(edit, place, value["value"], instead=value.get("instead"))


def lifetime(edit: Edit, workload: model.Workload, value: paths.Object) -> str:
    """Sets the deadline of an object, or how long it stays after its end."""
    places = workload.lifecycle_places
    if value["setting"] == "deadline":
        return _timed(edit, places.deadline, value["seconds"], rivals=places.deadline_rivals)
    if value["setting"] == "ttl":
        return _timed(edit, places.ttl, value["seconds"], rivals=places.ttl_rivals, switch=places.ttl_switch)
    return NO_PLACE


def _timed(
    edit: Edit, place: str | None, seconds: paths.Json, *, rivals: tuple[str, ...], switch: str | None = None
) -> str:
    if place is None:
        return NO_PLACE
    if edit.get(place) == seconds and (switch is None or edit.get(switch) is True):
        return ALREADY_THERE
    if any(edit.get(rival) is not None for rival in rivals):
        return USER_DECIDES
    # A CRD with a switch has 0 as the default of the time.
    reason = set_unless_chosen(edit, place, seconds, instead=None if switch is None else 0)
    if not reason and switch is not None:
        edit.add(switch, True)
    return reason


def managed_by(edit: Edit, workload: model.Workload, value: paths.Object) -> str:
    """Names the controller of an object, instead of the default of its CRD."""
    places = workload.lifecycle_places
    if places.managed_by is None:
        return NO_PLACE
    return set_unless_chosen(edit, places.managed_by, value["name"], instead=places.managed_by_default)


def _entry(value: paths.Object) -> paths.Object:
    return {str(value["key"]): value["value"]}
