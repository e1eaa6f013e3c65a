"""The unit for all figures, because machines differ, and a shared machine changes its speed within minutes."""

import time
from collections.abc import Callable

NAME = "yardstick: 3,000 additions in a loop of Python"

REPETITIONS = 20


def add_up() -> int:
    total = 0
    for number in range(3000):
        total += number
    return total


def measured(call: Callable[[], object]) -> float:
    """Milliseconds of processor time for one call."""
    before = time.process_time()
    for _ in range(REPETITIONS):
        call()
    return (time.process_time() - before) / REPETITIONS * 1000
