"""The options of `usher audit --serve`, which shows the last report in a browser and refreshes it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import TYPE_CHECKING, Any, Final

import click

from usher.cli import durations
from usher.cli.option_groups import Command, added
from usher.dataclass import dataclass

if TYPE_CHECKING:
    from usher.audit.document import Audit
    from usher.server.audit_refresh import Rendered
    from usher.server.ports import Address

_SHORTEST: Final = timedelta(seconds=10)
_LONGEST: Final = timedelta(days=365)


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """Where and how often to show reports."""

    place: "Address"
    every: timedelta
    remote: bool

    def run(self, make: "Callable[[], Audit]") -> None:
        """Shows what `make` returns, until the user stops it.

        Raises:
            InputError: the address cannot be used.
        """
        from usher.audit.reports.web import page
        from usher.server import audit_page, logs
        from usher.server.audit_refresh import Refresher

        logs.configure()
        refresher = Refresher(make, _rendered, every=self.every, now=lambda: datetime.now(UTC))
        audit_page.serve(refresher, self.place, policy=page.policy(), remote=self.remote, started=_announce)


class _Address(click.ParamType["Address"]):
    """HOST:PORT, :PORT or PORT."""

    name = "address"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:  # noqa: ARG002 - click's signature
        return "[HOST:]PORT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> "Address":  # noqa: ANN401 - click's signature
        from usher.server.ports import Address

        host, _, port = str(value).rpartition(":")
        if not port.isdecimal() or int(port) > 65_535:
            self.fail(f"{value!r} is not HOST:PORT; write for example 127.0.0.1:8090.", param, ctx)
        return Address(host=host.strip("[]") or "127.0.0.1", port=int(port))


def options(command: Command) -> Command:
    """Adds the options to a command, which gets them as `serving`; None without --serve."""

    @wraps(command)
    def run(*arguments: object, **parameters: Any) -> object:  # noqa: ANN401 - click passes values of all options
        place, every, remote = (parameters.pop(name) for name in ("serve", "every", "serve_remote"))
        given = click.get_current_context().get_parameter_source("every")
        if place is None and (remote or given is not click.core.ParameterSource.DEFAULT):
            raise click.UsageError("--every and --serve-remote belong to --serve ADDRESS")
        serving = None if place is None else Serving(place=place, every=every, remote=remote)
        return command(*arguments, serving=serving, **parameters)

    return added(
        run,
        click.option(
            "--serve",
            type=_Address(),
            help="Show the report in a browser at this address, and make it again from time to time.",
        ),
        click.option(
            "--every",
            type=durations.Length(_SHORTEST, _LONGEST),
            default="1h",
            show_default=True,
            help="How long after an audit --serve makes the next one.",
        ),
        click.option("--serve-remote", is_flag=True, help="Let other machines read the report of --serve."),
    )


def _rendered(audit: "Audit", notices: tuple[str, ...]) -> "Rendered":
    from usher.audit.reports import audit_page as reports_audit_page
    from usher.audit.reports import json_document
    from usher.server.audit_refresh import Rendered

    return Rendered(
        html=reports_audit_page.text(audit, notices=notices).encode(errors="backslashreplace"),
        json=json_document.text(audit).encode(errors="backslashreplace"),
    )


def _announce(address: "Address") -> None:
    click.echo(f"usher: the report is at http://{address}/ (end with Ctrl-C)", err=True)
