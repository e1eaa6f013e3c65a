"""Random pods, pools and nodes: answers about pools hold for every node, as an independent matcher confirms."""

from hypothesis import given
from hypothesis import strategies as st

import builders
from unit.model import node_matching
from unit.workloads.normalised import readable_workload
from usher import paths
from usher.authorities import pool_fit

# Few keys and values, so that they meet often.
KEYS = st.sampled_from(["product", "zone", "count"])
VALUES = st.sampled_from(["1", "2", "3"])
LABELS = st.dictionaries(KEYS, VALUES, max_size=3)
POOLS = st.lists(st.dictionaries(KEYS, VALUES, min_size=1, max_size=3), max_size=5)
NODES = st.lists(LABELS, min_size=1, max_size=30)

EXPRESSIONS = (
    st.builds(
        lambda key, operator, values: builders.expression(key, operator, *values),
        KEYS,
        st.sampled_from(["In", "In", "In", "NotIn"]),
        st.lists(VALUES, min_size=1, max_size=3, unique=True),
    )
    | st.builds(builders.expression, KEYS, st.sampled_from(["Exists", "DoesNotExist"]))
    | st.builds(builders.expression, KEYS, st.sampled_from(["Gt", "Lt"]), VALUES)
)
FIELDS = st.just(builders.expression("metadata.name", "In", "node-1"))
TERMS = st.builds(
    lambda expressions, fields: builders.term(*expressions, fields=fields),
    st.lists(EXPRESSIONS, max_size=3),
    st.just([]) | st.just([]) | st.lists(FIELDS, min_size=1, max_size=1),
)
AFFINITIES = st.none() | st.lists(TERMS, max_size=3).map(lambda terms: builders.node_affinity(*terms))
PODS = st.builds(
    lambda selector, required: builders.pod(nodeSelector=selector or None, affinity=required), LABELS, AFFINITIES
)


def spec_of(pod: paths.Object) -> paths.Object:
    spec = pod["spec"]
    assert isinstance(spec, dict)
    return spec


def ways(pod: paths.Object) -> list[pool_fit.Alternative]:
    (pod_set,) = readable_workload(pod).pod_sets
    return pool_fit.node_alternatives(pod_set)


def carries(labels: pool_fit.Labels, pool: pool_fit.Labels) -> bool:
    return labels.items() >= pool.items()


@given(PODS, POOLS, NODES)
def test_no_node_outside_the_pools_fits_a_pod_that_allows_their_nodes_only(
    pod: paths.Object, pools: list[pool_fit.Labels], nodes: list[pool_fit.Labels]
) -> None:
    if all(pool_fit.allows_only(way, pools) for way in ways(pod)):
        for node in nodes:
            if node_matching.fits(spec_of(pod), node):
                assert any(carries(node, pool) for pool in pools), node


@given(st.dictionaries(KEYS, st.lists(VALUES, min_size=1, max_size=3, unique=True), max_size=3), POOLS)
def test_a_pod_whose_nodes_are_all_of_the_pools_allows_their_nodes_only(
    required: dict[str, list[str]], pools: list[pool_fit.Labels]
) -> None:
    expressions = [builders.expression(key, "In", *values) for key, values in required.items()]
    nodes: list[dict[str, str]] = [{}]
    for key, values in required.items():
        nodes = [{**node, key: value} for node in nodes for value in values]

    covered = all(any(carries(node, pool) for pool in pools) for node in nodes)

    assert pool_fit.allows_only(({}, expressions), pools) is covered


@given(PODS, LABELS, LABELS)
def test_a_node_that_fits_could_have_been_one_of_its_pool(
    pod: paths.Object, pool: pool_fit.Labels, others: pool_fit.Labels
) -> None:
    node = {**others, **pool}

    if node_matching.fits(spec_of(pod), node):
        assert any(pool_fit.could_fit(way, pool) for way in ways(pod))


@given(PODS, LABELS)
def test_where_all_labels_that_matter_are_known_could_is_does(pod: paths.Object, others: pool_fit.Labels) -> None:
    node = {"product": "1", "zone": "2", "count": "3", **others}

    assert node_matching.fits(spec_of(pod), node) is any(pool_fit.could_fit(way, node) for way in ways(pod))
