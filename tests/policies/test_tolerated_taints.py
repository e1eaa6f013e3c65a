"""Mutations tolerate by themselves only taints that mark accelerators, of pools that the pods can then enter."""

from typing import Any, Final

import hypothesis
from hypothesis import strategies as st

import builders
import generated_examples
from acceptance import evaluator, mutated
from usher import paths
from usher.accelerators.vocabulary import Vocabulary
from usher.config import sections

PLAIN: Final = Vocabulary(sections.Accelerators())
_TAINTS: Final = st.builds(
    lambda key, value, effect: {"key": key, "value": value, "effect": effect},
    st.sampled_from(["nvidia.com/gpu", "sku", "gpu", "dedicated", "team", "cloud.google.com/gke-spot"]),
    st.sampled_from(["", "gpu", "present", "training"]),
    st.sampled_from(["NoSchedule", "NoExecute", "PreferNoSchedule"]),
)
_POOLS: Final = st.lists(st.lists(_TAINTS, max_size=3), min_size=1, max_size=3)
_TOLERATIONS: Final = st.lists(
    st.sampled_from(
        [
            builders.toleration("dedicated", value="training", effect="NoSchedule"),
            builders.toleration("team", operator="Exists"),
            builders.toleration("nvidia.com/gpu", operator="Exists"),
        ]
    ),
    max_size=2,
)


def site_of(pools: list[list[dict[str, str]]]) -> dict[str, Any]:
    return {
        "pools": [
            {"name": f"pool-{index}", "nodeSelector": {"pool": f"p{index}"}, "taints": taints}
            for index, taints in enumerate(pools)
        ]
    }


def keeps_off(taint: dict[str, str], toleration: Any) -> bool:
    """As Kubernetes documents it, without the operators Gt and Lt."""
    if taint["effect"] == "PreferNoSchedule":
        return False
    same = toleration["key"] == taint["key"] and toleration.get("effect", taint["effect"]) == taint["effect"]
    return not (same and (toleration.get("operator") == "Exists" or toleration.get("value", "") == taint["value"]))


def closed(taints: list[dict[str, str]], tolerations: Any) -> bool:
    return any(
        all(keeps_off(taint, each) for each in tolerations) for taint in taints if taint["effect"] != "PreferNoSchedule"
    )


@hypothesis.settings(max_examples=generated_examples.up_to(150), deadline=None)
@hypothesis.given(pools=_POOLS, written=_TOLERATIONS)
def test_only_marks_of_accelerators_are_tolerated_and_only_where_that_opens_a_pool(
    pools: list[list[dict[str, str]]], written: list[paths.Object]
) -> None:
    site = site_of(pools)
    pod = builders.pod(builders.container(gpus=1), tolerations=written or None)
    merged = mutated(pod, site)

    added = [intent.value for intent in merged.applied if intent.field == "toleration"]
    for toleration in added:
        assert isinstance(toleration, dict)
        assert PLAIN.marks_accelerators(str(toleration["key"]), "gpu")
    spec: Any = merged.value["spec"]
    now = spec.get("tolerations", [])
    opened = [index for index, taints in enumerate(pools) if not closed(taints, now)]
    if added:
        assert opened, "a toleration that opens no pool changes nothing for the pod"
    required = [intent.value for intent in merged.applied if intent.field == "nodeRequirement"]
    for value in required:
        assert isinstance(value, dict)
        # A later toleration may open the other pools, so the affinity does not exclude them.
        assert opened
        assert value["values"] == [f"p{index}" for index in range(len(pools))]


def test_a_pod_that_tolerates_the_other_taint_itself_gets_the_rest() -> None:
    site = site_of([[{"key": "nvidia.com/gpu", "value": "present"}, {"key": "dedicated", "value": "training"}]])
    tolerating = builders.pod(
        builders.container(gpus=1), tolerations=[builders.toleration("dedicated", value="training")]
    )

    def given(pod: paths.Object) -> list[Any]:
        return [each.value for each in mutated(pod, site).applied if each.field in ("toleration", "nodeRequirement")]

    assert given(builders.pod(builders.container(gpus=1))) == []
    assert given(tolerating) == [
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "pool", "operator": "In", "values": ["p0"]},
    ]


def test_a_system_pod_gets_tolerations_but_no_affinity() -> None:
    site = site_of([[{"key": "nvidia.com/gpu", "value": "present"}]])
    agent = builders.daemon_set(builders.template(builders.container(gpus=1)))
    fields = [intent.field for intent in mutated(agent, site).applied]

    assert evaluator(site).config.pools
    assert fields == ["toleration"]
