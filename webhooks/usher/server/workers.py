"""A thread for large reviews, so that small ones do not wait for them; and a measure of the event loop's lag."""

import asyncio
import contextvars
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from usher.server.live_cluster import return_memory

LARGE: Final = 16 * 1024
"""Bytes of the largest body that the event loop decides about: a usual Pod, and at most some dozen containers."""

_TRIM: Final = 2**20
"""Bytes of a body after which free memory is given back to the system. It takes milliseconds."""

_SWITCH: Final = 0.001
"""Seconds after which Python switches threads. By default the event loop would wait 5 ms each time."""

_LOOK: Final = 0.1
"""Seconds between two measurements of the event loop's lag."""

_Result = TypeVar("_Result")


class LargeReviews:
    """Decides about large reviews one at a time, because the memory for twenty of them would be unbounded."""

    def __init__(self) -> None:
        sys.setswitchinterval(_SWITCH)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="large-review")
        self.waiting = 0
        """Calls that wait or run."""

    async def run(self, call: Callable[[], _Result]) -> _Result:
        """The result of a call in the thread, with the context of the caller."""
        context = contextvars.copy_context()
        self.waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, context.run, call)
        finally:
            self.waiting -= 1

    def answered(self, size: int) -> None:
        """Returns the free memory after a body of this size, if no other call waits."""
        if size >= _TRIM and self.waiting == 0:
            self._thread.submit(return_memory)

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)


async def measure_lag(report: Callable[[float], None]) -> None:
    """Reports periodically how many seconds the event loop is late."""
    while True:
        expected = time.monotonic() + _LOOK
        await asyncio.sleep(_LOOK)
        report(max(0.0, time.monotonic() - expected))
