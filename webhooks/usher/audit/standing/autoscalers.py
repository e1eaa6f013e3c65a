"""Finds autoscalers that may add nodes with accelerators, as far as objects of a cluster show them.

Karpenter has a NodePool for each kind of node, and labels its nodes. Cluster Autoscaler, also the one of a service,
writes a ConfigMap with its status. usher knows only the name of that ConfigMap, so the autoscaler may be for nodes with
accelerators or for others.
"""

import re
from collections.abc import Sequence
from typing import Final

from usher import paths
from usher.accelerators.vocabulary import Vocabulary
from usher.audit import fields
from usher.audit.estate import Estate
from usher.audit.standing.wanted import KARPENTER_POOL
from usher.authorities.knowledge import Knowledge
from usher.cluster.facts import node_pools as facts_node_pools
from usher.cluster.facts.store import Store
from usher.kinds.kind import CONFIG_MAP

STATUS: Final = "cluster-autoscaler-status"
"""The ConfigMap that Cluster Autoscaler writes into its namespace."""

_REQUIREMENTS: Final = "/spec/template/spec/requirements"
_TAINTS: Final = "/spec/template/spec/taints"
_WORDS: Final = ("gpu", "accelerator")
"""Parts of labels and taints of accelerators (https://karpenter.sh/docs/concepts/scheduling/)."""

_WITHOUT: Final = ("DoesNotExist", "NotIn", "Lt")
"""Operators of requirements that exclude accelerators."""

_MACHINES: Final = (
    *("karpenter.k8s.aws/instance-category", "karpenter.k8s.aws/instance-family"),
    *("karpenter.azure.com/sku-family", "node.kubernetes.io/instance-type"),
)
_WITH_ACCELERATORS: Final = re.compile(
    r"(p|g|gr|trn|inf|dl)(\d.*)?|N|Standard_N.*",
    re.ASCII,
)
"""Categories, families and types of machines with accelerators at AWS and Azure."""


def named(estate: Estate, known: Knowledge) -> str:
    """The autoscaler that may add nodes with accelerators, as people call it; empty if no object shows one."""
    pools = [fields.name(each) for each in node_pools(estate, known.vocabulary)]
    if pools:
        return f"Karpenter (NodePool {fields.listing(pools)})"
    return f"Cluster Autoscaler (ConfigMap {STATUS})" if has_status(known.facts) else ""


def has_status(facts: Store) -> bool:
    """Whether Cluster Autoscaler has written its status."""
    return STATUS in (facts.names(*CONFIG_MAP) or ())


def node_pools(estate: Estate, vocabulary: Vocabulary) -> Sequence[paths.Object]:
    """Karpenter's NodePools for nodes with accelerators."""
    labels = [node.labels for node in estate.nodes or ()]
    filled = {each[key] for each in labels for key in facts_node_pools.KARPENTER if key in each}
    listed = fields.listed(estate, *KARPENTER_POOL) or ()
    return [each for each in listed if fields.name(each) in filled or _is_for_accelerators(each, vocabulary)]


def _is_for_accelerators(pool: paths.Object, vocabulary: Vocabulary) -> bool:
    """Whether a NodePool names accelerators in its limits, taints or requirements."""
    limits = fields.at(pool, "/spec/limits")
    if isinstance(limits, dict) and any(vocabulary.contains(name) and str(limits[name]) != "0" for name in limits):
        return True
    if any(word in fields.text(taint, "/key") for taint in fields.objects(pool, _TAINTS) for word in _WORDS):
        return True
    return any(map(_wants_accelerators, fields.objects(pool, _REQUIREMENTS)))


def _wants_accelerators(requirement: paths.Object) -> bool:
    key, values = fields.text(requirement, "/key"), fields.texts(requirement, "/values")
    if fields.text(requirement, "/operator") in _WITHOUT:
        return False
    if key in _MACHINES:
        return any(map(_WITH_ACCELERATORS.fullmatch, values))
    return any(word in key for word in _WORDS) and (not values or any(value != "0" for value in values))
