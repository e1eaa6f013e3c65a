"""The outlooks of `usher queue`, for people and for programs.

A field is absent where it does not apply or is not known. An `answer` is `never`, `unknown`, `not now`, `could` or
`fits now`.
"""

from collections.abc import Iterable, Iterator
from typing import Annotated, Final, Literal, NamedTuple, TextIO

from pydantic import BeforeValidator
from rich.text import Text

from usher import model, paths, quantities
from usher.authorities.authority import Balance as OutlookBalance
from usher.authorities.authority import Holding, Outlook
from usher.authorities.authority import Rank as OutlookRank
from usher.authorities.authority import Section as OutlookSection
from usher.authorities.gpu_quota import definitions as gpu_quota_definitions
from usher.authorities.verdict import Answer, worst
from usher.check.batches import Batch
from usher.check.formats import json_report, wording
from usher.check.formats.lines import Lines, Row
from usher.check.formats.wording import readable_number, readable_range
from usher.cluster.facts.store import Store
from usher.kinds import registry
from usher.kinds.reading import values as reading_values
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator
from usher.policy.explaining import Outlooks

VERDICTS: Final = {
    Answer.NEVER: "never: this configuration does not let it start, even if nothing else runs",
    Answer.UNKNOWN: "unknown: a section below says what usher does not know",
    Answer.NOT_NOW: "not now: it can start later",
    Answer.COULD: "could start: the configuration allows it; how much is free is unknown",
    Answer.FITS: "fits now: queues and quotas have room; usher does not look at what runs on the nodes",
}
"""The sentence for each verdict about a workload."""

_ANSWERS: Final = {**{answer: answer.value for answer in Answer}, Answer.COULD: "could start"}
"""The words for each answer of one authority."""

_QUEUES: Final = frozenset({"Kueue", "KAI-Scheduler", "Volcano"})

_WAY: Final = " -> "


class ShownOutlook(NamedTuple):
    """An outlook, with the place of its object in a file."""

    place: str
    outlook: Outlook
    clusters: tuple["OtherCluster", ...] = ()

    @property
    def answer(self) -> Answer:
        """The answer of the cluster; where MultiKueue sends the workload to others, with the best of theirs."""
        if not self.places:
            return self.outlook.answer
        best = max((each.answer for each in self.places), key=_ORDER.index)
        return worst([best, *(each.answer for each in self.outlook.sections if not each.sends)])

    @property
    def places(self) -> list["OtherCluster"]:
        """The clusters in which MultiKueue could run it some day."""
        return [each for each in self.clusters if each.sent and each.answer not in (Answer.NEVER, Answer.UNKNOWN)]

    @property
    def remedies(self) -> list[str]:
        """The remedies, without the question that `--also` has answered."""
        return [each for each in self.outlook.remedies if not (self.clusters and "--also NAME=FACTS" in each)]


_ORDER: Final = list(Answer)


class OtherCluster(NamedTuple):
    """The answer for one workload in another cluster."""

    name: str
    outlook: Outlook
    sent: bool = False
    """Whether MultiKueue of the first cluster sends it there."""

    @property
    def sends(self) -> str:
        """The ClusterQueue that sends it on to other clusters."""
        return _sending(self.outlook) if self.sent else ""

    @property
    def lacks(self) -> str:
        """The reason that names the queue which the cluster lacks; empty where it has one."""
        of_kueue = (each for each in self.outlook.sections if self.sent and each.authority == "Kueue")
        reasons = (reason for section in of_kueue for reason in section.reasons)
        return next((each for each in reasons if "has no LocalQueue" in each or "there is no ClusterQueue" in each), "")

    @property
    def answer(self) -> Answer:
        if self.sends:
            return Answer.NEVER
        return Answer.NOT_NOW if self.lacks and self.outlook.answer is not Answer.NEVER else self.outlook.answer

    @property
    def reason(self) -> str:
        """The first reason of the section that decides; empty without one."""
        if self.sends:
            return (
                f"ClusterQueue {self.sends} there sends its workloads on to other clusters (MultiKueue): {_SENT_TWICE}"
            )
        if self.lacks:
            return self.lacks
        reasons = [each.reasons[0] for each in self.outlook.sections if each.answer is self.answer and each.reasons]
        if self.answer is Answer.UNKNOWN:
            waits = (each for each in self.outlook.sections if each.answer is Answer.NOT_NOW and each.reasons)
            reasons[1:] = [f"{each.authority} says not now: {each.reasons[0]}" for each in waits]
            return "; ".join(reasons)
        return next(iter(reasons), "")


