"""Each series of a pod is measured by one shard."""

from usher.audit.store.shards import Shard
from usher.audit.usage.partial_series import PartialSeries
from usher.audit.usage.series import Answer, Grid, Question, Series

GRID = Grid(start=0, step=300, points=1)


class Recorded:
    """A source with series of these labels."""

    name = "recorded"
    selection = ""
    url = "http://prometheus"

    def __init__(self, *labels: dict[str, str]) -> None:
        self._series = tuple(Series(labels=each, first=0, values=[1.0]) for each in labels)

    def read(self, question: Question, grid: Grid, /) -> Answer:
        del question, grid
        return Answer(series=self._series, warnings=("a gap",))


def measured(source: Recorded, of: int) -> list[dict[str, str]]:
    """The labels that each shard measures, all together."""
    shards = [PartialSeries(source, Shard(index=index, of=of)) for index in range(of)]
    return [dict(each.labels) for shard in shards for each in shard.read(Question(metric="m"), GRID).series]


def test_a_series_is_in_the_shard_of_its_pod() -> None:
    labels = [{"namespace": f"team-{number}"} for number in range(20)]

    found = measured(Recorded(*labels), 4)

    assert sorted(each["namespace"] for each in found) == sorted(each["namespace"] for each in labels)


def test_the_namespace_of_the_exporter_does_not_matter() -> None:
    """Without honor_labels, `namespace` is that of the exporter."""
    own = {"namespace": "gpu-operator", "exported_namespace": "team-1"}

    shards = [PartialSeries(Recorded(own), Shard(index=index, of=5)) for index in range(5)]
    having = [index for index, each in enumerate(shards) if each.read(Question(metric="m"), GRID).series]

    assert having == [index for index in range(5) if Shard(index=index, of=5).has("team-1")]


def test_a_series_without_a_namespace_stays_in_all_shards() -> None:
    assert measured(Recorded({"node": "gpu-1"}), 3) == [{"node": "gpu-1"}] * 3


def test_warnings_and_the_address_are_those_of_the_source() -> None:
    found = PartialSeries(Recorded(), Shard(index=0, of=2))

    assert (found.name, found.url) == ("recorded", "http://prometheus")
    assert found.read(Question(metric="m"), GRID).warnings == ("a gap",)
