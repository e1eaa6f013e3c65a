"""Where pods ask Kueue to place them by topology (KQ:pkg/controller/jobframework/tas.go)."""

from collections.abc import Sequence
from typing import Final

from usher import model
from usher.dataclass import dataclass

PREFIX: Final = "kueue.x-k8s.io/podset-"
REQUIRED: Final = PREFIX + "required-topology"
PREFERRED: Final = PREFIX + "preferred-topology"
UNCONSTRAINED: Final = PREFIX + "unconstrained-topology"
SLICE_LEVEL: Final = PREFIX + "slice-required-topology"
SLICE_SIZE: Final = PREFIX + "slice-size"
SLICE_CONSTRAINTS: Final = SLICE_LEVEL + "-constraints"

_LONGEST: Final = 9
"""Digits of a slice size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    required: str
    """All pods must be in one domain of this level; empty where they may be anywhere."""
    slice_level: str
    """Each slice must be in one domain of this level."""
    slice_size: int
    """Pods of a slice; 1 where the pods ask for no slices."""


def of(pod_set: model.PodSet, levels: Sequence[str]) -> Placement | None:
    """The placement that the pods ask for, in a Topology with some levels.

    Returns:
        None where the annotations are wrong, name a level that the Topology lacks, or describe slices in several
        levels.
    """
    annotations = pod_set.annotations
    required = annotations.get(REQUIRED, "")
    lowest = levels[-1] if levels else ""
    level, size = annotations.get(SLICE_LEVEL, lowest), annotations.get(SLICE_SIZE, "1")
    if SLICE_CONSTRAINTS in annotations or (SLICE_LEVEL in annotations) != (SLICE_SIZE in annotations):
        return None
    if not (size.isascii() and size.isdecimal() and len(size) <= _LONGEST and int(size)):
        return None
    known = level in levels and (not required or required in levels)
    if not known or (required and levels.index(required) > levels.index(level)):
        return None
    return Placement(required=required, slice_level=level, slice_size=int(size))
