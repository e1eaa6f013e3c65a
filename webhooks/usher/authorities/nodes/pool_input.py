"""The node pools on which a pod set could run, as Rego sees them."""

from typing import Final, NotRequired

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on


class TaintInput(TypedDict):
    key: str
    value: str
    effect: str
    operator: NotRequired[str]
    """The operator with which a mutation tolerates the taint; absent where only the user may tolerate it."""


class PoolFitInput(TypedDict):
    """A pool that fits the pods, apart from taints that they do not tolerate."""

    pool: str
    labels: dict[str, str]
    untolerated: list[TaintInput]
    fabric: NotRequired[str]
    """The name of the pool's interconnect profile in `input.fabrics`."""
    gpus: NotRequired[int]
    """GPUs of one node."""
    board: NotRequired[str]
    """The board of its nodes, where usher.yaml names it."""


class KeptOffInput(TypedDict):
    """A declared pool that would fit the pods, but that is for others."""

    pool: str
    reason: str


class ToleratedInput(TypedDict):
    """A toleration without which a pod could not run on some accelerator nodes."""

    index: int
    taint: str
    """The key of the taint."""


class SelectedDevicesInput(TypedDict):
    """A node label that names a model of devices or a type of machine, with the values that the pods allow."""

    label: str
    values: list[str]


class PoolsInput(TypedDict):
    """The node-pool fields of a pod set in the Rego input."""

    poolsDeclared: bool
    poolsFound: NotRequired[bool]
    """True where no declared pool offers what the pods ask for, and `fits` are pools that usher read from nodes."""
    undeclaredDevices: NotRequired[list[SelectedDevicesInput]]
    """Devices that the pods select by a label that no pool has, neither a declared nor a found one."""
    undeclaredMachines: NotRequired[list[SelectedDevicesInput]]
    """Types of machines that the pods select by a label that no declared pool names. usher does not know their pool."""
    selectsAcceleratorNodes: list[bool]
    """For each alternative of node selector and affinity: whether it allows only accelerator nodes."""
    fits: list[PoolFitInput]
    assumedTaints: list[str]
    """Keys of untolerated taints that accelerator nodes usually have; empty where pools are declared or found."""
    tolerated: list[ToleratedInput]
    """The taints of accelerator nodes that the pods tolerate, where the pods ask for no accelerator."""
    unmatchedClasses: NotRequired[list[str]]
    """Device classes whose pools usher does not know, although usher.yaml declares pools."""
    keptOff: NotRequired[list[KeptOffInput]]
    """Absent without these pools."""
    numbers: NotRequired[dict[str, list[int]]]
    """Labels with a whole number on every node that an accelerator pod may run on, with these numbers."""


NOWHERE: Final[PoolsInput] = {
    "poolsDeclared": False,
    "selectsAcceleratorNodes": [],
    "fits": [],
    "assumedTaints": [],
    "tolerated": [],
}
