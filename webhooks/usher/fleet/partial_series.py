"""The series that a shard measures: those of pods in its namespaces, behind the same protocol as all of them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from usher.audit.usage.series import Answer, Grid, Question, Source
from usher.fleet.shards import Shard

_LABELS: Final = ("exported_namespace", "namespace")
"""A scraper without honor_labels renames the namespace of the pod, and `namespace` is that of the exporter."""


class PartialSeries:
    """A source of series without those of other shards, so that each GPU-hour is in one shard.

    A series without a namespace stays: only the workloads of its node know whose it is.
    """

    def __init__(self, source: Source, shard: Shard) -> None:
        self._source = source
        self._shard = shard

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
        found = self._source.read(question, grid)
        own = tuple(each for each in found.series if self._is_own(each.labels))
        return replace(found, series=own, left_out=len(found.series) - len(own))

    def _is_own(self, labels: Mapping[str, str]) -> bool:
        namespace = next((labels[name] for name in _LABELS if labels.get(name)), "")
        return not namespace or self._shard.has(namespace)
