"""The context of the objects of a run: outlines of its files, their directories and the autoscalers."""

import hashlib
import itertools
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise, takewhile
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from usher import model, paths
from usher.check.batches import Batch, group_and_kind
from usher.cluster.facts import autoscaled_pools
from usher.cluster.facts.store import Store
from usher.config.described_kinds import MAP_KINDS
from usher.kinds import registry
from usher.kinds.kind import CONFIG_MAP, DAEMON_SET, DEFINITION, KUEUE_CONFIGURATION
from usher.kinds.kubeflow_pipelines import group_version_kind
from usher.kinds.reading import inner_names, known_keys
from usher.kinds.reading import values as reading_values
from usher.kinds.reading.counts import Growth
from usher.kinds.reading.values import Reference
from usher.policy.decision import Request
from usher.workloads import grown_workloads
from usher.workloads.fingerprints import LIKE_KINDS
from usher.workloads.grown_workloads import growth_of


class Named(NamedTuple):
    """An object by name. It only holds texts, because processes send each other thousands."""

    group: str
    kind: str
    namespace: str
    name: str
    prefix: str
    """`generateName` of an object without a name."""

    @property
    def reference(self) -> Reference:
        return Reference(group=self.group, kind=self.kind, name=self.name, namespace=self.namespace)


class Outline(Struct, frozen=True, kw_only=True):
    """One file of a run."""

    source: str
    directory: str
    """The directory of the file; for other sources, their name."""
    named: Sequence[Named]
    """Each object of the file."""
    growths: Sequence[Growth] = ()
    offers: bool
    """Whether other objects may refer to an object of the file."""
    offered: Sequence[paths.Object] | None
    """These objects; None for a file that was not read because its verdict is remembered."""
    path: str = ""
    """Empty for sources that are not files. A text, because processes send each other thousands."""
    key: bytes = b""
    """Digest of its name and content; empty if its verdict is not to be remembered."""


def outline_of(batch: Batch, *, namespace: str, path: str = "", key: bytes = b"") -> Outline:
    """The outline of a file.

    Args:
        namespace: the namespace of objects without one.
        key: digest of its name and content.
    """
    names, growths, offered = list[Named](), list[Growth](), list[paths.Object]()
    for item in batch.items:
        each = named(item.value, namespace)
        names.append(each)
        if (each.group, each.kind) in registry.NEVER_NAMED:
            continue
        offered.append(item.value)
        growth = growth_of(item.value, namespace=namespace)
        if growth is not None:
            growths.append(growth)
    return Outline(
        source=batch.source,
        directory=directory_of_batch(batch),
        named=tuple(names),
        growths=tuple(growths),
        offers=bool(offered),
        offered=tuple(offered),
        path=path,
        key=key,
    )


def directory_of_batch(batch: Batch) -> str:
    """The directory of a file; for other sources, their name."""
    return directory_of_source(batch.source) if batch.is_file else batch.source


def directory_of_source(source: str) -> str:
    """The directory of a file by its name."""
    return os.path.dirname(source) or "."  # noqa: PTH120 - pathlib costs ten times as much


def named(value: paths.Object, namespace: str) -> Named:
    """The name of an object; `namespace` is the namespace of objects without one."""
    group, _, kind = group_version_kind(value)
    metadata = paths.metadata(value)
    name = paths.text(metadata.get("name"))
    within = paths.text(metadata.get("namespace")) or namespace
    return Named(group, kind, within, name, "" if name else paths.text(metadata.get("generateName")))


def outlines_by_directory(outlines: Iterable[Outline]) -> Mapping[str, Sequence[Outline]]:
    """The files of each directory. People apply one directory at once, and seldom a whole tree.

    It leaves out a directory with several files if two of its objects have the same name: then it holds alternatives,
    for example samples, and not the parts of one application.
    """
    found: defaultdict[str, list[Outline]] = defaultdict(list)
    for outline in outlines:
        if outline.named:
            found[outline.directory].append(outline)
    return {name: files for name, files in found.items() if len(files) > 1 and _are_parts(files)}


