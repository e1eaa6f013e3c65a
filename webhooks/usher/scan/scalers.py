"""The autoscalers of a run, by their scaled objects."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from usher import paths
from usher.kinds.kubeflow_pipelines.compiled import group_version_kind
from usher.kinds.reading import values as reading_values
from usher.kinds.reading.counts import Growth
from usher.scan.outlines import Outline
from usher.workloads import grown_workloads
from usher.workloads.grown_workloads import growth_of

ByTarget = Mapping[str, Sequence[Growth]]
"""Growths by the name of their target."""

_NOTHING: Final[ByTarget] = {}


def by_target(values: Iterable[paths.Object], *, namespace: str) -> ByTarget:
    """The scalers by the name of their target. It follows a target that only passes on its scale to the real target."""
    return _by_target([each for value in values if (each := growth_of(value, namespace=namespace)) is not None])


def _by_target(found: Sequence[Growth]) -> ByTarget:
    by_source = {each.source: each for each in found}
    result: dict[str, list[Growth]] = defaultdict(list)
    for each in found:
        result[each.target.name].append(each)
        through = by_source.get(each.target)
        if through is not None and through is not each:
            result[through.target.name].append(grown_workloads.pass_on_growth(each, through))
    return result


def of(value: paths.Object, known: ByTarget, *, namespace: str) -> tuple[Growth, ...]:
    """The scalers of an object."""
    found = known.get(paths.text(paths.metadata(value).get("name")), ())
    return tuple(each for each in found if grown_workloads.is_target(each, value, namespace=namespace))


class Scalers:
    """The autoscalers of all files of a run.

    An autoscaler in another file counts if names show that both files are applied together. A run over examples or
    overlays may hold several objects with the name of the target, or several autoscalers with the same name. Then only
    autoscalers of the same file count.
    """

    def __init__(self, outlines: Sequence[Outline], *, namespace: str) -> None:
        """Reads the outlines of the files; `namespace` is that of objects without one."""
        self._namespace = namespace
        every = [growth for outline in outlines for growth in outline.growths]
        self._of_files = {outline.source: _by_target(outline.growths) for outline in outlines if outline.growths}
        self._of_run = _by_target(every)
        targets = set(self._of_run)
        self._targets = Counter(
            each.reference
            for outline in (outlines if targets else ())
            for each in outline.named
            if each.name in targets
        )
        self._sources = Counter(each.source for each in every)

    @property
    def found(self) -> bool:
        """Whether the run has any autoscaler."""
        return bool(self._of_run)

    def of(self, value: paths.Object, source: str) -> tuple[Growth, ...]:
        """The growths of an object of a file."""
        if not self._of_run:
            return ()
        found = of(value, self._of_run, namespace=self._namespace)
        if found and self._are_clear(value, found):
            return found
        return of(value, self._of_files.get(source, _NOTHING), namespace=self._namespace)

    def _are_clear(self, value: paths.Object, found: Sequence[Growth]) -> bool:
        """Whether the run has only one object of this name, and one autoscaler of each name."""
        return self._targets[self._reference(value)] == 1 and all(self._sources[each.source] == 1 for each in found)

    def _reference(self, value: paths.Object) -> reading_values.Reference:
        group, _, kind = group_version_kind(value)
        metadata = paths.metadata(value)
        return reading_values.Reference(
            group=group,
            kind=kind,
            name=paths.text(metadata.get("name")),
            namespace=paths.text(metadata.get("namespace")) or self._namespace,
        )
