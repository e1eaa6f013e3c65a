"""What workloads ask for, and which headline numbers are not known: files say nothing of what runs and waits."""

from typing import Final

from usher.audit import gpus
from usher.audit.document import Summary
from usher.audit.estate import Estate
from usher.scan import devices

_OF_PODS: Final = ("gpus_allocated", "gpus_waiting", "gpus_half_started", "gpus_free", "cost_per_hour_free")
_OF_ALL_PODS: Final = (
    *("gpus_free", "gpus_out_of_use", "cost_per_hour_free", "cost_per_hour_out_of_use"),
    *("capacity", "free", "out_of_use", "cost_free", "cost_out_of_use"),
)
"""An audit of one namespace has read the pods of it alone, so it does not know which GPUs no pod holds."""

_OF_FACTS: Final = ("gpus_never", "workloads_never")


def with_asked(summary: Summary, estate: Estate) -> Summary:
    """The headline numbers with what workloads ask for; null for what the estate does not know."""
    workloads = [each for each in estate.workloads if not each.is_template or each.pods]
    asks = devices.added(each.asks for each in workloads)
    # An authority of usher.yaml may say "never" without a cluster.
    never_known = estate.facts_known or bool(summary.workloads_never)
    unknown = (
        *(() if estate.pods_known else _OF_PODS),
        *(_OF_ALL_PODS if estate.only_namespace else ()),
        *(() if never_known else _OF_FACTS),
    )
    return summary.model_copy(
        update={
            "gpus_asked": gpus.number(asks),
            "gpus_asked_least": gpus.least(asks),
            "other_asked": gpus.numbers(gpus.others(asks)),
            "workloads_not_known": sum(not each.asks_known for each in workloads),
            "manifests": sum(not each.exists for each in workloads),
            **dict.fromkeys(unknown),
        }
    )
