import gc
import threading
import time
from collections.abc import Callable

import pytest

from usher.policy.engines import engine
from usher.policy.engines.wasm_runtime import Clock

BOUND = 60.0
"""Seconds after which a test gives up waiting."""


class Owner:
    """Whoever needs the time."""


def started(advance: Callable[[], None], *, deadline: float, owner: object) -> tuple[Clock, threading.Thread]:
    before = set(threading.enumerate())
    clock = Clock(advance, deadline=deadline, owner=owner)
    (thread,) = set(threading.enumerate()) - before
    return clock, thread


@pytest.mark.parametrize("deadline", [0.0, 0.001, 0.2])
def test_every_deadline_comes(deadline: float) -> None:
    epoch = 0
    reached = threading.Event()
    promised = threading.Event()
    due = 0

    def advance() -> None:
        nonlocal epoch
        epoch += 1
        if promised.is_set() and epoch >= due:
            reached.set()

    owner = Owner()
    clock, _ = started(advance, deadline=deadline, owner=owner)
    due = epoch + clock.ticks()
    promised.set()

    assert reached.wait(BOUND)
    clock.stopped.set()


def test_a_clock_that_was_held_up_makes_up_for_it() -> None:
    epoch = 0
    held_up, go_on, caught_up = threading.Event(), threading.Event(), threading.Event()

    def advance() -> None:
        nonlocal epoch
        epoch += 1
        if not held_up.is_set():
            held_up.set()
            go_on.wait(BOUND)
        if go_on.is_set() and epoch > missed:
            caught_up.set()

    owner = Owner()
    missed = 2**62
    clock, _ = started(advance, deadline=0.0, owner=owner)
    assert held_up.wait(BOUND)
    # A deadline of nothing, counted from an epoch that stands still, is as long as the clock is behind.
    pause = threading.Event()
    while (missed := clock.ticks()) < 10:
        pause.wait(0.001)
    go_on.set()

    assert caught_up.wait(BOUND)
    clock.stopped.set()


def test_a_stopped_clock_leaves_no_deadline_standing_and_ends() -> None:
    epoch = 0

    def advance() -> None:
        nonlocal epoch
        epoch += 1

    owner = Owner()
    clock, thread = started(advance, deadline=30.0, owner=owner)
    due = epoch + clock.ticks()
    clock.stopped.set()
    thread.join(BOUND)

    assert not thread.is_alive()
    assert epoch >= due - 1  # one may have passed between the two readings


@pytest.mark.costly
def test_a_clock_whose_owner_is_gone_ends() -> None:
    owner = Owner()
    _, thread = started(lambda: None, deadline=1.0, owner=owner)

    del owner
    gc.collect()
    thread.join(BOUND)

    assert not thread.is_alive()


def test_a_share_of_the_time_ends_before_the_time_and_gives_the_rest_back() -> None:
    token = engine.ANSWER_UNTIL.set(time.monotonic() + 100)
    whole = engine.ANSWER_UNTIL.get()
    try:
        with engine.share_deadline(0.5):
            assert 40 < engine.ANSWER_UNTIL.get() - time.monotonic() <= 50
            with engine.share_deadline(0.5):
                assert engine.ANSWER_UNTIL.get() - time.monotonic() <= 25
        assert engine.ANSWER_UNTIL.get() == whole
    finally:
        engine.ANSWER_UNTIL.reset(token)


def test_without_a_deadline_there_is_no_share() -> None:
    with engine.share_deadline(0.5):
        assert engine.ANSWER_UNTIL.get() == float("inf")
