"""The verdicts of the authorities about a waiting workload, from the same code as `usher queue`."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import orjson

from usher import model, paths
from usher.audit import fields
from usher.audit.estate import MULTI_KUEUE, Workload
from usher.audit.standing.situation import Situation
from usher.authorities import registry
from usher.authorities.authority import Case
from usher.authorities.kueue import read as kueue_read
from usher.authorities.kueue.queues import ClusterQueue
from usher.authorities.nodes import judge as node_verdicts
from usher.authorities.nodes import read as nodes_read
from usher.authorities.nodes.places import Obstacles
from usher.authorities.outlook import Section, answer_of_sections
from usher.authorities.verdict import Answer
from usher.check.devices import WHOLE_GPUS
from usher.dataclass import dataclass

_HOLDING: Final = (Answer.NEVER, Answer.NOT_NOW)
_NAMES: Final = {"nodes": "the nodes", "classes": "the priority classes"}
_REFUSING: Final = ("ResourceQuota", "GPUQuota", "LimitRange")
_OWN: Final = (
    *("name", "generateName", "uid", "resourceVersion", "generation"),
    *("creationTimestamp", "managedFields", "selfLink", "annotations"),
)
"""Metadata that no authority reads. The code also ignores the annotation with kubectl's copy of the manifest."""
_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_NUMBERED: Final = (
    *("controller-uid", "batch.kubernetes.io/controller-uid"),
    *("job-name", "batch.kubernetes.io/job-name"),
)
"""Labels that the Job controller gives the pods of each Job."""
_MOST: Final = 8
"""The most reasons that usher shows of one authority."""

