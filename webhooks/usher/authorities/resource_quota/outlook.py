"""The ResourceQuota section of `usher queue`."""

from collections.abc import Iterator
from typing import Final

from usher.authorities import amount_texts
from usher.authorities.authority import Case
from usher.authorities.knowledge import Knowledge
from usher.authorities.outlook import Section
from usher.authorities.resource_quota import judge, read
from usher.authorities.resource_quota.read import NamespaceLimits
from usher.authorities.resource_quota.verdict import QuotaVerdict
from usher.authorities.verdict import Answer, Reach, Shortage

_AUTHORITY: Final = "ResourceQuota"

_NEEDED: Final = {
    Reach.START: "needed to start",
    Reach.NOW: "needed",
    Reach.ALL: "needed for all pods",
    Reach.LARGEST: "needed for as many pods as it may grow to",
}


def of(case: Case, known: Knowledge) -> Iterator[Section]:
    """A section where a quota counts the pods."""
    namespace = read.of_namespace(case.workload.namespace, known)
    verdict = judge.judge(case.workload, namespace)
    if verdict is None:
        yield Section(authority=_AUTHORITY, answer=Answer.UNKNOWN, reasons=("the ResourceQuotas are not known",))
    elif verdict.limited or verdict.unstated or verdict.unclear or verdict.shortages or verdict.unknowns:
        yield Section(
            authority=_AUTHORITY,
            way=tuple(dict.fromkeys(f"ResourceQuota {each.of}" for each in verdict.limited)),
            answer=verdict.answer,
            reasons=tuple(dict.fromkeys(_reasons(verdict, namespace))),
            balances=tuple(each.balance("ResourceQuota") for each in verdict.limited),
            remedies=tuple(
                dict.fromkeys(f"set {each.what} in container {each.container.name}" for each in verdict.unstated)
            ),
            waits=tuple(_waits(verdict)),
        )


def _reasons(verdict: QuotaVerdict, namespace: NamespaceLimits) -> Iterator[str]:
    yield from map(_shortage, verdict.shortages)
    if any(each.used is None for each in verdict.limited):
        yield "current usage is not known"
    yield from verdict.unknowns
    for unclear in verdict.unclear:
        pods = f"the pods of {unclear.pod_set.name}" if unclear.pod_set.name else "the pods"
        yield f"usher does not know whether ResourceQuota {unclear.quota} counts {pods}"
    unless = ", unless a LimitRange sets it" if namespace.ranges is None else ""
    for unstated in verdict.unstated:
        container = unstated.container.name
        yield f"container {container} has no {unstated.what}; ResourceQuota {unstated.quota} requires it{unless}"


def _shortage(shortage: Shortage) -> str:
    resource = shortage.resource
    needs, most = amount_texts.named(resource, shortage.needs), amount_texts.text(resource, shortage.most, up=False)
    there = f"ResourceQuota {shortage.of} allows {most}"
    if shortage.used is not None:
        there += f" ({amount_texts.text(resource, shortage.used)} used)"
    condition = f", if {shortage.assumption}" if shortage.assumption else ""
    return f"{needs} {_NEEDED[shortage.reach]}, {there}{condition}"


def _waits(verdict: QuotaVerdict) -> Iterator[str]:
    for each in verdict.shortages:
        if each.used is not None:
            of = f"ResourceQuota {each.of}"
            yield amount_texts.waiting(each.resource, of=of, used=each.used, most=each.most, needs=each.needs)
