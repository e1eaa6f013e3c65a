"""Clusters and pods for questions of feasibility."""

from collections.abc import Sequence

from unit.workloads.normalised import VOCABULARY, workload
from usher import paths
from usher.authorities.nodes import judge as nodes_judge
from usher.authorities.nodes import places as nodes_places
from usher.authorities.nodes.judge import NodeVerdict
from usher.authorities.nodes.places import Places, PodDemand
from usher.cluster.facts.nodes import NodeTable
from usher.config import pools as config_pools


def cluster(*found: paths.Object, pools: Sequence[config_pools.Pool] = ()) -> Places:
    table = NodeTable()
    table.replace(found)
    return nodes_places.places_of_cluster(table.now, pools, VOCABULARY)


def demand(pod: paths.Object, *, from_classes: Sequence[str] = ()) -> PodDemand:
    (pod_set,) = workload(pod).pod_sets
    return nodes_places.demand_of_pod_set(pod_set, VOCABULARY, from_classes=from_classes)


def judge(pod: paths.Object, *found: paths.Object, pools: Sequence[config_pools.Pool] = ()) -> NodeVerdict:
    return nodes_judge.judge(demand(pod), cluster(*found, pools=pools))
