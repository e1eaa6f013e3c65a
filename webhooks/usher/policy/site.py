"""The slice of usher.yaml that applies to a namespace and a kind, as the policies see it."""

from collections.abc import Mapping
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


Parameter = bool | int | str | list[str]


class Site(TypedDict):
    systemNamespace: bool
    systemNamespacesDeclared: bool
    """Whether usher.yaml says which namespaces are the system's; else they are guessed by the usual names."""
    visibleDevicesAllowed: bool
    volcanoSchedulers: list[str]
    parameters: NotRequired[dict[str, dict[str, Parameter]]]
    """Those that usher.yaml sets here, by `category/name` of the check; all others have their defaults."""
    queue: NotRequired[Queue]
    route: NotRequired[Route]


class Sites:
    """All slices of one configuration; kept, because a cluster has few namespaces and many pods in each."""

    def __init__(self, config: models.Config, keys: Mapping[str, str]) -> None:
        """Takes the keys of the checks by their codes and names, in which usher.yaml speaks of them."""
        self.config = config
        self._keys = keys
        self._kept = lru_cache(maxsize=1024)(self._slice)

    def of(self, namespace: str, kind: str) -> Site:
        """The slice; not to be changed by whoever gets it."""
        return self._kept(namespace, kind)

    def _slice(self, namespace: str, kind: str) -> Site:
        config = self.config
        result: Site = {
            "systemNamespace": namespaces.matches(namespace, config.priorities.system_namespaces),
            "systemNamespacesDeclared": "system_namespaces" in config.priorities.model_fields_set,
            "visibleDevicesAllowed": namespaces.matches(namespace, config.isolation.visible_devices),
            "volcanoSchedulers": sorted({"volcano", *(route.scheduler_name for route in config.routing)}),
        }
        parameters = self._parameters(namespace)
        if parameters:
            result["parameters"] = parameters
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

    def _parameters(self, namespace: str) -> dict[str, dict[str, Parameter]]:
        """The last entry of usher.yaml that fits decides about each value."""
        result: dict[str, dict[str, Parameter]] = {}
        for entry in self.config.parameters:
            key = self._keys.get(entry.check)
            if key is not None and namespaces.matches(namespace, entry.namespaces):
                result.setdefault(key, {}).update(entry.values)
        return result
