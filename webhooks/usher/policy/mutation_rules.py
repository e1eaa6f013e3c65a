"""Which mutations usher.yaml applies to an object, and which ones an annotation of the object refuses."""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Final

from usher import model
from usher.config import fields, models, selection
from usher.mutation.merge import MutationRefusal
from usher.policy.checks.catalogue import Catalogue, Entry
from usher.policy.enforcement import OBSERVE

ANNOTATION: Final = "gpu-usher.io/skip-mutations"
"""The annotation of an object or a pod template: names of mutations, separated by commas, or * for all."""

_ALL: Final = "*"
_OPT_OUT: Final = "skip-mutations"
"""The name in notes about the annotation itself, instead of the name of a mutation."""
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
        """Returns a function that says why an intent is refused; None if it is not.

        On UPDATE only the annotation refuses intents, because usher.yaml must not remove values that an object has.
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
                # An annotation may hold any text, so the text is shortened and escaped.
                meant = fields.nearest_word(unknown[0], self._words) or "; `usher policies list` shows all mutations"
                reason = f"there is no mutation {unknown[0][:_LONGEST]!a}{meant}"
                yield model.Note(mutation=_OPT_OUT, at=path, reason=reason)

    def _unwanted(self, namespace: str, role: str) -> Mapping[str, MutationRefusal]:
        return {
            key: refused for key, entry in self._mutations.items() if (refused := self._decided(entry, namespace, role))
        }

    def _decided(self, entry: Entry, namespace: str, role: str) -> MutationRefusal | None:
        """Why the last rule that fits refuses the mutation; without a rule, the mutation's default decides.

        None if it applies.
        """
        action = "apply" if entry.on_by_default and not self._observes else "off"
        because = f"it is off unless mutations.rules of usher.yaml says apply for {entry.name}"
        for index, rule in enumerate(self._rules):
            fits = rule.mutation in (_ALL, entry.name, entry.code)
            if (
                fits
                and selection.matches_pattern(namespace, rule.namespaces)
                and (not rule.roles or role in rule.roles)
            ):
                action, because = rule.action, f"mutations.rules[{index}] of usher.yaml says {rule.action}"
        return (
            None if action == "apply" else MutationRefusal(reason=because, told=action == "warn", off=action == "off")
        )

    def _refusable(self, namespace: str) -> frozenset[str]:
        """Keys of the mutations that objects of a namespace may refuse."""
        named = {
            word
            for opt_out in self._opt_outs
            if selection.matches_pattern(namespace, opt_out.namespaces)
            for word in opt_out.mutations
        }
        return frozenset(key for key, entry in self._mutations.items() if _names(named, entry))


def _asked(workload: model.Workload) -> Iterator[tuple[str, frozenset[str]]]:
    """The mutations that the annotations of the object and its pod templates refuse, by path."""
    places = [("", workload.annotations), *((each.path, each.annotations) for each in workload.pod_sets)]
    for path, annotations in places:
        text = annotations.get(ANNOTATION)
        if text:
            yield path, frozenset(filter(None, map(str.strip, text.split(","))))


def _words(asked: Mapping[str, frozenset[str]], at: str) -> frozenset[str]:
    """The mutations that the object and the template at a place refuse there."""
    return frozenset(word for path, words in asked.items() if at == path or at.startswith(f"{path}/") for word in words)


def _names(words: frozenset[str] | set[str], entry: Entry) -> bool:
    return not words.isdisjoint((_ALL, entry.name, entry.code))
