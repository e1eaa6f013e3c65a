"""Knowledge of authorities in tests."""

from unit.workloads.normalised import workload
from usher import paths
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities.authority import Case
from usher.authorities.knowledge import Knowledge
from usher.cluster.facts.store import Store
from usher.config import models


def knowing(facts: Store, config: models.Config | None = None) -> Knowledge:
    config = models.Config() if config is None else config
    return Knowledge(facts=facts, config=config, vocabulary=Vocabulary(config.accelerators))


def case(value: paths.Object) -> Case:
    return Case(workload=workload(value))
