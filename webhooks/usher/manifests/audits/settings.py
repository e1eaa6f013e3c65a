"""The choices of a site for its audits in the cluster."""

from typing import Final

from usher import __version__
from usher.dataclass import dataclass

NAME: Final = "gpu-usher-audit"
"""The name of the CronJob or Job, its account, its binding, its NetworkPolicy and the ClusterRole."""

POD_LABEL: Final = "app.kubernetes.io/name"
"""The label of audit pods, with the value NAME: the server's Service selects by this label, and must not find them."""

IMAGE: Final = f"gpu-usher:{__version__}"
FLEET_IMAGE: Final = f"gpu-usher-fleet:{__version__}"
"""The image with DuckDB, fsspec and s3fs, which parts need; `scripts/image --fleet` builds it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    namespace: str = "gpu-usher"
    cluster_name: str = ""
    """The name of the cluster in reports; empty for the name that usher finds."""
    image: str = ""
    """Empty for the image that the audit needs."""
    schedule: str = "0 6 * * 1"
    """Five fields of cron, in UTC; empty for a Job that runs once."""
    shards: int = 1
    """Pods that share the work: by namespace, or by cluster if `clusters` is set."""
    parallel: int = 4
    """The most pods that run at one time."""
    output: str = ""
    """The URL of a folder of an object store; each run writes below it."""
    claim: str = ""
    """The PersistentVolumeClaim for the reports."""
    credentials: str = ""
    """The Secret whose entries become environment variables, for the object store."""
    clusters: str = ""
    """The Secret with `clusters.yaml` and the kubeconfigs that it names: one cluster for each shard."""
    configuration: str = "gpu-usher"
    """The ConfigMap with usher.yaml; empty for the defaults."""
    policies: tuple[str, ...] = ()
    """Names of bundles with policies of the site, as in the ConfigMap."""
    policies_config_map: str = "usher-policies"
    verifies_policies: bool = False
    """Whether pods take only bundles that the owner of `policies.pub` has signed.

    The key is in `configuration`: users who may change bundles must not be able to change the key.
    """
    report_objects: bool = False
    """Whether the audit writes findings into the cluster as report objects."""
    prometheus: str = ""
    """The URL of Prometheus."""
    prometheus_namespace: str = "monitoring"
    prometheus_secret: str = ""
    """The Secret with those of token, ca.crt, tls.crt and tls.key that Prometheus needs."""
    prometheus_headers: tuple[str, ...] = ()
    """NAME=VALUE, sent with each query. Secret headers are variables in `credentials` instead."""
    prometheus_labels: tuple[str, ...] = ()
    """NAME=VALUE, labels of the series to read."""
    api_servers: tuple[str, ...] = ()
    """Addresses of the API servers as CIDRs; empty if they are unknown."""
    arguments: tuple[str, ...] = ()
    """Further arguments of `usher audit`."""

    @property
    def is_sharded(self) -> bool:
        """Whether it writes parts for `usher report merge` instead of a report."""
        return self.shards > 1 or bool(self.output) or bool(self.clusters)

    @property
    def container_image(self) -> str:
        return self.image or (FLEET_IMAGE if self.is_sharded else IMAGE)
