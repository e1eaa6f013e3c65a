"""NetworkAttachmentDefinitions of Multus: networks for pods. usher reads only their names."""

from usher.kinds.kind import Facts, Kind, keeping

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
