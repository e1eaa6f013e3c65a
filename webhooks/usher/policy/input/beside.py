"""The part of the input document that comes from other objects of the same files; a review does not have it."""

from typing import NotRequired

from typing_extensions import TypedDict

from usher.authorities import beside as beside_objects


class Beside(TypedDict):
    """As rules read it; a field is absent where the files say nothing."""

    hasService: NotRequired[bool]
    """Whether a Service with an address of its own sends requests to the pods."""
    disks: NotRequired[dict[str, list[str]]]
    """Access modes of the PersistentVolumeClaims that the pods name."""
    pods: NotRequired[int]
    """The number of pods of a PodGroup, if all were made by hand."""


def beside_document(beside: beside_objects.Beside) -> Beside:
    result: Beside = {}
    if beside.has_service:
        result["hasService"] = True
    if beside.disks:
        result["disks"] = {name: list(modes) for name, modes in sorted(beside.disks.items())}
    if beside.gang is not None:
        result["pods"] = len(beside.gang.pod_sets)
    return result