def _are_parts(files: Iterable[Outline]) -> bool:
    names = [each for outline in files for each in outline.named]
    return len(set(names)) == len(names)


ByTarget = Mapping[str, Sequence[Growth]]
"""Growths by the name of their target."""

_NO_SCALERS: Final[ByTarget] = {}


def scalers_by_target(values: Iterable[paths.Object], *, namespace: str) -> ByTarget:
    """The scalers by the name of their target. It follows a target that only passes on its scale to the real target."""
    return _growths_by_target([each for value in values if (each := growth_of(value, namespace=namespace)) is not None])


def _growths_by_target(found: Sequence[Growth]) -> ByTarget:
    by_source = {each.source: each for each in found}
    result: dict[str, list[Growth]] = defaultdict(list)
    for each in found:
        result[each.target.name].append(each)
        through = by_source.get(each.target)
        if through is not None and through is not each:
            result[through.target.name].append(grown_workloads.pass_on_growth(each, through))
        elif through is None:
            for made in grown_workloads.growths_of_makers(each):
                result[made.target.name].append(made)
    return result


def scalers_of(value: paths.Object, known: ByTarget, *, namespace: str) -> tuple[Growth, ...]:
    found = known.get(paths.text(paths.metadata(value).get("name")), ())
    return tuple(each for each in found if grown_workloads.is_target(each, value, namespace=namespace))


class Scalers:
    """The autoscalers of all files of a run.

    An autoscaler in another file counts if names show that both files are applied together. A run over examples or
    overlays may hold several objects with the name of the target, or several autoscalers with the same name. Then only
    autoscalers of the same file count.
    """

    def __init__(self, outlines: Sequence[Outline], *, namespace: str) -> None:
        """Reads the outlines of the files; `namespace` is that of objects without one."""
        self._namespace = namespace
        every = [growth for outline in outlines for growth in outline.growths]
        self._of_files = {
            outline.source: _growths_by_target(outline.growths) for outline in outlines if outline.growths
        }
        self._of_run = _growths_by_target(every)
        targets = set(self._of_run)
        self._targets = Counter(
            each.reference
            for outline in (outlines if targets else ())
            for each in outline.named
            if each.name in targets
        )
        self._sources = Counter(each.source for each in every)

    @property
    def found(self) -> bool:
        """Whether the run has any autoscaler."""
        return bool(self._of_run)

    def of(self, value: paths.Object, source: str) -> tuple[Growth, ...]:
        """The growths of an object of a file."""
        if not self._of_run:
            return ()
        found = scalers_of(value, self._of_run, namespace=self._namespace)
        if found and self._are_clear(value, found):
            return found
        return scalers_of(value, self._of_files.get(source, _NO_SCALERS), namespace=self._namespace)

    def _are_clear(self, value: paths.Object, found: Sequence[Growth]) -> bool:
        """Whether the run has only one object of this name, and one autoscaler of each name."""
        return self._targets[self._reference(value)] == 1 and all(self._sources[each.source] == 1 for each in found)

    def _reference(self, value: paths.Object) -> reading_values.Reference:
        group, _, kind = group_version_kind(value)
        metadata = paths.metadata(value)
        return reading_values.Reference(
            group=group,
            kind=kind,
            name=paths.text(metadata.get("name")),
            namespace=paths.text(metadata.get("namespace")) or self._namespace,
        )


_KUEUE: Final = "kueue.x-k8s.io"
_FLAVOR: Final = (_KUEUE, "ResourceFlavor")
_COHORT: Final = (_KUEUE, "Cohort")
_RUNTIME_CLASS: Final = ("node.k8s.io", "RuntimeClass")

_HOLD_UNNAMED: Final = frozenset({("", "ResourceQuota"), ("", "LimitRange"), ("gpu-usher.io", "GPUQuota"), DAEMON_SET})
"""Kinds that hold for every workload of a namespace or a node, without a name that leads to them."""

