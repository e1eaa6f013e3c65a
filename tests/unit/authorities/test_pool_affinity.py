"""Node selectors and required affinity against the labels of pools (docs/domain/nodes.md#affinity)."""

import pytest

import builders
from builders import expression, node_affinity, term
from unit.workloads.normalised import workload
from usher import model, paths
from usher.authorities import pool_fit

PRODUCT = "nvidia.com/gpu.product"
H100: pool_fit.Labels = {PRODUCT: "H100"}
A100: pool_fit.Labels = {PRODUCT: "A100"}
H100_IN_A: pool_fit.Labels = {PRODUCT: "H100", "zone": "a"}
H100_IN_B: pool_fit.Labels = {PRODUCT: "H100", "zone": "b"}


def pod_set(*terms: paths.Object, required: bool = False, node_selector: pool_fit.Labels | None = None) -> model.PodSet:
    """A pod set that requires one of the terms; with `required` even if there are none."""
    wanted = node_affinity(*terms) if terms or required else None
    (found,) = workload(builders.pod(affinity=wanted, nodeSelector=node_selector)).pod_sets
    return found


def way(*expressions: paths.Object, **selector: str) -> pool_fit.Alternative:
    """The only alternative of a pod set with one term."""
    terms = [term(*expressions)] if expressions else []
    (found,) = pool_fit.node_alternatives(pod_set(*terms, node_selector=selector))
    return found


def test_without_affinity_the_node_selector_is_the_only_way() -> None:
    assert pool_fit.node_alternatives(pod_set()) == [({}, ())]
    assert pool_fit.node_alternatives(pod_set(node_selector={"a": "b"})) == [({"a": "b"}, ())]


def test_every_term_is_a_way_of_its_own_together_with_the_node_selector() -> None:
    first, second = expression(PRODUCT, "In", "H100"), expression("zone", "Exists")

    assert pool_fit.node_alternatives(pod_set(term(first), term(first, second), node_selector={"a": "b"})) == [
        ({"a": "b"}, [first]),
        ({"a": "b"}, [first, second]),
    ]


def test_an_empty_term_matches_no_node_and_gives_no_alternative() -> None:
    here = term(expression("zone", "Exists"))

    assert pool_fit.node_alternatives(pod_set(term(), here)) == [({}, [expression("zone", "Exists")])]
    assert pool_fit.node_alternatives(pod_set(term())) == []
    assert pool_fit.node_alternatives(pod_set(required=True)) == []


def test_a_term_of_fields_alone_is_a_way_without_a_condition_on_labels() -> None:
    by_name = term(fields=[expression("metadata.name", "In", "node-1")])

    assert pool_fit.node_alternatives(pod_set(by_name)) == [({}, [])]


@pytest.mark.parametrize(
    "field",
    [
        expression("metadata.name", "In", "a", "b"),
        expression("metadata.name", "Exists"),
        expression("metadata.name", "In"),
    ],
)
def test_a_term_of_fields_that_kubernetes_cannot_parse_gives_no_alternative(field: paths.Object) -> None:
    assert pool_fit.node_alternatives(pod_set(term(expression("zone", "Exists"), fields=[field]))) == []


@pytest.mark.parametrize(
    ("expressions", "could"),
    [
        ([], True),
        ([expression(PRODUCT, "In", "H100")], True),
        ([expression(PRODUCT, "In", "A100", "H100")], True),
        ([expression(PRODUCT, "In", "A100")], False),
        ([expression(PRODUCT, "NotIn", "H100")], False),
        ([expression(PRODUCT, "NotIn", "A100")], True),
        ([expression(PRODUCT, "Exists")], True),
        ([expression(PRODUCT, "DoesNotExist")], False),
        ([expression("count", "Gt", "7")], True),
        ([expression("count", "Gt", "8")], False),
        ([expression("count", "Lt", "9")], True),
        ([expression("count", "Lt", "8")], False),
        ([expression("count", "Gt", "10")], False),  # as numbers, not as texts
        ([expression(PRODUCT, "Gt", "7")], False),
        ([expression("count", "Gt", "1_0")], False),
        ([expression("count", "Lt", "\u0669\u0669")], False),
        ([expression("count", "Gt")], False),
        ([expression("count", "Gt", "1", "2")], False),
        ([expression(PRODUCT, "In", "H100"), expression(PRODUCT, "NotIn", "H100")], False),
        ([expression("count", "Lt", "9223372036854775807")], True),
        ([expression("count", "Lt", "9223372036854775808")], False),  # no number of 64 bits
        ([expression("count", "Gt", "-1")], False),  # no label value
        ([expression("count", "Lt", "0" * 60 + "9")], True),
        # Kubernetes cannot parse these, whatever labels a node may have.
        ([expression("zone", "In")], False),
        ([expression("zone", "Exists", "a")], False),
        ([expression("zone", "Gt", "many")], False),
        ([expression("zone", "Equals", "a")], False),
        ([expression("zone", "NotIn", "not a value")], False),
        ([expression("no key", "Exists")], False),
        # Of labels that the pool does not name, its nodes may have any value or none.
        ([expression("zone", "In", "a")], True),
        ([expression("zone", "DoesNotExist")], True),
        ([expression("zone", "Gt", "1")], True),
    ],
)
def test_a_node_of_a_pool_could_fit_unless_a_label_that_is_known_forbids_it(
    expressions: list[paths.Object],
    could: bool,
) -> None:
    assert pool_fit.could_fit(way(*expressions), {**H100, "count": "8"}) is could


