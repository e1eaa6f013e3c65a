"""GPU nodes whose GPUs no pod can get: out of service, with unhealthy devices, or without a driver."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from usher import paths
from usher.audit import capacity, fields, gpus
from usher.audit.document import FindingEntry, Subject
from usher.audit.estate import Node
from usher.audit.standing import entries
from usher.audit.standing.situation import Situation, span
from usher.audit.standing.wanted import NODE

_CORDON: Final = "node.kubernetes.io/unschedulable"
"""The taint that the control plane adds to a cordoned node, with the time."""

_PRESENT: Final = "nvidia.com/gpu.present"
_STATE: Final = "nvidia.com/mig.config.state"
_WANTED: Final = "nvidia.com/mig.config"


def findings(situation: Situation) -> Iterator[FindingEntry]:
    """The findings about each node; nothing where nodes are not known."""
    listed = fields.listed(situation.estate, *NODE)
    objects = {fields.name(value): value for value in listed or ()}
    nodes = situation.estate.nodes
    lost = _lost(situation)
    pods = _pods_on({node.name for node in nodes or () if node.cordoned or not node.ready}, situation)
    for node in nodes or ():
        value = objects.get(node.name, {})
        yield from _out_of_service(node, value, pods.get(node.name, ()), lost.get(node.name), situation)
        yield from _unhealthy(node, lost.get(node.name), situation)
        yield from _divided(node)
    if nodes is not None:
        there = {node.name for node in nodes}
        yield from _offers_nothing({name: value for name, value in objects.items() if name not in there})


def _pods_on(names: set[str], situation: Situation) -> Mapping[str, list[str]]:
    """The pods with accelerators on some nodes, by node."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for workload in situation.estate.workloads if names else ():
        for pod in workload.pods:
            if pod.node in names and pod.holds:
                found[pod.node].append(f"{pod.namespace}/{pod.name}")
    return found


def _lost(situation: Situation) -> Mapping[str, float]:
    """The GPUs of each node that are out of use, by node; empty where the pods were not all read."""
    known = situation.estate.pods_known and not situation.estate.only_namespace
    return {each.node.name: each.out_of_use for each in capacity.splits(situation.estate) or ()} if known else {}


def _state(node: Node, lasting: str) -> str:
    """`has not been ready for 2 days, and is cordoned`; without a time, how it is now."""
    if node.ready:
        return f"has been cordoned{lasting}" if lasting else "is cordoned"
    return (f"has not been ready{lasting}" if lasting else "is not ready") + (
        ", and is cordoned" if node.cordoned else ""
    )


def _out_of_service(
    node: Node, value: paths.Object, pods: Sequence[str], lost: float | None, situation: Situation
) -> Iterator[FindingEntry]:
    """One that is out of service for longer than the threshold, or for a time that is not known."""
    if node.ready and not node.cordoned:
        return
    since = _not_ready_since(value) if not node.ready else _cordoned_since(value)
    if since is not None and not situation.is_old(since):
        return
    lasting = f" for {span(since, situation.now)}" if since is not None else ""
    reason = fields.conditions(value).get("Ready")
    yield entries.finding(
        "USA034",
        _subject(node.name),
        f"it {_state(node, lasting)}; pods cannot get its {_amounts(node)}",
        evidence=(
            f"kubelet: {reason.message}" if reason is not None and not node.ready and reason.message else "",
            f"pods with accelerators on it: {fields.listing(pods)}" if pods else "no pod with accelerators is on it",
            "" if since is not None else "since when is not known",
            _cost(node, gpus.capacity(node), situation),
        ),
        gpus=gpus.capacity(node),
        gpus_lost=lost,
        cost_per_hour=_per_hour(node, lost, situation),
        since=since,
    )


def _not_ready_since(value: paths.Object) -> datetime | None:
    ready = fields.conditions(value).get("Ready")
    return None if ready is None or ready.holds else ready.since


def _cordoned_since(value: paths.Object) -> datetime | None:
    for taint in fields.objects(value, "/spec/taints"):
        if fields.text(taint, "/key") == _CORDON:
            return fields.when(taint, "/timeAdded")
    return None


def _unhealthy(node: Node, out_of_use: float | None, situation: Situation) -> Iterator[FindingEntry]:
    """A finding for each resource; a node that takes no pods at all has lost its devices by another finding."""
    for resource, amount in sorted(node.capacity.items()):
        offered = node.allocatable.get(resource)
        number = offered.number if offered is not None else 0
        if number < amount.number and node.ready:
            sick = gpus.number({resource: type(amount)(number=amount.number - number)})
            lost = None if out_of_use is None or node.cordoned else min(sick, out_of_use)
            yield entries.finding(
                "USA035",
                _subject(node.name),
                f"it offers {number:,} of its {amount.number:,} {resource}",
                part=resource,
                path=f'status.allocatable["{resource}"]',
                evidence=(f"board: {node.product}" if node.product else "", _cost(node, sick, situation)),
                gpus=sick,
                gpus_lost=lost,
                cost_per_hour=_per_hour(node, lost, situation),
            )


def _cost(node: Node, number: float, situation: Situation) -> str:
    """What GPUs of a node cost; empty without a price."""
    cost, currency = _per_hour(node, number, situation), situation.config.audit.prices.currency
    if not cost:
        return ""
    money = f"{cost:,.2f} {currency} an hour, {24 * cost:,.2f} {currency} a day"
    return f"{entries.counted(number, 'GPU')} cost{'s' if number == 1 else ''} {money}, by audit.prices"


def _per_hour(node: Node, number: float | None, situation: Situation) -> float | None:
    price = situation.price(node.name)
    return None if number is None or price is None else number * price


def _divided(node: Node) -> Iterator[FindingEntry]:
    if node.labels.get(_STATE) == "failed":
        wanted = node.labels.get(_WANTED, "")
        offered = [f"{amount.number:,} {resource}" for resource, amount in sorted(node.allocatable.items())]
        yield entries.finding(
            "USA033",
            _subject(node.name),
            f"the MIG manager could not apply {fields.excerpt(wanted) or 'its configuration'}",
            path=f'metadata.labels["{_STATE}"]',
            evidence=(f"it offers {fields.listing(offered)}" if offered else "it offers no accelerator",),
            gpus=gpus.capacity(node),
        )


def _offers_nothing(others: Mapping[str, paths.Object]) -> Iterator[FindingEntry]:
    """Nodes that the GPU operator has labelled and that are none of the nodes with accelerators."""
    for name, value in sorted(others.items()):
        labels = fields.labels(value)
        if labels.get(_PRESENT) == "true":
            product = labels.get("nvidia.com/gpu.product", "")
            yield entries.finding(
                "USA036",
                _subject(name),
                f"the GPU operator found GPUs on it (label {_PRESENT}), and it offers no accelerator",
                evidence=(
                    f"board: {fields.excerpt(product)}" if product else "no label says the board",
                    *(f"GPUs by its label: {labels[key]}" for key in ("nvidia.com/gpu.count",) if labels.get(key)),
                ),
                gpus=_count(labels.get("nvidia.com/gpu.count", "")),
            )


def _count(text: str) -> float:
    return float(text) if text.isascii() and text.isdecimal() and len(text) < 5 else 0


def _amounts(node: Node) -> str:
    return ", ".join(f"{amount.number:,} {resource}" for resource, amount in sorted(node.capacity.items()))


def _subject(name: str) -> Subject:
    return entries.named("v1", "Node", name)
