"""A pod set against one completely known node; tests/unit/oracle has the scheduler's own answers."""

import pytest

import builders
from builders import expression, node_affinity, term
from unit.workloads.normalised import pod_set, workload
from usher import model, paths
from usher.model import placement
from usher.model.placement import Labels

LABELS: Labels = {"zone": "a", "count": "8"}


def asking(*terms: paths.Object, **selector: str) -> model.PodSet:
    wanted = node_affinity(*terms) if terms else None
    return pod_set(builders.pod(affinity=wanted, nodeSelector=selector or None))


def on_name(operator: str, *names: str) -> paths.Object:
    return term(fields=[expression("metadata.name", operator, *names)])


@pytest.mark.parametrize(
    ("asking_for", "fits"),
    [
        (asking(), True),
        (asking(zone="a"), True),
        (asking(zone="b"), False),
        (asking(disk=""), False),  # a label that is missing is not an empty one
        (asking(term(expression("zone", "In", "a", "b"))), True),
        (asking(term(expression("disk", "NotIn", "ssd"))), True),
        (asking(term(expression("disk", "Exists"))), False),
        (asking(term(expression("count", "Gt", "7"), expression("zone", "In", "b"))), False),
        (asking(term(expression("count", "Gt", "7")), term(expression("zone", "In", "b"))), True),
        (asking(term(expression("count", "Gt", "7")), zone="b"), False),
        (asking(term()), False),
        (asking(on_name("In", "node-1")), True),
        (asking(on_name("In", "node-2")), False),
        (asking(on_name("NotIn", "node-2")), True),
        (asking(term(expression("zone", "In", "b"), fields=[expression("metadata.name", "In", "node-1")])), False),
    ],
)
def test_a_node_fits_by_its_labels_and_its_name(asking_for: model.PodSet, fits: bool) -> None:
    assert placement.node_matches(asking_for, labels=LABELS, name="node-1") is fits


@pytest.mark.parametrize(
    "unparsable",
    [
        term(expression("zone", "In", "a"), expression("zone", "Is", "a")),
        term(expression("count", "Gt", "-1")),
        on_name("In", "node-1", "node-2"),
    ],
)
def test_a_term_that_cannot_be_parsed_matches_no_node_and_hinders_no_other_term(unparsable: paths.Object) -> None:
    here = term(expression("zone", "In", "a"))

    assert not placement.node_matches(asking(unparsable), labels=LABELS, name="node-1")
    assert placement.node_matches(asking(unparsable, here), labels=LABELS, name="node-1")
    assert placement.parse_term(unparsable) is None
    assert placement.parse_term(here) is not None


@pytest.mark.parametrize(
    "junk",
    [
        {"matchExpressions": "zone"},
        {"matchExpressions": ["zone"]},
        {"matchExpressions": [{"key": 5, "operator": "Exists"}]},
        {"matchExpressions": [{"key": "zone", "operator": "In", "values": "a"}]},
        {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", 5]}]},
        {"matchFields": {}},
    ],
)
def test_a_term_that_the_api_server_would_not_read_matches_no_node(junk: paths.Object) -> None:
    (found,) = workload(builders.pod(affinity=node_affinity(junk))).pod_sets

    assert not placement.node_matches(found, labels=LABELS, name="node-1")
