"""A workload judged by ResourceQuotas."""

from builders import GPU
from unit.workloads.normalised import workload
from usher import model, paths
from usher.authorities.limit_range import NO_RANGES, LimitRanges
from usher.authorities.resource_quota import judge as resource_quota_judge
from usher.authorities.resource_quota.judge import NamespaceLimits, QuotaVerdict

GPUS = f"requests.{GPU}"


def judged(
    value: model.Workload, *quotas: paths.Object, default_class: str | None, ranges: LimitRanges
) -> QuotaVerdict:
    found = resource_quota_judge.read({f"quota-{index}": each for index, each in enumerate(quotas)})
    assert found.unreadable == ()
    limits = NamespaceLimits(quotas=found, ranges=ranges, default_class=default_class)
    verdict = resource_quota_judge.judge(value, limits)
    assert verdict is not None
    return verdict


def judge(
    value: paths.Object,
    *quotas: paths.Object,
    default_class: str | None = "",
    ranges: LimitRanges = NO_RANGES,
) -> QuotaVerdict:
    return judged(workload(value), *quotas, default_class=default_class, ranges=ranges)
