"""What the authorities say about a workload that waits, by the same code as `usher queue`."""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Final

import orjson

from usher import paths
from usher.audit import fields
from usher.audit.estate import Workload
from usher.audit.standing.situation import Situation
from usher.authorities import registry
from usher.authorities.authority import Case
from usher.authorities.outlook import Section, together
from usher.authorities.verdict import Answer
from usher.dataclass import dataclass

_HOLDING: Final = (Answer.NEVER, Answer.NOT_NOW)
_NAMES: Final = {"nodes": "the nodes", "classes": "the priority classes"}
_REFUSING: Final = ("ResourceQuota", "GPUQuota", "LimitRange")
_OWN: Final = (
    *("name", "generateName", "uid", "resourceVersion", "generation"),
    *("creationTimestamp", "managedFields", "selfLink", "annotations"),
)
"""Metadata that no authority reads; annotations are added without kubectl's copy of the manifest."""
_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_NUMBERED: Final = (
    *("controller-uid", "batch.kubernetes.io/controller-uid"),
    *("job-name", "batch.kubernetes.io/job-name"),
)
"""Labels that the Job controller gives the pods of each Job."""
_MOST: Final = 8
"""Reasons of one authority that are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """The sections of all authorities about one workload."""

    sections: Sequence[Section] = ()

    @property
    def never(self) -> bool:
        return together(self.sections) is Answer.NEVER

    def holding(self, answer: Answer | None = None) -> list[Section]:
        """The authorities that hold the workload back, for ever or now; those with one answer if it is given."""
        wanted = _HOLDING if answer is None else (answer,)
        return [each for each in self.sections if each.answer in wanted]

    def refusing(self) -> list[Section]:
        """The quotas and limits that may refuse pods: some of them, where the others could start."""
        said = [each for each in self.sections if each.authority in _REFUSING and each.answer is not Answer.UNKNOWN]
        return [each for each in said if each.answer in _HOLDING or (each.answer is Answer.COULD and each.reasons)]


NOTHING: Final = Verdicts()


class Outlooks:
    """The verdicts about many workloads. Those that differ by their names alone are judged once."""

    def __init__(self, situation: Situation) -> None:
        self._manifests = situation.estate.manifests
        self._known = situation.known
        self._made: dict[bytes, Verdicts] = {}
        """By what decides."""

    def of(self, workload: Workload) -> Verdicts:
        """The verdicts about a workload; nothing where its manifest is not known, or makes no pods by itself.

        The object is taken as it is: admission has changed it already.
        """
        value = self._manifests.get(workload.uid) if workload.uid else None
        if value is None:
            return NOTHING
        try:
            key = _deciding(value, workload.identity.namespace)
        except orjson.JSONEncodeError:
            # Half a character, or a number of more than 64 bits.
            return self._judged(value, workload.identity.namespace)
        if key not in self._made:
            self._made[key] = self._judged(value, workload.identity.namespace)
        return self._made[key]

    def _judged(self, value: paths.Object, namespace: str) -> Verdicts:
        written = self._known.workload(value, namespace=namespace)
        if written is None or not written.pod_sets or not written.makes_pods or written.is_template:
            return NOTHING
        return Verdicts(sections=tuple(registry.sections(Case(workload=written), self._known)))


def _deciding(value: paths.Object, namespace: str) -> bytes:
    """A digest of an object without its status, its name and what the API server and the Job controller number."""
    metadata = {key: each for key, each in paths.metadata(value).items() if key not in _OWN}
    annotations = {key: text for key, text in fields.strings(value, "/metadata/annotations").items() if key != _APPLIED}
    rest = {key: each for key, each in value.items() if key not in ("metadata", "status")}
    if value.get("apiVersion") == "batch/v1":
        rest["spec"] = _without_numbers(rest.get("spec"))
    written = orjson.dumps([namespace, {**metadata, "annotations": annotations}, rest], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(written).digest()


def _without_numbers(spec: paths.Json) -> paths.Json:
    """The spec of a Job without its selector, and without the labels by which its pods are selected."""
    template = fields.at(spec, "/template")
    metadata = fields.at(template, "/metadata")
    if not isinstance(spec, dict) or not isinstance(template, dict) or not isinstance(metadata, dict):
        return spec
    labels = {key: text for key, text in fields.strings(metadata, "/labels").items() if key not in _NUMBERED}
    rest = {key: each for key, each in spec.items() if key != "selector"}
    return {**rest, "template": {**template, "metadata": {**metadata, "labels": {**labels}}}}


def name(section: Section) -> str:
    """The authority for people: `Kueue`, `the nodes`."""
    return _NAMES.get(section.authority, section.authority)


def reasons(section: Section) -> Iterator[str]:
    """Why an authority holds the workload, each as a sentence that names the authority."""
    way = " of ".join(section.way[:2])
    who = way if way.startswith(name(section)) else f"{name(section)} ({way})" if way else name(section)
    found = [*section.reasons, *_missing(section)] or list(section.waits)
    for each in found[:_MOST]:
        yield fields.excerpt(f"{who}: {each}")


def _missing(section: Section) -> Iterator[str]:
    """What the nodes lack for the pods that no node holds."""
    for each in section.holding:
        if each.answer is section.answer and each.missing:
            of_pod_set = f"{each.pod_set}: " if each.pod_set else ""
            nearest = f" (nearest: {each.nearest})" if each.nearest else ""
            yield f"{of_pod_set}{'; '.join(each.missing)}{nearest}"
