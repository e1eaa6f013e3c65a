"""The priority that a workload would have: in Kueue's queue, and of its pods."""

from collections.abc import Iterator

from usher import model
from usher.authorities.outlook import Rank
from usher.authorities.priority import slice as priority_slice
from usher.authorities.priority.slice import PriorityClass
from usher.config import models
from usher.facts.store import Store

LABEL = "kueue.x-k8s.io/priority-class"


def of(
    workload: model.Workload, facts: Store, config: models.Config, *, before: model.Workload | None
) -> Iterator[Rank]:
    """The classes that count.

    Args:
        workload: the object.
        facts: what is known.
        config: usher.yaml.
        before: the object as the file has it.
    """
    found = priority_slice.of(workload, facts, config)
    label = workload.queue_labels.get(LABEL, "")
    if label:
        given = before is not None and before.queue_labels.get(LABEL, "") != label
        yield _rank("WorkloadPriorityClass", label, {} if found is None else found.get("inQueue", {}), given=given)
    default = None if found is None else found.get("default")
    named: dict[str, list[model.PodSet]] = {}
    for pod_set in workload.pod_sets:
        named.setdefault(pod_set.priority_class_name, []).append(pod_set)
    written = {each.path: each.priority_class_name for each in before.pod_sets} if before is not None else {}
    for name, pod_sets in named.items():
        of_these = tuple(each.name for each in pod_sets) if len(named) > 1 else ()
        given = before is not None and any(written.get(each.path, name) != name for each in pod_sets)
        if name:
            classes = {} if found is None else found["classes"]
            yield _rank("PriorityClass", name, classes.get(name, {}), of=of_these, given=given)
        elif default is not None:
            yield Rank(kind="PriorityClass", name=default["name"], value=default["value"], of=of_these, by_default=True)
        else:
            yield Rank(kind="PriorityClass", name="", value=None, of=of_these, by_default=True)


def _rank(kind: str, name: str, known: PriorityClass, *, of: tuple[str, ...] = (), given: bool) -> Rank:
    return Rank(
        kind=kind,
        name=name,
        value=known.get("value"),
        of=of,
        missing=known.get("exists") is False,
        given=given,
    )
