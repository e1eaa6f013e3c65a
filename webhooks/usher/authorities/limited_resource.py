"""A resource that a quota or a queue limits: the need of a workload, and whether that is too high."""

from collections.abc import Iterator
from dataclasses import replace

from usher.authorities.gang_demand import GangDemand
from usher.authorities.outlook import Balance
from usher.authorities.verdict import Reach, Shortage
from usher.dataclass import dataclass
from usher.quantities import Quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitedResource:
    of: str
    """The name of the quota or queue."""
    resource: str
    """The name of the resource in the quota or queue."""
    demand: GangDemand
    most: Quantity
    used: Quantity | None = None
    """None before the first count."""

    @property
    def needs(self) -> Quantity:
        """The amount that must be free at the same time."""
        return self.demand.starts if self.demand.is_gang else self.demand.all

    @property
    def could_suffice(self) -> bool:
        """Whether all pods would fit if nothing were used."""
        return self.demand.starts <= self.most and self.demand.all <= self.most

    def shortages(self) -> Iterator[Shortage]:
        """The shortages of the resource; at most one of START, ALL and NOW."""
        demand = self.demand
        shortage = Shortage(
            of=self.of,
            resource=self.resource,
            reach=Reach.START,
            needs=demand.starts,
            most=self.most,
            assumption=demand.assumption,
        )
        if demand.starts > self.most:
            parts = demand.parts if demand.starts == demand.all else ()
            yield replace(shortage, parts=parts, assumption=demand.assumption if demand.is_gang else "")
        elif demand.all > self.most:
            yield replace(shortage, reach=Reach.ALL, needs=demand.all, parts=demand.parts)
        else:
            if demand.largest is not None and demand.largest > self.most:
                yield replace(shortage, reach=Reach.LARGEST, needs=demand.largest)
            if self.used is not None and self.needs and self.needs + self.used > self.most:
                parts = demand.parts if self.needs == demand.all else ()
                yield replace(shortage, reach=Reach.NOW, needs=self.needs, used=self.used, parts=parts)

    def balance(self, kind: str) -> Balance:
        """The row of `usher queue`; `kind` is the kind of the quota or queue."""
        left = None if self.used is None else Quantity(max(self.most.nanos - self.used.nanos, 0))
        return Balance(
            of=f"{kind} {self.of}", resource=self.resource, asks=self.needs, most=self.most, used=self.used, free=left
        )
