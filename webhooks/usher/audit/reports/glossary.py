"""The words of the report, each with its formula: what every number is linked to."""

from typing import Final

from usher.audit.reports.html_elements import Html, Section, element, joined

_CLUSTER: Final = {
    "pod": ("Pod", "A running copy of a program. Pods alone hold GPUs."),
    "workload": ("Workload", "What somebody started: a job, a service or a notebook. It makes pods."),
    "node": ("Node", "A machine of the cluster."),
    "namespace": ("Namespace", "The folder of a team in the cluster, with rights and quotas of its own."),
    "pool": (
        "Pool",
        "Nodes of the same kind: the same GPUs, labels and taints. The site names its pools in usher.yaml.",
    ),
    "taint": (
        "Taint, toleration, cordoned",
        (
            "A taint keeps pods off a node unless they tolerate it, so that GPU nodes stay free for GPU pods. A "
            "cordoned node takes no new pods at all, most often for a repair."
        ),
    ),
    "mig": (
        "MIG",
        (
            "NVIDIA's way to divide a GPU. 1g.10gb is a profile: one of seven compute slices and 10 GB of memory. A "
            "pod asks for nvidia.com/mig-1g.10gb instead of a whole nvidia.com/gpu."
        ),
    ),
    "gang": ("Gang", "Pods that work only together, for example those of one training. Each waits for the slowest."),
    "queue": (
        "Queue",
        (
            "Where workloads wait for their share of the GPUs. In Kueue a namespace submits to a queue of its own "
            "(LocalQueue), which leads to a queue with the quota (ClusterQueue). Volcano and KAI have queues too."
        ),
    ),
}

_HOURS: Final = {
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
            "The allocated GPU-hours for which the meters have data. Used and idle are about these alone: hours "
            "without measurements are neither used nor idle."
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
    "activity": (
        "Activity",
        (
            "The share of the time in which the GPU computed: used divided by measured. It is about GPUs that pods "
            "held, unless the text says all GPUs."
        ),
    ),
    "memory": ("Memory", "Mean share of the memory of the allocated GPUs that was in use, and the peak on one device."),
}

_MONEY: Final = {
    "cost": (
        "Cost",
        (
            "GPU-hours times the price per GPU-hour of usher.yaml, for the measured window. GPUs without a price are "
            "left out and counted as not priced."
        ),
    ),
    "cost-idle": (
        "Cost of idle",
        "The idle GPU-hours times their price. It is a part of the cost of the GPUs that pods held.",
    ),
    "idle-memory": (
        "Idle by memory",
        (
            "Cost of the allocated GPUs times the share of the memory that was not used: what smaller devices could "
            "save at most. It is another view of the same hours, so never add it to the cost of idle."
        ),
    ),
    "not-held": (
        "Held by no pod",
        (
            "GPU-hours of GPUs that are free or out of use. They cost as much as the others, and they are in no number "
            "of idle GPUs. The bill is the cost of what pods held and of what no pod held."
        ),
    ),
    "free": ("Free", "Healthy GPUs that no running pod holds, of nodes that take new pods."),
    "out-of-use": ("Out of use", "GPUs of nodes that are cordoned or not ready, and GPUs that are not healthy."),
    "capacity": (
        "Capacity type",
        (
            "How a node is paid for: on-demand, spot or reserved. When an on-demand or spot node is given back, the "
            "bill falls. A reserved node is paid for anyway."
        ),
    ),
    "savings": (
        "Savings",
        (
            "GPU-hours of the measured window that the listed changes would have saved. Of several changes of one "
            "workload only the largest counts in the sum."
        ),
    ),
    "savings-cost": (
        "Money of savings",
        (
            "The price of these GPU-hours. It comes off the bill once nodes are empty and given back; on reserved "
            "nodes the GPUs become free for others instead."
        ),
    ),
}

_WAITING: Final = {
    "waiting": (
        "Waiting",
        "GPUs that pods without a node and suspended workloads ask for. They do not hold these GPUs yet.",
    ),
    "wait": ("Wait in queues", "The time from queueing to admission that 95 % of the workloads did not exceed."),
    "never": (
        "Can never run",
        (
            "Workloads that ask for more than any machine has, or than their queue or quota ever gives, and the GPUs "
            "that they ask for. Waiting longer does not help."
        ),
    ),
    "half-started": (
        "Half started",
        "GPUs held by a gang whose other pods wait: they do no work until all have started.",
    ),
}

_RULES: Final = {
    "admission": (
        "At admission",
        (
            "What usher would do if somebody made the object today: deny it, let it in with a warning, or let it in "
            "and note it. It depends on usher.yaml. usher does it only where its webhooks are registered."
        ),
    ),
    "severity": ("Severity", "How bad a finding is: critical, high, medium or low. It does not depend on usher.yaml."),
    "ending": (
        "Exceptions that end",
        (
            "An exception of usher.yaml accepts the findings of a rule in some namespaces until a date. It has an "
            "owner and a ticket. Those are listed whose last day is at most 14 days away."
        ),
    ),
    "readiness": (
        "Readiness",
        (
            "A checklist of what a cluster needs to run GPU workloads in production: drivers, monitoring, quotas and "
            "others. Not known is neither a pass nor a failure."
        ),
    ),
}

WORDS: Final = _CLUSTER | _HOURS | _MONEY | _WAITING | _RULES
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
