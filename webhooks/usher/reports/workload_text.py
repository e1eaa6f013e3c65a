"""Writes workloads for people, as usher reads them from a manifest, without fields that the manifest lacks."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final, TextIO

from rich.text import Text

from usher import model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.reports import pod_set_rows, wording
from usher.reports.lines import Lines, Row
from usher.reports.pod_set_rows import Common
from usher.scan.shown_workloads import Scaler, ShownWorkload

_QUEUE: Final = "kueue.x-k8s.io/queue-name"


def write(
    shown: Iterable[ShownWorkload], stream: TextIO, /, *, vocabulary: Vocabulary, width: int | None = None
) -> None:
    """Writes the workloads; `width` in columns, by default the terminal's."""
    lines = Lines(stream, color=False, width=width)
    for number, each in enumerate(shown):
        if number:
            lines.write()
        # Never wraps: people cannot click or copy a path that is broken over lines.
        lines.write(wording.printable(f"{each.source}:{each.line}" if each.line else each.source))
        name = wording.workload_name(each.workload)
        lines.wrapped(f"{name} ({each.workload.api_version})", first=Text(""), rest="  ")
        if _is_recognised(each.workload):
            lines.labelled([*_known(each, vocabulary)])
        unknown = list(_unknown(each))
        if unknown:
            lines.write("  unknown")
        for text in unknown:
            lines.wrapped(text, first=Text("    "), rest="      ")


def _is_recognised(workload: model.Workload) -> bool:
    """Whether usher knows more of the object than its kind and name."""
    return bool(workload.pod_sets) or workload.role is not model.Role.UNKNOWN or not workload.unknowns


def _known(shown: ShownWorkload, vocabulary: Vocabulary) -> Iterator[Row]:
    workload = shown.workload
    reason = f" ({workload.role_reason})" if workload.role_reason else ""
    yield Row("role", f"{workload.role}{reason}")
    state = [text for holds, text in ((workload.suspended, "suspended"), (workload.deleting, "being deleted")) if holds]
    if state:
        yield Row("state", ", ".join(state))
    if workload.owner is not None:
        yield Row("owner", f"{workload.owner.kind} {workload.owner.name}")
    if workload.is_template:
        yield Row("makes pods", "only when another object refers to it; the numbers are for one use")
    unread = workload.unknowns and workload.pods.maximum == 0
    yield Row("pods", "no pod template could be read" if unread else _pods(workload.pods))
    yield from (Row("", text) for text in _idle(shown.scalers))
    yield from _accelerators(workload, vocabulary)
    common = Common.of(workload.pod_sets)
    if common.scheduler:
        yield Row("scheduler", common.scheduler)
    if workload.gang.wanted:
        yield Row("gang", _gang(workload.gang))
    if workload.queue_labels.get(_QUEUE):
        yield Row("queue", f"{workload.queue_labels[_QUEUE]} (Kueue)")
    if common.operator_environment:
        yield Row("operator sets", common.operator_environment)
    yield from _pod_sets(shown, vocabulary, common)


def _pods(count: model.Count) -> str:
    """`8`, or `2 to 8: elasticPolicy`."""
    number = wording.pods(count).removesuffix(" pods").removesuffix(" pod")
    return f"{number}: {count.reason}" if count.reason else number


def _idle(scalers: Iterable[Scaler]) -> Iterator[str]:
    """The scalers without an effect, each with the reason."""
    for scaler in scalers:
        if not scaler.effective:
            growth = scaler.growth
            why = "is paused" if growth.held else f"has no effect: it finds no number of replicas in {growth.target}"
            yield f"{growth.source.kind} {growth.source.name} {why}"


def _accelerators(workload: model.Workload, vocabulary: Vocabulary) -> Iterator[Row]:
    known = workload.pods.reason
    texts = [pod_set_rows.request(total, vocabulary, known=known) for total in workload.totals]
    totalled = {(total.name, total.route) for total in workload.totals}
    # Access to all devices takes no device, so totals do not count it.
    access = (
        pod_set_rows.request(request, vocabulary)
        for pod_set in workload.pod_sets
        for request in pod_set.requests
        if request.route is model.Route.ACCESS and (request.name, request.route) not in totalled
    )
    texts += dict.fromkeys(access)
    if not texts:
        texts = ["no request could be read" if workload.unknowns else "no accelerators"]
    for number, text in enumerate(texts):
        yield Row("" if number else "accelerators", text)


def _gang(gang: model.Gang) -> str:
    formed = f"formed by {gang.formed_by}" if gang.formed_by else "needed, but nothing in the object forms one"
    return formed if gang.minimum is None else f"{formed}; at least {wording.count(gang.minimum, 'pod')} at once"


def _pod_sets(shown: ShownWorkload, vocabulary: Vocabulary, common: Common) -> Iterator[Row]:
    """The rows of each pod set. A single one without a name needs no heading."""
    workload = shown.workload
    alone = len(workload.pod_sets) == 1
    for pod_set in workload.pod_sets:
        shares = any(request.claim for request in pod_set.requests)
        requests = shares or workload.pods.maximum != 1 or not alone
        indent = 2
        if not alone or pod_set.name:
            reason = f": {pod_set.count.reason}" if pod_set.count.reason and not alone else ""
            yield Row(f"pod set {pod_set.name or '(unnamed)'}", f"{wording.pods(pod_set.count)}{reason}")
            indent = 4
        yield from pod_set_rows.rows(pod_set, vocabulary, indent=indent, requests=requests, common=common)
        yield from (Row(f"pool {each.pool}", each.reason, indent) for each in shown.pools.get(pod_set.path, ()))


def _unknown(shown: ShownWorkload) -> Iterator[str]:
    """The unknown places, grouped by reason."""
    by_reason: dict[str, list[str]] = {}
    for path, reason in chain(_of_workload(shown.workload), _of_scalers(shown.scalers)):
        by_reason.setdefault(reason, []).append(path)
    for reason, places in by_reason.items():
        yield f"{', '.join(places)}: {reason}"


def _of_workload(workload: model.Workload) -> Iterator[tuple[str, str]]:
    for unknown in workload.unknowns:
        yield paths.readable(unknown.path), unknown.reason
    remedy = "usher.yaml can say so under accelerators"
    for pod_set in workload.pod_sets:
        for container in pod_set.containers:
            for name in container.lookalikes:
                path = paths.readable(container.first_path(name))
                yield path, f"{name} may be an accelerator, as its name suggests; {remedy}"


def _of_scalers(scalers: Iterable[Scaler]) -> Iterator[tuple[str, str]]:
    for scaler in scalers:
        source = f"{scaler.growth.source.kind} {scaler.growth.source.name}"
        for unknown in scaler.growth.unknowns:
            yield f"{paths.readable(unknown.path)} of {source}", unknown.reason
