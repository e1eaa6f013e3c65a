"""`usher report`: merges and shows finished audits; and the options of `usher audit` for their shards and fleets."""

import io
import os
import pkgutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click
import pydantic
from msgspec import Struct, field
from msgspec.structs import replace

from usher import __version__, errors
from usher.audit import document_entries
from usher.audit.document import Audit
from usher.audit.document.fleet_document import Fleet
from usher.audit.store import audit_parts, part_stores
from usher.audit.store.audit_parts import PartKey
from usher.audit.store.part_stores import Store
from usher.audit.store.shards import (
    FleetCluster,
    Namespaces,
    PartialLists,
    Shard,
    list_namespaces,
    parse_shard,
    read_clusters,
)
from usher.check.formats import wording
from usher.cli import inputs, output
from usher.cli.output import FLEET_FORMATS, Reporting
from usher.cluster.api import Lists

_MOST_BYTES: Final = 256 << 20
"""The most bytes of an earlier document."""

_INCOMPLETE: Final = 2
_OF_TEXT: Final = frozenset({"", "txt", "log"})
"""Endings of files with text."""


@click.group()
def report() -> None:
    """Make reports of audits that are written already."""


@inputs.command("report merge", group=report)
def merge(
    *,
    folders: tuple[str, ...],
    format_name: str | None,
    file: Path | None,
    earlier: tuple[Path, ...],
    require_complete: bool,
    memory: int,
) -> None:
    from usher.audit.store import fleet_merge

    name = format_name or _by_ending(file)
    if file is not None and not file.resolve().parent.is_dir():
        raise errors.InputError(f"{file}: the report cannot be written: there is no folder {file.parent}; make it")
    fleet = fleet_merge.merge(
        folders,
        version=__version__,
        earlier=[_read_fleet(each) for each in earlier],
        limits=fleet_merge.Limits(memory=f"{memory}MB"),
    )
    _write(fleet, name, file)
    if require_complete and not fleet.complete:
        click.echo("usher: --require-complete: a cluster or a shard is missing or incomplete", err=True)
        click.get_current_context().exit(_INCOMPLETE)


def _by_ending(file: Path | None) -> str:
    """The format of a file name: fleet.json is JSON, and fleet.txt and fleet are text.

    Raises:
        UsageError: no format has this ending.
    """
    ending = "" if file is None else file.suffix.removeprefix(".").lower()
    if ending in FLEET_FORMATS:
        return ending
    if ending not in _OF_TEXT:
        known = ", ".join(f".{each}" for each in FLEET_FORMATS if each != "text")
        raise click.UsageError(
            f"--output {file}: no format has the ending .{ending}; write .txt, {known}, or name a format with --format"
        )
    return next(iter(FLEET_FORMATS))


def _read_fleet(file: Path) -> Fleet:
    try:
        if file.stat().st_size > _MOST_BYTES:
            raise errors.InputError(f"{file}: more than {_MOST_BYTES >> 20} MB is not a document of a merge")
        return Fleet.model_validate_json(file.read_bytes())
    except OSError as error:
        raise errors.InputError(f"{file}: {error.strerror}") from None
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"]))[:80]
        raise errors.InputError(
            f"{file}: not a document of `usher report merge --format json`: {where}: {first['msg']}"
        ) from None


def _write(fleet: Fleet, name: str, file: Path | None) -> None:
    write = pkgutil.resolve_name(FLEET_FORMATS[name])
    if file is None:
        options = {"color": output.colored("auto")} if name == "text" else {}
        write(fleet, sys.stdout, **options)
        return
    stream = io.StringIO(newline="")
    write(fleet, stream)
    output.replace_report(file, stream.getvalue())


INDEX_VARIABLE: Final = "JOB_COMPLETION_INDEX"
"""Kubernetes sets it in the pods of an Indexed Job."""


