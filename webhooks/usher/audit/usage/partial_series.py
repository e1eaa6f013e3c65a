"""A source that only gives the series of pods in the namespaces of one part of a cluster."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from usher.audit.scopes import Scope
from usher.audit.usage import labels, reading
from usher.audit.usage.series import Answer, Grid, Question, Source

_OF_ALL_PODS: Final = frozenset(reading.OF_CLUSTER)


def of(source: Source, scope: Scope) -> Source:
    """A source for a part of a cluster; the given source for the whole."""
    return source if scope.is_whole else PartialSeries(source, scope)


class PartialSeries:
    """A source without the series of other parts, so that each GPU-hour counts in one part.

    Series of a device that no pod holds stay, because only the workloads of its node show who uses it. Series of nodes
    and queues cover the whole cluster, so usher does not ask for them.
    """

    def __init__(self, source: Source, scope: Scope) -> None:
        self._source = source
        self._scope = scope

    @property
    def name(self) -> str:
        return self._source.name

    @property
    def url(self) -> str:
        return self._source.url

    @property
    def selection(self) -> str:
        return self._source.selection

    def read(self, question: Question, grid: Grid, /) -> Answer:
        if question in _OF_ALL_PODS:
            return Answer()
        found = self._source.read(question, grid)
        namespace = self._of_device(found) if question in reading.DEVICES else _of_pod
        own = tuple(each for each in found.series if self._is_own(namespace(each.labels)))
        return replace(found, series=own, left_out=len(found.series) - len(own))

    def _is_own(self, namespace: str) -> bool:
        return not namespace or self._scope.has(namespace)

    def _of_device(self, answer: Answer) -> Callable[[Mapping[str, str]], str]:
        """A function that gives the namespace of the pod that holds a device; the label `namespace` alone may be the
        exporter's.
        """
        renamed = labels.renamed(answer.series)

        def namespace(found: Mapping[str, str]) -> str:
            holder = labels.holder(found, renamed)
            return "" if holder is None else holder.namespace

        return namespace


def _of_pod(found: Mapping[str, str]) -> str:
    return labels.value(found, "namespace")
