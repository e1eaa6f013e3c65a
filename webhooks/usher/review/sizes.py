"""The limits on the parts of one object. usher does not judge a larger object, and detects it at almost no cost.

The limits are far above what clusters run: a pod cannot use 250 containers on a node, and Kueue takes eight pod sets.
They are low enough that judging takes a fraction of the time of a review: the compiled policies need time that grows
with the square of the containers with accelerators (3,000 took 1.1 s, 250 take 0.02 s).
"""

from collections.abc import Iterator, Mapping
from typing import Final

from usher import paths
from usher.dataclass import dataclass

OF_A_POD: Final[Mapping[str, int]] = {
    "containers": 250, "initContainers": 250, "ephemeralContainers": 250,
    "env": 2000, "envFrom": 500, "volumeMounts": 1000, "volumeDevices": 1000, "ports": 2000,
    "volumes": 1000, "tolerations": 1000, "resourceClaims": 250, "claims": 250, "limits": 250, "requests": 250,
    "nodeSelectorTerms": 250, "matchExpressions": 1000, "topologySpreadConstraints": 250,
}  # fmt: skip
"""The most entries of lists and maps of one pod, by their field."""

CONTAINERS: Final = 1000
"""The most containers of all pod templates of one object."""

TEMPLATES: Final = 500
"""The most entries of a list of an object that holds pod templates."""

VALUES: Final = 250_000
"""The most JSON values of one object; an object of 3 MiB has 100,000."""

_WITH_TEMPLATES: Final = frozenset(
    ("replicatedJobs", "workerGroupSpecs", "templates", "tasks", "steps", "components", "podTemplates")
)
_WITH_CONTAINERS: Final = frozenset(("containers", "initContainers", "ephemeralContainers"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Excess:
    """The part of an object that is too large."""

    text: str
    of_a_pod: bool
    """Whether one pod is too large, so that a later review cannot judge its pods either."""


def excess(value: paths.Object) -> Excess | None:
    """The part of an object that is too large, first a pod that is too large; None within the limits."""
    containers = values = 0
    whole: str = ""
    for name, found in _fields(value):
        number = len(found)
        values += number
        if number > OF_A_POD.get(name, number):
            return Excess(text=f"{number} {name}, and usher judges at most {OF_A_POD[name]} in a pod", of_a_pod=True)
        if name in _WITH_CONTAINERS:
            containers += number
        if name in _WITH_TEMPLATES and number > TEMPLATES and not whole:
            whole = f"{number} {name}, and usher judges at most {TEMPLATES} in an object"
        if values > VALUES:
            return Excess(text=f"more than {VALUES} values", of_a_pod=False)
    if containers > CONTAINERS and not whole:
        whole = f"{containers} containers, and usher judges at most {CONTAINERS} in an object"
    return Excess(text=whole, of_a_pod=False) if whole else None


def _fields(value: paths.Object) -> Iterator[tuple[str, dict[str, paths.Json] | list[paths.Json]]]:
    """All lists and maps of an object, each with the name of its field."""
    waiting: list[tuple[str, paths.Json]] = [("", value)]
    while waiting:
        name, found = waiting.pop()
        if isinstance(found, dict):
            yield name, found
            waiting.extend(found.items())
        elif isinstance(found, list):
            yield name, found
            waiting.extend(("", item) for item in found)
