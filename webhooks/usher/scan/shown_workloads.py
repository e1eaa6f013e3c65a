"""The workloads of files for `usher workload show`."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from usher import model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities.knowledge import Knowledge
from usher.authorities.nodes import declared_pools
from usher.authorities.nodes.declared_pools import PoolReason
from usher.cluster.facts.store import Store
from usher.config import models
from usher.dataclass import dataclass
from usher.kinds.reading import values
from usher.kinds.reading.counts import Growth
from usher.policy.input.document import Documents
from usher.scan import scalers
from usher.scan.batches import Batch
from usher.workloads import grown_workloads
from usher.workloads.grown_workloads import grown
from usher.workloads.normalise import normalise
from usher.workloads.roles import Roles


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaler:
    """Another object of the file that sets how many replicas the workload may have."""

    growth: Growth
    effective: bool
    """False if it has no effect: while it is paused, or if the kind has no field that it could set."""

    @property
    def api_version(self) -> str:
        group, version = self.growth.source.group, self.growth.version
        return f"{group}/{version}" if group else version


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownWorkload:
    """One workload of a file."""

    source: str
    line: int
    """First line of its document."""
    workload: model.Workload
    """The workload, with the pods and totals to which other objects of the file may scale it."""
    scalers: tuple[Scaler, ...]
    input: bytes
    """The input document of the policies as JSON. Policies judge the object without its scalers."""
    pools: Mapping[str, tuple[PoolReason, ...]]
    """The pools of usher.yaml for each pod set that requests accelerators, by the path of its template."""


def workloads(
    batches: Iterable[Batch], *, config: models.Config, vocabulary: Vocabulary, namespace: str
) -> Iterator[ShownWorkload]:
    """The workloads in the order of the files, without objects that make no pods.

    The objects of one file are applied together: they may refer to each other and scale each other.

    Args:
        batches: the files.
        config: the configuration, for the input document.
        vocabulary: which resources are accelerators.
        namespace: the namespace of objects without one.
    """
    known = Knowledge(facts=Store(), config=config, vocabulary=vocabulary)
    documents = Documents(known)
    roles = Roles(config)
    for batch in batches:
        objects = values.Objects((item.value for item in batch.items), namespace=namespace)
        read = partial(normalise, vocabulary=vocabulary, namespace=namespace, objects=objects, roles=roles)
        by_target = scalers.by_target((item.value for item in batch.items), namespace=namespace)
        for item in batch.items:
            growths = scalers.of(item.value, by_target, namespace=namespace)
            own = read(item.value)
            workload = grown(item.value, growths, normalise=read, namespace=namespace)
            if own is not None and own.makes_pods and workload is not None:
                yield ShownWorkload(
                    source=batch.source,
                    line=item.document.line if item.document is not None else 0,
                    workload=workload,
                    scalers=tuple(Scaler(growth=each, effective=_changes(item.value, each)) for each in growths),
                    input=documents.build(own),
                    pools=_pools(own, known),
                )


def _pools(workload: model.Workload, known: Knowledge) -> Mapping[str, tuple[PoolReason, ...]]:
    found = {each.path: declared_pools.pool_reasons(each, workload=workload, known=known) for each in workload.pod_sets}
    return {path: reasons for path, reasons in found.items() if reasons}


def _changes(value: paths.Object, each: Growth) -> bool:
    return grown_workloads.with_replicas(value, each, replicas=each.minimum) is not value