_SENT_TWICE: Final = "Kueue rejects a copy, or sends it round. Leave the AdmissionCheck of MultiKueue out of that queue"
"""KQ:pkg/controller/admissionchecks/multikueue/workload.go rejects a job without managedBy, which copies lack."""


def is_sent(outlook: Outlook) -> bool:
    """Whether MultiKueue sends the workload to other clusters."""
    return bool(_sending(outlook))


def _sending(outlook: Outlook) -> str:
    return next((each.sends for each in outlook.sections if each.sends), "")


_NOWHERE: Final = (
    "MultiKueue cannot send it to any of these clusters: each of them needs a LocalQueue of the same name in the "
    "namespace, and the ClusterQueue of that LocalQueue"
)


def write_text(shown: Iterable[ShownOutlook], stream: TextIO, /, *, width: int | None = None) -> None:
    """Writes the outlooks; `width` in columns, by default the terminal's."""
    lines = Lines(stream, color=False, width=width)
    for index, each in enumerate(shown):
        if index:
            lines.write()
        lines.write(wording.printable(each.place))
        _write(each, lines)
        if each.clusters:
            lines.write()
            lines.write("  other clusters")
            lines.labelled([Row(other.name, _of_cluster(other)) for other in each.clusters])
            if all(other.lacks for other in each.clusters):
                lines.wrapped(_NOWHERE, first=Text("  "), rest="  ")


def _of_cluster(other: OtherCluster) -> str:
    answer = _ANSWERS[other.answer]
    return f"{answer}: {other.reason}" if other.reason else answer


def _write(shown: ShownOutlook, lines: Lines) -> None:
    outlook, workload = shown.outlook, shown.outlook.workload
    heading = f"{wording.workload_name(workload)} ({workload.api_version})"
    lines.wrapped(heading, first=Text(""), rest="  ")
    lines.labelled([*_overview(shown)])
    for section in outlook.sections:
        lines.write()
        _write_section(section, lines)
    if shown.remedies:
        lines.write()
        lines.write("  What would make it fit")
        for remedy in shown.remedies:
            lines.wrapped(remedy, first=Text("    - "), rest="      ")


def _overview(shown: ShownOutlook) -> Iterator[Row]:
    outlook, workload = shown.outlook, shown.outlook.workload
    yield Row("verdict", VERDICTS[shown.answer])
    if shown.places:
        yield Row("MultiKueue", f"could run it in {', '.join(each.name for each in shown.places)}")
    for index, text in enumerate(_describe_requests(workload)):
        yield Row("" if index else "asks for", text)
    for index, rank in enumerate(outlook.ranks):
        yield Row("" if index else "priority", _rank(rank))
    if not any(section.way for section in outlook.sections if section.authority in _QUEUES):
        yield Row("queue", "no queue found")
    if workload.owner is not None:
        yield Row("owner", f"{workload.owner.kind} {workload.owner.name}, which is queued in its place")
    if outlook.given:
        yield Row("gpu-usher adds", ", ".join(outlook.given))


def _describe_requests(workload: model.Workload) -> Iterator[str]:
    """`64 nvidia.com/gpu: Worker 8 pods x 8`, by resource."""
    names = dict.fromkeys(request.name for pod_set in workload.pod_sets for request in pod_set.requests)
    totals = {total.name: total for total in workload.totals}
    for name in names:
        parts = [
            f"{f'{pod_set.name} ' if pod_set.name else ''}{wording.pods(pod_set.count)} x "
            f"{readable_number(request.minimum)}"
            for pod_set in workload.pod_sets
            for request in pod_set.requests
            if request.name == name
        ]
        total = (
            f"{readable_range(totals[name].minimum, totals[name].maximum)} {name}: " if name in totals else f"{name}: "
        )
        yield total + ", ".join(parts)
    if not names:
        yield f"{wording.pods(workload.pods)}, no accelerators"


def _rank(rank: OutlookRank) -> str:
    value = "" if rank.value is None else f" ({rank.value:,})"
    if rank.missing:
        value = " (it does not exist)"
    of = f" of {wording.sentence(rank.of)}" if rank.of else ""
    if not rank.name:
        return f"no {rank.kind}{value}{of}"
    given = ", set by gpu-usher" if rank.given else ", the default" if rank.by_default else ""
    return f"{rank.kind} {rank.name}{value}{of}{given}"


