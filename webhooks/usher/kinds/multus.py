"""NetworkAttachmentDefinitions of Multus: networks for pods. usher reads their names alone."""

from usher.kinds.kept_fields import keeping
from usher.kinds.kind import Facts, Kind

KINDS = [
    Kind(
        group="k8s.cni.cncf.io",
        kind="NetworkAttachmentDefinition",
        versions=("v1",),
        plural="network-attachment-definitions",
        listed=False,
        facts=Facts(keep=keeping(), presence_only=True),
    ),
]
