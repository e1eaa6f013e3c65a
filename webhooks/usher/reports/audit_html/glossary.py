"""The words of the report, each with its formula: what every number is linked to."""

from typing import Final

from usher.reports.web.markup import Html, element, joined
from usher.reports.web.page import Section

WORDS: Final = {
    "allocated": (
        "Allocated",
        (
            "GPU-hours for which a running pod held a GPU, whether it used it or not. One GPU for one hour is 1 GPU-h. "
            "A MIG device counts as its share of a GPU."
        ),
    ),
    "measured": (
        "Measured",
        (
            "The allocated GPU-hours for which Prometheus knows the activity. Used and idle are about these alone: "
            "hours without measurements are neither used nor idle."
        ),
    ),
    "used": ("Used", "Sum over measured hours of the activity: a GPU that is half busy for 2 hours used 1 GPU-h."),
    "idle": (
        "Idle",
        (
            "Measured GPU-hours in stretches where the activity stayed below the threshold (40 %, unless usher.yaml "
            "says otherwise) for at least the idle period (an hour by default)."
        ),
    ),
    "activity": ("Activity", "Used divided by measured. From DCGM_FI_PROF_GR_ENGINE_ACTIVE where the board has it."),
    "memory": ("Memory", "Mean share of the memory of the allocated GPUs that was in use, and the peak on one device."),
    "cost": (
        "Cost",
        (
            "GPU-hours times the price per GPU-hour of usher.yaml, for the measured window. GPUs without a price are "
            "left out and counted as not priced."
        ),
    ),
    "idle-memory": (
        "Idle by memory",
        "Allocated cost times the share of the memory that was not used: what smaller devices could save at most.",
    ),
    "never": (
        "Can never run",
        (
            "Workloads that an authority (a queue, a quota, the nodes, the scheduler) will not start even if the "
            "cluster were empty, and the GPUs that they ask for."
        ),
    ),
    "waiting": ("Waiting", "GPUs of pods without a node, and of suspended workloads."),
    "half-started": (
        "Half started",
        "GPUs held by a gang whose other pods wait: they do no work until all have started.",
    ),
    "not-held": (
        "Held by no pod",
        (
            "GPU-hours of GPUs that are free or out of use. They cost as much as the others, and they are in no number "
            "of idle GPUs."
        ),
    ),
    "free": ("Free", "Healthy GPUs that no running pod holds, of nodes that take new pods."),
    "out-of-use": ("Out of use", "GPUs of nodes that are cordoned or not ready, and GPUs that are not healthy."),
    "wait": ("Wait in queues", "The time from queueing to admission that 95 % of the workloads did not exceed."),
    "savings": (
        "Savings",
        (
            "GPU-hours and money of the measured window that the listed changes would have saved. Of several changes "
            "of one workload only the largest counts in the sum."
        ),
    ),
    "ending": (
        "Exceptions that end",
        (
            "An exception of usher.yaml accepts the findings of a rule in some namespaces until a date. It has an "
            "owner and a ticket. Counted are those whose last day is at most 14 days away."
        ),
    ),
    "readiness": (
        "Readiness",
        "A checklist for clusters in production. Not known is neither a pass nor a failure.",
    ),
    "admission": (
        "At admission",
        (
            "What usher would do if somebody made the object today: deny it, let it in with a warning, or let it in "
            "and note it. It depends on usher.yaml, and on whether usher's webhooks are registered."
        ),
    ),
    "severity": ("Severity", "How bad a finding is: critical, high, medium or low. It does not depend on usher.yaml."),
    "gang": ("Gang", "Pods that work only together, for example those of one training. Each waits for the slowest."),
    "mig": (
        "MIG",
        (
            "NVIDIA's way to divide a GPU. 1g.10gb is a profile: one of seven compute slices and 10 GB of memory. A "
            "pod asks for nvidia.com/mig-1g.10gb instead of a whole nvidia.com/gpu."
        ),
    ),
    "pool": (
        "Pool",
        "Nodes of the same kind: the same GPUs, labels and taints. The site names its pools in usher.yaml.",
    ),
    "taint": (
        "Taint, toleration, cordoned",
        (
            "A taint keeps pods off a node unless they tolerate it, so that GPU nodes stay free for GPU pods. A "
            "cordoned node takes no new pods at all."
        ),
    ),
    "queue": (
        "Queue",
        (
            "A LocalQueue of Kueue, to which a namespace submits workloads. It leads to a ClusterQueue, which has the "
            "quota. Kueue keeps a workload suspended until there is room."
        ),
    ),
    "capacity": ("Capacity type", "How a node is paid for: on-demand, spot or reserved."),
}
"""The title and the meaning by the name that links use."""


def meaning(name: str) -> str:
    return WORDS[name][1]


def link(name: str, label: str) -> Html:
    """A label that leads to its meaning, and shows it as a tooltip."""
    return element("a", label, href=f"#word-{name}", title=meaning(name))


def section() -> Section:
    entries = (
        element("div", element("dt", title, id=f"word-{name}"), element("dd", text))
        for name, (title, text) in WORDS.items()
    )
    return Section(
        name="words",
        title="Glossary",
        lead="docs/audit.md of gpu-usher has every formula with its sources.",
        body=joined(element("dl", *entries, class_="words")),
    )
