"""The slice of usher.yaml that applies to a namespace and a kind, as the policies see it."""

from functools import lru_cache
from typing import NotRequired

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.config import models, namespaces


class Queue(TypedDict):
    localQueue: str
    placesPods: bool


class Route(TypedDict):
    scheduler: str
    schedulerName: str
    queue: str


class Site(TypedDict):
    systemNamespace: bool
    visibleDevicesAllowed: bool
    volcanoSchedulers: list[str]
    queue: NotRequired[Queue]
    route: NotRequired[Route]


class Sites:
    """All slices of one configuration; kept, because a cluster has few namespaces and many pods in each."""

    def __init__(self, config: models.Config) -> None:
        self.config = config
        self._kept = lru_cache(maxsize=1024)(self._slice)

    def of(self, namespace: str, kind: str) -> Site:
        """The slice; not to be changed by whoever gets it."""
        return self._kept(namespace, kind)

    def _slice(self, namespace: str, kind: str) -> Site:
        config = self.config
        result: Site = {
            "systemNamespace": namespaces.matches(namespace, config.priorities.system_namespaces),
            "visibleDevicesAllowed": namespaces.matches(namespace, config.isolation.visible_devices),
            "volcanoSchedulers": sorted({"volcano", *(route.scheduler_name for route in config.routing)}),
        }
        for queue in config.queues:
            if namespaces.matches(namespace, queue.namespaces):
                result["queue"] = {"localQueue": queue.local_queue, "placesPods": queue.places_pods}
                break
        for route in config.routing:
            if kind in route.kinds and namespaces.matches(namespace, route.namespaces):
                result["route"] = {
                    "scheduler": route.scheduler,
                    "schedulerName": route.scheduler_name,
                    "queue": route.queue,
                }
                break
        return result
