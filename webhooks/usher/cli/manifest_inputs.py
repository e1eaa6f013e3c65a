"""The manifests that `usher check` judges: paths, kustomizations, charts, and changed files of a repository."""

import sys
from typing import TYPE_CHECKING

import click

from usher import errors
from usher.cli import inputs, option_groups, path_completion
from usher.dataclass import dataclass

if TYPE_CHECKING:
    from usher.check.revisions import Changes
    from usher.check.sources import Found


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifests:
    """The manifests that the command line names."""

    paths: tuple[str, ...]
    kustomizations: tuple[str, ...]
    charts: tuple[str, ...]
    values: tuple[str, ...]
    changed_since: str
    namespace: str

    @property
    def named(self) -> list[str]:
        """All inputs of the command line, for messages."""
        return [
            *self.paths,
            *(f"-k {each}" for each in self.kustomizations),
            *(f"--helm {each}" for each in self.charts),
        ]

    def find(self) -> "list[Found]":
        """The files, and the output of kustomize and helm.

        Raises:
            UsageError: nothing is named.
        """
        from usher.check import sources

        if not self.named:
            raise click.UsageError("name a PATH (a file, a directory, or - for standard input), or use -k or --helm")
        if self.values and not self.charts:
            raise click.UsageError("--values is for charts; name one with --helm")
        found = list(sources.find_files(self.paths, stdin=sys.stdin.buffer))
        found += map(sources.render_kustomization, self.kustomizations)
        charts = sources.Charts(charts=self.charts, values=self.values, namespace=self.namespace)
        return [*found, *sources.render_charts(charts)]

    def changes(self, found: "list[Found]") -> "Changes | None":
        """The changed files; None if all files are to be judged.

        Raises:
            InputError: git is missing, or does not know the revision.
        """
        if not self.changed_since:
            return None
        from usher.check import revisions

        if self.kustomizations or self.charts:
            raise click.UsageError("--changed-since compares files; leave out -k and --helm, or the option")
        return revisions.changed_since(self.changed_since, found, namespace=self.namespace)


options = option_groups.as_value(
    "manifests",
    Manifests,
    click.argument("paths", nargs=-1, metavar="PATH...", shell_complete=path_completion.files),
    click.option(
        "-k",
        "--kustomize",
        "kustomizations",
        multiple=True,
        metavar="DIR",
        shell_complete=path_completion.directories,
        help="What `kustomize build` (or kubectl) renders of a directory. Repeatable.",
    ),
    click.option(
        "--helm",
        "charts",
        multiple=True,
        metavar="CHART",
        shell_complete=path_completion.directories,
        help="What `helm template` renders of a chart. Repeatable.",
    ),
    click.option(
        "--values",
        multiple=True,
        metavar="FILE",
        shell_complete=path_completion.files,
        help="Values for the charts of --helm, as in helm. Repeatable.",
    ),
    click.option(
        "--changed-since",
        default="",
        metavar="REV",
        shell_complete=path_completion.revisions,
        help="Only objects that changed since this branch left a git revision, and those that name them.",
    ),
)


def facts_of(names: tuple[str, ...]) -> inputs.GivenFacts | None:
    """The facts that --facts names: files, or `live` for the cluster of the current context.

    Raises:
        InputError: `live` stands beside files, or the files cannot be read.
        ClusterError: the API server does not answer.
    """
    if "live" not in names:
        return inputs.given_facts(names, live=False, kubeconfig=None, context_name=None)
    if set(names) != {"live"}:
        raise errors.InputError("--facts live reads all facts from the cluster; leave out the files, or `live`")
    return inputs.given_facts((), live=True, kubeconfig=None, context_name=None)