class Sharding(Struct, frozen=True, kw_only=True):
    """Which part of a run this command audits."""

    shard: Shard
    store: Store
    again: bool
    cluster: FleetCluster | None
    """The cluster of --clusters that the index names; its shard is the whole cluster."""
    listed: tuple[str, ...] = ()
    """The names of all of --clusters, in the order of the file."""

    @staticmethod
    def of_options(values: dict[str, Any]) -> "Sharding | None":
        """None without --output-dir.

        Raises:
            UsageError: an option needs another one.
            InputError: an option has a wrong value.
        """
        names = ("shard", "shards", "output_dir", "clusters", "again")
        shard, shards, output_dir, clusters, again = (values.pop(name) for name in names)
        if output_dir is None:
            given = next((name for name, value in (("--shard", shard), ("--shards", shards), ("--clusters", clusters),
                                                   ("--again", again)) if value), None)  # fmt: skip
            if given:
                raise click.UsageError(f"{given} needs --output-dir, the folder for the parts of all shards")
            return None
        chosen = _shard(shard, shards)
        cluster, listed = None, tuple[str, ...]()
        if clusters is not None:
            found = read_clusters(clusters)
            if chosen.of != len(found):
                raise click.UsageError(
                    f"{clusters} has {len(found):,} clusters, one for each shard; write --shards {len(found)}, "
                    f"or --shard INDEX/{len(found)}"
                )
            listed = tuple(each.name for each in found)
            cluster, chosen = found[chosen.index], Shard()
        return Sharding(
            shard=chosen, store=part_stores.store_at(output_dir), again=again, cluster=cluster, listed=listed
        )

    def connection(self, kubeconfig: Path | None, context: str | None) -> tuple[Path | None, str | None]:
        """The kubeconfig and the context to use: those of --clusters, if given.

        Raises:
            UsageError: both name a cluster.
        """
        if self.cluster is None:
            return kubeconfig, context
        if kubeconfig or context:
            raise click.UsageError("--clusters names the clusters; leave out --kubeconfig and --context")
        return self.cluster.kubeconfig, self.cluster.context

    def begin(self, paths: tuple[str, ...], kubeconfig: Path | None, context: str | None, *, name: str) -> "Part":
        """The part to audit.

        Args:
            paths: files to audit instead of a cluster.
            kubeconfig: the kubeconfig of the cluster.
            context: the context of the kubeconfig.
            name: the name of the cluster in reports; empty for the name that usher finds.

        Raises:
            Exit: the part exists already, complete and intact.
            UsageError: files cannot be sharded.
            ClusterError: the cluster does not answer, or does not list the namespaces that a shard has to know.
        """
        if self.cluster is not None:
            name = self.cluster.name
            # Written before the first request: a merge knows the cluster even if it does not answer.
            audit_parts.write_cluster_list(self.store, self.listed, began=document_entries.time_text(datetime.now(UTC)))
        if paths:
            if self.cluster is not None or not self.shard.is_whole:
                raise click.UsageError("shards and --clusters are for live clusters; leave out PATH")
            found, name = None, name or ", ".join(paths)
        else:
            from usher.cluster import connection

            api = connection.connect(kubeconfig=kubeconfig, context=context)
            found = self._namespaces(api)
            name = name or connection.cluster_name(api, kubeconfig=kubeconfig, context=context)
        key = audit_parts.PartKey(cluster=name, cluster_id=found.cluster_id if found else "", shard=self.shard)
        names = tuple(each for each in found.names if self.shard.has(each)) if found else ()
        if not self.again and audit_parts.is_done(self.store, key):
            click.echo(f"usher: {self.what(name)} is complete in {self.store.place}; --again audits it again", err=True)
            raise click.exceptions.Exit(0)
        return Part(sharding=self, key=key, names=names)

    def _namespaces(self, api: Lists) -> Namespaces | None:
        """The namespaces of the cluster; None if usher may not list them, and a whole cluster does not need them."""
        try:
            return list_namespaces(api)
        except errors.ClusterError:
            if self.shard.is_whole:
                return None
            raise

    def what(self, cluster: str) -> str:
        shard = "" if self.shard.is_whole else f"shard {self.shard} of "
        return wording.printable(f"{shard}{cluster}")


class Part(Struct, frozen=True, kw_only=True):
    """A part during its audit."""

    sharding: Sharding
    key: PartKey
    names: tuple[str, ...]
    """Its namespaces."""
    shared: set[str] = field(default_factory=set)
    """The cluster-scoped objects that it has listed, as every shard does."""

    def seen(self, api: Lists) -> Lists:
        """The part of the cluster that the shard lists."""
        return api if self.key.shard.is_whole else PartialLists(api, names=self.names, shared=self.shared)

    def write(self, audit: Audit) -> Audit:
        """Writes the part, and reports this on standard error. Returns the audit for other reports of this shard.

        Raises:
            InputError: it cannot be written; a part without its record is written again by the next run.
        """
        reduced = audit_parts.reduced_to_shard(audit, self.key.shard, shared=len(self.shared))
        store = self.sharding.store
        record = audit_parts.write_part(store, self.key, reduced, audit_parts.tables_of(reduced), version=__version__)
        counts = {each.table: each.rows for each in record.files}
        workloads, findings = (
            wording.count(counts["workloads"], "workload"),
            wording.count(counts["findings"], "finding"),
        )
        place = wording.printable(f"{store.place}/{self.key.folder}")
        incomplete = "" if record.complete else ", incomplete"
        click.echo(
            f"usher: {self.sharding.what(self.key.cluster)}: {workloads}, {findings}{incomplete}: {place}", err=True
        )
        if self.key.shard.is_whole:
            return reduced
        cluster = reduced.cluster.model_copy(update={"shard": str(self.key.shard)})
        return document_entries.document_of_part(reduced, self.key.shard).model_copy(update={"cluster": cluster})


def without_text(reporting: Reporting) -> Reporting:
    """The reports to write beside a part: without the text report that is only the default."""
    targets = tuple(each for each in reporting.targets if each.path is not None or each.format_name != "text")
    return replace(reporting, targets=targets)


def _shard(shard: str | None, shards: int | None) -> Shard:
    if shard is not None:
        if shards is not None:
            raise click.UsageError("--shard has the number of shards; leave out --shards")
        return parse_shard(shard)
    if shards is None:
        return Shard()
    index = os.environ.get(INDEX_VARIABLE, "")
    if not index.isdecimal():
        raise click.UsageError(
            f"--shards {shards} is for the pods of an Indexed Job, where ${INDEX_VARIABLE} is the index; elsewhere "
            f"write --shard INDEX/{shards}"
        )
    return Shard(index=int(index), of=shards)
