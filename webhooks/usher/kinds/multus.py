"""NetworkAttachmentDefinitions of Multus: networks for pods. usher reads only their names."""

from usher.kinds.kind import Facts, Kind, api, keeping

KINDS = [
    Kind(
        **api("k8s.cni.cncf.io", "NetworkAttachmentDefinition", "network-attachment-definitions", "v1"),
        listed=False,
        facts=Facts(keep=keeping(), presence_only=True),
    ),
]
