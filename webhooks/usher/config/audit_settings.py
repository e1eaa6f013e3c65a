"""The section `audit` of usher.yaml: teams, prices, targets, and when a GPU counts as idle."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from usher.config.fields import Duration, LabelKey, Section

Share = Annotated[float, Field(ge=0, le=1)]
Price = Annotated[float, Field(ge=0, le=1_000_000)]
LabelPattern = Annotated[str, StringConstraints(pattern=r"^[-A-Za-z0-9_.*]+$", max_length=253)]
"""A value of a label in which `*` stands for any characters."""


class Idle(Section):
    """A GPU is idle while its activity stays below the threshold for at least this long."""

    below: Share = Field(default=0.4, description="Activity of a GPU, from 0 to 1, below which it counts as idle.")
    lasting: Duration = Field(default="1h", description="How long the activity has to stay below.")


class PriceRule(Section):
    """The price of a GPU, or of a node whose GPUs share it."""

    product: LabelPattern = Field(
        default="*", description="The board, as node labels name it: NVIDIA-H100-80GB-HBM3, nvidia-h100-*."
    )
    instance_type: LabelPattern = Field(default="*", description="The instance type of the node.")
    capacity_type: Literal["*", "on-demand", "spot", "reserved", "unknown"] = Field(
        default="*", description="How the node is paid for; usher reads it from labels of clouds and provisioners."
    )
    per_gpu_hour: Price | None = Field(default=None, description="Price of one whole GPU for an hour.")
    per_node_hour: Price | None = Field(
        default=None, description="Price of the whole node for an hour; gpuShare of it is that of its GPUs."
    )

    @model_validator(mode="after")
    def _check_one_price(self) -> "PriceRule":
        if (self.per_gpu_hour is None) == (self.per_node_hour is None):
            raise ValueError("a price is either perGpuHour or perNodeHour; write one of them")
        return self


class Prices(Section):
    currency: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")] = Field(
        default="USD", description="Currency of all prices, by its code of three letters."
    )
    gpu_share: Share = Field(
        default=0.95, description="Share of the price of a node that is that of its GPUs; the rest is cpu and memory."
    )
    rules: list[PriceRule] = Field(
        default=[],
        max_length=500,
        description="The first entry that matches a node decides. GPUs without one are reported as not priced.",
    )

    @model_validator(mode="after")
    def _check_every_rule_can_decide(self) -> "Prices":
        places: dict[tuple[str, str, str], int] = {}
        for index, rule in enumerate(self.rules):
            key = rule.product.casefold(), rule.instance_type, rule.capacity_type
            for same in (key, ("*", "*", "*")):
                if same in places:
                    raise ValueError(
                        f"rules[{index}] never decides, because rules[{places[same]}] before it matches the same "
                        "nodes; leave one of them out, or write the narrower one first"
                    )
            places[key] = index
        return self


class Range(Section):
    low: Share = Field(default=0.0, description="The least share, from 0 to 1.")
    high: Share = Field(default=1.0, description="The largest share, from 0 to 1.")

    @model_validator(mode="after")
    def _check_low_is_below_high(self) -> "Range":
        if self.low > self.high:
            raise ValueError(f"low ({self.low:g}) is above high ({self.high:g}); swap them")
        return self


class Targets(Section):
    """Targets that an audit shows beside the actual values."""

    activity: Range = Field(
        default=Range(low=0.65, high=0.85), description="Activity of all GPUs of the cluster, allocated or not."
    )
    memory: Range = Field(default=Range(low=0.8), description="Share of the memory of allocated GPUs that is used.")
    queue_wait_p95: Duration = Field(default="1h", description="Longest wait in queues of 95 % of the workloads.")


class Audit(Section):
    team_labels: list[LabelKey] = Field(
        default=["gpu-usher.io/team", "team"],
        max_length=16,
        description="Labels that name the team: the first one that the workload has, or else its namespace.",
    )
    idle: Idle = Field(default=Idle(), description="When an allocated GPU counts as idle.")
    pending: Duration = Field(default="1h", description="How long pods may wait before an audit reports them.")
    prices: Prices = Field(default=Prices(), description="What GPUs cost.")
    targets: Targets = Field(default=Targets(), description="Targets beside which reports show actual values.")
