"""Which quota holds for a namespace is remembered, and is always what it would be if it were selected now."""

from typing import Any

import builders
from usher import paths
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities.gpu_quota import assignment
from usher.authorities.gpu_quota.assignment import Undecided
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.knowledge import Knowledge
from usher.cluster.facts.store import Store
from usher.config import models


def gpu_quota(name: str, **spec: Any) -> paths.Object:
    return builders.gpu_quota(name, 8, **{"namespaces": None, **spec})


def namespace(**labels: str) -> paths.Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml", "labels": {**labels}}}


def knowledge(facts: Store, config: models.Config) -> Knowledge:
    return Knowledge(facts=facts, config=config, vocabulary=Vocabulary(config.accelerators))


def of_ml(facts: Store, config: models.Config) -> str:
    found = assignment.quota_of_namespace(knowledge(facts, config), "ml")
    assert not isinstance(found, Undecided)
    assert found == assignment.quota_of_namespace(knowledge(facts, config), "ml")
    return "" if found is None else found.name


def test_it_follows_the_quotas_and_the_labels_of_the_namespace() -> None:
    config = models.Config()
    gold = gpu_quota("gold", namespaceSelector={"matchLabels": {"tier": "gold"}})
    facts = Store.of([gold, namespace(tier="silver")])

    assert of_ml(facts, config) == ""
    facts.put(namespace(tier="gold"))
    assert of_ml(facts, config) == "gold"
    facts.remove(gold)
    assert of_ml(facts, config) == ""
    facts.put(gpu_quota("named", namespaces=["m*"]))
    assert of_ml(facts, config) == "named"


def test_it_follows_the_configuration() -> None:
    declaring = models.Config.model_validate(
        {"quotas": [{"name": "declared", "namespaces": ["ml"], "limits": [{"hard": {"gpus": 1}}]}]}
    )
    facts = Store()

    assert of_ml(facts, models.Config()) == ""
    assert of_ml(facts, declaring) == "declared"
    assert of_ml(facts, models.Config()) == ""


def test_a_charge_makes_no_other_quota_of_it() -> None:
    """Charges are written many times in a second."""
    quota = gpu_quota("all", namespaces=["*"])
    config, facts = models.Config(), Store.of([{**quota, "status": {"charges": []}}])
    before = assignment.quota_of_namespace(knowledge(facts, config), "ml")

    facts.put({**quota, "status": {"charges": [{}]}})

    assert isinstance(before, Quota)
    assert assignment.quota_of_namespace(knowledge(facts, config), "ml") is before


def test_pods_that_name_no_class_have_that_of_the_cluster() -> None:
    """Whatever usher.yaml says for where nothing is known of it."""
    made: paths.Object = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "low"}}
    facts = Store.of([{**made, "value": 10, "globalDefault": True}])
    declared = models.Config.model_validate({"priorities": {"globalDefault": "mine"}})

    assert assignment.default_class(knowledge(facts, declared)) == "low"
    assert assignment.default_class(knowledge(Store(), declared)) == "mine"
    assert assignment.default_class(knowledge(Store(), models.Config())) == ""
