"""The options of `usher serve` about its cluster: how to reach it, and whether to watch its facts."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from usher import errors
from usher.cli import inputs, option_groups
from usher.dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from usher.authorities.gpu_quota.live.account_store import Meter
    from usher.authorities.gpu_quota.live.service import ChargingService
    from usher.authorities.knowledge import Knowledge
    from usher.cluster.connection import Api
    from usher.server.access import Access
    from usher.server.events import Events
    from usher.server.live_cluster import ClusterParts


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The values of the options."""

    facts: tuple[str, ...]
    """Files with the facts, instead of the cluster."""
    live: bool | None
    kubeconfig: Path | None
    context_name: str | None
    events: bool

    def connect(self, *, hurried: bool = False) -> "Api":
        """A connection to the API server; with `hurried` for calls that a review waits for.

        Raises:
            ClusterError: there is no configuration of a cluster that can be used.
        """
        from usher.cluster import connection

        return connection.connect(kubeconfig=self.kubeconfig, context=self.context_name, hurried=hurried)

    def access(self) -> "Access":
        """Who may ask the admin port. Without a cluster the server still decides, but no client may ask."""
        from usher.server.access import Access

        try:
            return Access(self.connect(hurried=True))
        except errors.ClusterError:
            return Access(None)

    def watched(self, *, certified: bool) -> "ClusterParts | None":
        """The cluster to watch; None where no cluster is watched.

        Args:
            certified: whether the cluster also keeps the certificate.

        Raises:
            ClusterError: there is no configuration of a cluster that can be used.
        """
        named = self.kubeconfig is not None or self.context_name is not None
        if named and not self.live and not certified:
            raise click.UsageError("--kubeconfig and --context need --live or --certificates self-managed")
        if self.live and self.facts:
            raise click.UsageError("--live and --facts are two sources of the same facts; choose one")
        if self.live is False or self.facts:
            return None
        from usher.cluster import kubeconfig as kubeconfigs

        # A pod may run without a service account token: then decisions use only the reviews.
        return self._parts() if self.live or kubeconfigs.has_account() else None

    def _parts(self) -> "ClusterParts":
        from usher.cluster.watching import LiveFacts
        from usher.server.live_cluster import ClusterParts

        facts = LiveFacts(self.connect())
        return ClusterParts(facts=facts, charging=self._charging, events=self._events if self.events else None)

    def _charging(self, knowledge: "Callable[[], Knowledge]", meter: "Meter") -> "ChargingService":
        from usher.authorities.gpu_quota.definitions import namespace_of_accounts
        from usher.authorities.gpu_quota.live.service import ChargingService
        from usher.cluster import kubeconfig as kubeconfigs

        api, namespace = self.connect(hurried=True), namespace_of_accounts(kubeconfigs.own_namespace())
        return ChargingService(api, self.connect, knowledge, namespace=namespace, meter=meter)

    def _events(self, count: "Callable[[str], None]") -> "Events":
        from usher.server.events import Events

        return Events(self.connect(hurried=True), count=count)


options = option_groups.as_value(
    "cluster",
    Options,
    inputs.facts_option,
    click.option(
        "--live/--no-live",
        default=None,
        help="Watch the facts of the cluster [default: only in a pod with a service account and without --facts].",
    ),
    inputs.cluster_options,
    click.option(
        "--events/--no-events",
        default=True,
        show_default=True,
        help="With --live: write an Event on the controller whose pods are denied.",
    ),
)
