"""The list of clusters of a run, kept beside its parts, so that a merge names a cluster that wrote no part at all.

A shard writes it before it asks its cluster, because a cluster that does not answer writes nothing else.
"""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Annotated, Final, Literal

import pydantic
from pydantic import Field, StringConstraints

from usher.audit.document.fleet import FleetProblem, ProblemKind
from usher.audit.document.part import Part
from usher.dataclass import dataclass
from usher.fleet import clusters, stores
from usher.fleet.selection import RUN, ChosenCluster, moment

NAME: Final = "clusters.json"
MOST_BYTES: Final = 8 << 20


class _List(Part):
    api_version: Literal["gpu-usher.io/v1alpha1"] = "gpu-usher.io/v1alpha1"
    kind: Literal["AuditClusters"] = "AuditClusters"
    began: Annotated[str, StringConstraints(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$")]
    """When a shard of the list began last, in UTC."""
    names: Annotated[
        tuple[Annotated[str, StringConstraints(min_length=1, max_length=500)], ...],
        Field(min_length=1, max_length=clusters.MOST),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterList:
    """The clusters of a run, in the order of its shards."""

    began: str
    names: tuple[str, ...]


def write(store: stores.Store, names: Sequence[str], *, began: str) -> None:
    """Writes the list of a run; each of its shards does, and the same list has one file. Raises InputError."""
    digest = hashlib.sha256("\0".join(names).encode(errors="surrogatepass")).hexdigest()[:16]
    content = _List(began=began, names=tuple(names)).model_dump_json(by_alias=True, indent=2)
    store.write(f"clusters-{digest}/{NAME}", content.encode() + b"\n")


def read(folders: Sequence[stores.Store]) -> tuple[ClusterList, ...]:
    """The lists below some folders. One that cannot be read is left out: another shard writes it again.

    Raises:
        InputError: a folder cannot be read.
    """
    return tuple(each for store in folders for name in store.find(NAME) for each in _read(store, name))


def _read(store: stores.Store, name: str) -> Iterator[ClusterList]:
    try:
        found = _List.model_validate_json(stores.read(store, name, most=MOST_BYTES))
    except (OSError, pydantic.ValidationError):
        return
    yield ClusterList(began=found.began, names=found.names)


def missing(lists: Sequence[ClusterList], chosen: Sequence[ChosenCluster]) -> list[FleetProblem]:
    """The clusters of the newest run that have no part, by name.

    Lists of earlier runs may name clusters that are gone.
    """
    taken = [each.taken for each in chosen]
    newest = max((*taken, *(each.began for each in lists)), default="")
    there = {part.record.cluster for each in chosen for part in each.parts}
    found: dict[str, FleetProblem] = {}
    for each in lists:
        if moment(newest) - moment(each.began) > RUN:
            continue
        for index, name in enumerate(each.names):
            if name not in there:
                shard = f"--shard {index}/{len(each.names)}"
                reason = f"--clusters names it, and it has no part: look at the run of {shard}, and start it again"
                found.setdefault(name, FleetProblem(kind=ProblemKind.ABSENT, cluster=name, reason=reason))
    return [found[name] for name in sorted(found)]