PROVING: Final = frozenset(
    {
        *(
            (_KUEUE, kind)
            for kind in ("AdmissionCheck", "ClusterQueue", "Cohort", "LocalQueue", "ResourceFlavor", "Topology")
        ),
        *((_KUEUE, "WorkloadPriorityClass"), ("scheduling.k8s.io", "PriorityClass")),
        ("scheduling.volcano.sh", "Queue"),
        *(("scheduling.run.ai", "Queue"), ("kai.scheduler", "SchedulingShard")),
        *autoscaled_pools.KINDS,
        _RUNTIME_CLASS,
        ("", "Namespace"),
        *((group, "PodGroup") for group in ("scheduling.volcano.sh", "scheduling.x-k8s.io", "scheduling.k8s.io")),
        *(("scheduling.k8s.io", kind) for kind in ("CompositePodGroup", "Workload")),
        CONFIG_MAP,
        *_HOLD_UNNAMED,
    }
)
"""Kinds whose objects may prove that a workload can never start; of ConfigMaps only Kueue's configuration."""

NAMED_KINDS: Final = frozenset(
    {
        *(("trainer.kubeflow.org", kind) for kind in ("ClusterTrainingRuntime", "TrainingRuntime")),
        *(("serving.kserve.io", kind) for kind in ("ClusterServingRuntime", "ServingRuntime")),
        *(("ome.io", kind) for kind in ("ClusterServingRuntime", "ServingRuntime")),
        ("serving.kserve.io", "LLMInferenceServiceConfig"),
        DEFINITION,
        *MAP_KINDS,
        (_KUEUE, "AdmissionCheck"),
        *(("resource.k8s.io", kind) for kind in ("ResourceClaim", "ResourceClaimTemplate")),
        (reading_values.COMPUTE_DOMAIN_GROUP, reading_values.COMPUTE_DOMAIN_KIND),
    }
)
"""Kinds that workloads name, and whose objects in any file of the run say what the workloads make or which fields they
have.
"""

FACT_KINDS: Final = (PROVING | NAMED_KINDS) - {DAEMON_SET}
"""Kinds whose objects in the files of a run count for its workloads; DaemonSets count beside pools of autoscalers."""


def is_fact(name: Named) -> bool:
    """Whether an object in the files of a run counts for its workloads."""
    key = (name.group, name.kind)
    return key in FACT_KINDS and (key != CONFIG_MAP or (name.namespace, name.name) == KUEUE_CONFIGURATION)


PROVED: Final = frozenset(
    {
        *("queueing/queue_stopped", "queueing/queue_never_admissible", "queueing/resource_not_in_queue"),
        *("queueing/topology_level_not_there", "queueing/namespace_not_selected", "queueing/integration_not_enabled"),
        *(
            "queueing/multikueue_dispatch",
            "queueing/flavor_never_matches",
            "queueing/suspended_without_queue",
            "gang/volcano_queue_not_open",
            "gang/volcano_queue_never_fits",
        ),
        *("tenancy/quota_never_fits", "tenancy/quota_below_all_pods", "tenancy/limit_range_refuses"),
        *("tenancy/gpu_quota_exceeded", "tenancy/gpu_quota_unbounded"),
        *("gang/pod_group_minimum_above_pods", "gang/kai_queue_unusable", "cost/training_on_a_consolidating_pool"),
        *("placement/selected_nodes_too_small", "placement/more_than_the_node_pool_may_add"),
        *("placement/claims_of_a_pool_at_zero", "placement/training_over_different_machines"),
        *("queueing/kai_queue_promises_too_much", "gang/native_gang_not_formed", "gang/native_group_members_differ"),
        *("queueing/kai_queue_limit_below_workload", "gang/volcano_queue_not_a_leaf"),
        *("priority/priority_number_by_hand", "sharing/hami_share_without_its_scheduler"),
    }
)
"""Checks whose findings stay true whatever else the cluster has. They never say that an object is missing."""

ASSUMED: Final = {"tenancy/quota_wants_requests": "usher assumes that no LimitRange of the namespace sets it"}
"""Checks whose findings an object that the files lack may refute, with what usher assumes; they only warn."""


