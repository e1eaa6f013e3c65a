"""A node fits a pod's node selector and required affinity when the scheduler says so."""

from collections.abc import Mapping
from typing import Any

import pytest

from unit.oracle import golden
from unit.workloads.normalised import workload
from usher import model, paths
from usher.authorities import pool_fit
from usher.model import placement

CASES = golden.cases("nodes")


def pod_set(case: Any) -> model.PodSet:
    """Nulls in lists are unknown to the normaliser, and so are in some cases."""
    (found,) = workload({"apiVersion": "v1", "kind": "Pod", "spec": case["spec"]}).pod_sets
    return found


def matches(case: Any) -> bool:
    return placement.node_matches(pod_set(case), labels=case["labels"], name=case["name"])


def selector_matches(case: Any) -> bool:
    return all(case["labels"].get(key) == value for key, value in pod_set(case).node_selector.items())


def test_every_node_fits_when_the_scheduler_says_so() -> None:
    golden.assert_none(case for case in CASES if matches(case) != case["matches"])


def is_unparsable(term: Mapping[str, paths.Json]) -> bool:
    """A term without requirements is no mistake: it matches no node."""
    return bool(term.get("matchExpressions") or term.get("matchFields")) and placement.parse_term(term) is None


def test_what_kubernetes_cannot_parse_is_known() -> None:
    """Kubernetes parses the terms only of a pod whose node selector fits, and says so only if no other term matches."""
    golden.assert_none(
        case
        for case in CASES
        if selector_matches(case)
        and not case["matches"]
        and any(map(is_unparsable, pod_set(case).required_terms)) != case["unparsable"]
    )


def test_a_node_that_fits_could_fit_as_well_if_only_some_of_its_labels_were_known() -> None:
    def could_fit(case: Any) -> bool:
        known = dict(list(case["labels"].items())[::2])
        return any(pool_fit.could_fit(way, known) for way in pool_fit.node_alternatives(pod_set(case)))

    golden.assert_none(case for case in CASES if case["matches"] and not could_fit(case))


@pytest.mark.costly
def test_where_all_labels_are_known_that_matter_only_a_node_that_fits_could_fit() -> None:
    def ways(case: Any) -> list[pool_fit.Alternative]:
        return pool_fit.node_alternatives(pod_set(case))

    def tells_all(case: Any) -> bool:
        named = {key for selector, _ in ways(case) for key in selector}
        asked = {expression.get("key") for _, expressions in ways(case) for expression in expressions}
        on_fields = any(term.get("matchFields") for term in pod_set(case).required_terms)
        return named | asked <= case["labels"].keys() and not on_fields

    golden.assert_none(
        case
        for case in CASES
        if tells_all(case) and any(pool_fit.could_fit(way, case["labels"]) for way in ways(case)) != case["matches"]
    )