def _write_section(section: OutlookSection, lines: Lines) -> None:
    could = section.is_of_nodes and section.answer is Answer.COULD
    lines.write(f"  {section.authority}: {'could hold the pods' if could else _ANSWERS[section.answer]}")
    if section.way:
        given = " (set by gpu-usher, not by the file)" if section.given else ""
        first, *rest = section.way
        lines.wrapped(_WAY.join((first + given, *rest)), first=Text("    "), rest="      ")
    for reason in section.reasons:
        lines.wrapped(reason, first=Text("    "), rest="      ")
    for words in section.called:
        lines.wrapped(f"{section.who} calls this {words}", first=Text("    "), rest="      ")
    if section.silence:
        lines.wrapped(f"{section.who} says nothing: {section.silence}", first=Text("    "), rest="      ")
    for words in section.says:
        lines.wrapped(f"{section.who} says: {wording.printable(words)}", first=Text("    "), rest="      ")
    _write_balances(section, lines)
    for text in _describe_taken_flavors(section):
        lines.wrapped(text, first=Text("    "), rest="      ")
    for holding in section.holding:
        lines.wrapped(_describe_holding(holding), first=Text("    "), rest="      ")


def _describe_taken_flavors(section: OutlookSection) -> Iterator[str]:
    for each in section.taken:
        pods = each.pod_set or "the pods"
        when = "would get" if each.now else "would get, when there is room,"
        yield f"{pods} {when} flavor {each.flavor} for {', '.join(each.resources)}"


def _write_balances(section: OutlookSection, lines: Lines) -> None:
    """Writes a table with a row for each resource of each flavor or quota; a question mark means an unknown amount."""
    if not section.balances:
        return
    used = "reserved" if section.authority == "Kueue" else "in use"
    numbers = ["asks", "can give", used, "free now"]
    rows = [*map(_cells, section.balances)]
    if all(balance.used is None and balance.free is None for balance in section.balances):
        numbers, rows = numbers[:-2], [cells[:-2] for cells in rows]
    lines.table(("", "", *numbers), rows, right=numbers, indent=4)


def _cells(balance: OutlookBalance) -> tuple[str, ...]:
    most = "no bound" if balance.most is None else _amount(balance.resource, balance.most)
    if balance.own is not None and balance.most is not None:
        borrowed = quantities.Quantity(balance.most.nanos - balance.own.nanos)
        most += f" ({_amount(balance.resource, balance.own)} own + {_amount(balance.resource, borrowed)} borrowed)"
    return (
        balance.of,
        balance.resource,
        _amount(balance.resource, balance.asks, up=True),
        most,
        "?" if balance.used is None else _amount(balance.resource, balance.used, up=True),
        "?" if balance.free is None else _amount(balance.resource, balance.free),
    )


def _amount(resource: str, quantity: quantities.Quantity, *, up: bool = False) -> str:
    return str(quantity) if gpu_quota_definitions.is_unit(resource) else quantities.text(resource, quantity, up=up)


def _describe_holding(holding: Holding) -> str:
    pods = f"one pod of {holding.pod_set}" if holding.pod_set else "one pod"
    missing = "; ".join(holding.missing)
    if holding.answer is Answer.NEVER:
        nearest = f" The nearest is {holding.nearest}: " if holding.nearest else " "
        return f"No node could ever hold {pods}.{nearest}{missing}"
    places = [wording.count(holding.nodes, "node")] if holding.nodes else []
    places += [f"nodes that an autoscaler adds to {name}" for name in holding.grows]
    text = f"{wording.sentence(places)} could hold {pods}, if empty" if places else f"no existing node can hold {pods}"
    return f"{text}: {missing}" if missing else text


def write_json(shown: Iterable[ShownOutlook], stream: TextIO, /, *, as_written: bool) -> None:
    """Writes the outlooks as one JSON document."""
    found = {"as_written": as_written, "workloads": list(shown)}
    json_report.write_document(QueueOutlook.model_validate(found), stream)


def _amounts(requests: Iterable[model.AcceleratorRequest]) -> dict[str, quantities.Quantity]:
    return {request.name: request.minimum for request in requests}


def _by_name(totals: Iterable[model.Total]) -> dict[str, model.Total]:
    return {total.name: total for total in totals}


class PodSet(json_report.Shape):
    """`requests` are the accelerators of one pod."""

    name: str
    minimum: json_report.Bounded = json_report.attribute("count", "minimum")
    maximum: json_report.BoundedIfKnown = json_report.attribute("count", "maximum")
    requests: Annotated[dict[str, json_report.Exact], BeforeValidator(_amounts)]


class Total(json_report.Shape):
    """The amount that all pods together ask for; without `maximum` if it has no bound."""

    minimum: json_report.Exact
    maximum: json_report.ExactIfKnown


class Rank(json_report.Shape):
    """A priority class; without `podSets` it is the one of all pod sets."""

    kind: str
    name: str
    value: json_report.BoundedIfKnown
    pod_sets: Annotated[list[str], json_report.IF_ANY] = json_report.attribute("of")
    by_default: bool
    missing: bool
    given: bool


