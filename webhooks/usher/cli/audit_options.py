"""The options of `usher audit` for its scope and its rules, and which of them exclude each other."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from usher.cli import audit_usage, given_policies, option_groups
from usher.dataclass import dataclass

if TYPE_CHECKING:
    from usher.audit.scopes import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The values of the options."""

    paths: tuple[str, ...]
    demo: bool
    config: Path | None
    facts: tuple[str, ...]
    kubeconfig: Path | None
    context_name: str | None
    namespace: str
    """The only namespace to audit; empty for all."""
    cluster_name: str
    """Empty for the name that usher finds."""
    policies: given_policies.Options
    usage: audit_usage.Options
    engine: str
    opa_url: str | None

    @property
    def scope(self) -> "Scope":
        """The audited part of the cluster, if no shard is given."""
        from usher.audit.scopes import WHOLE, OneNamespace

        return OneNamespace(name=self.namespace) if self.namespace else WHOLE

    def check(self, *, report_objects: bool, parts: bool, served: bool) -> None:
        """Checks options that exclude each other.

        Args:
            report_objects: whether findings are written into the cluster.
            parts: whether a part is written for `usher report merge`.
            served: whether the report is shown in a browser.

        Raises:
            UsageError: two of them were given.
        """
        of_cluster = bool(self.kubeconfig or self.context_name)
        if self.paths and of_cluster:
            raise click.UsageError("with a PATH, usher reads no cluster; leave out --kubeconfig and --context")
        if self.demo and (self.paths or of_cluster or self.facts or parts):
            raise click.UsageError("--demo brings its own cluster; leave out PATH, --facts and the options of clusters")
        if parts and self.namespace:
            raise click.UsageError("--output-dir is for parts of whole clusters; leave out --namespace")
        if parts and served:
            raise click.UsageError("--serve shows one report; leave out --output-dir")
        if served and self.usage.is_required:
            raise click.UsageError("--serve has no exit code before its end; leave out --require-usage")
        if report_objects and (self.demo or self.paths):
            raise click.UsageError("--report-objects writes into a cluster; leave out --demo and PATH")


as_value = option_groups.as_value("chosen", Options)
"""Gives a command the values of its options as `chosen`."""
