"""The first screen of a fleet in text: how complete it is, GPUs, money, the clusters, teams and findings at the top."""

from collections import Counter
from collections.abc import Iterator
from typing import Final, TextIO

from rich.text import Text

from usher.audit.document.fleet_document import Fleet, FleetProblem, FleetRow
from usher.audit.reports import entry_words, fleet_tables, numbers
from usher.audit.reports.numbers import TEXT
from usher.check.formats import wording
from usher.check.formats.lines import Lines, Row

SHOWN: Final = 10

_MORE: Final = "--format json has all"


def write(fleet: Fleet, stream: TextIO, /, *, color: bool = False) -> None:
    """Writes the first screen; the JSON document has the rest."""
    lines = Lines(stream, color=color)
    _heading(fleet, lines)
    lines.labelled([*_gpus(fleet), *_usage(fleet)])
    lines.write()
    _accelerators(fleet, lines)
    _clusters(fleet, lines)
    _teams(fleet, lines)
    _findings(fleet, lines)
    _savings(fleet, lines)


def _heading(fleet: Fleet, lines: Lines) -> None:
    number = entry_words.clusters(fleet.summary)
    between = numbers.minute(fleet.taken)
    if fleet.oldest[:16] != fleet.taken[:16]:
        between = f"{numbers.minute(fleet.oldest)} to {between}"
    lines.wrapped(f"Audit of {number}, {between}", first=Text(""), rest="  ", style="bold")
    if not fleet.complete:
        text = "these numbers may be too small, and something that seems unused may be in use"
        lines.wrapped(text, first=Text("INCOMPLETE: ", style="bold red"), rest="  ")
    for problem in fleet.problems[:SHOWN]:
        lines.wrapped(_said(problem), first=Text("  "), rest="    ")
    if more := len(fleet.problems[SHOWN:]) + fleet.problems_left_out:
        kinds = Counter(each.kind.value for each in fleet.problems[SHOWN:])
        said = ", ".join(f"{number:,} {kind}" for kind, number in sorted(kinds.items()))
        lines.write(f"  and {wording.count(more, 'other problem')} ({said}); {_MORE}")
    lines.write()


def _said(problem: FleetProblem) -> str:
    return f"{problem.cluster or 'a part'}: {problem.kind.value}: {problem.reason}"


def _gpus(fleet: Fleet) -> Iterator[Row]:
    found = fleet.summary
    if found.gpus is None:
        yield Row("GPUs", "not known: usher has read the nodes of no cluster", indent=0)
    else:
        lacking = f", without {wording.count(found.clusters_without_nodes, 'cluster')} whose nodes are not known"
        yield Row("GPUs", f"{TEXT.number(found.gpus)}{lacking if found.clusters_without_nodes else ''}", indent=0)
    if found.gpus_allocated is None:
        yield Row("allocated", "not known: usher has read the pods of no cluster")
    else:
        of = f" ({TEXT.share(found.gpus_allocated / found.gpus)})" if found.gpus else ""
        lacking = f", without {wording.count(found.clusters_without_pods, 'cluster')} whose pods are not known"
        without = lacking if found.clusters_without_pods else ""
        yield Row("allocated", f"{TEXT.number(found.gpus_allocated)}{of}, held by pods on nodes{without}")
    without = wording.count(found.clusters_without_free, "cluster")
    if found.gpus_free is not None:
        lacking = f", without {without} where they are not known" if found.clusters_without_free else ""
        yield Row("free", f"{TEXT.number(found.gpus_free)}, on nodes that take new pods{lacking}")
    elif found.clusters_without_free:
        yield Row("free", f"not known: not all pods of {without} were read")
    if found.gpus_waiting is not None:
        yield Row("waiting", TEXT.number(found.gpus_waiting))
    if found.workloads_never is None:
        yield Row("never", "not known: usher knows of no cluster what waits there")
    else:
        never = wording.count(found.workloads_never, "workload")
        yield Row("never", f"{TEXT.number(found.gpus_never)}, wanted by {never} that can never run")


