"""Adds a device claim: the claim of the pod and its use by the container, both or neither."""

from usher import model, paths
from usher.mutation.editing import Edit
from usher.mutation.pods import place_of
from usher.mutation.skip_reasons import ALREADY_THERE, ELSEWHERE, NOT_CHANGEABLE, USER_DECIDES, is_same, list_at, named


def claim(edit: Edit, container: model.Container, pod_set: model.PodSet, value: paths.Object) -> str:
    """Adds a claim of a ResourceClaimTemplate to the pod, and its use to the container.

    A container that already uses other claims by this name, or a part of this claim, keeps them.
    """
    if not pod_set.changeable:
        return NOT_CHANGEABLE
    if container.places or not container.path.startswith(place_of(pod_set, "containers") + "/"):
        return ELSEWHERE
    of_pod: paths.Object = {"name": value["name"], "resourceClaimTemplateName": value["template"]}
    used: paths.Object = {"name": value["name"]}
    lacking: list[tuple[str, paths.Object]] = []
    # Read both places before the first write.
    for place, wanted in (
        (place_of(pod_set, "resourceClaims"), of_pod),
        (container.path + "/resources/claims", used),
    ):
        found = named(list_at(edit, place), "name", value["name"])
        if found is not None and not is_same(found, wanted):
            return USER_DECIDES
        lacking += [] if found is not None else [(place, wanted)]
    for place, wanted in lacking:
        edit.append(place, wanted)
    return "" if lacking else ALREADY_THERE
