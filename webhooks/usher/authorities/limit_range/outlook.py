"""Why the API server would not take the pods of a workload, or Kueue the workload: LimitRanges, and classes by name."""

from collections.abc import Iterator

from usher import model
from usher.authorities import amount_texts, runtime_class
from usher.authorities.limit_range.judge import Refusal, Rule
from usher.authorities.outlook import Section
from usher.authorities.priority import outlook as priority_outlook
from usher.authorities.resource_quota import slice as resource_quota_slice
from usher.authorities.verdict import Answer
from usher.config import models
from usher.facts.store import Store


def of(workload: model.Workload, facts: Store, config: models.Config) -> Iterator[Section]:
    """What stands in the way, and nothing where nothing does or nothing is known."""
    refusals = resource_quota_slice.refusals(workload, facts)
    if refusals:
        yield Section(
            authority="LimitRange",
            way=tuple(dict.fromkeys(f"LimitRange {each.bound.of}" for each in refusals)),
            answer=Answer.NEVER,
            reasons=tuple(dict.fromkeys(map(_refused, refusals))),
        )
    missing = [*_missing(workload, facts, config)]
    if missing:
        reasons = tuple(f"there is no {each}" for each in missing)
        yield Section(authority="classes", answer=Answer.NOT_NOW, reasons=reasons)


def _missing(workload: model.Workload, facts: Store, config: models.Config) -> Iterator[str]:
    for rank in priority_outlook.of(workload, facts, config, before=None):
        if rank.missing:
            yield f"{rank.kind} {rank.name}"
    for name, is_there in (runtime_class.of(workload, facts) or {}).items():
        if not is_there:
            yield f"RuntimeClass {name}"


def _refused(refusal: Refusal) -> str:
    bound, resource = refusal.bound, refusal.bound.resource
    who = f"container {refusal.container}" if refusal.container else "the pod as a whole"
    if refusal.amount is None:
        says = f"has no {refusal.said} of {resource}"
    elif refusal.request is None:
        says = f"has a {refusal.said} of {amount_texts.named(resource, refusal.amount)}"
    else:
        limit, request = amount_texts.named(resource, refusal.amount), amount_texts.text(resource, refusal.request)
        says = f"has a limit of {limit} for a request of {request}"
    if bound.rule is Rule.RATIO:
        return f"{who} {says}, and a limit of at most {bound.amount} times the request is allowed"
    least = "at least" if bound.rule is Rule.MINIMUM else "at most"
    return f"{who} {says}, and {least} {amount_texts.text(resource, bound.amount)} is allowed"