def test_a_node_selector_and_a_term_must_both_fit() -> None:
    here = expression("zone", "In", "a")

    assert pool_fit.could_fit(({PRODUCT: "H100"}, [here]), H100_IN_A)
    assert not pool_fit.could_fit(({PRODUCT: "A100"}, [here]), H100_IN_A)
    assert not pool_fit.could_fit(({PRODUCT: "H100"}, [here]), H100_IN_B)
    assert pool_fit.could_fit(({"other": "x"}, []), H100_IN_A)


@pytest.mark.parametrize(
    ("alternative", "only"),
    [
        (way(), False),
        (({PRODUCT: "H100"}, []), True),
        (({PRODUCT: "H100", "disk": "ssd"}, []), True),
        (({PRODUCT: "T4"}, []), False),
        (({"disk": "ssd"}, []), False),
        (way(expression(PRODUCT, "In", "H100")), True),
        (way(expression(PRODUCT, "In", "H100", "A100")), True),
        (way(expression(PRODUCT, "In", "H100", "T4")), False),
        (way(expression(PRODUCT, "In", "H100", "T4"), expression(PRODUCT, "In", "H100", "V100")), True),
        (way(expression(PRODUCT, "NotIn", "T4")), False),
        (way(expression(PRODUCT, "Exists")), False),
        (way(expression(PRODUCT, "Gt", "1")), False),
        (way(expression(PRODUCT, "DoesNotExist")), False),
        (way(expression(PRODUCT, "In", "H100"), expression("zone", "NotIn", "a")), True),
        # No node fits at all, so none outside the pools does.
        (({PRODUCT: "H100"}, [expression(PRODUCT, "In", "A100")]), True),
    ],
)
def test_a_way_allows_only_nodes_of_pools_that_have_one_label(
    alternative: pool_fit.Alternative,
    only: bool,
) -> None:
    assert pool_fit.allows_only(alternative, [H100, A100]) is only


@pytest.mark.parametrize(
    ("alternative", "pools", "only"),
    [
        (({PRODUCT: "H100", "zone": "a"}, []), [H100_IN_A], True),
        (({PRODUCT: "H100"}, []), [H100_IN_A], False),
        (({PRODUCT: "H100"}, []), [H100_IN_A, H100_IN_B], False),
        # The other half of the nodes that fit is in zone b, of which no pool is known.
        (({PRODUCT: "H100"}, [expression("zone", "In", "a", "b")]), [H100_IN_A], False),
        (({PRODUCT: "H100"}, [expression("zone", "In", "a", "b")]), [H100_IN_A, H100_IN_B], True),
        (({}, [expression(PRODUCT, "In", "H100", "A100"), expression("zone", "In", "a")]), [H100_IN_A, A100], True),
        (({}, [expression(PRODUCT, "In", "H100", "A100"), expression("zone", "In", "b")]), [H100_IN_A, A100], False),
        # A pool with one label covers what a pool with two leaves open.
        (({PRODUCT: "H100"}, [expression("zone", "In", "a", "b")]), [H100_IN_A, H100], True),
        (
            ({}, [expression(PRODUCT, "In", "H100", "A100"), expression("zone", "In", "a", "b")]),
            [H100_IN_A, H100_IN_B, {PRODUCT: "A100", "zone": "a"}],
            False,
        ),
        (
            ({}, [expression(PRODUCT, "In", "H100", "A100"), expression("zone", "In", "a", "b")]),
            [H100_IN_A, H100_IN_B, {PRODUCT: "A100", "zone": "a"}, {PRODUCT: "A100", "zone": "b"}],
            True,
        ),
        (({PRODUCT: "H100"}, []), [], False),
        (({PRODUCT: "H100"}, []), [{}], False),
    ],
)
def test_a_way_allows_only_nodes_that_carry_all_labels_of_a_pool(
    alternative: pool_fit.Alternative,
    pools: list[pool_fit.Labels],
    only: bool,
) -> None:
    assert pool_fit.allows_only(alternative, pools) is only


