"""What the authorities say about a workload that waits, by the same code as `usher queue`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from usher.audit import fields
from usher.audit.estate import Workload
from usher.audit.standing.situation import Situation
from usher.authorities import registry
from usher.authorities.authority import Case
from usher.authorities.outlook import Section, together
from usher.authorities.verdict import Answer

_HOLDING: Final = (Answer.NEVER, Answer.NOT_NOW)
_NAMES: Final = {"nodes": "the nodes", "classes": "the priority classes"}
_REFUSING: Final = ("ResourceQuota", "GPUQuota", "LimitRange")
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


def of(workload: Workload, situation: Situation) -> Verdicts:
    """The verdicts about a workload; nothing where its manifest is not known, or makes no pods by itself.

    The object is taken as it is: admission has changed it already.
    """
    value = situation.estate.manifests.get(workload.uid) if workload.uid else None
    if value is None:
        return NOTHING
    written = situation.known.workload(value, namespace=workload.identity.namespace)
    if written is None or not written.pod_sets or not written.makes_pods or written.is_template:
        return NOTHING
    return Verdicts(sections=tuple(registry.sections(Case(workload=written), situation.known)))


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
            nearest = f" ({each.nearest} come nearest)" if each.nearest else ""
            yield f"{of_pod_set}{'; '.join(each.missing)}{nearest}"
