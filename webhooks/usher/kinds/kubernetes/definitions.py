"""CustomResourceDefinitions, by which usher knows what kinds a cluster has."""

from usher.kinds.kept_fields import keeping
from usher.kinds.kind import Facts, Kind

KINDS = [
    Kind(
        group="apiextensions.k8s.io",
        kind="CustomResourceDefinition",
        versions=("v1",),
        plural="customresourcedefinitions",
        cluster_scoped=True,
        facts=Facts(keep=keeping(), presence_only=True),
    ),
]