def test_a_manifest_with_thousands_of_values_costs_no_more_than_the_pools_do() -> None:
    pools = [{f"key-{index}": "a", f"other-{index}": "b"} for index in range(40)]
    values = [str(index) for index in range(1000)]
    expressions = [expression(key, "In", *labels.values(), *values) for labels in pools for key in labels]

    assert not pool_fit.allows_only(({}, expressions), pools)


@pytest.mark.parametrize(
    "junk",
    [
        {"key": [], "operator": "In", "values": ["H100"]},
        {"key": {}, "operator": "Exists"},
        {"key": 5, "operator": "In", "values": [5]},
        {"key": PRODUCT, "operator": [], "values": {}},
        {"key": PRODUCT, "operator": "In", "values": "H100"},
        {"key": PRODUCT, "operator": "In", "values": [["H100"]]},
        {"key": PRODUCT, "operator": "In", "values": ["H100", 5]},
        {"key": PRODUCT, "operator": "In"},
        {},
        "In",
        None,
    ],
)
def test_an_expression_that_cannot_be_read_is_survived_and_restricts_to_no_pool(junk: paths.Json) -> None:
    for alternative in pool_fit.node_alternatives(pod_set({"matchExpressions": [junk], "matchFields": "x"})):
        assert not pool_fit.allows_only(alternative, [H100])
        assert pool_fit.could_fit(alternative, H100) in (True, False)
        pool_fit.names_any_label(alternative, [PRODUCT])


KEYS = ("nvidia.com/*", "cloud.google.com/gke-accelerator")


@pytest.mark.parametrize(
    ("alternative", "names"),
    [
        (({PRODUCT: "H100"}, []), True),
        (({"cloud.google.com/gke-accelerator": "nvidia-h100"}, []), True),
        (({"cloud.google.com/gke-accelerator-count": "8"}, []), False),
        (({"zone": "a"}, []), False),
        (way(), False),
        (way(expression(PRODUCT, "In", "H100")), True),
        (way(expression("nvidia.com/gpu.present", "Exists")), True),
        (way(expression("nvidia.com/gpu.count", "Gt", "4")), True),
        (way(expression("nvidia.com/gpu.count", "Lt", "4")), True),
        # Nodes without the label fit as well.
        (way(expression(PRODUCT, "NotIn", "T4")), False),
        (way(expression(PRODUCT, "DoesNotExist")), False),
        (way(expression("zone", "Exists"), expression(PRODUCT, "Exists")), True),
    ],
)
def test_a_way_names_a_label_when_nodes_without_it_do_not_fit(
    alternative: pool_fit.Alternative,
    names: bool,
) -> None:
    assert pool_fit.names_any_label(alternative, KEYS) is names


@pytest.mark.parametrize(
    ("ways", "numbers"),
    [
        ([way(count="8")], {"count": {8}}),
        ([way(expression("count", "In", "4", "08"))], {"count": {4, 8}}),
        ([way(expression("count", "In", "4"), count="8")], {"count": set()}),
        ([way(expression("count", "In", "4")), way(expression("count", "In", "2"))], {"count": {2, 4}}),
        ([way(expression("count", "In", "4")), way(zone="a")], {}),
        ([way(expression("count", "Gt", "4"))], {}),
        ([way(expression("count", "In", "4", "many"))], {}),
        ([way(count="1234567890")], {}),
        ([way(count="123456789")], {"count": {123456789}}),
        ([], {}),
    ],
)
def test_numbers_are_those_that_every_allowed_node_has(
    ways: list[pool_fit.Alternative], numbers: dict[str, set[int]]
) -> None:
    assert pool_fit.allowed_label_numbers(ways) == numbers
