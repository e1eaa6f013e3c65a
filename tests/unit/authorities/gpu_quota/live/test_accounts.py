"""Changes to one quota by several writers: no change is lost, and no change starts from an old state."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future

import pytest

from usher import errors
from usher.authorities.gpu_quota.live.account_store import AccountStore, Stored
from usher.authorities.gpu_quota.live.accounts import AccountWriter, Change

WITHIN = 30.0


class Memory:
    """An API server that holds one object."""

    def __init__(self) -> None:
        self.count = 0
        self.version = 1
        self.reads = self.writes = self.conflicts = 0
        self.failing: list[str] = []
        self._lock = threading.Lock()

    def read(self) -> Stored[int]:
        with self._lock:
            self.reads += 1
            return Stored(state=self.count, version=self.version)

    def write(self, stored: Stored[int]) -> Stored[int] | None:
        with self._lock:
            if self.failing:
                raise errors.ClusterError(self.failing.pop())
            if stored.version != self.version:
                self.conflicts += 1
                return None
            self.writes += 1
            self.count, self.version = stored.state, self.version + 1
            return Stored(state=self.count, version=self.version)


def up_to(most: int) -> Change[int, bool]:
    """Counts one more, where there is room."""

    def change(count: int) -> tuple[int, bool]:
        return (count + 1, True) if count < most else (count, False)

    return change


def writer(store: AccountStore[int]) -> AccountWriter[int]:
    return AccountWriter(store, wait=lambda _seconds: None)


def results(futures: list["Future[bool]"]) -> list[bool]:
    return [future.result(timeout=WITHIN) for future in futures]


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WITHIN
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.001)


def test_a_change_is_written() -> None:
    store = Memory()

    assert writer(store).change(up_to(1), within=WITHIN).result(WITHIN)
    assert store.count == 1


def test_three_replicas_together_never_grant_more_than_there_is() -> None:
    store = Memory()
    replicas = [writer(store) for _ in range(3)]
    futures = [replica.change(up_to(100), within=WITHIN) for _ in range(100) for replica in replicas]

    assert sum(results(futures)) == 100
    assert store.count == 100


def test_changes_that_wait_at_the_same_time_are_written_together() -> None:
    admission, store = threading.Event(), Memory()

    def held(count: int) -> tuple[int, bool]:
        admission.wait(WITHIN)
        return count + 1, True

    one = writer(store)
    futures = [one.change(held, within=WITHIN), *(one.change(up_to(51), within=WITHIN) for _ in range(50))]
    admission.set()

    assert all(results(futures))
    assert store.writes <= 3


def test_changes_that_come_during_a_lost_attempt_are_written_with_the_next() -> None:
    later: list[Future[bool]] = []

    class Contested(Memory):
        def write(self, stored: Stored[int]) -> Stored[int] | None:
            if not later:
                later.extend(ours.change(up_to(50), within=WITHIN) for _ in range(20))
                self.version += 1  # by another replica
            return super().write(stored)

    store = Contested()
    ours = writer(store)

    assert results([ours.change(up_to(50), within=WITHIN)]) == [True]
    assert results(later) == [True] * 20
    assert (store.conflicts, store.writes) == (1, 1)


def test_a_refusal_rests_on_a_fresh_read() -> None:
    """Another replica gave back what this one still believes to be taken."""
    store = Memory()
    ours, other = writer(store), writer(store)
    assert results([ours.change(up_to(1), within=WITHIN)]) == [True]

    other.change(lambda _count: (0, True), within=WITHIN).result(WITHIN)

    assert results([ours.change(up_to(1), within=WITHIN)]) == [True]


def test_a_writer_that_was_overtaken_begins_with_what_a_watch_has_shown() -> None:
    """A writer that must read first would come second to one that only writes, again and again."""
    store = Memory()
    shown = Stored(state=0, version=0)

    def later(known: Stored[int]) -> Stored[int] | None:
        return shown if shown.version > known.version else None

    ours = AccountWriter(store, later=later, wait=lambda _seconds: None)
    assert results([ours.change(up_to(9), within=WITHIN)]) == [True]
    other = writer(store)
    assert results([other.change(up_to(9), within=WITHIN)]) == [True]
    shown, reads = store.read(), store.reads

    assert results([ours.change(up_to(9), within=WITHIN)]) == [True]
    assert (store.count, store.reads, store.conflicts) == (3, reads, 0)


def test_no_refusal_rests_on_a_watch() -> None:
    store = Memory()
    full = Stored(state=1, version=2)
    ours = AccountWriter(store, later=lambda known: full if known.version < 2 else None, wait=lambda _seconds: None)
    ours.change(lambda count: (count, True), within=WITHIN).result(WITHIN)

    assert results([ours.change(up_to(1), within=WITHIN)]) == [True]


def test_a_writer_leaves_time_for_others_after_each_write() -> None:
    pauses, now = list[float](), [0.0]

    class Slow(Memory):
        def write(self, stored: Stored[int]) -> Stored[int] | None:
            now[0] += 0.1
            return super().write(stored)

    ours = AccountWriter(Slow(), clock=lambda: now[0], wait=pauses.append, chance=lambda: 0.5)
    results([ours.change(up_to(9), within=WITHIN)])
    wait_for(lambda: bool(pauses))

    assert pauses == [pytest.approx(0.15)]


def test_a_change_that_fails_takes_no_other_with_it() -> None:
    def wrong(count: int) -> tuple[int, bool]:
        raise errors.InputError(f"cannot be read: {count}")

    store = Memory()
    one = writer(store)
    failing, good = one.change(wrong, within=WITHIN), one.change(up_to(1), within=WITHIN)

    assert good.result(WITHIN)
    with pytest.raises(errors.InputError, match="cannot be read"):
        failing.result(WITHIN)


def test_after_a_failure_the_next_change_starts_from_the_stored_state() -> None:
    store = Memory()
    one = writer(store)
    one.change(up_to(5), within=WITHIN).result(WITHIN)
    store.failing = ["the connection is lost"]

    with pytest.raises(errors.ClusterError, match="the connection is lost"):
        one.change(up_to(5), within=WITHIN).result(WITHIN)
    assert one.change(up_to(5), within=WITHIN).result(WITHIN)
    assert store.count == 2


def ticking(*times: float) -> Callable[[], float]:
    left = list(times)
    return lambda: left.pop(0) if len(left) > 1 else left[0]


def test_a_late_change_is_not_charged() -> None:
    store = Memory()
    late = AccountWriter(store, clock=ticking(0.0, 9.0))

    with pytest.raises(errors.ClusterError, match="could not be charged in time"):
        late.change(up_to(1), within=5.0).result(WITHIN)
    assert store.count == 0


def test_a_writer_that_is_always_overtaken_says_so() -> None:
    class Overtaken(Memory):
        def write(self, stored: Stored[int]) -> Stored[int] | None:  # noqa: ARG002 - as the protocol has it
            return None

    with pytest.raises(errors.ClusterError, match="in a row"):
        writer(Overtaken()).change(up_to(1), within=WITHIN).result(WITHIN)
