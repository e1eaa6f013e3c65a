"""Applies the mutations to an object: those that usher.yaml wants, as far as its queue takes them.

Mutations may add the queue itself, a topology, or network devices for which the queue has no quota.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from usher import model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities.authority import Case
from usher.authorities.knowledge import Knowledge
from usher.authorities.kueue import slice as kueue_slice
from usher.authorities.kueue.judge import QUEUE_LABEL
from usher.authorities.kueue.slice import KueueVerdictInput
from usher.config import models, selection
from usher.kinds import registry
from usher.policy import decision
from usher.policy.checks import catalogue
from usher.policy.checks.catalogue import Catalogue, Entry
from usher.policy.decision import OBSERVE, Identities, Operation, Request
from usher.policy.engines.engine import ALL_CHECKS, Engine, Entrypoint
from usher.policy.input.document import Documents
from usher.policy.mutation import merge
from usher.policy.mutation.merge import MutationRefusal

Refusal = Callable[[model.Intent], MutationRefusal | None]

_Refused = tuple[str, Callable[[model.Intent], bool]]
"""A reason, and a function that says whether it concerns an intent."""

QUEUE_FIELDS: Final = frozenset({"kueueLabel", "ownLabel", "annotation", "managedBy", "resource"})
"""The fields of intents that give a queue, its controller, a topology or a device."""

_LABELS: Final = frozenset({"kueueLabel", "ownLabel"})
_TOPOLOGY: Final = "kueue.x-k8s.io/podset-"
_WITH_DEVICES: Final = frozenset({"resource", "capability"})
"""Fields that belong to a device: without the device the capability has no use."""


def queue_refusal(workload: model.Workload, applied: Collection[model.Intent], known: Knowledge) -> Refusal | None:
    """Refuses the intents that the ClusterQueue can never fulfil; None if usher knows no reason.

    Args:
        applied: the intents that were applied to it; read more than once.
    """
    added = {_device(intent) for intent in applied if intent.field == "resource"}
    if not added and not any(_is_queue(intent) or _is_topology(intent) or _hands_over(intent) for intent in applied):
        return None
    found = kueue_slice.input_slice(Case(workload=workload), known)
    queue = found.get("queue") if found is not None else None
    cluster_queue = queue.get("clusterQueue") if queue is not None else None
    verdict = cluster_queue.get("verdict") if cluster_queue is not None else None
    if cluster_queue is None or verdict is None:
        return None
    name = cluster_queue["name"]
    missing = {each["resource"] for each in verdict["uncovered"]}
    devices, others = sorted(added & missing), sorted(missing - added)
    refused: list[_Refused] = []
    if devices:
        reason = f"ClusterQueue {name} has no quota for {devices[0]}, and would never admit pods with this device"
        refused.append((reason, lambda intent: _goes_with(intent, devices)))
    if others and any(_is_queue(intent) for intent in applied):
        reason = f"ClusterQueue {name} has no quota for {others[0]}, so it never admits the workload"
        refused.append((reason, lambda intent: intent.field in _LABELS or _is_topology(intent)))
    elif cluster_queue.get("withoutChecks") and any(_hands_over(intent) for intent in applied):
        reason = f"ClusterQueue {name} has no AdmissionCheck, so MultiKueue never takes the workload"
        refused.append((reason, _hands_over))
    elif level := _missing_level(verdict):
        refused.append((level, _is_topology))
    return _refusing(refused) if refused else None


def _missing_level(verdict: KueueVerdictInput) -> str:
    for unmatched in verdict["unmatched"]:
        for flavor in unmatched["flavors"]:
            if "level" in flavor:
                return f"the Topology of flavor {flavor['flavor']} has no level {flavor['level']}"
    return ""


def _device(intent: model.Intent) -> str:
    name = intent.value.get("name") if isinstance(intent.value, dict) else None
    return name if isinstance(name, str) else ""


def _goes_with(intent: model.Intent, devices: Collection[str]) -> bool:
    return intent.field in _WITH_DEVICES and (intent.field != "resource" or _device(intent) in devices)


def _refusing(refused: Sequence[_Refused]) -> Refusal:
    def why(intent: model.Intent) -> MutationRefusal | None:
        reasons = (reason for reason, concerned in refused if concerned(intent))
        reason = next(reasons, None)
        return None if reason is None else MutationRefusal(reason=reason, warned=True)

    return why


def _key_of_intent(intent: model.Intent) -> str:
    key = intent.value.get("key") if isinstance(intent.value, dict) else None
    return key if isinstance(key, str) else ""


def _is_queue(intent: model.Intent) -> bool:
    return intent.field in _LABELS and _key_of_intent(intent) == QUEUE_LABEL


def _is_topology(intent: model.Intent) -> bool:
    return intent.field == "annotation" and _key_of_intent(intent).startswith(_TOPOLOGY)


def _hands_over(intent: model.Intent) -> bool:
    return intent.field == "managedBy" or (isinstance(intent.value, dict) and "managedBy" in intent.value)


SKIP_ANNOTATION: Final = "gpu-usher.io/skip-mutations"
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
        self._off = lru_cache(maxsize=1024)(self._table)
        self._may_opt_out = lru_cache(maxsize=1024)(self._refusable)

    def refusal(self, workload: model.Workload, *, updating: bool) -> Callable[[model.Intent], MutationRefusal | None]:
        """Returns a function that says why an intent is refused; None if it is not.

        On UPDATE only the annotation refuses intents, because usher.yaml must not remove values that an object has.
        """
        unwanted = {} if updating else self._kept(workload.namespace, workload.role.value)
        asked = dict(_refused_words(workload))

        def of(intent: model.Intent) -> MutationRefusal | None:
            refused = unwanted.get(intent.mutation)
            if refused is not None or not asked:
                return refused
            entry = self._mutations.get(intent.mutation)
            if entry is None or not _names(_words_at(asked, intent.at), entry):
                return None
            if intent.mutation in self._may_opt_out(workload.namespace):
                return MutationRefusal(reason=f"the annotation {SKIP_ANNOTATION} refuses it")
            return None

        return of

    def off(self, workload: model.Workload) -> bytes:
        """The mutations that are off for a workload, as `Engine.evaluate` takes them."""
        return self._off(workload.namespace, workload.role.value)

    def warnings(self, workload: model.Workload, applied: Iterator[model.Intent]) -> Iterator[model.Note]:
        """Notes on mutations that were applied although the annotation refuses them, and on unknown mutations."""
        asked = dict(_refused_words(workload))
        known = set()
        for intent in applied if asked else ():
            entry = self._mutations.get(intent.mutation)
            if entry is not None and entry.key not in known and _names(_words_at(asked, intent.at), entry):
                known.add(entry.key)
                reason = f"usher.yaml does not allow {SKIP_ANNOTATION} to refuse it in namespace {workload.namespace}"
                yield model.Note(mutation=entry.key, at="", reason=reason)
        for path, named in sorted(asked.items()):
            unknown = sorted(named - self._words)
            if unknown:
                # An annotation may hold any text, so the text is shortened and escaped.
                meant = selection.nearest_word(unknown[0], self._words) or "; `usher policies list` shows all mutations"
                reason = f"there is no mutation {unknown[0][:_LONGEST]!a}{meant}"
                yield model.Note(mutation=_OPT_OUT, at=path, reason=reason)

    def _unwanted(self, namespace: str, role: str) -> Mapping[str, MutationRefusal]:
        return {
            key: refused for key, entry in self._mutations.items() if (refused := self._decided(entry, namespace, role))
        }

    def _table(self, namespace: str, role: str) -> bytes:
        off = (key for key, refused in self._kept(namespace, role).items() if refused.off)
        return catalogue.table_of_numbers(self._mutations[key] for key in off)

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
            None if action == "apply" else MutationRefusal(reason=because, warned=action == "warn", off=action == "off")
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


def _refused_words(workload: model.Workload) -> Iterator[tuple[str, frozenset[str]]]:
    """The mutations that the annotations of the object and its pod templates refuse, by path."""
    places = [("", workload.annotations), *((each.path, each.annotations) for each in workload.pod_sets)]
    for path, annotations in places:
        text = annotations.get(SKIP_ANNOTATION)
        if text:
            yield path, frozenset(filter(None, map(str.strip, text.split(","))))


def _words_at(asked: Mapping[str, frozenset[str]], at: str) -> frozenset[str]:
    """The mutations that the object and the template at a place refuse there."""
    return frozenset(word for path, words in asked.items() if at == path or at.startswith(f"{path}/") for word in words)


def _names(words: frozenset[str] | set[str], entry: Entry) -> bool:
    return not words.isdisjoint((_ALL, entry.name, entry.code))


Read = Callable[[paths.Object], model.Workload | None]
"""Normalises an object; None for one that makes no pods."""

DEBUG_CONTAINERS: Final = "ephemeralcontainers"
"""The subresource by which `kubectl debug` adds containers to a running Pod."""


class Mutating(Struct, frozen=True, kw_only=True):
    """Asks the engine for intents and merges them."""

    engine: Engine
    documents: Documents
    catalogue: Catalogue
    rules: MutationRules
    identities: Identities

    def merged(  # noqa: PLR0913 - the object, and what decides about it
        self,
        request: Request,
        workload: model.Workload,
        *,
        read: Read,
        known: Knowledge,
        only: str,
        off: bool,
    ) -> merge.Merged:
        """The object with the values that mutations add.

        Args:
            read: normalises the object as it was before an UPDATE, or as the mutations leave it.
            known: the facts of the cluster, where intents look up what they need.
            only: the key of one mutation; empty for all.
            off: whether the result names the intents of mutations that are off, for people who ask.

        Raises:
            EngineError: the engine gave no usable answer.
            MutationError: an intent is not supported.
        """
        updating = request.operation is Operation.UPDATE
        if request.sub_resource:
            return self._with_debug_containers(request, workload, read)
        if updating and not _may_lose(request, workload):
            return merge.Merged(value=request.value)
        # An UPDATE keeps what it has, also from mutations that are off now.
        left_out = ALL_CHECKS if off or updating else self.rules.off(workload)
        result = self.engine.evaluate(Entrypoint.INTENTS, self._document(request, workload), left_out)
        intents = [intent for intent in decision.read_intents(result) if only in ("", intent.mutation)]
        intents.sort(key=lambda intent: self.catalogue.order_of(intent.mutation))
        if updating and request.old_value is not None:
            intents = self._given_back(request, read, known, intents)
        refusal = self.rules.refusal(workload, updating=updating)
        merge_intents = partial(
            merge.merge,
            request.value,
            workload,
            intents,
            name_of=self.catalogue.mutation_name,
            objects=known.lookup(request.objects),
        )
        merged = merge_intents(refusal=refusal)
        unfit = None if updating else _unfit(merged, read, known)
        if unfit is not None:
            merged = merge_intents(refusal=lambda intent: refusal(intent) or unfit(intent))
        warnings = (
            *(note for note in decision.read_notes(result, "warnings") if only in ("", note.mutation)),
            *self.rules.warnings(workload, iter(merged.applied)),
        )
        return replace(merged, warnings=warnings) if warnings else merged

    def _given_back(
        self, request: Request, read: Read, known: Knowledge, intents: list[model.Intent]
    ) -> list[model.Intent]:
        """The intents that an UPDATE must not lose, and those that an UPDATE without usher has lost."""
        old_value = request.old_value or {}
        old = read(old_value)
        if old is None:
            return []
        kept = {id(each) for each in merge.already_there(old_value, old, intents)}
        lost = set[int]()
        if (pods := registry.PODS.get((old.group, old.kind))) is not None and pods.template_can_change:
            # Unlike a value that is there, usher.yaml may refuse it.
            refusal, names = self.rules.refusal(old, updating=False), merge.recorded(old_value)
            lost = {
                id(each)
                for each in _lost_tolerations(intents, old, known)
                if self.catalogue.mutation_name(each.mutation) in names and refusal(each) is None
            }
        given = [each for each in intents if id(each) in kept | lost]
        return [replace(each, needs=()) if id(each) in kept else each for each in given]

    def _with_debug_containers(self, request: Request, workload: model.Workload, read: Read) -> merge.Merged:
        """The Pod with its new debug containers mutated; the API server takes no other change, not even a record."""
        old = None if request.old_value is None else read(request.old_value)
        if request.sub_resource != DEBUG_CONTAINERS or not workload.is_pod or old is None:
            return merge.Merged(value=request.value)
        known = {container.name for container in _debug_containers(old)}
        added = {container.path for container in _debug_containers(workload) if container.name not in known}
        if not added:
            return merge.Merged(value=request.value)
        result = self.engine.evaluate(Entrypoint.INTENTS, self._document(request, workload))
        return merge.merge(
            request.value,
            workload,
            [intent for intent in decision.read_intents(result) if intent.at in added],
            name_of=self.catalogue.mutation_name,
            refusal=self.rules.refusal(workload, updating=False),
            recording=False,
        )

    def _document(self, request: Request, workload: model.Workload) -> bytes:
        """The input of the rules. Only mutations of Pods read the user, so all other objects share their answers."""
        return self.documents.build(workload, review=self.identities.review(request) if workload.is_pod else None)

    def skips(self, request: Request, workload: model.Workload) -> tuple[model.Note, ...]:
        """Why mutations skip an object or a part of it.

        Raises:
            EngineError: the engine gave no usable answer.
        """
        return decision.read_notes(self.engine.evaluate(Entrypoint.SKIPS, self._document(request, workload)), "skips")


def _lost_tolerations(intents: Sequence[model.Intent], old: model.Workload, known: Knowledge) -> Iterator[model.Intent]:
    """The tolerations that a template may have lost: it tolerates no taint of a node with accelerators.

    A template that tolerates some of these taints lost nothing, because an apply replaces the list as a whole. It gets
    no toleration of a pool that was declared since, so that it does not restart by surprise.
    """
    keys = {taint.key for pool in known.config.pools for taint in pool.taints}
    lacking = {
        pod_set.path
        for pod_set in old.pod_sets
        if not any(_tolerates_accelerators(each, keys, known.vocabulary) for each in pod_set.tolerations)
    }
    yield from (each for each in intents if each.field == "toleration" and each.at in lacking)


def _tolerates_accelerators(
    toleration: Mapping[str, paths.Json], keys: Collection[str], vocabulary: Vocabulary
) -> bool:
    key, value = str(toleration.get("key") or ""), str(toleration.get("value") or "")
    return not key or key in keys or vocabulary.marks_accelerators(key, value)


def _debug_containers(workload: model.Workload) -> Iterator[model.Container]:
    for pod_set in workload.pod_sets:
        yield from (each for each in pod_set.containers if each.type is model.ContainerType.EPHEMERAL)


def _may_lose(request: Request, workload: model.Workload) -> bool:
    """Whether an UPDATE may remove a value that a mutation added; for a Pod, only if it changes the spec."""
    old = request.old_value
    return merge.is_recorded(old) and not (
        workload.is_pod and old is not None and request.value.get("spec") == old.get("spec")
    )


def _unfit(merged: merge.Merged, read: Read, known: Knowledge) -> Refusal | None:
    """Refuses intents of a queue that would never take the mutated object; None if usher knows no reason."""
    if known.facts.empty or QUEUE_FIELDS.isdisjoint(intent.field for intent in merged.applied):
        return None
    changed = read(merged.value)
    return None if changed is None else queue_refusal(changed, merged.applied, known)