def misspelt_name(finding: model.Finding, request: Request) -> model.Finding | None:
    """A finding about a missing object whose name is like one in the files; None for other findings.

    Any other name may be that of an object of the cluster. One of the same name is in another namespace, which says
    something only if the object names its own: otherwise a command may choose it.
    """
    missing, facts = finding.missing, request.facts
    names = facts.names(missing.group, missing.kind) if missing and facts is not None else None
    if missing is not None and facts is not None and missing.name in (names or ()):
        if not paths.metadata(request.value).get("namespace"):
            return None
        places = (each.partition("/") for each in facts.everywhere(missing.group, missing.kind))
        others = sorted(namespace for namespace, _, name in places if name == missing.name)
        message = f"{missing.kind} {missing.name} is in namespace {', '.join(others)}, and not in that of the workload"
        return replace(finding, message=message, remedy=f"use a {missing.kind} of the workload's own namespace")
    meant = [each for each in sorted(names or ()) if missing and known_keys.is_slip(missing.name, each)]
    if missing is None or len(meant) != 1:
        return None
    message = f"{missing.kind} {missing.name} is not in these files, which have {meant[0]}"
    return replace(finding, message=message, remedy=f"did you mean {meant[0]}?")


def _steps(directory: str) -> tuple[str, ...]:
    return tuple(step for step in directory.split("/") if step not in ("", "."))


