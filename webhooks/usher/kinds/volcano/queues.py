"""scheduling.volcano.sh: queues and pod groups."""

from usher.kinds.kept_fields import keeping
from usher.kinds.kind import Facts, Kind
from usher.kinds.volcano import shapes

KINDS = [
    Kind(
        group="scheduling.volcano.sh",
        kind="Queue",
        versions=("v1beta1",),
        plural="queues",
        cluster_scoped=True,
        key="volcanoQueue",
        shape=shapes.Queue,
        facts=Facts(keep=keeping("/spec", "/status/state", "/status/allocated"), momentary=frozenset({"allocated"})),
    ),
    Kind(
        group="scheduling.volcano.sh",
        kind="PodGroup",
        versions=("v1beta1",),
        plural="podgroups",
        key="volcanoPodGroup",
        shape=shapes.PodGroup,
        facts=Facts(keep=keeping("/spec", "/status/phase"), changes_often=True),
    ),
]
