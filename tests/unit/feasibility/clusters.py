"""Clusters and pods for questions of feasibility."""

from collections.abc import Sequence

from unit.workloads.normalised import VOCABULARY, workload
from usher import paths
from usher.config import models
from usher.facts.node_table import NodeTable
from usher.feasibility import asks, nodes, places
from usher.feasibility.asks import Ask
from usher.feasibility.nodes import Feasibility
from usher.feasibility.places import Places


def cluster(*found: paths.Object, pools: Sequence[models.Pool] = ()) -> Places:
    table = NodeTable()
    table.replace(found)
    return places.of_cluster(table.now, pools, VOCABULARY)


def ask(pod: paths.Object, *, from_classes: Sequence[str] = ()) -> Ask:
    (pod_set,) = workload(pod).pod_sets
    return asks.of_pod_set(pod_set, VOCABULARY, from_classes=from_classes)


def judge(pod: paths.Object, *found: paths.Object, pools: Sequence[models.Pool] = ()) -> Feasibility:
    return nodes.judge(ask(pod), cluster(*found, pools=pools))
