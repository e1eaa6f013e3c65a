"""Sums the accelerators of all pods of a workload, at its smallest and at its largest size."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from usher import model, quantities
from usher.workloads.claimed_parts import Part


def of_pod_sets(pod_sets: Iterable[model.PodSet]) -> tuple[model.Total, ...]:
    """One total for each name and route, in the order of the names. A claim that pods share counts once."""
    own: defaultdict[tuple[str, model.Route], list[model.Total]] = defaultdict(list)
    shared: defaultdict[tuple[str, str, model.Route, Part], list[model.Total]] = defaultdict(list)
    for pod_set in pod_sets:
        for request in pod_set.requests:
            if request.claim:
                part = Part(request.selects, request.memory)
                shared[request.claim, request.name, request.route, part].append(_once(request, pod_set.count))
            else:
                own[request.name, request.route].append(_times(request, pod_set.count))
    for (_, name, route, _), amounts in shared.items():
        own[name, route].append(_together(amounts, max))
    totals = (_together(own[key], _sum) for key in sorted(own))
    return tuple(total for total in totals if total.maximum != quantities.ZERO)


def _times(request: model.AcceleratorRequest, count: model.Count) -> model.Total:
    minimum = request.minimum * count.minimum
    maximum = product(request.maximum, count.maximum)
    reason = f"{request.reason}; {count.reason}" if maximum is None or minimum.nanos != maximum.nanos else ""
    return model.Total(route=request.route, name=request.name, minimum=minimum, maximum=maximum, reason=reason)


def _once(request: model.AcceleratorRequest, count: model.Count) -> model.Total:
    """The total of a shared claim, which takes its devices as soon as any of the pods exists."""
    minimum = request.minimum if count.minimum else quantities.ZERO
    maximum = quantities.ZERO if count.maximum == 0 else request.maximum
    reason = f"{request.reason}; {'' if count.minimum else count.reason}" if minimum != maximum else ""
    return model.Total(route=request.route, name=request.name, minimum=minimum, maximum=maximum, reason=reason)


def product(each: quantities.Quantity | None, pods: int | None) -> quantities.Quantity | None:
    """The sum for that many pods; None if there is no upper bound."""
    if each is not None and pods is not None:
        return each * pods
    return quantities.ZERO if pods == 0 or (each is not None and not each) else None


def _sum(amounts: Iterable[quantities.Quantity]) -> quantities.Quantity:
    return quantities.Quantity(sum(amount.nanos for amount in amounts))


def _together(
    amounts: Sequence[model.Total], join: Callable[[Iterable[quantities.Quantity]], quantities.Quantity]
) -> model.Total:
    """The joined total. Its reasons explain why minimum and maximum differ, each once."""
    if len(amounts) == 1 and not amounts[0].reason:
        return amounts[0]
    maxima = [amount.maximum for amount in amounts if amount.maximum is not None]
    minimum = join(amount.minimum for amount in amounts)
    maximum = join(maxima) if len(maxima) == len(amounts) else None
    reasons = dict.fromkeys(part for amount in amounts for part in _parts(amount.reason))
    reason = "" if minimum == maximum else "; ".join(reasons)
    return replace(amounts[0], minimum=minimum, maximum=maximum, reason=reason)


def _parts(reason: str) -> Iterable[str]:
    return filter(None, reason.split("; ")) if reason else ()
