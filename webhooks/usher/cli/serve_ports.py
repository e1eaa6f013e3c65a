"""The options of `usher serve` about its two ports: where they listen, and who may ask the admin port."""

from typing import TYPE_CHECKING

import click

from usher.cli import option_groups
from usher.dataclass import dataclass

if TYPE_CHECKING:
    from usher.server.access import Access
    from usher.server.ports import Address
    from usher.server.serve import Portal


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The values of the options."""

    host: str | None
    port: int
    admin_host: str | None
    admin_port: int
    metrics_access: str
    portal: bool

    def webhook(self, *, dev: bool) -> "Address":
        """Where the webhook port listens; with `dev` only this machine reaches it."""
        from usher.server.ports import Address

        return Address(host=self._host(dev=dev), port=self.port)

    def admin(self, *, dev: bool) -> "Address":
        """Where the admin port listens."""
        from usher.server.ports import Address

        return Address(host=self.admin_host or self._host(dev=dev), port=self.admin_port)

    def _host(self, *, dev: bool) -> str:
        return self.host or ("127.0.0.1" if dev else "0.0.0.0")  # noqa: S104 - a webhook must be reachable from the API server


def portal(access: "Access") -> "Portal":
    """Returns a function that makes the routes for questions of clients."""
    from usher.portal import routes

    return lambda evaluator, count: routes.router(routes.Portal(evaluator, access, count))


options = option_groups.as_value(
    "ports",
    Options,
    click.option("--host", default=None, help="Address of the webhook port [default: 0.0.0.0; with --dev 127.0.0.1]."),
    click.option(
        "--port", default=8443, show_default=True, type=click.IntRange(0, 65535), help="The webhook port (TLS)."
    ),
    click.option("--admin-host", default=None, help="Address of the admin port [default: the one of --host]."),
    click.option(
        "--admin-port",
        default=8080,
        show_default=True,
        type=click.IntRange(0, 65535),
        help="Probes and metrics (HTTP).",
    ),
    click.option(
        "--metrics-access",
        type=click.Choice(["open", "token"]),
        default="open",
        show_default=True,
        help="Who may read the metrics: everybody, or with a token whose owner may `get` the URL /metrics in the "
        "cluster. With token the admin port speaks TLS.",
    ),
    click.option(
        "--portal/--no-portal",
        default=False,
        show_default=True,
        help="Answer questions of clients with a token on the admin port, over TLS (docs/portal.md). Needs a cluster.",
    ),
)
