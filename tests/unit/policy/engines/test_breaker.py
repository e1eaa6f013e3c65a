import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from clocks import Clock
from usher import errors
from usher.policy.engines.opa import Breaker

BOUND = 60.0


def breaker(clock: Clock) -> Breaker:
    return Breaker("the server", failures=3, pause=5.0, clock=clock)


def fail(subject: Breaker, *, times: int = 1) -> None:
    for _ in range(times):
        with pytest.raises(ZeroDivisionError), subject.attempt():
            raise ZeroDivisionError


def succeed(subject: Breaker) -> None:
    with subject.attempt():
        pass


def is_open(subject: Breaker) -> bool:
    try:
        succeed(subject)
    except errors.EngineError:
        return True
    return False


def test_failures_with_a_success_between_them_do_not_open_it() -> None:
    subject = breaker(Clock(100.0))

    for _ in range(5):
        fail(subject, times=2)
        succeed(subject)

    assert not is_open(subject)


def test_it_opens_after_failures_in_a_row_and_says_for_how_long() -> None:
    clock = Clock(100.0)
    subject = breaker(clock)

    fail(subject, times=3)
    clock.now += 1.5

    with pytest.raises(errors.EngineError, match=r"the server has failed 3 times in a row; .* in 3\.5 s"):
        succeed(subject)


def test_a_trial_that_succeeds_closes_it() -> None:
    clock = Clock(100.0)
    subject = breaker(clock)

    fail(subject, times=3)
    clock.now += 5.0
    succeed(subject)

    fail(subject, times=2)
    assert not is_open(subject)


def test_a_trial_that_fails_opens_it_for_another_pause() -> None:
    clock = Clock(100.0)
    subject = breaker(clock)

    fail(subject, times=3)
    clock.now += 5.0
    fail(subject)

    clock.now += 4.9
    assert is_open(subject)
    clock.now += 0.2
    assert not is_open(subject)


def test_while_a_trial_runs_everybody_else_is_turned_away() -> None:
    clock = Clock(100.0)
    subject = breaker(clock)
    entered, leave = threading.Event(), threading.Event()

    def trial() -> None:
        with subject.attempt():
            entered.set()
            leave.wait(BOUND)

    fail(subject, times=3)
    clock.now += 5.0
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(trial)
        assert entered.wait(BOUND)
        turned_away = is_open(subject)
        leave.set()
        running.result(BOUND)

    assert turned_away
    assert not is_open(subject)


def test_an_interrupted_attempt_counts_as_failed() -> None:
    subject = breaker(Clock(100.0))

    for _ in range(3):
        with pytest.raises(KeyboardInterrupt), subject.attempt():
            raise KeyboardInterrupt

    assert is_open(subject)
