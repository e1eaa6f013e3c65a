"""Findings about estates: what `usher.audit.standing` says of a cluster that a test describes."""

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

from msgspec.structs import replace

from builders.estates import NOW
from usher import model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.audit import sections
from usher.audit.document import FindingEntry
from usher.audit.gather.estate import Estate, Workload
from usher.authorities.knowledge import Knowledge
from usher.check import findings as scan
from usher.check.findings import ExceptionState, ExceptionUse
from usher.cluster.facts.store import Store
from usher.config import models
from usher.kinds.kind import Key
from usher.policy.mutation.merge import Merged


def knowledge(
    facts: Iterable[paths.Object] = (), *, config: models.Config | None = None, without: Iterable[Key] = ()
) -> Knowledge:
    """The knowledge of a cluster that has the objects of `facts`, and kinds without objects."""
    site, store = config or models.Config(), Store.of(facts)
    for key in without:
        store.replace(key, [])
    return Knowledge(facts=store, config=site, vocabulary=Vocabulary(site.accelerators))


def namespaces(*names: str, **labels: str) -> list[paths.Object]:
    """Namespaces with the same labels."""
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": dict(labels)}} for name in names
    ]


def judgement(
    code: str = "USH301", outcome: model.Outcome = model.Outcome.DENY, *, message: str = "it is wrong"
) -> scan.Finding:
    found = model.Finding(check="placement/gpu_toleration_present", path="/spec", message=message)
    name = "gpu-toleration-present"
    return scan.Finding(
        judgement=model.Judgement(finding=found, outcome=outcome, code=code, name=name), place=None, pod_set=None
    )


def change(*fields: str) -> scan.Change:
    """The fields that the mutating webhook would add, by its intents."""
    intents = tuple(
        model.Intent(mutation="placement/tolerations", at="", field=field, value="x", reason="its pool has a taint")
        for field in fields
    )
    merged = Merged(value={}, applied=intents)
    return scan.Change(before={}, merged=merged, names={"placement/tolerations": "tolerations"}, places={})


def result(workload: Workload, *found: scan.Finding, **fields: Any) -> scan.Result:
    """The decision about a workload of an estate."""
    return scan.Result(
        source="cluster",
        line=0,
        identity=workload.identity,
        role=workload.role,
        pods=workload.wanted,
        accelerators=workload.asks,
        findings=found,
        **fields,
    )


def exception(state: ExceptionState, **fields: Any) -> ExceptionUse:
    """An exception of usher.yaml; by default it matches no object."""
    return ExceptionUse(
        checks=("gpu-toleration-present",),
        namespaces=tuple(fields.pop("namespaces", ("ml-*",))),
        ticket=fields.pop("ticket", "GPU-7"),
        owner="team-nlp",
        expires=fields.pop("expires", date(2026, 11, 1)),
        state=state,
        findings=fields.pop("findings", 0),
        **fields,
    )


def report(
    results: Iterable[scan.Result] = (), *, exceptions: Iterable[ExceptionUse] = (), **fields: Any
) -> scan.Report:
    totals = scan.Totals(accelerators={}, accelerators_with_errors={})
    return scan.Report(
        command=scan.Command.AUDIT,
        version="1",
        configuration=scan.Configuration(preset="recommended"),
        results=tuple(results),
        failures=tuple(fields.pop("failures", ())),
        problems=(),
        notes=tuple(fields.pop("notes", ())),
        not_evaluated=(),
        exceptions=tuple(exceptions),
        totals=totals,
        **fields,
    )


def judged(estate: Estate, *decisions: scan.Result) -> tuple[Estate, scan.Report]:
    """An estate whose workloads have the decisions of the same place."""
    workloads = [replace(each, index=index) for index, each in enumerate(estate.workloads)]
    return replace(estate, workloads=tuple(workloads)), report(decisions)


def found(
    estate: Estate,
    facts: Iterable[paths.Object] = (),
    *,
    of: scan.Report | None = None,
    config: models.Config | None = None,
    without: Iterable[Key] = (),
    codes: Sequence[str] = (),
) -> list[FindingEntry]:
    """The findings about an estate.

    Args:
        estate: the estate.
        facts: objects of the kinds that decisions look at.
        of: the report about its workloads; without it no workload was judged.
        config: usher.yaml.
        without: kinds of facts that are known and have no object.
        codes: the findings that the test is about; all of them without one.
    """
    known = knowledge(facts, config=config, without=without)
    entries = sections.standing_findings(estate, known, report=of or report(), config=known.config, now=NOW)
    return [each for each in entries if not codes or each.code in codes]
