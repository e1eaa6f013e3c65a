"""Watches whatever makes pods, for as long as there are quotas to charge for it."""

from collections.abc import Callable, Iterable

from usher.charging.holdings import Holdings
from usher.charging.observing import InHoldings
from usher.cluster.listing import Target
from usher.cluster.live import Connection, Reflecting
from usher.cluster.watching import Reflector
from usher.kinds.kept_fields import FactKind, Key


class Observers:
    """One thread for each kind, all ended together."""

    def __init__(self, connect: Callable[[], Connection], holdings: Holdings) -> None:
        """Takes what makes a connection of their own, because to end them all its streams are ended."""
        self._api = connect()
        self._holdings = holdings
        self._reflecting = Reflecting(self._api, purpose="observing")
        self._reflectors: dict[Key, Reflector] = {}

    def observe(self, kinds: Iterable[FactKind]) -> None:
        """Observes kinds from now on, beside those that are observed."""
        new = {
            kind.key: Reflector(self._api, Target(kind=kind), InHoldings(self._holdings))
            for kind in kinds
            if kind.key not in self._reflectors
        }
        # Others look at them while this thread adds to them.
        self._reflectors = {**self._reflectors, **new}
        self._reflecting.start(new.values())

    def __len__(self) -> int:
        return len(self._reflectors)

    @property
    def ready(self) -> bool:
        """Whether all that exists has been listed once."""
        return all(reflector.settled for reflector in self._reflectors.values())

    @property
    def problems(self) -> dict[str, str]:
        """What is wrong at present, by kind."""
        return {each.target.label: each.problem for each in self._reflectors.values() if each.problem}

    def stop(self, *, within: float = 5.0) -> None:
        """Ends all watches, and waits some seconds at most for their threads."""
        self._reflecting.stop(within=within)