def _common_steps(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(step for step, _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _directories_of_alternatives(files: Iterable[Outline]) -> frozenset[tuple[str, ...]]:
    """The directories below which two objects have the same name, as overlays and samples do."""
    places: defaultdict[Named, list[tuple[str, ...]]] = defaultdict(list)
    for outline in files:
        for name in outline.named:
            places[name].append(_steps(outline.directory))
    nearest = {
        _common_steps(one, other)
        for found in places.values()
        if len(found) > 1
        for one, other in pairwise(sorted(found))
    }
    return frozenset(common[:number] for common in nearest for number in range(len(common) + 1))


def _is_lacking(name: Named, facts: Store) -> bool:
    """Whether the facts know the kind of an object that workloads name, and not the object."""
    key = (name.group, name.kind)
    if key not in PROVING - _HOLD_UNNAMED or key not in registry.FACTS:
        return False
    within = "" if registry.FACTS[key].cluster_scoped else name.namespace
    found = facts.find(Reference(group=name.group, kind=name.kind, name=name.name, namespace=within))
    return found is reading_values.Absence.MISSING


def _sure(values: Sequence[paths.Object]) -> Iterable[paths.Object]:
    """The objects without those that depend on others which may be missing here.

    A ClusterQueue of a cohort borrows from queues that the files may lack, unless they have the Cohort or several of
    its queues. So does a Volcano queue whose parent they lack. Where the flavor of a queue is missing, its labels are
    unknown, so no flavor counts.
    """
    flavors = {paths.text(paths.metadata(each).get("name")) for each in values if group_and_kind(each) == _FLAVOR}
    specs = {id(each): spec for each in values if isinstance(spec := each.get("spec"), dict)}
    named_flavors = {
        flavor
        for each in values
        if group_and_kind(each) == (_KUEUE, "ClusterQueue")
        for flavor in _flavors_of(specs.get(id(each), {}))
    }
    cohorts = Counter(_cohort_of(specs.get(id(each), {})) for each in values)
    cohorts.update(paths.text(paths.metadata(each).get("name")) for each in values if group_and_kind(each) == _COHORT)
    shared_cohorts = {"", *(name for name, number in cohorts.items() if number > 1)}
    queues = {"", "root", *(paths.text(paths.metadata(each).get("name")) for each in values if _is_of_volcano(each))}
    for each in values:
        spec = specs.get(id(each), {})
        parent = spec.get("parent") if group_and_kind(each) != _COHORT else ""
        above = paths.text(parent) in queues if _is_of_volcano(each) else not parent
        depends = _cohort_of(spec) not in shared_cohorts or not above
        if not depends and (group_and_kind(each) != _FLAVOR or named_flavors <= flavors):
            yield each


def _is_of_volcano(value: paths.Object) -> bool:
    return group_and_kind(value) == ("scheduling.volcano.sh", "Queue")


def _cohort_of(spec: paths.Object) -> str:
    return paths.text(spec.get("cohortName")) or paths.text(spec.get("cohort"))


def _flavors_of(spec: paths.Object) -> Iterable[str]:
    for group in _mappings(spec.get("resourceGroups")):
        for flavor in _mappings(group.get("flavors")):
            yield paths.text(flavor.get("name"))


def _mappings(value: paths.Json) -> Iterable[paths.Object]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


ALONE: Final = b""
"""The digest of the surroundings of a file that no other file affects."""

Load = Callable[[Outline], Sequence[paths.Object]]
"""Reads the objects of a file whose outline does not have them."""


def _nothing(_outline: Outline) -> Sequence[paths.Object]:
    return ()


_RUNS: Final = itertools.count()
"""A number for each run, because evaluators outlive runs."""


def _is_like(value: paths.Object) -> bool:
    return group_and_kind(value) in LIKE_KINDS


class Surroundings:
    """The autoscalers of a run, and the objects of each directory."""

    def __init__(self, files: Sequence[Outline], *, namespace: str, load: Load = _nothing) -> None:
        """Keeps the outlines of the files of a run.

        Args:
            files: the outlines of all files; empty for objects of a cluster, which already have the numbers that
                autoscalers chose.
            namespace: the namespace of objects without one.
            load: reads the objects of files whose outlines do not have them.
        """
        self.scalers = Scalers(files, namespace=namespace)
        self._run = next(_RUNS)
        self._files = files
        self._namespace = namespace
        self._load = load
        self._directories = outlines_by_directory(files)
        self._around: dict[str, reading_values.Lookup] = {}
        self._digests: dict[str, bytes | None] = {}
        self._alike: dict[str, tuple[bool, bool]] = {}
        """By directory, whether other objects may name only `LIKE_KINDS`, and whether there are any."""
        self._with_facts = [each for each in files if any(map(is_fact, each.named))]
        if any((each.group, each.kind) in autoscaled_pools.KINDS for one in self._with_facts for each in one.named):
            # DaemonSets matter only on the nodes of pools.
            self._with_facts = [
                each for each in files if any(is_fact(one) or (one.group, one.kind) == DAEMON_SET for one in each.named)
            ]
        self._facts: dict[str, Store] = {}
        self._completed: dict[tuple[str, int], Store] = {}
        self._named: reading_values.Objects | None = None
        self._alternatives = _directories_of_alternatives(files) if self._with_facts else frozenset()

    def around(self, batch: Batch) -> reading_values.Lookup:
        """The objects that are applied together with the objects of a file."""
        name = directory_of_batch(batch)
        if name not in self._directories:
            return reading_values.NO_OBJECTS
        if name not in self._around:
            values = [value for each in self._directories[name] for value in self._offered(each)]
            self._around[name] = reading_values.Objects(values, namespace=self._namespace)
        return self._around[name]

    def company(self, batch: Batch) -> str:
        """The surroundings of the objects of a file, for `Request.company`. Empty beside objects of other kinds than
        `LIKE_KINDS`, which objects may name.
        """
        name, alone = directory_of_batch(batch), len(batch.items) == 1
        if self.scalers.found or not all(map(_is_like, (item.value for item in batch.items))):
            return ""
        if name in self._directories:
            if name not in self._alike:
                offered = [value for each in self._directories[name] for value in self._offered(each)]
                self._alike[name] = all(map(_is_like, offered)), bool(offered)
            is_alike, has_objects = self._alike[name]
            if not is_alike:
                return ""
            alone = alone and not has_objects
        return f"{self._run}" if alone else f"{self._run} {name} {batch.source} {batch.part}"

    def facts_around(self, batch: Batch, *, without: str = "") -> Store:
        """The queues and quotas in the files of the run that count for the objects of a file.

        The cluster may have more of them. So only a finding in `PROVED` follows from them.

        Args:
            batch: the file.
            without: a group whose kinds do not count.
        """
        directory = directory_of_batch(batch)
        if without:
            return self._read_facts(directory, without=without)
        if directory not in self._facts:
            self._facts[directory] = self._read_facts(directory)
        return self._facts[directory]

    def facts_beside(self, batch: Batch, facts: Store) -> Store:
        """As `facts_around`, of kinds that the facts of the run do not know, and these facts; empty if they know all.

        Args:
            facts: the facts of the run.
        """
        found = self.facts_around(batch)
        if facts.empty or found.empty:
            return found
        key = (directory_of_batch(batch), id(facts))
        if key not in self._completed:
            self._completed[key] = facts.completed_by(found)
        return self._completed[key]

    def with_files(self, facts: Store) -> Store:
        """The facts of the run with what the files add: objects that workloads name and the cluster lacks, and pools of
        autoscalers. Pools change nothing without nodes and other pools.
        """
        if not self._with_facts or facts.empty:
            return facts
        key = ("objects of the files", id(facts))
        if key not in self._completed:
            pools = autoscaled_pools.KINDS
            count = facts.nodes.known or any(facts.everywhere(*kind) for kind in pools)
            offered = (value for outline in self._with_facts for value in self._offered(outline))
            single = [
                value
                for name, value in self._single(offered)
                if (count if (name.group, name.kind) in pools else is_fact(name) and _is_lacking(name, facts))
            ]
            self._completed[key] = facts.with_applied(single, namespace=self._namespace, also=pools)
        return self._completed[key]

    def named_objects(self) -> reading_values.Objects:
        """The runtimes and claims in the files of the run, which workloads of any file may name."""
        if self._named is None:
            offered = (value for outline in self._with_facts for value in self._offered(outline))
            single = self._single(value for value in offered if group_and_kind(value) in NAMED_KINDS)
            self._named = reading_values.Objects([value for _, value in single], namespace=self._namespace)
            names = frozenset((each.group, each.kind, each.name) for one in self._with_facts for each in one.named)
            self._named.once(inner_names.NAMES_OF_RUN, lambda: names)
        return self._named

    def _read_facts(self, directory: str, *, without: str = "") -> Store:
        found = list[paths.Object]()
        for outline in self._with_facts:
            for value in self._offered(outline):
                name = named(value, self._namespace)
                key = (name.group, name.kind)
                counts = key in PROVING and (is_fact(name) or key == DAEMON_SET) and name.group != (without or None)
                if counts and (key not in _HOLD_UNNAMED or self._are_together(outline.directory, directory)):
                    found.append(value)
        single = [value for _, value in self._single(found)]
        result = Store.of(_sure(single), namespace=self._namespace)
        if result.knows(_KUEUE, "ClusterQueue") and not result.knows(*_COHORT):
            result.replace(_COHORT, ())
        return result

    def _single(self, values: Iterable[paths.Object]) -> Iterable[tuple[Named, paths.Object]]:
        """The objects whose name no other has: several are alternatives, as in overlays, and not one cluster."""
        names = [(named(value, self._namespace), value) for value in values]
        times = Counter(name for name, _ in names)
        return ((name, value) for name, value in names if times[name] == 1)

    def _are_together(self, one: str, other: str) -> bool:
        """Whether two directories are parts of one whole: no two objects below both have the same name."""
        return _common_steps(_steps(one), _steps(other)) not in self._alternatives

    def _offered(self, outline: Outline) -> Sequence[paths.Object]:
        if outline.offered is not None:
            return outline.offered
        return self._load(outline) if outline.offers else ()

    def digest(self, outline: Outline) -> bytes | None:
        """The digest of what other files contribute to the verdict about a file; None if a file has no digest."""
        around = self._digest_around(outline)
        if not self._with_facts or around is None:
            return around
        keys = [each.key for each in self._with_facts]
        return hashlib.sha256(b"".join([around, *keys])).digest() if all(keys) else None

    def _digest_around(self, outline: Outline) -> bytes | None:
        if self.scalers.found:
            return self._digest("", self._files)
        if outline.directory not in self._directories:
            return ALONE
        return self._digest(outline.directory, self._directories[outline.directory])

    def _digest(self, name: str, files: Sequence[Outline]) -> bytes | None:
        if name not in self._digests:
            keys = [each.key for each in files if each.offers or self.scalers.found]
            self._digests[name] = hashlib.sha256(b"".join(keys)).digest() if all(keys) else None
        return self._digests[name]
