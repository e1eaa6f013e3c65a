"""Which mutations usher.yaml wants for an object, and which of them an annotation of the object refuses."""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Final

from usher import model
from usher.config import models, selection, words
from usher.mutation.merge import MutationRefusal
from usher.policy.checks.catalogue import Catalogue, Entry
from usher.policy.enforcement import OBSERVE

ANNOTATION: Final = "gpu-usher.io/skip-mutations"
"""Of an object or of a pod template: names of mutations with commas between them, or * for all."""

_ALL: Final = "*"
_OPT_OUT: Final = "skip-mutations"
"""Named in notes about the annotation itself, in place of a mutation."""
_LONGEST: Final = 64


class MutationRules:
    """Answers for one configuration, remembered by namespace and role."""

    def __init__(self, config: models.Config, entries: Catalogue) -> None:
        self._rules = config.mutations.rules
        self._opt_outs = config.mutations.opt_outs
        self._mutations = entries.mutations
        self._observes = config.enforcement.preset == OBSERVE
        self._words = {_ALL, *(word for entry in entries.mutations.values() for word in (entry.name, entry.code))}
        self._kept = lru_cache(maxsize=1024)(self._unwanted)
        self._may_opt_out = lru_cache(maxsize=1024)(self._refusable)

    def refusal(self, workload: model.Workload, *, updating: bool) -> Callable[[model.Intent], MutationRefusal | None]:
        """Says why an intent about a workload is refused; None where it is wanted.

        On UPDATE only the annotation refuses: usher.yaml takes nothing away from what an object has.
        """
        unwanted = {} if updating else self._kept(workload.namespace, workload.role.value)
        asked = dict(_asked(workload))

        def of(intent: model.Intent) -> MutationRefusal | None:
            refused = unwanted.get(intent.mutation)
            if refused is not None or not asked:
                return refused
            entry = self._mutations.get(intent.mutation)
            if entry is None or not _names(_words(asked, intent.at), entry):
                return None
            if intent.mutation in self._may_opt_out(workload.namespace):
                return MutationRefusal(reason=f"the annotation {ANNOTATION} refuses it")
            return None

        return of

    def warnings(self, workload: model.Workload, applied: Iterator[model.Intent]) -> Iterator[model.Note]:
        """Notes on mutations that were applied although the annotation refuses them, and on unknown mutations."""
        asked = dict(_asked(workload))
        told = set()
        for intent in applied if asked else ():
            entry = self._mutations.get(intent.mutation)
            if entry is not None and entry.key not in told and _names(_words(asked, intent.at), entry):
                told.add(entry.key)
                reason = f"usher.yaml does not allow {ANNOTATION} to refuse it in namespace {workload.namespace}"
                yield model.Note(mutation=entry.key, at="", reason=reason)
        for path, named in sorted(asked.items()):
            unknown = sorted(named - self._words)
            if unknown:
                # Any text may stand in an annotation, so it is shortened and escaped.
                meant = words.nearest(unknown[0], self._words) or "; `usher policies list` shows all mutations"
                reason = f"there is no mutation {unknown[0][:_LONGEST]!a}{meant}"
                yield model.Note(mutation=_OPT_OUT, at=path, reason=reason)

    def _unwanted(self, namespace: str, role: str) -> Mapping[str, MutationRefusal]:
        return {
            key: refused for key, entry in self._mutations.items() if (refused := self._decided(entry, namespace, role))
        }

    def _decided(self, entry: Entry, namespace: str, role: str) -> MutationRefusal | None:
        """What the last rule that fits says; without one, the default of the mutation."""
        action = "apply" if entry.on_by_default and not self._observes else "off"
        because = f"it is off unless mutations.rules of usher.yaml says apply for {entry.name}"
        for index, rule in enumerate(self._rules):
            fits = rule.mutation in (_ALL, entry.name, entry.code)
            if fits and selection.matches(namespace, rule.namespaces) and (not rule.roles or role in rule.roles):
                action, because = rule.action, f"mutations.rules[{index}] of usher.yaml says {rule.action}"
        return (
            None if action == "apply" else MutationRefusal(reason=because, told=action == "warn", off=action == "off")
        )

    def _refusable(self, namespace: str) -> frozenset[str]:
        """Keys of the mutations that objects of a namespace may refuse."""
        named = {
            word
            for opt_out in self._opt_outs
            if selection.matches(namespace, opt_out.namespaces)
            for word in opt_out.mutations
        }
        return frozenset(key for key, entry in self._mutations.items() if _names(named, entry))


def _asked(workload: model.Workload) -> Iterator[tuple[str, frozenset[str]]]:
    """What the annotations of the object and its pod templates refuse, by path."""
    places = [("", workload.annotations), *((each.path, each.annotations) for each in workload.pod_sets)]
    for path, annotations in places:
        text = annotations.get(ANNOTATION)
        if text:
            yield path, frozenset(filter(None, map(str.strip, text.split(","))))


def _words(asked: Mapping[str, frozenset[str]], at: str) -> frozenset[str]:
    """What the object and the template of a place refuse there."""
    return frozenset(word for path, words in asked.items() if at == path or at.startswith(f"{path}/") for word in words)


def _names(words: frozenset[str] | set[str], entry: Entry) -> bool:
    return not words.isdisjoint((_ALL, entry.name, entry.code))
