"""The example sites, each with namespaces that its usher.yaml tells apart, and the built-in defaults."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from builders.queues import cluster_queue, flavor, group, local_queue, quota, topology
from usher.cluster import recording
from usher.cluster.facts.store import Recorded, State, Store
from usher.config import models, selection
from usher.config.load import load
from usher.kinds.registry import FACTS
from usher.policy import assembly
from usher.policy.evaluator import Evaluator

FOLDER: Final = Path(__file__).parents[2] / "examples/sites"


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    name: str
    namespaces: tuple[str, ...]

    @property
    def file(self) -> Path | None:
        return None if self.name == "defaults" else FOLDER / f"{self.name}.yaml"


SITES: Final = (
    Site(name="infiniband-h100", namespaces=("research-nlp", "serving-chat", "other")),
    Site(name="gke-a3-mega", namespaces=("ml-vision", "other")),
    Site(name="volcano-mixed", namespaces=("institute", "trial-kai")),
    Site(name="eks-karpenter", namespaces=("team-speech", "team-platform", "other")),
    Site(name="defaults", namespaces=("other",)),
)


@cache
def evaluator(site: Site) -> Evaluator:
    """Knows usher.yaml alone, as `usher check` without facts."""
    return _assembled(site, facts=None)


@cache
def evaluator_of_an_empty_cluster(site: Site) -> Evaluator:
    """Knows that its cluster has no object of any kind."""
    recorded = [Recorded(kind=kind, state=State.KNOWN, values=[]) for kind in FACTS.values()]
    return _assembled(site, facts=recording.store_of_recorded(recorded))


@cache
def evaluator_of_a_cluster_with_queues(site: Site) -> Evaluator:
    """Knows the queues of usher.yaml, which have much of the usual resources and of nothing else."""
    queues = [] if site.file is None else load(site.file).queues
    amounts = {"nvidia.com/gpu": "1000000", "cpu": "1000000", "memory": "1000Pi"}
    many = [quota(amount, resource=name) for name, amount in amounts.items()]
    facts = [
        cluster_queue("all", group(("default", many))),
        topology("racks", "example.com/rack", "kubernetes.io/hostname"),
        flavor("default", topologyName="racks"),
        *(
            local_queue(queue.local_queue, "all", namespace=namespace)
            for namespace in site.namespaces
            for queue in queues
            if selection.matches_pattern(namespace, queue.namespaces)
        ),
    ]
    unique = {(fact["kind"], str(fact["metadata"])): fact for fact in facts}
    return _assembled(site, facts=Store.of(unique.values()))


def _assembled(site: Site, *, facts: Store | None) -> Evaluator:
    config = models.Config() if site.file is None else load(site.file)
    return assembly.embedded(config, file=site.file, facts=facts)
