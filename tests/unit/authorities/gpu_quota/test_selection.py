"""Which quota holds for a namespace."""

from typing import Any

from usher.authorities.gpu_quota import assignment
from usher.authorities.gpu_quota import definitions as gpu_quota_definitions
from usher.authorities.gpu_quota.assignment import Undecided
from usher.authorities.gpu_quota.definitions import Malformed, Quota

LIMITS = [{"hard": {"gpus": 8}}]


def quota(name: str, **spec: Any) -> Quota | Malformed:
    value: Any = {"metadata": {"name": name}, "spec": {"limits": LIMITS, **spec}}
    return gpu_quota_definitions.of_object(value)


def named(found: Quota | Undecided | None) -> str | None:
    assert not isinstance(found, Undecided)
    return None if found is None else found.name


def selecting(**labels: str) -> dict[str, Any]:
    return {"namespaceSelector": {"matchLabels": labels}}


def expressed(key: str, operator: str, *values: str) -> dict[str, Any]:
    expression = {"key": key, "operator": operator, **({"values": list(values)} if values else {})}
    return {"namespaceSelector": {"matchExpressions": [expression]}}


def test_a_pattern_chooses_by_name() -> None:
    quotas = [quota("research", namespaces=["research-*"]), quota("web", namespaces=["web"])]

    assert named(assignment.select_quota(quotas, "research-nlp", None)) == "research"
    assert named(assignment.select_quota(quotas, "web", {})) == "web"
    assert named(assignment.select_quota(quotas, "other", {})) is None


def test_a_selector_chooses_by_labels() -> None:
    quotas = [quota("gold", **selecting(tier="gold")), quota("other", **expressed("tier", "NotIn", "gold", "none"))]

    assert named(assignment.select_quota(quotas, "a", {"tier": "gold"})) == "gold"
    assert named(assignment.select_quota(quotas, "a", {})) == "other"
    assert named(assignment.select_quota(quotas, "a", {"tier": "none"})) is None
    assert named(assignment.select_quota([quota("x", **expressed("tier", "Exists"))], "a", {"tier": ""})) == "x"
    assert named(assignment.select_quota([quota("x", **expressed("tier", "Exists"))], "a", {})) is None
    assert named(assignment.select_quota([quota("x", **expressed("tier", "DoesNotExist"))], "a", {})) == "x"
    assert named(assignment.select_quota([quota("x", **expressed("tier", "DoesNotExist"))], "a", {"tier": ""})) is None


def test_patterns_and_selector_have_to_fit_both() -> None:
    quotas = [quota("both", namespaces=["ml-*"], **selecting(tier="gold"))]

    assert named(assignment.select_quota(quotas, "ml-a", {"tier": "gold"})) == "both"
    assert named(assignment.select_quota(quotas, "web", {"tier": "gold"})) is None
    assert named(assignment.select_quota(quotas, "ml-a", {})) is None


def test_labels_that_are_not_known_matter_only_where_they_decide() -> None:
    quotas = [quota("gold", namespaces=["ml-*"], **selecting(tier="gold"))]

    assert assignment.select_quota(quotas, "ml-a", None) == Undecided(
        reason="GPUQuota gold selects namespaces by labels, and the labels of ml-a are not known"
    )
    assert named(assignment.select_quota(quotas, "web", None)) is None
    assert named(assignment.select_quota([quota("all", namespaceSelector={})], "web", None)) == "all"


def test_two_quotas_for_one_namespace_are_undecided() -> None:
    quotas = [quota("first", namespaces=["ml-*"]), quota("second", **selecting(tier="gold"))]

    assert assignment.select_quota(quotas, "ml-a", {"tier": "gold"}) == Undecided(
        reason="GPUQuota first and GPUQuota second hold for namespace ml-a, but only one quota may"
    )


def test_a_quota_that_cannot_be_read_is_in_the_way_where_it_may_hold() -> None:
    broken = quota("broken", namespaces=["ml-*"], limits=[])
    found = assignment.select_quota([broken, quota("web", namespaces=["web"])], "ml-a", {})

    assert isinstance(found, Undecided)
    assert found.reason.startswith("GPUQuota broken cannot be read: /spec/limits: ")
    assert named(assignment.select_quota([broken, quota("web", namespaces=["web"])], "web", {})) == "web"


def test_all_quotas_that_hold_are_named_and_of_very_many_reasons_the_first() -> None:
    several = [quota(name, namespaces=["ml"]) for name in "abc"]
    broken = [quota(f"broken-{number}", limits=[]) for number in range(9)]

    found = assignment.select_quota(several, "ml", {})
    assert isinstance(found, Undecided)
    assert found.reason.startswith("GPUQuota a, GPUQuota b and GPUQuota c hold")
    found = assignment.select_quota(broken, "ml", {})
    assert isinstance(found, Undecided)
    assert found.reason.count("cannot be read") == 5


def test_a_quota_whose_namespaces_cannot_be_read_may_hold_for_any() -> None:
    found = assignment.select_quota([quota("broken", namespaces=7)], "web", {})

    assert isinstance(found, Undecided)
    assert found.reason.startswith("GPUQuota broken cannot be read: /spec/namespaces")
