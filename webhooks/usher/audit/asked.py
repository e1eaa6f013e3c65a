"""The headline numbers about what workloads request, whether they run or not."""

from usher.audit import gpus
from usher.audit.document import Summary
from usher.audit.estate import Estate
from usher.check import devices


def with_asked(summary: Summary, estate: Estate) -> Summary:
    """The headline numbers with the requests of workloads."""
    workloads = [each for each in estate.workloads if not each.is_template or each.pods]
    asks = devices.added(each.asks for each in workloads)
    return summary.model_copy(
        update={
            "gpus_asked": gpus.number(asks),
            "gpus_asked_least": gpus.least(asks),
            "other_asked": gpus.numbers(gpus.others(asks)),
            "workloads_not_known": sum(not each.asks_known for each in workloads),
            "manifests": sum(not each.exists for each in workloads),
        }
    )
