"""The verdict of classes is that of looking at every node by itself, whatever nodes and pods there are."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import builders
import generated_examples
from unit.authorities.clusters import demand
from unit.model import node_matching
from unit.workloads.normalised import VOCABULARY
from usher import paths
from usher.authorities.nodes import judge as nodes_judge
from usher.authorities.nodes import places as nodes_places
from usher.authorities.verdict import Answer
from usher.cluster.facts import nodes
from usher.cluster.facts.nodes import NodeTable

_VALUES = st.sampled_from(["a", "b", "c"])
_KEYS = st.sampled_from(["zone", "kind", "rack", "kubernetes.io/hostname"])
_TAINTS = ["nvidia.com/gpu=present:NoSchedule", "spot=true:NoExecute", "soft=x:PreferNoSchedule"]
_NODES = st.builds(
    lambda index, labels, taints, gpus, memory, cpu: builders.node(
        f"n-{index}", gpus=gpus, labels=labels, taints=taints, allocatable={"memory": memory, "cpu": cpu}
    ),
    st.integers(0, 40),
    st.dictionaries(st.sampled_from(["zone", "kind", "rack"]), _VALUES, max_size=3),
    st.lists(st.sampled_from(_TAINTS), max_size=2, unique=True),
    st.sampled_from([None, 1, 4, 8]),
    st.integers(1000, 1003),
    st.sampled_from(["3500m", "4", "8"]),
)
_EXPRESSIONS = st.one_of(
    st.builds(
        lambda key, operator, values: builders.expression(key, operator, *values),
        _KEYS,
        st.sampled_from(["In", "NotIn"]),
        st.lists(st.one_of(_VALUES, st.integers(0, 40).map(lambda index: f"n-{index}")), min_size=1, max_size=3),
    ),
    st.builds(builders.expression, _KEYS, st.sampled_from(["Exists", "DoesNotExist"])),
)
_TOLERATIONS = st.sampled_from(
    [
        builders.toleration("nvidia.com/gpu", operator="Exists"),
        builders.toleration("nvidia.com/gpu", value="true", effect="NoSchedule"),
        builders.toleration("spot", value="true"),
        builders.toleration(operator="Exists", effect="NoSchedule"),
    ]
)
_PODS = st.builds(
    lambda gpus, memory, cpu, selector, terms, tolerations: builders.pod(
        builders.container(gpus=gpus, limits={"memory": memory, "cpu": cpu}),
        nodeSelector=selector or None,
        affinity=builders.node_affinity(*(builders.term(*term) for term in terms)) if terms is not None else None,
        tolerations=tolerations,
    ),
    st.sampled_from([None, 1, 5, 8, 9]),
    st.integers(999, 1003),
    st.sampled_from(["3501m", "1", "8", "8001m"]),
    st.dictionaries(st.sampled_from(["zone", "rack"]), _VALUES, max_size=1),
    st.one_of(st.none(), st.lists(st.lists(_EXPRESSIONS, min_size=1, max_size=2), min_size=1, max_size=2)),
    st.lists(_TOLERATIONS, max_size=2),
)


def covers(toleration: Mapping[str, Any], taint: Mapping[str, str]) -> bool:
    keys = toleration.get("key") in (None, taint["key"])
    effects = toleration.get("effect") in (None, taint["effect"])
    values = toleration.get("operator") == "Exists" or toleration.get("value", "") == taint.get("value", "")
    return keys and effects and values


def fits(pod: Any, node: Any) -> bool:
    """One node by itself, as the documentation of Kubernetes has it."""
    spec = pod["spec"]
    for taint in node["spec"].get("taints", []):
        if taint["effect"] != "PreferNoSchedule" and not any(covers(each, taint) for each in spec["tolerations"]):
            return False
    has = {**node["status"]["allocatable"], "cpu": milli(node["status"]["allocatable"]["cpu"])}
    asked = {**spec["containers"][0]["resources"]["limits"]}
    asked["cpu"] = milli(asked["cpu"])
    enough = all(int(amount) <= int(has.get(name, 0)) for name, amount in asked.items())
    return enough and node_matching.fits(spec, node["metadata"]["labels"])


def milli(text: str) -> int:
    return int(text[:-1]) if text.endswith("m") else int(text) * 1000


@pytest.fixture(params=[nodes.MOST_CLASSES, 3], ids=["many classes", "hardly any classes"], scope="module")
def most_classes(request: pytest.FixtureRequest) -> int:
    limit: int = request.param
    return limit


@settings(max_examples=generated_examples.up_to(300), deadline=None)
@given(cluster=st.lists(_NODES, max_size=12), pod=_PODS)
def test_classes_say_what_their_nodes_say(most_classes: int, cluster: list[paths.Object], pod: paths.Object) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nodes, "MOST_CLASSES", most_classes)
        table = NodeTable()
        table.replace(cluster)
    by_name: dict[str, Any] = {str(node["metadata"]["name"]): node for node in cluster}  # type: ignore[index,call-overload]  # built above

    found = nodes_judge.judge(demand(pod), nodes_places.places_of_cluster(table.now, [], VOCABULARY))

    fitting = any(fits(pod, node) for node in by_name.values())
    assert found.answer is (Answer.COULD if fitting else Answer.NEVER)
    assert (found.nearest is None) is fitting
    if by_name and found.nearest is not None:
        assert found.nearest.obstacles, "whatever never fits lacks something"
