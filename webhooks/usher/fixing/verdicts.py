"""Judges whether changes of an object worked: the findings are gone, and usher denies nothing new."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from usher import model
from usher.fixing.wishes import Source, Wish
from usher.scan import findings

_STAYS: Final = "usher would still report the finding afterwards; change it by hand"

_Counted = Counter[tuple[str, model.Outcome]]


def why_not(
    made: Sequence[Wish], before: findings.Result, after: findings.Result | None
) -> Mapping[tuple[str, ...], str]:
    """Why changes of an object must be taken back, by the identity of the wish; empty if they may stay.

    It counts findings, because changes of a list move the places of its items.

    Args:
        made: the applied changes.
        before: the verdict about the object without these changes.
        after: the verdict with them; None if no check reads the object any more.
    """
    if after is None:
        return {}
    old, new = _counted(before), _counted(after)
    remedied = Counter(wish.key for wish in made if wish.source is Source.REMEDIES)
    stays = {
        wish.identity: _STAYS
        for wish in made
        if wish.source is Source.REMEDIES and _total(new, wish.key) > _total(old, wish.key) - remedied[wish.key]
    }
    if stays:
        return stays
    names = {
        each.judgement.finding.check: f"{each.judgement.code} {each.judgement.name}"
        for each in after.findings
        if each.judgement.outcome is model.Outcome.DENY
    }
    worse = [name for check, name in names.items() if new[check, model.Outcome.DENY] > old[check, model.Outcome.DENY]]
    if after.unread > before.unread:
        worse.append("a part that it cannot judge")
    if not worse:
        return {}
    reason = f"usher would then report {', '.join(worse)}; change it by hand"
    return {wish.identity: reason for wish in made}


def _counted(result: findings.Result) -> _Counted:
    return Counter((each.judgement.finding.check, each.judgement.outcome) for each in result.findings)


def _total(counted: _Counted, check: str) -> int:
    return sum(number for (key, _), number in counted.items() if key == check)
