"""The arithmetic of GPU-hours, against plain code, and what must hold of any series."""

import itertools
import math
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usher.audit.usage import gpu_hours
from usher.audit.usage.gpu_hours import HeldDevice, IdleRule
from usher.audit.usage.held_gpus import Track
from usher.audit.usage.series import EMPTY_LINE, Device, Grid, Line, PodName

NAN = math.nan
GRID = Grid(start=0, step=1800, points=24)
IDLE = IdleRule(below=0.4, points=2)

amounts = st.one_of(st.just(NAN), st.floats(0, 1))
lines = st.builds(lambda first, found: line(*found, first=first), st.integers(0, 6), st.lists(amounts, max_size=18))
held = st.builds(
    lambda first, found: line(*found, first=first),
    st.integers(0, 6),
    st.lists(st.one_of(st.just(NAN), st.floats(0, 4)), max_size=18),
)


def line(*found: float, first: int = 0) -> Line:
    return Line(first=first, values=array("d", found))


def track(
    activity: Line, *, gpu: str = "g0", pod: str = "a", used: Line = EMPTY_LINE, total: Line = EMPTY_LINE
) -> Track:
    return Track(
        device=Device(gpu, ""),
        holder=PodName("red", pod),
        node="n1",
        product="",
        profile="",
        activity=activity,
        memory_used=used,
        memory_total=total,
    )


def held_devices(*tracks: Track, share: float = 1.0) -> list[HeldDevice]:
    return list(gpu_hours.held_devices(tracks, lambda _: share))


@given(held, st.lists(lines, max_size=3))
def test_idle_and_used_are_at_most_measured_and_measured_is_at_most_allocated(known: Line, found: list[Line]) -> None:
    tracks = [track(each, gpu=f"g{index}") for index, each in enumerate(found)]

    tally = gpu_hours.count_hours(known, held_devices(*tracks), grid=GRID, idle=IDLE)

    assert 0 <= tally.idle <= tally.measured <= tally.allocated
    assert 0 <= tally.used <= tally.measured * (1 + 1e-9)
    assert sum(tally.bins) == pytest.approx(tally.measured)
    assert sum(tally.allocated_by_hour) == pytest.approx(tally.allocated)
    assert sum(tally.used_by_hour) == pytest.approx(tally.used)


@given(lines)
def test_idle_stretches_are_runs_of_low_activity(found: Line) -> None:
    (device,) = held_devices(track(found))
    lows = [value < IDLE.below for value in found.values]
    expected = sum(length for low, run in itertools.groupby(lows) if low and (length := len(list(run))) >= IDLE.points)

    stretches = list(gpu_hours.stretches(device, below=IDLE.below, points=IDLE.points))

    assert sum(end - start for start, end in stretches) == expected
    assert all(one[1] < other[0] for one, other in itertools.pairwise(stretches))


def test_a_gap_ends_an_idle_stretch() -> None:
    found = line(0.1, NAN, 0.1, NAN, 0.1, 0.1)

    tally = gpu_hours.count_hours(EMPTY_LINE, held_devices(track(found)), grid=GRID, idle=IDLE)

    assert tally.allocated == 3.0
    assert tally.measured == 2.0
    assert tally.idle == 1.0


@given(st.lists(st.tuples(lines, st.sampled_from("abc")), max_size=4))
def test_a_device_of_several_pods_counts_once(found: list[tuple[Line, str]]) -> None:
    by_pod = {pod: activity for activity, pod in found}
    tracks = [track(activity, pod=pod) for pod, activity in by_pod.items()]

    measured = sum(
        gpu_hours.count_hours(EMPTY_LINE, [each], grid=GRID, idle=IDLE).measured for each in held_devices(*tracks)
    )

    points = {
        point for each in tracks for point in range(each.first, each.end) if not math.isnan(each.activity.at(point))
    }
    assert measured == pytest.approx(len(points) * GRID.hours)


def test_what_a_pod_is_known_to_have_held_wins_over_its_series() -> None:
    """The series of an ended pod go on for a scrape; those of three devices count as the two that it asked for."""
    busy = line(*[1.0] * 4)
    tracks = [track(busy, gpu=gpu) for gpu in ("g0", "g1", "g2")]

    tally = gpu_hours.count_hours(line(2.0, 2.0, 0.0, NAN), held_devices(*tracks), grid=GRID, idle=IDLE)

    assert tally.allocated == (2 + 2 + 0 + 3) * GRID.hours
    assert tally.measured == pytest.approx(tally.allocated)


def test_memory_is_weighted_by_the_hours_in_which_it_is_known() -> None:
    used, total = line(10.0, 30.0, NAN), line(100.0, 100.0, 100.0)

    tally = gpu_hours.count_hours(
        EMPTY_LINE, held_devices(track(line(1.0, 1.0, 1.0), used=used, total=total)), grid=GRID, idle=IDLE
    )

    assert tally.memory == 1.0
    assert tally.memory_share == pytest.approx(0.2)
    assert tally.memory_peak == 30.0


@given(st.lists(st.tuples(held, lines), max_size=4))
def test_a_sum_of_tallies_loses_nothing(found: list[tuple[Line, Line]]) -> None:
    each = [
        gpu_hours.count_hours(known, held_devices(track(activity)), grid=GRID, idle=IDLE) for known, activity in found
    ]

    total = gpu_hours.total_tally(each)

    for name in ("allocated", "measured", "used", "idle", "memory"):
        assert getattr(total, name) == pytest.approx(sum(getattr(one, name) for one in each))


@pytest.mark.parametrize(("share", "activity"), [(0.5, 0.02), (0.9, 0.02), (0.95, 0.8), (1.0, 0.8)])
def test_the_activity_that_most_hours_stay_below(share: float, activity: float) -> None:
    found = line(*[0.02] * 9, 0.8)

    tally = gpu_hours.count_hours(EMPTY_LINE, held_devices(track(found)), grid=GRID, idle=IDLE)

    assert tally.activity_at(share) == activity
