"""Which class pods without a class get: the classes of the cluster say so, or usher.yaml where they are unknown."""

import orjson

import builders
from unit.authorities.knowing import knowing
from usher import paths
from usher.cluster.facts.store import Store
from usher.config import models, sections
from usher.policy.input.document import Documents

CLASSES = [sections.PriorityRule(namespaces=["*"], priority_class="training")]
UNDECLARED = models.Config(priorities=models.Priorities(classes=CLASSES))
DECLARED = models.Config(priorities=models.Priorities(classes=CLASSES, global_default="declared"))


def priority_class(name: str, **fields: paths.Json) -> paths.Object:
    found: paths.Object = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 1}
    return {**found, "metadata": {"name": name}, **fields}


def default_class(*classes: paths.Object, config: models.Config) -> object:
    known = knowing(Store.of(classes), config)
    workload = known.workload(builders.pod())
    assert workload is not None
    return orjson.loads(Documents(known).build(workload))["site"].get("globalDefaultPriority")


def test_the_cluster_decides_where_its_classes_are_known() -> None:
    standard = priority_class("standard", globalDefault=True)

    assert default_class(standard, config=UNDECLARED) == "standard"
    assert default_class(standard, config=DECLARED) == "standard"


def test_usher_yaml_decides_elsewhere() -> None:
    assert default_class(config=DECLARED) == "declared"
    assert default_class(config=UNDECLARED) is None


def test_a_cluster_without_a_default_class_changes_nothing() -> None:
    assert default_class(priority_class("urgent"), config=UNDECLARED) is None