_KUEUE: Final = "Kueue"
_LARGEST: Final = 16
"""The most GPUs of one machine that can be a node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """The sections of all authorities about one workload."""

    sections: Sequence[Section] = ()

    @property
    def never(self) -> bool:
        return answer_of_sections(self.sections) is Answer.NEVER

    def holding(self, answer: Answer | None = None) -> list[Section]:
        """The authorities that hold the workload back, for ever or now; only those with the given answer, if any."""
        wanted = _HOLDING if answer is None else (answer,)
        return [each for each in self.sections if each.answer in wanted]

    def refusing(self) -> list[Section]:
        """The quotas and limits that may refuse some pods while the others could start."""
        said = [each for each in self.sections if each.authority in _REFUSING and each.answer is not Answer.UNKNOWN]
        return [each for each in said if each.answer in _HOLDING or (each.answer is Answer.COULD and each.reasons)]


NOTHING: Final = Verdicts()


class Outlooks:
    """The verdicts about many workloads. usher judges workloads that differ only in their names once."""

    def __init__(self, situation: Situation) -> None:
        self._manifests = situation.estate.manifests
        self._known = situation.known
        self._autoscaler = situation.autoscaler
        self._made: dict[bytes, Verdicts] = {}
        """Verdicts by the digest of everything that decides them."""

    def of(self, workload: Workload) -> Verdicts:
        """The verdicts about a workload; empty if its manifest is unknown, or makes no pods itself.

        It judges the object unchanged, because admission has changed it already.
        """
        value = self._manifests.get(workload.uid) if workload.uid else None
        if value is None:
            return NOTHING
        try:
            key = _deciding(value, workload.identity.namespace)
        except orjson.JSONEncodeError:
            # Half a surrogate pair, or a number of more than 64 bits.
            return self._judged(value, workload.identity.namespace)
        if key not in self._made:
            self._made[key] = self._judged(value, workload.identity.namespace)
        return self._made[key]

    def _judged(self, value: paths.Object, namespace: str) -> Verdicts:
        written = self._known.workload(value, namespace=namespace)
        if written is None or not written.pod_sets or not written.makes_pods or written.is_template:
            return NOTHING
        sections = registry.sections(Case(workload=written), self._known)
        if written.managed_by == MULTI_KUEUE:
            # Its pods run in another cluster. A queue of this cluster decides whether they may.
            return Verdicts(sections=tuple(each for each in sections if each.authority == _KUEUE))
        return Verdicts(sections=tuple(self._provisional(each, written) for each in sections))

    def _provisional(self, section: Section, workload: model.Workload) -> Section:
        """The section of nodes, marked as temporary if new nodes could hold the pods."""
        if not section.is_of_nodes or section.answer is not Answer.NEVER:
            return section
        adding = self._adds_nodes(workload)
        if not adding or not self._could_hold(workload):
            return section
        return replace(
            section,
            answer=Answer.NOT_NOW,
            holding=tuple(
                replace(each, answer=Answer.NOT_NOW) if each.answer is Answer.NEVER else each
                for each in section.holding
            ),
            waits=(*section.waits, f"{adding} may add nodes that hold the pods"),
            remedies=(),
        )

    def _adds_nodes(self, workload: model.Workload) -> str:
        """The object that may add nodes for a workload; empty if usher knows no object that does, or if usher.yaml has
        pools, which already show it.
        """
        queue = self._cluster_queue(workload)
        if queue is not None and queue.has_checks is not False:
            return f"an admission check of ClusterQueue {fields.excerpt(queue.name)}"
        return "" if self._known.config.pools else self._autoscaler

    def _cluster_queue(self, workload: model.Workload) -> ClusterQueue | None:
        facts, name = self._known.facts, workload.queue_labels.get(kueue_read.QUEUE_LABEL, "")
        local = (kueue_read.local_queues(facts, workload.namespace) or {}).get(name) if name else None
        return None if local is None else (kueue_read.cluster(facts).queues or {}).get(local.cluster_queue)

    def _could_hold(self, workload: model.Workload) -> bool:
        """Whether other nodes than the current ones could hold the pods."""
        verdicts = node_verdicts.node_verdicts(self._known)
        if verdicts is None:
            return True
        found = [verdicts.of(each).nearest for each in nodes_read.demands_of_workload(workload, self._known)]
        return not any(nearest is not None and _stays(nearest.obstacles) for nearest in found)


def _stays(obstacles: Obstacles) -> bool:
    """Whether new nodes would not help: nodes of a pool have the same taint, and no machine has that many GPUs."""
    too_many = any(each.resource in WHOLE_GPUS and each.asked > _LARGEST for each in obstacles.amounts)
    return bool(obstacles.taints or obstacles.names or obstacles.nowhere or too_many)


def _deciding(value: paths.Object, namespace: str) -> bytes:
    """A digest of an object without its status, its name, and the fields that the API server and the Job controller
    number.
    """
    metadata = {key: each for key, each in paths.metadata(value).items() if key not in _OWN}
    annotations = {key: text for key, text in fields.strings(value, "/metadata/annotations").items() if key != _APPLIED}
    rest = {key: each for key, each in value.items() if key not in ("metadata", "status")}
    if value.get("apiVersion") == "batch/v1":
        rest["spec"] = _without_numbers(rest.get("spec"))
    written = orjson.dumps([namespace, {**metadata, "annotations": annotations}, rest], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(written).digest()


def _without_numbers(spec: paths.Json) -> paths.Json:
    """The spec of a Job without its selector and without the labels that select its pods."""
    template = fields.at(spec, "/template")
    metadata = fields.at(template, "/metadata")
    if not isinstance(spec, dict) or not isinstance(template, dict) or not isinstance(metadata, dict):
        return spec
    labels = {key: text for key, text in fields.strings(metadata, "/labels").items() if key not in _NUMBERED}
    rest = {key: each for key, each in spec.items() if key != "selector"}
    return {**rest, "template": {**template, "metadata": {**metadata, "labels": {**labels}}}}


def name(section: Section) -> str:
    """The authority as people call it: `Kueue`, `the nodes`."""
    return _NAMES.get(section.authority, section.authority)


def reasons(section: Section) -> Iterator[str]:
    """The reasons why an authority holds the workload, each as a sentence that names the authority."""
    way = " of ".join(section.way[:2])
    who = way if way.startswith(name(section)) else f"{name(section)} ({way})" if way else name(section)
    found = [*section.reasons, *_missing(section)]
    found = [*found, *section.waits] if section.is_of_nodes or not found else found
    for each in found[:_MOST]:
        yield fields.excerpt(f"{who}: {each}")


def _missing(section: Section) -> Iterator[str]:
    """The resources that nodes lack for the pods that do not fit."""
    for each in section.holding:
        if each.answer is section.answer and each.missing:
            of_pod_set = f"{each.pod_set}: " if each.pod_set else ""
            nearest = f" (nearest: {each.nearest})" if each.nearest else ""
            yield f"{of_pod_set}{'; '.join(each.missing)}{nearest}"
