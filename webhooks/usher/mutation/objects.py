"""How intended values join the object itself: labels, annotations, and what makes a gang of its pods."""

from typing import Final

from usher import model, paths
from usher.mutation.editing import Edit
from usher.mutation.skip_reasons import NO_PLACE, set_if_absent, set_unless_chosen

_GANG_PLACES: Final = {
    "queue": "queue",
    "minimum": "minimum",
    "priorityClass": "priority_class",
    "scheduler": "scheduler",
}
"""Settings of a gang, with the attributes of `model.GangPlaces` that say where a kind has them."""


def kueue_label(edit: Edit, workload: model.Workload, value: paths.Object) -> str:
    """Adds a label where Kueue reads it."""
    if workload.queue_label_path is None:
        return NO_PLACE
    return set_if_absent(edit, workload.queue_label_path + "/labels", _entry(value))


def label(edit: Edit, _workload: model.Workload, value: paths.Object) -> str:
    """Adds a label to the object."""
    return set_if_absent(edit, "/metadata/labels", _entry(value))


def gang_setting(edit: Edit, workload: model.Workload, value: paths.Object) -> str:
    """Adds a setting where the kind has it, in a field, a label or an annotation, or where a default of its CRD is."""
    attribute = _GANG_PLACES.get(str(value["setting"]))
    place: str | None = getattr(workload.gang_places, attribute) if attribute is not None else None
    if place is None:
        return NO_PLACE
    return set_unless_chosen(edit, place, value["value"], instead=value.get("instead"))


def _entry(value: paths.Object) -> paths.Object:
    return {str(value["key"]): value["value"]}
