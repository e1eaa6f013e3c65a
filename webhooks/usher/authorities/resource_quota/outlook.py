"""What the ResourceQuotas of its namespace leave to a workload."""

from usher import model
from usher.authorities import amount_texts
from usher.authorities import outlook as authorities_outlook
from usher.authorities.outlook import Section
from usher.authorities.resource_quota import slice as resource_quota_slice
from usher.authorities.resource_quota.judge import Assessment, Balance, Shortage, Verdict
from usher.authorities.verdict import Answer, worst
from usher.config import models
from usher.facts.store import Store

_AUTHORITY = "ResourceQuota"

_ANSWERS = {
    Verdict.NEVER: Answer.NEVER,
    Verdict.NOT_NOW: Answer.NOT_NOW,
    Verdict.NOT_ALL: Answer.COULD,
    Verdict.NOT_LARGEST: Answer.FITS,
}

_WORDS = {
    Verdict.NEVER: "needed to start",
    Verdict.NOT_NOW: "needed",
    Verdict.NOT_ALL: "needed for all pods",
    Verdict.NOT_LARGEST: "needed for as many pods as it may grow to",
}


def of(workload: model.Workload, facts: Store, config: models.Config) -> Section | None:
    """What the quotas say; None where none counts the pods.

    Args:
        workload: the object.
        facts: what is known.
        config: usher.yaml, which may name the default PriorityClass.
    """
    found = resource_quota_slice.assessed(workload, facts, config)
    if found is None:
        return Section(authority=_AUTHORITY, answer=Answer.UNKNOWN, reasons=("nothing is known of ResourceQuotas",))
    unreadable = list(resource_quota_slice.unreadable(facts, workload.namespace))
    if not (found.balances or found.unsaid or found.doubts or found.shortages or unreadable):
        return None
    reasons = [_short(each) for each in found.shortages]
    answers = [Answer.FITS, *(_answer(each) for each in found.shortages)]
    if any(each.used is None for each in found.balances):
        answers.append(Answer.COULD)
        reasons.append("what is used now is not known")
    for each in unreadable:
        answers.append(Answer.UNKNOWN)
        reasons.append(f"{each.of}: {each.field}: {each.reason}")
    for doubt in found.doubts:
        answers.append(Answer.UNKNOWN)
        reasons.append(f"whether ResourceQuota {doubt.quota} counts the pods of {doubt.pod_set or 'it'} is not known")
    for unsaid in found.unsaid:
        sure = facts.knows("", "LimitRange")
        answers.append(Answer.NEVER if sure else Answer.UNKNOWN)
        doubt_of = "" if sure else ", unless a LimitRange says it"
        reasons.append(
            f"container {unsaid.container.name} says no {unsaid.what}, "
            f"and under ResourceQuota {unsaid.quota} no such pod is created{doubt_of}"
        )
    names = dict.fromkeys(f"ResourceQuota {each.quota}" for each in found.balances)
    return Section(
        authority=_AUTHORITY,
        way=tuple(names),
        answer=worst(answers),
        reasons=tuple(dict.fromkeys(reasons)),
        balances=tuple(_balance(each) for each in found.balances),
        remedies=tuple(dict.fromkeys(f"say {each.what} in container {each.container.name}" for each in found.unsaid)),
        waits=tuple(_waits(found)),
    )


def _answer(shortage: Shortage) -> Answer:
    found = _ANSWERS[shortage.verdict]
    return Answer.UNKNOWN if shortage.assumption and found is Answer.NEVER else found


def _short(shortage: Shortage) -> str:
    resource = shortage.resource
    needs, hard = amount_texts.named(resource, shortage.needs), amount_texts.text(resource, shortage.hard, up=False)
    there = f"ResourceQuota {shortage.quota} allows {hard}"
    if shortage.used is not None:
        there += f", of which {amount_texts.text(resource, shortage.used)} are used"
    doubt = f", if {shortage.assumption}" if shortage.assumption else ""
    return f"{needs} {_WORDS[shortage.verdict]}, {there}{doubt}"


def _balance(balance: Balance) -> authorities_outlook.Balance:
    return authorities_outlook.Balance(
        of=f"ResourceQuota {balance.quota}",
        resource=balance.resource,
        asks=balance.together.starts if balance.together.is_gang else balance.together.all,
        most=balance.hard,
        used=balance.used,
        free=amount_texts.left(balance.hard, balance.used),
    )


def _waits(found: Assessment) -> list[str]:
    return [
        amount_texts.waiting(
            each.resource, of=f"ResourceQuota {each.quota}", used=each.used, most=each.hard, needs=each.needs
        )
        for each in found.shortages
        if each.verdict is Verdict.NOT_NOW and each.used is not None
    ]
