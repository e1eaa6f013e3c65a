"""The classes in `usher queue`: the priority that a workload would have, and classes that do not exist."""

from collections.abc import Iterator

from usher import model
from usher.authorities import runtime_class
from usher.authorities.authority import Case
from usher.authorities.knowledge import Knowledge
from usher.authorities.outlook import Rank, Section
from usher.authorities.priority import read
from usher.authorities.priority.read import NamedClass
from usher.authorities.verdict import Answer


def of(case: Case, known: Knowledge) -> Iterator[Section]:
    """A section where the workload names a class that does not exist."""
    missing = [f"{rank.kind} {rank.name}" for rank in ranks(case, known) if rank.missing]
    runtimes = runtime_class.of(case, known) or {}
    missing += [f"RuntimeClass {name}" for name, exists in runtimes.items() if not exists]
    if missing:
        yield Section(
            authority="classes", answer=Answer.NOT_NOW, reasons=tuple(f"there is no {each}" for each in missing)
        )


def ranks(case: Case, known: Knowledge) -> Iterator[Rank]:
    """The priority classes of a workload."""
    workload, before = case.workload, case.before
    label = workload.queue_labels.get(read.QUEUE_CLASS_LABEL, "")
    if label:
        given = before is not None and before.queue_labels.get(read.QUEUE_CLASS_LABEL, "") != label
        yield _rank(read.named(known.facts, read.IN_QUEUE, label), given=given)
    named: dict[str, list[model.PodSet]] = {}
    for pod_set in workload.pod_sets:
        named.setdefault(pod_set.priority_class_name, []).append(pod_set)
    written = {each.path: each.priority_class_name for each in before.pod_sets} if before is not None else {}
    for name, pod_sets in named.items():
        of_these = tuple(each.name for each in pod_sets) if len(named) > 1 else ()
        if name:
            given = before is not None and any(written.get(each.path, name) != name for each in pod_sets)
            yield _rank(read.named(known.facts, read.CLASSES, name), of=of_these, given=given)
        else:
            default = None if read.classes(known.facts, read.CLASSES) is None else read.default(known.facts)
            yield Rank(
                kind="PriorityClass",
                name="" if default is None else default.name,
                value=None if default is None else default.value,
                of=of_these,
                by_default=True,
            )


def _rank(named: NamedClass, *, of: tuple[str, ...] = (), given: bool) -> Rank:
    return Rank(
        kind=named.kind,
        name=named.name,
        value=None if named.found is None else named.found.value,
        of=of,
        missing=named.exists is False,
        given=given,
    )