class Balance(json_report.Shape):
    """One resource of one flavor or quota: `most` is what it could ever give, `own` what of it is not borrowed."""

    of: str
    resource: str
    asks: json_report.Exact
    most: json_report.ExactIfKnown
    own: json_report.ExactIfKnown
    reserved: json_report.ExactIfKnown = json_report.attribute("used")
    free: json_report.ExactIfKnown


class Flavor(json_report.Shape):
    """The flavor that pods would get; `now` where it has room now."""

    pod_set: str
    resources: list[str]
    flavor: str
    now: bool


class Elsewhere(json_report.Shape):
    """Another queue that the workload could use."""

    queue: str
    cluster_queue: json_report.TextIfAny = json_report.attribute("behind")
    answer: str


class Nodes(json_report.Shape):
    """Nodes that could hold one pod of a pod set, if they were empty; `grows` are pools of an autoscaler."""

    pod_set: str
    answer: str
    nodes: int
    grows: list[str]
    nearest: json_report.TextIfAny
    missing: list[str]


class Section(json_report.Shape):
    """The answer of one authority; `given` if gpu-usher names the first queue of `way`, and the file does not.

    `called` are the words in which its controller reports the reasons, and `says` is what it has written.
    """

    authority: str
    answer: str
    way: list[str]
    given: bool
    reasons: list[str]
    called: list[str]
    says: list[str]
    balances: list[Balance]
    flavors: list[Flavor] = json_report.attribute("taken")
    elsewhere: list[Elsewhere]
    nodes: list[Nodes] = json_report.attribute("holding")


class ClusterAnswer(json_report.Shape):
    """The answer in another cluster, and the first reason for it."""

    name: str
    answer: str
    reason: json_report.TextIfAny


class Workload(json_report.Shape):
    place: str
    api_version: str = json_report.attribute("outlook", "workload", "api_version")
    kind: str = json_report.attribute("outlook", "workload", "kind")
    namespace: str = json_report.attribute("outlook", "workload", "namespace")
    name: str = json_report.attribute("outlook", "workload", "name")
    answer: str
    pod_sets: list[PodSet] = json_report.attribute("outlook", "workload", "pod_sets")
    totals: Annotated[dict[str, Total], BeforeValidator(_by_name)] = json_report.attribute(
        "outlook", "workload", "totals"
    )
    given: list[str] = json_report.attribute("outlook", "given")
    priorities: list[Rank] = json_report.attribute("outlook", "ranks")
    authorities: list[Section] = json_report.attribute("outlook", "sections")
    remedies: list[str]
    clusters: Annotated[list[ClusterAnswer], json_report.IF_ANY]


class QueueOutlook(json_report.Shape):
    api_version: Literal["gpu-usher.io/v1alpha1"] = json_report.API_VERSION
    kind: Literal["QueueOutlook"] = "QueueOutlook"
    as_written: bool
    workloads: list[Workload]


def _uid_of_maker(value: paths.Object) -> str:
    """The uid of an object of a kind that makes pods; else empty."""
    key = paths.text(value.get("apiVersion")).rpartition("/")[0], paths.text(value.get("kind"))
    return paths.text(paths.metadata(value).get("uid")) if key in registry.PODS else ""


def outlooks_of(
    batches: Iterable[Batch],
    evaluator: Evaluator,
    *,
    namespace: str,
    as_written: bool = False,
    facts: Store | None = None,
) -> Iterator[tuple[str, Outlook]]:
    """The outlook of every object that makes pods, with its place. What an object among them made counts with it.

    Args:
        batches: the manifests; each batch is applied as a whole.
        evaluator: decides, and has the facts.
        namespace: the namespace of objects without one.
        as_written: whether to ignore the changes of the mutating webhook.
        facts: the facts; None for those of the evaluator.
    """
    given = evaluator.facts if facts is None else facts
    for batch in batches:
        values = [item.value for item in batch.items]
        facts = given.with_applied(values, namespace=namespace)
        objects, outlooks = reading_values.Objects(values, namespace=namespace), Outlooks(evaluator, facts)
        makers = frozenset(map(_uid_of_maker, values)) - {""}
        for item in batch.items:
            if paths.text(paths.controller_reference(item.value).get("uid")) in makers:
                continue
            request = Request(value=item.value, namespace=namespace, objects=objects, facts=facts, place="check")
            outlook = outlooks.of(request, as_written=as_written)
            if outlook is not None:
                line = item.document.line if item.document is not None else 0
                yield f"{batch.source}:{line}" if line else batch.source, outlook