def _usage(fleet: Fleet) -> Iterator[Row]:
    found, usage = fleet.summary, fleet.summary.usage
    if usage.idle is None or usage.measured is None:
        yield Row("idle", "not measured in any cluster; `usher audit --prometheus URL` measures it")
        return
    part = f" ({TEXT.share(usage.idle / usage.measured)})" if usage.measured else ""
    lacking = wording.count(found.clusters_not_measured, "cluster")
    without = f", without {lacking} where usage was not measured" if found.clusters_not_measured else ""
    yield Row("idle", f"{TEXT.number(usage.idle)} of {TEXT.number(usage.measured)} measured GPU-hours{part}{without}")
    if usage.activity is not None:
        yield Row("activity", f"{TEXT.share(usage.activity)} of the allocated GPUs")
    yield Row("money", fleet_tables.money_words(usage, "for idle GPUs") or "not priced; set audit.prices in usher.yaml")
    if usage.not_priced:
        yield Row("not priced", f"{TEXT.number(usage.not_priced)} GPU-hours have no price in usher.yaml")
    if found.savings.number:
        saved = "".join(f", {TEXT.money(value, currency)}" for currency, value in sorted(found.savings.costs.items()))
        changes = wording.count(found.savings.number, "change")
        yield Row("savings", f"{TEXT.number(found.savings.gpu_hours)} GPU-hours{saved}, by {changes}")


def _accelerators(fleet: Fleet, lines: Lines) -> None:
    if not fleet.other_accelerators:
        return
    headers, rows = fleet_tables.accelerators(fleet).text(SHOWN)
    lines.table(headers, rows, right=set(headers[1:]), indent=2)
    _more(len(fleet.other_accelerators) - SHOWN, "accelerator", lines)
    lines.write()


def _clusters(fleet: Fleet, lines: Lines) -> None:
    headers, rows = fleet_tables.clusters(fleet).text(SHOWN)
    shown = [[*row, _incomplete(each)] for row, each in zip(rows, fleet.clusters, strict=False)]
    lines.table([*headers, ""], shown, right=set(headers[1:]), indent=2)
    _more(fleet.summary.clusters - len(rows), "cluster", lines)
    lines.write()


def _incomplete(row: FleetRow) -> str:
    missing = f", {row.shards_missing:,} of {row.shards:,} shards missing" if row.shards_missing else ""
    return "" if row.complete else f"incomplete{missing}"


def _teams(fleet: Fleet, lines: Lines) -> None:
    table = next((each for each in fleet.tables if each.by == "team"), None)
    if table is None:
        return
    headers, rows = fleet_tables.groups(table, *entry_words.BY["team"]).text(SHOWN)
    lines.table(headers, rows, right=set(headers[1:]), indent=2)
    _more(len(table.rows) - SHOWN + (0 if table.rest is None else 1), "row", lines)
    lines.write()


def _findings(fleet: Fleet, lines: Lines) -> None:
    if not fleet.findings:
        lines.write("No findings.")
        return
    headers, rows = fleet_tables.findings(fleet).text(SHOWN)
    lines.table(headers, rows, right={"findings", "clusters"}, indent=2)
    _more(len(fleet.findings) - SHOWN, "code", lines)
    lines.write()


def _savings(fleet: Fleet, lines: Lines) -> None:
    if not fleet.savings:
        return
    lines.write("Largest savings")
    for each in fleet.savings[:SHOWN]:
        cost = "" if each.cost is None else f", {TEXT.money(each.cost, each.currency)}"
        whose = f" of {each.team}" if each.team else ""
        text = f"{each.cluster}: {entry_words.subject(each.subject)}{whose}: {each.change}"
        lines.wrapped(f"{text} ({TEXT.number(each.gpu_hours)} GPU-hours{cost})", first=Text("  "), rest="    ")
    _more(len(fleet.savings) - SHOWN, "saving", lines)


def _more(number: int, thing: str, lines: Lines) -> None:
    if number > 0:
        lines.write(f"  and {wording.count(number, f'more {thing}')}; {_MORE}")
