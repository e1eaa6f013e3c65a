"""The inputs of authorities: the facts of a cluster, usher.yaml, the meaning of resource names, and other objects.

Of the objects of the same files these are the ones that run pods, their autoscalers, and the servers of webhooks.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from usher import model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.cluster.facts.store import Store
from usher.config import models
from usher.config.described_kinds import MAP_KINDS
from usher.kinds import registry
from usher.kinds.kind import Key, Kind
from usher.kinds.reading import values
from usher.kinds.reading.values import Absence, Context, Lookup, Reading, Reference
from usher.workloads import grown_workloads, identity, unrecognised
from usher.workloads.claims import CLAIM_GROUP, accelerators_like
from usher.workloads.normalise import normalise
from usher.workloads.roles import Roles

DEVICE_CLASS: Final = (CLAIM_GROUP, "DeviceClass")
_SLICE: Final = (CLAIM_GROUP, "ResourceSlice")
_NODE: Final = ("", "Node")

AUTOSCALERS: Final = frozenset(kind.group_and_kind for kind in registry.KINDS if kind.autoscaler and kind.plural)


def served_resources(facts: Store, vocabulary: Vocabulary) -> Mapping[str, str]:
    """The result of `resources_of_classes` for the classes of a cluster."""
    found = facts.objects(*DEVICE_CLASS)
    return {} if isinstance(found, Absence) else resources_of_classes(found, facts, vocabulary)


def resources_of_classes(
    classes: Mapping[str, paths.Object], objects: Lookup, vocabulary: Vocabulary
) -> Mapping[str, str]:
    """The class that serves each resource whose name the vocabulary lacks.

    A class is left out only if its devices are known not to be accelerators. A class that cannot be resolved stays, so
    that pods that ask for its resource are unknown.

    Args:
        objects: finds classes by name too.
    """
    served: dict[str, str] = {}
    for name, value in sorted(classes.items()):
        spec = value.get("spec")
        resource = spec.get("extendedResourceName") if isinstance(spec, dict) else None
        if not isinstance(resource, str) or not resource or vocabulary.meaning(resource) is not None:
            continue
        reading = Reading(Context(objects=objects))
        like = accelerators_like(name, path="", reading=reading, vocabulary=vocabulary)
        if like is not None or reading.unknowns:
            served.setdefault(resource, name)
    return served


def resources_of_device_classes(facts: Store) -> frozenset[str]:
    """Extended resources that device classes also serve (docs/domain/device-claims.md#extended-resources)."""
    found = facts.objects("resource.k8s.io", "DeviceClass")
    if isinstance(found, Absence):
        return frozenset()
    specs = (value.get("spec") for value in found.values())
    names = (spec.get("extendedResourceName") for spec in specs if isinstance(spec, dict))
    return frozenset(name for name in names if isinstance(name, str))


_Made = TypeVar("_Made")


def _maps_of(objects: values.Objects) -> Mapping[Key, Kind]:
    def read() -> Mapping[Key, Kind]:
        return unrecognised.kinds_of_maps(each for key in MAP_KINDS for each in objects.cluster_scoped(*key).values())

    return objects.once("workload maps", read)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Knowledge:
    """An evaluator owns one. `msgspec.structs.replace` gives one with other facts; both share the values of `once`."""

    facts: Store
    config: models.Config
    vocabulary: Vocabulary
    made: dict[str, Any] = field(default_factory=dict, repr=False)
    """The values that `once` made, by name."""

    def workload(
        self,
        value: paths.Object,
        *,
        namespace: str = "",
        objects: values.Lookup = values.NO_OBJECTS,
        believes_owner: bool = True,
        small: bool = False,
    ) -> model.Workload | None:
        """The normalised object; None for an object that no rule reads.

        Args:
            namespace: the namespace to assume where the object has no namespace.
            objects: looked up before the facts, for objects that this one refers to by name.
            believes_owner: whether the owner that the object names counts.
            small: whether it is known to be within all limits.
        """
        found = self.lookup(objects)
        vocabulary = self.vocabulary_of_cluster
        if isinstance(objects, values.Objects) and (classes := objects.cluster_scoped(*DEVICE_CLASS)):
            plain, own = vocabulary, self.vocabulary

            def of_classes() -> tuple[Vocabulary, Vocabulary, Vocabulary]:
                served = resources_of_classes(classes, objects, own)
                return plain.serving(served) if served else plain, plain, own

            # What it is made of is kept with it, so that no other vocabulary gets its number.
            vocabulary = objects.once(f"resources of classes {id(plain)} {id(own)}", of_classes)[0]
        roles = self.once("roles", lambda: Roles(self.config))
        return normalise(
            value,
            vocabulary=vocabulary,
            namespace=namespace,
            objects=found,
            roles=roles,
            believes_owner=believes_owner,
            mapped=self._mapped(value, objects),
            small=small,
        )

    def _mapped(self, value: paths.Object, objects: values.Lookup) -> Kind | None:
        """The kind of an object as a Workload-Map document of the files or the facts describes it; None for kinds that
        usher knows.
        """
        group, version, kind = identity.group_version_kind(value)
        if (group, kind) in registry.BY_KEY or "." not in group:
            return None
        while isinstance(objects, values.Objects):
            found = _maps_of(objects).get((group, kind))
            if found is not None and version in found.versions:
                return found
            objects = objects.others or values.NO_OBJECTS
        if not any(self.facts.knows(*each) for each in MAP_KINDS):
            return None

        def read() -> Mapping[Key, Kind]:
            return unrecognised.kinds_of_maps(
                each for key in MAP_KINDS for each in self.facts.everywhere(*key).values()
            )

        maps = self.derived("workload maps", [*MAP_KINDS], read)
        found = maps.get((group, kind))
        return found if found is not None and version in found.versions else None

    @property
    def vocabulary_of_cluster(self) -> Vocabulary:
        """The vocabulary, with the extended resources that device classes among the facts serve."""
        if self.facts.empty:
            return self.vocabulary
        return self.derived("vocabulary", [DEVICE_CLASS, _SLICE], self._serving)

    def _serving(self) -> Vocabulary:
        served, shares = served_resources(self.facts, self.vocabulary), dict[str, tuple[int, int | None]]()
        slices, classes = self.facts.objects(*_SLICE), self.facts.objects(*DEVICE_CLASS)
        if not isinstance(slices, Absence) and not isinstance(classes, Absence):
            # Most runs have no slices, and need not wait for this import.
            from usher.cluster.facts.device_slices import read_devices, shared_memory

            shares = shared_memory(read_devices(self.facts, slices), classes)
        return self.vocabulary.serving(served, shares) if served or shares else self.vocabulary

    def lookup(self, objects: values.Lookup) -> values.Lookup:
        """Looks up in `objects` first, and then in the facts."""
        return objects if self.facts.empty else values.LookupsInTurn(objects, self.facts)

    def once(self, name: str, make: Callable[[], _Made]) -> _Made:
        """A value that `make` derives from usher.yaml; made once and kept.

        Args:
            name: the key of the value.
            make: may run more than once, in several threads.
        """
        if name not in self.made:
            self.made.setdefault(name, make())
        result: _Made = self.made[name]
        return result

    def derived(self, name: str, of: Sequence[Key], make: Callable[[], _Made]) -> _Made:
        """A value that `make` derives from usher.yaml and the objects of some kinds; kept until one of them changes.

        Args:
            name: the key of the value.
            of: the kinds that the value is derived from.
            make: may run more than once, in several threads.
        """
        kept: dict[str, tuple[models.Config, _Made]] = self.facts.derived(name, of, dict)
        last = kept.get(name)
        # Comparing configurations is expensive, and only one is in use at a time.
        if last is None or last[0] is not self.config:
            last = kept[name] = self.config, make()
        return last[1]


def together(workload: model.Workload, objects: values.Objects, known: Knowledge) -> tuple[model.Workload, ...]:
    """All workloads whose pods with accelerators always run, for the first of them alone."""
    if not known.facts.knows(*_NODE):
        return ()
    running = objects.once("what always runs", lambda: _always_running(objects, known))
    first = running[0] if len(running) > 1 else None
    if first is None or (first.kind, first.namespace, first.name) != (workload.kind, workload.namespace, workload.name):
        return ()
    return running


def _always_running(objects: values.Objects, known: Knowledge) -> tuple[model.Workload, ...]:
    """The objects with names that serve, whose pods nothing but the nodes holds back."""
    made = [
        known.workload(value, namespace=namespace, objects=objects)
        for namespace, value in objects.all()
        if identity.group_version_kind(value)[::2] in registry.SERVING and not value.get("status")
    ]
    found = [
        each
        for each in made
        if each is not None
        and each.name
        and each.owner is None
        and not any(each.queue_labels.values())
        and any(pod_set.asks_accelerators and pod_set.count.minimum for pod_set in each.pod_sets)
    ]
    return tuple(sorted(found, key=lambda each: (each.kind, each.namespace, each.name)))


def servers(given: model.Workload, objects: values.Objects, known: Knowledge) -> Iterator[tuple[str, str]]:
    """The webhooks whose Service leads to one pod, with what makes it."""
    found = objects.find(Reference(group=given.group, kind=given.kind, name=given.name))
    webhooks = [] if isinstance(found, values.Absence) else found.get("webhooks")
    for index, webhook in enumerate(webhooks if isinstance(webhooks, list) else []):
        named = paths.mapping(paths.mapping(paths.mapping(webhook).get("clientConfig")).get("service"))
        namespace = paths.text(named.get("namespace"))
        service = objects.find(
            Reference(group="", kind="Service", name=paths.text(named.get("name")), namespace=namespace)
        )
        if isinstance(service, values.Absence):
            continue
        labels = paths.mapping(paths.mapping(service.get("spec")).get("selector"))
        made = pod_sets_by_label(namespace, objects, known).get(str(next(iter(labels.items()), None)), ())
        behind = [maker for maker, pod_set in made if labels.items() <= pod_set.labels.items()]
        scalers = scalers_of(namespace, objects)
        if labels and len({id(each) for each in behind}) == 1 and behind[0].pods.minimum == 1:
            target = Reference(group=behind[0].group, kind=behind[0].kind, name=behind[0].name, namespace=namespace)
            if target not in scalers:
                yield str(index), f"{behind[0].kind} {behind[0].name}"


def makers_of(namespace: str, objects: values.Objects, known: Knowledge) -> Sequence[model.Workload]:
    """The objects of a namespace that serve and whose pods can be counted."""
    return objects.once(f"makers of pods in {namespace}", lambda: _makers(namespace, objects, known))


def pod_sets_by_label(
    namespace: str, objects: values.Objects, known: Knowledge
) -> Mapping[str, Sequence[tuple[model.Workload, model.PodSet]]]:
    """The pod sets of these objects by each of their labels (`str` of key and value), and all of them by `None`."""

    def by_label() -> Mapping[str, Sequence[tuple[model.Workload, model.PodSet]]]:
        found = defaultdict[str, list[tuple[model.Workload, model.PodSet]]](list)
        for maker in makers_of(namespace, objects, known):
            for pod_set in maker.pod_sets:
                for label in (None, *pod_set.labels.items()):
                    found[str(label)].append((maker, pod_set))
        return found

    return objects.once(f"pods in {namespace} by label", by_label)


def _makers(namespace: str, objects: values.Objects, known: Knowledge) -> Sequence[model.Workload]:
    kinds = sorted(registry.SERVING & registry.SCALES.keys())
    found = [value for kind in kinds for value in objects.of_kind(*kind, namespace)]
    made = [known.workload(value, namespace=namespace, objects=objects) for value in found]
    return [each for each in made if each is not None]


def scalers_of(namespace: str, objects: values.Objects) -> Mapping[Reference, Sequence[Reference]]:
    """The autoscalers of a namespace that people wrote, by what they scale."""
    return objects.once(f"autoscalers of {namespace}", lambda: _by_target(namespace, objects))


def _by_target(namespace: str, objects: values.Objects) -> Mapping[Reference, Sequence[Reference]]:
    found: defaultdict[Reference, list[Reference]] = defaultdict(list)
    for kind in sorted(AUTOSCALERS):
        for value in objects.of_kind(*kind, namespace):
            growth = grown_workloads.growth_of(value, namespace=namespace)
            if growth is not None and not paths.metadata(value).get("ownerReferences"):
                found[growth.target].append(growth.source)
    return found
