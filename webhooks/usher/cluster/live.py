"""The facts of a live cluster: one thread for each kind keeps a store up to date."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, Protocol

from usher.cluster import sinks
from usher.cluster.api import Api
from usher.cluster.listing import Target
from usher.cluster.sinks import Sink
from usher.cluster.watching import PATIENCE, Reason, Reflector
from usher.dataclass import dataclass
from usher.facts.store import Store
from usher.kinds.kept_fields import CONFIG_MAP, DEFINITION, KUEUE_CONFIGURATION, FactKind, Key
from usher.kinds.registry import FACTS


class Connection(Api, Protocol):
    """An API whose streams can be ended by another thread."""

    def hang_up(self) -> None: ...


class Reflecting:
    """Runs reflectors of one connection."""

    def __init__(self, api: Connection, *, purpose: str) -> None:
        """Takes the connection whose streams `stop` ends, and the first word of the names of the threads."""
        self._api = api
        self._purpose = purpose
        self._stopped = threading.Event()
        self._running: list[tuple[Reflector, threading.Thread]] = []

    def start(self, reflectors: Iterable[Reflector]) -> None:
        """Starts a thread for each reflector."""
        for reflector in reflectors:
            name = f"{self._purpose} {reflector.target.label}"
            thread = threading.Thread(target=reflector.run, args=(self._stopped.is_set,), name=name, daemon=True)
            self._running.append((reflector, thread))
            thread.start()

    def stop(self, *, within: float = 5.0) -> None:
        """Ends all watches, and waits at most `within` seconds for their threads, which end with the process anyway."""
        self._stopped.set()
        deadline = time.monotonic() + within
        for reflector, _ in self._running:
            reflector.wake()
        self._api.hang_up()
        for _, thread in self._running:
            thread.join(max(deadline - time.monotonic(), 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """How current the facts of one kind are."""

    kind: str
    """As in `kubectl get`."""
    age: float | None
    """Seconds since the facts were last known to be current; None before the first list."""
    objects: int | None
    """The number of objects; None while it is unknown."""
    watching: bool
    """Whether changes would arrive at once."""
    restarts: Mapping[Reason, int]
    problem: str


_CLUSTER_QUEUE: Final = ("kueue.x-k8s.io", "ClusterQueue")


class LiveFacts:
    """The facts of a cluster, kept up to date from `start` to `stop`."""

    def __init__(
        self,
        api: Connection,
        *,
        kinds: Iterable[FactKind] = tuple(FACTS.values()),
        store: Store | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Takes the API server, the kinds, the store to fill, and a clock in seconds. Sends no request yet."""
        self.store = Store() if store is None else store
        self.store.age = self.oldest
        self._api = api
        self._reflecting = Reflecting(api, purpose="facts")
        self._reflectors: dict[Key, Reflector] = {}
        self._others: list[Reflector] = []
        for kind in kinds:
            sink = self._sink(kind, clock=clock)
            self._reflectors[kind.key] = Reflector(api, Target(kind=kind), sink, clock=clock)

    def start(self) -> None:
        """Starts to list and watch; from now on the store fills."""
        self._reflecting.start(self._all())

    def stop(self, *, within: float = 5.0) -> None:
        """Ends all watches, and waits at most `within` seconds for their threads, which end with the process anyway."""
        self._reflecting.stop(within=within)

    @property
    def ready(self) -> bool:
        """Whether each kind has been listed once, does not exist, or may not be listed."""
        return not self.awaited()

    def awaited(self) -> list[str]:
        """The kinds without a first list.

        Kinds that the API server keeps failing to list while it lists others are left out: a webhook that converts
        their versions may wait for us to be ready. These kinds stay unknown.
        """
        awaited = [reflector for reflector in self._all() if not reflector.settled]
        if any(reflector.known for reflector in self._all()):
            awaited = [reflector for reflector in awaited if reflector.refusals < PATIENCE]
        return [reflector.target.label for reflector in awaited]

    def oldest(self) -> float:
        """The age of the oldest facts in seconds."""
        return max((age for reflector in self._all() if (age := reflector.age) is not None), default=0.0)

    def age(self, key: Key) -> float | None:
        """Seconds since the facts of a kind were last known to be current; None before its first list."""
        reflector = self._reflectors.get(key)
        return None if reflector is None else reflector.age

    @property
    def problems(self) -> dict[str, str]:
        """The present problems, by kind."""
        without_kueue = self.store.knows(*_CLUSTER_QUEUE) and not self.store.names(*_CLUSTER_QUEUE)
        # RBAC also refuses what does not exist: without a queue, the configuration of Kueue is not missed.
        read = self._reflectors.values() if without_kueue else self._all()
        return {reflector.target.label: reflector.problem for reflector in read if reflector.problem}

    @property
    def left_out(self) -> dict[str, str]:
        """The kinds that this site leaves out, with the reason."""
        return {each.target.label: each.left_out for each in self._reflectors.values() if each.left_out}

    def states(self) -> Iterator[State]:
        """How current the facts are, kind by kind."""
        counts = self.store.counts()
        for key, reflector in self._reflectors.items():
            yield State(
                kind=reflector.target.label,
                age=reflector.age,
                objects=counts.get(key, 0) if self.store.knows(*key) else None,
                watching=reflector.watching,
                restarts=dict(reflector.restarts),
                problem=reflector.problem,
            )

    def _all(self) -> list[Reflector]:
        return [*self._reflectors.values(), *self._others]

    def _sink(self, kind: FactKind, *, clock: Callable[[], float]) -> Sink:
        plain = sinks.InStore(self.store, kind.key)
        if kind.key == DEFINITION:
            return sinks.Definitions(plain, wake=self._wake)
        if kind.key != CONFIG_MAP:
            return plain
        namespace, name = KUEUE_CONFIGURATION
        with_content = sinks.WithContent(plain, namespace=namespace, name=name, alone=sinks.Alone(self.store))
        target = Target(kind=kind, namespace=namespace, name=name)
        self._others.append(Reflector(self._api, target, with_content.content, clock=clock))
        return with_content

    def _wake(self, definition: str) -> None:
        for reflector in self._reflectors.values():
            if reflector.target.kind.resource == definition:
                reflector.wake()
