"""Threads that keep up with what there is: one for each reflector, all ended together."""

import threading
import time
from collections.abc import Iterable
from typing import Protocol

from usher.cluster.api import Api
from usher.cluster.watching import Reflector


class Connection(Api, Protocol):
    """An API whose streams can be ended by another thread."""

    def hang_up(self) -> None: ...


class Reflecting:
    """Runs reflectors of one connection."""

    def __init__(self, api: Connection, *, purpose: str) -> None:
        """Takes the connection of which all streams are ended at the end, and what the threads are called after."""
        self._api = api
        self._purpose = purpose
        self._stopped = threading.Event()
        self._running: list[tuple[Reflector, threading.Thread]] = []

    def start(self, reflectors: Iterable[Reflector]) -> None:
        """Begins to ask."""
        for reflector in reflectors:
            name = f"{self._purpose} {reflector.target.label}"
            thread = threading.Thread(target=reflector.run, args=(self._stopped.is_set,), name=name, daemon=True)
            self._running.append((reflector, thread))
            thread.start()

    def stop(self, *, within: float = 5.0) -> None:
        """Ends all watches, and waits `within` seconds at most for their threads, which end with the process anyway."""
        self._stopped.set()
        deadline = time.monotonic() + within
        for reflector, _ in self._running:
            reflector.wake()
        self._api.hang_up()
        for _, thread in self._running:
            thread.join(max(deadline - time.monotonic(), 0))
