"""The synthetic cluster of `usher audit --demo`: possible, complete, and the same each time."""

from collections import Counter
from datetime import UTC, datetime

from usher import paths
from usher.audit.demo import synthetic_cluster, synthetic_records
from usher.audit.demo.synthetic_cluster import STORIES
from usher.audit.usage.series import Grid, Question

_NOW = datetime(2026, 11, 23, 8, tzinfo=UTC)

_OBJECTS = list(synthetic_cluster.objects(_NOW))


def _of(kind: str) -> list[paths.Object]:
    return [each for each in _OBJECTS if each["kind"] == kind]


def test_two_demos_of_one_time_are_equal() -> None:
    assert list(synthetic_cluster.objects(_NOW)) == _OBJECTS


def test_owners_come_before_what_they_own() -> None:
    seen = set[object]()
    for each in _OBJECTS:
        metadata = paths.metadata(each)
        owners = metadata.get("ownerReferences") or []
        assert isinstance(owners, list)
        assert all(owner["uid"] in seen for owner in owners if isinstance(owner, dict)), metadata
        seen.add(metadata["uid"])


def test_every_uid_is_there_once() -> None:
    (_, most), *_ = Counter(str(paths.metadata(each)["uid"]) for each in _OBJECTS).most_common(1)
    assert most == 1


def test_no_node_holds_more_than_it_offers() -> None:
    held = Counter[tuple[str, str]]()
    for pod in _of("Pod"):
        spec, limits = pod["spec"], paths.resolve(pod, "/spec/containers/0/resources/limits")
        assert isinstance(spec, dict)
        assert isinstance(limits, dict)
        name = spec.get("nodeName")
        if name:
            held.update({(str(name), key): int(str(limits[key])) for key in limits if key.startswith("nvidia.com/")})
    offers = {
        (name, resource): number
        for pool in synthetic_cluster.POOLS
        for name in synthetic_cluster.node_names(pool)
        for resource, number in pool.devices.items()
    }
    assert held
    assert all(number <= offers[place] for place, number in held.items())


def test_every_namespace_of_a_workload_has_a_team() -> None:
    metadata = [paths.metadata(each) for each in synthetic_cluster.surrounding_objects(_NOW)]
    teams = {each["name"] for each in metadata if "gpu-usher.io/team" in paths.mapping(each.get("labels"))}

    assert {story.namespace for story in STORIES} == teams


def test_the_configuration_is_one_that_usher_takes() -> None:
    found = synthetic_cluster.configuration(_NOW.date())

    assert [pool.name for pool in found.pools] == [pool.name for pool in synthetic_cluster.POOLS]
    assert sorted((each.expires - _NOW.date()).days for each in found.enforcement.exceptions) == [-12, 6, 90]


def test_every_device_has_a_series_and_those_of_running_pods_name_their_pod() -> None:
    grid = Grid(start=int(_NOW.timestamp()) - 3600 * 24, step=3600, points=24)
    answer = synthetic_records.SyntheticSource(_OBJECTS).read(Question(metric="DCGM_FI_PROF_GR_ENGINE_ACTIVE"), grid)

    devices = {(each.labels["UUID"], each.labels.get("GPU_I_ID", "")) for each in answer.series}
    held = [each for each in answer.series if "pod" in each.labels]
    assert (
        len(devices)
        == len(answer.series)
        == sum(pool.nodes * sum(pool.devices.values()) for pool in synthetic_cluster.POOLS)
    )
    assert len(held) == sum(story.running * story.devices for story in STORIES)
    assert all(0 <= value <= 1 for each in answer.series for value in each.values)


def test_every_device_is_measured_all_the_time_also_before_its_pod_came() -> None:
    grid = Grid(start=int(_NOW.timestamp()) - 3600 * 168, step=3600, points=168)
    answer = synthetic_records.SyntheticSource(_OBJECTS).read(Question(metric="DCGM_FI_PROF_GR_ENGINE_ACTIVE"), grid)

    known = Counter[tuple[str, str, int]]()
    for each in answer.series:
        device = each.labels["UUID"], each.labels.get("GPU_I_ID", "")
        known.update((*device, each.first + point) for point in range(len(each.values)))
    assert set(known.values()) == {1}
    assert len(known) == 168 * sum(pool.nodes * sum(pool.devices.values()) for pool in synthetic_cluster.POOLS)
    free = [each for each in answer.series if "pod" not in each.labels]
    assert {value for each in free for value in each.values} == {0.0}


def test_an_unknown_metric_has_no_series() -> None:
    assert (
        synthetic_records.SyntheticSource(_OBJECTS).read(Question(metric="up"), Grid(start=0, step=60, points=1)).series
        == ()
    )
